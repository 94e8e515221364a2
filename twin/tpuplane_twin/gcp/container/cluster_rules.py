"""Rules of a cluster's options, when it is created and changed. Most messages are the twin's own.

Versions and their sources are the catalogue's. Keys for Secrets:
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/encrypting-secrets. Parallelstore is no longer supported:
https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters#ParallelstoreCsiDriverConfig.
Components: Google's command-line client, googlecloudsdk/api_lib/container/api_adapter.py (_GetMonitoringConfig).
Network policy, in GKE's words: https://github.com/hashicorp/terraform-provider-google/issues/11334,
https://github.com/gke-labs/kube-agents/pull/932 (a policy without its add-on) and
https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/765 (removal of the add-on).
"""

from tpuplane.tpu import GkeVersion, catalogue

from tpuplane_twin.gcp.container.access_rules import check_key, check_service_account
from tpuplane_twin.gcp.container.cluster_network import check_blocks
from tpuplane_twin.gcp.container.pool_defaults import check_zones
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView

_COMPONENTS = {"JOBSET": "jobset-metrics", "KUBELET": "kubelet-metrics", "CADVISOR": "kubelet-metrics"}
_REQUIRED_LIMITS = ("cpu", "memory")
_ENCRYPTED = ("ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED")


def check_cluster(store: Store, project: str, cluster: Json) -> None:
    """Reject options that GKE does not support together, or not in the cluster's version."""
    view = ClusterView(cluster)
    _check_autoscaling(store, project, view)
    check_blocks(view)
    _check_network_policy(view)
    _check_secrets(store, project, view)
    version = GkeVersion.parse(view.version)
    for addon, (feature, name) in data("kinds")["addons"].items():
        if view.addon(addon):
            _needs(version, feature, name)
    if view.addon("parallelstoreCsiDriverConfig"):
        raise invalid("The Parallelstore CSI driver is no longer supported.")
    _check_components("Monitoring", view.monitoring, version)
    _check_components("Logging", view.logging, version)


def _check_autoscaling(store: Store, project: str, cluster: ClusterView) -> None:
    if not cluster.auto_provisioning:
        return  # limits may be there: hashicorp/terraform-provider-google, TestAccContainerCluster_nodeAutoprovisioning
    names = [str(limit.get("resourceType", "")) for limit in cluster.resource_limits]
    missing = ", ".join(name for name in _REQUIRED_LIMITS if name not in names)
    if missing:  # GKE's words: hashicorp/terraform-provider-google#24232
        raise invalid(f"Resource limits for {missing} must be specified when enabling node autoprovisioning.")
    tpus = (generation.label for generation in catalogue().generations if generation.nap_min_version)
    allowed = (*_REQUIRED_LIMITS, *tpus)
    for name in names:
        # GPUs have their own names, and new ones appear every year.
        if name not in allowed and not name.startswith("nvidia-"):
            raise invalid(f"Invalid resource: {name}.")  # GKE's words: hashicorp/terraform-provider-google#11589
    if unlimited := ", ".join(limit["resourceType"] for limit in cluster.resource_limits if "maximum" not in limit):
        raise invalid(f"The resource limits for {unlimited} need a maximum.")
    check_zones(cluster.auto_provisioning_zones, cluster.location)
    defaults = cluster.auto_provisioning_defaults
    check_service_account(store, project, {"config": defaults})
    if cluster.on_channel and not defaults["management"].get("autoUpgrade"):
        raise invalid(f"Auto_upgrade cannot be false when release_channel {cluster.channel} is set.")


def _check_network_policy(cluster: ClusterView) -> None:
    if cluster.network_policy and cluster.dataplane == "ADVANCED_DATAPATH":
        raise invalid("Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed.")
    if cluster.network_policy and cluster.network_policy_addon_off:
        raise invalid(
            "The network policy addon must be enabled before updating the nodes, and cannot be removed until network"
            " policy has been disabled on the nodes."
        )


def _needs(version: GkeVersion, feature: str, name: str) -> None:
    needed = catalogue().min_version(feature)
    if version < needed:
        raise invalid(f"{name} requires GKE version {needed} or later; the cluster has {version}.")


def _check_secrets(store: Store, project: str, cluster: ClusterView) -> None:
    key = cluster.encryption.get("keyName")
    if cluster.encryption.get("state") in _ENCRYPTED:
        if not key:
            raise invalid("The database_encryption.key_name must be set.")
        check_key(store, project, str(key), region_of(cluster.location), "container-engine-robot")


def _check_components(kind: str, components: list[str], version: GkeVersion) -> None:
    if components and "SYSTEM_COMPONENTS" not in components:
        raise invalid(f"{kind} components need SYSTEM_COMPONENTS among them; got {', '.join(components)}.")
    for component in components:
        if kind == "Monitoring" and component in _COMPONENTS:
            _needs(version, _COMPONENTS[component], f"{kind} component {component}")
