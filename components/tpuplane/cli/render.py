"""How a plan and its mistakes look in a terminal, and as JSON."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from tpuplane.plan import NodePoolPlan, PlatformPlan
from tpuplane.spec import SpecError
from tpuplane.spec.errors import dotted
from tpuplane.tpu import Slice


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool as the user wrote it: the node pools of one key, added up."""

    name: str
    shape: Slice
    zone: str
    capacity: str
    min_slices: int
    max_slices: int
    node_pools: tuple[str, ...]

    @classmethod
    def of(cls, pools: Iterable[NodePoolPlan]) -> Iterator[PoolSummary]:
        """A summary for each of the user's pools, in their order."""
        for name, group in itertools.groupby(pools, key=lambda pool: pool.pool):
            members = list(group)
            shape = members[0].slice
            assert shape is not None  # noqa: S101 (only the system pool has none)
            low = sum(pool.autoscaling.min_nodes if pool.autoscaling else pool.max_nodes for pool in members)
            high = sum(pool.max_nodes for pool in members)
            yield cls(
                name=name,
                shape=shape,
                zone=", ".join(members[0].zones),
                capacity=members[0].capacity,
                min_slices=low // shape.hosts,
                max_slices=high // shape.hosts,
                node_pools=tuple(pool.name for pool in members),
            )

    @property
    def slices(self) -> str:
        """`2`, or `1-4` for a pool that scales."""
        fixed = self.min_slices == self.max_slices
        return str(self.max_slices) if fixed else f"{self.min_slices}-{self.max_slices}"

    @property
    def chips(self) -> int:
        """Chips at full scale."""
        return self.shape.chips * self.max_slices


def show(platform: PlatformPlan) -> None:
    """Print what the platform is: its clusters, pools, slices and chips at full scale, and `ok`."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("cluster, pool", "slice", "location", "capacity"):
        table.add_column(column, no_wrap=True)
    for column in ("slices", "hosts", "chips"):
        table.add_column(column, justify="right", no_wrap=True)
    for cluster in platform.clusters:
        table.add_row(f"[bold]{cluster.name}[/bold]", "", cluster.location)
        for pool in PoolSummary.of(cluster.tpu_pools):
            hosts = str(pool.shape.hosts * pool.max_slices)
            table.add_row(
                f"  {pool.name}", str(pool.shape), pool.zone, pool.capacity, pool.slices, hosts, str(pool.chips)
            )
    # Into a file or a pipe, the table is as wide as it needs to be.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(f"[bold]{platform.name}[/bold] in project {platform.project}\n")
    console.print(table)
    console.print(f"\n[green]ok[/green]: {_count(len(platform.clusters), 'cluster')}, {_count(platform.chips, 'chip')}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def as_json(platform: PlatformPlan) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "ok": True,
        "name": platform.name,
        "project": platform.project,
        "chips": platform.chips,
        "clusters": [
            {
                "name": cluster.name,
                "location": cluster.location,
                "pools": [
                    {
                        "name": pool.name,
                        "generation": pool.shape.generation.name,
                        "topology": pool.shape.topology,
                        "machineType": pool.shape.machine.name,
                        "zone": pool.zone,
                        "capacity": pool.capacity,
                        "minSlices": pool.min_slices,
                        "maxSlices": pool.max_slices,
                        "hostsPerSlice": pool.shape.hosts,
                        "chips": pool.chips,
                        "nodePools": list(pool.node_pools),
                    }
                    for pool in PoolSummary.of(cluster.tpu_pools)
                ],
            }
            for cluster in platform.clusters
        ],
    }


def mistakes_as_json(error: SpecError) -> dict[str, Any]:
    """The mistakes as plain values; `where` is `file:line`."""
    return {
        "ok": False,
        "mistakes": [
            {"path": dotted(mistake.path), "message": mistake.message, "where": mistake.where}
            for mistake in error.mistakes
        ],
    }
