"""The line-up as the simulated provider meets it."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from turntide.adapters.base import ConfigurationError, Message, Question
from turntide.adapters.simulated.config import Config
from turntide.adapters.simulated.exchange import Simulation
from turntide.adapters.simulated.reader import GROUP, Misreader, Readers
from turntide.datasets.enterprisemem.prompts import compose
from turntide.datasets.enterprisemem.reader.models import MODELS, make
from turntide.datasets.enterprisemem.reader.reader import PromptReader, Settings
from turntide.datasets.enterprisemem.templates import bird

from ....support.episodes import episode

DOCUMENT = (Path(__file__).parents[4] / "docs" / "simulated-models.md").read_text()
LISTED = bird.LIST.ask({"region": "south", "loan_status": "C"})


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_an_installed_reader_of_its_name(name: str) -> None:
    reader = Readers().make(name, {})
    assert isinstance(reader, PromptReader)
    assert isinstance(reader, Misreader)
    assert reader.settings == MODELS[name]


def test_no_other_reader_is_installed() -> None:
    here = "turntide.datasets.enterprisemem."
    ours = {entry.name for entry in entry_points(group=GROUP) if entry.value.startswith(here)}
    assert ours == set(MODELS)


def test_one_model_is_perfect() -> None:
    assert [name for name, settings in MODELS.items() if settings == Settings()] == ["reader-perfect"]


def test_every_setting_and_model_is_documented() -> None:
    assert [name for name in (*Settings.__struct_fields__, *MODELS) if f"`{name}`" not in DOCUMENT] == []


def test_settings_may_come_as_text() -> None:
    settings = make("reader-good", episodes="always", swayed="0.5", errors="0.25").settings
    assert (settings.episodes, settings.swayed, settings.errors) == ("always", 0.5, 0.25)
    assert settings.slips == MODELS["reader-good"].slips


@pytest.mark.parametrize("wrong", [{"episodes": "often"}, {"asks": 2}, {"errors": "many"}, {"moods": 1}])
def test_a_wrong_setting_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Readers().make("reader-good", wrong)


def test_a_models_name_carries_settings_and_mistakes_to_the_provider() -> None:
    models = Simulation(Config()).models
    question = Question(model="m", messages=compose("bird", "CREATE TABLE t (a);", [], [], [], [], LISTED), options={})
    right = models.find("sim/reader-perfect").complete(question, 0).answer.text
    assert right == bird.LIST.fill({"region": "south", "loan_status": "C"})
    for variant in ("reader-perfect?errors=1", "reader-perfect?slips=1", "reader-perfect?wrong=1"):
        assert models.find(variant).complete(question, 0).answer.text != right


def test_a_reader_never_loads_what_holds_gold() -> None:
    """What it cannot import it cannot look up: sessions, gold, scores, databases and the engine stay out."""
    code = (
        "import sys, turntide.datasets.enterprisemem.reader.models\n"
        "print(*(name for name in sys.modules if name.startswith(('turntide.', 'sqlite3'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    ours = "turntide.datasets.enterprisemem."
    allowed = {"prompts", "templates", "reader", "memory", "memory.episode", "memory.text"}
    inside = {name.removeprefix(ours) for name in loaded if name.startswith(ours)}
    assert {name for name in inside if name.partition(".")[0] not in ("templates", "reader")} <= allowed
    assert loaded - {f"{ours}{name}" for name in inside} <= {
        "turntide.adapters", "turntide.adapters.base", "turntide.adapters.errors", "turntide.adapters.misuse",
        "turntide.datasets",
        "turntide.datasets.enterprisemem",
    }  # fmt: skip


def test_an_answer_takes_less_than_150_microseconds() -> None:
    """The best of twenty rounds, on a prompt of the largest condition with a schema of 8,000 characters."""
    values = {"region": "south", "loan_status": "C"}
    shown = [episode(n, bird.LARGEST.ask({}), sql=bird.LARGEST.fill(values), result="1 rows") for n in range(5)]
    schema = "CREATE TABLE t (a TEXT);\n\n" * 300
    prompt = compose("bird", schema, shown, shown[:3], [("region", "south")], ["note"], bird.AVERAGE.ask({}))
    reader, chance = make("reader-perfect"), random.Random(0)
    assert min(cpu_per_answer(reader, prompt, chance) for _ in range(20)) < 150e-6


def cpu_per_answer(reader: PromptReader, prompt: tuple[Message, Message], chance: random.Random) -> float:
    start = time.process_time()
    for _ in range(50):
        reader.answer(prompt, {}, chance)
    return (time.process_time() - start) / 50
