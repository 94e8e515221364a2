"""The tables of docs/twin-failures.md, each between `<!-- generated: NAME -->` and `<!-- end -->`."""

from tpuplane.data_files import read_data

from scripts.field_tables import markdown_table, with_regions


def with_times(page: str) -> str:
    """The page with its tables."""
    times = read_data("tpuplane_twin.clock", "times")
    rows = [[f"`{name}`", f"{time['seconds']} s", time["sure"], time["source"]] for name, time in times.items()]
    kinds = read_data("tpuplane_twin.failures", "disruptions")
    means = [[f"`{name}`", kind["means"]] for name, kind in kinds.items()]
    table = markdown_table(("time", "on GKE", "how sure", "source"), rows)
    tables = {"times": table, "disruptions": markdown_table(("kind", "what happens"), means)}
    return with_regions(page, tables.__getitem__)
