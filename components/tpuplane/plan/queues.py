"""Queues: the quota of each team in each flavor, from the teams and the pools of a cluster."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tpuplane.labels import GPU, TPU
from tpuplane.plan import queue_model as model
from tpuplane.plan.file_systems import file_system_claims
from tpuplane.plan.flavors import CUBE_TOPOLOGY, ELASTIC, flavor_of, flavors, topologies
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.storage import claim_plans
from tpuplane.spec import ClusterSpec, PlatformSpec
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.classes.of_cluster import namespace_classes
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.queues.kueue_checks import managed
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.queues.teams import TeamClusterSpec

COVERED = (TPU, "cpu", "memory", "ephemeral-storage")
"""All resources that TPU pods request. Kueue never admits a pod with a resource that its queue does not cover (xpk
issue 603)."""


def queues_plan(
    spec: PlatformSpec, key: str, pools: tuple[NodePoolPlan, ...], *, system_pool: bool
) -> model.QueuesPlan | None:
    """Kueue's objects in the cluster `key`; None if no team uses it."""
    if not (teams := {name: team for name, team in spec.teams.items() if key in team.clusters}):
        return None
    classes = namespace_classes(spec, key)
    used = {pool for team in teams.values() for _, pool in team.clusters[key].quotas}
    queues, own_pools = spec.queues, (pool for pool in pools if pool.pool in used)
    possible = flavors(own_pools, queues.capacity_order, system_pool=system_pool)
    shares = {name: _shares(possible, team.clusters[key], pools) for name, team in teams.items()}
    covered = (*COVERED, GPU) if any(GPU in flavor.per_slice for flavor in possible) else COVERED
    cluster_queues = tuple(
        queue for name in teams for queue in _cluster_queues(spec, key, name, possible, shares[name], covered)
    )
    wanted = {quota.flavor for queue in cluster_queues for quota in queue.flavors}
    found = tuple(flavor for flavor in possible if flavor.name in wanted)
    return model.QueuesPlan(
        topologies=topologies(found),
        flavors=found,
        priorities=queues.priorities,
        cohort=spec.name,
        shared=tuple(_shared(found, shares.values(), covered)),
        cluster_queues=cluster_queues,
        teams=tuple(
            model.TeamPlan(
                name,
                tuple(
                    model.NamespacePlan(
                        own,
                        classes.get(own),
                        team.pod_security,
                        (*claim_plans(spec, key, name, own), *file_system_claims(spec, key, name, own)),
                    )
                    for own in namespaces_of(name, team)
                ),
                local_queues(name, team.queue, cluster_queues),
                members=tuple(_member(member) for member in team.members),
                launcher=launcher_plan(spec.clusters[key], name),
            )
            for name, team in teams.items()
        ),
        covered=covered,
        strategy=queues.strategy,
        preemption=queues.preemption,
        fair_sharing=queues.fair_sharing,
        kinds=other_kinds(spec.clusters[key]),
    )


def local_queues(team: str, name: str, queues: Iterable[model.ClusterQueuePlan]) -> dict[str, str]:
    """A team's local queues: `name`-elastic is for its autoscaled pools, and so is `name` if it has only such pools."""
    own = {queue.name: queue for queue in queues if queue.team == team}
    elastic = {f"{name}{ELASTIC}": queue for queue in own if queue != team}
    placed = team in own and (len(own[team].flavors) > 1 or not elastic)
    return {name: team if placed else [*own][-1], **elastic}


@dataclass(slots=True)
class Share:
    """The sum of quotas of one flavor: of the pools of a team, or of the workers of a manager."""

    own: float = 0
    borrowing: float | None = 0
    lending: float | None = None

    def add(self, own: float, borrowing: float | None, lending: float | None) -> None:
        """Add a quota. Without limits, a team borrows any amount, and lends all of its own quota."""
        self.borrowing = None if self.borrowing is None or borrowing is None else self.borrowing + borrowing
        if self.lending is not None or lending is not None:
            # A part without a limit lends all of its own quota, but not the quota that another part keeps.
            so_far = self.own if self.lending is None else self.lending
            self.lending = so_far + (own if lending is None else lending)
        self.own += own


def _shares(
    found: tuple[model.FlavorPlan, ...], team: TeamClusterSpec, pools: tuple[NodePoolPlan, ...]
) -> dict[str, Share]:
    shares: dict[str, Share] = defaultdict(Share)
    for (_, key), quota in team.quotas.items():
        members = [pool for pool in pools if pool.pool == key]
        if (flavor := flavor_of(found, members)) is not None:
            amounts = (quota.own, quota.borrowing_limit, quota.lending_limit)
            offered = members[0].offered
            own, *limits = (None if amount is None else quota.parts(amount, offered) for amount in amounts)
            shares[flavor].add(own or 0, *limits)
    return shares


