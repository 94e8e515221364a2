"""`tpuplane plan` in a terminal: planned resources, IP addresses and cost."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from tpuplane.cli.plan_queues import HEADS, Row, quota_rows
from tpuplane.cli.render import console, plain_table
from tpuplane.cost import Amount, PlatformCost, Rate, Sum, charging, citation
from tpuplane.plan import ClusterPlan, PlatformPlan
from tpuplane.plan.cluster import DEFAULT_CLASS
from tpuplane.plan.file_systems import InstancePlan
from tpuplane.plan.storage import BucketPlan
from tpuplane.plan.summary import PoolSummary, RangeUse, spread, system_nodes
from tpuplane.quantities import counted, singular

_ESTIMATED = "~"
_INCOMPLETE = "+"


def show_plan(platform: PlatformPlan, costs: PlatformCost, *, estimated: bool) -> None:
    """Print the whole plan. `estimated`: prices of other regions replace missing ones."""
    out = console()
    network = f", network {platform.network.name}" if platform.network.subnets else ""
    out.print(f"[bold]{platform.name}[/bold] in project {platform.project}{network}\n")
    out.print(_platform(platform))
    if any(cluster.compute_classes for cluster in platform.clusters):
        out.print(_classes(platform))
    for title, columns, rows, right in _listed(platform):
        table = plain_table(f"\n{title}", *columns, right=right)
        for row in rows:
            table.add_row(*row)
        if rows:
            out.print(table)
    if any(any(_ranges(cluster)) for cluster in platform.clusters):
        out.print(_addresses(platform))
    out.print(_costs(platform, costs))
    _footnotes(out, costs, estimated=estimated)


def _listed(platform: PlatformPlan) -> Iterator[tuple[str, Row, list[Row], int]]:
    """The tables of repositories, storage and quotas: title, columns, rows, and how many columns are numbers."""
    teams = ("read by", "read and written by")
    rows: list[Row] = [(own.address, own.source or "", ", ".join(own.writers)) for own in platform.images]
    yield "Repositories for images", ("address", "copies images of", "who can push"), rows, 0
    rows = [
        (own.name, own.purpose, "existing" if own.existing else own.location, *_teams(own)) for own in platform.storage
    ]
    yield "Buckets", ("bucket", "purpose", "location", *teams), rows, 0
    rows = [(own.name, own.zone, *_teams(own), f"{own.capacity_gib:,}", str(own.throughput)) for own in platform.lustre]
    yield "Managed Lustre", ("instance", "zone", *teams, "GiB", "MBps per TiB"), rows, 2
    rows = [(own.name, own.location, own.tier, *_teams(own), f"{own.capacity_gib:,}") for own in platform.filestore]
    yield "Filestore", ("instance", "location", "tier", *teams, "GiB"), rows, 1
    disks = ((cluster.name, disk) for cluster in platform.clusters for disk in cluster.disks)
    rows = [(cluster, disk.name, disk.type, disk.size) for cluster, disk in disks]
    yield "Disks of pods", ("cluster", "storage class", "type", "size"), rows, 1
    yield "Quotas of the teams", HEADS, list(quota_rows(platform)), 3


def _teams(plan: BucketPlan | InstancePlan) -> tuple[str, str]:
    """The teams that read it, and those that also write."""
    return ", ".join(plan.readers), ", ".join(plan.writers)


def _platform(platform: PlatformPlan) -> Table:
    columns = ("cluster, pool", "slice", "machine type", "location", "capacity")
    table = plain_table("Planned resources", *columns, "node pools", "slices", "hosts", "chips", right=4)
    for cluster in platform.clusters:
        table.add_row(f"[bold]{cluster.name}[/bold]", "", "", cluster.location)
        for pool in PoolSummary.of(cluster.pools):
            where = (pool.shape, pool.hardware.machine.name, pool.zone, pool.capacity)
            slices, noun = (pool.pieces, "") if pool.has_slices else ("", " GPUs")
            units = singular(spread(pool.min_units, pool.units) + noun)
            counts = (str(len(pool.node_pools)), slices, spread(pool.min_nodes, pool.max_nodes))
            table.add_row(f"  {pool.name}", *where, *counts, units)
        if cluster.auto_provisioning is not None:
            for limit in cluster.auto_provisioning.tpu:
                where = (limit.generation, "", ", ".join(cluster.auto_provisioning.zones), "on demand of pods")
                table.add_row("  auto-provisioned", *where, "", "", "", f"up to {limit.up_to}")
        if (system := cluster.system_pool) is None:
            continue
        zones = f"{len(system.zones)} zones" if len(system.zones) > 1 else system.zones[0] if system.zones else ""
        nodes = spread(*system_nodes(cluster))
        table.add_row(f"  {system.name}", "", system.machine_type, zones, system.capacity, "1", "", nodes, "")
    pools = [pool for cluster in platform.clusters for pool in PoolSummary.of(cluster.pools)]
    tpus = [pool for pool in pools if pool.has_slices]
    node_pools = sum((cluster.system_pool is not None) + len(cluster.pools) for cluster in platform.clusters)
    sizes = [*map(system_nodes, platform.clusters), *((pool.min_nodes, pool.max_nodes) for pool in pools)]
    slices = spread(sum(pool.min_slices for pool in tpus), sum(pool.max_slices for pool in tpus))
    chips = spread(sum(pool.min_units for pool in tpus), platform.chips)
    if len(tpus) < len(pools):
        gpus = spread(sum(pool.min_units for pool in pools if not pool.has_slices), platform.gpus)
        chips += singular(f", {gpus} GPUs")
    hosts = spread(*map(sum, zip(*sizes, strict=True)))
    table.add_row("[bold]in all[/bold]", "", "", "", "", str(node_pools), slices, hosts, chips)
    return table


def _classes(platform: PlatformPlan) -> Table:
    table = plain_table("\nCompute classes", "cluster, class", "tried in this order", "for namespaces", right=0)
    for cluster in platform.clusters:
        if cluster.compute_classes:
            table.add_row(f"[bold]{cluster.name}[/bold]")
        for own_class in cluster.compute_classes:
            everyone = "every pod without a class" if own_class.name == DEFAULT_CLASS else ""
            wide = ", ".join(own_class.default_namespaces) or everyone
            for index, priority in enumerate(own_class.priorities):
                first = index == 0
                table.add_row(f"  {own_class.name}" if first else "", f"{index + 1}. {priority}", wide if first else "")
    return table


def _addresses(platform: PlatformPlan) -> Table:
    table = plain_table("\nAddresses at full scale", "cluster", "range", "", "addresses", "taken", "", right=3)
    for cluster in platform.clusters:
        for index, use in enumerate(_ranges(cluster)):
            table.add_row(cluster.name if index == 0 else "", *use)
    return table


def _ranges(cluster: ClusterPlan) -> Iterator[tuple[str, ...]]:
    for use in RangeUse.of(cluster):
        if use.used is None:
            taken = ("by Services", "")
        else:
            share = use.used / use.size
            taken = (f"{use.used:,}", f"{share:.0%}" if share >= 0.005 else "<1%")
        yield use.name, use.cidr, f"{use.size:,}", *taken
    if (plane := cluster.control_plane.master_cidr) is not None:
        yield "control plane", plane, "16", "16", "100%"


def _costs(platform: PlatformPlan, costs: PlatformCost) -> Table:
    columns = ("chip-hour", "hour, min", "hour, max", "month, min", "month, max")
    title = "chips and GPUs" if platform.gpus else "the chips"
    table = plain_table(f"\nCost of {title} in USD, list prices", "cluster, pool", "price of", *columns, right=5)
    for cluster in platform.clusters:
        table.add_row(f"[bold]{cluster.name}[/bold]", "", "", *_amounts(costs.of_cluster(cluster.name)))
        for pool in costs.pools:
            if pool.cluster == cluster.name:
                table.add_row(f"  {pool.pool.name}", *_price(pool.rate), *_amounts(pool.sum))
    table.add_row("[bold]by capacity[/bold]")
    for capacity, amount in costs.by_capacity.items():
        table.add_row(f"  {capacity}", "", "", *_amounts(amount))
    table.add_row("[bold]in all[/bold]", "", "", *_amounts(costs.total))
    if costs.provisioned:
        table.add_row("[bold]auto-provisioned in addition, up to[/bold]")
    for provisioned in costs.provisioned:
        most = provisioned.up_to
        at = (_marked(most, f"{most.usd_per_hour:,.2f}"), "", _marked(most, f"{most.usd_per_month:,.0f}"))
        table.add_row(f"  {provisioned.cluster} {provisioned.limit.generation}", *_price(provisioned.rate), "", *at)
    return table


def _price(rate: Rate) -> tuple[str, str]:
    if (price := rate.price) is None:
        return "not on record", "?"
    mark = _ESTIMATED if rate.stand_in else ""
    where = f" in {price.region}" if rate.stand_in else ""
    return f"{price.as_of or 'undated'}{where}", f"{mark}{price.usd_per_chip_hour:.4f}"


def _amounts(amounts: Sum) -> tuple[str, ...]:
    both = amounts.min, amounts.max
    hours = (_marked(amount, f"{amount.usd_per_hour:,.2f}") for amount in both)
    return (*hours, *(_marked(amount, f"{amount.usd_per_month:,.0f}") for amount in both))


def _marked(amount: Amount, usd: str) -> str:
    if not amount.known:
        return "?"
    return f"{_ESTIMATED if amount.estimated else ''}{usd}{_INCOMPLETE if amount.missing else ''}"


def _footnotes(out: Console, costs: PlatformCost, *, estimated: bool) -> None:
    out.print(
        f"\nmin: autoscaled pools at their minimum; max: all at full scale. A month is {charging().hours_per_month} "
        f"hours. Not included: {'; '.join(charging().not_included)}."
    )
    if costs.prices:
        out.print(f"The oldest price is from {costs.oldest or 'an unknown date'}. Sources of prices:")
    for key in costs.sources:
        out.print(f"  {citation(key)}")
    for capacity, note in costs.notes.items():
        out.print(f"{capacity}: {note}.")
    total = costs.total.max
    if total.estimated:
        out.print(f"[yellow]{_ESTIMATED}[/yellow] estimated with the price of another region.")
    for pool in costs.pools:
        if pool.rate.price is None and pool.path in total.missing:
            out.print(f"[yellow]? {pool.path}[/yellow]: {pool.rate.reason}")
    if total.missing:
        without = counted(len(total.missing), "pool")
        hint = "" if estimated else " (--estimate uses prices of other regions)"
        out.print(f"{_INCOMPLETE} incomplete: {without} without a price{hint}")
