"""The handlers of the Compute Engine API."""

from collections.abc import Callable

from tpuplane_twin.gcp.compute import catalogue, resources
from tpuplane_twin.gcp.compute.collection import Source, reads
from tpuplane_twin.gcp.compute.groups import Group, groups
from tpuplane_twin.gcp.compute.networks import Networks, Subnetworks
from tpuplane_twin.gcp.compute.others import Addresses, GlobalAddresses, ResourcePolicies, Routers
from tpuplane_twin.gcp.compute.peerings import Peerings
from tpuplane_twin.gcp.compute.reservations import Reservations
from tpuplane_twin.gcp.compute.traffic import Firewalls, Routes
from tpuplane_twin.gcp.handlers import Handler
from tpuplane_twin.gcp.projects import described
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_COLLECTIONS = (
    Networks,
    Peerings,
    Subnetworks,
    Firewalls,
    Routes,
    Routers,
    Addresses,
    GlobalAddresses,
    ResourcePolicies,
    Reservations,
)


def compute_handlers(store: Store) -> dict[str, Handler]:
    """Handlers by method id, the same for v1 and beta."""
    handlers: dict[str, Handler] = {"compute.projects.get": lambda call: described("compute", call.params["project"])}
    for collection in _COLLECTIONS:
        handlers.update(collection(store).handlers())

    def operations(project: str, scope: str, name: str) -> list[Json]:
        return store.values(resources.OPERATION, f"projects/{project}/{scope}".rstrip("/"), name)

    def of_groups(shown: Callable[[Group], Json], end: str = "") -> Source:
        """`end`: what a group's name has after the name of the resource."""
        return lambda project, scope, name: map(shown, groups(store, project, scope, name and name + end))

    for name, source, *verbs in (
        ("regions", catalogue.region_items, "get", "list"),
        ("zones", catalogue.zone_items, "get", "list"),
        ("machineTypes", catalogue.machine_type_items),
        ("acceleratorTypes", catalogue.accelerator_type_items),
        ("diskTypes", catalogue.disk_type_items),
        ("instanceGroupManagers", of_groups(Group.manager)),
        ("instanceTemplates", of_groups(Group.instance_template, "-grp")),
        ("regionInstanceTemplates", of_groups(Group.instance_template, "-grp"), "get", "list"),
        ("globalOperations", operations, "get", "list", "wait", "aggregatedList"),
        ("regionOperations", operations, "get", "list", "wait"),
        ("zoneOperations", operations, "get", "list", "wait"),
    ):
        handlers.update(reads(name, source, verbs) if verbs else reads(name, source))
    return handlers
