"""Draws figures with matplotlib: a panel is one pair of axes of a phone's width, a figure a grid of them.

matplotlib does scales, ticks and layout, and its SVG has plain attributes that `themed` can turn to the page's own
colours; equal figures give equal bytes (a fixed salt for ids, no dates). Text stays text, so that it can be read out
and found.
"""

# matplotlib's own stubs leave their keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import io
import math
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import findfont, fontManager, get_font

from .figure import Axis, Figure, Panel, Point, Series
from .style import DOTTED, FALLBACKS, FONT, RULE, SETTINGS, SOFT, color, dashes, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from matplotlib.text import Annotation

Format: TypeAlias = Literal["svg", "pdf"]

WIDTH: Final = 3.4
HEIGHT: Final = 2.5
ROW: Final = 0.165
"""Inches: of a panel, and of a row in one that has rows."""

COLUMNS: Final = 3
GAP: Final = 9.5
"""Points between two labels at the side."""

LOWEST: Final = 0.02
HIGHEST: Final = 1.04
"""Where labels may stand, in heights of the axes: from above the ticks' names to level with the title."""


class Labels(NamedTuple):
    """The names of a panel's series, each with the point that it names."""

    axes: Axes
    names: list[tuple[Point, Annotation]]


def draw(figure: Figure, kind: Format) -> bytes:
    """Return the whole figure as a file's bytes."""
    columns = 2 if len(figure.panels) == 4 else min(COLUMNS, len(figure.panels))  # two by two, none alone
    rows = -(-len(figure.panels) // columns)
    height = max(map(_height, figure.panels))
    with _settings(figure.key, figure.panels):
        canvas = Canvas(figsize=(WIDTH * columns, height * rows + 0.3), layout="constrained")
        canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=10)
        parts = canvas.subfigures(rows, columns, squeeze=False).flat
        labels = [_draw_panel(part, panel) for part, panel in zip(parts, figure.panels, strict=False)]
        _settle(canvas, labels)
        return _saved(canvas, kind)


def draw_panels(figure: Figure) -> list[str]:
    """Return each panel as an SVG of its own."""
    drawn: list[str] = []
    for place, panel in enumerate(figure.panels):
        with _settings(f"{figure.key}-{place}", [panel]):
            canvas = Canvas(figsize=(WIDTH, _height(panel)), layout="constrained")
            _settle(canvas, [_draw_panel(canvas, panel)])
            drawn.append(_saved(canvas, "svg").decode())
    return drawn


@contextmanager
def _settings(salt: str, panels: Sequence[Panel]) -> Generator[None]:
    """Set how everything looks, and keep to ourselves what no reader of a report can change."""
    own = {"svg.hashsalt": salt, "font.sans-serif": fonts(text for panel in panels for text in _names(panel))}
    with mpl.rc_context(cast("Any", {**SETTINGS, **own})), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)  # a name leaves no room
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)  # a box stands for the sign
        yield


def _names(panel: Panel) -> Iterator[str]:
    """Yield the texts that others may have written."""
    yield panel.title
    yield from panel.rows
    yield from (series.name for series in panel.series)


def fonts(texts: Iterable[str]) -> list[str]:
    """Return the fonts for texts: ours, and where it lacks a sign also fallbacks that are installed."""
    known = get_font(findfont(FONT)).get_charmap()
    if all(ord(sign) in known for text in texts for sign in text):
        return [FONT]
    installed = {font.name for font in fontManager.ttflist}
    return [FONT, *(name for name in FALLBACKS if name in installed)]


def _height(panel: Panel) -> float:
    return 0.75 + ROW * len(panel.rows) if panel.rows else HEIGHT


def _saved(canvas: Canvas, kind: Format) -> bytes:
    file = io.BytesIO()
    undated = {"Date": None, "Creator": "turntide"} if kind == "svg" else {"CreationDate": None, "Creator": "turntide"}
    canvas.savefig(file, format=kind, metadata=undated)
    return file.getvalue()


def _draw_panel(part: Canvas | SubFigure, panel: Panel) -> Labels:
    """Draw a panel, and return the names of its series with their points: they find their places later."""
    axes = part.subplots()
    axes.set_title(panel.title, parse_math=False)
    _axis(axes, "x", panel.x)
    _axis(axes, "y", panel.y)
    for series in panel.series:
        _series(axes, series)
    if panel.y.low is not None and panel.y.high is None:
        axes.set_ylim(bottom=panel.y.low)
    _reference(axes, panel.reference)
    if panel.rows:
        _rows(axes, panel.rows)
        return Labels(axes, [])
    found = [(series, last) for series in panel.series if (last := _last(series))]
    return Labels(axes, [(point, _named(axes, series, point)) for series, point in found])


