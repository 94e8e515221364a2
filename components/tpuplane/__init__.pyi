# The public names, once: lazy_loader reads them here, and so do editors and type checkers.
from .args import MultisliceArgs as MultisliceArgs
from .args import PlatformArgs as PlatformArgs
from .args import RayClusterArgs as RayClusterArgs
from .args import RayJobArgs as RayJobArgs
from .args import RayServiceArgs as RayServiceArgs
from .gke.arguments import ClusterRef as ClusterRef
from .gke.cluster import Cluster as Cluster
from .gke.cluster import ClusterArgs as ClusterArgs
from .gke.compute_class import ComputeClass as ComputeClass
from .gke.compute_class import ComputeClassArgs as ComputeClassArgs
from .gke.existing_cluster import ExistingCluster as ExistingCluster
from .gke.existing_cluster import ExistingClusterArgs as ExistingClusterArgs
from .gke.network import Network as Network
from .gke.network import NetworkArgs as NetworkArgs
from .gke.network import SubnetworkArgs as SubnetworkArgs
from .gke.node_pool import GpuNodePool as GpuNodePool
from .gke.node_pool import GpuNodePoolArgs as GpuNodePoolArgs
from .gke.node_pool import SystemNodePool as SystemNodePool
from .gke.node_pool import SystemNodePoolArgs as SystemNodePoolArgs
from .gke.node_pool import TpuNodePool as TpuNodePool
from .gke.node_pool import TpuNodePoolArgs as TpuNodePoolArgs
from .plan import PlatformPlan as PlatformPlan
from .platform.platform import Platform as Platform
from .spec import PlatformSpec as PlatformSpec
from .spec import SpecError as SpecError
from .tpu import Slice as Slice
from .tpu import SliceError as SliceError
from .workloads.resources import Multislice as Multislice
from .workloads.resources import RayCluster as RayCluster
from .workloads.resources import RayJob as RayJob
from .workloads.resources import RayService as RayService

__all__: list[str]
