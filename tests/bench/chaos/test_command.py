"""`python -m bench.chaos`: what does not hold fails it, what cannot be held is skipped; the audit's own arithmetic."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from turntide.adapters.base import Answer, Fault, Usage
from turntide.engine.calls.ledger import answer_line, fail_line, sent_line
from turntide.engine.folder.parts import began
from turntide.engine.journal import Journal, Key

if TYPE_CHECKING:
    from bench.chaos.trial import Hold

MODEL = "sim/reader-good"
USAGE = Usage(input_tokens=1000, output_tokens=100)
COST = Decimal("0.0028")


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hold: Hold) -> tuple[int, dict[str, Any]]:
    """Run the command with `hold` in the place of a trial."""
    from bench.chaos import disk
    from bench.chaos.__main__ import main

    monkeypatch.setattr(disk, "hold", hold)
    code = main(["--only", "disk", "--json", str(tmp_path / "results.json")])
    (trial,) = json.loads((tmp_path / "results.json").read_text())["trials"]
    return code, trial


def test_one_invariant_that_does_not_hold_once_fails_the_command_and_is_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def hold(asked: object, trial: Any) -> None:
        for number in range(3):
            trial.check("numbers are small", number < 2, number)
        trial.check("numbers are whole", True)

    code, trial = run(monkeypatch, tmp_path, hold)
    assert code == 1
    assert not trial["passed"]
    assert trial["invariants"][0] == {"claim": "numbers are small", "checked": 3, "failed": 1, "found": "2"}
    assert "Did not hold: disk: numbers are small" in capsys.readouterr().out


def test_a_trial_that_cannot_be_held_here_is_skipped_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bench.chaos.trial import CannotRunError

    def hold(asked: object, trial: Any) -> None:
        raise CannotRunError("no disk")

    code, trial = run(monkeypatch, tmp_path, hold)
    assert (code, trial["skipped"]) == (0, ["no disk"])


def test_an_unknown_trial_is_named_beside_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    from bench.chaos.__main__ import main

    with pytest.raises(SystemExit):
        main(["--only", "disk,flood"])
    assert "no trial 'flood'; there are kills, disk," in capsys.readouterr().err


async def test_the_audit_settles_answers_at_their_price_and_counts_what_died_on_the_wire_at_its_worst_case(
    tmp_path: Path,
) -> None:
    from bench.chaos.audit import Audit

    path = tmp_path / "journal.jsonl"
    audit, answer = Audit(path), Answer(text="", model="m", usage=USAGE)
    first, second, third = (Key("u", "", number) for number in range(3))
    with Journal.open(path) as journal:
        for key in (first, second, third):
            journal.append(sent_line(key, 1, "h", Decimal("0.5"), MODEL))
        journal.append(answer_line(first, 1, "h", answer, COST, 0.0, 0.1, 1.0))
        journal.append(fail_line(second, 1, Fault(kind="network", message="cut", paid=True)))
    audit.follow()
    assert (audit.known, audit.exposed, audit.committed) == (COST, Decimal("0.5"), COST + 1)
    assert audit.died() == 1
    with Journal.open(path) as journal:
        journal.append(sent_line(third, 2, "h", Decimal("0.5"), MODEL))
        journal.append(answer_line(third, 2, "h", answer, COST + 1, 0.0, 0.1, 1.0))
    audit.follow()
    assert (audit.answered, audit.failed, audit.lost, audit.mispriced) == (2, 1, 1, 1)
    assert (audit.exposed, audit.wire) == (Decimal(1), {})


def test_a_new_part_of_a_journal_counts_what_the_one_before_left_on_the_wire_as_lost_and_journals_add_up(
    tmp_path: Path,
) -> None:
    from bench.chaos.audit import Audit

    audits = [Audit(tmp_path / name) for name in ("one", "other")]
    for name in ("one", "other"):
        with Journal.open(tmp_path / name) as journal:
            journal.append(began({}))
            journal.append(sent_line(Key(name, "", 0), 1, "h", Decimal("0.5"), MODEL))
    with Journal.open(tmp_path / "one") as journal:
        journal.append(began({}))
    for audit in audits:
        audit.follow()
    both = audits[0] + audits[1]
    assert (both.lost, both.sent, both.exposed, both.committed) == (1, 2, Decimal("0.5"), Decimal(1))
