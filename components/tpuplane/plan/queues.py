"""Queues: who has how much of which flavor, from the teams and the pools of a cluster."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tpuplane.labels import GPU, TPU
from tpuplane.plan.flavors import ELASTIC, TOPOLOGIES, flavor_of, flavors
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.plan.queue_model import (
    CheckUsePlan,
    ClusterQueuePlan,
    FlavorPlan,
    FlavorQuotaPlan,
    LauncherPlan,
    MemberPlan,
    NamespacePlan,
    QueuesPlan,
    ResourceQuotaPlan,
    TeamPlan,
)
from tpuplane.spec import ClusterSpec, PlatformSpec
from tpuplane.spec.addons.catalogue import addon_catalogue
from tpuplane.spec.classes.of_cluster import namespace_classes
from tpuplane.spec.queues.team_checks import namespaces_of
from tpuplane.spec.queues.teams import TeamClusterSpec, TeamSpec

COVERED = (TPU, "cpu", "memory", "ephemeral-storage")
"""Every resource that TPU pods ask for: one that no queue covers is never admitted (xpk issue 603)."""


def queues_plan(
    spec: PlatformSpec, key: str, pools: tuple[NodePoolPlan, ...], *, system_pool: bool
) -> QueuesPlan | None:
    """What Kueue gets in the cluster `key`; None where no team has anything in it."""
    teams = {name: team for name, team in spec.teams.items() if key in team.clusters}
    if not teams:
        return None
    classes = namespace_classes(spec, key)
    used = {pool for team in teams.values() for _, pool in team.clusters[key].quotas}
    possible = flavors((it for it in pools if it.pool in used), spec.queues.capacity_order, system_pool=system_pool)
    shares = {name: _shares(possible, team.clusters[key], pools) for name, team in teams.items()}
    covered = (*COVERED, GPU) if any(GPU in flavor.per_slice for flavor in possible) else COVERED
    queues = spec.queues
    cluster_queues = tuple(
        queue
        for name, team in teams.items()
        for queue in _cluster_queues(
            name, team, team.clusters[key], possible, shares[name], covered, fair=queues.fair_sharing
        )
    )
    wanted = {quota.flavor for queue in cluster_queues for quota in queue.flavors}
    found = tuple(it for it in possible if it.name in wanted)
    return QueuesPlan(
        topologies=tuple(it for it in TOPOLOGIES if any(flavor.topology == it.name for flavor in found)),
        flavors=found,
        priorities=queues.priorities,
        cohort=spec.name,
        shared=_shared(found, shares, covered),
        cluster_queues=cluster_queues,
        teams=tuple(
            TeamPlan(
                name,
                tuple(NamespacePlan(own, classes.get(own), team.pod_security) for own in namespaces_of(name, team)),
                local_queues(team.queue, [it for it in cluster_queues if it.team == name]),
                members=tuple(_member(member) for member in team.members),
                launcher=launcher_plan(spec.clusters[key], name),
            )
            for name, team in teams.items()
        ),
        covered=covered,
        strategy=queues.strategy,
        preemption=queues.preemption,
        fair_sharing=queues.fair_sharing,
    )


def local_queues(name: str, queues: Sequence[ClusterQueuePlan]) -> dict[str, str]:
    """A team's local queues: `name`-elastic leads to its autoscaled pools; so does `name` where it has no others."""
    elastic = {f"{name}{ELASTIC}": it.name for it in queues if it.name != it.team}
    own = (it.name for it in queues if it.name == it.team and (len(it.flavors) > 1 or not elastic))
    return {name: next(own, queues[-1].name), **elastic}


class Share:
    """The sum of quotas of one flavor: of the pools that a team has, or of the workers that a manager hands work to."""

    def __init__(self) -> None:
        self.own = 0
        self.borrowing: int | None = 0
        self.lending: int | None = None

    def add(self, own: int, borrowing: int | None, lending: int | None) -> None:
        """Add a quota. Without a limit a team borrows without end, and lends all of its own."""
        self.borrowing = None if self.borrowing is None or borrowing is None else self.borrowing + borrowing
        if self.lending is not None or lending is not None:
            # Without a limit all of its own is lent, and no more: what another part keeps stays kept.
            so_far = self.own if self.lending is None else self.lending
            self.lending = so_far + (own if lending is None else lending)
        self.own += own


