"""Documentation that can be wrong is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_the_behaviours_are_numbered_without_a_gap_and_each_names_a_test() -> None:
    text = (ROOT / "docs" / "behaviours.md").read_text()
    assert [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] == list(range(1, 38))
    lines = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    assert [number for number, line in enumerate(lines, 1) if ".py: test_" not in line] == []


@pytest.mark.parametrize(("page", "count"), [("behaviours.md", 30), ("security.md", 15)])
def test_every_claim_names_tests_that_exist(page: str, count: int) -> None:
    named = re.findall(r"`(\S+\.py): (test_\w+)`", (ROOT / "docs" / page).read_text())
    assert len(named) > count
    missing = [
        f"{file}: {test}"
        for file, test in named
        if f"def {test}(" not in ((ROOT / "tests" / file).read_text() if (ROOT / "tests" / file).exists() else "")
    ]
    assert missing == []


def test_every_document_is_linked_from_the_readme() -> None:
    linked = set(re.findall(r"\(docs/([\w.-]+)\)", (ROOT / "README.md").read_text()))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - linked == set()


def test_links_between_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_readme_lists_every_command() -> None:
    from turntide.engine.cli import COMMANDS

    text = (ROOT / "README.md").read_text()
    assert [name for name in COMMANDS if f"turntide {name}" not in text and f"`{name}`" not in text] == []
