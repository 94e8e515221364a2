"""What a change may do to what runs. What the gate could not decide is `core.run`'s to say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.plans import Plan, Step
from tpuplane_policies.core.registry import plan_rule, resource_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, matches
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value
from tpuplane_policies.rules.gpus import gpus_per_node
from tpuplane_policies.rules.kinds import CRD, K8S_PROVIDER
from tpuplane_policies.rules.pools import node_range, tpu_hosts

REPLACING = ("replace", "create-replacement", "delete-replaced")
REMOVING = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace")
NAMED = (CLUSTER, POOL, r"gcp:compute/(network|subnetwork|router|resourcePolicy):.*", r"gcp:serviceaccount/account:.*")
NAME_FIELD = {"gcp:serviceaccount/account:Account": "accountId"}


def _replaced(plan: Plan, kind: str) -> Iterator[Step]:
    """Each replaced resource once: the engine names several steps for one."""
    seen: set[str] = set()
    for step in plan.steps:
        if step.op in REPLACING and matches((kind,), step.resource.type) and step.resource.urn not in seen:
            seen.add(step.resource.urn)
            yield step


@plan_rule("REP001")
def no_cluster_is_replaced(plan: Plan, options: Options) -> Demands:
    """A replaced cluster takes everything in it along."""
    for step in _replaced(plan, CLUSTER):
        pools = sum(1 for _ in _replaced(plan, POOL))
        text = f"the plan replaces this cluster for {', '.join(step.fields) or 'a dependency'}"
        yield demand(False, step.resource.props, f"{text}, and {pools} pools in all; everything in it ends")


@plan_rule("REP002")
def replaced_pools_are_approved(plan: Plan, options: Options) -> Demands:
    """A replaced pool ends what runs on its nodes, and they may not come back."""
    for step in _replaced(plan, POOL):
        text = (
            f"the plan replaces this pool for {', '.join(step.fields) or 'a dependency'}: {_lost(step.before)} are "
            f"away for {options['minutes']:g} minutes at least, and until Google has them again"
        )
        yield demand(False, step.resource.props, text)


def _lost(pool: Resource) -> str:
    hosts, nodes = tpu_hosts(pool), node_range(pool)[1]
    if hosts is not None:
        return f"{nodes * hosts.machine.chips} TPU chips"
    gpus = nodes * gpus_per_node(pool)
    return f"{gpus} GPUs" if gpus else f"{nodes} nodes"


@resource_rule("REP003", K8S_PROVIDER)
def the_provider_knows_its_cluster(provider: Resource, options: Options) -> Demands:
    """A kubeconfig changes for many reasons; the cluster's identity does not."""
    at = provider["clusterIdentifier"]
    yield demand(at.is_set, at, "a changed kubeconfig would replace every object in the cluster")


@plan_rule("REP004")
def objects_go_with_their_cluster(plan: Plan, options: Options) -> Demands:
    """Only where the stack has the cluster: objects of another stack's cluster have nothing to go with."""
    kept = [step for step in plan.steps if step.op not in REMOVING]
    if plan.left_out or any(step.resource.type == CLUSTER for step in kept):
        for step in kept:
            if step.resource.type.startswith("kubernetes:") and step.options.get("custom", True):
                yield demand(bool(step.options.get("deletedWith")), step.resource.props, "has no deletedWith")
    _whole(plan)


@plan_rule("REP005")
def crds_are_kept(plan: Plan, options: Options) -> Demands:
    """Deleting a definition deletes every object of its kind: it is kept, or Pulumi is not allowed to delete it."""
    for step in plan.steps:
        if step.op not in REMOVING and matches((CRD,), step.resource.type):
            kept = bool(step.options.get("retainOnDelete") or step.options.get("protect"))
            yield demand(kept, step.resource.props, "would be deleted with its stack or its component")
    _whole(plan)


def _whole(plan: Plan) -> None:
    """What the plan does not show is not decided."""
    if plan.left_out:
        shown = f"{plan.left_out} resources that the plan leaves out: make it with --show-sames"
        raise UndecidedError(Value(UNKNOWN, shown))


@resource_rule("REP007", *NAMED)
def named_things_go_before_they_come(it: Resource, options: Options) -> Demands:
    """Two things cannot have one name at once. A pool inside a cluster goes with it."""
    if it.path:
        return
    at = it[NAME_FIELD.get(it.type, "name")]
    named = at.is_set & ~at.test(lambda name: _automatic(str(name), it.name))
    yield demand(
        ~named | Truth(bool(it.delete_before_replace)),
        at,
        "an explicit name, and a replacement would be made before the old one is gone",
    )


def _automatic(name: str, logical: str) -> bool:
    """Whether Pulumi made the name: the logical one and seven hexadecimal digits."""
    return re.fullmatch(re.escape(logical) + "-[0-9a-f]{7}", name) is not None
