"""What a CronJob does: its schedule, and the Jobs that it has made. Pure."""

from collections.abc import Sequence

from tpuplane.status.endings import end_of
from tpuplane.status.objects import Job, at


class CronJob(Job):
    """A CronJob, whose `suspend` stops new Jobs."""

    schedule: str = at("spec.schedule", default="")
    zone: str = at("spec.timeZone", default="")
    policy: str = at("spec.concurrencyPolicy", default="Allow")
    last: str = at("status.lastScheduleTime", default="")

    def made(self, jobs: Sequence[Job]) -> list[Job]:
        """Those of the Jobs that it has made, the newest first."""
        own = (job for job in jobs if any(owner.uid == self.uid for owner in job.owners))
        return sorted(own, key=lambda job: (job.created, job.name), reverse=True)

    def described(self, jobs: Sequence[Job], shown: Job | None) -> str:
        """Its schedule and state, and the Jobs other than `shown` that have not ended."""
        schedule = " ".join(filter(None, (self.schedule, self.zone)))
        if self.policy == "Forbid":
            schedule += ", at which it makes no Job while another one has not ended"
        elif self.policy == "Replace":
            schedule += ", at which it deletes the Job that has not ended"
        made = self.made(jobs)
        newest = made[0].name if made else ""
        if not made:
            text = f"none of its Jobs exists; its last one is of {self.last}" if self.last else "it has made no Job yet"
        elif shown is not None and shown.name != newest:
            text = f"{self.name} made it, and later {newest}"
        else:
            text = f"it is the newest Job of {self.name}"
        others = (job for job in made if shown is None or job.uid != shown.uid)
        open_ = [job.name for job in others if not end_of(job)[0]]
        waiting = f"other Jobs that have not ended: {', '.join(open_)}" if open_ else ""
        stopped = f"{self.name} is suspended: it makes no further Jobs" if self.suspend else ""
        return "; ".join(filter(None, (text, f"schedule {schedule}", waiting, stopped)))
