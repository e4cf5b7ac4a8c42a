"""Random queries over the schema of `schema.sql`, and edits of queries that keep or change what they mean."""

from __future__ import annotations

import random

from hypothesis import strategies as st
from sqlglot import TokenType, exp
from turntide.datasets.tide.canonical import conjuncts
from turntide.datasets.tide.parsing import parse, tokenize
from turntide.datasets.tide.schema import Schema

FIXED = {TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING}
GAPS = (" ", "\n", " \t", " /* why */ ", " -- why\n")

TABLES = {
    "shop": ("id", "name", "city", "region", "`Opening Hours`"),
    "sale": ("id", "shop_id", "amount", "day", "kind"),
    "person": ("id", "boss_id", "name", "age"),
}
Names = list[tuple[str, tuple[str, ...]]]


@st.composite
def columns(draw: st.DrawFn, names: Names) -> str:
    alias, known = draw(st.sampled_from(names))
    return f"{alias}.{draw(st.sampled_from(known))}"


def literals() -> st.SearchStrategy[str]:
    return st.integers(-99, 99).map(str) | st.sampled_from(("'Oslo'", "'it''s'", "''", "1.5", "TRUE"))


@st.composite
def predicates(draw: st.DrawFn, names: Names, depth: int) -> str:
    column, value, other = draw(columns(names)), draw(literals()), draw(literals())
    kind = draw(st.integers(0, 6 + 4 * bool(depth)))
    match kind:
        case 0 | 1:
            return f"{column} {draw(st.sampled_from(('=', '<>', '!=', '<', 'LIKE', 'NOT LIKE', 'IS NOT')))} {value}"
        case 2:
            return f"{column} {draw(st.sampled_from(('BETWEEN', 'NOT BETWEEN')))} {value} AND {other}"
        case 3:
            return f"{column} IN ({value}, {other})"
        case 4:
            return f"{column} IS NULL"
        case 5:
            return f"{column} + {value} * 2 > {draw(columns(names))}"
        case 6:
            return f"STRFTIME('%Y', {column}) = {value}"
        case 7:
            return f"({draw(predicates(names, 0))} OR {draw(predicates(names, 0))})"
        case 8:
            return f"NOT ({draw(predicates(names, 0))} AND {draw(predicates(names, 0))})"
        case _:
            lead = draw(st.sampled_from((f"{column} IN", "EXISTS", f"{column} >")))
            return f"{lead} ({draw(selects(depth - 1, names, width=1))})"


@st.composite
def items(draw: st.DrawFn, names: Names, depth: int) -> str:
    column = draw(columns(names))
    match draw(st.integers(0, 4 + bool(depth))):
        case 0 | 1:
            return column
        case 2:
            return f"COUNT(DISTINCT {column})"
        case 3:
            return f"SUM(CASE WHEN {column} = {draw(literals())} THEN 1 ELSE 0 END)"
        case 4:
            return f"ROW_NUMBER() OVER (PARTITION BY {column} ORDER BY {draw(columns(names))} DESC)"
        case _:
            return f"({draw(selects(depth - 1, names, width=1))})"


@st.composite
def selects(draw: st.DrawFn, depth: int, outer: Names, width: int = 2, *, ordered: bool = True) -> str:
    """Return a SELECT with joins, derived tables, most clauses and, if `outer` has names, correlation."""
    sources: Names = []
    members: list[str] = []
    for number in range(draw(st.integers(1, 2))):
        alias = f"{draw(st.sampled_from(('t', 'u')))}{depth}{number}"
        if depth and draw(st.booleans()):
            members.append(f"({draw(selects(depth - 1, [], width=2))}) AS {alias}")
            sources.append((alias, ("k1", "k2")))
        else:
            table = draw(st.sampled_from(sorted(TABLES)))
            members.append(f"{table} AS {alias}")
            sources.append((alias, TABLES[table]))
    names = sources + outer
    chosen = [f"{draw(items(sources, depth))} AS k{number}" for number in range(1, width + 1)]
    parts = [f"SELECT {', '.join(chosen)} FROM {' JOIN '.join(members)}"]
    if wanted := draw(st.lists(predicates(names, depth), max_size=3)):
        parts.append(f"WHERE {' AND '.join(wanted)}")
    if draw(st.booleans()):
        parts.append(f"GROUP BY {draw(columns(sources) | st.just('k1'))} HAVING COUNT(*) > 2")
    if ordered and draw(st.booleans()):
        parts.append(f"ORDER BY {draw(columns(sources) | st.sampled_from(('k1', '1')))} DESC, 1 LIMIT 3")
    return " ".join(parts)


