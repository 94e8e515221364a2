"""Resource options that decide which resources a later change deletes. `core.run` reports undecided rules."""

import re

from tpuplane.quantities import counted

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.plans import Plan, Step
from tpuplane_policies.core.registry import plan_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, OURS, POOL, Resource, matches
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value
from tpuplane_policies.rules.kinds import CRD

REMOVING = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace")
NAMED = (CLUSTER, POOL, r"gcp:compute/(network|subnetwork|router|resourcePolicy):.*", r"gcp:serviceaccount/account:.*")
ORDERED = "add --show-replacement-steps to the preview, which then shows the order"
DELETE_FIRST = "set the option deleteBeforeReplace to true, or let Pulumi choose the name"
IDENTITY = ("name", "accountId", "project", "location", "region", "cluster")
"""The properties that identify a resource: two resources with the same name differ in one of them."""
FORCED = {"id", "provider", "replaceWith"}
"""The reasons of a replacement for which the engine does not ask the provider. See `losses._forcing` for `id`."""
FORCING = ("replaceOnChanges", "replacementTrigger")
"""The options that can force a replacement. The plan names no reason of their own."""
NAME_FIELD = {"gcp:serviceaccount/account:Account": "accountId"}


@plan_rule("REP004")
def objects_are_deleted_with_their_cluster(plan: Plan, options: Options) -> Demands:
    """Objects in a cluster of another stack are exempt, because deletedWith cannot name that cluster."""
    inside = _dependents(plan)
    for step in _managed(plan):
        provider = str(step.options.get("provider") or "").rpartition("::")[0]  # the URN, without the id
        custom = step.options.get("custom", True)
        if custom and step.resource.type.startswith("kubernetes:") and provider in inside:
            text = "after the deletion of its cluster, Pulumi cannot delete this object"
            yield demand(bool(step.options.get("deletedWith")), step.resource.props, text)
    _require_all_resources(plan)


@plan_rule("REP005")
def crds_are_kept(plan: Plan, options: Options) -> Demands:
    """The deletion of a definition deletes every object of its kind."""
    for step in _managed(plan):
        if matches((CRD,), step.resource.type):
            kept = bool(step.options.get("retainOnDelete") or step.options.get("protect"))
            yield demand(kept, step.resource.props, "would be deleted with its stack or component")
    _require_all_resources(plan)


def _managed(plan: Plan) -> list[Step]:
    """The resources that Pulumi deletes with the stack: all except external ones, which it only reads, as by `.get`."""
    return [step for step in plan.steps if step.op not in REMOVING and not step.options.get("external")]


def _dependents(plan: Plan) -> set[str]:
    """The URNs of the resources that depend on a cluster of the stack, also by others or by the cluster's component."""
    steps = {step.resource.urn: step for step in _managed(plan)}
    found = set[str]()
    for step in steps.values():
        above: Step | None = step if step.resource.type == CLUSTER else None
        while above:
            found.add(above.resource.urn)
            above = steps.get(above.options.get("parent", ""))
    size = -1
    while size < len(found):
        size = len(found)
        found |= {urn for urn, step in steps.items() if found.intersection(step.options.get("dependencies") or ())}
    return found


def _require_all_resources(plan: Plan) -> None:
    if plan.left_out:
        raise UndecidedError(Value(UNKNOWN, f"the plan omits {counted(plan.left_out, 'resource')}: use --show-sames"))


@resource_rule("REP007", *NAMED)
def named_resources_are_deleted_first(resource: Resource, options: Options) -> Demands:
    """Two resources cannot have the same name at the same time. A pool inside a cluster is replaced with it.

    Without the option, the provider deletes a resource with an explicit name first: nameRequiresDeleteBeforeReplace of
    https://github.com/pulumi/pulumi-terraform-bridge/blob/master/pkg/tfbridge/schema.go.
    """
    if not resource.path and resource.delete_before_replace is False:
        at = _name(resource)
        text = "the name is explicit, and Pulumi would create the replacement before it deletes the old resource"
        yield demand(~_is_explicit(at), at, text)


@plan_rule("REP007")
def replacements_are_deleted_first(plan: Plan, options: Options) -> Demands:
    """A provider asks for the deletion first only if it asks for the replacement, unlike replaceOnChanges.

    A plan does not show the option deleteBeforeReplace, which the components of this project set. A resource with
    `pendingReplacement` is deleted already: an earlier update was interrupted.
    """
    orders = ("create-replacement", "delete-replaced")
    first = {step.resource.urn: step.op for step in reversed(plan.steps) if step.op in orders}
    for step in plan.steps:
        new, at = step.resource, _name(step.resource)
        if step.op != "replace" or not matches(NAMED, new.type):
            continue
        gone = step.before_options.get("pendingReplacement")
        if gone or any(_differ(new[key], step.before[key]) for key in IDENTITY):
            continue
        hidden = Value(UNKNOWN, "the order of its replacement", new, remedy=ORDERED)
        forced = FORCED.intersection(step.fields) or any(map(step.options.get, FORCING))
        unknown = forced and new.urn not in first and OURS not in new.urn
        created = Truth(None, (hidden,)) if unknown else Truth(first.get(new.urn) == "create-replacement")
        text = "the name is explicit, and Pulumi creates the replacement before it deletes the old resource"
        yield demand(~(_is_explicit(at) & created), at, text, remedy=DELETE_FIRST)


def _differ(new: Value, old: Value) -> bool:
    """Whether two known names differ. The name of a cluster can be a path."""
    known = new.is_set.holds and old.is_set.holds
    return known and str(new.raw).rpartition("/")[2] != str(old.raw).rpartition("/")[2]


def _name(resource: Resource) -> Value:
    return resource[NAME_FIELD.get(resource.type, "name")]


def _is_explicit(name: Value) -> Truth:
    """Pulumi generates the logical name and seven hexadecimal digits. Some names are in lower case."""
    automatic = re.escape(name.resource.name) + "-[0-9a-f]{7}"
    return name.is_set & ~name.test(lambda text: re.fullmatch(automatic, str(text), re.IGNORECASE) is not None)
