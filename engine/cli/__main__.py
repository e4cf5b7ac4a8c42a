"""`python -m turntide.engine.cli`: the command line without an installed script."""

from __future__ import annotations

import sys

from . import main

sys.exit(main())
