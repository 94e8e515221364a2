"""Values that the shell completes: files, contexts, jobs and classes of changes; none if they cannot be read.

Typer omits values that do not begin with the typed word.
"""

from contextlib import suppress
from pathlib import Path

import typer

_NOT_OFFERED = ("Pod", "ReplicaSet")  # parts of other jobs


def stack_files(incomplete: str) -> list[str]:
    """Stack files, and folders."""
    return [path for path in any_file(incomplete) if path.endswith(("/", ".yaml", ".yml"))]


def any_file(incomplete: str) -> list[str]:
    """Files and folders. The shell's own completion of files does not work for a typed argument."""
    folder, _, start = incomplete.rpartition("/")
    shown = f"{folder}/" if folder or incomplete.startswith("/") else ""
    with suppress(OSError):
        found = [entry for entry in Path(shown or ".").expanduser().iterdir() if entry.name.startswith(start)]
        # Hidden files only for a typed dot.
        return sorted(f"{shown}{entry.name}{'/' * entry.is_dir()}" for entry in found if start or entry.name[0] != ".")
    return []


def contexts(context: typer.Context) -> list[str]:
    """The contexts of the kubeconfig that the command line names."""
    from tpuplane.status import reading  # noqa: PLC0415

    with suppress(reading.NoContext):
        return reading.contexts(context.params.get("kubeconfig"))
    return []


def jobs(context: typer.Context) -> list[str]:
    """Jobs that are not a part of another one, as NAMESPACE/NAME; after `-n` by their names."""
    from tpuplane.status.objects import Job  # noqa: PLC0415
    from tpuplane.status.reading import Cluster, NoContext, Unreachable  # noqa: PLC0415

    given = context.params
    namespace = given.get("namespace")
    with suppress(NoContext, Unreachable), Cluster(given.get("kubeconfig"), given.get("context")).asking() as ask:
        paths = {kind: path for kind, path in ask.kinds().items() if kind not in _NOT_OFFERED}
        every = (job for kind, path in paths.items() for job in ask.named(kind, path, None, namespace) or ())
        found = [job for job in every if isinstance(job, Job) and not job.owners]
        return sorted({job.name if namespace else f"{job.namespace}/{job.name}" for job in found})
    return []


def kinds() -> list[str]:
    """Kinds of jobs."""
    from tpuplane.status.asking import JOB_KINDS  # noqa: PLC0415

    return [*JOB_KINDS, "CronJob", "Pod"]


def change_classes() -> list[str]:
    """The values of `--fail-on`."""
    from tpuplane.diff import MARKS, classes  # noqa: PLC0415

    return [*classes(), *MARKS]
