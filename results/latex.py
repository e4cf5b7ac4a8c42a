r"""Tables as LaTeX floats for `booktabs`, to be `\input` into a paper: intervals are small, under their number.

Whoever compiles it needs `\usepackage{booktabs}` and, for text that is not English, an engine that knows Unicode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..adapters.printable import printable
from .report import Report
from .shown import is_text, shown
from .table import Cell, Shown, Table

HEAD: Final = "% turntide report; needs \\usepackage{booktabs}\n"

_SPECIAL: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
        "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
        "|": r"\textbar{}", "\"": r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
        "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$", "−": r"$-$", "±": r"$\pm$", "…": r"\dots{}", "§": r"\S{}",
        "→": r"$\to$", "Δ": r"$\Delta$", "*": r"$^{*}$",
    }
)  # fmt: skip


def latex(table: Table) -> str:
    """Return a table as a float with caption, label `tab:KEY` and its note."""
    columns = "".join("l" if is_text(table, place) else "r" for place in range(len(table.columns)))
    caption = table.title + (f" ({table.source})" if table.source else "")
    lines = [
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:{table.key}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([escaped(column) for column in table.columns]),
        r"\midrule",
        *(line for row in table.rows for line in _rows(row)),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {escaped(table.note)}}}"] if table.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def report_latex(report: Report) -> str:
    """Return every table of a report; what no reader may miss stands above them as comments."""
    said = [report.title, *(f"{word}: {meaning}" for word, meaning in report.marks.items()), *report.warnings]
    return HEAD + "".join(f"% {printable(line)}\n" for line in said) + "\n" + "\n".join(map(latex, report.tables))


def escaped(text: str) -> str:
    """Return `text` so that LaTeX sets it as it is."""
    return printable(text).translate(_SPECIAL)


def _rows(row: Sequence[Cell]) -> Iterator[str]:
    """Yield a row, and what it has of intervals as a second one."""
    parts = [shown(cell) for cell in row]
    yield _row([_value(each, isinstance(cell, str)) for each, cell in zip(parts, row, strict=True)])
    if any(each.interval for each in parts):
        yield _row([rf"{{\scriptsize {_number(each.interval)}}}" if each.interval else "" for each in parts]) + "[2pt]"


def _value(parts: Shown, text: bool) -> str:
    value = escaped(parts.value) if text else _number(parts.value)
    rests = rf" {{\scriptsize {escaped(parts.rests)}}}" if parts.rests else ""
    return f"{value}{escaped(parts.star)}{rests}"


def _number(text: str) -> str:
    """Return a number or an interval with real minus signs; a lone dash stands for a missing one."""
    return text if text == "-" else text.replace("-", "$-$").replace("+", "$+$")


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
