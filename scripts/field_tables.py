"""The tables of fields in the documentation, between `<!-- generated: Model -->` and `<!-- end -->`.

A row is a field; the fields of a part follow it, unless the part has a table of its own, to which its row links then.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from tpuplane.models import Model, models
from tpuplane.spec.addons.addons import NamedDefinition
from tpuplane.spec.core.changes import change_of
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.fields import unwrap_all

_REGION = re.compile(r"(?<=<!-- generated: )([\w ]+) -->\n.*?(?=<!-- end -->)", re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z0-9`(])")
_DEFAULT = re.compile(r"Default:? ")
_COLUMNS = ("field", "default", "meaning", "a change")

Row = tuple[str, str, str, str]


def with_tables(pages: Mapping[str, str]) -> dict[str, str]:
    """The pages, by name, with their tables."""
    known = {model.__name__: model for model in (*models(), NamedDefinition)}
    homes = {
        region[1]: (name, _HEADING.findall(page[: region.start()])[-1])
        for name, page in pages.items()
        for region in _REGION.finditer(page)
    }
    return {
        name: with_regions(page, lambda model, name=name: _table(known[model], name, homes))
        for name, page in pages.items()
    }


def _table(model: Model, page: str, homes: Mapping[str, tuple[str, str]]) -> str:
    rows = list(_rows(model, (), page, homes))
    shown = [at for at in range(len(_COLUMNS)) if any(row[at] for row in rows)]
    return markdown_table([_COLUMNS[at] for at in shown], ([row[at] for at in shown] for row in rows))


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The lines of a table in Markdown."""
    head, *body = (f"| {' | '.join(cells)} |\n" for cells in (columns, *rows))
    return f"{head}|{'---|' * len(columns)}\n{''.join(body)}"


def with_regions(page: str, text: Callable[[str], str]) -> str:
    """The page with the text of each name between `<!-- generated: NAME -->` and `<!-- end -->`."""
    return _REGION.sub(lambda region: f"{region[1]} -->\n{text(region[1])}", page)


def _rows(model: Model, above: tuple[str, ...], page: str, homes: Mapping[str, tuple[str, str]]) -> Iterator[Row]:
    for key, field in documented(model).items():
        path = (*above, field.alias or key)
        default, meaning, change = _described(field)
        part = unwrap_all(field.annotation)
        is_part = isinstance(part, type) and issubclass(part, BaseModel)
        if home := homes.get(part.__name__) if is_part else None:
            meaning += f" See {_link(*home, page)}."
        yield tuple(cell.replace("|", "\\|") for cell in (f"`{'.'.join(path)}`", default, meaning, change))  # type: ignore[misc]
        if is_part and not home:
            yield from _rows(part, path, page, homes)


def _described(field: FieldInfo) -> tuple[str, str, str]:
    """Default and meaning, from the sentences of the field's docstring, and what a change does."""
    sentences = _SENTENCE.split(" ".join((field.description or "").split()))
    defaults = [sentence for sentence in sentences if _DEFAULT.match(sentence)]
    rest = [sentence for sentence in sentences if sentence not in defaults]
    inner = unwrap_all(field.annotation)
    values = get_args(inner) if get_origin(inner) is Literal else ()
    if any(value not in " ".join(sentences) for value in values):
        rest.append(f"One of {', '.join(f'`{value}`' for value in values)}.")
    default = " ".join(_DEFAULT.sub("", sentence).removesuffix(".") for sentence in defaults)
    change = change_of(field)
    return default or _default(field), " ".join(rest), change.cell if change else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`" if value or value is False else "none"


def _link(home: str, heading: str, page: str) -> str:
    anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    return f"[{heading.replace('`', '')}]({'' if home == page else home}#{anchor})"
