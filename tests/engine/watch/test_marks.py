"""Files that an editor has put a byte order mark before are read like any."""

from __future__ import annotations

import codecs
from pathlib import Path

from turntide.adapters.prices import PriceTable
from turntide.adapters.simulated.config import load as load_config
from turntide.datasets.enterprisemem.sessions import load_sessions, write_sessions
from turntide.engine.spec import load as load_spec

PRICES = '[[price]]\nmodels = ["m"]\nfrom = 2020-01-01\nsource = "s"\ninput = "1"\noutput = "2"\n'


def marked(path: Path, text: str) -> Path:
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    return path


def test_settings_prices_and_specifications_may_begin_with_a_mark(tmp_path: Path) -> None:
    assert load_config(marked(tmp_path / "sim.toml", "retry_after = 7")).retry_after == 7
    assert load_config(marked(tmp_path / "sim.json", '{"retry_after": 7}')).retry_after == 7
    assert PriceTable.load(marked(tmp_path / "prices.toml", PRICES))
    spec = marked(tmp_path / "spec.toml", 'benchmark = "tide"\n[[models]]\nid = "sim/echo"\n')
    assert load_spec(spec).benchmark == "tide"


def test_sessions_may_begin_with_a_mark(tmp_path: Path) -> None:
    from turntide.datasets.enterprisemem.embedded import embedded_sessions

    sessions = load_sessions(embedded_sessions())[:1]
    write_sessions(tmp_path / "sessions.json", sessions)
    assert load_sessions(marked(tmp_path / "marked.json", (tmp_path / "sessions.json").read_text())) == sessions
