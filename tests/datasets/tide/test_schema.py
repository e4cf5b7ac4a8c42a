"""Schemas from database files and from BIRD's listings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from turntide.datasets.tide.schema import Schema, schema_of, schema_of_bird


def test_names_are_lower_case_and_keep_their_order(schema: Schema) -> None:
    assert list(schema.columns("shop") or ()) == ["id", "name", "city", "region", "opening hours"]
    assert schema.columns("elsewhere") is None


def test_views_are_tables_to_a_query(schema: Schema) -> None:
    assert list(schema.columns("big_sale") or ()) == ["id", "amount"]


def test_a_bird_entry_lists_each_column_with_its_table() -> None:
    entry = {
        "table_names_original": ["Shop", "Empty"],
        "column_names_original": [[-1, "*"], [0, "ID"], [0, "Opening Hours"]],
    }
    assert schema_of_bird(entry) == Schema.of({"shop": ["id", "opening hours"], "empty": []})


def test_a_missing_database_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no database at"):
        schema_of(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


@pytest.mark.parametrize("name", ["financial", "superhero"])
def test_birds_listing_agrees_with_its_databases(name: str, shared_data: Path) -> None:
    entries = json.loads((shared_data / "bird" / "dev_tables.json").read_text(encoding="utf-8"))
    (entry,) = (entry for entry in entries if entry["db_id"] == name)
    assert schema_of_bird(entry) == schema_of(shared_data / "bird" / f"{name}.sqlite")
