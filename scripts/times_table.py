"""The table of times in docs/twin-failures.md, between `<!-- generated: times -->` and `<!-- end -->`."""

import re

from tpuplane.data_files import read_data

from scripts.field_tables import markdown_table

_REGION = re.compile(r"(?<=<!-- generated: times -->\n).*?(?=<!-- end -->)", re.DOTALL)
_COLUMNS = ("time", "on GKE", "how sure", "source")


def with_times(page: str) -> str:
    """The page with its table."""
    times = read_data("tpuplane_twin.clock", "times")
    rows = [[f"`{name}`", f"{time['seconds']} s", time["sure"], time["source"]] for name, time in times.items()]
    return _REGION.sub(lambda _: markdown_table(_COLUMNS, rows), page)
