"""GKE's node pools as Compute Engine shows them: managed instance groups and their templates."""

from collections.abc import Iterator
from dataclasses import dataclass

from tpuplane_twin.gcp.backend import node_counts
from tpuplane_twin.gcp.compute.resources import BASE, constant_id
from tpuplane_twin.gcp.container.names import POOL, find_cluster, group_urls, parent_cluster
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView


@dataclass(frozen=True, slots=True)
class Group:
    """The managed instance group of a pool in one zone."""

    store: Store
    pool_key: str
    pool: Json
    zone: str
    link: str

    @property
    def name(self) -> str:
        """The group's name."""
        return self.link.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The prefix of its instances' names."""
        return self.name.removesuffix("-grp")

    @property
    def template(self) -> str:
        """Link of its instance template. GKE's are regional."""
        return f"{self.project}/regions/{region_of(self.zone)}/instanceTemplates/{self.stem}"

    @property
    def size(self) -> int:
        """The target number of instances."""
        return node_counts(self.pool)[self.zone]

    @property
    def project(self) -> str:
        """Link of the project."""
        return f"{BASE}projects/{self.pool_key.split('/')[1]}"

    @property
    def _common(self) -> Json:
        return {"id": constant_id(self.link), "name": self.name, "zone": f"{self.project}/zones/{self.zone}"}

    def manager(self) -> Json:
        """The instance group manager."""
        stable = self.pool["status"] == "RUNNING"
        return {
            **self._common,
            "selfLink": self.link,
            "instanceGroup": self.link.replace("instanceGroupManagers", "instanceGroups"),
            "baseInstanceName": self.stem,
            "instanceTemplate": self.template,
            "versions": [{"instanceTemplate": self.template}],
            "targetSize": self.size,
            "currentActions": {"none": self.size},
            "status": {"isStable": stable, "versionTarget": {"isReached": stable}},
        }

    def instances(self, size: int) -> Json:
        """The managed instance group's instance group, with the number of its existing instances."""
        link = self.link.replace("instanceGroupManagers", "instanceGroups")
        return {**self._common, **self._networks(), "selfLink": link, "size": size}

    def instance_template(self) -> Json:
        """The template of its instances."""
        config: Json = self.pool["config"]
        disk = {
            "boot": True,
            "autoDelete": True,
            "type": "PERSISTENT",
            "mode": "READ_WRITE",
            "initializeParams": {"diskType": config["diskType"], "diskSizeGb": config["diskSizeGb"]},
        }
        cluster = self.pool_key.split("/")[5]
        labels = {"goog-gke-node": "", "goog-k8s-cluster-name": cluster, "goog-k8s-node-pool-name": self.pool["name"]}
        return {
            "id": constant_id(self.template),
            "name": self.stem,
            "region": f"{self.project}/regions/{region_of(self.zone)}",
            "selfLink": self.template,
            "properties": {
                "machineType": config["machineType"],
                "disks": [disk],
                "labels": {**config.get("resourceLabels", {}), **labels},
                "tags": {"items": config.get("tags", [])},
                "networkInterfaces": [self._networks()],
                "serviceAccounts": [{"email": config["serviceAccount"], "scopes": config.get("oauthScopes", [])}],
                "scheduling": {"provisioningModel": "SPOT" if config.get("spot") else "STANDARD"},
            },
        }

    def _networks(self) -> Json:
        cluster = ClusterView(find_cluster(self.store, parent_cluster(self.pool_key)))
        return {"network": BASE + cluster.network, "subnetwork": BASE + cluster.subnetwork}


def groups(store: Store, project: str, scope: str = "", name: str = "") -> Iterator[Group]:
    """The groups of a project, or of one of its zones or regions: all, or those called `name`."""
    # A client asks for the group of each pool, so one answer must not read all of them.
    for key, pool in store.items(POOL, f"projects/{project}", name):
        links = group_urls(key, pool)
        for zone in node_counts(pool):
            group = Group(store, key, pool, zone, links[zone])
            if scope in ("", f"zones/{zone}", f"regions/{region_of(zone)}") and name in ("", group.name):
                yield group
