"""TIDE-Bench's small sweep, for its figures."""

from __future__ import annotations

from ..tide.conftest import dialogues as dialogues
from ..tide.conftest import plan as plan