def _axis(axes: Axes, which: Literal["x", "y"], axis: Axis) -> None:
    side = axes.xaxis if which == "x" else axes.yaxis
    side.set_label_text(axis.label)
    if axis.scale == "log":
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    if axis.ticks:
        side.set_ticks([value for value, _ in axis.ticks], [name for _, name in axis.ticks])
    if axis.low is not None and axis.high is not None and axis.low < axis.high:  # else matplotlib makes room itself
        margin = 0.04 * (axis.high - axis.low) if axis.scale == "linear" else 0
        (axes.set_xlim if which == "x" else axes.set_ylim)(axis.low - margin, axis.high + margin)


def _series(axes: Axes, series: Series) -> None:
    shade = color(series.style)
    xs, ys = [point.x for point in series.points], [point.y for point in series.points]
    upright = [(point.x, *point.y_range) for point in series.points if point.y_range]
    level = [(point.y, *point.x_range) for point in series.points if point.x_range]
    if upright:
        axes.vlines(*zip(*upright, strict=True), colors=shade, linewidth=0.8)
    if level:
        axes.hlines(*zip(*level, strict=True), colors=shade, linewidth=0.8)
    axes.plot(
        xs,
        ys,
        color=shade,
        linestyle=("None" if not series.joined else DOTTED if series.dotted else dashes(series.style)),
        marker="None" if series.stepped else marker(series.style),
        drawstyle="steps-post" if series.stepped else "default",
        markeredgewidth=0,
        clip_on=False,
    )


def _reference(axes: Axes, which: str) -> None:
    match which:
        case "diagonal":
            axes.axline((0, 0), slope=1, color=SOFT, linewidth=0.6, zorder=0)
        case "x=0":
            axes.axvline(0, color=SOFT, linewidth=0.6, zorder=0)
        case "y=0":
            axes.axhline(0, color=SOFT, linewidth=0.6, zorder=0)
        case _:
            pass


def _rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [row.removeprefix("# ") for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    for row, label in zip(rows, axes.get_yticklabels(), strict=True):
        label.set_parse_math(False)
        if row.startswith("# "):
            label.set_fontweight("bold")


def _last(series: Series) -> Point | None:
    """Return the last point that is there: where a line breaks, its y is nan."""
    return next((point for point in reversed(series.points) if not math.isnan(point.y)), None)


def _named(axes: Axes, series: Series, last: Point) -> Annotation:
    """Name a series at the right, with a thin line from its last point."""
    return axes.annotate(
        series.name,
        xy=(last.x, last.y),
        xytext=(1.04, 0.5),
        textcoords="axes fraction",
        color=color(series.style),
        va="center",
        parse_math=False,
        arrowprops={"arrowstyle": "-", "color": RULE, "linewidth": 0.7, "shrinkA": 1, "shrinkB": 2, "relpos": (0, 0.5)},
        annotation_clip=False,
    )


def _settle(canvas: Canvas, panels: Sequence[Labels]) -> None:
    """Lay the canvas out, then move names apart: where the points stand on the page is known only now."""
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    for axes, labels in panels:
        height = axes.get_window_extent().height * 72 / canvas.dpi
        places = [axes.transAxes.inverted().transform(axes.transData.transform((p.x, p.y)))[1] for p, _ in labels]
        for (_, note), place in zip(labels, spread(places, GAP / height, LOWEST, HIGHEST), strict=True):
            note.set_position((1.04, place))


def spread(wanted: Sequence[float], gap: float, lowest: float = -math.inf, highest: float = math.inf) -> list[float]:
    """Return places in the order of those `wanted`, no two closer than `gap`, each as near to its own as that allows.

    Of equal ones the first is on top. None is above `highest`, nor below `lowest` while there is room. Neighbours that
    are too close are merged into groups around their mean (pool adjacent violators).
    """
    order = sorted(range(len(wanted)), key=lambda each: (wanted[each], -each))
    groups: list[list[float]] = []  # sum of wanted places less their steps, and how many
    for step, each in enumerate(order):
        groups.append([wanted[each] - step * gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    top = highest - (len(wanted) - 1) * gap
    starts = [min(max(total / count, lowest), top) for total, count in groups for _ in range(int(count))]
    found = [0.0] * len(wanted)
    for step, each in enumerate(order):
        found[each] = starts[step] + step * gap
    return found
