"""The slice controllers of all clusters of a twin: they read nodes, Slices and Workloads, and write the decisions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tpuplane.labels import MODE_LABEL

from tpuplane_twin.clock.times import Times
from tpuplane_twin.cluster.api import Api, ApiError, Object, accepting, each, event, has_condition, path, timestamp
from tpuplane_twin.cluster.slice_webhook import trust
from tpuplane_twin.planes.control_plane import ControlPlane
from tpuplane_twin.slices.admission import CONTROLLER, Step, failure_condition, owner, step
from tpuplane_twin.slices.formation import ACTIVE, FINALIZER, Host, Slice, following, labels, next_times

_LOOK_SECONDS = 0.5
_JOBS = ("jobset.sigs.k8s.io/jobset-name", "batch.kubernetes.io/job-name", "leaderworkerset.sigs.k8s.io/name")

log = logging.getLogger(__name__)


class SliceControllers:
    """Emulates, in each cluster with GKE's slice controller, that controller and Kueue's slice controller."""

    def __init__(self, planes: Mapping[str, ControlPlane], times: Times) -> None:
        """`planes` are the control planes by name."""
        self._planes = planes
        self._times = times
        # Since when a Slice is in a state and is not Ready: by cluster, uid and state; seconds of the clock.
        self._since: dict[tuple[str, str, str], float] = {}

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            seen: set[tuple[str, str, str]] = set()
            awaited: list[float] = []
            for name, plane in list(self._planes.items()):
                if plane.api is None or not plane.has_slice_controller:
                    continue
                try:
                    await trust(plane.api, plane.ca_certificate)
                    await self._look(name, plane.api, seen, awaited)
                except Exception:  # the controllers of other clusters must continue
                    log.exception("the Slices of %s were not handled; trying again", name)
            self._times.clock.awaited = awaited
            self._since = {key: since for key, since in self._since.items() if key in seen}
            await asyncio.sleep(_LOOK_SECONDS)

    async def _look(self, cluster: str, api: Api, seen: set[tuple[str, str, str]], awaited: list[float]) -> None:
        nodes = await api.list("Node", labelSelector=MODE_LABEL)
        hosts = [Host.parse(node) for node in nodes]
        items = await api.list("Slice")
        slices = [self._slice(cluster, item, seen) for item in items]
        later, answers = list(slices), []
        for at, found in enumerate(slices):  # one after the other: of two with one partition, one gets it
            answers.append(answer := following(found, later, hosts, self._times))
            later[at] = found.after(answer)
            # After a new state, the next look knows the next time.
            awaited += [self._times.clock() + left for left in ([0.0] if answer else next_times(found, self._times))]
        await each(zip(items, slices, answers, strict=True), lambda triple: self._form(api, *triple))
        wanted = labels(hosts, slices)

        async def label(node: Object) -> None:
            metadata = node["metadata"]
            known, own = metadata["labels"], wanted[metadata["name"]]
            if own := {key: value for key, value in own.items() if known.get(key) != value}:
                with accepting(404):
                    await api.merge("Node", metadata["name"], {"metadata": {"labels": own}})

        await each(nodes, label)
        await self._admit(api, slices, hosts)

    def _slice(self, cluster: str, item: Object, seen: set[tuple[str, str, str]]) -> Slice:
        found, now, ages = Slice.parse(item), self._times.clock(), []
        for state in (found.state, str(found.state in ACTIVE)):
            key = (cluster, item["metadata"]["uid"], state)
            seen.add(key)
            ages.append(now - self._since.setdefault(key, now))
        return replace(found, aged=ages[0], unready=ages[1])

    async def _form(self, api: Api, item: Object, found: Slice, answer: tuple[str, str] | None) -> None:
        """GKE's controller: the finalizer and the condition of a Slice, whose next state and message are `answer`."""
        finalizers = item["metadata"].get("finalizers", [])
        if not found.deleted and FINALIZER not in finalizers:
            await api.merge("Slice", found.name, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})
        if found.deleted and (not found.formed or found.state == "INCOMPLETE"):
            kept = [own for own in finalizers if own != FINALIZER]
            with accepting(404):
                await api.merge("Slice", found.name, {"metadata": {"finalizers": kept}})
            return
        former = found.condition
        if answer is None or answer == (former.get("reason"), former.get("message")):
            return
        status = str(answer[0] in ACTIVE)
        since = former["lastTransitionTime"] if former.get("status") == status else ""
        await _write(api, "Slice", found.name, since, type="Ready", status=status, reason=answer[0], message=answer[1])

    async def _admit(self, api: Api, slices: list[Slice], hosts: list[Host]) -> None:
        """Kueue's slice controller: its check, and the Slices of the Workloads."""
        try:
            found = await api.list("AdmissionCheck")
            workloads = await api.list("Workload")
        except ApiError as error:
            if error.status != 404:  # the cluster has no Kueue
                raise
            return
        checks = [item for item in found if item["spec"]["controllerName"] == CONTROLLER]
        await each(checks, lambda item: _activate(api, item))
        names = {item["metadata"]["name"] for item in checks}
        for workload in workloads:
            metadata = workload["metadata"]
            named = metadata["namespace"], metadata["name"]
            own = [made for made in slices if owner(made) == named]
            held = CONTROLLER in metadata.get("finalizers", ())
            if held or any(check["name"] in names for check in workload.get("status", {}).get("admissionChecks", ())):
                ended = not own or await _ended(api, workload)
                await _do(api, workload, step(workload, names, own, hosts, self._times, ended=ended))


