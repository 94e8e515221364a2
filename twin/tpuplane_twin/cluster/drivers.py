"""The drivers of volumes that GKE registers in a cluster for its add-ons."""

from collections.abc import Collection

from tpuplane.data_files import read_data

from tpuplane_twin.cluster.api import Api
from tpuplane_twin.gcp.views import ClusterView

DISKS = "gcePersistentDiskCsiDriverConfig"
"""The add-on whose driver creates disks."""


def of(cluster: ClusterView) -> list[str]:
    """The add-ons of the cluster that bring a driver."""
    return [addon for addon in read_data("tpuplane_twin.cluster", "drivers") if cluster.addon(addon)]


async def register(api: Api, addons: Collection[str]) -> None:
    """Create the drivers of these add-ons, and delete those of all others."""
    for addon, driver in read_data("tpuplane_twin.cluster", "drivers").items():
        if addon in addons:
            await api.apply(driver)
        else:
            await api.delete("CSIDriver", driver["metadata"]["name"])
