"""The data files of Google's API."""

from functools import cache, partial

from tpuplane.data_files import read_data

data = cache(partial(read_data, "tpuplane_twin.gcp"))
"""The contents of `data/NAME.yaml` of this package, by name."""
