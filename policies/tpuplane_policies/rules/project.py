"""Project, network, IAM and storage around the clusters."""

from __future__ import annotations

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.rules.kinds import BUCKET, CLUSTER, IAM, NETWORK, PROJECT, SUBNETWORK, WIF_PROVIDER

BASIC = ("roles/owner", "roles/editor", "roles/viewer")
IMPERSONATING = ("roles/iam.serviceAccountUser", "roles/iam.serviceAccountTokenCreator")


@resource_rule("PRJ001", PROJECT)
def no_default_network(project: Resource, options: Options) -> Demands:
    """Google makes one unless told not to."""
    at = project["autoCreateNetwork"]
    yield demand(at.one_of(False), at, "the project begins with an open default network; allowed: false")


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
    """Proxy-only and similar subnetworks have no machines."""
    if subnetwork["purpose"].one_of(None, "PRIVATE").holds:
        at = subnetwork["privateIpGoogleAccess"]
        yield demand(at.is_true, at, "private nodes reach Google's APIs through the NAT only")


@resource_rule("PRJ003", IAM)
def no_basic_roles(binding: Resource, options: Options) -> Demands:
    """Roles of the time before IAM."""
    yield demand(~binding["role"].one_of(*BASIC), binding["role"], "a basic role holds thousands of permissions")


@resource_rule("PRJ004", IAM)
def nobody_is_every_account(binding: Resource, options: Options) -> Demands:
    """To act as an account is granted on that account, not on the project."""
    role = binding["role"]
    yield demand(~role.one_of(*IMPERSONATING), role, "whoever has it acts as every service account of the project")


@resource_rule("PRJ005", IAM)
def no_account_is_admin(binding: Resource, options: Options) -> Demands:
    """Service accounts administrate nothing."""
    role = binding["role"]
    admin = role.test(lambda it: str(it).lower().endswith("admin") or it in BASIC[:2])
    for member in [*binding["members"].each(), binding["member"]]:
        account = member.test(lambda it: str(it).startswith("serviceAccount:"))
        yield demand(~(admin & account), role, "a service account administrates the project")


@resource_rule("PRJ006", BUCKET)
def buckets_are_kept(bucket: Resource, options: Options) -> Demands:
    """One way of access, no public, earlier versions kept, not deleted with its contents."""
    at = bucket["uniformBucketLevelAccess"]
    yield demand(at.is_true, at, "objects have access lists of their own")
    at = bucket["publicAccessPrevention"]
    yield demand(at.one_of("enforced"), at, "an object can be made public; allowed: enforced")
    at = bucket["versioning.enabled"]
    yield demand(at.is_true, at, "a checkpoint that is overwritten is gone")
    at = bucket["forceDestroy"]
    yield demand(~at.is_true, at, "the bucket is deleted with all that is in it")


@resource_rule("PRJ007", WIF_PROVIDER)
def federated_identities_are_conditional(provider: Resource, options: Options) -> Demands:
    """Anybody has an account at GitHub; a condition says whose."""
    at = provider["attributeCondition"]
    yield demand(at.is_set, at, "every user of the identity provider is let in")
