"""What a cluster is beyond its pools, as plain frozen values; a part of `model`."""

from __future__ import annotations

from dataclasses import dataclass

from tpuplane.spec.maintenance import ExclusionScope


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """A Cloud KMS key. Exactly one of `brought` and `name` is set: one that exists already, or one that is made."""

    brought: str | None = None  # full resource name
    name: str | None = None  # of the key in the cluster's own key ring


@dataclass(frozen=True, slots=True)
class KeysPlan:
    """The Cloud KMS keys of a cluster. None: Google's own."""

    secrets: KeyPlan | None
    boot_disk: KeyPlan | None

    @property
    def made(self) -> tuple[str, ...]:
        """Names of the keys that are made."""
        keys = (self.secrets, self.boot_disk)
        return tuple(key.name for key in keys if key is not None and key.name is not None)


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
