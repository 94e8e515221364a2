"""Grants of IAM roles: on projects, folders, organizations and single resources."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator

from tpuplane.spec.core.texts import excluded

from tpuplane_policies.cel.branches import admitted
from tpuplane_policies.cel.terms import Reach
from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import data, resource_rule
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import UNKNOWN, Truth, Value, all_of
from tpuplane_policies.rules.kinds import ACL, DATASET, IAM, IAM_ABOVE, IAM_ANY, WIF_PROVIDER

ADMIN = re.compile("admin|editor|owner", re.IGNORECASE)


def grants(grant: Resource) -> Iterator[tuple[Value, tuple[Value, ...]]]:
    """Each role with its members, from an IAM member, binding or policy."""
    if "Policy:" not in grant.type:
        yield grant["role"], (*grant["members"].each(), *grant["member"].each())
        return
    at = grant["policyData"]
    policy = at.get({})
    for binding in Value(json.loads(policy) if isinstance(policy, str) else policy, at.path, grant)["bindings"].each():
        yield binding["role"], tuple(binding["members"].each())


def _like(grant: Resource) -> dict[str, str]:
    """Equivalent checks for the level of a grant: project, folder or organization."""
    level = grant.type.partition(":")[2].partition("/")[0]
    return defaultdict(str, {} if "Policy:" in grant.type else data("roles")["checks"][level])


@resource_rule("PRJ003", IAM, IAM_ABOVE)
def no_basic_roles(grant: Resource, options: Options) -> Demands:
    """The basic roles and the legacy basic roles."""
    like = _like(grant)
    for role, _ in grants(grant):
        also = "" if role.one_of("roles/viewer").holds else f" {like['through']}"
        text = "a basic role has thousands of permissions"
        yield demand(~role.one_of(*data("roles")["legacy"]), role, text, like=like["basic"] + also)
        yield demand(~role.one_of(*data("roles")["basic"]), role, text)


@resource_rule("PRJ004", IAM, IAM_ABOVE)
def no_impersonation_of_every_account(grant: Resource, options: Options) -> Demands:
    """Impersonation is granted on individual service accounts."""
    like = _like(grant)
    for role, members in grants(grant):
        text = "the role allows impersonation of every service account below"
        remedy = "grant the role on individual service accounts"
        acting = role.one_of(*data("roles")["acting"])
        yield demand(~acting, role, text, like=f"{like['acting']} {like['through']}", remedy=remedy)
        text, remedy = "the role gives indirect control of service accounts below", "grant a narrower role"
        through = role.one_of(*data("roles")["acting through others"])
        yield demand(~through, role, text, like=like["through"], remedy=remedy)
        needed = Truth(bool(members)) & all_of(member.test(_is_agent) for member in members)
        text, remedy = "only Google's service agents need this role", "grant a narrower role to other members"
        agent = role.test(lambda name: str(name).endswith("erviceAgent"))
        yield demand(~agent | needed, role, text, like=like["through"], remedy=remedy)


@resource_rule("PRJ005", IAM, IAM_ABOVE)
def no_account_is_admin(grant: Resource, options: Options) -> Demands:
    """Service accounts and workloads have no administrative roles."""
    for role, members in grants(grant):
        admin = role.test(lambda name: ADMIN.search(str(name)) is not None)
        narrow = role.test(lambda name: str(name).lower().endswith(("admin", "/owner", "/editor"))).holds
        like = "CKV_GCP_42 " if grant.type.startswith("gcp:projects/iAMMember:") else ""
        like += "GCP-0007" if narrow and "Policy:" not in grant.type else ""
        for member in members:
            text = "a service account is an administrator"
            yield demand(~(admin & member.test(is_account)), role, text, like=like)
            yield demand(~(admin & member.test(is_workload)), role, "a workload is an administrator")


@resource_rule("PRJ012", IAM, IAM_ABOVE)
def default_accounts_have_no_roles(grant: Resource, options: Options) -> Demands:
    """Compute Engine's and App Engine's accounts, which Google creates in each project."""
    like = _like(grant)["default"]
    for _, members in grants(grant):
        for member in members:
            text = "every machine without its own service account gets the role"
            default = member.test(lambda name: is_of_google(name) and not _is_agent(name))
            yield demand(~default, member, text, like=like)


def _is_agent(member: object) -> bool:
    return re.fullmatch(data("roles")["agents"], str(member)) is not None


def is_of_google(account: object) -> bool:
    """Whether Google creates this service account in each project."""
    return excluded("serviceAccount", str(account).removeprefix("serviceAccount:")) is not None


def is_account(member: object) -> bool:
    """Whether the member is a service account."""
    text = str(member)
    return text.startswith("serviceAccount:") or text.endswith(".iam.gserviceaccount.com")


def is_workload(member: object) -> bool:
    """Whether the member has its identity from a workload identity pool, as the pods of a cluster have."""
    return re.match(r"principal(Set)?://iam\.googleapis\.com/.*/workloadIdentityPools/", str(member)) is not None


@resource_rule("PRJ007", WIF_PROVIDER)
def federated_identities_are_conditional(provider: Resource, options: Options) -> Demands:
    """The condition admits only identities of your own organization."""
    at = provider["attributeCondition"]
    yield demand(at.is_set, at, "every user of the identity provider has access", like="GCP-0068")
    if at.is_set:
        aws = not provider["aws"].one_of(None).holds
        verdict = admitted(str(at.get()), provider["attributeMapping"], aws=aws, own=options["claims"])
        reach, branch = verdict.reach, verdict.text
        unknown = verdict.unknown or (Value(UNKNOWN, f"{at.path}: the identities that {branch} admits", provider),)
        limits = Truth(None, unknown) if reach is Reach.UNDECIDED else Truth(reach is not Reach.EVERYONE)
        yield demand(limits, at, f"{branch} admits users of other organizations")


@resource_rule("PRJ008", IAM_ANY, ACL, DATASET)
def nothing_is_public(grant: Resource, options: Options) -> Demands:
    """No grant and no access list includes all users."""
    like = " ".join(check for kind, check in data("roles")["public"].items() if re.match(kind, grant.type))
    members = [member for _, named in grants(grant) for member in named]
    members += [
        part[name] for part in (grant.props, *grant["accesses"].each()) for name in ("specialGroup", "iamMember")
    ]
    lists = (grant["predefinedAcl"], grant["defaultAcl"], *grant["roleEntities"].each())
    for at in (*members, grant["entity"], *lists):
        public = at.test(lambda name: str(name).rpartition(":")[2] in data("roles")["anyone"])
        yield demand(~public, at, "every user of the internet has access", like=like)
