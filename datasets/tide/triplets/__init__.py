"""Triplets from templates, which need no language model (named synthetic): what they ask, and how they are heard.

A reader starts from `templates(database)` and `hear_question`, which give it a `Request`; `Request.open` is what it may
ask next, `Request.answered` takes the answer, `Request.tree` is the query once nothing is open, and `hear_change` turns
a drift turn into the edit of that tree. `Standing` follows a dialogue to wherever it leads, `read` a whole one at once.
"""

from __future__ import annotations

from .changes import Change
from .hearing import Standing, hear_change, hear_question, read
from .library import DATABASES, templates
from .model import Option, Template
from .request import Request

__all__ = [
    "DATABASES", "Change", "Option", "Request", "Standing", "Template", "hear_change", "hear_question", "read",
    "templates",
]  # fmt: skip
