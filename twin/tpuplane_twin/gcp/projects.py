"""Projects: numbers, billing, and the agents of Google's services. Every project exists, with every service enabled."""

import hashlib
from collections.abc import Iterable, Mapping

from tpuplane_twin.gcp.errors import not_found, not_served
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

IAM_POLICY = "iamPolicy"
"""The kind under which IAM policies are stored, by the resource's name."""

# Service → domain of its agent: https://docs.cloud.google.com/iam/docs/service-agents
_AGENTS: Mapping[str, str] = {
    "container.googleapis.com": "container-engine-robot",
    "compute.googleapis.com": "compute-system",
}


def project_number(project: str) -> str:
    """A project's number: twelve digits, always the same ones for a project."""
    return str(10**11 + int(hashlib.sha256(project.encode()).hexdigest(), 16) % (9 * 10**11))


def service_agent(project: str, domain: str) -> str:
    """Address of a service's agent in a project; `domain` is such as `container-engine-robot`."""
    return f"service-{project_number(project)}@{domain}.iam.gserviceaccount.com"


def project_handlers(store: Store) -> dict[str, Handler]:
    """Handlers of Resource Manager and Cloud Billing by method id. A list has the projects with resources."""
    return {
        "cloudresourcemanager.projects.get": lambda call: _project(call.params["projectId"]),
        "cloudresourcemanager.projects.list": lambda _: {"projects": [_project(name) for name in store.projects()]},
        "cloudbilling.projects.getBillingInfo": lambda call: _billing(call.params["projectsId"]),
    }


def _project(project: str) -> Json:
    return {
        # Not shown: what filters read.
        "id": project,
        "projectId": project,
        "projectNumber": project_number(project),
        "name": project,
        "lifecycleState": "ACTIVE",
    }


def _billing(project: str) -> Json:
    return {
        "name": f"projects/{project}/billingInfo",
        "projectId": project,
        "billingAccountName": "billingAccounts/000000-000000-000000",
        "billingEnabled": True,
    }


def service_usage_handlers(services: Iterable[str]) -> dict[str, Handler]:
    """Handlers of Service Usage by method id. A list has `services`; any other service is enabled, too."""
    return {
        "serviceusage.services.batchEnable": lambda call: _enabled(call, call.body.get("serviceIds", [])),
        "serviceusage.services.batchGet": lambda call: {
            "services": [_service(name) for name in call.query.getall("names", [])]
        },
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


def _enabled(call: Call, names: list[str]) -> Json:
    """Enable services, which all are from the start."""
    parent = call.path.partition("/services")[0]
    found = [_service(f"{parent}/services/{name}") for name in names]
    response = {"services": found} if call.path.endswith(":batchEnable") else {"service": found[0]}
    return {"name": f"operations/acat.p2-{call.path}", "done": True, "response": response}


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
