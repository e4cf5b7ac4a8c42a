"""The paper's figures, from the tables of the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..figures.figure import Axis, Figure, Panel, Point, Series, beside, crossed, line, percents
from ..figures.from_tables import Tables, cost_figure, distinct, rows, value
from ..figures.names import short
from ..table import Table
from .accuracy import SET_NAMES

CHAINED: Final = (SET_NAMES["chain"], SET_NAMES["joint"])
DRIFTED: Final = (SET_NAMES["drift"], SET_NAMES["joint"])
CROSSES: Final = "Lines through a point are its 95 % intervals."


def figures(tables: Tables) -> list[Figure]:
    """Return every figure that the tables allow."""
    return list(_figures(tables))


def _figures(tables: Tables) -> Iterator[Figure]:
    if found := tables.get("identification"):
        yield from scatter(found, "layers", "First and second layer", "L1-IR", "L2-IRp", "TIDE-Bench, Figure 3")
        yield from scatter(found, "asking", "Both layers found, and how often asked", "AR", "JIR", "TIDE-Bench, §5.2")
    handling, dea = tables.get("drift_handling"), tables.get("dea")
    if handling and dea and {f"{name} All" for name in DRIFTED} <= set(dea.columns):
        yield drift_to_joint(handling, dea)
    if handling:
        yield by_subtype(handling)
    if dea:
        columns = [column for column in dea.columns[1:] if column in (CHAINED[0], *(f"{name} All" for name in DRIFTED))]
        cells = (
            (column.removesuffix(" All"), str(row["model"]), "f", row[column])
            for column in columns
            for row in rows(dea)
            if row["model"] != "all"
        )
        if cost := cost_figure(cells, tables["cost"], "protocol", "DEA%", "answers"):
            yield cost


def scatter(table: Table, key: str, title: str, x: str, y: str, source: str) -> Iterator[Figure]:
    """Yield one rate against another per sample set, if both were taken on some set."""
    models = distinct(table, "model")
    names = short(models)
    panels = [
        Panel(
            title=kind,
            x=percents(f"{x} %"),
            y=percents(f"{y} %"),
            series=[
                Series(
                    name=names[str(row["model"])],
                    style=models.index(str(row["model"])),
                    points=crossed(value(row[f"{kind} {x}"]), value(row[f"{kind} {y}"])),
                    joined=False,
                )
                for row in rows(table)
                if row["model"] in names
            ],
            reference="diagonal",
        )
        for kind in CHAINED
        if {f"{kind} {x}", f"{kind} {y}"} <= set(table.columns)
    ]
    if panels:
        yield Figure(
            key=key,
            title=f"{title}: {y} against {x}",
            panels=panels,
            source=source,
            note=f"Thin line: equal rates. {CROSSES}",
        )


def drift_to_joint(handling: Table, dea: Table) -> Figure:
    """What the chain before it costs the same drift: DRR, DRA and DEA from Drift-only to Joint (Figure 4)."""
    models = distinct(handling, "model")
    names = short(models)
    columns = {
        "DRR": (handling, "DRR {}"),
        "DRA": (handling, "{} DRA All"),
        "DEA": (dea, "{} All"),
    }
    panels = [
        Panel(
            title=metric,
            x=Axis(label="", ticks=list(enumerate(DRIFTED)), low=0, high=1),
            y=percents(f"{metric}%"),
            series=[
                Series(
                    name=names[str(row["model"])],
                    style=models.index(str(row["model"])),
                    points=line(
                        range(2),
                        [value(row[pattern.format(kind)]) for kind in DRIFTED],
                        beside(models.index(str(row["model"])), len(models), 0.1),
                    ),
                )
                for row in rows(table)
                if row["model"] in names
            ],
        )
        for metric, (table, pattern) in columns.items()
    ]
    return Figure(
        key="drift_to_joint",
        title="From Drift-only to Joint",
        panels=panels,
        source="TIDE-Bench, Figure 4",
        note="Vertical lines are 95 % intervals.",
    )


def by_subtype(table: Table) -> Figure:
    """DRA by what the drift changes (Table 14)."""
    models = distinct(table, "model")
    names = short(models)

    def panel(kind: str) -> Panel:
        start = f"{kind} DRA "
        listed: list[str] = []
        points: dict[str, list[Point]] = {model: [] for model in models}
        for column in (column for column in table.columns if column.startswith(start)):
            listed.append(f"# {column.removeprefix(start)}")
            for row in rows(table):
                if row["model"] in names:
                    model = str(row["model"])
                    if (found := value(row[column])) is not None:
                        points[model].append(Point(found[0], len(listed), x_range=found[1]))
                    listed.append(names[model])
        series = [
            Series(name=names[model], style=place, points=points[model], joined=False)
            for place, model in enumerate(models)
        ]
        return Panel(title=kind, x=percents("DRA%"), y=Axis(label=""), series=series, rows=listed)

    kinds = [kind for kind in DRIFTED if any(column.startswith(f"{kind} DRA") for column in table.columns)]
    return Figure(
        key="dra_by_subtype",
        title="Drift resolution by subtype",
        panels=[panel(kind) for kind in kinds],
        source="TIDE-Bench, Table 14",
        note="With 95 % intervals.",
    )
