"""Rules of a cluster's options, when it is created and changed. The messages are the twin's own.

Versions and their sources are the catalogue's. Keys for Secrets:
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/encrypting-secrets. Parallelstore is no longer supported:
https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters#ParallelstoreCsiDriverConfig.
Components: Google's command-line client, googlecloudsdk/api_lib/container/api_adapter.py (_GetMonitoringConfig).
"""

from __future__ import annotations

from tpuplane.tpu import GkeVersion, catalogue

from tpuplane_twin.gcp.container.access_rules import check_key
from tpuplane_twin.gcp.container.cluster_network import check_blocks
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView

# Add-on → the feature of the catalogue whose version it needs, and its name in messages.
_ADDONS = {
    "gcsFuseCsiDriverConfig": ("gcs-fuse-csi", "Cloud Storage FUSE CSI driver"),
    "gcpFilestoreCsiDriverConfig": ("filestore-csi", "Filestore CSI driver"),
    "lustreCsiDriverConfig": ("lustre-csi", "Managed Lustre CSI driver"),
    "rayOperatorConfig": ("ray-operator-addon", "Ray operator add-on"),
}
_COMPONENTS = {"JOBSET": "jobset-metrics", "KUBELET": "kubelet-metrics", "CADVISOR": "kubelet-metrics"}
_ENCRYPTED = ("ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED")


def check_cluster(store: Store, project: str, cluster: Json) -> None:
    """Reject options that GKE does not support together, or not in the cluster's version."""
    view = ClusterView(cluster)
    check_blocks(view)
    _check_secrets(store, project, view)
    version = GkeVersion.parse(view.version)
    for addon, (feature, name) in _ADDONS.items():
        if view.addon(addon):
            _needs(version, feature, name)
    if view.addon("parallelstoreCsiDriverConfig"):
        raise invalid("The Parallelstore CSI driver is no longer supported.")
    _check_components("Monitoring", view.monitoring, version)
    _check_components("Logging", view.logging, version)


def _needs(version: GkeVersion, feature: str, name: str) -> None:
    needed = catalogue().min_version(feature)
    if version < needed:
        raise invalid(f"{name} requires GKE version {needed} or later; the cluster runs {version}.")


def _check_secrets(store: Store, project: str, cluster: ClusterView) -> None:
    key = cluster.encryption.get("keyName")
    if cluster.encryption.get("state") in _ENCRYPTED:
        if not key:
            raise invalid("Database encryption needs database_encryption.key_name.")
        check_key(store, project, str(key), region_of(cluster.location), "container-engine-robot")


def _check_components(kind: str, components: list[str], version: GkeVersion) -> None:
    if components and "SYSTEM_COMPONENTS" not in components:
        raise invalid(f"{kind} components need SYSTEM_COMPONENTS among them; got {', '.join(components)}.")
    for component in components:
        if kind == "Monitoring" and component in _COMPONENTS:
            _needs(version, _COMPONENTS[component], f"{kind} component {component}")