def _shares(found: tuple[FlavorPlan, ...], team: TeamClusterSpec, pools: tuple[NodePoolPlan, ...]) -> dict[str, Share]:
    shares: dict[str, Share] = defaultdict(Share)
    for (_, key), quota in team.quotas.items():
        members = [it for it in pools if it.pool == key]
        flavor = flavor_of(found, members)
        if flavor is not None:
            amounts = (quota.own, quota.borrowing_limit, quota.lending_limit)
            offered = members[0].offered
            own, *limits = (None if it is None else quota.parts(it, offered) for it in amounts)
            shares[flavor].add(own or 0, *limits)
    return shares


def _cluster_queues(
    name: str,
    team: TeamSpec,
    cluster: TeamClusterSpec,
    found: tuple[FlavorPlan, ...],
    shares: dict[str, Share],
    covered: tuple[str, ...],
    *,
    fair: bool,
) -> Iterator[ClusterQueuePlan]:
    """The team's queue of flavors with a topology, which every team has, and that of flavors without one.

    What else the team gets moves no flavor to another queue, so that work which runs keeps its quota.
    """
    for placed in (True, False):
        cpu, *others = (it for it in found if (it.topology is not None) == placed)
        mine = [it for it in others if it.name in shares]
        if placed or mine:
            yield ClusterQueuePlan(
                name if placed else f"{name}{ELASTIC}",
                team=name,
                flavors=(_cpu_quota(cpu, cluster, covered), *(_quota(it, shares[it.name], covered) for it in mine)),
                weight=team.weight if fair else None,
                namespaces=namespaces_of(name, team),
                checks=tuple(CheckUsePlan(it.name, (it.name,)) for it in mine if it.provisioning is not None),
            )


def _cpu_quota(flavor: FlavorPlan, cluster: TeamClusterSpec, covered: tuple[str, ...]) -> FlavorQuotaPlan:
    cpu = cluster.cpu
    amounts = {"cpu": cpu.cores, "memory": cpu.memory_gb, "ephemeral-storage": cpu.storage_gb}
    return FlavorQuotaPlan(flavor.name, tuple(ResourceQuotaPlan(it, amounts.get(it, 0)) for it in covered))


def _quota(flavor: FlavorPlan, share: Share, covered: tuple[str, ...]) -> FlavorQuotaPlan:
    """Limits are on chips or GPUs alone: the other resources of a host follow them."""
    counted = GPU if GPU in flavor.per_slice else TPU
    return FlavorQuotaPlan(
        flavor.name,
        tuple(
            ResourceQuotaPlan(
                resource,
                flavor.amount(resource, share.own),
                borrowing_limit=_limit(share.borrowing, flavor, resource) if resource == counted else None,
                lending_limit=_limit(share.lending, flavor, resource) if resource == counted else None,
            )
            for resource in covered
        ),
    )


def _limit(parts: int | None, flavor: FlavorPlan, resource: str) -> int | None:
    return None if parts is None else flavor.amount(resource, parts)


def _shared(
    found: tuple[FlavorPlan, ...], shares: dict[str, dict[str, Share]], covered: tuple[str, ...]
) -> tuple[FlavorQuotaPlan, ...]:
    """What is left of each flavor: the cohort's own, for the first team that asks."""
    left: list[FlavorQuotaPlan] = []
    for flavor in found:
        own = sum(of[flavor.name].own for of in shares.values() if flavor.name in of)
        idle = flavor.slices * flavor.parts - own
        if idle > 0:
            amounts = tuple(ResourceQuotaPlan(it, flavor.amount(it, idle)) for it in covered)
            left.append(FlavorQuotaPlan(flavor.name, amounts))
    return tuple(left)


def _member(member: str) -> MemberPlan:
    """Kubernetes knows Google's service accounts as users too, by their e-mail address."""
    kind, _, name = member.partition(":")
    return MemberPlan("Group" if kind == "group" else "User", name)


def launcher_plan(cluster: ClusterSpec, team: str) -> LauncherPlan | None:
    """The cluster's Launch agent, where it works for the team."""
    agent, addon = cluster.addons.launch_agent, addon_catalogue().addons["launchAgent"]
    if agent is None or team not in agent.teams or addon.account is None or addon.secret is None:
        return None
    return LauncherPlan(addon.namespace, addon.account, addon.secret)
