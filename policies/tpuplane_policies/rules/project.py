"""Project, network, storage and encryption keys."""

from ipaddress import ip_network
from typing import Any

from tpuplane_policies.core.judging import Demands, Options, Repairs, demand
from tpuplane_policies.core.registry import repair_rule, resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import any_of
from tpuplane_policies.rules import kinds

LARGEST_NETWORK = 8  # prefix length: private networks are not larger than a /8
PRIVATE = ip_network("fc00::/7")
"""All private IPv6 addresses (RFC 4193)."""
DAY = 24 * 3600  # seconds
PORTS = {22: "CKV_GCP_2", 3389: "CKV_GCP_3"}
"""Ports with a separate check in checkov."""


def is_world(network: object) -> bool:
    """Whether the range is larger than any private network, such as 0.0.0.0/0, and so includes the internet."""
    try:
        parsed = ip_network(str(network), strict=False)
    except ValueError:
        return False
    # An address without a prefix is a single address, except 0.0.0.0, which Compute Engine reads as all addresses.
    return parsed != PRIVATE and (parsed.prefixlen < LARGEST_NETWORK or parsed.network_address.is_unspecified)


@repair_rule("PRJ002", kinds.SUBNETWORK)
def give_private_google_access(subnetwork: Resource, options: Options) -> Repairs:
    """Google makes this change in place."""
    used = subnetwork["purpose"].get() not in kinds.WITHOUT_MACHINES
    if used and ~subnetwork["privateIpGoogleAccess"].is_true:
        yield ("privateIpGoogleAccess",), True


@resource_rule("PRJ009", kinds.FIREWALL)
def firewalls_are_closed_to_the_world(firewall: Resource, options: Options) -> Demands:
    """No rule allows ingress from every address."""
    open_ = ~firewall["direction"].one_of("EGRESS") & ~firewall["disabled"].is_true
    ranges, tagged = firewall["sourceRanges"], firewall["sourceTags"].is_set | firewall["sourceServiceAccounts"].is_set
    world = ranges.any(is_world) | (~ranges.is_set & ~tagged)
    for allowed in firewall["allows"].each():
        ports, anywhere = allowed["ports"], ranges.contains("0.0.0.0/0")
        at = {}
        for port, check in PORTS.items():
            at[check] = ports.test(lambda listed, port=port: _has(listed, port)) & anywhere
        at["CKV2_GCP_12"] = allowed["protocol"].one_of("all") & ranges.is_set
        like = " ".join(check for check, theirs in at.items() if theirs.holds)
        yield demand(~(open_ & world), ranges, "the whole internet has access", like=like)


@resource_rule("PRJ009", kinds.FIREWALL_POLICY)
def firewall_policies_are_closed_to_the_world(policy: Resource, options: Options) -> Demands:
    """No rule allows ingress from the internet, from countries or from Google's lists, nor passes it to inspection."""
    for rule in policy["rules"].each() if "WithRules:" in policy.type else (policy.props,):
        match = rule["match"]
        ingress = ~rule["direction"].one_of("EGRESS") & ~rule["action"].one_of("deny", "goto_next")
        inside = any_of(match[name].one_of(*kinds.NOT_INTERNET) for name in ("srcNetworkContext", "srcNetworkScope"))
        world = match["srcIpRanges"].any(is_world) | ~any_of(match[name].is_set for name in kinds.SOURCES)
        open_ = ingress & ~rule["disabled"].is_true & ~inside
        remedy = "set srcIpRanges to your own networks, or use Identity-Aware Proxy"
        yield demand(~(open_ & world), match["srcIpRanges"], "the whole internet has access", remedy=remedy)
        for at in (match["srcRegionCodes"], match["srcThreatIntelligences"]):
            text = "machines that are not yours have access from the internet"
            yield demand(~(open_ & at.is_set), at, text, remedy=f"remove {at.path}, and {remedy}")


def _has(ports: Any, wanted: int) -> bool:
    """Whether a port is in a list of numbers and of ranges such as 1024-65535."""
    for text in ports or ():
        first, _, last = str(text).partition("-")
        if first.strip().isdigit() and int(first) <= wanted <= int(last or first):
            return True
    return False


@resource_rule("PRJ010", kinds.CRYPTO_KEY)
def keys_are_rotated_and_kept(key: Resource, options: Options) -> Demands:
    """A new version every 90 days, and protection, because data is lost with its key.

    Cloud KMS does not rotate imported keys and keys of another key manager on the internet. It rotates EXTERNAL_VPC
    keys if their connection has the mode CLOUD_KMS (cloud.google.com/kms/docs/ekm#ekm-management-mode).
    """
    at = key["rotationPeriod"]
    manual = key["importOnly"].is_true | key["versionTemplate.protectionLevel"].one_of("EXTERNAL")
    rotated = at.test(lambda period: DAY <= _seconds(period) <= 90 * DAY)
    rotated |= key["purpose"].one_of(*kinds.NOT_ROTATED) | manual
    yield demand(rotated, at, "the key is not rotated in time; allowed: 86400s to 7776000s", like="CKV_GCP_43")
    text = "data that the key has encrypted is lost if the key is deleted"
    yield demand(key.protect, key.props, text, like="CKV_GCP_82", remedy="set the resource option protect")


def _seconds(duration: object) -> float:
    text = str(duration or "").removesuffix("s")
    return float(text) if text.replace(".", "", 1).isdigit() else 0