@st.composite
def queries(draw: st.DrawFn) -> str:
    query = draw(selects(2, []))
    if draw(st.booleans()):
        return query
    first, second = draw(selects(0, [], ordered=False)), draw(selects(0, [], ordered=False))
    forms = (f"{first} UNION ALL {second} ORDER BY k1", f"WITH c AS ({first}) SELECT k2 FROM c WHERE c.k1 > 3")
    return draw(st.sampled_from(forms))


def respelled(sql: str, rng: random.Random) -> str:
    """Change the case of all but literals, the white space, and the quotes around names."""
    tokens = tokenize(sql)
    texts = [sql[token.start : token.end + 1] for token in tokens]
    spelled: list[str] = []
    for token, text, following in zip(tokens, texts, [*texts[1:], ""], strict=True):
        flips = token.token_type not in FIXED and not text.startswith('"')
        new = "".join(rng.choice((c.lower(), c.upper())) for c in text) if flips else text
        quotes = token.token_type is TokenType.VAR and following != "(" and rng.random() < 0.3
        spelled.append(rng.choice(("`{}`", "[{}]")).format(new) if quotes else new)
    return "".join(text + rng.choice(GAPS) for text in spelled)


def renamed(sql: str, schema: Schema, rng: random.Random) -> str:
    """Give every table, CTE and output another alias, also those tables that had none."""
    tree = parse(sql)
    taken = {column for table in schema.tables.values() for column in table}
    tables = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    ctes = frozenset(tables)
    tables |= {node.name.lower() for node in tree.find_all(exp.TableAlias) if node.this}
    tables |= {node.name.lower() for node in tree.find_all(exp.Table)}
    outputs = {node.alias.lower() for node in tree.find_all(exp.Alias)} - taken
    fresh = {name: f"a{number}_{rng.randrange(99)}" for number, name in enumerate(sorted(tables | outputs))}
    for node in list(tree.walk()):
        if isinstance(node, exp.TableAlias) and node.this:
            node.set("this", exp.to_identifier(fresh[node.name.lower()]))
        elif isinstance(node, exp.Table):
            if not node.alias:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(fresh[node.name.lower()])))
            if node.name.lower() in ctes:
                node.set("this", exp.to_identifier(fresh[node.name.lower()]))
        elif isinstance(node, exp.Alias) and node.alias.lower() in outputs:
            node.set("alias", exp.to_identifier(fresh[node.alias.lower()]))
        elif isinstance(node, exp.Column):
            if node.table:
                node.set("table", exp.to_identifier(fresh[node.table.lower()]))
            if node.name.lower() in outputs:
                node.set("this", exp.to_identifier(fresh[node.name.lower()]))
    return tree.sql("sqlite")


def reordered(sql: str, rng: random.Random) -> str:
    """Shuffle the conjuncts of every WHERE and HAVING, nest them at random, and add parentheses."""
    tree = parse(sql)
    for clause in list(tree.find_all(exp.Where, exp.Having)):
        parts = [predicate.copy() for predicate in conjuncts(clause.this)]
        rng.shuffle(parts)
        while len(parts) > 1:
            left, right = parts.pop(rng.randrange(len(parts))), parts.pop()
            parts.append(exp.And(this=exp.Paren(this=left), expression=exp.Paren(this=right)))
        clause.set("this", exp.Paren(this=parts[0]))
    for node in list(tree.find_all(exp.Predicate)):
        if isinstance(node.this, exp.Column | exp.Add) and rng.random() < 0.5:
            node.set("this", exp.Paren(this=node.this))
    return tree.sql("sqlite")


def with_where(tree: exp.Select, predicates: list[exp.Expr]) -> str:
    edited = tree.copy()
    parts = [predicate.copy() for predicate in predicates]
    edited.set("where", exp.Where(this=exp.and_(*parts)) if parts else None)
    return edited.sql("sqlite")


def emitted(tree: exp.Expr) -> int:
    """Count the units that the blocks below a WHERE emit, doubles included."""
    count = 0
    for node in tree.walk():
        if isinstance(node, exp.Select | exp.Group | exp.Order) and node.find_ancestor(exp.Window) is None:
            count += len(node.expressions)
        elif isinstance(node, exp.Where | exp.Having) and not isinstance(node.parent, exp.Filter):
            count += sum(1 for _ in conjuncts(node.this))
        count += isinstance(node, exp.Limit | exp.Offset)
    return count
