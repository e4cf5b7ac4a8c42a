"""Look-alikes of the source databases, for machines that have none: same schemas and cardinalities, invented rows.

They are never taken for the real ones: the file is called `NAME-synthetic.sqlite`, and its header carries
`APPLICATION_ID` and the generator's version, which no prompt shows.
"""

from __future__ import annotations

from .builder import APPLICATION_ID, NAMES, VERSION, build, ensure, place

__all__ = ["APPLICATION_ID", "NAMES", "VERSION", "build", "ensure", "place"]
