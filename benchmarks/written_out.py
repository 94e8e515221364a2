"""The program that somebody would write without tpuplane, made from the state of a stack."""

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_MARK = "4dabf18193072939515e22adb298388d"  # Pulumi's key of a secret
_BOOLEANS = {"true": True, "false": False}
_GENERIC = "pulumi.CustomResource"
_CHART = "kubernetes:helm.sh/v4:Chart"
_SHORTEST = 6  # characters of a computed value; shorter ones are found by chance

State = Mapping[str, Any]
_Outputs = dict[str, str]  # the expression of each value


def program(export: State) -> str:
    """One call of the typed SDKs for each resource of `pulumi stack export --show-secrets`.

    A value that a dependency has computed becomes its output. Each dependency also becomes a `depends_on`, because the
    state does not show which of them a program names. Components, and what a program only reads, are left out.
    """
    resources = {resource["urn"]: resource for resource in export["deployment"]["resources"]}
    made = [resource for resource in resources.values() if _is_made(resource)]
    parts: dict[str, list[str]] = {}
    for resource in made:
        for ancestor in _ancestors(resource, resources):
            parts.setdefault(ancestor, []).append(resource["urn"])
    names = {resource["urn"]: f"r{number}" for number, resource in enumerate(made)}
    outputs = {resource["urn"]: _computed(resource, names[resource["urn"]]) for resource in made}
    classes = {resource["type"]: _class_of(resource["type"]) for resource in made}
    lines = ["import pulumi", *sorted({f"import {path.rpartition('.')[0]}" for path in classes.values()}), ""]
    for resource in made:
        dependencies = _dependencies(resource, resources)
        needed = sorted({urn for one in dependencies for urn in (one, *parts.get(one, ())) if urn in outputs})
        lines.append(_call(resource, classes[resource["type"]], names, {urn: outputs[urn] for urn in needed}))
    return "\n".join(lines) + "\n"


def _is_made(resource: State) -> bool:
    is_default = _is_provider(resource) and "::default" in resource["urn"]
    return bool(resource.get("custom")) and not resource.get("external") and not is_default


def _is_provider(resource: State) -> bool:
    return str(resource["type"]).startswith("pulumi:providers:")


def _class_of(token: str) -> str:
    """The full name of a type's class: Pulumi's generic one for a kind that the SDK of Kubernetes does not have."""
    package, module, name = token.split(":")
    if package == "pulumi":
        return f"pulumi_{name}.Provider"
    group, _, rest = module.partition("/")
    path = f"pulumi_{package}.{group.partition('.')[0]}" + (f".{rest}" if package == "kubernetes" else "")
    try:
        getattr(importlib.import_module(path), name)
    except (ImportError, AttributeError):
        return _GENERIC
    return f"{path}.{name}"


def _computed(resource: State, variable: str) -> _Outputs:
    """The texts that the provider has computed, with the expression of each."""
    given = {text for _, text in _texts(resource.get("inputs", {}))}
    found = {text: f"{variable}.{path}" for path, text in _texts(resource.get("outputs", {}))}
    found |= {resource.get("id", ""): f"{variable}.id"}
    return {text: path for text, path in found.items() if len(text) >= _SHORTEST and text not in given}


def _texts(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a value with their paths, as Python reads an output of that path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _texts(part, f'{path}["{_snake(key)}"]' if path else _snake(key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _ancestors(resource: State, resources: Mapping[str, State]) -> Iterator[str]:
    while parent := resource.get("parent"):
        yield parent
        resource = resources[parent]


def _dependencies(resource: State, resources: Mapping[str, State]) -> Iterator[str]:
    """The resource's own dependencies, and those of the chart that has it."""
    yield from resource.get("dependencies", ())
    parent = resources.get(resource.get("parent", ""), {})
    if parent.get("type") == _CHART:
        yield from parent.get("dependencies", ())


def _call(resource: State, path: str, names: Mapping[str, str], needed: Mapping[str, _Outputs]) -> str:
    computed = {text: expression for outputs in needed.values() for text, expression in outputs.items()}
    given = _given(resource.get("inputs", {}))
    if _is_provider(resource):  # its inputs are texts, and its version is that of the SDK
        given = {key: _BOOLEANS.get(str(value), value) for key, value in given.items() if key != "version"}
    inputs = {key: _expression(value, computed) for key, value in given.items()}
    name = repr(resource["urn"].rpartition("::")[2])
    if path == _GENERIC:
        fields = ", ".join(f"{key!r}: {value}" for key, value in inputs.items())
        arguments = [repr(resource["type"]), name, f"{{{fields}}}"]
    else:
        arguments = [name, *(f"{_snake(key)}={value}" for key, value in inputs.items())]
    options = [f"depends_on=[{', '.join(names[urn] for urn in needed)}]"] if needed else []
    if (provider := resource.get("provider", "").rpartition("::")[0]) in names:
        options.append(f"provider={names[provider]}")
    if ignored := resource.get("ignoreChanges"):
        options.append(f"ignore_changes={ignored!r}")
    if options:
        arguments.append(f"opts=pulumi.ResourceOptions({', '.join(options)})")
    return f"{names[resource['urn']]} = {path}({', '.join(arguments)})"


def _given(value: Any) -> Any:
    """A value without what the provider added by default, and without what only Pulumi reads."""
    if isinstance(value, dict) and _MARK not in value:
        added = value.get("__defaults", ())
        return {key: _given(part) for key, part in value.items() if key not in added and not key.startswith("__")}
    return [_given(part) for part in value] if isinstance(value, list) else value


def _expression(value: Any, computed: _Outputs) -> str:
    """The Python of a value, with the outputs of its dependencies."""
    if isinstance(value, list):
        return f"[{', '.join(_expression(part, computed) for part in value)}]"
    if isinstance(value, dict) and _MARK in value:
        return f"pulumi.Output.secret({_expression(json.loads(value['plaintext']), computed)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_expression(part, computed)}' for key, part in value.items())}}}"
    if not isinstance(value, str) or not any(text in value for text in computed):
        return repr(value)
    pattern = "|".join(re.escape(text) for text in sorted(computed, key=len, reverse=True))
    parts = [computed.get(part) or repr(part) for part in re.split(f"({pattern})", value) if part]
    return parts[0] if len(parts) == 1 else f"pulumi.Output.concat({', '.join(parts)})"
