"""When services and ingresses can take traffic."""

from typing import Final

from tpuplane_standins.providers.kubernetes.awaiting.kstatus import Verdict, View, status
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.metadata import name
from tpuplane_standins.providers.kubernetes.values import Object

_ENDPOINTS = Kind("", "v1", "Endpoints")
_SERVICE = Kind("", "v1", "Service")

SETTLE_SECONDS: Final = 2.0
"""How long a service's endpoints get to fill before they are judged. The official provider gives them ten seconds:
on real nodes pods come slower than here. Only the moment differs, not what is ready."""


def service(view: View) -> Verdict:
    """Its address allocated and, if it selects pods, its endpoints known and none of them pending."""
    spec = view.live.get("spec") or {}
    balanced = spec.get("type") == "LoadBalancer"
    allocated = not balanced or bool(_addresses(view.live))
    if spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None" or not spec.get("selector"):
        return Verdict(allocated, "" if allocated else _ALLOCATING, () if allocated else (_NO_ADDRESS,))
    known = [found for found in view.list_kind(_ENDPOINTS) if name(found) == name(view.live)]
    subsets = [subset for found in known for subset in found.get("subsets") or ()]
    pending = any(subset.get("notReadyAddresses") for subset in subsets)
    if known and not pending and allocated and view.seconds >= SETTLE_SECONDS:
        return Verdict(True, "✅ Service initialization complete")
    ready = any(subset.get("addresses") for subset in subsets)
    found = [] if ready else [_NO_PODS]
    found += [] if allocated else [_NO_ADDRESS]
    return Verdict(False, _ALLOCATING if ready else "[1/3] Finding Pods to direct traffic to", tuple(found))


_ALLOCATING = "[2/3] Attempting to allocate IP address to Service"
_NO_ADDRESS = "Service was not allocated an IP address; does your cloud provider support this?"
_NO_PODS = (
    "Service does not target any Pods. Selected Pods may not be ready, or "
    "field '.spec.selector' may not match labels on any Pods"
)


def ingress(view: View) -> Verdict:
    """Its address allocated, and a service with endpoints behind every path."""
    targets = {
        ((path.get("backend") or {}).get("service") or {}).get("name")
        for rule in (view.live.get("spec") or {}).get("rules") or ()
        for path in (rule.get("http") or {}).get("paths") or ()
    } - {None}
    external = {
        name(found) for found in view.list_kind(_SERVICE) if (found.get("spec") or {}).get("type") == "ExternalName"
    }
    served = {name(found) for found in view.list_kind(_ENDPOINTS)}
    missing = sorted(str(target) for target in targets - external - served)
    allocated = bool(_addresses(view.live))
    if allocated and not missing:
        return Verdict(True, "✅ Ingress initialization complete")
    found = ["Ingress has at least one rule with an unavailable target endpoint."] if missing else []
    if not allocated:
        found.append("Ingress .status.loadBalancer field was not updated with a hostname/IP address.")
    message = (
        f"[1/3] Finding a matching service for each Ingress path (missing: {', '.join(missing)})"
        if missing
        else "[2/3] Waiting for update of .status.loadBalancer with hostname/IP"
    )
    return Verdict(False, message, tuple(found))


def _addresses(obj: Object) -> list[Object]:
    return list((status(obj).get("loadBalancer") or {}).get("ingress") or ())
