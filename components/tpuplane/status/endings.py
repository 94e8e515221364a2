"""Whether a job has ended, and how. Pure."""

from tpuplane.status.objects import Job

_ENDED = {"Complete": "succeeded", "Completed": "succeeded", "Succeeded": "succeeded", "Failed": "failed"}
_ENDED |= {"ValidationFailed": "failed"}  # a RayJob that KubeRay does not run


def end_of(job: Job) -> tuple[str, str]:
    """Whether the job succeeded or failed, with its message; the first is empty if it has not ended."""
    for kind, state in _ENDED.items():
        if job.is_true(kind):
            condition = job.condition(kind)
            return state, f"{condition.reason or kind}: {condition.message}".removesuffix(": ")
    state, reason = _ENDED.get(job.phase, ""), job.reason
    if state and job.ray_status == "STOPPED":  # KubeRay calls it complete
        state, reason = "failed", job.ray_status
    return state, ": ".join(filter(None, (reason, job.message))) or job.phase
