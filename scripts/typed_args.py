"""The TypedDicts for arguments of components: the fields of the spec, with types that Pulumi's analyzer supports.

The analyzer does not support constraints, Literal and tuple. The spec checks the values.
"""

import textwrap
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from tpuplane.models import args_name, models
from tpuplane.spec.addons.addons import NamedDefinition
from tpuplane.spec.core.changes import described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.fields import element, unwrap

HEADER = '''# Generated from the spec by `make generate`; do not edit.
"""Arguments of components: the fields of `tpuplane.spec` and `tpuplane.workloads`, as TypedDicts.

They define a plan or a manifest, so all values are plain values that are known before the engine starts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict
'''


def typed_args() -> str:
    """The module `tpuplane.args`."""
    return "\n\n".join((HEADER, *map(_typed_dict, models()))).rstrip() + "\n"


def _typed_dict(model: type[BaseModel]) -> str:
    lines = [f"class {args_name(model)}(TypedDict):", _docstring(model.__doc__ or "")]
    for name, field in documented(model).items():
        kind = boundary_type(field.annotation)
        lines += ["", f"    {name}: {kind if field.is_required() else f'NotRequired[{kind}]'}"]
        lines += [_docstring(described(field))]
    return "\n".join(lines) + "\n"


def boundary_type(annotation: Any) -> str:
    """The type in a TypedDict for an annotation of the spec."""
    inner, _ = unwrap(annotation)
    if get_origin(inner) is Literal:
        (kind,) = {type(value) for value in get_args(inner)}
        return str(kind.__name__)
    if get_origin(inner) is dict:
        return f"Mapping[str, {boundary_type(element(inner))}]"
    if get_origin(inner) is tuple:
        return f"Sequence[{boundary_type(element(inner))}]"
    if inner is NamedDefinition:
        return "str"
    return args_name(inner) if inner is not Any and issubclass(inner, BaseModel) else str(inner.__name__)


def _docstring(text: str) -> str:
    words = " ".join(text.split()).replace("\\", "\\\\")
    end = ' """' if words.endswith('"') else '"""'
    indent = " " * 4
    return textwrap.fill(
        f'"""{words}{end}',
        120,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
