"""The paper's figures, from the tables of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..figures.figure import Axis, Figure, Panel, Point, Range, Series, beside, line, percents
from ..figures.from_tables import Tables, cost_figure, distinct, measures, rows, value
from ..figures.names import short
from ..table import Cell, Table

STYLES: Final = {"A": 0, "B": 1, "B_wm5": 3, "C": 2, "D": 4}
"""A condition looks alike in every panel; A, the baseline, is black and dotted."""

EX: Final = percents("EX%")


def figures(tables: Tables) -> list[Figure]:
    """Return every figure that the tables allow."""
    return list(_figures(tables))


def _figures(tables: Tables) -> Iterator[Figure]:
    yield collapse(tables["ex_by_turn"])
    if "mbs_by_turn" in tables:
        yield hook(tables["mbs_by_turn"])
    if "ablation" in tables:
        yield ablation(tables["ablation"])
    if len(measures(tables["ex_by_source"])) > 1:
        yield regression(tables["ex_by_source"])
    cells = (
        (f"Condition {condition}", str(row["model"]), condition, row[condition])
        for condition in measures(tables["ex_by_condition"])
        for row in rows(tables["ex_by_condition"])
        if row["model"] != "all"
    )
    if cost := cost_figure(cells, tables["cost"], "condition", "EX%", "turns"):
        yield cost


def collapse(table: Table) -> Figure:
    """EX% by turn: without memory it collapses (Figure 1, Tables 7 and 13)."""
    models, depths, conditions = distinct(table, "model"), _depths(table), distinct(table, "condition")
    names = short(models)

    def panel(model: str) -> Panel:
        series = [
            Series(
                name=str(row["condition"]),
                style=STYLES.get(str(row["condition"]), 5),
                points=_by_turn(row, depths, beside(conditions.index(str(row["condition"])), len(conditions))),
                dotted=row["condition"] == "A",
            )
            for row in rows(table)
            if row["model"] == model
        ]
        return Panel(title=names[model], x=_turn_axis(depths), y=EX, series=series)

    return Figure(
        key="collapse",
        title="EX% by turn",
        panels=[panel(model) for model in models],
        source="EnterpriseMem-Bench, section 6.1",
        note=f"{'Dotted: A, without memory. ' if 'A' in conditions else ''}Vertical lines are 95 % intervals.",
    )


def hook(table: Table) -> Figure:
    """The Memory Benefit Score by turn (Figure 4)."""
    models, depths = distinct(table, "model"), _depths(table)
    names = short(models)

    def panel(condition: str) -> Panel:
        series = [
            Series(
                name=names[str(row["model"])],
                style=models.index(str(row["model"])),
                points=_by_turn(row, depths, beside(models.index(str(row["model"])), len(models))),
            )
            for row in rows(table)
            if row["condition"] == condition and row["model"] in names
        ]
        return Panel(
            title=f"{condition} minus A", x=_turn_axis(depths), y=Axis(label="points"), series=series, reference="y=0"
        )

    return Figure(
        key="mbs",
        title="Memory Benefit Score by turn",
        panels=[panel(condition) for condition in distinct(table, "condition")],
        source="EnterpriseMem-Bench, Figure 4",
        note="EX% with memory minus EX% without, in percentage points; vertical lines are 95 % intervals.",
    )


def ablation(table: Table) -> Figure:
    """What each part of memory adds, per model and data set (Table 8)."""
    models, effects = distinct(table, "model"), measures(table)
    names = short(models)

    def panel(source: str, x: Axis) -> Panel:
        cells = {str(row["model"]): row for row in rows(table) if row["source"] == source}
        listed: list[str] = []
        points: dict[str, list[Point]] = {model: [] for model in models}
        for effect in effects:
            listed.append(f"# {effect}")
            for model in models:
                if (found := value(cells[model][effect])) is not None:
                    points[model].append(Point(found[0], len(listed), x_range=found[1]))
                listed.append(names[model])
        series = [
            Series(name=names[model], style=place, points=points[model], joined=False)
            for place, model in enumerate(models)
        ]
        title = "All data sets" if source == "all" else source
        return Panel(title=title, x=x, y=Axis(label=""), series=series, reference="x=0", rows=listed)

    sources = list(dict.fromkeys(str(row["source"]) for row in rows(table)))
    ends = [end for row in rows(table) for effect in effects for end in _ends(value(row[effect]))]
    axis = Axis(label="points", low=min(ends, default=0.0), high=max(ends, default=0.0))  # one for all panels
    return Figure(
        key="ablation",
        title="What each part of memory adds",
        panels=[panel(source, axis) for source in sources],
        source="EnterpriseMem-Bench, Table 8",
        note="Differences of EX% in percentage points with 95 % intervals; right of the line memory helps.",
    )


def regression(table: Table) -> Figure:
    """EX% per data set across conditions: where one model falls behind another (Figure 3)."""
    models, conditions = distinct(table, "model"), measures(table)
    names = short(models)
    ticks = list(enumerate(conditions))

    def panel(source: str) -> Panel:
        series = [
            Series(
                name=names[str(row["model"])],
                style=models.index(str(row["model"])),
                points=line(
                    range(len(conditions)),
                    [value(row[condition]) for condition in conditions],
                    beside(models.index(str(row["model"])), len(models)),
                ),
            )
            for row in rows(table)
            if row["source"] == source and row["model"] in names
        ]
        return Panel(title=source, x=Axis(label="condition", ticks=ticks), y=EX, series=series)

    return Figure(
        key="regression",
        title="EX% across conditions, per data set",
        panels=[panel(source) for source in distinct(table, "source")],
        source="EnterpriseMem-Bench, Figure 3",
        note="Vertical lines are 95 % intervals.",
    )


def _ends(found: tuple[float, Range] | None) -> tuple[float, ...]:
    """Return the ends of a value's interval; of one without an interval, itself."""
    return () if found is None else found[1] or (found[0],)


def _by_turn(row: dict[str, Cell], depths: Sequence[str], moved: float) -> list[Point]:
    return line([int(depth[1:]) for depth in depths], [value(row[depth]) for depth in depths], moved)


def _turn_axis(depths: Sequence[str]) -> Axis:
    """Return the axis of turns; a single one has room on both sides, so that what moved aside is still seen as one."""
    ticks = [(int(depth[1:]), depth[1:]) for depth in depths]
    if len(ticks) > 1:
        return Axis(label="turn", ticks=ticks)
    return Axis(label="turn", ticks=ticks, low=ticks[0][0] - 1, high=ticks[0][0] + 1)


def _depths(table: Table) -> list[str]:
    return [column for column in table.columns if column[1:].isdecimal()]
