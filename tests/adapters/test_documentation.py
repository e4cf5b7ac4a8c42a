"""docs/models.md is complete: whatever can be named, set or asked for stands in it."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from turntide.adapters.capabilities import Capability, presets
from turntide.adapters.provider import Provider

TEXT = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
OPTIONS = """max_tokens temperature seed json_schema reasoning_effort thinking thinking_budget system_role
max_tokens_field api api_version extra"""


def test_every_provider_is_documented_with_its_variables() -> None:
    for entry in entry_points(group="turntide.adapters"):
        host = entry.load()
        assert isinstance(host, Provider)
        names = (host.name, *host.key_variables, *host.url_variables, *host.in_flight_variables)
        assert [name for name in names if f"`{name}`" not in TEXT] == []


def test_every_option_field_and_line_up_is_documented() -> None:
    names = [*OPTIONS.split(), *Capability.__struct_fields__]
    assert [name for name in names if f"`{name}`" not in TEXT] == []
    assert [entry.name for entry in presets() if f"--preset {entry.name}" not in TEXT] == []


def test_every_model_of_the_first_papers_line_up_is_documented() -> None:
    line_up = next(entry.models for entry in presets() if entry.name == "enterprisemem-paper")
    assert [model for model in line_up if f"`{model}`" not in TEXT] == []
