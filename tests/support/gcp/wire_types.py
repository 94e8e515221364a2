"""Whether an answer has the types of Google's discovery documents; read here without the code under test."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from googleapiclient.discovery_cache import get_static_doc
from tpuplane.data_files import read_data

_APIS = {
    "/v1beta1/": ("container", "v1beta1"),
    "/v1/": ("container", "v1"),
    "/v1alpha1/": ("container", "v1beta1"),
    "/compute/alpha/": ("compute", "alpha"),
    "/compute/beta/": ("compute", "beta"),
    "/compute/v1/": ("compute", "v1"),
    "/artifactregistry/v1/": ("artifactregistry", "v1"),
    "/artifactregistry/v1beta2/": ("artifactregistry", "v1beta2"),
    "/file/v1/": ("file", "v1"),
    "/iam/v1/": ("iam", "v1"),
    "/cloudbilling/v1/": ("cloudbilling", "v1"),
    "/crm/v1/": ("cloudresourcemanager", "v1"),
    "/kms/v1/": ("cloudkms", "v1"),
    "/lustre/v1/": ("lustre", "v1"),
    "/servicenetworking/v1/": ("servicenetworking", "v1"),
    "/storage/v1/": ("storage", "v1"),
    "/logging/v2/": ("logging", "v2"),
    "/monitoring/v1/": ("monitoring", "v1"),
    "/monitoring/v3/": ("monitoring", "v3"),
    "/serviceusage/v1/": ("serviceusage", "v1"),
    "/serviceusage/v1beta1/": ("serviceusage", "v1beta1"),
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
}


@cache
def _document(service: str, version: str) -> Any:
    text = get_static_doc(service, version)
    return json.loads(text) if text else read_data("tpuplane_twin.gcp", "documents")[service][version]


@cache
def _methods(service: str, version: str) -> list[tuple[str, re.Pattern[str], str | None]]:
    found = []

    def walk(resource: Any) -> None:
        for method in resource.get("methods", {}).values():
            path = method.get("flatPath", method["path"]).removeprefix(f"{version}/")
            pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/:]+", re.escape(path)))
            found.append((method["httpMethod"], pattern, method.get("response", {}).get("$ref")))
        for inner in resource.get("resources", {}).values():
            walk(inner)

    walk(_document(service, version))
    return found


def check_answer(method: str, path: str, answer: Any) -> None:
    """Fail if a 200 answer is not of the type that Google documents for the method."""
    base, (service, version) = next((base, api) for base, api in _APIS.items() if path.startswith(base))
    rest = path.removeprefix(base).partition("?")[0]
    types = [ref for verb, pattern, ref in _methods(service, version) if verb == method and pattern.fullmatch(rest)]
    assert len(types) == 1, (method, path, types)
    if types[0] is not None:
        _check(_document(service, version)["schemas"], {"$ref": types[0]}, answer, types[0])


def _check(schemas: Any, schema: Any, value: Any, path: str) -> None:
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    kind = schema["type"]
    if kind == "any":
        return
    assert isinstance(value, _TYPES[kind]), (path, value)
    assert kind == "boolean" or not isinstance(value, bool), (path, value)
    if kind == "array":
        for item in value:
            _check(schemas, schema["items"], item, f"{path}[]")
    elif kind == "object":
        for key, item in value.items():
            inner = schema["properties"][key] if "properties" in schema else schema["additionalProperties"]
            _check(schemas, inner, item, f"{path}.{key}")
    elif "enum" in schema:
        assert value in schema["enum"], (path, value)
    elif schema.get("format") in ("int64", "uint64"):
        assert re.fullmatch(r"-?\d+", value), (path, value)
