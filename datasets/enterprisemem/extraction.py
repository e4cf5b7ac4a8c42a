"""The SQL in a model's answer, by the paper's rule: the answer is the SQL (Appendix A.1)."""

from __future__ import annotations

import re

from ..fences import unfenced

_LANGUAGE_LINE = re.compile(r"\s*+sql[^\S\n]*+\n", re.IGNORECASE)


def extract_sql(answer: str) -> str:
    """Return the SQL of `answer`: one fence around all of it and a leading `sql` line are removed, nothing else.

    SQL is never salvaged from prose: an answer that explains itself is a preamble error, as in the paper (section 5.7).
    """
    fenced = unfenced(answer, ("sql", "sqlite"))
    text = answer if fenced is None else fenced
    language = _LANGUAGE_LINE.match(text)
    return text[language.end() if language else 0 :].strip()
