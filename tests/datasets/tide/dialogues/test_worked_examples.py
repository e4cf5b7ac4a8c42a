"""The paper's worked examples come out as it says: Table 4's joint dialogue, and Figure 2's as far as it goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from turntide.datasets.databases import SourceDatabase
from turntide.datasets.tide.actions import Clarify, Query
from turntide.datasets.tide.experiment import Setup, TideExperiment
from turntide.datasets.tide.files import load_triplets
from turntide.datasets.tide.metrics import identifies, identifies_all, recognises, resolves, right_at
from turntide.datasets.tide.record import DialogueRecord, read_record
from turntide.datasets.tide.samples import samples

from ....support.cases import FIXTURES
from ....support.tide import Databases, DirectContext, scripted

STINT = (
    "SELECT DISTINCT coachID, tmID, year FROM coaches WHERE coaches.lost > coaches.won AND year BETWEEN 2000 AND 2010"
)
STINT_IN_ALL_YEARS = "SELECT DISTINCT coachID, tmID, year FROM coaches WHERE coaches.lost > coaches.won"
JOINED_STINT = (
    "SELECT DISTINCT c.coachID, t.tmID, c.year FROM coaches c JOIN teams t ON c.tmID = t.tmID AND c.year = t.year "
    "WHERE c.lost > c.won AND c.year BETWEEN 2000 AND 2010"
)
JOINED_STINT_IN_ALL_YEARS = JOINED_STINT.partition(" AND c.year BETWEEN")[0]


class Examples:
    """Both triplets over tables as the paper shows them."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript((FIXTURES / "tide" / "paper.sql").read_text(encoding="utf-8"))
        self._experiment = TideExperiment(
            Setup(
                samples=tuple(samples(load_triplets(FIXTURES / "tide" / "paper.json").triplets)),
                samples_sha256="0",
                synthetic=True,
                databases={"hockey": SourceDatabase("hockey", path, synthetic=True)},
            )
        )
        self.databases = Databases(self._experiment.databases)

    async def talk(self, sample: str, *actions: Clarify | Query) -> DialogueRecord:
        units = (unit for lane in self._experiment.lanes("agent", 1) for step in lane for unit in step)
        unit = next(each for each in units if each.item == sample)
        agent = scripted(*(action.to_json() for action in actions))
        ctx = DirectContext(unit, self.databases, {"agent": agent})
        await self._experiment.dialogue(unit, ctx)
        return read_record(ctx.records[0])


@pytest.fixture
def examples(tmp_path: Path) -> Iterator[Examples]:
    opened = Examples(tmp_path / "hockey.sqlite")
    yield opened
    opened.databases.close()


@pytest.mark.parametrize(
    ("before", "after"), [(STINT, STINT_IN_ALL_YEARS), (JOINED_STINT, JOINED_STINT_IN_ALL_YEARS)], ids=["one", "other"]
)
async def test_table_4_the_first_layer_resolved_the_second_missed_and_its_error_inherited(
    examples: Examples, before: str, after: str
) -> None:
    question = Clarify("By disappointing, do you mean a losing record overall?")
    record = await examples.talk("table-4:joint", question, Query(before), Query(after))
    assert identifies(record, "L1")
    assert not identifies(record, "L2")
    assert not right_at(record, 0)  # preEX
    assert recognises(record)  # DRR
    assert not right_at(record, 1)  # postEX
    assert not resolves(record)
    assert record.queried[1].step == "constraint"


async def test_figure_2_refunds_are_a_matter_of_spend_and_of_no_tenure(examples: Examples) -> None:
    top, refunds = Clarify("Top by what they spend, or by tenure?"), Clarify("Should refunds be excluded?")
    gold = Query("SELECT client FROM payments WHERE refund = 0 GROUP BY client ORDER BY SUM(amount) DESC LIMIT 1")
    record = await examples.talk("figure-2:chain", top, refunds, gold)
    assert record.verdict == "eliminated"
    assert identifies_all(record)
    assert right_at(record, 0)
    early = await examples.talk("figure-2:chain", refunds, gold)
    assert [(asked.decided, asked.acted, asked.rho) for asked in early.asked] == [("L2", "Loc", "Other")]
