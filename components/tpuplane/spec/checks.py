"""The rules between fields: each yields one line for each mistake."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, collapse_addresses

from tpuplane.spec.addons.checks import check_addons
from tpuplane.spec.addons.custom_checks import check_custom
from tpuplane.spec.classes.platform_checks import check_classes
from tpuplane.spec.cluster import existing_checks
from tpuplane.spec.cluster.auto_provisioning_checks import check_auto_provisioning
from tpuplane.spec.cluster.cluster import ClusterSpec
from tpuplane.spec.cluster.maintenance_checks import check_maintenance
from tpuplane.spec.cluster.network_checks import (
    address_needs,
    check_internal,
    check_overlaps,
    check_proxies,
    check_sizes,
    ranges_of,
)
from tpuplane.spec.cluster.option_checks import check_options
from tpuplane.spec.core.adopted import keeps
from tpuplane.spec.core.errors import Mistake, Path, dotted, shown
from tpuplane.spec.core.fields import is_internal
from tpuplane.spec.core.locations import check_location, region_of
from tpuplane.spec.core.names import check_names
from tpuplane.spec.core.repetitions import repetitions
from tpuplane.spec.core.rules import broken
from tpuplane.spec.disk_checks import check_disks
from tpuplane.spec.file_system_checks import check_file_systems, driver_features
from tpuplane.spec.images_checks import check_images
from tpuplane.spec.name_checks import check_joined_names, check_labels
from tpuplane.spec.platform import PlatformSpec
from tpuplane.spec.pools.checks import check_pool
from tpuplane.spec.pools.machine_checks import check_system_pool
from tpuplane.spec.pools.reservation_checks import check_reservations
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.queues.kueue_checks import check_gates, check_multi_kueue
from tpuplane.spec.queues.team_checks import check_teams
from tpuplane.spec.quota_checks import check_class_quotas, check_limits, check_quotas
from tpuplane.spec.storage_checks import check_checkpointing, check_storage


def check(spec: PlatformSpec) -> Iterator[Mistake]:
    """Every mistake of a description whose fields are all well formed."""
    networks: dict[existing_checks.Place | None, dict[str, ClusterSpec]] = {}
    for key, cluster in spec.clusters.items():
        networks.setdefault(existing_checks.home_of(spec.name, spec.project, cluster).network, {})[key] = cluster
    for clusters in networks.values():
        yield from check_overlaps(ranges_of(clusters))
    yield from check_proxies(
        (("clusters", key, "network"), region_of(cluster.location), cluster.network)
        for key, cluster in spec.clusters.items()
        if cluster.existing is None
    )
    yield from existing_checks.check_distinct(spec.name, spec.clusters)
    yield from existing_checks.check_own_network(spec.name, spec.project, spec.clusters)
    pools = (
        (("clusters", key, *path), cluster.location, pool)
        for key, cluster in spec.clusters.items()
        for path, pool in cluster.all_pools.items()
    )
    yield from check_reservations(spec.reservations, pools)
    yield from check_quotas(spec)
    yield from check_class_quotas(spec)
    yield from check_limits(spec)
    yield from dict.fromkeys(check_classes(spec))  # several clusters can have the class
    yield from check_teams(spec)
    yield from check_multi_kueue(spec)
    yield from check_gates(spec)
    yield from check_joined_names(spec)
    yield from check_labels(spec)
    yield from check_images(spec)
    yield from check_storage(spec)
    yield from check_checkpointing(spec)
    yield from check_file_systems(spec)
    yield from check_disks(spec)
    yield from _check_channels(spec)
    yield from _check_starved_queue(spec)
    for key, cluster in spec.clusters.items():
        at: Path = ("clusters", key)
        yield from check_names(spec.name, key, cluster)
        foreign = list(existing_checks.check_existing(at, cluster))
        yield from foreign
        yield from existing_checks.check_existing_network(at, spec.project, cluster)
        settings, removed = check_settings(at, cluster, driver_features(spec, key)), {each.path for each in foreign}
        yield from (each for each in settings if each.path[: len(at) + 1] not in removed)
        if cluster.existing is None:
            yield from check_sizes((*at, "network"), cluster.network, address_needs(cluster))
            if cluster.network.existing is None:
                yield from check_internal((*at, "network", "podsCidr"), cluster.network.pods_cidr)
        home = existing_checks.home_of(spec.name, spec.project, cluster)
        for path, pool in cluster.all_pools.items():
            yield from check_pool((*at, *path), home, cluster, pool)
        yield from _check_new_node_pools(at, cluster)


def _check_channels(spec: PlatformSpec) -> Iterator[Mistake]:
    """An alert policy notifies channels of its own project. A channel can name its project by number."""
    for index, channel in enumerate(spec.observability.notification_channels if spec.observability else ()):
        named = channel.split("/")[1]
        if named != spec.project and not named.isdecimal():
            at: Path = ("observability", "notificationChannels", index)
            yield broken("channel-project", at, value=shown(channel), project=spec.project)


def _check_starved_queue(spec: PlatformSpec) -> Iterator[Mistake]:
    """Reject settings of an alert that no cluster has the metrics for."""
    alerts = spec.observability.alerts if spec.observability else None
    written = alerts is not None and "starved_queue" in alerts.model_fields_set and alerts.starved_queue.enabled
    if written and not any(cluster.collects_queues for cluster in spec.clusters.values()):
        yield broken("starved-queue", ("observability", "alerts", "starvedQueue"))


def check_settings(at: Path, cluster: ClusterSpec, features: Mapping[str, str]) -> Iterator[Mistake]:
    """Every mistake in the settings of a cluster. `features`: see `check_options`."""
    yield from check_options(at, cluster, features)
    yield from check_location((*at, "location"), cluster.location)
    yield from check_addons(at, cluster)
    yield from check_custom((*at, "addons"), cluster)
    yield from _check_control_plane(at, cluster)
    yield from check_maintenance(at, cluster)
    yield from check_auto_provisioning(at, cluster)
    yield from check_system_pool((*at, "systemPool"), cluster.location, cluster.system_pool)


def _check_new_node_pools(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    """Reject new node pools that need what tpuplane leaves as it is in an adopted cluster or pool."""
    for path, pool in cluster.all_pools.items():
        size = pool.known_size(cluster.location)
        if size is None or not size.max_nodes or pool.exists(path[1]):
            continue
        if keeps(cluster.adopted, name := "workloadIdentityConfig.workloadPool"):
            yield broken("pool-workload-identity", (*at, *path), property=name, cluster=dotted(at))
        policy = isinstance(pool, PoolSpec) and pool.slice.placement == "workload-policy"
        if policy and pool.workload_policy(None, path[1]) is None:
            yield broken("pool-workload-policy", (*at, *path, *pool.scale.largest), pool=dotted((*at, *path)))


def _check_control_plane(at: Path, cluster: ClusterSpec) -> Iterator[Mistake]:
    plane, at = cluster.control_plane, (*at, "controlPlane")
    if not plane.ip_endpoint:  # `check_options` rejects every field that needs it
        return
    if plane.master_cidr is not None and IPv4Network(plane.master_cidr).prefixlen != 28:
        yield Mistake((*at, "masterCidr"), f"{shown(plane.master_cidr)} is not a /28, the only size that GKE accepts")
    if cluster.adopted is None:  # an adopted one may have been created without default SNAT
        yield from check_internal((*at, "masterCidr"), plane.master_cidr)
    yield from repetitions((*at, "authorizedNetworks"), (network.cidr for network in plane.authorized_networks))
    ranges = collapse_addresses(IPv4Network(network.cidr) for network in plane.authorized_networks)
    if any(network.prefixlen == 0 for network in ranges):
        line = "together, the ranges open the control plane to the whole internet; name the ranges that need it"
        yield Mistake((*at, "authorizedNetworks"), line)
    elif not plane.public_endpoint:
        for index, network in enumerate(plane.authorized_networks):
            if not is_internal(IPv4Network(network.cidr)):
                path = (*at, "authorizedNetworks", index, "cidr")
                yield broken("authorized-internal", path, value=shown(network.cidr))
    elif not plane.authorized_networks:
        line = "required with publicEndpoint: the ranges that may reach the control plane, such as your office or VPN"
        yield Mistake((*at, "authorizedNetworks"), line)
