# The public names, once: lazy_loader reads them here, and so do editors and type checkers.
from .cluster.cluster import ClusterSettingsSpec as ClusterSettingsSpec
from .cluster.cluster import ClusterSpec as ClusterSpec
from .cluster.cluster import ControlPlaneSpec as ControlPlaneSpec
from .cluster.cluster import SystemPoolSpec as SystemPoolSpec
from .core.errors import Mistake as Mistake
from .core.errors import SpecError as SpecError
from .platform import PROJECT_KEY as PROJECT_KEY
from .platform import PlatformSpec as PlatformSpec
from .pools.gpu import GpuPoolSpec as GpuPoolSpec
from .pools.hosts import ExtraNetworkSpec as ExtraNetworkSpec
from .pools.hosts import FlexStartSpec as FlexStartSpec
from .pools.hosts import ReservationSpec as ReservationSpec
from .pools.tpu import PoolSpec as PoolSpec
from .stackfile import CONFIG_KEY as CONFIG_KEY
from .stackfile import StackFileMissing as StackFileMissing
from .stackfile import load_stack as load_stack
from .stackfile import parse_platform as parse_platform
