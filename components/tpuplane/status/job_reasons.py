"""Why a job is in its state: what the job itself, Kueue, the scheduler, the hosts and the kubelet say. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tpuplane.status.containers import troubles
from tpuplane.status.cron_jobs import CronJob
from tpuplane.status.endings import end_of
from tpuplane.status.finding import Found
from tpuplane.status.objects import Job, Pod
from tpuplane.status.pools import maintenance, unready
from tpuplane.status.snapshot import Objects
from tpuplane.status.waiting import ENDING, STILL_SUSPENDED

_CONTROLLERS = {"JobSet": "jobset-system", "TrainJob": "kubeflow-system"}
"""The namespaces of webhooks that Kueue needs to resume jobs. Those of other kinds are Kueue's own."""

Row = Mapping[str, Any]


def job_reasons(
    objects: Objects, found: Found, row: Row, pods: Sequence[Pod], failed: Sequence[Pod], parts: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The messages, most important first; the first state is that of the job.

    Pods that failed before say nothing about the state while other pods run in their place.
    """
    placing = objects.placing
    if isinstance(found.job, CronJob):
        state = "suspended" if found.job.suspend else "created"
        texts = ((found.kind, found.job.described((), None)), ("controller", placing.not_created(parts, pods)))
        yield from (reason_row(state, source, text) for source, text in texts if text)
        return
    ended, message = end_of(found.job)
    if ended:
        yield reason_row(ended, found.kind, message)
        yield from _failed_jobs(objects, {*parts} - {found.job.uid}) if ended == "failed" else ()
    elif row.get("state") == "waiting":
        yield reason_row("waiting", "Kueue", row["why"])
    elif row.get("why", "").startswith(ENDING):
        yield reason_row("" if pods else "suspended", "Kueue", row["why"])
    elif row.get("cluster"):
        yield reason_row("running", "Kueue", f"it runs in the worker cluster {row['cluster']}")
    elif not pods and not failed:
        yield _without_pods(found, row, placing.not_created(parts, pods))
    else:
        count, scheduler, autoscaler = placing.unplaced(pods)
        if count:
            yield reason_row("pending", "scheduler", ": ".join(filter(None, (count, scheduler))))
            yield from (reason_row("pending", "autoscaler", text) for text in autoscaler)
        if failure := placing.not_created(parts, pods):
            yield reason_row("pending", "controller", failure)
    yield from _of_group(objects, found, pods, failed)
    if not ended:
        hosts = {pod.spec.node_name for pod in pods}
        nodes = [node for node in objects.nodes if node.name in hosts]
        yield from (reason_row("failing", "hosts", text) for text in map(unready, nodes) if text)
        yield from (reason_row("", "hosts", text) for text in maintenance(nodes))
    if ended != "succeeded":
        said = [("failing", trouble) for trouble in troubles(pods, objects.events)]
        said += [("" if pods else "failing", trouble) for trouble in troubles(failed, objects.events)]
        for state, trouble in said:
            yield reason_row(state, "kubelet", trouble.text, pod=trouble.pod, container=trouble.container)
    yield from _of_cron_job(objects, found)


def _of_cron_job(objects: Objects, found: Found) -> Iterator[dict[str, Any]]:
    """The CronJob that has made the job."""
    for owner in (owner for owner in found.job.owners if owner.kind == "CronJob"):
        jobs = objects.jobs.get("Job", ())
        text = found.maker.described(jobs, found.job) if found.maker else f"{owner.name} made it"
        yield reason_row("", owner.kind, text, kind=owner.kind, name=owner.name)


def _of_group(objects: Objects, found: Found, pods: Sequence[Pod], failed: Sequence[Pod]) -> Iterator[dict[str, Any]]:
    """Why a group of plain pods, which nothing creates again, has too few of them."""
    if found.kind != "PodGroup" or any(pod.owners for pod in failed):
        return
    workload = objects.workload(found.job.namespace, found.job.name)
    succeeded = sum(own.count for own in workload.reclaimable) if workload else 0
    total = sum(own.count for own in workload.pod_sets) - succeeded if workload else 0
    if not pods:
        yield reason_row("failing", found.kind, "all its pods have failed or no longer exist")
    elif failed and len(pods) < total:
        names = ", ".join(pod.name for pod in failed)
        yield reason_row("failing", found.kind, f"it has {len(pods)} of {total} pods; failed pods: {names}")


def _failed_jobs(objects: Objects, parts: Collection[str]) -> Iterator[dict[str, Any]]:
    """Why Jobs of the job failed, each reason once, except a number of failed pods: these have reasons of their own."""
    said: set[str] = {""}
    for job in (job for job in objects.jobs.get("Job", ()) if job.uid in parts):
        state, message = end_of(job)
        if state == "failed" and message not in said and not message.startswith("BackoffLimitExceeded"):
            said.add(message)
            yield reason_row("", "Job", f"{job.name}: {message}")


def _without_pods(found: Found, row: Row, failure: str) -> dict[str, Any]:
    if not found.job.suspend:
        field = "parallelism" if found.kind == "Job" else "replicas"
        why = "it has no pods yet" if found.job.wanted else f"it has no pods, because its spec.{field} is 0"
        return reason_row("created", "controller", failure or why)
    if row:
        return reason_row(
            "suspended", "Kueue", STILL_SUSPENDED, controller=_CONTROLLERS.get(found.kind, "kueue-system")
        )
    return reason_row("suspended", found.kind, "it is suspended, and Kueue does not manage it")


def reason_row(state: str, source: str, message: str, **places: str) -> dict[str, Any]:
    """A message with its source. `state` is empty if it says nothing about the state of the job."""
    return {"state": state, "source": source, "message": message, "places": places}


def missing_priorities(objects: Objects, row: Row) -> Iterator[dict[str, Any]]:
    """The PriorityClasses of its pods that do not exist. Kueue takes the priority of the job from its label."""
    workload = objects.workload(row["namespace"], row["workload"])
    if workload is None or workload.nominated or "priorityClasses" not in objects.details:
        return
    existing = [each.name for each in objects.details["priorityClasses"]]
    for name in dict.fromkeys(pods.pod.priority_class_name for pods in workload.pod_sets):
        if name and name not in existing:
            message = f"the PriorityClass {name} of its pods does not exist, so Kueue can admit the job, but not run it"
            yield reason_row("waiting", "Kueue", message, classes=", ".join(existing))


def service_reasons(found: Found, pods: Sequence[Pod]) -> Iterator[dict[str, Any]]:
    """Why a RayService does not serve, although its pods are ready."""
    if found.kind != "RayService" or not pods or not all(pod.is_true("Ready") for pod in pods):
        return
    service: Job = found.job
    for name, application in (*service.applications.items(), *service.next_applications.items()):
        if application.status in ("DEPLOY_FAILED", "UNHEALTHY"):
            message = f"application {name} is {application.status}: {application.message}".removesuffix(": ")
            yield reason_row("failing", "RayService", message)
    ready = service.condition("Ready")
    if ready.status == "False":
        yield reason_row("starting", "RayService", f"{ready.reason}: {ready.message}".removesuffix(": "))
