"""Query parameters of answers: filter, order and pages of lists, and the fields of partial responses."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyparsing as pp

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.filters import FilterError, parse, values
from tpuplane_twin.gcp.links import COMPUTE
from tpuplane_twin.gcp.schema import Json, Schemas


def narrowed(schemas: Schemas, response: str, query: Mapping[str, str], answer: Json) -> Json:
    """The part of the list `answer` that a query selects; any other answer as it is.

    An aggregated list of Compute Engine is a plain list in `answer`, and grouped by scope in the result.
    """
    listed = schemas.listed(response)
    if listed is None:
        return answer
    field, inner, kind = listed
    found: list[Json] = answer.get(field, [])
    if text := query.get("filter"):
        found = _filtered(schemas, kind, text, found)
    for part in reversed([part for part in query.get("orderBy", "").split(",") if part.strip()]):
        found = _ordered(schemas, kind, part, found)
    start = _number(query, "pageToken")
    size = _number(query, "maxResults") or _number(query, "pageSize") or len(found)
    page = found[start : start + size]
    more = {"nextPageToken": str(start + size)} if start + size < len(found) else {}
    return {"totalSize": len(found), **answer, field: _by_scope(page, inner) if inner else page, **more}


def partial(schemas: Schemas, response: str, mask: str, answer: Any) -> Any:
    """The fields of an answer that a mask selects: "nextPageToken,items(name,zone)"; an empty mask selects all."""
    if not mask.strip():
        return answer
    try:
        paths = [tuple(path) for path in _MASK.parse_string(mask, parse_all=True)]
    except (pp.ParseException, RecursionError) as error:
        raise invalid(f"Invalid field selection {mask}", reason="invalidParameter") from error
    for path in paths:
        if not schemas.has(response, path):
            raise invalid(f"Invalid field selection {'/'.join(path)}", reason="invalidParameter")
    return _selected(paths, answer)


def _filtered(schemas: Schemas, kind: str, text: str, found: list[Json]) -> list[Json]:
    # Filters may name fields that answers leave out: the project of a usable subnetwork.
    known = {field for item in found for field in item}

    def check(field: str) -> None:
        if field not in known and not schemas.has(kind, field.split(".")):
            raise FilterError(f"there is no field {field}")

    try:
        test = parse(text, check)
    except FilterError as error:
        reason = f"Invalid value for field 'filter': '{text}'. Invalid list filter expression: {error}."
        raise invalid(reason, reason="invalid") from error
    return [item for item in found if test(item)]


def _ordered(schemas: Schemas, kind: str, part: str, found: list[Json]) -> list[Json]:
    field, _, direction = part.strip().partition(" ")
    if not schemas.has(kind, field.split(".")) or direction.strip() not in ("", "asc", "desc"):
        raise invalid(f"Invalid value for field 'orderBy': '{part}'.", reason="invalid")

    def key(item: Json) -> list[tuple[bool, Any]]:
        found = values(item, field)
        return [(isinstance(value, str), value if isinstance(value, int | float) else str(value)) for value in found]

    return sorted(found, key=key, reverse=direction.strip() == "desc")


def _by_scope(page: list[Json], field: str) -> Json:
    scopes: defaultdict[str, list[Json]] = defaultdict(list)
    for item in page:
        scopes["/".join(item["selfLink"].removeprefix(COMPUTE).split("/")[2:-2])].append(item)
    return {scope: {field: items} for scope, items in scopes.items()}


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name) or "0"
    if not text.isdecimal():
        raise invalid(f"Invalid value for {name}: '{text}'.", reason="invalid")
    return int(text)


def _mask() -> pp.ParserElement:
    # https://developers.google.com/workspace/drive/api/guides/fields-parameter
    selection = pp.Forward()
    names = pp.Group(pp.DelimitedList(pp.Regex(r"[\w*-]+"), "/"))
    inside = pp.Group(pp.Suppress("(") + selection + pp.Suppress(")"))
    nested = (names + inside).set_parse_action(lambda found: [pp.ParseResults([*found[0], *rest]) for rest in found[1]])
    selection <<= pp.DelimitedList(nested | names)
    return selection


_MASK = _mask()


def _selected(paths: list[tuple[str, ...]], value: Any) -> Any:
    if () in paths:
        return value
    if isinstance(value, list):
        return [_selected(paths, item) for item in value]
    named = {key: [path[1:] for path in paths if path[0] in (key, "*")] for key in value}
    return {key: _selected(rest, value[key]) for key, rest in named.items() if rest}
