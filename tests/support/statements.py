"""Statements that nobody would think of: grown from a rough grammar of SQLite's SQL, or real ones that were mutilated.

Most of them fail, as most of a model's odd ones do. What matters is that none crashes, hangs or writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from hypothesis import strategies as st

LEAVES: Final = (
    "item.id", "item.name", "item.price", "item.rowid", "count(*)", "0", "1", "-1", "400", "1.5", "1e308", "9e999",
    "NULL", "TRUE", "9223372036854775807", "-9223372036854775808", "0xffffffffffffffff", "''", "'x'", "'%_%'", "'[[['",
    "'🙂'", "x''", "x'ff00'", "CURRENT_TIMESTAMP", "'$.a[#-1]'", "'%n%.*f'", "'now'", "'{\"a\":[1,{}]}'",
    "zeroblob(9000000)", "randomblob(100000)", "hex(zeroblob(400000))", "nowhere",
)  # fmt: skip

FUNCTIONS: Final = (
    "abs 1", "avg 1", "char 3", "coalesce 2", "count 1", "date 2", "format 3", "fts3_tokenizer 1",
    "fts5 1", "glob 2", "group_concat 2", "hex 1", "iif 3", "instr 2", "json 1", "json_array 3", "json_extract 2",
    "json_patch 2", "json_group_array 1", "json_group_object 2", "json_set 3", "json_tree 1", "length 1",
    "like 3", "ltrim 2", "likelihood 2", "load_extension 1", "match 2", "max 1", "max 3", "min 2",
    "nullif 2", "pow 2", "printf 2", "quote 1", "replace 3", "round 2",
    "rtreecheck 1", "rtreenode 2", "snippet 1", "soundex 1", "sqlite_log 2", "strftime 2", "substr 3",
    "sum 1", "total 1", "trim 2", "typeof 1", "unicode 1", "upper 1", "writefile 2", "zeroblob 1",
)  # fmt: skip
"""Names with the number of arguments that they take."""

OPERATORS: Final = (
    "+", "-", "*", "/", "%", "||", "<<", ">>", "&", "|", "=", "<>", "<", ">=", "IS", "IS NOT", "AND", "OR", "LIKE",
    "GLOB", "->", "->>", "COLLATE NOCASE =",
)  # fmt: skip

SOURCES: Final = (
    "item", "item", "item", "item, item AS b", "item, item AS b, item AS c", "item JOIN item AS b USING (id)",
    "item LEFT JOIN item AS b ON item.id < b.id", "item NATURAL JOIN item AS b", "item, json_each('[1,2,3]')",
    "item, json_tree(item.name)", "item, (VALUES (1, 2), (3, 4))", "item, sqlite_master AS m", "item, dbstat AS d",
    "item, pragma_table_info('item') AS p",
)  # fmt: skip

EVIL: Final = (
    "DELETE FROM item", "UPDATE item SET id = id + 1 RETURNING *", "INSERT INTO item SELECT * FROM item",
    "DROP TABLE item", "CREATE TEMP TABLE t AS SELECT 1", "CREATE VIRTUAL TABLE v USING fts5(a)",
    "ATTACH 'evil.db' AS e", "VACUUM INTO 'evil.db'", "PRAGMA writable_schema = 1",
    "PRAGMA temp_store_directory = '.'", "BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT s", "REINDEX", "ANALYZE",
    "EXPLAIN SELECT 1", "DETACH main", "ALTER TABLE item RENAME TO e",
)  # fmt: skip

NOISE: Final = (
    ";", "--", "/*", "*/", "\0", "(", ")", "'", '"', "*", ",", " ", "NOT ", "SELECT ", " FROM ", "item", "9",
)  # fmt: skip

WINDOWED: Final = (
    "cume_dist 0", "group_concat 2", "lag 3", "max 1", "nth_value 2", "ntile 1", "percent_rank 0",
    "row_number 0", "sum 1",
)  # fmt: skip

FRAMES: Final = (
    "", "ORDER BY 1", "PARTITION BY item.id % 3 ORDER BY item.name", "ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING",
    "ORDER BY item.id GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "ORDER BY item.id RANGE 1e9 PRECEDING",
)  # fmt: skip

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+|\s+|[^\w\s]")


def _expressions() -> st.SearchStrategy[str]:
    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        called, over = (st.sampled_from(names).flatmap(partial(_called, inner)) for names in (FUNCTIONS, WINDOWED))
        chosen = st.builds("(SELECT {} FROM {})".format, inner, st.sampled_from(SOURCES))
        return st.one_of(
            called,
            st.builds("{} OVER ({})".format, over, st.sampled_from(FRAMES)),
            st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
            st.builds("{} IN ({}, {})".format, inner, inner, inner),
            st.builds("{} NOT IN {}".format, inner, chosen),
            st.builds("CASE {} WHEN {} THEN {} END".format, inner, inner, inner),
            st.builds("CAST({} AS {})".format, inner, st.sampled_from(("TEXT", "BLOB", "INTEGER", "REAL"))),
            chosen,
        )

    return st.recursive(st.sampled_from(LEAVES), larger, max_leaves=8)


def _called(arguments: st.SearchStrategy[str], function: str) -> st.SearchStrategy[str]:
    name, count = function.split()
    return st.lists(arguments, min_size=int(count), max_size=int(count)).map(lambda each: f"{name}({', '.join(each)})")


EXPRESSIONS: Final = _expressions()


@st.composite
def grown(draw: st.DrawFn) -> str:
    """Draw a statement from the grammar, over `item (id, name, price)`."""
    columns = ", ".join(draw(st.lists(EXPRESSIONS, min_size=1, max_size=4)))
    clauses = [f"{clause} {draw(EXPRESSIONS)}" for clause in ("WHERE", "GROUP BY", "ORDER BY") if draw(st.booleans())]
    sql = " ".join([f"SELECT {columns} FROM {draw(st.sampled_from(SOURCES))}", *clauses])
    match draw(st.integers(0, 9)):
        case 0:
            return f"SELECT {columns} FROM item {draw(st.sampled_from(('UNION', 'UNION ALL', 'EXCEPT')))} {sql}"
        case 1:
            endless = "c AS (SELECT 1, 'x' UNION ALL SELECT c.* FROM c, item)"
            return f"WITH RECURSIVE {endless}, d AS ({sql}) SELECT * FROM c, d"
        case 2:
            return f"WITH a AS ({sql}), b AS (SELECT * FROM a) SELECT * FROM b, a LIMIT 1000"
        case 3:
            return f"{sql}; {draw(st.sampled_from(EVIL))}"
        case 4:
            return f"WITH a AS ({sql}) {draw(st.sampled_from(EVIL))}"
        case _:
            return sql


@st.composite
def mutilated(draw: st.DrawFn, golds: Sequence[str]) -> str:
    """Draw one of `golds` and take out, double, swap, replace or blow up some of its tokens."""
    tokens = _TOKEN.findall(draw(st.sampled_from(golds)))
    for _ in range(draw(st.integers(1, 3))):
        place, other = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.integers(0, 6)):
            case 0:
                tokens[place] = draw(st.sampled_from(("", *NOISE)))
            case 1:
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 2:
                tokens[place] = draw(EXPRESSIONS)
            case 3:
                tokens[-1] += f" {draw(st.sampled_from(EVIL))} "
            case 4:
                tokens[place] *= draw(st.sampled_from((2, 40, 2_000)))
            case 5:
                tokens[place] = draw(st.text(st.characters(codec=None), max_size=4))
            case _:
                first, last = sorted((place, other))
                tokens[first:last] = tokens[first:last] * draw(st.integers(0, 3)) or [""]
    return "".join(tokens)
