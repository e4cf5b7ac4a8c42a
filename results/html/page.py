"""The page around everything: one file that loads nothing, and runs no script but ours."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import starmap
from typing import Final

from ...adapters.base import Json
from ..report import Report
from ..table import Rate, Table
from ..text import words
from .markup import Markup, join, tag
from .packing import Packed
from .tables import rate_bar, table_markup

STYLES: Final = ("page.css", "dialogues.css")
SCRIPTS: Final = ("common.js", "unpack.js", "list.js", "reader.js", "page.js")


def page(report: Report, drawn: Mapping[str, Markup], packed: Packed, operations: Sequence[tuple[str, Table]]) -> str:
    """Return the report as HTML. `drawn` are the figures by key; `operations` are tables, each with its folder."""
    style, script = _assets(STYLES), _assets(SCRIPTS)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", report.title),
        tag("style", Markup(style)),
    )
    sections = [
        ("summary", "Summary", _summary(report)),
        ("tables", "Tables", join(*map(table_markup, report.tables))),
        ("figures", "Figures", _figures(report, drawn)),
        ("operations", "Operations", _operations(operations)),
        ("dialogues", "Dialogues", _dialogues(packed, report)),
    ]
    shown = [section for section in sections if section[2]]
    body = tag(
        "body",
        tag("a", "Skip to the dialogues", class_="skip", href="#dialogues"),
        _top(report, [(key, title) for key, title, _ in shown]),
        tag("main", *(tag("section", tag("h2", title), content, id=key) for key, title, content in shown)),
        *_data(packed),
        tag("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _assets(names: Sequence[str]) -> str:
    folder = files(__package__ or "").joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _policy(style: str, script: str) -> str:
    """Nothing is loaded and nothing runs but the two texts whose hashes stand here."""

    def source(text: str) -> str:
        return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{nothing}; style-src {source(style)}; script-src {source(script)}"


def _top(report: Report, sections: Sequence[tuple[str, str]]) -> Markup:
    links = (tag("a", title, href=f"#{key}") for key, title in sections)
    switch = tag("button", "Theme", id="theme", type="button", title="light, dark, or as the system has it (t)")
    return tag("header", tag("h1", report.title), tag("nav", *links, switch, aria_label="Parts of the report"))


def _summary(report: Report) -> Markup:
    marks = (tag("li", tag("strong", word), " ", meaning, class_="mark") for word, meaning in report.marks.items())
    warnings = (tag("li", tag("strong", "warning"), " ", warning) for warning in report.warnings)
    facts = join(*(join(tag("dt", name), tag("dd", words(value))) for name, value in _facts(report)))
    return join(
        tag("ul", *marks, *warnings, class_="marks") if report.marks or report.warnings else None,
        _headline(report.headline),
        tag("dl", facts, class_="facts"),
    )


def _facts(report: Report) -> Iterator[tuple[str, Json]]:
    if report.scored:
        yield "scored", report.scored
    if report.paid:
        yield "cost", report.paid
    yield from report.facts.items()


def _headline(headline: Mapping[str, Mapping[str, Rate]]) -> Markup | None:
    """Return a row per measure when all are of one model, or of all together; else a row per model under each."""
    whose = {who for rates in headline.values() for who in rates}
    if not whose:
        return None
    if len(whose) == 1:
        caption = f"{whose.pop()}, with 95 % intervals"
        parts = [[_rate(name, rate) for name, rates in headline.items() for rate in rates.values()]]
    else:
        caption = "With 95 % intervals"
        parts = [
            [tag("tr", tag("th", name, scope="rowgroup", colspan=3)), *starmap(_rate, rates.items())]
            for name, rates in headline.items()
        ]
    return tag("table", tag("caption", caption), *(tag("tbody", *rows) for rows in parts), class_="headline")


def _rate(name: str, rate: Rate) -> Markup:
    return tag("tr", tag("th", name, scope="row"), tag("td", rate_bar(rate)), tag("td", rate.shown().text()))


def _figures(report: Report, drawn: Mapping[str, Markup]) -> Markup:
    def each() -> Iterator[Markup]:
        for figure in report.figures:
            if figure.key in drawn:
                source = tag("span", figure.source, class_="source") if figure.source else None
                caption = tag("figcaption", tag("h3", figure.title, " ", source), tag("p", figure.note))
                yield tag("figure", caption, drawn[figure.key], id=f"figure-{figure.key}")

    return join(*each())


def _operations(operations: Sequence[tuple[str, Table]]) -> Markup:
    return join(*(table_markup(table, f"{folder}: ") for folder, table in operations))


def _dialogues(packed: Packed, report: Report) -> Markup | None:
    reading, scoring = report.reading, report.facts.get("scoring")
    if not packed.count or reading is None:
        return None
    keys = "Keys: / find, j and k next and previous dialogue, n and p next and previous turn, Esc back, t theme."
    return join(
        tag(
            "p",
            f"Results and outcomes are those of scoring {words(scoring)}; answers are the run's own.",
            class_="note",
        )
        if scoring
        else None,
        tag("p", keys, class_="note keys"),
        tag("noscript", tag("p", "The dialogues are compressed in this file; reading them needs JavaScript.")),
        tag(
            "div",
            tag(
                "div",
                tag("form", id="filters", role="search"),
                tag("p", "", id="count", aria_live="polite"),
                tag("p", "", id="legend"),
                tag("div", id="list", tabindex=0, role="listbox", aria_label="Dialogues"),
                class_="finder",
            ),
            tag(
                "article",
                tag("p", "Choose a dialogue.", class_="note"),
                id="reader",
                tabindex=-1,
                data_reading=json.dumps({"question": reading.question, "quiet": sorted(reading.quiet)}),
            ),
            class_="browser",
        ),
    )


def _data(packed: Packed) -> Iterator[Markup]:
    """Yield the compressed data as elements that no browser runs or shows."""
    for name, content in (("index", packed.index), ("shared", packed.shared)):
        yield tag("script", Markup(content), type="text/plain", id=f"data-{name}")
    for number, block in enumerate(packed.blocks):
        yield tag("script", Markup(block), type="text/plain", id=f"data-{number}")
