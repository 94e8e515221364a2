"""What a cluster is beyond its pools, as plain frozen values; a part of `model`."""

from __future__ import annotations

from dataclasses import dataclass

from tpuplane.spec.maintenance import ExclusionScope


@dataclass(frozen=True, slots=True)
class AuthorizedNetworkPlan:
    """A CIDR block that may reach the control plane, and the name it is shown under."""

    cidr: str
    name: str


@dataclass(frozen=True, slots=True)
class ControlPlanePlan:
    """Who reaches the control plane. `public_endpoint=False` means the private endpoint only."""

    dns_endpoint: bool  # answers users by its DNS name
    ip_endpoint: bool  # answers at an address at all
    public_endpoint: bool
    master_cidr: str | None
    authorized_networks: tuple[AuthorizedNetworkPlan, ...]
    global_access: bool = False  # the private endpoint answers other regions of the VPC, too


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A Cloud KMS key. Exactly one of `brought` and `name` is set: one that exists already, or one that is made."""

    brought: str | None = None  # full resource name
    name: str | None = None  # of the key in the cluster's own key ring


@dataclass(frozen=True, slots=True)
class SecurityPlan:
    """How a cluster is guarded. None for a key means Google's own."""

    secrets_key: KeyPlan | None
    boot_disk_key: KeyPlan | None
    posture: str
    binary_authorization: str
    anonymous_authentication: str
    security_group: str | None
    secret_manager: bool

    @property
    def made_keys(self) -> tuple[str, ...]:
        """Names of the keys that are made."""
        keys = (self.secrets_key, self.boot_disk_key)
        return tuple(key.name for key in keys if key is not None and key.name is not None)


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """Which drivers for volumes a cluster has."""

    persistent_disk: bool
    gcs_fuse: bool
    filestore: bool
    lustre: bool


@dataclass(frozen=True, slots=True)
class MonitoringPlan:
    """What is measured and logged."""

    components: tuple[str, ...]
    managed_prometheus: bool
    logs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExclusionPlan:
    """A time without upgrades. `end` is None where it lasts until the end of the version's support."""

    name: str
    start: str  # RFC 3339, UTC
    end: str | None
    scope: ExclusionScope


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """When GKE may maintain a cluster: a first window, how it repeats (RFC 5545), and times in which it may not."""

    start: str  # RFC 3339, UTC
    end: str
    recurrence: str
    exclusions: tuple[ExclusionPlan, ...] = ()
