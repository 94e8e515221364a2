"""Service Usage: the agents of Google's services in a project. Every service is enabled in every project."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.errors import not_served
from tpuplane_twin.gcp.projects import service_agent
from tpuplane_twin.gcp.schema import Json

# Service → domain of its agent: https://docs.cloud.google.com/iam/docs/service-agents
_AGENTS: Mapping[str, str] = {
    "container.googleapis.com": "container-engine-robot",
    "compute.googleapis.com": "compute-system",
}


def service_usage_handlers() -> dict[str, Handler]:
    """Handlers by method id."""
    return {"serviceusage.services.generateServiceIdentity": _generate}


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
