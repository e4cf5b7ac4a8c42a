"""A process to be killed: holds a run folder's lock until its stdin ends; with `--child`, a child of it does too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from turntide.engine.folder.lock import RunLock

with RunLock(Path(sys.argv[1])):
    child = os.fork() if "--child" in sys.argv else -1
    if child != 0:
        os.write(1, b"%d\n" % child)
    sys.stdin.read()
    if child == 0:
        os._exit(0)
