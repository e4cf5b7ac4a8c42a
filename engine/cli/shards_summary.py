"""How a run that is cut into shards ended: the summaries of its shards as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from ..shards.folder import shard_folder
from ..shards.worker import STOPPED, Ended
from ..system.moments import utc_now
from ..watch.summary import EXIT_CODES, ModelSummary, State, Summary

FIRST: Final[tuple[State, ...]] = ("failed", "interrupted", "budget", "incomplete", "unusable")
"""What a run is called of whose shards several ended early, each differently: the first of these that is among them."""


def joined(
    folder: Path, ended: Sequence[Ended], plan: Sequence[Mapping[str, int]], cap: Decimal | None, began: datetime
) -> Summary:
    """Return the summary of the run in `folder` whose shards have ended so.

    `plan` counts each shard's dialogues by model; `cap` is in USD.
    """
    shards = [
        each.summary or _summary(shard_folder(folder, index), each, plan[index]) for index, each in enumerate(ended)
    ]
    states = {shard["state"] for shard in shards}
    labels = dict.fromkeys(label for shard in shards for label in shard["models"])
    unscored = sum((Counter[str](shard["unscored"]) for shard in shards), Counter[str]())
    early: list[State] = [state for state in FIRST if state in states]
    return Summary(
        state=early[0] if early else "complete",
        folder=folder,
        models={label: _model([s["models"][label] for s in shards if label in s["models"]]) for label in labels},
        known=sum((Decimal(shard["known_usd"]) for shard in shards), Decimal(0)),
        exposed=sum((Decimal(shard["exposed_usd"]) for shard in shards), Decimal(0)),
        cap=cap,
        began=began,
        ended=utc_now(),
        causes=tuple(dict.fromkeys(cause for shard in shards for cause in shard["reasons"])),
        unscored=unscored,
    )


def _summary(folder: Path, ended: Ended, planned: Mapping[str, int]) -> dict[str, Any]:
    """Return a summary, by its journal, of a shard that left none: it was killed, or refused to begin."""
    from ...results.operations import Operations
    from ...results.reading import open_run

    operations = Operations.of(open_run(folder, 0))
    reason = ended.message if ended == STOPPED else f"{folder.name}: {ended.message}"
    models = {
        label: {
            "planned": (all_of_it := planned.get(label, 0)),
            "done": each.done,
            "reason": reason if each.done < all_of_it else "",
            "ended": None,
            "priced": True,
        }
        for label, each in operations.models.items()
    }
    return {
        "state": next((state for state, code in EXIT_CODES.items() if code == ended.code), "incomplete"),
        "models": models,
        "known_usd": operations.budget.known,
        "exposed_usd": operations.budget.exposed,
        "reasons": [reason],
        "unscored": {},
    }


def _model(shards: Sequence[Mapping[str, Any]]) -> ModelSummary:
    """Return how a model ended in all shards; of the reasons why it did not, the first."""
    moments = [datetime.fromisoformat(shard["ended"]) for shard in shards if shard["ended"]]
    return ModelSummary(
        planned=sum(shard["planned"] for shard in shards),
        done=sum(shard["done"] for shard in shards),
        reason=next((shard["reason"] for shard in shards if shard["reason"]), ""),
        ended=max(moments, default=None),
        priced=all(shard["priced"] for shard in shards),
    )
