# The public names, once: lazy_loader reads them here, and so do editors and type checkers.
from .args import MultisliceArgs as MultisliceArgs
from .args import RayClusterArgs as RayClusterArgs
from .args import RayJobArgs as RayJobArgs
from .args import RayServiceArgs as RayServiceArgs
from .gke import Cluster as Cluster
from .gke import ClusterArgs as ClusterArgs
from .gke import ClusterRef as ClusterRef
from .gke import ComputeClass as ComputeClass
from .gke import ComputeClassArgs as ComputeClassArgs
from .gke import ExistingCluster as ExistingCluster
from .gke import ExistingClusterArgs as ExistingClusterArgs
from .gke import GpuNodePool as GpuNodePool
from .gke import GpuNodePoolArgs as GpuNodePoolArgs
from .gke import Network as Network
from .gke import NetworkArgs as NetworkArgs
from .gke import SubnetworkArgs as SubnetworkArgs
from .gke import SystemNodePool as SystemNodePool
from .gke import SystemNodePoolArgs as SystemNodePoolArgs
from .gke import TpuNodePool as TpuNodePool
from .gke import TpuNodePoolArgs as TpuNodePoolArgs
from .plan import PlatformPlan as PlatformPlan
from .platform import Platform as Platform
from .platform import PlatformArgs as PlatformArgs
from .spec import PlatformSpec as PlatformSpec
from .spec import SpecError as SpecError
from .tpu import Slice as Slice
from .tpu import SliceError as SliceError
from .workloads.resources import Multislice as Multislice
from .workloads.resources import RayCluster as RayCluster
from .workloads.resources import RayJob as RayJob
from .workloads.resources import RayService as RayService

__all__: list[str]
