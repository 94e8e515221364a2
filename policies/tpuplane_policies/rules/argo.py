"""The pods of Argo's workflows (argoproj.io/v1alpha1). Each template with containers creates its own pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from tpuplane_policies.core.values import UNKNOWN, Value, hidden

ONE = ("container", "script")
"""Fields with the container that Argo names `main`."""
LISTS = ("containerSet.containers", "sidecars", "initContainers")


@dataclass(frozen=True, slots=True, eq=False)
class Layered(Value):
    """An object whose unset properties come from the next layer that sets them."""

    layers: tuple[Value, ...] = ()

    def child(self, key: str) -> Value:
        """The property of the first layer that sets it, layered if it is an object."""
        values = [value for value in (layer.child(key) for layer in self.layers) if value.raw is not None]
        return layered(*values) if values else Value.child(self, key)


def layered(first: Value, *others: Value) -> Value:
    """A value whose unset properties come from the first of the others that sets them."""
    return Layered(first.raw, first.path, first.resource, (first, *others)) if others else first


def every(pod: Value, field: str) -> Iterator[Value]:
    """The elements of a list in a pod, including those of the lists that the pod inherits."""
    for layer in pod.layers if isinstance(pod, Layered) else (pod,):
        yield from layer[field].each()


def template_pods(value: Value) -> Iterator[Value]:
    """A pod for each template that is not part of a workflow, as in event sources."""
    return (Layered(template.raw, template.path, template.resource, (template,)) for template in _templates(value))


def _templates(value: Value) -> Iterator[Value]:
    """The template itself if it has containers, otherwise the templates inside its steps and tasks."""
    if value.is_unknown or any(value[field].raw is not None for field in (*ONE, *LISTS)):
        yield value
    else:
        for group in (*value["steps"].each(), value["dag.tasks"]):
            for step in group.each():
                yield from _templates(step["inline"])


def workflow_pods(workflow: Value) -> Iterator[Value]:
    """A pod for each template of a workflow's spec. It inherits from the workflow and from its patches."""
    defaults = workflow["templateDefaults"]
    templates = [template for outer in workflow["templates"].each() for template in _templates(outer)]
    for template in templates or _templates(defaults):
        own = template["podSpecPatch"] if template["podSpecPatch"].raw is not None else defaults["podSpecPatch"]
        layers = (_patch(own), _patch(workflow["podSpecPatch"]), template, defaults, workflow)
        yield Layered(template.raw, template.path, template.resource, layers)


def template_containers(pod: Layered) -> Iterator[Value]:
    """The containers of a template's pod. A patch changes the container of the same name."""
    named: dict[Any, list[Value]] = {}
    for field in ("containers", *LISTS):  # only patches have `containers`
        for container in every(pod, field):
            named.setdefault(container["name"].raw or container.path, []).append(container)
    for field in ONE:
        if Value.child(pod, field).raw is not None:
            named.setdefault("main", []).extend(every(pod, field))
    return iter([layered(*layers) for layers in named.values()])


def _patch(patch: Value) -> Value:
    """The object in the text of a patch."""
    return Value(_parsed(patch.raw), patch.path, patch.resource) if isinstance(patch.raw, str) else patch


@lru_cache  # each rule about pods reads it
def _parsed(patch: str) -> object:
    """The object in a text. Argo's expressions are unknown before the workflow runs."""
    try:
        parsed = yaml.safe_load(patch)
    except yaml.YAMLError:
        parsed = UNKNOWN
    parsed = hidden(parsed, lambda text: "{{" in text)
    return parsed if parsed is None or isinstance(parsed, Mapping) else UNKNOWN
