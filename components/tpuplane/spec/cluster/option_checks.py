"""The checks of a cluster's options, together and with its version. The rules are in `data/rules.yaml`."""

from collections.abc import Iterator, Mapping

from tpuplane.spec.cluster.cluster import ClusterPlaceSpec, ClusterSpec
from tpuplane.spec.core.errors import Mistake, Path, shown
from tpuplane.spec.core.locations import region_of
from tpuplane.spec.core.rules import broken
from tpuplane.tpu import catalogue

# Option → the feature of tpu/data/versions.yaml that it needs.
_STORAGE = {"gcs_fuse": "gcs-fuse-csi", "filestore": "filestore-csi", "lustre": "lustre-csi"}
_NAMES = {"gcs_fuse": "gcsFuse"}
_COMPONENTS = {"JOBSET": "jobset-metrics", "KUBELET": "kubelet-metrics", "CADVISOR": "kubelet-metrics"}
_ALWAYS = "SYSTEM_COMPONENTS"


def check_options(at: Path, cluster: ClusterSpec, features: Mapping[str, str]) -> Iterator[Mistake]:
    """Every mistake of a cluster's options. `features`: those of the drivers that file systems of the platform need."""
    if not cluster.is_offered:
        yield broken(
            "version-offered", (*at, "version"), value=shown(cluster.version), oldest=catalogue().oldest_version
        )
    yield from _check_endpoints((*at, "controlPlane"), cluster)
    yield from _check_keys((*at, "security"), cluster)
    for field, feature in {**_STORAGE, **features}.items():
        if getattr(cluster.storage, field):
            yield from check_feature((*at, "storage", _NAMES.get(field, field)), cluster, feature)
    yield from _check_monitoring((*at, "monitoring"), cluster)
    if cluster.slice_controller:
        path = (*at, "sliceController")
        if cluster.release_channel != "RAPID":
            yield broken("slice-controller-channel", path, value=shown(cluster.release_channel))
        yield from check_feature(path, cluster, "dynamic-slicing")


def has_feature(cluster: ClusterPlaceSpec, feature: str) -> bool:
    """Whether the cluster's version is new enough, as far as it is known."""
    return not cluster.is_older(catalogue().min_version(feature))


def has_component(cluster: ClusterSpec, component: str) -> bool:
    """Whether the cluster's version can collect the metrics of a component."""
    return component not in _COMPONENTS or has_feature(cluster, _COMPONENTS[component])


def check_feature(at: Path, cluster: ClusterPlaceSpec, feature: str) -> Iterator[Mistake]:
    """The mistake of a setting that needs a newer version of GKE than the cluster's."""
    if not has_feature(cluster, feature):
        yield broken("option-versions", at, value=shown(cluster.version), needed=catalogue().min_version(feature))


def _check_endpoints(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    plane = cluster.control_plane
    if plane.ip_endpoint:
        return
    if not plane.dns_endpoint:
        yield broken("endpoint-needed", (*at, "ipEndpoint"))
    fields = {
        "publicEndpoint": plane.public_endpoint,
        "masterCidr": plane.master_cidr is not None,
        "authorizedNetworks": plane.authorized_networks,
    }
    if given := ", ".join(field for field, value in fields.items() if value):
        yield broken("ip-endpoint-off", (*at, "ipEndpoint"), fields=given)


def _check_keys(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    security = cluster.security
    uses = {"secretsEncryption": security.secrets_encryption, "bootDiskEncryption": security.boot_disk_encryption}
    for field, encryption in uses.items():
        if encryption:
            yield from check_key_region((*at, field, "key"), encryption.key, cluster.location)


def check_key_region(at: Path, key: str | None, location: str) -> Iterator[Mistake]:
    """A key is in the region of its cluster."""
    if key is not None and (place := key.split("/")[3]) != region_of(location):
        yield broken("key-region", at, value=shown(place), allowed=region_of(location))


def _check_monitoring(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    monitoring = cluster.monitoring
    for field, chosen in (("components", monitoring.components), ("logs", monitoring.logs)):
        if chosen is not None and _ALWAYS not in chosen:
            yield broken("system-components", (*at, field), value=", ".join(chosen))
    for index, component in enumerate(monitoring.components or ()):
        if component in _COMPONENTS:
            yield from check_feature((*at, "components", index), cluster, _COMPONENTS[component])
