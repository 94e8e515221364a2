"""Service Usage: services, which are enabled until a request disables them, their agents, and quota.

`quotas.py` has the quota of Compute Engine.
"""

import hashlib
from collections.abc import Iterable, Mapping

from tpuplane_twin.gcp.errors import ApiError, not_found, not_served
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.projects import project_number, service_agent
from tpuplane_twin.gcp.quotas import limit, quota_answer, quota_list
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

# Service → domain of its agent: https://docs.cloud.google.com/iam/docs/service-agents
_AGENTS: Mapping[str, str] = {
    "container.googleapis.com": "container-engine-robot",
    "compute.googleapis.com": "compute-system",
}
_SWITCHED = "switchedService"  # on or off, by a request


def check_enabled(store: Store, project: str, service: str) -> None:
    """Reject a request to a service that is disabled in its project, as Google does."""
    if _state(store, f"projects/{project}/services/{service}.googleapis.com") == "ENABLED":
        return
    number = project_number(project)
    page = f"https://console.developers.google.com/apis/api/{service}.googleapis.com/overview?project={number}"
    raise ApiError(
        "PERMISSION_DENIED",
        f"{service}.googleapis.com has not been used in project {number} before or it is disabled. Enable it by"
        f" visiting {page} then retry. If you enabled this API recently, wait a few minutes for the action to propagate"
        " to our systems and retry.",
        reason="accessNotConfigured",
    )


def service_usage_handlers(store: Store, services: Iterable[str]) -> dict[str, Handler]:
    """Handlers by method id. A list has `services` and those that a request has switched; all others exist, too."""
    quotas = "serviceusage.services.consumerQuotaMetrics"

    def listed(names: Iterable[str]) -> list[Json]:
        return [_service(store, name) for name in names]

    def everything(call: Call) -> Json:
        known = dict.fromkeys(f"{call.path}/{name}.googleapis.com" for name in services)
        return {"services": listed(known | dict.fromkeys(key for key, _ in store.items(_SWITCHED, call.path)))}

    def switched(call: Call, names: Iterable[str], state: str = "ENABLED") -> Json:
        """Enable services, or disable them."""
        keys = [f"{call.path.partition('/services')[0]}/services/{name}" for name in names]
        listed(keys)  # rejects a text that is not a service
        for key in keys:
            store.put(_SWITCHED, key, {"state": state})
        found = listed(keys)
        response = {"services": found} if call.path.endswith(":batchEnable") else {"service": found[0]}
        return {"name": f"operations/acat.p2-{call.path}", "done": True, "response": response}

    return {
        "serviceusage.services.batchEnable": lambda call: switched(call, call.body.get("serviceIds", [])),
        "serviceusage.services.batchGet": lambda call: {"services": listed(call.query.getall("names", []))},
        "serviceusage.services.disable": lambda call: switched(call, [call.params["servicesId"]], "DISABLED"),
        "serviceusage.services.enable": lambda call: switched(call, [call.params["servicesId"]]),
        "serviceusage.services.generateServiceIdentity": _generate,
        "serviceusage.services.get": lambda call: _service(store, call.path),
        "serviceusage.services.list": everything,
        f"{quotas}.get": lambda call: quota_answer(store, call),
        f"{quotas}.list": lambda call: quota_list(store, call),
        f"{quotas}.importConsumerOverrides": lambda call: limit(store, call),
    }


def _service(store: Store, name: str) -> Json:
    parent, _, service = name.rpartition("/services/")
    number = project_number(parent.removeprefix("projects/"))
    if not parent.startswith("projects/") or not service.endswith(".googleapis.com"):
        raise not_found(f"Service {service} not found or permission denied.")
    return {
        "name": f"projects/{number}/services/{service}",
        "parent": f"projects/{number}",
        "config": {"name": service},
        "state": _state(store, name),
    }


def _state(store: Store, name: str) -> str:
    return str((store.get(_SWITCHED, name) or {"state": "ENABLED"})["state"])


def _generate(call: Call) -> Json:
    """Create a service's agent, which exists already, as in any project that uses the service."""
    kind, project, service = call.params["v1beta1Id"], call.params["v1beta1Id1"], call.params["servicesId"]
    domain = _AGENTS.get(service)
    if kind != "projects" or domain is None:
        raise not_served(f"the service identity of {service} in {kind}/{project}")
    email = service_agent(project, domain)
    identity = {
        "@type": "type.googleapis.com/google.api.serviceusage.v1beta1.ServiceIdentity",
        "email": email,
        "uniqueId": "1" + str(int(hashlib.sha256(email.encode()).hexdigest(), 16))[:20],
    }
    return {"name": f"operations/finished.DONE_OPERATION.{project}.{service}", "done": True, "response": identity}
