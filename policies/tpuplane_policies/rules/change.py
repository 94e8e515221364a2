"""What a change may do to what runs, and that the gate saw enough to judge."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.ledger import Ledger
from tpuplane_policies.core.plans import Plan, Step
from tpuplane_policies.core.registry import plan_rule, resource_rule, rules, stack_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack, matches
from tpuplane_policies.core.values import Truth, Value
from tpuplane_policies.rules.gpus import gpus_per_node
from tpuplane_policies.rules.kinds import CRD, K8S_PROVIDER
from tpuplane_policies.rules.pools import node_range, tpu_hosts

REPLACING = ("replace", "create-replacement", "delete-replaced")
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
        pools = [it for it in _replaced(plan, POOL) if it.resource["cluster"].raw == step.resource["name"].raw]
        text = f"the plan replaces this cluster for {', '.join(step.fields) or 'a dependency'}, and {len(pools)} pools"
        approved = step.resource.name in options["approved"]
        yield demand(approved, Value(None), f"{text}; all that runs in it ends", step.resource)


@plan_rule("REP002")
def replaced_pools_are_approved(plan: Plan, options: Options) -> Demands:
    """A replaced pool ends what runs on its nodes, and they may not come back."""
    for step in _replaced(plan, POOL):
        pool = step.old or step.resource
        text = (
            f"the plan replaces this pool for {', '.join(step.fields) or 'a dependency'}: {_lost(pool)} go, "
            f"for {options['minutes']:g} minutes at least and until Google has them again"
        )
        yield demand(step.resource.name in options["approved"], Value(None), text, step.resource)


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
    if not any(step.resource.type == "gcp:container/cluster:Cluster" for step in plan.steps):
        return
    for step in plan.steps:
        if step.new and step.new.type.startswith("kubernetes:") and step.options.get("custom", True):
            yield demand(bool(step.options.get("deletedWith")), Value(None), "has no deletedWith", step.new)


@resource_rule("REP005", CRD)
def crds_are_protected(crd: Resource, options: Options) -> Demands:
    """Deleting a definition deletes every object of its kind."""
    yield demand(crd.protect, crd["metadata.name"], "this definition is not protected")


def report_undecided(ledger: Ledger) -> None:
    """Tell the rules below which ledger is theirs: one for each pack that is served."""
    _current[:] = [ledger]


_current: list[Ledger] = []


@stack_rule("REP006")
def the_gate_was_not_blind(stack: Stack, options: Options) -> Demands:
    """Every rule that counts, and that had something to judge, came to decide at least once."""
    counting = options["mandatory"] or [rule.id for rule in rules() if rule.level == "mandatory"]
    for ledger in _current:
        for rule in counting:
            record = ledger.records.get(rule)
            if record is not None:
                text = f"{rule} could not decide anything: not known yet are {_first(record.undecided)}"
                yield demand(record.decided > 0, Value(None), text)


@stack_rule("REP008")
def what_is_still_open(stack: Stack, options: Options) -> Demands:
    """One line for each rule that has properties left to judge."""
    for ledger in _current:
        for rule, record in ledger.records.items():
            yield demand(not record.undecided, Value(None), f"{rule} cannot decide yet on {_first(record.undecided)}")


def _first(undecided: dict[str, None], count: int = 4) -> str:
    shown = list(undecided)[:count]
    return "; ".join(shown) + (f" and {len(undecided) - count} more" if len(undecided) > count else "")


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
