"""Service Usage: services, which are enabled until a request disables them, their agents, and quota.

Quota of Compute Engine is unlimited until a consumer override lowers it, as `gcloud alpha services quota update` does.
Nothing on the twin counts against it: it is for clients that read it.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache

from tpuplane.data_files import read_data

from tpuplane_twin.gcp.errors import ApiError, invalid, not_found, not_served
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.projects import project_number, service_agent
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

# Service → domain of its agent: https://docs.cloud.google.com/iam/docs/service-agents
_AGENTS: Mapping[str, str] = {
    "container.googleapis.com": "container-engine-robot",
    "compute.googleapis.com": "compute-system",
}
_DISABLED, _OVERRIDE = "disabledService", "quotaOverride"


def check_enabled(store: Store, project: str, service: str) -> None:
    """Reject a request to a service that is disabled in its project, as Google does."""
    if store.get(_DISABLED, f"projects/{project}/services/{service}.googleapis.com") is None:
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
    """Handlers by method id. A list has `services`; any other service exists, too."""
    quotas = "serviceusage.services.consumerQuotaMetrics"

    def listed(names: Iterable[str]) -> list[Json]:
        return [_service(store, name) for name in names]

    def switched(call: Call, names: Iterable[str], disabled: Json | None = None) -> Json:
        """Enable services, or disable them."""
        keys = [f"{call.path.partition('/services')[0]}/services/{name}" for name in names]
        listed(keys)  # rejects a text that is not a service
        for key in keys:
            store.delete(_DISABLED, key) if disabled is None else store.put(_DISABLED, key, disabled)
        found = listed(keys)
        response = {"services": found} if call.path.endswith(":batchEnable") else {"service": found[0]}
        return {"name": f"operations/acat.p2-{call.path}", "done": True, "response": response}

    return {
        "serviceusage.services.batchEnable": lambda call: switched(call, call.body.get("serviceIds", [])),
        "serviceusage.services.batchGet": lambda call: {"services": listed(call.query.getall("names", []))},
        "serviceusage.services.disable": lambda call: switched(call, [call.params["servicesId"]], {}),
        "serviceusage.services.enable": lambda call: switched(call, [call.params["servicesId"]]),
        "serviceusage.services.generateServiceIdentity": _generate,
        "serviceusage.services.get": lambda call: _service(store, call.path),
        "serviceusage.services.list": lambda call: {
            "services": listed(f"{call.path}/{name}.googleapis.com" for name in services)
        },
        f"{quotas}.get": lambda call: _quota(store, call),
        f"{quotas}.importConsumerOverrides": lambda call: _limit(store, call),
    }


def _service(store: Store, name: str) -> Json:
    """A service with its state."""
    parent, _, service = name.rpartition("/services/")
    number = project_number(parent.removeprefix("projects/"))
    if not parent.startswith("projects/") or not service.endswith(".googleapis.com"):
        raise not_found(f"Service {service} not found or permission denied.")
    return {
        "name": f"projects/{number}/services/{service}",
        "parent": f"projects/{number}",
        "config": {"name": service},
        "state": "ENABLED" if store.get(_DISABLED, name) is None else "DISABLED",
    }


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


def _quota(store: Store, call: Call) -> Json:
    """A metric of Compute Engine with its limit: a bucket for each override, the least specific first."""
    metric = call.params["consumerQuotaMetricsId"]
    if (unit := _units().get(metric)) is None:
        raise not_found(f"Quota metric {metric} not found.")
    limits: dict[str, Json] = {"": {"effectiveLimit": "-1"}}
    for override in store.values(_OVERRIDE, f"projects/{call.params['v1beta1Id1']}/{metric}"):
        dimensions = override.get("dimensions", {})
        limits[_place(dimensions)] = {"effectiveLimit": override["overrideValue"], "dimensions": dimensions}
    buckets = sorted(limits.values(), key=lambda bucket: len(bucket.get("dimensions", {})))
    return {"metric": metric, "unit": "1", "consumerQuotaLimits": [{"unit": unit, "quotaBuckets": buckets}]}


def _limit(store: Store, call: Call) -> Json:
    """Set the limits of metrics, each for its dimensions."""
    for override in (found := call.body.get("inlineSource", {}).get("overrides", [])):
        metric, dimensions = override.get("metric", ""), override.get("dimensions", {})
        known = re.findall(r"{(\w+)}", _units().get(metric, ""))
        if not known or not dimensions.keys() <= set(known) or "overrideValue" not in override:
            raise invalid(f"The override of {metric!r} has no value, or another metric or dimension than {known}.")
        store.put(_OVERRIDE, f"projects/{call.params['v1beta1Id1']}/{metric}/{_place(dimensions)}", override)
    return {"name": f"operations/quf.p2-{call.path}", "done": True, "response": {"overrides": found}}


def _place(dimensions: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(dimensions.items()))


@cache
def _units() -> dict[str, str]:
    """The unit of each metric: by region, and by family if it counts several."""
    tables = read_data("tpuplane.preflight", "quotas")
    entries = [*tables["vcpus"].values(), *(entry for row in tables["accelerators"].values() for entry in row.values())]
    return {
        f"compute.googleapis.com/{entry['metric']}": "1/{project}/{region}"
        + "".join(f"/{{{key}}}" for key in entry if key != "metric")
        for entry in [*entries, {"metric": "cpus_per_vm_family", "vm_family": ""}]
    }
