"""Which kinds are waited for, and how; what a program itself asks to wait for."""

import json
import os
from dataclasses import dataclass
from typing import Any

from tpuplane_standins.providers.kubernetes.awaiting import network, workloads
from tpuplane_standins.providers.kubernetes.awaiting.kstatus import (
    Check,
    Verdict,
    View,
    condition,
    count,
    reconciled,
    status,
)
from tpuplane_standins.providers.kubernetes.kinds import Kind
from tpuplane_standins.providers.kubernetes.metadata import SKIP_AWAIT, WAIT_FOR, annotation, generation, is_true, name
from tpuplane_standins.providers.kubernetes.values import Object


class WaitForError(ValueError):
    """An expression that cannot be waited for."""


@dataclass(frozen=True, slots=True)
class Awaiter:
    """When objects of a kind are ready."""

    check: Check
    on_read: bool = True
    """Refresh reports an object that is not ready."""
    seconds: float | None = None
    """A limit that replaces the program's timeout."""


_CLASS = Kind("storage.k8s.io", "v1", "StorageClass")


def _volume(view: View) -> Verdict:
    """Available or bound."""
    phase = status(view.live).get("phase")
    return Verdict(phase in ("Available", "Bound"), f"Waiting for the volume to be available (phase {phase})")


def _claim(view: View) -> Verdict:
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


def _quota(view: View) -> Verdict:
    """Its limits are in force."""
    wanted = (view.live.get("spec") or {}).get("hard")
    return Verdict(wanted == status(view.live).get("hard"), "Waiting for the quota to be in force")


def _replication_controller(view: View) -> Verdict:
    """As many replicas available as wanted."""
    wanted = count(view.live, "spec", "replicas")
    have = count(view.live, "status", "availableReplicas")
    return Verdict(have == wanted, f"Waiting for replicas to be available ({have}/{wanted})")


def _secret(view: View) -> Verdict:
    """A service account's token is filled in; every other secret is ready at once."""
    waits = view.live.get("type") == "kubernetes.io/service-account-token"
    return Verdict(not waits or bool(view.live.get("data")), "Waiting for the token to be issued")


_AWAITERS = {
    "apps/v1/DaemonSet": Awaiter(workloads.daemonset),
    "apps/v1/Deployment": Awaiter(workloads.deployment),
    "apps/v1/StatefulSet": Awaiter(workloads.statefulset),
    "batch/v1/Job": Awaiter(workloads.job),
    "networking.k8s.io/v1/Ingress": Awaiter(network.ingress),
    "v1/PersistentVolume": Awaiter(_volume, on_read=False, seconds=300),
    "v1/PersistentVolumeClaim": Awaiter(_claim, on_read=False, seconds=300),
    "v1/Pod": Awaiter(workloads.pod),
    "v1/ReplicationController": Awaiter(_replication_controller, on_read=False),
    "v1/ResourceQuota": Awaiter(_quota, on_read=False, seconds=60),
    "v1/Secret": Awaiter(_secret, on_read=False, seconds=5),
    "v1/Service": Awaiter(network.service),
}


_IMMEDIATELY = Awaiter(lambda _: Verdict(True), on_read=False)


def for_write(inputs: Object) -> Awaiter:
    """What to wait for after a create or an update. Raises `WaitForError`.

    `pulumi.com/skipAwait` and `pulumi.com/waitFor` come first, then the kind's own conditions. Objects of other kinds
    are not waited for, unless `PULUMI_K8S_AWAIT_ALL=true` asks for the generic notion of readiness.
    """
    if is_true(inputs, SKIP_AWAIT):
        return _IMMEDIATELY
    if wanted := annotation(inputs, WAIT_FOR):
        return Awaiter(_wanted(wanted))
    if found := _AWAITERS.get(str(Kind.of(inputs))):
        return found
    return Awaiter(reconciled) if os.environ.get("PULUMI_K8S_AWAIT_ALL") == "true" else _IMMEDIATELY


def for_read(inputs: Object) -> Check | None:
    """What a refresh checks, None where it takes the object as it is."""
    found = _AWAITERS.get(str(Kind.of(inputs)))
    return found.check if found and found.on_read and not is_true(inputs, SKIP_AWAIT) else None


def _wanted(written: str) -> Check:
    """The check that a program asks for with the annotation `pulumi.com/waitFor`. Raises `WaitForError`.

    `jsonpath={.path}`, `jsonpath={.path}=value`, `condition=Type`, `condition=Type=Status`, or a JSON list of these.
    """
    try:
        loaded = json.loads(written)
    except ValueError:
        loaded = written
    expressions = loaded if isinstance(loaded, list) else [written]
    if not expressions:
        raise WaitForError("at least one condition must be specified")
    checks = [_expression(str(expression)) for expression in expressions]

    def every(view: View) -> Verdict:
        verdicts = [check(view) for check in checks]
        return next((verdict for verdict in verdicts if not verdict.ready), verdicts[-1])

    return every


def _expression(text: str) -> Check:
    prefix, _, rest = text.partition("=")
    if prefix == "jsonpath":
        return _jsonpath(rest)
    if prefix == "condition":
        kind, _, wanted = rest.partition("=")
        return _condition(kind, wanted or "True")
    raise WaitForError(f'expected a "jsonpath=" or "condition=" prefix, got "{text}"')


def _condition(kind: str, wanted: str) -> Check:
    def check(view: View) -> Verdict:
        found = condition(view.live, kind)
        if not found:
            return Verdict(False, f"Waiting for condition {kind}={wanted}")
        observed = found.get("observedGeneration", status(view.live).get("observedGeneration"))
        if observed is not None and observed < generation(view.live):
            return Verdict(False, f"Generation {observed} is less than expected {generation(view.live)}")
        value = str(found.get("status"))
        ready = value.lower() == wanted.lower()
        return Verdict(ready, f"Resource has condition {kind}={value} (want {wanted})")

    return check


def _jsonpath(text: str) -> Check:
    import jsonpath_rfc9535  # noqa: PLC0415  (rarely needed)

    path, bracket, rest = text.rpartition("}")
    if not bracket or not path.startswith("{"):
        raise WaitForError(
            f"{text} should be wrapped in brackets {{ ... }}, for example jsonpath={{.status.phase}}=Ready"
        )
    if rest and (not rest.startswith("=") or rest == "="):
        raise WaitForError(f'format should be {{.path}}=value or {{.path}}, got "{text}"')
    wanted, query = rest[1:], path[1:].strip()
    try:
        compiled = jsonpath_rfc9535.compile(query if query.startswith("$") else f"${query}")
    except jsonpath_rfc9535.JSONPathError as error:
        raise WaitForError(f'parsing "{text}": {error}') from error

    def check(view: View) -> Verdict:
        observed = status(view.live).get("observedGeneration")
        if observed is not None and observed < generation(view.live):
            return Verdict(False, f"Waiting for {text}")
        nodes = compiled.find(view.live)
        if not nodes:
            return Verdict(False, f"{{{query}}} selected nothing")
        found = _text(nodes[0].value)
        return Verdict(not wanted or found == wanted, f'Waiting for {text} (found "{found}")')

    return check


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
