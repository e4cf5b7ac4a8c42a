"""Figures as part of the page: their panels flow, so that each stays readable on a narrow screen."""

from __future__ import annotations

from ..figures.draw import draw_panels
from ..figures.figure import Figure
from ..figures.themed import themed
from .markup import Markup, tag


def panels_markup(figure: Figure) -> Markup:
    """Return a figure's panels, each a drawing of its own in the page's colours."""
    shown = zip(draw_panels(figure), figure.panels, strict=True)
    return tag("div", *(Markup(themed(svg, f"{figure.title}: {panel.title}")) for svg, panel in shown), class_="panels")
