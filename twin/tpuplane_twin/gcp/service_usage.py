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
from tpuplane_twin.gcp.handlers import Call, Handler, methods
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
    usage = _ServiceUsage(store)
    return {
        "serviceusage.services.batchEnable": lambda call: usage.switched(call, call.body.get("serviceIds", [])),
        "serviceusage.services.batchGet": lambda call: {"services": usage.listed(call.query.getall("names", []))},
        "serviceusage.services.disable": lambda call: usage.switched(call, [call.params["servicesId"]], {}),
        "serviceusage.services.enable": lambda call: usage.switched(call, [call.params["servicesId"]]),
        "serviceusage.services.generateServiceIdentity": _generate,
        "serviceusage.services.get": lambda call: usage.listed([call.path])[0],
        "serviceusage.services.list": lambda call: {
            "services": usage.listed(f"{call.path}/{name}.googleapis.com" for name in services)
        },
        **methods("serviceusage.services.consumerQuotaMetrics", _Quotas(store), "get importConsumerOverrides"),
    }


class _ServiceUsage:
    """Services, each disabled or not."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def listed(self, names: Iterable[str]) -> list[Json]:
        """The services with their states."""
        return [self._service(name) for name in names]

    def switched(self, call: Call, names: Iterable[str], disabled: Json | None = None) -> Json:
        """Enable services, or disable them."""
        parent = call.path.partition("/services")[0]
        keys = [f"{parent}/services/{name}" for name in names]
        self.listed(keys)  # rejects what is no service
        for key in keys:
            self._store.delete(_DISABLED, key) if disabled is None else self._store.put(_DISABLED, key, disabled)
        found = self.listed(keys)
        response = {"services": found} if call.path.endswith(":batchEnable") else {"service": found[0]}
        return {"name": f"operations/acat.p2-{call.path}", "done": True, "response": response}

    def _service(self, name: str) -> Json:
        parent, _, service = name.rpartition("/services/")
        number = project_number(parent.removeprefix("projects/"))
        if not parent.startswith("projects/") or not service.endswith(".googleapis.com"):
            raise not_found(f"Service {service} not found or permission denied.")
        return {
            "name": f"projects/{number}/services/{service}",
            "parent": f"projects/{number}",
            "config": {"name": service},
            "state": "ENABLED" if self._store.get(_DISABLED, name) is None else "DISABLED",
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


class _Quotas:
    """services.consumerQuotaMetrics of Compute Engine: those of the hardware that tpuplane's catalogues have."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, call: Call) -> Json:
        """A metric with its limit: a bucket for each override, the least specific first."""
        metric = call.params["consumerQuotaMetricsId"]
        unit = _units().get(metric)
        if unit is None:
            raise not_found(f"Quota metric {metric} not found.")
        buckets: list[Json] = [{"effectiveLimit": "-1"}]
        for override in self._store.values(_OVERRIDE, f"{_project(call)}/{metric}"):
            dimensions = override.get("dimensions", {})
            bucket = {"effectiveLimit": override["overrideValue"], "dimensions": dimensions}
            buckets = [*(it for it in buckets if it.get("dimensions", {}) != dimensions), bucket]
        buckets.sort(key=lambda it: len(it.get("dimensions", {})))
        return {"metric": metric, "unit": "1", "consumerQuotaLimits": [{"unit": unit, "quotaBuckets": buckets}]}

    def import_consumer_overrides(self, call: Call) -> Json:
        """Set the limits of metrics, each for its dimensions."""
        for override in (found := call.body.get("inlineSource", {}).get("overrides", [])):
            metric, dimensions = override.get("metric", ""), override.get("dimensions", {})
            known = re.findall(r"{(\w+)}", _units().get(metric, ""))
            if not known or not dimensions.keys() <= set(known) or "overrideValue" not in override:
                raise invalid(f"The override of {metric!r} has no value, or another metric or dimension than {known}.")
            place = ",".join(f"{name}={value}" for name, value in sorted(dimensions.items()))
            self._store.put(_OVERRIDE, f"{_project(call)}/{metric}/{place}", override)
        return {"name": f"operations/quf.p2-{call.path}", "done": True, "response": {"overrides": found}}


def _project(call: Call) -> str:
    return f"projects/{call.params['v1beta1Id1']}"


@cache
def _units() -> dict[str, str]:
    """The unit of each metric: by region, and by family if it counts several."""
    tables = read_data("tpuplane.preflight", "quotas")
    entries = [it for name in ("onDemand", "preemptible", "vcpus") for it in tables[name].values()]
    return {
        f"compute.googleapis.com/{it['metric']}": "1/{project}/{region}"
        + "".join(f"/{{{key}}}" for key in it if key != "metric")
        for it in [*entries, {"metric": "cpus_per_vm_family", "vm_family": ""}]
    }
