"""The commands that read clusters: `status`, `why` and `ui`."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from tpuplane.cli.exit_codes import MISTAKE, UNREACHABLE, USAGE

Kubeconfig = Annotated[
    Path | None, typer.Option("--kubeconfig", metavar="FILE", help="Default: $KUBECONFIG, else ~/.kube/config.")
]
Contexts = Annotated[
    list[str] | None,
    typer.Option("--context", help="A context of the kubeconfig; repeatable. Default: the current context."),
]


def status(
    kubeconfig: Kubeconfig = None,
    context: Contexts = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show the status again after each change, until Ctrl-C.")
    ] = False,
    as_json_: Annotated[
        bool, typer.Option("--json", help="Print the status as JSON; with --watch in one line for each change.")
    ] = False,
) -> None:
    """Show the pools, slices and queues of a cluster: which job has which slice, which job waits and why.

    Exit code 0: shown. 2: no such kubeconfig or context. 3: the cluster cannot be reached or rejects the request.
    """
    from tpuplane.cli.status_table import print_clusters  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    with cluster_errors():
        clusters = [Cluster(kubeconfig, name) for name in contexts_of(context)]
        if watch:
            _watch(clusters, as_json_)
            return
        described = [it.read().described() for it in clusters]
    if as_json_:
        typer.echo(json.dumps({"clusters": described}, indent=2))
    else:
        print_clusters(described)


def why(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The name of a job or pod, or NAMESPACE/NAME.")],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Its namespace. Default: it is looked for in all.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Its kind, such as JobSet. Default: any kind.")] = None,
    kubeconfig: Kubeconfig = None,
    context: Annotated[
        str | None, typer.Option("--context", help="A context of the kubeconfig. Default: the current context.")
    ] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the state as JSON.")] = False,
) -> None:
    """Explain the state of a job: what it waits for, what holds that, and what would help.

    JOB is a Job, JobSet, RayJob, RayCluster, RayService, LeaderWorkerSet, StatefulSet, Deployment or Pod.

    Exit code 0: explained. 1: no such job, or several. 2: wrong arguments, no such kubeconfig or context. 3: the
    cluster cannot be reached or rejects the request.
    """
    from tpuplane.cli.status_table import print_job  # noqa: PLC0415
    from tpuplane.status.finding import NoJob  # noqa: PLC0415
    from tpuplane.status.job import explain  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    first, slash, name = job.rpartition("/")
    if not name or "/" in first or (slash and not first) or (first and namespace not in (None, first)):
        raise typer.BadParameter(f"{job!r} is not NAME or NAMESPACE/NAME; name one namespace", param_hint="JOB")
    with cluster_errors():
        try:
            objects, found = Cluster(kubeconfig, context).read_job(name, first or namespace, kind)
        except NoJob as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(MISTAKE) from None
    explained = explain(objects, objects.described(), found)
    if as_json_:
        typer.echo(json.dumps(explained, indent=2))
    else:
        print_job(explained)


def ui(
    kubeconfig: Kubeconfig = None,
    context: Contexts = None,
    every: Annotated[bool, typer.Option("--all", help="Show the clusters of all contexts of the kubeconfig.")] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port on 127.0.0.1; 0: a free one.")] = 8787,
) -> None:
    """Show slices, queues, waiting jobs, events and cost of clusters on a page of 127.0.0.1, until Ctrl-C.

    The page follows changes. It only reads, and needs no other site. A cluster that cannot be reached is tried again.

    Exit code 0: ended by Ctrl-C. 2: no such kubeconfig or context, or the port is taken.
    """
    import threading  # noqa: PLC0415

    from tpuplane.status.reading import Cluster, contexts  # noqa: PLC0415
    from tpuplane.status.watching import watch  # noqa: PLC0415
    from tpuplane.ui.server import Page  # noqa: PLC0415

    with cluster_errors():
        clusters = [Cluster(kubeconfig, name) for name in (contexts(kubeconfig) if every else contexts_of(context))]
    try:
        page = Page(port)
    except OSError as error:
        typer.echo(f"error: port {port} on 127.0.0.1: {error.strerror}; name another one with --port", err=True)
        raise typer.Exit(USAGE) from None
    threading.Thread(target=page.serve_forever, daemon=True).start()
    typer.echo(f"{page.address} shows {', '.join(it.context for it in clusters)}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        for states in watch(clusters):
            page.show(states)


def _watch(clusters: Sequence[Any], as_json_: bool) -> None:
    """Print the status after each change until Ctrl-C."""
    from tpuplane.cli.status_table import print_clusters  # noqa: PLC0415
    from tpuplane.status.reading import Unreachable  # noqa: PLC0415
    from tpuplane.status.watching import watch  # noqa: PLC0415

    shown: list[Any] = []
    with suppress(KeyboardInterrupt):
        for states in watch(clusters):
            if unread := [it.problem for it in states if it.objects is None]:
                raise Unreachable(unread[0])
            if shown != (shown := [it.described() for it in states]):
                typer.echo(json.dumps({"clusters": shown})) if as_json_ else print_clusters(shown, again=True)


def contexts_of(context: list[str] | None) -> Sequence[str | None]:
    """The contexts to read; None is the current one."""
    return context or [None]


@contextmanager
def cluster_errors() -> Iterator[None]:
    """End the command if the cluster is unknown or cannot be read."""
    from tpuplane.status.reading import NoContext, Unreachable  # noqa: PLC0415

    try:
        yield
    except (NoContext, Unreachable) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(USAGE if isinstance(error, NoContext) else UNREACHABLE) from None
