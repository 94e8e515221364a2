"""What Kueue's slice controller decides for a Workload: its Slices, its admission check, its finalizer. Emulated. Pure.

The controller has no release that could run here. The rules and texts follow its source (AI-Hypercomputer/xpk, branch
slice-main, slice/internal/controller/workload_controller.go) with the arguments of the manifest that GKE's page
"Schedule dynamic slices with Kueue and TAS" installs: an activation time-out of 6 minutes, and retries of a failed
creation.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tpuplane.addons.kueue_objects import slice_check_spec
from tpuplane.labels import SLICE_TOPOLOGY, TOPOLOGY_LABEL, partition_label

from tpuplane_twin.clock.times import Times, constant
from tpuplane_twin.cluster.api import Object, has_condition
from tpuplane_twin.cluster.slice_jobs import is_relevant
from tpuplane_twin.slices.formation import ACTIVE, RETRY, Host, Slice, level

CONTROLLER = slice_check_spec()["controllerName"]
"""The name of the controller in an AdmissionCheck, and its finalizer of Workloads."""
_OWNER = "accelerator.gke.io/owner-"
_LONGEST = 49
_ERRORS = ("FAILED", "SliceCreationFailed")
_FAILURES = {"FAILED": "RuntimeFailure", "STALE": "FormationTimeout"}  # the first one counts
_STATES = ("CREATED", "ACTIVATING", "ACTIVE", "ACTIVE_DEGRADED", "FAILED", "DELETED", "STALE")


@dataclass
class Step:
    """What the controller does now."""

    finalizer: bool | None = None  # to add it or to remove it
    create: list[Object] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    check: Object | None = None
    failure: str = ""  # why the Workload has to wait for other Slices: the reason of its condition TPUSliceFailure


def owner(found: Slice) -> tuple[str | None, str | None]:
    """Namespace and name of the Workload of a Slice; None for a user's own."""
    return found.annotations.get(f"{_OWNER}workload-namespace"), found.annotations.get(f"{_OWNER}workload-name")


def step(
    workload: Object, checks: Collection[str], own: Sequence[Slice], hosts: Sequence[Host], times: Times, *, ended: bool
) -> Step:
    """The next step for a Workload with its own Slices. `checks` are the admission checks of the controller, and
    `ended` is whether all pods of the job have ended."""
    left = [found.name for found in own if not found.deleted]
    held = CONTROLLER in workload["metadata"].get("finalizers", ())
    if _over(workload):
        gone = Step(finalizer=False) if held else Step()
        return Step(delete=left if ended else []) if held and left else gone
    status = workload.get("status", {})
    current = next((found for found in status.get("admissionChecks", ()) if found["name"] in checks), None)
    wanted = {item["metadata"]["name"]: item for item in _slices(workload, hosts)}
    if current is None or not wanted or not has_condition(workload, "QuotaReserved"):
        return Step()
    return _admit(workload, current, wanted, own, left, times) if held else Step(finalizer=True)


def _admit(
    workload: Object, current: Object, wanted: dict[str, Object], own: Sequence[Slice], left: list[str], times: Times
) -> Step:
    """The next step for a Workload with quota and a place. `left` are its Slices that no one has deleted."""
    if current["state"] in ("Retry", "Rejected"):
        return Step(delete=left)  # Kueue evicts the Workload and sets the check to Pending
    complete = len(left) == len(own)
    if current["state"] == "Ready" and not (complete and len(own) == len(wanted)):
        return Step(delete=left, check=_check(current, "Retry", "Slice has been deleted"), failure="Deletion")
    if not complete:
        return Step()  # until the deleted ones are gone
    known = {found.name: found.ids for found in own}
    create = [item for name, item in wanted.items() if name not in known]
    moved = [name for name, ids in known.items() if wanted.get(name, {}).get("spec", {}).get("partitionIds") != ids]
    states = [*((_state(found, times), found) for found in own), *[("CREATED", None)] * len(create)]
    check, failure = _answer(workload, current, states, len(wanted))
    return Step(create=create, delete=moved, check=check, failure=failure)


def _answer(
    workload: Object, current: Object, states: list[tuple[str, Slice | None]], wanted: int
) -> tuple[Object | None, str]:
    """The new state of the check, None while it is the same; and the reason of a failure."""
    counts = Counter(state for state, _ in states)
    message = ", ".join(f"{counts[state]} {state}" for state in _STATES if counts[state])
    message = f"Slices are in states: {message}" if message else "Waiting for Slices to be created"
    wrong = sorted((state, _error(found, state)) for state, found in states if found and state in _FAILURES)
    message += f". Errors: {'; '.join(error for _, error in wrong)}" if wrong else ""
    if sum(counts[state] for state in ACTIVE) == wanted:
        # While the slice is active, the hosts have its topology.
        found = ((own["name"], _topology(own)) for own in workload["spec"]["podSets"])
        updates = [{"name": name, "nodeSelector": {TOPOLOGY_LABEL: topology}} for name, topology in found if topology]
        return _check(current, "Ready", message, updates), ""
    failure = _FAILURES[wrong[0][0]] if wrong else ""
    return _check(current, "Retry" if failure else "Pending", message), failure


