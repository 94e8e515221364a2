"""Teams, and their quotas in each pool."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, Namespaces
from tpuplane.spec.core.fields import Name, Namespace, Spec, text

PodSecurity = Literal["privileged", "baseline", "restricted"]
"""Levels of Kubernetes' Pod Security Standards, by the name that namespaces' labels have for them."""

# More than any cluster has. Kueue counts thousandths of a core and bytes in 64 bits, and 2^30 bytes are a GB here.
_MOST = 10**9

Member = Annotated[str, *text("member")]


class _QuotaSpec(Spec):
    """What quotas of TPU pools and of GPU pools have in common: exactly one of two units."""

    units: ClassVar[tuple[str, str]]

    @property
    def unit(self) -> str | None:
        """The unit that is set; None if both or neither are set."""
        written = [unit for unit in self.units if getattr(self, unit) is not None]
        return written[0] if len(written) == 1 else None

    @property
    def own(self) -> int:
        """The amount of the team, in the quota's unit."""
        found: int = getattr(self, self.unit) if self.unit else 0
        return found

    def parts(self, amount: int, offered: int) -> int:
        """An amount in the quota's unit, as slices or GPUs. A slice or a node has `offered` chips or GPUs."""
        if self.unit == "chips":
            return amount // offered
        return amount * offered if self.unit == "nodes" else amount


class PoolQuotaSpec(_QuotaSpec):
    """A team's quota in one pool, in slices or in chips. Other teams may borrow the unused part."""

    units = ("slices", "chips")

    slices: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Nominal quota in slices. Exactly one of `slices` and `chips`."""

    chips: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Nominal quota in chips, as a multiple of the chips of a slice."""

    borrowing_limit: InPlace[Annotated[int, Field(ge=0, le=_MOST)] | None] = None
    """Maximum that the team may borrow, in the unit of the quota. Default: no limit."""

    lending_limit: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Maximum of its unused quota that the team lends, in the unit of the quota. Default: all."""


class GpuQuotaSpec(_QuotaSpec):
    """A team's quota in one GPU pool, in nodes or in GPUs. Other teams may borrow the unused part."""

    units = ("nodes", "gpus")

    nodes: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Nominal quota in nodes, over all zones. Exactly one of `nodes` and `gpus`."""

    gpus: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Nominal quota in GPUs, as pods request them. A divided or shared GPU counts once for each container."""

    borrowing_limit: InPlace[Annotated[int, Field(ge=0, le=_MOST)] | None] = None
    """Maximum that the team may borrow, in the unit of the quota. Default: no limit."""

    lending_limit: InPlace[Annotated[int, Field(ge=0)] | None] = None
    """Maximum of its unused quota that the team lends, in the unit of the quota. Default: all."""


class CpuQuotaSpec(Spec):
    """A team's quota in the system pool, for Ray heads, coordinators and other work without chips."""

    cores: InPlace[Annotated[int, Field(ge=0, le=_MOST)]] = 16
    """CPU cores. Default 16."""

    memory_gb: InPlace[Annotated[int, Field(ge=0, le=_MOST)]] = 64
    """Memory in GB of 2^30 bytes, as Compute Engine counts it. Default 64."""

    storage_gb: InPlace[Annotated[int, Field(ge=0, le=_MOST)]] = 100
    """Ephemeral storage in GB. Default 100."""


class TeamClusterSpec(Spec):
    """A team's quotas in one cluster."""

    pools: InPlace[dict[Name, PoolQuotaSpec]] = Field(default_factory=dict)
    """Quotas in TPU pools of the cluster, by pool. Without one, the team can neither use nor borrow from the pool.
    Default: none."""

    gpu_pools: InPlace[dict[Name, GpuQuotaSpec]] = Field(default_factory=dict)
    """Quotas in GPU pools of the cluster, by pool. Without one, the team can neither use nor borrow from the pool.
    Default: none."""

    cpu: CpuQuotaSpec = CpuQuotaSpec()
    """Quota in the system pool."""

    @property
    def quotas(self) -> dict[tuple[str, str], PoolQuotaSpec | GpuQuotaSpec]:
        """Quotas in TPU pools, then in GPU pools, by the paths of the pools in the cluster."""
        tpu = {("pools", name): quota for name, quota in self.pools.items()}
        return {**tpu, **{("gpuPools", name): quota for name, quota in self.gpu_pools.items()}}


class TeamSpec(Spec):
    """A team. It has a cluster queue, and a local queue in each of its namespaces."""

    namespaces: Namespaces[Annotated[tuple[Namespace, ...], Field(min_length=1)] | None] = None
    """The team's namespaces, which are created in each of its clusters. Default: one with the team's name."""

    members: InPlace[tuple[Member, ...]] = ()
    """Members who may run work in the namespaces: group:, user: or serviceAccount: with an e-mail address. Default:
    only the project's administrators."""

    queue: Annotated[
        Name,
        Change("deletes-work", "A change replaces the queue, and jobs that name the old one wait.", source="queues"),
    ] = "default"
    """Name of the local queue in each namespace. Default `default`: Kueue assigns jobs without a queue name to it."""

    weight: InPlace[Annotated[float, Field(gt=0, le=1000)]] = 1.0
    """Share of the borrowable quota relative to the weights of other teams, with queues.fairSharing only. Kueue counts
    it in thousandths, rounded up. Default 1."""

    pod_security: Annotated[
        PodSecurity, Change("in-place", "Changed in place; running pods remain.", source="pod_security")
    ] = "baseline"
    """Level of the Pod Security Standards for pods of its namespaces. JobSets that xpk and tpu-recipes publish use the
    host's network and need `privileged`. Default `baseline`."""

    clusters: Annotated[
        Annotated[dict[Name, TeamClusterSpec], Field(min_length=1)],
        Change(
            new="creates",
            removed="deletes-work",
            source="namespaces",
            says={
                "new": "A new name creates the team's namespaces and queues in the cluster.",
                "removed": "A removed name deletes the team's namespaces and queues in the cluster with their work. A "
                "namespace that the file lists elsewhere keeps its work.",
            },
        ),
    ]
    """The team's quotas, by cluster."""
