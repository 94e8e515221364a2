"""A plan and its mistakes in a terminal and as JSON."""

import re
import shutil
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic.alias_generators import to_camel
from rich.console import Console
from rich.table import Table

from tpuplane.plan import PlatformPlan
from tpuplane.plan.summary import PoolSummary
from tpuplane.quantities import counted
from tpuplane.spec import SpecError
from tpuplane.spec.core.errors import dotted
from tpuplane.tpu import Slice

# Tables are never cut: in a file, a pipe or a narrow terminal, they are as wide as necessary.
_LEAST_WIDTH = 160


def console() -> Console:
    """Standard output without automatic colours."""
    width = max(_LEAST_WIDTH, shutil.get_terminal_size().columns)
    return Console(highlight=False, width=width, soft_wrap=True)


def plain_table(title: str | None, *columns: str, right: int) -> Table:
    """A plain table whose last `right` columns are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if index >= len(columns) - right else "left"
        table.add_column(column, justify=justify, no_wrap=True)
    return table


def show(platform: PlatformPlan) -> None:
    """Print clusters, pools, slices and chips at full scale, and `ok`."""
    table = plain_table(None, "cluster, pool", "slice", "location", "capacity", "slices", "hosts", "chips", right=3)
    for cluster in platform.clusters:
        table.add_row(f"[bold]{cluster.name}[/bold]", "", cluster.location)
        for pool in PoolSummary.of(cluster.pools):
            what, slices, units = pool.shape, pool.pieces, str(pool.units)
            if not pool.has_slices:
                what, slices, units = pool.hardware.machine.name, "", counted(pool.units, "GPU")
            table.add_row(f"  {pool.name}", what, pool.zone, pool.capacity, slices, str(pool.max_nodes), units)
    out = console()
    out.print(f"[bold]{platform.name}[/bold] in project {platform.project}\n")
    out.print(table)
    units = counted(platform.chips, "chip") + (f", {counted(platform.gpus, 'GPU')}" if platform.gpus else "")
    out.print(f"\n[green]ok[/green]: {counted(len(platform.clusters), 'cluster')}, {units}")


def as_json(platform: PlatformPlan) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "ok": True,
        **values_of(platform, "name", "project", "chips", "gpus"),
        "clusters": [
            {
                "name": cluster.name,
                "location": cluster.location,
                "pools": [pool_as_json(pool) for pool in PoolSummary.of(cluster.tpu_pools)],
                "gpuPools": [pool_as_json(pool) for pool in PoolSummary.of(cluster.gpu_pools)],
            }
            for cluster in platform.clusters
        ],
    }


def values_of(source: object, *names: str) -> dict[str, Any]:
    """Attributes of an object as plain values, with names in camel case."""
    found = ((name, getattr(source, name)) for name in names)
    return {to_camel(name): list(value) if isinstance(value, tuple) else value for name, value in found}


def pool_as_json(pool: PoolSummary) -> dict[str, Any]:
    """A pool of slices, or of GPU nodes."""
    hardware = pool.hardware
    place = {"machineType": hardware.machine.name, "zone": pool.zone, "capacity": pool.capacity}
    if isinstance(hardware, Slice):
        return {
            "name": pool.name,
            "generation": hardware.generation.name,
            "topology": hardware.topology,
            **place,
            **values_of(pool, "min_slices", "max_slices"),
            "hostsPerSlice": hardware.hosts,
            "chips": pool.units,
            "nodePools": list(pool.node_pools),
        }
    return {
        "name": pool.name,
        "accelerator": hardware.machine.accelerator.name,
        "gpusPerNode": pool.node_units,
        **place,
        **values_of(pool, "min_nodes", "max_nodes"),
        "gpus": pool.units,
    }


def mistakes_as_json(error: SpecError) -> dict[str, Any]:
    """The listed mistakes as plain values, with `where` they are (`file:line`), and the number of `more`."""
    return {
        "ok": False,
        "mistakes": [
            {"path": dotted(mistake.path), "message": mistake.message, "where": mistake.where}
            for mistake in error.listed
        ],
        "more": error.rest,
    }


def code(text: str) -> str:
    """A code span of Markdown for a cell of a table, which no character of the text ends."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    cell = text.replace("\\", "\\\\").replace("|", "\\|")
    return f"{fence}{space}{cell}{space}{fence}"


def markdown_rows(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, right: int = 0) -> Iterator[str]:
    """The lines of a table in Markdown, whose last `right` columns are numbers."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) - right)}{'---:|' * right}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
