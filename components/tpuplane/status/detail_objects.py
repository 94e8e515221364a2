"""The fields of further objects that the explanation of a job reads, and of GKE's slices."""

from tpuplane.status.objects import Item, at

_OWNER = "accelerator.gke.io/owner-workload-"


class Claim(Item):
    """A PersistentVolumeClaim."""

    storage_class: str = at("spec.storageClassName", default="")
    phase: str = at("status.phase", default="")


class DynamicSlice(Item):
    """A slice that GKE's slice controller makes of tpu7x cubes, with its workload."""

    topology: str = at("spec.topology", default="")
    partitions: list[str] = at("spec.partitionIds", default=list)

    @property
    def workload(self) -> tuple[str, str]:
        """Namespace and name of the workload for which Kueue's slice controller created it; empty without one."""
        namespace, name = (self.annotations.get(f"{_OWNER}{part}", "") for part in ("namespace", "name"))
        return namespace, name


class StorageClass(Item):
    """A class of disks."""

    provisioner: str = at("provisioner", default="")
    binding: str = at("volumeBindingMode", default="")
