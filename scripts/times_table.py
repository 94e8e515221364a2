"""The tables of docs/twin-failures.md, each between `<!-- generated: NAME -->` and `<!-- end -->`."""

from tpuplane.data_files import read_data

from scripts.field_tables import markdown_table, replaced


def with_times(page: str) -> str:
    """The page with its tables."""
    times = read_data("tpuplane_twin.clock", "times")
    rows = [[f"`{name}`", f"{time['seconds']} s", time["sure"], time["source"]] for name, time in times.items()]
    kinds = read_data("tpuplane_twin.failures", "disruptions")
    means = [[f"`{name}`", kind["means"]] for name, kind in kinds.items()]
    page = replaced(page, "times", markdown_table(("time", "on GKE", "how sure", "source"), rows))
    return replaced(page, "disruptions", markdown_table(("kind", "what happens"), means))
