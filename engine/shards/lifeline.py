"""`python -m turntide.engine.shards.lifeline PROGRAM ...`: a program that ends with whoever started it, always.

The program gets what comes on stdin up to a line `.`; when stdin ends, so does the program.
"""

from __future__ import annotations

import subprocess
import sys
import threading

from ...adapters.child import until_orphaned


def main() -> int:
    """Run the program until it ends, or stdin does; return its exit code."""
    config = iter(sys.stdin.buffer.readline, b"")
    with subprocess.Popen([*sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert program.stdin
        for line in config:
            if line == b".\n":
                break
            program.stdin.write(line)
        program.stdin.close()
        threading.Thread(target=_end_with_stdin, args=(program,), daemon=True).start()
    return program.returncode


def _end_with_stdin(program: subprocess.Popen[bytes]) -> None:
    until_orphaned(sys.stdin.fileno())
    program.kill()


if __name__ == "__main__":
    sys.exit(main())
