"""Predictions of unknown values of a preview from the resources on which they depend (`data/predictions.yaml`).

The engine names the resources on which each property depends. This is enough for a prediction only if both resources
are inside a component that passes outputs on unchanged: any other program can compute another value. An update of the
stack knows the value, and every rule then judges it before the resource is created.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tpuplane_policies.core.registry import data
from tpuplane_policies.core.resources import Resource, is_like
from tpuplane_policies.core.values import UNKNOWN

Dependencies = Mapping[str, Sequence[Resource | None]]
"""The resources on which each property depends. None is a resource that the engine has not shown."""


def predicted(resource: Resource, dependencies: Dependencies, components: Iterable[str]) -> Resource:
    """The resource, with a prediction for each unknown value that follows from its dependencies.

    `components` are the types of components that pass outputs on unchanged; `*` matches any text.
    """
    patterns = tuple(components)
    if not isinstance(resource.props.raw, Mapping) or not _inside(resource, patterns):
        return resource
    known = resource.props.raw.items()
    props = {name: _filled(value, name, dependencies.get(name, ()), patterns) for name, value in known}
    return replace(resource, load=lambda: props)


def _inside(resource: Resource, components: Sequence[str]) -> bool:
    """Whether a component of one of these types contains the resource. A URN has the types of all but the stack."""
    parents = ["pulumi:pulumi:Stack", *resource.urn.split("::")[2].split("$")[:-1]]
    return any(is_like(parent, pattern) for parent in parents for pattern in components)


def _filled(value: Any, name: str, dependencies: Sequence[Resource | None], components: Sequence[str]) -> Any:
    """The property with predictions, or unchanged if it is not clear where in it a dependency belongs."""
    keys = set(_keys(value, name))
    values: dict[str, set[str]] = {}
    for dependency in dependencies:
        outputs = _outputs(dependency) if dependency is not None and _inside(dependency, components) else {}
        if not outputs.keys() & keys:
            return value
        for key, output in outputs.items():
            values.setdefault(key, set()).add(output)
    return _put(value, name, {key: outputs.pop() for key, outputs in values.items() if len(outputs) == 1})


def _outputs(resource: Resource) -> Mapping[str, str]:
    """The outputs of a resource, by the property that takes them; empty if an input is unknown."""
    templates: Mapping[str, str] = data("predictions").get(resource.type, {})
    inputs = {name for text in templates.values() for name in re.findall(r"{(\w+)}", text)}
    known = {name: resource[name].raw for name in inputs}
    if not all(value and isinstance(value, str) for value in known.values()):
        return {}
    return {key: text.format_map(known) for key, text in templates.items()}


def _keys(value: Any, key: str) -> Iterator[str]:
    """The property names of all plain and unknown values in a value. Elements of a list have the name of the list."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _keys(below, name)
    elif isinstance(value, list):
        for below in value:
            yield from _keys(below, key)
    else:
        yield key


def _put(value: Any, key: str, values: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _put(below, name, values) for name, below in value.items()}
    if isinstance(value, list):
        return [_put(below, key, values) for below in value]
    return values.get(key, UNKNOWN) if value is UNKNOWN else value
