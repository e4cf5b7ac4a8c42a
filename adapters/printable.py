"""Text that came from elsewhere, for eyes: what a terminal would obey, or could not show, is spelled out."""

from __future__ import annotations


class _Spelled(dict[int, str]):
    """What stands for a character, by its code: found out once for each, so that a long text goes at C speed."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        spelled = sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        return self.setdefault(code, spelled)


_SPELLED = _Spelled()


def printable(text: str) -> str:
    """Return `text` with controls, line ends, bidi marks, surrogates and the like as Python escapes them."""
    return text if text.isprintable() else text.translate(_SPELLED)
