"""How dialogues end, and what became of single queries."""

from __future__ import annotations

from collections import Counter, defaultdict

from ...datasets.tide.record import ENDINGS
from ...datasets.tide.samples import KINDS
from ...datasets.tide.scoring import HEADLINE
from ..gold import LISTED
from ..table import Cell, Number, Table
from .accuracy import BESIDE, SET_NAMES
from .dialogues import Dialogues

_STATUSES = ("syntax", "runtime", "denied", "timeout", "rows", "bytes", "memory")


def endings(dialogues: Dialogues) -> Table:
    """How the dialogues of each cell ended, and how long they were."""
    rows: list[list[Cell]] = []
    everything = [*dialogues.records, *dialogues.faults]
    for model in dialogues.labels:
        for protocol in ("f", "p"):
            for kind in KINDS:
                ended = [r for r in everything if (r.model, r.protocol, r.kind) == (model, protocol, kind)]
                if ended:
                    counts = Counter(record.ending for record in ended)
                    turns = sum(record.turns for record in ended) / len(ended)
                    retries = sum(record.retries for record in ended)
                    shown = [counts[ending] for ending in ENDINGS]
                    rows.append([model, protocol, SET_NAMES[kind], *shown, Number(turns, 2), retries])
    return Table(
        key="endings",
        title="How dialogues end",
        columns=("model", "protocol", "set", *(name.replace("_", " ") for name in ENDINGS), "mean turns", "retries"),
        labels=3,
        rows=rows,
        note="abstained, cut and refused: two answers in one turn were no action. A simulator error is not scored.",
    )


def disagreements(dialogues: Dialogues) -> Table:
    """The stages of samples on which another comparison disagrees with the headline: how many queries, of how many."""
    asked: Counter[tuple[str, int]] = Counter()
    found: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for record in dialogues.records:
        for query in record.queried:
            place = (record.sample, query.stage + 1)
            asked[place] += 1
            right = query.agree.get(HEADLINE, False)
            found[place].update(name for name in BESIDE if query.agree.get(name, False) != right)
    return Table(
        key="disagreements",
        title=f"Queries on which a comparison disagrees with {HEADLINE}",
        columns=("sample", "query", *BESIDE, "queries"),
        labels=2,
        excerpt=LISTED,
        rows=[
            [*place, *(found[place][name] for name in BESIDE), asked[place]] for place in sorted(asked) if found[place]
        ],
        note="How many of the queries, over all models and protocols, the two judge differently.",
    )


def queries(dialogues: Dialogues) -> Table:
    """What single queries came to, before and after the drift."""
    rows: list[list[Cell]] = []
    for model in dialogues.labels:
        for title, later in (("first", False), ("after a drift", True)):
            found = [q for r in dialogues.records if r.model == model for q in r.queried if (q.stage > 0) == later]
            right = sum(query.agree.get(HEADLINE, False) for query in found)
            counts = Counter(query.status for query in found)
            unparsable = sum(query.step == "unparsable" for query in found)
            failed = [counts[status] for status in _STATUSES]
            rows.append([model, title, len(found), right, counts["ok"] - right, *failed, unparsable])
    return Table(
        key="queries",
        title="Single queries, both protocols",
        columns=("model", "query", "given", "right", "wrong result", *_STATUSES, "no commitments"),
        labels=2,
        rows=rows,
        note="no commitments: this query or the one before it does not parse, so nothing can be said of the drift.",
    )