async def _activate(api: Api, check: Object) -> None:
    """Kueue admits nothing by a check that no controller has declared active."""
    if not has_condition({"status": {}, **check}, "Active"):
        message, name = "The admission check is active", check["metadata"]["name"]
        await _write(api, "AdmissionCheck", name, type="Active", status="True", reason="Active", message=message)


async def _write(api: Api, kind: str, name: str, since: str = "", **condition: str) -> None:
    """Write the only condition of an object."""
    patch = {"status": {"conditions": [{**condition, "lastTransitionTime": since or timestamp()}]}}
    with accepting(404):
        await api.merge(kind, name, patch, part="/status")


async def _ended(api: Api, workload: Object) -> bool:
    """Whether all pods of its job have ended."""
    names = {found["name"] for found in workload["metadata"].get("ownerReferences", ())}
    pods = await api.list("Pod", workload["metadata"]["namespace"])
    own = [pod for pod in pods if any(pod["metadata"].get("labels", {}).get(label) in names for label in _JOBS)]
    return all(pod["status"].get("phase") in ("Succeeded", "Failed") for pod in own)


async def _do(api: Api, workload: Object, found: Step) -> None:
    metadata = workload["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    if found.finalizer is not None:
        kept = [own for own in metadata.get("finalizers", ()) if own != CONTROLLER]
        patch: dict[str, Any] = {"finalizers": [*kept, *([CONTROLLER] if found.finalizer else [])]}
        # The version, because other controllers write the list as well.
        patch["resourceVersion"] = metadata["resourceVersion"]
        with accepting(404), accepting(409):
            await api.merge("Workload", name, {"metadata": patch}, namespace)
    await each(found.delete, lambda own: api.delete("Slice", own))
    await each(found.create, api.create)
    about = {"apiVersion": workload["apiVersion"], "kind": "Workload", "namespace": namespace, "name": name}
    about["uid"] = metadata["uid"]
    if found.create:
        created = ", ".join(f'"{item["metadata"]["name"]}"' for item in found.create)
        text = f"The Slices {created} have been created"
        await api.create(event(about, "Normal", "SlicesCreated", text, component=CONTROLLER))
    if found.check is not None:
        failure = failure_condition(workload, found)
        body = {
            **{key: workload[key] for key in ("apiVersion", "kind")},
            "metadata": {"name": name, "namespace": namespace, "uid": metadata["uid"]},
            "status": {
                "admissionChecks": [{**found.check, "lastTransitionTime": timestamp()}],
                **({"conditions": [{**failure, "lastTransitionTime": timestamp()}]} if failure else {}),
            },
        }
        parameters = {"fieldManager": CONTROLLER, "force": "true"}
        url, kind = f"{path('Workload', name, namespace)}/status", "application/apply-patch+yaml"
        with accepting(404), accepting(409):
            await api.request("PATCH", url, body=body, params=parameters, content_type=kind)
        check, state = found.check["name"], found.check["state"]
        former = next(own["state"] for own in workload["status"]["admissionChecks"] if own["name"] == check)
        if former != state:
            text = f'Admission check "{check}" updated state from "{former}" to "{state}"'
            await api.create(event(about, "Normal", "AdmissionCheckUpdated", text, component=CONTROLLER))
