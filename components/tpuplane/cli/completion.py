"""Values that the shell completes: files, contexts, jobs and classes of changes. What cannot be read has none.

Typer omits values that do not begin as the typed word.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import typer

_NOT_OFFERED = ("Pod", "ReplicaSet")  # parts of other jobs


def stack_files(incomplete: str) -> list[str]:
    """Stack files, and the folders on the way to one."""
    return [it for it in any_file(incomplete) if it.endswith(("/", ".yaml", ".yml"))]


def any_file(incomplete: str) -> list[str]:
    """Files and folders. The shell's own completion of files does not work for a typed argument."""
    folder, _, start = incomplete.rpartition("/")
    shown = f"{folder}/" if folder or incomplete.startswith("/") else ""
    with suppress(OSError):
        found = [it for it in Path(shown or ".").expanduser().iterdir() if it.name.startswith(start)]
        hidden = start.startswith(".")
        return sorted(f"{shown}{it.name}{'/' * it.is_dir()}" for it in found if hidden or not it.name.startswith("."))
    return []


def contexts(context: typer.Context) -> list[str]:
    """The contexts of the kubeconfig that the command line names."""
    from tpuplane.status.reading import NoContext  # noqa: PLC0415
    from tpuplane.status.reading import contexts as of_kubeconfig  # noqa: PLC0415

    with suppress(NoContext):
        return of_kubeconfig(context.params.get("kubeconfig"))
    return []


def jobs(context: typer.Context) -> list[str]:
    """Jobs that are not a part of another one, as NAMESPACE/NAME; after `-n` by their names."""
    from tpuplane.status.reading import NoContext, Unreachable  # noqa: PLC0415

    with suppress(NoContext, Unreachable):
        return sorted(set(_jobs(context)))
    return []


def _jobs(context: typer.Context) -> Iterator[str]:
    from tpuplane.status.objects import Job  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    given = context.params
    namespace = given.get("namespace")
    with Cluster(given.get("kubeconfig"), given.get("context")).asking() as ask:
        for kind, path in ask.kinds().items():
            for it in ask.named(kind, path, None, namespace) or () if kind not in _NOT_OFFERED else ():
                if isinstance(it, Job) and not it.owners:
                    yield it.name if namespace else f"{it.namespace}/{it.name}"


def kinds() -> list[str]:
    """Kinds of jobs."""
    from tpuplane.status.asking import JOB_KINDS  # noqa: PLC0415

    return [*JOB_KINDS, "Pod"]


def change_classes() -> list[str]:
    """The values of `--fail-on`."""
    from tpuplane.diff import MARKS, classes  # noqa: PLC0415

    return [*classes(), *MARKS]
