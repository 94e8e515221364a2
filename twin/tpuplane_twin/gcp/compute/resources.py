"""What all Compute Engine collections share: names, links, look-ups, operations and Compute Engine's error messages."""

import hashlib
import re
import time
import uuid

from tpuplane_twin.gcp.errors import ApiError, invalid
from tpuplane_twin.gcp.links import COMPUTE
from tpuplane_twin.gcp.locations import is_zone, regions
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

BASE = COMPUTE
OPERATION = "compute.operations"

STAMPED = ("id", "creationTimestamp", "selfLink", "region", "zone")
"""The fields of `stamp`: no change replaces them."""

_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")


def bad_value(field: str, value: object, why: str) -> ApiError:
    """400 invalid, naming the field of the request's resource."""
    return invalid(f"Invalid value for field 'resource.{field}': '{value}'. {why}", reason="invalid")


def required(field: str) -> ApiError:
    """400 required."""
    return invalid(f"Required field 'resource.{field}' not specified", reason="required")


def missing(key: str) -> ApiError:
    """404 of a resource."""
    return ApiError("NOT_FOUND", f"The resource '{key}' was not found")


def check_name(name: object) -> str:
    """The name of a new resource; rejects what Compute Engine rejects."""
    if not name:
        raise required("name")
    if not _NAME.fullmatch(str(name)):
        raise bad_value("name", name, f"Must be a match of regex '(?:{_NAME.pattern})'")
    return str(name)


def check_place(project: str, scope: str) -> None:
    """Reject a zone or region that does not exist; `scope` is such as "zones/us-central1-a"."""
    kind, _, place = scope.partition("/")
    if (kind == "zones" and place and not is_zone(place)) or (kind == "regions" and place and place not in regions()):
        raise missing(f"projects/{project}/{scope}")


def key_of(link: str, project: str) -> str:
    """Resource name in a link: full URL, "projects/…" or the part after the project ("global/networks/n")."""
    found = re.search(r"projects/[^/]+/(?:global|regions/[^/]+|zones/[^/]+)/\w+/[^/]+$", link)
    return found.group(0) if found else f"projects/{project}/{link.strip('/')}"


def stamp(key: str) -> Json:
    """The output fields that every new resource gets."""
    return {"id": new_id(), "creationTimestamp": now(), "selfLink": BASE + key, **_placed(key)}


def _placed(key: str) -> Json:
    """The field with the link of the region or zone of a resource; a global one has none."""
    parts = key.split("/")
    return {parts[2].removesuffix("s"): BASE + "/".join(parts[:4])} if parts[2] in ("regions", "zones") else {}


def new_id() -> str:
    """A resource id: an unsigned 64-bit number, as a string on the wire."""
    return str(uuid.uuid4().int >> 65)


def constant_id(text: str) -> str:
    """The id of a resource that is not stored, always the same for a text."""
    return str(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1)


def done(store: Store, action: str, key: str, target_id: str | None = None) -> Json:
    """The finished operation of a change: changes of Compute Engine's resources take no time here."""
    parts = key.split("/")
    scope = "/".join(parts[: 3 if parts[2] == "global" else 4])
    name = f"operation-{time.time_ns() // 1_000_000}-{uuid.uuid4().hex[:21]}"
    moment = now()
    operation: Json = {
        "id": new_id(),
        "name": name,
        "operationType": action,
        "targetLink": BASE + key,
        "targetId": target_id or new_id(),
        "status": "DONE",
        "progress": 100,
        "insertTime": moment,
        "startTime": moment,
        "endTime": moment,
        "selfLink": f"{BASE}{scope}/operations/{name}",
        **_placed(key),
    }
    store.put(OPERATION, f"{scope}/operations/{name}", operation)
    store.trim(OPERATION)
    return operation
