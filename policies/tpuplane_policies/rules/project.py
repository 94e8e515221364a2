"""Project, network, IAM and storage around the clusters."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import cast

import yaml

from tpuplane_policies.core.judging import Demands, Options, Repairs, demand
from tpuplane_policies.core.registry import repair_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, Resource
from tpuplane_policies.rules.kinds import (
    BUCKET,
    BUCKET_ACL,
    BUCKET_IAM,
    IAM,
    IAM_ABOVE,
    NETWORK,
    PROJECT,
    PROXIES,
    SUBNETWORK,
    WIF_PROVIDER,
)

PUBLIC = ("allUsers", "allAuthenticatedUsers")
ADMIN = re.compile("admin|editor|owner", re.IGNORECASE)


@resource_rule("PRJ001", PROJECT)
def no_default_network(project: Resource, options: Options) -> Demands:
    """Google makes one unless told not to."""
    at = project["autoCreateNetwork"]
    yield demand(
        at.one_of(False),
        at,
        "the project begins with an open default network; allowed: false",
        like="CKV_GCP_27 GCP-0010",
    )


@resource_rule("PRJ001", NETWORK)
def no_automatic_subnetworks(network: Resource, options: Options) -> Demands:
    """A subnetwork in every region of the world, with ranges that nobody chose."""
    at = network["autoCreateSubnetworks"]
    yield demand(at.one_of(False), at, "Google fills every region with a subnetwork; allowed: false")


@resource_rule("PRJ001", CLUSTER)
def clusters_are_not_in_the_default_network(cluster: Resource, options: Options) -> Demands:
    """A cluster that names no network gets the default one."""
    at = cluster["network"]
    default = at.test(lambda it: it in (None, "default") or str(it).endswith("/networks/default"))
    yield demand(~default, at, "the cluster is in the default network")


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
    if used and subnetwork["privateIpGoogleAccess"].is_true.holds is False:
        yield ("privateIpGoogleAccess",), True


@resource_rule("PRJ003", IAM)
def no_basic_roles(binding: Resource, options: Options) -> Demands:
    """Roles of the time before IAM."""
    role = binding["role"]
    like = "CKV_GCP_117" if role.one_of("roles/viewer").holds else "CKV_GCP_117 CKV_GCP_49"
    yield demand(~role.one_of(*_roles()["basic"]), role, "a basic role holds thousands of permissions", like=like)


@resource_rule("PRJ004", IAM)
def nobody_is_every_account(binding: Resource, options: Options) -> Demands:
    """To act as an account is granted on that account, not on the project."""
    role = binding["role"]
    acting, further = _roles()["acting"], _roles()["acting through others"]
    text = "whoever has it acts as every service account of the project"
    yield demand(~role.one_of(*acting), role, text, like="CKV_GCP_41 CKV_GCP_49 GCP-0011")
    through = role.test(lambda it: it in further or str(it).endswith("erviceAgent"))
    yield demand(~through, role, "whoever has it can make itself a service account of the project", like="CKV_GCP_49")


@cache
def _roles() -> dict[str, list[str]]:
    """Roles by what they open."""
    text = files("tpuplane_policies").joinpath("data/roles.yaml").read_text(encoding="utf-8")
    return cast("dict[str, list[str]]", yaml.safe_load(text))


@resource_rule("PRJ005", IAM, IAM_ABOVE)
def no_account_is_admin(binding: Resource, options: Options) -> Demands:
    """Service accounts administrate nothing."""
    role = binding["role"]
    for member in [*binding["members"].each(), binding["member"]]:
        account = member.test(_is_account)
        like = "CKV_GCP_42 GCP-0007" if str(role.raw).lower().endswith(("admin", "/owner", "/editor")) else "CKV_GCP_42"
        admin = role.test(lambda it: ADMIN.search(str(it)) is not None)
        yield demand(~(admin & account), role, "a service account administrates the project", like=like)


def _is_account(member: object) -> bool:
    text = str(member)
    return text.startswith("serviceAccount:") or text.endswith(".iam.gserviceaccount.com")


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


@resource_rule("PRJ006", BUCKET_IAM, BUCKET_ACL)
def buckets_are_not_public(grant: Resource, options: Options) -> Demands:
    """Nobody is let in whom nobody knows."""
    for at in [*grant["members"].each(), grant["member"], grant["entity"]]:
        yield demand(~at.one_of(*PUBLIC), at, "the bucket is open to everybody", like="GCP-0001")


@resource_rule("PRJ007", WIF_PROVIDER)
def federated_identities_are_conditional(provider: Resource, options: Options) -> Demands:
    """Anybody has an account at GitHub; a condition says whose."""
    at = provider["attributeCondition"]
    yield demand(at.is_set, at, "every user of the identity provider is let in", like="GCP-0068")
