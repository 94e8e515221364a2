"""A cluster's place in the VPC: network, subnetwork and ranges must exist, and GKE shows them in several forms.

https://docs.cloud.google.com/kubernetes-engine/docs/concepts/alias-ips
"""

from __future__ import annotations

from ipaddress import IPv4Network

from tpuplane_twin.gcp.blocks import PODS, SERVICES, parse_block, parse_range, range_of_size
from tpuplane_twin.gcp.container.names import CLUSTER
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.links import COMPUTE
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

NETWORK = "compute.networks"
SUBNETWORK = "compute.subnetworks"

_CONTROL_PLANE = 28
# https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips: "smallest possible Service address range"
_SMALLEST_SERVICES = 27


def place(store: Store, project: str, location: str, asked: Json) -> Json:
    """The network fields of a new cluster; refuses a network, subnetwork or range that is not there."""
    link = str(asked.get("network") or "default")
    network, host = _last(link), _project(link, project)
    network_key = f"projects/{host}/global/networks/{network}"
    if store.get(NETWORK, network_key) is None:
        raise invalid(f'Project "{host}" has no network named "{network}".')
    subnet_key, subnet = _subnetwork(store, host, location, network, asked.get("subnetwork"))
    policy = _ip_allocation(asked.get("ipAllocationPolicy", {}), network_key, subnet)
    return {
        "network": network,
        "subnetwork": _last(subnet_key),
        "clusterIpv4Cidr": policy["clusterIpv4CidrBlock"],
        "servicesIpv4Cidr": policy["servicesIpv4CidrBlock"],
        "ipAllocationPolicy": policy,
        "networkConfig": {"network": network_key, "subnetwork": subnet_key},
    }


def check_blocks(cluster: Json) -> None:
    """Refuse ranges around the control plane that are no IPv4 ranges, or not of the control plane's size."""
    private, authorized = cluster.get("privateClusterConfig", {}), cluster.get("masterAuthorizedNetworksConfig", {})
    for found in authorized.get("cidrBlocks", ()):
        _block(found.get("cidrBlock", ""), strict=False)
    own = private.get("masterIpv4CidrBlock")
    if own and _block(own).prefixlen != _CONTROL_PLANE:
        raise invalid(f'The control plane\'s CIDR block "{own}" must be a /{_CONTROL_PLANE}.')


def private_address(store: Store, cluster: Json) -> str:
    """An address of the VPC for a new control plane: of the block that it was given, else of its subnetwork."""
    key = cluster["networkConfig"]["subnetwork"]
    own: str | None = cluster.get("privateClusterConfig", {}).get("masterIpv4CidrBlock")
    taken = {it["privateClusterConfig"].get("privateEndpoint") for _, it in store.items(CLUSTER, "projects")}
    # The first two are the network's and the gateway's.
    hosts = parse_block(own or (store.get(SUBNETWORK, key) or {})["ipCidrRange"]).hosts()
    next(hosts, None)
    found = next((str(address) for address in hosts if str(address) not in taken), None)
    if found is None:
        raise invalid(f'Subnetwork "{key}" has no address left for a control plane.')
    return found


def _subnetwork(store: Store, project: str, location: str, network: str, asked: str | None) -> tuple[str, Json]:
    region = region_of(location)
    name = _last(asked) if asked else network
    key = f"projects/{project}/regions/{region}/subnetworks/{name}"
    subnet = store.get(SUBNETWORK, key)
    if subnet is None and not asked:
        raise invalid(f'Network "{network}" has no subnetwork "{name}" in region {region}; name a subnetwork.')
    if subnet is None or _last(subnet["network"]) != network:
        raise invalid(f'Subnetwork "{key}" is not valid for Network "{network}".')
    return key, subnet


def _ip_allocation(asked: Json, network_key: str, subnet: Json) -> Json:
    ranges = {found["rangeName"]: found["ipCidrRange"] for found in subnet.get("secondaryIpRanges", [])}
    named = {
        "Pod": asked.get("clusterSecondaryRangeName"),
        "Service": asked.get("servicesSecondaryRangeName"),
    }
    for use, name in named.items():
        if name and name not in ranges:
            raise invalid(
                f'{use} secondary range "{name}" not found in network "{COMPUTE}{network_key}",'
                f' subnetwork "{subnet["name"]}".'
            )
    if named["Pod"] and named["Pod"] == named["Service"]:
        raise invalid(
            f"Pod secondary range name ({named['Pod']}) should not be the same as service secondary range name."
        )
    pods = ranges.get(named["Pod"] or "") or _cidr(asked.get("clusterIpv4CidrBlock"), PODS)
    services = ranges.get(named["Service"] or "") or _cidr(asked.get("servicesIpv4CidrBlock"), SERVICES)
    if parse_block(services).prefixlen > _SMALLEST_SERVICES:
        raise invalid(f'Services CIDR block "{services}" is too small: it must be a /{_SMALLEST_SERVICES} or larger.')
    return {
        **asked,
        "useIpAliases": True,
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


def _cidr(asked: str | None, default: str) -> str:
    """A block as asked; "/20" and nothing mean that GKE chooses the addresses."""
    if not asked:
        return default
    try:
        return str(range_of_size(asked, default) if asked.startswith("/") else parse_range(asked))
    except ValueError as error:
        raise invalid(f'Invalid CIDR block "{asked}": {error}.') from error


def _last(name: str) -> str:
    """The short name of a resource given by name or link."""
    return name.rpartition("/")[2]


def _project(link: str, own: str) -> str:
    """The project of a network given by path or link: the host project, in a shared VPC."""
    parts = link.split("/")
    return parts[parts.index("projects") + 1] if "projects" in parts[:-1] else own
