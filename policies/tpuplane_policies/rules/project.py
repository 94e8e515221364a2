"""Project, network, storage and keys around the clusters."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from tpuplane_policies.core.judging import Demands, Options, Repairs, demand
from tpuplane_policies.core.registry import repair_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, Resource
from tpuplane_policies.rules.kinds import (
    BUCKET,
    CRYPTO_KEY,
    FIREWALL,
    NETWORK,
    PROJECT,
    PROXIES,
    SUBNETWORK,
)

LARGEST_NETWORK = 8  # bits of prefix: nobody has a network of his own that is larger than a /8
DAY = 24 * 3600
ASYMMETRIC = ("ASYMMETRIC_SIGN", "ASYMMETRIC_DECRYPT")
"""Purposes of keys that Cloud KMS does not rotate (cloud.google.com/kms/docs/key-rotation)."""
PORTS = {22: "CKV_GCP_2", 3389: "CKV_GCP_3"}
"""Ports that others judge by themselves."""


def is_world(network: object) -> bool:
    """Whether it is larger than anybody's own network: 0.0.0.0/0, and 0.0.0.0/1 as well."""
    try:
        parsed = ip_network(str(network), strict=False)
    except ValueError:
        return False
    # An address without a prefix is itself alone, but Compute Engine takes the address of none for all of them.
    return parsed.prefixlen < LARGEST_NETWORK or parsed.network_address.is_unspecified


@resource_rule("PRJ001", PROJECT)
def no_default_network(project: Resource, options: Options) -> Demands:
    """Google makes one unless told not to."""
    at = project["autoCreateNetwork"]
    text = "the project begins with an open default network"
    yield demand(at.is_false, at, text, like="CKV_GCP_27 GCP-0010", remedy="set autoCreateNetwork to false")


@resource_rule("PRJ001", NETWORK)
def no_automatic_subnetworks(network: Resource, options: Options) -> Demands:
    """A subnetwork in every region of the world, with ranges that nobody chose."""
    at = network["autoCreateSubnetworks"]
    text = "Google fills every region with a subnetwork"
    yield demand(at.is_false, at, text, remedy="set autoCreateSubnetworks to false")


@resource_rule("PRJ001", CLUSTER)
def clusters_are_not_in_the_default_network(cluster: Resource, options: Options) -> Demands:
    """A cluster that names no network gets the default one."""
    at = cluster["network"]
    default = at.test(lambda it: it in (None, "default") or str(it).endswith("/networks/default"))
    yield demand(~default, at, "the cluster is in the default network", remedy="name a network of your own")


@resource_rule("PRJ002", SUBNETWORK)
def private_google_access(subnetwork: Resource, options: Options) -> Demands:
    """Save in subnetworks that hold nothing but load balancers' proxies."""
    at = subnetwork["privateIpGoogleAccess"]
    proxies = subnetwork["purpose"].one_of(*PROXIES)
    text = "private nodes reach Google's APIs through the NAT only"
    yield demand(proxies | at.is_true, at, text, like="CKV_GCP_74 GCP-0075")


@repair_rule("PRJ002", SUBNETWORK)
def give_private_google_access(subnetwork: Resource, options: Options) -> Repairs:
    """Google turns it on in place."""
    used = subnetwork["purpose"].get() not in PROXIES
    if used and ~subnetwork["privateIpGoogleAccess"].is_true:
        yield ("privateIpGoogleAccess",), True


@resource_rule("PRJ006", BUCKET)
def buckets_are_kept(bucket: Resource, options: Options) -> Demands:
    """One way of access, no public, earlier versions kept, not deleted with its contents."""
    at = bucket["uniformBucketLevelAccess"]
    yield demand(at.is_true, at, "objects have access lists of their own", like="CKV_GCP_29 GCP-0002")
    at = bucket["publicAccessPrevention"]
    yield demand(at.one_of("enforced"), at, "an object can be made public; allowed: enforced", like="CKV_GCP_114")
    at = bucket["versioning.enabled"]
    yield demand(at.is_true, at, "a checkpoint that is overwritten is gone", like="CKV_GCP_78 GCP-0078")
    at = bucket["forceDestroy"]
    yield demand(~at.is_true, at, "the bucket is deleted with all that is in it")


@resource_rule("PRJ009", FIREWALL)
def firewalls_are_closed_to_the_world(firewall: Resource, options: Options) -> Demands:
    """No rule lets in what comes from anywhere."""
    open_ = ~firewall["direction"].one_of("EGRESS") & ~firewall["disabled"].is_true
    ranges, tagged = firewall["sourceRanges"], firewall["sourceTags"].is_set | firewall["sourceServiceAccounts"].is_set
    world = ranges.test(lambda it: any(map(is_world, it or ()))) | (~ranges.is_set & ~tagged)
    for allowed in firewall["allows"].each():
        ports, anywhere = allowed["ports"], ranges.contains("0.0.0.0/0")
        at = {check: ports.test(lambda it, port=port: _has(it, port)) & anywhere for port, check in PORTS.items()}
        at["CKV2_GCP_12"] = allowed["protocol"].one_of("all") & ranges.is_set
        like = " ".join(check for check, theirs in at.items() if theirs.holds)
        yield demand(~(open_ & world), ranges, "the whole internet is let in", like=like)


def _has(ports: Any, wanted: int) -> bool:
    """Whether a port is one of these: numbers, or ranges such as 1024-65535."""
    for text in ports or ():
        first, _, last = str(text).partition("-")
        if first.strip().isdigit() and int(first) <= wanted <= int(last or first):
            return True
    return False


@resource_rule("PRJ010", CRYPTO_KEY)
def keys_are_rotated_and_kept(key: Resource, options: Options) -> Demands:
    """A new version every 90 days; and what a lost key has encrypted is lost as well."""
    at = key["rotationPeriod"]
    rotated = key["purpose"].one_of(*ASYMMETRIC) | at.test(lambda it: DAY <= _seconds(it) <= 90 * DAY)
    yield demand(rotated, at, "its versions grow old; allowed: 86400s to 7776000s", like="CKV_GCP_43")
    kept = "what it has encrypted is lost with it"
    yield demand(key.protect, key.props, kept, like="CKV_GCP_82", remedy="set the resource option protect")


def _seconds(duration: object) -> float:
    text = str(duration or "").removesuffix("s")
    return float(text) if text.replace(".", "", 1).isdigit() else 0
