"""A drawn SVG as part of a page: its colours are the page's own, which change with the theme; no style is inline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from .style import ROLES

SVG: Final = "{http://www.w3.org/2000/svg}"
XLINK: Final = "{http://www.w3.org/1999/xlink}href"
_FONT: Final = re.compile(r"(?:(\d+) )?([\d.]+)px")
_LEFT_OUT: Final = (f"{SVG}metadata", f"{SVG}style")


def themed(svg: str, label: str) -> str:
    """Return the SVG for use inside HTML; `label` says what it shows to those who cannot see it."""
    ElementTree.register_namespace("", SVG[1:-1])
    root = ElementTree.fromstring(svg)
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _LEFT_OUT:
                parent.remove(child)
    for each in root.iter():
        for name, value in _attributes(each.attrib.pop("style", "")):
            each.set(name, value)
        if each.get("id") not in used:
            each.attrib.pop("id", None)
        if XLINK in each.attrib:
            each.set("href", each.attrib.pop(XLINK))
        for name in ("fill", "stroke"):
            if (role := ROLES.get(each.get(name, ""))) is not None:
                each.set(name, f"var(--{role})")
    root.attrib.pop("version", None)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _attributes(style: str) -> Iterator[tuple[str, str]]:
    """Yield a style as attributes; of a font its size and weight, for the family is the page's."""
    for part in filter(None, map(str.strip, style.split(";"))):
        name, _, value = (each.strip() for each in part.partition(":"))
        if name != "font":
            yield name, value
        elif found := _FONT.search(value):
            yield "font-size", found[2]
            if found[1]:
                yield "font-weight", found[1]
