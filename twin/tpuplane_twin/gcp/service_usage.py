"""Service Usage: the agents of Google's services in a project. Every service is enabled in every project."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.errors import not_found, not_served
from tpuplane_twin.gcp.projects import project_number, service_agent
from tpuplane_twin.gcp.schema import Json

# Service → domain of its agent: https://docs.cloud.google.com/iam/docs/service-agents
_AGENTS: Mapping[str, str] = {
    "container.googleapis.com": "container-engine-robot",
    "compute.googleapis.com": "compute-system",
}


def service_usage_handlers(services: Iterable[str]) -> dict[str, Handler]:
    """Handlers by method id. `services` are those that a list names; any other is enabled, too."""
    return {
        "serviceusage.services.batchEnable": lambda call: _enabled(call, call.body.get("serviceIds", [])),
        "serviceusage.services.batchGet": _batch_get,
        "serviceusage.services.enable": lambda call: _enabled(call, [call.params["servicesId"]]),
        "serviceusage.services.generateServiceIdentity": _generate,
        "serviceusage.services.get": lambda call: _service(call.path),
        "serviceusage.services.list": lambda call: {
            "services": [_service(f"{call.path}/{name}.googleapis.com") for name in services]
        },
    }


def _service(name: str) -> Json:
    parent, _, service = name.rpartition("/services/")
    project = project_number(parent.removeprefix("projects/"))
    if not parent.startswith("projects/") or not service.endswith(".googleapis.com"):
        raise not_found(f"Service {service} not found or permission denied.")
    return {
        "name": f"projects/{project}/services/{service}",
        "parent": f"projects/{project}",
        "config": {"name": service},
        "state": "ENABLED",
    }


def _batch_get(call: Call) -> Json:
    return {"services": [_service(name) for name in call.query.getall("names", [])]}


def _enabled(call: Call, names: list[str]) -> Json:
    """Enable services, as all are from the start."""
    parent = call.path.partition("/services")[0]
    found = [_service(f"{parent}/services/{name}") for name in names]
    response = {"services": found} if call.path.endswith(":batchEnable") else {"service": found[0]}
    return {"name": f"operations/acat.p2-{call.path}", "done": True, "response": response}


def _generate(call: Call) -> Json:
    """Make a service's agent, which is there already, as it is in any project that uses the service."""
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
