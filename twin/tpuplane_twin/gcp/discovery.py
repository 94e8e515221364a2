"""Google's discovery documents: the documented method of a request.

The documents come with the installed google-api-python-client; `data/documents.yaml` has those that it lacks. A
document is read at the first request of its service: Compute's has 5 MB and takes about 50 ms, the others a few.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from googleapiclient.discovery_cache import get_static_doc

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.schema import Json, Schemas


@dataclass(frozen=True, slots=True)
class Method:
    """One documented method. `request` and `response` are schema names, None without a body."""

    id: str
    http_method: str
    path: tuple[str, ...]
    verb: str
    query: frozenset[str]
    request: str | None
    response: str | None

    @property
    def starts_operation(self) -> bool:
        """Whether it starts an operation of Kubernetes Engine."""
        return self.id.startswith("container.") and self.response == "Operation" and self.http_method != "GET"


class Document:
    """One API version: its methods by path and by id, and its message types."""

    def __init__(self, service: str, version: str, served: Iterable[str]) -> None:
        """Read the document of `service` and `version`.

        `served` are the ids of the methods that the twin answers; only their message types are kept.
        """
        text = get_static_doc(service, version)
        raw: Json = json.loads(text) if text else deepcopy(data("documents")[service][version])
        for table in ("undocumented_fields", "undocumented_outputs"):
            for message, fields in data(table).get(service, {}).items():
                for name in fields:
                    raw["schemas"][message]["properties"].setdefault(name, {})["readOnly"] = True
        self.methods = {method.id: method for method in _methods(raw, version)}
        self.schemas = Schemas(f"google.{service}.{version}", raw["schemas"])
        self.common_query = raw["parameters"].keys() | data("undocumented_queries").get(service, {}).keys()
        # Methods with the same HTTP method, verb and number of segments. A literal segment is before a parameter.
        self._alike: defaultdict[tuple[str, str, int], list[Method]] = defaultdict(list)
        for method in sorted(self.methods.values(), key=lambda route: [part.startswith("{") for part in route.path]):
            self._alike[method.http_method, method.verb, len(method.path)].append(method)
        methods = [self.methods[method_id] for method_id in served if method_id in self.methods]
        self.schemas.keep(ref for method in methods for ref in (method.request, method.response) if ref)

    def match(self, http_method: str, raw_path: str) -> tuple[Method, dict[str, str]] | None:
        """The method of a request, with its decoded path parameters; None if Google documents none."""
        segments = [unquote(segment) for segment in raw_path.split("/")]
        # A custom verb ends the last segment ("clusters/c:setResourceLabels"); an id may contain a colon.
        head, colon, verb = segments[-1].rpartition(":")
        readings = [([*segments[:-1], head], verb)] if colon and head else []
        readings.append((segments, ""))
        for parts, custom_verb in readings:
            for method in self._alike[http_method, custom_verb, len(parts)]:
                pairs = list(zip(method.path, parts, strict=True))
                if all(part and (name == part or name.startswith("{")) for name, part in pairs):
                    return method, {name[1:-1]: part for name, part in pairs if name.startswith("{")}
        return None


document = cache(Document)
"""The document, read once per process."""


def _methods(resource: Json, version: str) -> Iterator[Method]:
    for raw in resource.get("methods", {}).values():
        yield _method(raw, version)
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner, version)


def _method(raw: Json, version: str) -> Method:
    path = str(raw.get("flatPath", raw["path"])).removeprefix(f"{version}/")
    # "{clustersId}:setAddons": the verb is after the closing brace; ids inside braces have no colon
    path, _, verb = path.partition(":")
    parameters: dict[str, Any] = raw.get("parameters", {})
    return Method(
        id=raw["id"],
        http_method=raw["httpMethod"],
        path=tuple(path.split("/")),
        verb=verb,
        query=frozenset(name for name, spec in parameters.items() if spec.get("location") == "query"),
        request=raw.get("request", {}).get("$ref"),
        response=raw.get("response", {}).get("$ref"),
    )
