"""Prints the bill of materials of what turntide runs on: CycloneDX, the same bytes from the same pins, naming no host.

`make sbom` runs it among the tools. It lists requirements/run.txt for every platform that it covers: a package may
stand there in two versions. Options (such as `--no-validate`) go to cyclonedx-py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REGISTRY = "pkg:pypi"
"""What stands in place of the address of an index: whoever checks a hash has an index of their own."""


def main() -> int:
    """Print the bill; returns the exit code of the tool that makes it."""
    program = Path(sys.executable).with_name("cyclonedx-py")
    pinned, project = HERE / "run.txt", HERE.parent / "pyproject.toml"
    ours = ("--pyproject", project, "--output-reproducible", "--short-PURLs", "--index-url", REGISTRY)
    command = [sys.executable, "-W", "ignore", program, "requirements", pinned, *ours, *sys.argv[1:]]
    made = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if made.returncode == 0:
        print(json.dumps(plain(json.loads(made.stdout)), indent=2))
    return made.returncode


def plain(bill: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is said twice (all hashes, in prose) and where the tools that made the bill live."""
    for component in bill["components"]:
        component["description"] = component["description"].partition("--hash")[0].strip()
    for tool in bill["metadata"]["tools"]["components"]:
        tool.pop("externalReferences", None)
    return bill


if __name__ == "__main__":
    sys.exit(main())