def _error(found: Slice, state: str) -> str:
    text = found.condition.get("message")
    if state == "STALE":
        return f"{found.name}: {text} (stale)" if text else f"{found.name}: stale"
    return f"{found.name}: {text}"


def failure_condition(workload: Object, found: Step) -> Object | None:
    """The condition TPUSliceFailure that belongs to a new state of the check; None without one."""
    if found.check is None:
        return None
    condition = {"type": "TPUSliceFailure", "status": "True", "reason": found.failure}
    if found.failure:
        return {**condition, "message": found.check["message"]}
    conditions = workload["status"].get("conditions", ())
    former = next((own for own in conditions if own["type"] == condition["type"] and own["status"] == "True"), None)
    if former is None:
        return None
    return {**condition, "status": "False", "reason": former["reason"], "message": f"Previously: {former['message']}"}


def _state(found: Slice, times: Times) -> str:
    if found.state == "FAILED" or (found.state in _ERRORS and found.annotations.get(RETRY) != "true"):
        return "FAILED"
    if found.state in ACTIVE:
        return found.state
    if found.unready >= times.seconds("slice-activation"):
        return "STALE"
    return "ACTIVATING" if found.state else "CREATED"


def _check(current: Object, state: str, message: str, updates: list[Object] | None = None) -> Object | None:
    if (current["state"], current.get("message")) == (state, message):
        return None
    changed: Object = {"name": current["name"], "state": state, "message": message}
    if updates is not None:
        changed["podSetUpdates"] = updates
    if state == "Retry":
        changed["requeueAfterSeconds"] = round(constant("slice-retry"))
    return changed


def _topology(pod_set: Object) -> str:
    """The topology of the slices of a pod set; empty for other pods."""
    template = pod_set["template"]
    return template["metadata"]["annotations"][SLICE_TOPOLOGY] if is_relevant(template) else ""


def _over(workload: Object) -> bool:
    """Whether its Slices are not needed any more."""
    ended = any(has_condition({"status": {}, **workload}, kind) for kind in ("Finished", "Evicted"))
    return ended or "deletionTimestamp" in workload["metadata"] or workload["spec"].get("active") is False


def _slices(workload: Object, hosts: Sequence[Host]) -> Iterator[Object]:
    """The Slices of a Workload: one for each replica of a JobSet's job, on the partitions that Kueue has assigned."""
    at, pod_sets = {host.name: host for host in hosts}, {own["name"]: own for own in workload["spec"]["podSets"]}
    owners = {found["kind"] for found in workload["metadata"].get("ownerReferences", ())}
    for assigned in (workload.get("status", {}).get("admission") or {}).get("podSetAssignments", ()):
        own, placed = pod_sets[assigned["name"]], assigned.get("topologyAssignment")
        if "topologyRequest" not in own or (own["name"] == "leader" and "LeaderWorkerSet" in owners):
            continue  # the leader of a group runs on the slice of its workers
        topology = _topology(own)
        if not topology or not placed or not {*(names := list(_hostnames(placed)))} <= at.keys():
            continue
        label = partition_label(level(topology))
        ids = list(dict.fromkeys(at[name].labels[label] for name in names))
        count = own["topologyRequest"].get("subGroupCount", 1)
        size = len(ids) // count
        for index in range(count):
            yield _slice(workload, own["name"], index, topology, ids[index * size : (index + 1) * size])


def _slice(workload: Object, pod_set: str, index: int, topology: str, ids: list[str]) -> Object:
    namespace, called = workload["metadata"]["namespace"], workload["metadata"]["name"]
    name = f"{namespace}-{called}-{pod_set}-{index}"
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 6]}-{hashlib.sha256(name.encode()).hexdigest()[:5]}"
    owned = {"workload-namespace": namespace, "workload-name": called, "podset-name": pod_set}
    annotations = {**{f"{_OWNER}{key}": value for key, value in owned.items()}, RETRY: "true"}
    return {
        "apiVersion": "accelerator.gke.io/v1beta1",
        "kind": "Slice",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"type": "tpu7x", "topology": topology, "partitionIds": ids},
    }


def _hostnames(placed: dict[str, Any]) -> Iterator[str]:
    """The hosts of a topology assignment (Kueue's v1beta2), whose last level is the host."""
    for part in placed["slices"]:
        values = part["valuesPerLevel"][-1]
        if "universal" in values:
            yield values["universal"]
            continue
        several = values["individual"]
        yield from (f"{several.get('prefix', '')}{root}{several.get('suffix', '')}" for root in several["roots"])
