"""The message for each of pydantic's errors: cause, allowed values and remedy."""

from collections.abc import Callable
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tpuplane.spec.classes.node_system import Described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.errors import Path, choice, shown
from tpuplane.spec.core.fields import element, is_model, unwrap
from tpuplane.spec.core.rules import spec_data
from tpuplane.tpu.nearest import lookalike, nearest_names

_Model = type[BaseModel]
_MOST_PLACES = 2


def message(detail: ErrorDetails, model: _Model) -> str:
    """The line for one error, without its path."""
    kind, value = detail["type"], detail.get("input")
    if type(value).__module__.startswith("pulumi."):
        return "is a Pulumi output, whose value is not known before the update; pass a plain value"
    if kind == "tpuplane":
        return detail["msg"]
    if not detail["loc"]:
        return f"{shown(value)} is not a mapping of fields; allowed: {', '.join(_names(model))}"
    if "input" in detail and value is None:
        return _empty(detail, model)
    if kind in _EXPLAINED:
        return _EXPLAINED[kind](detail, model)
    template: str = spec_data("mistakes")["texts"].get(kind, "{value} is rejected: {message}")
    return template.format(**{"message": detail["msg"], **detail.get("ctx", {}), "value": shown(value)})


def _empty(detail: ErrorDetails, root: _Model) -> str:
    *parents, name = detail["loc"]
    parent = _model_at(root, tuple(parents))
    field = field_of(parent, name)
    written = example(annotation_at(root, detail["loc"]))
    if written == "{…}":
        remedy = f"write {name}: {{}} for its defaults" if field else "give it fields"
        return f"is empty; {remedy}, or remove it"
    if written[0] in "{[":
        return f"is empty; write {_labelled(name, written)}, or remove it"
    if field is not None and field.is_required():
        return f"is empty; {_required(detail, root)}"
    return "is empty; give it a value, or remove it" + (" for the default" if field else "")


def _labelled(name: str | int, value: str) -> str:
    return value if isinstance(name, int) else f"{name}: {value}"


def _not_text(detail: ErrorDetails, root: _Model) -> str:
    value = detail.get("input")
    if not isinstance(value, int | float | date):
        wanted = _said(field_of(_model_at(root, detail["loc"][:-1]), detail["loc"][-1]))
        return f"{shown(value)} is not a string" + (f"; wanted: {wanted}" if wanted else "")
    kind = "a boolean" if isinstance(value, bool) else "a date" if isinstance(value, date) else "a number"
    of_version = isinstance(value, float) and "e" not in shown(value).lower()
    hint = "; unquoted, 1.30 is the number 1.3" if of_version else ""
    return f"{shown(value)} is {kind} in YAML, not a string; put it in quotes{hint}"


def _not_a_number(detail: ErrorDetails, root: _Model) -> str:
    annotation = annotation_at(root, detail["loc"])
    causes = {"greater_than": "too small", "greater_than_equal": "too small", "less_than_equal": "too large"}
    kind = detail["type"] if _is_number(detail.get("input")) else ""
    cause = causes.get(kind, "not a number" if plain(annotation) is float else "not a whole number")
    low, high = bounds(annotation)
    above = next((mark.gt for mark in unwrap(annotation)[1] if hasattr(mark, "gt")), None)
    upper = f"{low or 0} to {high}" if high is not None else f"{low} or more"
    allowed = upper if above is None else f"more than {above}, at most {high}"
    return f"{shown(detail.get('input'))} is {cause}" + ("" if low is high is None else f"; allowed: {allowed}")


def _is_number(value: Any) -> bool:
    """Whether a value is a number: pydantic reads the text 0-2 as -2."""
    try:
        float(value)
    except OverflowError:  # of a whole number with hundreds of digits
        return True
    except (TypeError, ValueError):
        return False
    return True


def _unknown_field(detail: ErrorDetails, root: _Model) -> str:
    *parents, name = detail["loc"]
    if (field := field_of(_model_at(root, tuple(parents)), name)) is not None:
        return f"is another spelling of {field.alias!r}, which is also given; remove one"
    close = suggested(str(name), root, tuple(parents))
    near = "write" if ":" in (close or "") else "nearest:"
    hint = f"; {near} {close}" if close else _belongs(str(name), root, tuple(parents))
    return f"unknown field{lookalike(str(name))}; allowed: {', '.join(_names(_model_at(root, tuple(parents))))}{hint}"


def _not_allowed(detail: ErrorDetails, root: _Model) -> str:
    return choice(detail.get("input"), "allowed", map(str, get_args(plain(annotation_at(root, detail["loc"])))))


def _required(detail: ErrorDetails, root: _Model) -> str:
    said = _said(field_of(_model_at(root, detail["loc"][:-1]), detail["loc"][-1]))
    return f"required: {said}" if said else "required"


def _not_a_mapping(detail: ErrorDetails, root: _Model) -> str:
    annotation, value = annotation_at(root, detail["loc"]), shown(detail.get("input"))
    names = _names(_model_at(root, detail["loc"]))
    allowed = f"; allowed: {', '.join(names)}" if names else ""
    what = "fields" if names else "names to values"
    return f"{value} is not a mapping of {what}{allowed}; write {_labelled(detail['loc'][-1], example(annotation))}"


