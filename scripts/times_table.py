"""The tables of docs/twin-failures.md, each between `<!-- generated: NAME -->` and `<!-- end -->`."""

import re

from tpuplane.data_files import read_data

from scripts.field_tables import markdown_table


def with_times(page: str) -> str:
    """The page with its tables."""
    times = read_data("tpuplane_twin.clock", "times")
    rows = [[f"`{name}`", f"{time['seconds']} s", time["sure"], time["source"]] for name, time in times.items()]
    kinds = read_data("tpuplane_twin.failures", "disruptions")
    means = [[f"`{name}`", kind["means"]] for name, kind in kinds.items()]
    page = _replaced(page, "times", markdown_table(("time", "on GKE", "how sure", "source"), rows))
    return _replaced(page, "disruptions", markdown_table(("kind", "what happens"), means))


def _replaced(page: str, name: str, table: str) -> str:
    region = re.compile(rf"(?<=<!-- generated: {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
    return region.sub(lambda _: table, page)
