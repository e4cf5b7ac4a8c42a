"""How every figure looks: Okabe and Ito's colours, told apart in grey by markers and dashes, and by direct labels.

Okabe M, Ito K (2008), Color universal design. Their yellow is too light for thin lines on white and is darkened; the
page has a second set of the same hues for dark (`page.css`), which it puts in the place of these.
"""

from __future__ import annotations

from typing import Any, Final

SERIES: Final = ("#111111", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#3d9bd0")
"""The first is not quite black: matplotlib leaves out SVG's default, so that no theme could change it."""

INK: Final = "#1a1c20"
SOFT: Final = "#5a606b"
RULE: Final = "#d9dce2"
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
DASHES: Final[tuple[Any, ...]] = ("-", (0, (6, 2)), (0, (4, 1, 1, 1)), (0, (3, 1.5)), (0, (8, 2, 2, 2)))
DOTTED: Final = (0, (1, 1.5))

FONT: Final = "DejaVu Sans"
"""Comes with matplotlib, so that a figure looks alike everywhere."""

FALLBACKS: Final = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK TC", "Source Han Sans SC", "PingFang SC",
    "Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei",
    "Droid Sans Fallback", "Arial Unicode MS", "Noto Emoji", "Segoe UI Emoji", "Noto Sans Symbols 2", "Segoe UI Symbol",
)  # fmt: skip
"""Fonts that may be installed, for what ours has no sign for."""

ROLES: Final = {
    INK: "ink",
    SOFT: "soft",
    RULE: "rule",
    **{color: f"series-{place}" for place, color in enumerate(SERIES)},
}
"""Which of the page's colours stands for a colour of ours."""

SETTINGS: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": [FONT],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.axisbelow": True,
}


def color(style: int) -> str:
    """Return the colour of a style."""
    return SERIES[style % len(SERIES)]


def marker(style: int) -> str:
    """Return the marker of a style: with more styles than colours, equal colours get different ones."""
    return MARKERS[(style + style // len(SERIES)) % len(MARKERS)]


def dashes(style: int) -> object:
    """Return the dashes of a style."""
    return DASHES[style % len(DASHES)]
