"""The data files of Google's API."""

from functools import cache
from typing import Any

from tpuplane.data_files import read_data


@cache
def data(name: str) -> dict[str, Any]:
    """The contents of `data/NAME.yaml` of this package."""
    return dict(read_data("tpuplane_twin.gcp", name))
