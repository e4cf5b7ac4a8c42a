"""The canonical form of one expression: one text for all the ways of writing it that syntax alone makes the same.

Spelling is settled by writing every expression back through sqlglot, names by the scope (`names`); this module
settles parentheses, nested queries and literals. Nothing semantic is rewritten: `a = 1` and `1 = a` differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from .parsing import SQLITE

Resolve: TypeAlias = Callable[[exp.Column], exp.Expr]
"""Gives what a column stands for: a leaf with its canonical name, or a canonical tree."""

NESTED = "SELECT ..."
"""What stands for a nested query in the unit that contains it."""

_LOOSENESS: tuple[tuple[type[exp.Expr], int], ...] = (
    (exp.Or, 6),
    (exp.And, 5),
    (exp.Not, 4),
    (exp.Escape, 0),
    (exp.Collate, 1),
    (exp.Predicate, 3),
    (exp.Binary, 2),
    (exp.Neg, 1),
    (exp.Expr, 0),
)
"""How loosely operators bind, 0 for what is none; the first class that fits counts."""

_GENERATOR = SQLITE.generator(comments=False, unsupported_level=ErrorLevel.IGNORE)


@dataclass(frozen=True, slots=True)
class Form:
    """One unit in its two canonical forms (Appendix A), with what was taken out of it.

    `literals` stand in an order that depends on the structure alone; `queries` are the nested ones in the order of
    their placeholders.
    """

    tree: exp.Expr
    value: str
    structure: str
    literals: tuple[str, ...]
    queries: tuple[exp.Expr, ...]


def canonicalise(unit: exp.Expr, resolve: Resolve) -> Form:
    """Return the canonical form of `unit`, whose tree is used up; its columns become what `resolve` says."""
    holder = exp.Paren(this=unit)
    nodes = list(unit.walk(bfs=False, prune=lambda node: isinstance(node, exp.Query | exp.Column)))
    queries = tuple(node for node in nodes if isinstance(node, exp.Query))
    for node in reversed(nodes):  # children before their parents
        parent, key, index = node.parent, node.arg_key, node.index
        canonical = _rewritten(node, resolve)
        if canonical is not node and parent and key:
            parent.set(key, canonical, index)
    return _written(holder.this, queries)


def conjuncts(predicate: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the members of the top-level AND of `predicate`, from left to right; OR and NOT stay whole (Table 5)."""
    pending = [predicate]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Paren):
            pending.append(node.this)
        elif isinstance(node, exp.And):
            pending += (node.right, node.left)
        else:
            yield node


def _rewritten(node: exp.Expr, resolve: Resolve) -> exp.Expr:
    """Return the canonical tree of `node`, whose children are canonical already."""
    match node:
        case exp.Column():
            return resolve(node)
        case exp.Subquery():
            return exp.Var(this=f"({NESTED})")
        case exp.Query():
            return exp.Var(this=NESTED)
        case exp.Paren():
            return node.this
        case exp.Boolean() | exp.HexString() | exp.Placeholder() | exp.Parameter():
            return exp.Literal(this=node.sql(SQLITE, comments=False), is_string=False)
        case exp.Neg(this=exp.Literal(is_string=False)):
            return exp.Literal(this=f"-{node.name}", is_string=False)
        case exp.Ordered():
            node.set("desc", bool(node.args.get("desc")))
        case exp.Collate():
            node.set("expression", exp.Var(this=node.expression.name.upper()))
        case _:
            pass
    _parenthesise_operands(node)
    if node.args.get("negate"):  # x NOT LIKE y is written NOT x LIKE y, as sqlglot writes NOT IN and NOT BETWEEN
        node.set("negate", None)
        return exp.Not(this=node)
    return node


def _parenthesise_operands(node: exp.Expr) -> None:
    """Put in parentheses each operand that binds no tighter than `node`; a chain of one connector stays flat."""
    looseness = _looseness(type(node))
    if not looseness:
        return
    for operand in list(node.iter_expressions()):
        chained = isinstance(node, exp.Connector) and type(operand) is type(node)
        if _looseness(type(operand)) >= looseness and not chained:
            key, index = operand.arg_key, operand.index
            if key:
                node.set(key, exp.Paren(this=operand), index)


@cache
def _looseness(kind: type[exp.Expr]) -> int:
    return next(looseness for base, looseness in _LOOSENESS if issubclass(kind, base))


def _written(tree: exp.Expr, queries: tuple[exp.Expr, ...]) -> Form:
    value = _GENERATOR.generate(tree)
    literals = list(tree.find_all(exp.Literal, bfs=False))
    if not literals:
        return Form(tree, value, value, (), queries)
    blank = tree.copy()
    for literal in list(blank.find_all(exp.Literal, bfs=False)):
        literal.set("this", "?")
        literal.set("is_string", False)
    return Form(tree, value, _GENERATOR.generate(blank, copy=False), tuple(map(_text, literals)), queries)


def _text(literal: exp.Literal) -> str:
    return f"'{literal.this}'" if literal.is_string else str(literal.this)
