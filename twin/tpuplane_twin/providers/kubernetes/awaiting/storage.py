"""When volumes, claims, quotas and the secrets that controllers fill are usable."""

from __future__ import annotations

from tpuplane_twin.providers.kubernetes.awaiting.kstatus import count, status
from tpuplane_twin.providers.kubernetes.awaiting.verdict import Verdict, View
from tpuplane_twin.providers.kubernetes.kinds import Kind
from tpuplane_twin.providers.kubernetes.metadata import name

_CLASS = Kind("storage.k8s.io", "v1", "StorageClass")


def volume(view: View) -> Verdict:
    """Available or bound."""
    phase = status(view.live).get("phase")
    return Verdict(phase in ("Available", "Bound"), f"Waiting for the volume to be available (phase {phase})")


def claim(view: View) -> Verdict:
    """Bound; or, if its class binds with the first pod that uses it, pending."""
    phase = status(view.live).get("phase")
    wanted = (view.live.get("spec") or {}).get("storageClassName")
    waits = any(
        name(found) == wanted and found.get("volumeBindingMode") == "WaitForFirstConsumer"
        for found in view.list_kind(_CLASS)
    )
    bound = phase == "Bound"
    ready = phase == "Pending" or (bound and view.before is not None) if waits else bound
    return Verdict(ready, f"Waiting for the claim to be bound (phase {phase})")


def quota(view: View) -> Verdict:
    """Its limits are in force."""
    wanted = (view.live.get("spec") or {}).get("hard")
    return Verdict(wanted == status(view.live).get("hard"), "Waiting for the quota to be in force")


def replication_controller(view: View) -> Verdict:
    """As many replicas available as wanted."""
    wanted = count(view.live, "spec", "replicas")
    have = count(view.live, "status", "availableReplicas")
    return Verdict(have == wanted, f"Waiting for replicas to be available ({have}/{wanted})")


def secret(view: View) -> Verdict:
    """A service account's token is filled in; every other secret is ready as it is."""
    waits = view.live.get("type") == "kubernetes.io/service-account-token"
    return Verdict(not waits or bool(view.live.get("data")), "Waiting for the token to be issued")
