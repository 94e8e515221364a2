"""Projects: numbers, billing, and the agents of Google's services. Every project exists."""

import hashlib
import re

from tpuplane.data_files import formatted

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.handlers import Handler
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_PROJECT = "project"


def project_number(project: str) -> str:
    """A project's number: twelve digits, always the same ones for a project. A number is its own."""
    if project.isdecimal():
        return project
    return str(10**11 + int(hashlib.sha256(project.encode()).hexdigest(), 16) % (9 * 10**11))


def with_project_id(store: Store, path: str) -> str:
    """A path whose project has its id: Google's APIs take the number too. A number of no known project stays."""
    found = re.match(r"projects/(\d+)(?=[/:]|$)", path)
    if found is None:
        return path
    number = found[1]
    known = (project for project in store.projects() if project_number(project) == number)
    return f"projects/{next(known, number)}{path[found.end() :]}"


def service_agent(project: str, domain: str) -> str:
    """Address of a service's agent in a project; `domain` is such as `container-engine-robot`."""
    return f"service-{project_number(project)}@{domain}.iam.gserviceaccount.com"


def project_handlers(store: Store) -> dict[str, Handler]:
    """Handlers of Resource Manager and Cloud Billing by method id. A list has the projects with resources."""
    return {
        "cloudresourcemanager.projects.get": lambda call: described("cloudresourcemanager", call.params["projectId"]),
        "cloudresourcemanager.projects.list": lambda _: {
            "projects": [described("cloudresourcemanager", name) for name in store.projects()]
        },
        "cloudbilling.projects.getBillingInfo": lambda call: described("cloudbilling", call.params["projectsId"]),
    }


def first_seen(store: Store, project: str) -> bool:
    """Note a project. The result is whether the twin sees it for the first time."""
    key = f"projects/{project}"
    if store.get(_PROJECT, key) is not None:
        return False
    store.put(_PROJECT, key, {})
    return True


def described(service: str, project: str) -> Json:
    """What a service says of a project. Compute Engine shows no quotas, because quotas are unlimited here."""
    places = {"project": project, "number": project_number(project)}
    return dict(formatted(data("defaults")["projects"][service], places))
