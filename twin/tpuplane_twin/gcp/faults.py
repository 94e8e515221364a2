"""Faults of Google's API: injected by the user, stored, and effective for the requests of clients.

`data/faults.yaml` has the kinds.
"""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tpuplane.spec.core.errors import choice
from tpuplane.tpu.nearest import nearest_names

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.discovery import Method
from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

FAULT = "fault"
ALWAYS = "always"
# The fields of a rule: their forms, and how a message names them.
_TEXT = (r"(?s).+", "any text that is not empty")
_FIELDS = {
    **dict.fromkeys(("kind", "method", "resource", "message"), _TEXT),
    "count": (rf"{ALWAYS}|[1-9]\d{{0,8}}", f"{ALWAYS}, or a whole number from 1"),
    "after": (r"\d{1,9}", "a whole number from 0"),
    "seconds": (r"\d{1,4}", "a whole number from 0 to 9999"),
}

log = logging.getLogger(__name__)


class ConnectionCut(Exception):
    """The connection of the request ends without an answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a request has met."""

    rule: Json
    places: dict[str, str]

    @property
    def kind(self) -> Json:
        """The data of its kind."""
        return kinds()[self.rule["kind"]]

    @property
    def served(self) -> bool:
        """Whether the request is carried out."""
        return self.of_operation or "served" in self.kind

    @property
    def of_operation(self) -> bool:
        """Whether the request succeeds, and its operation has the fault."""
        return bool({"holds", "leaves"} & self.kind.keys())

    @property
    def message(self) -> str:
        """Google's message, or the user's."""
        return str(self.rule.get("message") or self.kind.get("message", "").format_map(self.places))

    async def strike(self) -> None:
        """Delay the answer, raise Google's error, or raise `ConnectionCut`."""
        log.warning("fault %s: %s", self.rule["kind"], self.places["resource"])
        await asyncio.sleep({"seconds": 0, **self.kind, **self.rule}["seconds"])
        if "cut" in self.kind:
            raise ConnectionCut
        if "code" in self.kind:
            raise _api_error(self.kind, self.message)


def kinds() -> dict[str, Json]:
    """The kinds of faults by name."""
    return dict(data("faults")["kinds"])


def busy(operation: str) -> ApiError:
    """GKE's rejection of a change while an operation holds the cluster."""
    kind = kinds()["incompatible-operation"]
    return _api_error(kind, kind["message"].format(operation=operation))


def meet(store: Store, method: Method, call: Call, project: str) -> Fault | None:
    """The fault of this request, which counts as used; None without one.

    The first rule that matches counts, in the order in which they were added. A rule that skips the request leaves it
    to the next ones.
    """
    resource = _resource(method, call)
    for key, rule in store.items(FAULT):
        about = _matches(rule["method"], method.id, ".") and _matches(rule["resource"], resource, "/")
        if not about or not _applies(rule["kind"], method.id, method.starts_operation):
            continue
        if rule["after"]:
            store.put(FAULT, key, {**rule, "after": rule["after"] - 1})
            continue
        if rule["count"] == 1:
            store.delete(FAULT, key)
        elif rule["count"] != ALWAYS:
            store.put(FAULT, key, {**rule, "count": rule["count"] - 1})
        operation, service = f"operation-{time.time_ns() // 1_000_000}-{uuid.uuid4()}", method.id.partition(".")[0]
        places = {"project": project, "number": project_number(project), "service": service, "operation": operation}
        return Fault(rule, {**places, "resource": resource, "name": resource.rpartition("/")[2]})
    return None


def parse(asked: Json, methods: Mapping[str, bool]) -> Json:
    """A rule as it is stored. `methods` are the served ones, and whether they start operations.

    Raises `ApiError` for a rule that can match no request.
    """
    given = fields(asked, methods)
    if "kind" not in given or not {"method", "resource"} & given.keys():
        raise invalid("a fault needs a kind, and a method or a resource; * matches all")
    for field in given.keys() & {"seconds", "message"}:
        if field not in kinds()[given["kind"]]:
            having = ", ".join(name for name, kind in kinds().items() if field in kind)
            raise invalid(f"{given['kind']} has no {field}; kinds with it: {having}")
    return {"method": "*", "resource": "*", "count": 1, "after": 0, **given}


def fields(asked: Json, methods: Mapping[str, bool]) -> Json:
    """The given fields of a rule, as they are stored.

    Raises `ApiError` for unknown fields, kinds and methods, wrong values, and a kind that none of the methods has.
    """
    given = {field: str(value) for field, value in asked.items() if value is not None}
    for field, value in given.items():
        if field not in _FIELDS:
            raise invalid(choice(field, "a field of a fault", _FIELDS))
        form, allowed = _FIELDS[field]
        if not re.fullmatch(form, value):
            raise invalid(f"{field} is {value!r}; allowed: {allowed}")
    kind, pattern = given.get("kind"), given.get("method", "*")
    if kind is not None and kind not in kinds():
        raise invalid(choice(kind, "a kind of fault", kinds()))
    named = [method for method in methods if _matches(pattern, method, ".")]
    if not named:
        close = nearest_names(_short(pattern), tuple({_short(method): None for method in methods}), count=3)
        hint = f"; nearest: {', '.join(close)}" if close else ""
        raise invalid(f"{pattern!r} matches no method that the twin serves{hint}")
    if kind is not None and not any(_applies(kind, method, methods[method]) for method in named):
        possible = [_short(method) for method, starts in methods.items() if _applies(kind, method, starts)]
        raise invalid(choice(pattern, f"a method that can have the fault {kind}", possible))
    return {
        field: value if _FIELDS[field] == _TEXT or value == ALWAYS else int(value) for field, value in given.items()
    }


def _api_error(kind: Json, message: str) -> ApiError:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **info} for info in kind.get("errorInfo", [])]
    fields = {"reason": kind.get("reason"), "http_code": kind["code"], "headers": kind.get("headers", {})}
    return ApiError(kind["status"], message, details=tuple(details), **fields)


def _matches(pattern: str, name: str, separator: str) -> bool:
    """Whether the pattern is of the whole name, or of its end: `nodePools.create`, `clusters/lab/nodePools/*`."""
    return fnmatchcase(f"{separator}{name}", f"*{separator}{pattern}")


def _applies(kind: str, method: str, starts_operation: bool) -> bool:
    only = kinds()[kind].get("methods", ["*"])
    return any(starts_operation if pattern == "operation" else fnmatchcase(method, pattern) for pattern in only)


def _resource(method: Method, call: Call) -> str:
    """Name of the resource that a request reads or changes: of the path, or of the body if it is new."""
    path = call.path.removesuffix(f":{method.verb}")
    if method.http_method != "POST" or method.verb:
        return path
    body: Json = next((inner for inner in call.body.values() if isinstance(inner, dict) and "name" in inner), {})
    ids = (value for field, value in call.query.items() if field.endswith("Id"))
    names = (call.body.get("name"), body.get("name"), call.body.get("accountId"), *ids)
    return f"{path}/{next((name for name in names if name), '')}".removesuffix("/")


def _short(method: str) -> str:
    """The end of a method's id, which is a pattern for it."""
    return ".".join(method.split(".")[-2:])
