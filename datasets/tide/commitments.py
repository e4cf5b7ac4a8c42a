"""What a query commits to: Algorithm 2 with the emission rules of Table 5 (Appendix A).

Each unit is emitted at the path of the block that contains it. A path tells by content what leads to the block: the
clause and the structural form of the unit that holds a nested query, or `from#k`, `cte#k`, `union#k` where no unit
does. So removing one conjunct renames nothing in its neighbours. The nested queries of two units of one form in one
block share a path, because any numbering of them would make the order of conjuncts matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from sqlglot import exp

from .canonical import Form, canonicalise, conjuncts
from .names import Columns, Scope, Source, quoted
from .parsing import UnparsableSql, parse
from .schema import Schema
from .units import Clause, Commitment, keyword

_AFTER_SELECT: frozenset[Clause] = frozenset({"group_by", "having", "order_by"})
"""The clauses in which output aliases are looked up before columns that nobody knows of."""


@lru_cache(maxsize=1 << 14)
def commitments(sql: str, schema: Schema | None = None) -> frozenset[Commitment]:
    """Return the commitment set S(y) of the query `sql`.

    With a schema, columns are qualified by their tables; without one, bare names stay bare. Raises UnparsableSql when
    the text is not one query: it has no commitments then, which is not the same as having none. The last 16,384
    answers are remembered: models give the same queries again and again, and a gold query is compared with them all.
    """
    extraction = _Extraction(sql, schema)
    try:
        extraction.query(parse(sql), _Place())
    except RecursionError as error:
        raise UnparsableSql(sql, "it is nested too deeply") from error
    return frozenset(extraction.found)


@dataclass(frozen=True, slots=True)
class _Cte:
    name: str
    label: str
    columns: Columns

    @classmethod
    def of(cls, node: exp.CTE, label: str, columns: Columns) -> _Cte:
        return cls(node.alias.lower(), label, columns.renamed([name.lower() for name in node.alias_column_names]))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a query stands: its path, the outermost clause on it, and the names that it sees from outside."""

    path: tuple[str, ...] = ()
    role: Clause | None = None
    outer: Scope | None = None
    ctes: tuple[_Cte, ...] = ()

    def at(self, label: str) -> _Place:
        """Return the place of a branch, a derived table or a CTE, to which no clause leads."""
        return replace(self, path=(*self.path, label))