def _cluster_queues(
    spec: PlatformSpec,
    key: str,
    name: str,
    found: tuple[model.FlavorPlan, ...],
    shares: dict[str, Share],
    covered: tuple[str, ...],
) -> Iterator[model.ClusterQueuePlan]:
    """The team's queue of flavors with a topology, which every team has, and its queue of flavors without one.

    A new pool of the team never moves a flavor to another queue, so running jobs keep their quota.
    """
    team, sliced = spec.teams[name], spec.clusters[key].slice_controller is True
    for placed in (True, False):
        cpu, *others = (flavor for flavor in found if (flavor.topology is not None) == placed)
        mine = [flavor for flavor in others if flavor.name in shares]
        if placed or mine:
            yield model.ClusterQueuePlan(
                name if placed else f"{name}{ELASTIC}",
                team=name,
                flavors=(
                    _cpu_quota(cpu, team.clusters[key], covered),
                    *(_quota(own, shares[own.name], covered) for own in mine),
                ),
                weight=team.weight if spec.queues.fair_sharing else None,
                namespaces=namespaces_of(name, team),
                checks=tuple(_checks(mine, sliced=sliced)),
            )


def _checks(mine: Sequence[model.FlavorPlan], *, sliced: bool) -> Iterator[model.CheckUsePlan]:
    yield from (model.CheckUsePlan(own.name, (own.name,)) for own in mine if own.provisioning is not None)
    # Not for the CPUs of the queue: their jobs need no slice.
    if sliced and (cubes := tuple(own.name for own in mine if own.topology == CUBE_TOPOLOGY.name)):
        yield model.CheckUsePlan(model.SLICE_CHECK, cubes)


def _cpu_quota(flavor: model.FlavorPlan, cluster: TeamClusterSpec, covered: tuple[str, ...]) -> model.FlavorQuotaPlan:
    cpu = cluster.cpu
    amounts = {"cpu": cpu.cores, "memory": cpu.memory_gb, "ephemeral-storage": cpu.storage_gb}
    return model.FlavorQuotaPlan(
        flavor.name, tuple(model.ResourceQuotaPlan(name, amounts.get(name, 0)) for name in covered)
    )


def _quota(flavor: model.FlavorPlan, share: Share, covered: tuple[str, ...]) -> model.FlavorQuotaPlan:
    """Only chips or GPUs have limits. The other resources of a host follow them."""
    counted = GPU if GPU in flavor.per_slice else TPU

    def limit(resource: str, parts: float | None) -> float | None:
        return None if parts is None or resource != counted else flavor.amount(resource, parts)

    return model.FlavorQuotaPlan(
        flavor.name,
        tuple(
            model.ResourceQuotaPlan(
                resource,
                flavor.amount(resource, share.own),
                limit(resource, share.borrowing),
                limit(resource, share.lending),
            )
            for resource in covered
        ),
    )


def _shared(
    found: tuple[model.FlavorPlan, ...], shares: Collection[dict[str, Share]], covered: tuple[str, ...]
) -> Iterator[model.FlavorQuotaPlan]:
    """The quota of each flavor that no team owns. It belongs to the cohort, so every team can borrow it."""
    for flavor in found:
        own = sum(share[flavor.name].own for share in shares if flavor.name in share)
        idle = flavor.slices * flavor.parts - own
        if idle > 0:
            yield _quota(flavor, Share(idle, borrowing=None), covered)


def _member(member: str) -> model.MemberPlan:
    """In Kubernetes, Google service accounts are also users, named by their e-mail address."""
    kind, _, name = member.partition(":")
    return model.MemberPlan("Group" if kind == "group" else "User", name)


def other_kinds(cluster: ClusterSpec) -> model.Kinds:
    """The managed kinds of users' own operators. The role of every team has the others."""
    known = addon_catalogue()
    kinds = {**known.kueue["multiKueue"]["kinds"], **known.kueue["localKinds"]}
    shipped = {kinds[name][0] for name in kinds if name in known.kueue["frameworks"] or known.bringing(name)}
    found = (tuple(kinds[name]) for name in managed(cluster) if name in kinds)
    return tuple((group, plural) for group, plural in found if group not in shipped)


def launcher_plan(cluster: ClusterSpec, team: str) -> model.LauncherPlan | None:
    """The cluster's Launch agent, if it starts jobs for the team."""
    agent, addon = cluster.addons.launch_agent, addon_catalogue().addons["launchAgent"]
    if agent is None or team not in agent.teams or addon.secret is None:
        return None
    return model.LauncherPlan(addon.namespace, spec_data("addons")["launchAgent"]["account"], addon.secret)