def _not_a_list(detail: ErrorDetails, root: _Model) -> str:
    value = detail.get("input")
    written = example(annotation_at(root, detail["loc"]))
    if isinstance(value, str) and written[1] not in "[{":
        written = f"[{value}]"
    return f"{shown(value)} is not a list; write {_labelled(detail['loc'][-1], written)}"


_EXPLAINED: dict[str, Callable[[ErrorDetails, _Model], str]] = {
    "missing": _required,
    "extra_forbidden": _unknown_field,
    "literal_error": _not_allowed,
    "string_type": _not_text,
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), _not_a_mapping),
    **dict.fromkeys(("list_type", "tuple_type"), _not_a_list),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), _not_a_number),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), _not_a_number),
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than_equal"), _not_a_number),
}


def suggested(name: str, root: _Model, parents: Path) -> str | None:
    """The field that the user probably means by an unknown one at `parents`; None if a field below has its name."""
    here = _model_at(root, parents)
    allowed, wanted = _names(here), _spelled(name)
    synonyms: dict[str, list[str]] = spec_data("synonyms")["synonyms"]
    meant = [synonym for synonym in synonyms.get(wanted, ()) if synonym.partition(":")[0] in allowed]
    below = here is not None and wanted in _places(here)
    return next(iter(meant or (() if below else nearest_names(name, allowed, count=1, cutoff=0.7))), None)


def _belongs(name: str, root: _Model, parents: Path) -> str:
    """The place of a field with this name: below the model in which it is set, else in one other place."""
    wanted = _spelled(name)
    here = _model_at(root, parents)
    if here is not None and (places := _places(here).get(wanted)):
        return f"; it belongs below {' or '.join(places[:_MOST_PLACES])}"
    places = _places(root).get(wanted, [])
    return f"; it is a field of {places[0]}" if len(places) == 1 else ""  # of several, none is likely


def _spelled(name: str) -> str:
    """The name without case and underscores."""
    return name.casefold().replace("_", "")


@cache
def _places(model: _Model) -> dict[str, list[str]]:
    """The models below this one that have a field, by the field's name without case and underscores."""
    found: dict[str, list[str]] = {}
    open_: list[tuple[str, _Model, frozenset[_Model]]] = [("", model, frozenset())]
    for at, holder, around in open_:  # grows within
        for key, field in holder.model_fields.items():
            if at:
                found.setdefault(_spelled(key), []).append(at)
            annotation, path = field.annotation, f"{at}.{field.alias or key}".lstrip(".")
            while (item := element(plain(annotation))) is not None:
                path += ".NAME" if get_origin(plain(annotation)) is dict else "[N]"
                annotation = item
            inner = plain(annotation)
            if is_model(inner) and inner not in around:
                open_.append((path, inner, around | {holder}))
    return found


def annotation_at(model: _Model, path: Path) -> Any:
    """The type of the value at `path`, with its constraints; None if the path is unknown."""
    at: Any = model
    for part in path:
        inner = plain(at)
        if is_model(inner):
            field = field_of(inner, part)
            at = None if field is None else Annotated[(field.annotation, *field.metadata, None)]
        else:
            at = element(inner)
    return at


def bounds(annotation: Any) -> tuple[int | None, int | None]:
    """The minimum and the maximum of a number; None if it has none."""
    _, marks = unwrap(annotation)
    low = next((mark.ge for mark in marks if hasattr(mark, "ge")), None)
    return low, next((mark.le for mark in marks if hasattr(mark, "le")), None)


def plain(annotation: Any) -> Any:
    """The annotation without Optional and Annotated; the model of settings that data describes."""
    inner, marks = unwrap(annotation)
    return next((mark.model for mark in marks if isinstance(mark, Described)), inner)


def _model_at(root: _Model, path: Path) -> _Model | None:
    at = plain(annotation_at(root, path))
    return at if is_model(at) else None


def field_of(model: _Model | None, part: str | int) -> FieldInfo | None:
    """The field of a model with this name, in either spelling; None if it has none."""
    fields = documented(model).items() if model else ()
    return next((field for key, field in fields if part in (key, field.alias)), None)


def _names(model: _Model | None) -> list[str]:
    return [field.alias or key for key, field in model.model_fields.items()] if model else []


def _said(field: FieldInfo | None) -> str:
    description = " ".join(field.description.split()) if field and field.description else ""
    return description.partition(". ")[0].rstrip(".")


def example(annotation: Any) -> str:
    """How to write a value of the type, with its required fields."""
    inner = plain(annotation)
    if is_model(inner):
        needed = [field.alias or key for key, field in inner.model_fields.items() if field.is_required()]
        return f"{{{', '.join(f'{name}: …' for name in needed)}}}" if needed else "{…}"
    if get_origin(inner) is dict:
        return f"{{NAME: {example(element(inner))}}}"
    if get_origin(inner) in (tuple, list):
        return f"[{example(element(inner))}]"
    return str(get_args(inner)[0]) if get_origin(inner) is Literal else "…"
