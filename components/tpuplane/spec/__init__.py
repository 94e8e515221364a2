"""The description of a platform that a user writes, checked before any resource changes. Pure: no Pulumi, no network.

`parse_platform` reads plain values (the program's config), `load_stack` a stack file (the command line): the same
models and the same messages in both. All mistakes of a description are reported in one run.
"""

from tpuplane.spec.cluster.cluster import ClusterSettingsSpec, ClusterSpec, ControlPlaneSpec, SystemPoolSpec
from tpuplane.spec.core.errors import Mistake, SpecError
from tpuplane.spec.platform import PROJECT_KEY, PlatformSpec
from tpuplane.spec.pools.gpu import GpuPoolSpec
from tpuplane.spec.pools.hosts import ExtraNetworkSpec, FlexStartSpec, ReservationSpec
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.spec.stackfile import CONFIG_KEY, StackFileMissing, load_stack, parse_platform

__all__ = [
    "CONFIG_KEY",
    "PROJECT_KEY",
    "ClusterSettingsSpec",
    "ClusterSpec",
    "ControlPlaneSpec",
    "ExtraNetworkSpec",
    "FlexStartSpec",
    "GpuPoolSpec",
    "Mistake",
    "PlatformSpec",
    "PoolSpec",
    "ReservationSpec",
    "SpecError",
    "StackFileMissing",
    "SystemPoolSpec",
    "load_stack",
    "parse_platform",
]
