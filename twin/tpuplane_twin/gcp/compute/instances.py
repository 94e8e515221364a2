"""The machines of node pools, as Compute Engine shows them: instances, boot disks, members of groups."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from tpuplane_twin.gcp.backend import BackendError, ClusterBackend, Instance
from tpuplane_twin.gcp.compute.collection import VERBS, reads
from tpuplane_twin.gcp.compute.groups import Group, groups
from tpuplane_twin.gcp.compute.resources import constant_id, missing
from tpuplane_twin.gcp.container.answers import linked
from tpuplane_twin.gcp.container.names import find_cluster, parent_cluster
from tpuplane_twin.gcp.errors import unavailable
from tpuplane_twin.gcp.handlers import Call, Handler
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

Member = tuple[Group, Instance]


def instance_handlers(store: Store, backend: ClusterBackend) -> dict[str, Handler]:
    """Handlers by method id. They are asynchronous, because they read the clusters."""

    async def members(project: str, name: str = "") -> list[Member]:
        """The machines of all groups, or of the groups called `name`."""
        by_pool = {(group.pool_key, group.zone): group for group in groups(store, project, name=name)}
        found: list[Member] = []
        pools = dict.fromkeys((parent_cluster(key), key.rpartition("/")[2] if name else "") for key, _ in by_pool)
        for key, pool in pools:
            try:
                machines = await backend.instances(linked(key, find_cluster(store, key)), pool)
            except BackendError as error:
                raise unavailable(f"The nodes of {key} cannot be read: {error}") from error
            named = [((f"{key}/nodePools/{machine.pool}", machine.zone), machine) for machine in machines]
            found += [(by_pool[place], machine) for place, machine in named if place in by_pool]
        return found

    def listed(collection: str, shown: Callable[[Member], Json]) -> dict[str, Handler]:
        async def answer(call: Call, verb: str) -> Json:
            items = [shown(member) for member in await members(call.params["project"])]
            found: Json = reads(collection, lambda *_: items)[f"compute.{collection}.{verb}"](call)
            return found

        return {f"compute.{collection}.{verb}": partial(answer, verb=verb) for verb in VERBS}

    def of_group(field: str, shown: Callable[[Member], Json]) -> Callable[[Call], Awaitable[Json]]:
        async def answer(call: Call) -> Json:
            project, zone, name = call.params.values()
            if not any(groups(store, project, f"zones/{zone}", name)):
                raise missing(call.path.rpartition("/")[0])
            found = await members(project, name)
            return {field: [shown(member) for member in found if member[0].zone == zone]}

        return answer

    async def group_of_instances(call: Call, verb: str) -> Json:
        name = call.params.get("instanceGroup", "")
        counts = Counter(group.link for group, _ in await members(call.params["project"], name))

        def sized(*requested: str) -> Iterator[Json]:
            return (group.instances(counts[group.link]) for group in groups(store, *requested))

        found: Json = reads("instanceGroups", sized)[f"compute.instanceGroups.{verb}"](call)
        return found

    return {
        **listed("instances", _instance),
        **listed("disks", _boot_disk),
        **{f"compute.instanceGroups.{verb}": partial(group_of_instances, verb=verb) for verb in VERBS},
        "compute.instanceGroupManagers.listManagedInstances": of_group("managedInstances", _managed),
        "compute.instanceGroups.listInstances": of_group(
            "items", lambda member: {"instance": _link(member, "instances"), "status": "RUNNING"}
        ),
    }


def _link(member: Member, collection: str) -> str:
    group, machine = member
    return f"{group.project}/zones/{group.zone}/{collection}/{machine.name}"


def _resource(member: Member, collection: str) -> Json:
    """What each resource of a machine has."""
    group, machine = member
    link = _link(member, collection)
    made = {"id": constant_id(link), "name": machine.name, "selfLink": link, "creationTimestamp": machine.created}
    return {**made, "zone": f"{group.project}/zones/{group.zone}"}


def _instance(member: Member) -> Json:
    group, machine = member
    made: Json = group.instance_template()["properties"]
    basics = _resource(member, "instances")
    manager = f"projects/{project_number(group.project.rpartition('/')[2])}/zones/{group.zone}/instanceGroupManagers"
    disk = {key: value for key, value in made["disks"][0].items() if key != "initializeParams"}
    return {
        **made,
        **basics,
        "status": "RUNNING",
        "machineType": f"{basics['zone']}/machineTypes/{made['machineType']}",
        "disks": [{**disk, "index": 0, "source": _link(member, "disks")}],
        "networkInterfaces": [{**made["networkInterfaces"][0], "name": "nic0", "networkIP": machine.address}],
        "metadata": {"items": [{"key": "created-by", "value": f"{manager}/{group.name}"}]},
    }


def _boot_disk(member: Member) -> Json:
    basics = _resource(member, "disks")
    size = member[0].instance_template()["properties"]["disks"][0]["initializeParams"]
    return {
        **basics,
        "status": "READY",
        "sizeGb": size["diskSizeGb"],
        "type": f"{basics['zone']}/diskTypes/{size['diskType']}",
        "users": [_link(member, "instances")],
    }


def _managed(member: Member) -> Json:
    group, machine = member
    return {
        "id": constant_id(_link(member, "instances")),
        "name": machine.name,
        "instance": _link(member, "instances"),
        "instanceStatus": "RUNNING",
        "currentAction": "NONE",
        "version": {"instanceTemplate": group.template},
    }
