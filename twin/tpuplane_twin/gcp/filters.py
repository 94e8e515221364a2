"""Filters of lists: AIP-160, as most of Google's services have it, and Compute Engine's older regular expressions."""

import contextlib
import operator
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

import pyparsing as pp

from tpuplane_twin.gcp.schema import Json, camel

Test = Callable[[Json], bool]
Check = Callable[[str], None]
"""Raises where a field does not exist."""

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# https://docs.cloud.google.com/compute/docs/reference/rest/v1/instances/list#query-parameters: `eq` and `ne` match the
# whole field with a regular expression; several of them are each in parentheses, and all must hold.
_ONE = re.compile(r"""\s*(?P<field>[\w.\-\[\]]+)\s+(?P<operator>eq|ne)\s+(?P<value>.+?)\s*""", re.DOTALL)
_SEVERAL = re.compile(r"""\s*\(((?:[^()"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')+)\)\s*""")


class FilterError(ValueError):
    """The expression is invalid."""


def parse(text: str, check: Check = lambda _: None) -> Test:
    """The test of an expression; `check` is called with each of its fields.

    Raises FilterError for an invalid expression, and what `check` raises.
    """
    terms = _old_terms(text)
    if terms:
        tests = [_expression_match(check, *term) for term in terms]
        return lambda item: all(test(item) for test in tests)
    try:
        return _compile(_FILTER.parse_string(text, parse_all=True)[0], check)
    except (pp.ParseException, RecursionError) as error:
        raise FilterError(str(error)) from error


def values(item: Any, path: str) -> Iterator[Any]:
    """The values at a dotted path; all elements of a list on the way."""
    if isinstance(item, list):
        for element in item:
            yield from values(element, path)
        return
    if not path:
        yield item
    elif isinstance(item, dict):
        # A label's key may contain dots.
        for key in item.keys() & {path, path.replace('"', ""), camel(path)}:
            yield from values(item[key], "")
        head, _, rest = path.partition(".")
        if rest:
            for key in item.keys() & {head, camel(head)}:
                yield from values(item[key], rest)


def _old_terms(text: str) -> list[tuple[str, str, str]]:
    """Field, operator and pattern of each term of an expression with `eq` and `ne`; none for AIP-160."""
    inside = [match.group(1) for match in _SEVERAL.finditer(text)]
    if "".join(match.group(0) for match in _SEVERAL.finditer(text)) != text:
        inside = [text]
    terms = [_ONE.fullmatch(term) for term in inside]
    return [(m["field"], m["operator"], m["value"]) for m in terms if m] if all(terms) else []


def _expression_match(check: Check, field: str, verb: str, value: str) -> Test:
    check(field)
    if value[0] in "\"'" and value[0] == value[-1] and len(value) > 1:
        value = value[1:-1]
    try:
        pattern = re.compile(value)
    except re.error as error:
        raise FilterError(f"{value}: {error}") from error
    wanted = verb == "eq"
    return lambda item: any(pattern.fullmatch(_text(found)) for found in values(item, field)) == wanted


def _grammar() -> pp.ParserElement:
    """The grammar of https://google.aip.dev/assets/misc/ebnf-filtering.txt, with a field in every restriction.

    OR binds more tightly than AND; AND may be left out.
    """
    keyword = pp.Keyword("AND") | pp.Keyword("OR") | pp.Keyword("NOT")
    quoted = pp.QuotedString('"', esc_char="\\") | pp.QuotedString("'", esc_char="\\")
    field = ~keyword + pp.Regex(r'[A-Za-z_][\w/-]*(?:\.(?:[\w/-]+|"[^"]*"))*')
    comparator = pp.one_of("<= >= != = < > :")
    restriction = pp.Group(field + comparator + (quoted | pp.Regex(r"""[^\s()"']+""")))
    expression = pp.Forward()
    simple = (pp.Suppress("(") + expression + pp.Suppress(")")) | restriction
    term = ((pp.Keyword("NOT") | pp.Literal("-")) + simple).set_parse_action(lambda t: [("NOT", t[1])]) | simple
    factor = pp.DelimitedList(term, pp.Keyword("OR")).set_parse_action(lambda t: [("OR", *t)])
    sequence = pp.OneOrMore(~pp.Keyword("AND") + factor)
    expression <<= pp.DelimitedList(sequence, pp.Keyword("AND")).set_parse_action(lambda t: [("AND", *t)])
    return expression


_FILTER = _grammar()


def _compile(node: Any, check: Check) -> Test:
    if isinstance(node, pp.ParseResults):
        field, comparator, value = node
        check(field)
        return _comparison(field, comparator, value)
    tests = [_compile(part, check) for part in node[1:]]
    if node[0] == "NOT":
        return lambda item: not tests[0](item)
    enough = any if node[0] == "OR" else all
    return lambda item: enough(test(item) for test in tests)


def _comparison(field: str, comparator: str, value: str) -> Test:
    if comparator == "!=":
        return lambda item: not any(_compare(found, "=", value) for found in values(item, field))
    return lambda item: any(_compare(found, comparator, value) for found in values(item, field))


def _compare(found: Any, comparator: str, value: str) -> bool:
    if value == "*" and comparator in ("=", ":"):
        return True
    if isinstance(found, dict):
        return comparator == ":" and value in found
    if comparator == "=":
        return _wildcard(_text(found), value)
    if comparator == ":":
        text, value = _text(found).casefold(), value.casefold()
        return _wildcard(text, value) if "*" in value else value in text
    return _ORDER[comparator](*_comparable(_text(found), value))


def _wildcard(found: str, value: str) -> bool:
    """Whether the text matches the value, in which `*` matches anything."""
    return fnmatchcase(found, re.sub(r"[?[]", r"[\g<0>]", value))


def _comparable(*texts: str) -> tuple[Any, Any]:
    """Both as numbers, else both as times, else both as text."""
    kinds: tuple[Callable[[str], Any], ...] = (float, _time, str)
    for kind in kinds:
        with contextlib.suppress(ValueError):
            left, right = (kind(text) for text in texts)
            return left, right
    raise AssertionError(texts)


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
