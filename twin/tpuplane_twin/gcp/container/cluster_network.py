"""A cluster's network, subnetwork and ranges, which GKE shows in several fields.

https://docs.cloud.google.com/kubernetes-engine/docs/concepts/alias-ips
"""

from ipaddress import IPv4Network

from tpuplane.spec.cluster.network_checks import LIMITS
from tpuplane.spec.core.fields import is_internal

from tpuplane_twin.gcp.compute.networks import SUBNETWORK
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.container.ranges import POD_RANGE, find_range, free_block, parse
from tpuplane_twin.gcp.errors import invalid, not_served
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json, snake
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import SERVICES, ClusterView

NETWORK = "compute.networks"

_CONTROL_PLANE = 28


def place(store: Store, project: str, location: str, asked: Json) -> Json:
    """The network fields of a new cluster; its network, subnetwork and ranges must exist."""
    link = str(asked.get("network") or "default")
    network, host = _last(link), _project(link, project)
    network_key = f"projects/{host}/global/networks/{network}"
    if store.get(NETWORK, network_key) is None:
        raise invalid(f'Project "{host}" has no network named "{network}".')
    subnet_key = _subnetwork(store, host, location, network, asked.get("subnetwork"))
    policy = _ip_allocation(store, asked.get("ipAllocationPolicy", {}), network_key, subnet_key)
    return {
        "network": network,
        "subnetwork": _last(subnet_key),
        "clusterIpv4Cidr": policy["clusterIpv4CidrBlock"],
        "servicesIpv4Cidr": policy["servicesIpv4CidrBlock"],
        "ipAllocationPolicy": policy,
        "networkConfig": {"network": network_key, "subnetwork": subnet_key},
    }


def check_blocks(cluster: ClusterView) -> None:
    """Reject invalid ranges of authorized networks and of the control plane, with public ones in GKE's words.

    https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/153 and
    https://github.com/hashicorp/terraform-provider-google/issues/6537
    """
    private = cluster.ip_endpoint and not cluster.public_endpoint
    for block in cluster.authorized_blocks:
        if not is_internal(_block(block, strict=False)) and private:
            line = f'network "{block}" is not a reserved network, which is required for private endpoints'
            raise invalid(f"Invalid master authorized networks: {line}")
    own = cluster.control_plane_block
    if own and _block(own).prefixlen != _CONTROL_PLANE:
        raise invalid(f'The control plane\'s CIDR block "{own}" must be a /{_CONTROL_PLANE}.')
    if own and not is_internal(_block(own)) and not cluster.default_snat_off:
        line = "Must disable default sNAT (--disable-default-snat) before using public IP privately in the cluster."
        raise invalid(line)


def private_address(store: Store, cluster: Json) -> str:
    """An address in the VPC for a new control plane: from its own block, else from its subnetwork."""
    view = ClusterView(cluster)
    taken = {ClusterView(cluster).private_endpoint for cluster in store.values(CLUSTER)}
    subnetwork: Json = store.get(SUBNETWORK, view.subnetwork) or {}
    # The first two addresses are the network's and the gateway's.
    hosts = IPv4Network(view.control_plane_block or subnetwork["ipCidrRange"]).hosts()
    next(hosts, None)
    found = next((str(address) for address in hosts if str(address) not in taken), None)
    if found is None:
        raise invalid(f'Subnetwork "{view.subnetwork}" has no address left for a control plane.')
    return found


def _subnetwork(store: Store, project: str, location: str, network: str, asked: str | None) -> str:
    region = region_of(location)
    name = _last(asked) if asked else network
    key = f"projects/{project}/regions/{region}/subnetworks/{name}"
    subnet = store.get(SUBNETWORK, key)
    if subnet is None and not asked:
        raise invalid(f'Network "{network}" has no subnetwork "{name}" in region {region}; name a subnetwork.')
    if subnet is None or _last(subnet["network"]) != network:
        raise invalid(f'Subnetwork "{key}" is not valid for Network "{network}".')
    return key


def _ip_allocation(store: Store, asked: Json, network: str, subnetwork: str) -> Json:
    for field in ("createSubnetwork", "useRoutes"):
        if asked.get(field):
            raise not_served(f"ip_allocation_policy.{snake(field)}")
    pod_range, service_range = asked.get("clusterSecondaryRangeName"), asked.get("servicesSecondaryRangeName")
    if pod_range:
        pods = find_range(store, network, subnetwork, "Pod", pod_range)
    else:
        pods = str(free_block(store, network, asked.get("clusterIpv4CidrBlock") or POD_RANGE))
    if service_range:
        services = find_range(store, network, subnetwork, "Service", service_range)
    else:
        services = asked.get("servicesIpv4CidrBlock") or SERVICES
    if parse(services).prefixlen > (smallest := LIMITS["services"]["smallest"]):
        raise invalid(f'Services CIDR block "{services}" is too small: it must be a /{smallest} or larger.')
    if not service_range and services != SERVICES:
        services = str(free_block(store, network, services, [IPv4Network(pods)]))
    if pod_range and pod_range == service_range:
        raise invalid(f"Pod secondary range name ({pod_range}) should not be the same as service secondary range name.")
    for use, block in (("Pods", pods), ("Services", services)):
        if parse(block).prefixlen < (largest := LIMITS[use.lower()]["largest"]):
            raise invalid(f'{use} CIDR block "{block}" is too large: it must be a /{largest} or smaller.')
    return {
        **asked,
        "useIpAliases": True,
        "networkTierConfig": asked.get("networkTierConfig", {"networkTier": "NETWORK_TIER_DEFAULT"}),
        "stackType": asked.get("stackType", "IPV4"),
        "clusterIpv4Cidr": pods,
        "clusterIpv4CidrBlock": pods,
        "servicesIpv4Cidr": services,
        "servicesIpv4CidrBlock": services,
        "podCidrOverprovisionConfig": asked.get("podCidrOverprovisionConfig", {}),
    }


def _block(text: str, *, strict: bool = True) -> IPv4Network:
    try:
        return IPv4Network(text, strict=strict)
    except ValueError as error:
        raise invalid(f'"{text}" is not a valid IPv4 CIDR block: {error}.') from error


def _last(name: str) -> str:
    """The short name of a resource given by name or link."""
    return name.rpartition("/")[2]


def _project(link: str, own: str) -> str:
    """The project of a network given by path or link: the host project, in a shared VPC."""
    parts = link.split("/")
    return parts[parts.index("projects") + 1] if "projects" in parts[:-1] else own