class _Extraction:
    """One traversal of one query, collecting into `found`."""

    def __init__(self, sql: str, schema: Schema | None) -> None:
        self.sql = sql
        self.schema = schema
        self.found: set[Commitment] = set()

    def query(self, node: exp.Expr, place: _Place, body_of: exp.CTE | None = None) -> Columns:
        """Emit the units of any query and return its outputs; `body_of` is the CTE that it may recur to."""
        place = self._with(node, place)
        match node:
            case exp.Select():
                return self._select(node, place)
            case exp.SetOperation():
                return self._compound(node, place, body_of)
            case exp.Subquery():
                columns = self.query(node.this, place, body_of)
                self._order_and_limit(node, Scope.over(columns, place.outer), place)
                return columns
            case _:  # VALUES commits to nothing
                return Columns(closed=False)

    def _with(self, node: exp.Expr, place: _Place) -> _Place:
        """Emit the units of the CTEs that `node` defines; return the place from which they are seen."""
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            label = f"cte#{len(place.ctes) + 1}"
            columns = self.query(cte.this, place.at(label), cte)
            place = replace(place, ctes=(*place.ctes, _Cte.of(cte, label, columns)))
        return place

    def _compound(self, node: exp.SetOperation, place: _Place, body_of: exp.CTE | None) -> Columns:
        """Emit the branches, then the ORDER BY and LIMIT of the whole, which see the first branch's outputs."""
        first, *others = _branches(node)
        columns = self.query(first, place.at(f"{node.key}#1"))
        inner = replace(place, ctes=(*place.ctes, _Cte.of(body_of, place.path[-1], columns))) if body_of else place
        for number, branch in enumerate(others, 2):
            self.query(branch, inner.at(f"{node.key}#{number}"))
        self._order_and_limit(node, Scope.over(columns, place.outer), place)
        return columns

    def _select(self, node: exp.Select, place: _Place) -> Columns:
        items = node.expressions
        if not items:
            raise UnparsableSql(self.sql, "it has a SELECT without a select list")
        scope = Scope(place.outer)
        self._from(node, scope, place)
        _inline_windows(node)
        forms = [self._emit("select", item.unalias(), scope, place) for item in items]
        countable = sum(1 for _ in takewhile(lambda item: not item.is_star, items))
        scope.items = [form.tree for form in forms[:countable]]
        aliased = zip(reversed(items), reversed(forms), strict=True)  # the first of two equal aliases wins
        scope.aliases = {item.alias.lower(): form.tree for item, form in aliased if item.alias}
        self._predicates("where", node, scope, place)
        group = node.args.get("group")
        for term in group.expressions if group else ():
            self._emit("group_by", scope.ordinal(term.unnest()) or term, scope, place)
        self._predicates("having", node, scope, place)
        self._order_and_limit(node, scope, place)
        return scope.outputs(items, [form.structure for form in forms])

    def _predicates(self, clause: Clause, node: exp.Select, scope: Scope, place: _Place) -> None:
        found = node.args.get(clause)
        for predicate in conjuncts(found.this) if found else ():
            self._emit(clause, predicate, scope, place)

    def _order_and_limit(self, node: exp.Expr, scope: Scope, place: _Place) -> None:
        order, limit, offset = (node.args.get(key) for key in ("order", "limit", "offset"))
        for term in order.expressions if order else ():
            key = term.this.unnest()
            if output := scope.ordinal(key) or scope.alias(key):
                term.set("this", output)
            self._emit("order_by", term, scope, place)
        if limit:  # or the standard's FETCH FIRST [n] ROWS ONLY, which stands for one row without a number
            number = limit.args.get("expression") or limit.args.get("count") or exp.Literal.number(1)
            self._emit("limit", number, scope, place)
        if offset:
            self._emit("offset", offset.expression, scope, place)

    def _emit(self, clause: Clause, unit: exp.Expr, scope: Scope, place: _Place) -> Form:
        """Add one unit, then the units of the queries inside it."""
        form = canonicalise(unit, lambda column: self._meaning(column, scope, aliases=clause in _AFTER_SELECT))
        role = place.role or clause
        self.found.add(Commitment(place.path, clause, form.value, form.structure, form.literals, role))
        self._nested(keyword(clause), form, replace(place, role=role, outer=scope))
        return form

    def _meaning(self, column: exp.Column, scope: Scope, *, aliases: bool) -> exp.Expr:
        """Return what `column` stands for; as in SQLite, "text" in double quotes that names no column is a string."""
        found = scope.column(column, aliases=aliases)
        if found:
            return found
        start: int = column.this.meta.get("start", 0)
        in_double_quotes = column.this.quoted and self.sql[start] == '"'
        return exp.Literal.string(column.name) if in_double_quotes else exp.Var(this=quoted(column.name.lower()))

    def _nested(self, lead: str, form: Form, place: _Place) -> None:
        """Visit the queries inside a unit, each at a path that says which unit of which clause it is part of."""
        for number, query in enumerate(form.queries, 1):
            which = f" [{number}]" if len(form.queries) > 1 else ""
            self.query(query, place.at(f"{lead} {form.structure}{which}"))

    def _from(self, node: exp.Select, scope: Scope, place: _Place) -> None:
        """Fill `scope` with what FROM and its joins name. They emit nothing, but the queries inside them do."""
        clause = node.args.get("from_")
        members = [*([clause.this] if clause else ()), *(node.args.get("joins") or ())]
        conditions = [condition for member in members for condition in self._member(member, scope, place)]
        for condition in conditions:
            for predicate in conjuncts(condition):
                if predicate.find(exp.Query):
                    form = canonicalise(predicate, lambda column: self._meaning(column, scope, aliases=False))
                    self._nested("ON", form, replace(place, outer=scope))

    def _member(self, node: exp.Expr, scope: Scope, place: _Place) -> Iterator[exp.Expr]:
        """Add a member of FROM, with those joined to it in parentheses, to `scope`; yield the ON conditions."""
        label = f"from#{len(scope.sources) + 1}"
        match node:
            case exp.Join():
                yield from self._member(node.this, scope, place)
                if condition := node.args.get("on"):
                    yield condition
            case exp.Subquery(this=exp.Table()):
                yield from self._member(node.this, scope, place)
            case exp.Subquery():
                columns = self.query(node, place.at(label)).renamed(node.alias_column_names)
                scope.add(Source.nested(node.alias.lower(), label, columns))
            case exp.Table() if node.name:
                scope.add(self._table(node, place))
            case _:  # a table-valued function, VALUES
                scope.add(Source(node.alias.lower(), label, None))
        for join in node.args.get("joins") or ():
            yield from self._member(join, scope, place)

    def _table(self, node: exp.Table, place: _Place) -> Source:
        name, alias, database = node.name.lower(), node.alias_or_name.lower(), node.db.lower()
        if database not in ("", "main"):
            return Source(alias, f"{quoted(database)}.{quoted(name)}", None)
        cte = None if database else next((cte for cte in reversed(place.ctes) if cte.name == name), None)
        if cte:
            return Source.nested(alias, cte.label, cte.columns)
        return Source(alias, quoted(name), self.schema.columns(name) if self.schema else None)


def _branches(node: exp.SetOperation) -> list[exp.Expr]:
    """Return the branches of a chain of one operator; UNION and UNION ALL are one."""
    branches: list[exp.Expr] = [node.expression]
    left: exp.Expr = node.this
    while type(left) is type(node) and not left.args.get("order") and not left.args.get("limit"):
        branches.append(left.expression)
        left = left.this
    return [left, *reversed(branches)]


def _inline_windows(node: exp.Select) -> None:
    """Write the windows that a WINDOW clause names where they are used: their names are aliases."""
    named = {window.name.lower(): window for window in node.args.get("windows") or ()}
    for window in list(node.find_all(exp.Window)) if named else ():
        definition = named.get(window.text("alias").lower())
        if definition:
            for key, value in definition.copy().args.items():
                if key in ("partition_by", "order", "spec") and value and not window.args.get(key):
                    window.set(key, value)
            window.set("alias", None)
