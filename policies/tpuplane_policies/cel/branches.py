"""Which identities a condition of workload identity federation admits, branch by branch of its CEL expression.

A branch limits access if it compares a claim of the token with a value that belongs to one owner (`data/claims.yaml`).
The library celpy parses the expression and evaluates the parts without claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from tpuplane_policies.cel.claims import compared, matched
from tpuplane_policies.cel.terms import (
    Choice,
    Claim,
    Constant,
    Joined,
    Listed,
    Opaque,
    Reach,
    Root,
    Split,
    Term,
    Verdict,
    derived,
    text_of,
)
from tpuplane_policies.core.registry import data
from tpuplane_policies.core.values import UNKNOWN, UndecidedError, Value

Env = Mapping[str, Term]
ROOTS = ("assertion", "attribute", "google")
_WRAPPERS = ("expr", "conditionalor", "conditionaland", "relation", "addition", "multiplication", "unary", "member")


def admitted(condition: str, mapping: Value, *, aws: bool = False, own: Sequence[str] = ()) -> Verdict:
    """Which identities a condition in CEL admits, with the attribute mapping of its provider.

    An AWS provider has a default mapping. `own` are further claims whose values belong to one owner.
    """
    defaults = data("claims")["aws"] if aws and mapping.raw is None else {}
    try:
        return _Expression(condition, mapping, defaults, own).verdict()
    except (RecursionError, _library().CELParseError):
        return Verdict(Reach.UNDECIDED, condition)


@cache
def _library() -> Any:
    import celpy  # noqa: PLC0415 (slow to import, and only providers of identities need it)

    return celpy


class _Expression:
    """An expression in CEL with the attributes that it can use."""

    def __init__(self, text: str, mapping: Value, defaults: Mapping[str, str], own: Sequence[str]) -> None:
        self.mapping, self.defaults, self.own = mapping, defaults, own
        self.tree = _library().celparser.CELParser().parse(text)

    def verdict(self, tree: Any = None, env: Env | None = None, *, wanted: bool = True) -> Verdict:
        """Which identities the expression admits if its result has to be `wanted`."""
        whole, env = self.tree if tree is None else tree, env or {}
        tree = _bare(whole)
        if tree.data in ("conditionalor", "conditionaland"):
            parts = [self.verdict(operand, env, wanted=wanted) for operand in _operands(tree)]
            return self._some(parts, tree) if (tree.data == "conditionalor") is wanted else self._all(parts, tree)
        if tree.data == "unary" and tree.children[0].data == "unary_not":
            return self.verdict(tree.children[1], env, wanted=not wanted)
        if tree.data == "expr":
            when, *values = tree.children
            pairs = [
                (self.verdict(when, env, wanted=holds), self.verdict(value, env, wanted=wanted))
                for holds, value in zip((True, False), values, strict=True)
            ]
            return self._some([self._all(pair, tree) for pair in pairs], tree)
        return self._leaf(whole, env, wanted=wanted)

    def _leaf(self, whole: Any, env: Env, *, wanted: bool) -> Verdict:
        constant, tree = self._constant(whole, env), _bare(whole)
        if constant is not None:
            return self._is(Reach.EVERYONE if bool(constant.value) is wanted else Reach.NO_ONE, tree)
        if tree.data == "relation":
            return self._relation(tree, env, wanted=wanted)
        if tree.data == "member_dot_arg":
            return self._call(tree, env, wanted=wanted)
        if tree.data == "ident_arg":
            return self._is(Reach.EVERYONE if str(tree.children[0]) == "has" else Reach.UNDECIDED, tree)
        return self._equal(self.term(whole, env), Constant(wanted), tree)

    def _relation(self, tree: Any, env: Env, *, wanted: bool) -> Verdict:
        operation, right = tree.children
        left, kind = operation.children[0], operation.data
        if kind in ("relation_eq", "relation_ne"):
            equal = (kind == "relation_eq") is wanted
            for side, other in ((left, right), (right, left)):
                constant = self._constant(other, env)
                if constant is not None and isinstance(constant.value, bool | _library().celtypes.BoolType):
                    return self.verdict(side, env, wanted=bool(constant.value) is equal)
            terms = self.term(left, env), self.term(right, env)
            return self._equal(*terms, tree) if equal else self._open(terms, tree)
        if kind == "relation_in" and wanted:
            return self._in(self.term(left, env), self.term(right, env), tree)
        return self._open((self.term(left, env), self.term(right, env)), tree)

    def _in(self, value: Term, group: Term, tree: Any) -> Verdict:
        if isinstance(group, Listed):
            return self._some([self._equal(value, element, tree) for element in group.elements], tree)
        if isinstance(group, Claim):
            return self._equal(group, value, tree)
        return self._open((value, group), tree, Opaque())

    def _call(self, tree: Any, env: Env, *, wanted: bool) -> Verdict:
        subject, name, *arguments = tree.children
        receiver, given = self.term(subject, env), arguments[0].children if arguments else []
        if str(name) in ("exists", "all", "exists_one") and len(given) == 2:
            return self._each(receiver, str(name), given, tree, env, wanted=wanted)
        terms = [self.term(argument, env) for argument in given]
        if len(terms) != 1 or str(name) not in ("startsWith", "endsWith", "contains", "matches"):
            return self._is(Reach.UNDECIDED, tree)
        text = text_of(terms[0])
        if not wanted or str(name) == "contains":
            return self._open((receiver, *terms), tree)
        if text is None:
            return self._is(Reach.UNDECIDED, tree)
        if isinstance(receiver, Choice):
            return self._chosen(receiver, lambda value: self._has(value, str(name), text, tree), tree)
        return self._has(receiver, str(name), text, tree)

    def _has(self, value: Term, name: str, text: str, tree: Any) -> Verdict:
        """Which identities have a value that starts with a text, ends with it, or matches it."""
        if name == "matches":
            reach = matched(value, text, self.own) if isinstance(value, Claim) else Reach.UNDECIDED
            return self._is(reach, tree)
        if isinstance(value, Joined) and name == "startsWith":
            first, *rest = value.parts
            start = text_of(first)
            if start is None or not text.startswith(start):
                return self._is(Reach.UNDECIDED, tree)
            return self._has(rest[0] if len(rest) == 1 else Joined(tuple(rest)), name, text[len(start) :], tree)
        if not isinstance(value, Claim) or value.before:
            return self._open((value,), tree)
        return self._is(compared(value, "begins" if name == "startsWith" else "ends", text, self.own), tree)

    def _each(self, group: Term, name: str, given: Sequence[Any], tree: Any, env: Env, *, wanted: bool) -> Verdict:
        """The macros over the elements of a list."""
        variable, body = str(_bare(given[0]).children[0]), given[1]
        if isinstance(group, Listed) and (wanted or name != "exists_one"):
            parts = [self.verdict(body, {**env, variable: element}, wanted=wanted) for element in group.elements]
            return self._all(parts, tree) if (name == "all") is wanted else self._some(parts, tree)
        if isinstance(group, Claim) and (name == "all") is not wanted:  # some element decides
            return self.verdict(body, {**env, variable: group}, wanted=wanted)
        return self._open((group,), tree)

    def _equal(self, left: Term, right: Term, tree: Any) -> Verdict:
        if isinstance(left, Constant):
            left, right = right, left
        for chosen, other in ((left, right), (right, left)):
            if isinstance(chosen, Choice):
                return self._chosen(chosen, lambda value, other=other: self._equal(value, other, tree), tree)
        if isinstance(left, Joined) and isinstance(right, Constant):
            return self._joined(left.parts, str(right.value), tree)
        if isinstance(left, Claim) and isinstance(right, Constant):
            return self._is(compared(left, "whole", str(right.value), self.own), tree)
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self._is(Reach.EVERYONE if left.value == right.value else Reach.NO_ONE, tree)
        return self._open((left, right), tree)

    def _joined(self, parts: Sequence[Term], text: str, tree: Any) -> Verdict:
        """Compare concatenated texts with a text, after removing the constants at both ends."""
        if len(parts) == 1:
            return self._equal(parts[0], Constant(text), tree)
        first, last = text_of(parts[0]), text_of(parts[-1])
        if first is not None:
            fits = text.startswith(first)
            return self._joined(parts[1:], text[len(first) :], tree) if fits else self._is(Reach.NO_ONE, tree)
        if last:
            fits = text.endswith(last)
            return self._joined(parts[:-1], text[: -len(last)], tree) if fits else self._is(Reach.NO_ONE, tree)
        return self._open(parts, tree, Opaque())

    def _chosen(self, chosen: Choice, decide: Callable[[Term], Verdict], tree: Any) -> Verdict:
        """Decide for both values of a choice, each under its condition."""
        pairs = zip((chosen.holds, chosen.fails), chosen.values, strict=True)
        return self._some([self._all([when, decide(value)], tree) for when, value in pairs], tree)

    def term(self, tree: Any, env: Env) -> Term:
        """A value in the expression."""
        constant, tree = self._constant(tree, env), _bare(tree)
        if constant is not None:
            listed = isinstance(constant.value, list | Mapping)
            return Listed(tuple(map(Constant, constant.value))) if listed else constant
        if tree.data == "list_lit":
            return Listed(tuple(self.term(element, env) for element in tree.children[0].children))
        if tree.data == "expr":
            when, *values = tree.children
            first, second = (self.term(value, env) for value in values)
            return Choice(self.verdict(when, env), self.verdict(when, env, wanted=False), (first, second))
        if tree.data == "addition" and tree.children[0].data == "addition_add":
            terms = (self.term(tree.children[0].children[0], env), self.term(tree.children[1], env))
            flat = (term.parts if isinstance(term, Joined) else (term,) for term in terms)
            return Joined(tuple(part for parts in flat for part in parts))
        return self._named(tree, env)

    def _named(self, tree: Any, env: Env) -> Term:
        """A variable, a property, or the result of a function."""
        kind, first = tree.data, tree.children[0] if tree.children else None
        if kind == "ident":
            name = str(first)
            return env.get(name, (Claim("") if name == "assertion" else Root(name)) if name in ROOTS else Opaque())
        if kind == "ident_arg" and len(tree.children) > 1:
            return derived(self.term(tree.children[1].children[0], env), str(first), [])
        if kind == "member_dot":
            return self._member(self.term(first, env), str(tree.children[1]))
        if kind == "member_index":
            index = self._constant(tree.children[1], env)
            return self._member(self.term(first, env), index.value) if index else Opaque()
        if kind == "member_dot_arg":
            arguments = tree.children[2].children if len(tree.children) > 2 else []
            terms = [self.term(argument, env) for argument in arguments]
            return derived(self.term(first, env), str(tree.children[1]), terms)
        return Opaque()

    def _member(self, term: Term, key: Any) -> Term:
        if isinstance(term, Split):
            return Claim(term.claim.name, term.separator) if key == 0 and term.separator else Opaque()
        if isinstance(term, Claim) and not term.before:
            return term if not isinstance(key, str) else Claim(f"{term.name}.{key}" if term.name else str(key))
        if not isinstance(term, Root):
            return Opaque()
        at = self.mapping.child(f"{term.name}.{key}")
        try:
            mapped = at.get(self.defaults.get(f"{term.name}.{key}"))
        except UndecidedError as error:
            return Opaque(error.unknown)
        if mapped is None:
            return Opaque((Value(UNKNOWN, f"{at.path} is not set", at.resource),))
        below = _Expression(str(mapped), Value({}), {}, self.own)
        return below.term(below.tree, {})

    def _constant(self, tree: Any, env: Env) -> Constant | None:
        """The value of an expression without claims; None if it has claims, or cannot be evaluated."""
        names = {str(variable.children[0]) for variable in tree.find_data("ident")}
        if names & {*ROOTS} or any(not isinstance(env[name], Constant) for name in names & env.keys()):
            return None
        library = _library()
        try:
            values = {name: env[name].value for name in names if name in env}  # type: ignore[union-attr]
            return Constant(library.Environment().program(tree).evaluate(values))
        except library.CELEvalError:
            return None

    def _is(self, reach: Reach, tree: Any, unknown: tuple[Value, ...] = ()) -> Verdict:
        return Verdict(reach, _library().celparser.DumpAST.display(tree).replace("  ", " "), unknown)

    def _open(self, terms: Sequence[Term], tree: Any, *more: Term) -> Verdict:
        """A comparison that excludes values, or whose value has no owner. With an opaque value it is undecided."""
        opaque = [term for term in (*terms, *more) if isinstance(term, Opaque)]
        unknown = tuple(value for term in opaque for value in term.unknown)
        return self._is(Reach.UNDECIDED if opaque else Reach.EVERYONE, tree, unknown)

    def _some(self, parts: Sequence[Verdict], tree: Any) -> Verdict:
        return max(parts, key=lambda part: part.reach) if parts else self._is(Reach.NO_ONE, tree)

    def _all(self, parts: Sequence[Verdict], tree: Any) -> Verdict:
        least = min(parts, key=lambda part: part.reach) if parts else self._is(Reach.EVERYONE, tree)
        return self._is(least.reach, tree) if least.reach is Reach.EVERYONE else least


def _bare(tree: Any) -> Any:
    """The tree without nodes that only wrap another node, such as parentheses."""
    while tree.data in ("primary", "paren_expr") or (tree.data in _WRAPPERS and len(tree.children) == 1):
        tree = tree.children[0]
    return tree


def _operands(tree: Any) -> list[Any]:
    """All operands of nested "or" or nested "and"."""
    kind, operands = tree.data, []
    while _bare(tree).data == kind:
        tree, last = _bare(tree).children
        operands.append(last)
    return [tree, *reversed(operands)]
