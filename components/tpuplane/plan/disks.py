"""The storage classes of a cluster, from which pods of jobs get disks."""

from dataclasses import dataclass, field

from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.rules import spec_data


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """A storage class."""

    name: str
    provisioner: str
    parameters: dict[str, str]
    size: str = field(compare=False)  # of the disk of a pod; no resource has it

    @property
    def type(self) -> str:
        """The type of the disks."""
        return self.parameters["type"]


def disk_plans(spec: PlatformSpec, key: str) -> tuple[DiskPlan, ...]:
    """The storage classes of the cluster `key`; none without the driver of disks."""
    if not spec.clusters[key].storage.persistent_disk:
        return ()
    data = spec_data("disks")["class"]
    return tuple(
        DiskPlan(
            name=name,
            provisioner=data["provisioner"],
            parameters={
                "type": disk.type,
                **({} if disk.iops is None else {data["iops"]: str(disk.iops)}),
                **({} if disk.throughput is None else {data["throughput"]: f"{disk.throughput}Mi"}),
            },
            size=f"{disk.size_gib}Gi",
        )
        for name, disk in spec.storage.disks.items()
    )
