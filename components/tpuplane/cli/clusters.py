"""The commands that read clusters: `status`, `why` and `ui`."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from tpuplane.cli.completion import any_file, jobs, kinds, stack_files
from tpuplane.cli.completion import contexts as contexts_
from tpuplane.cli.exit_codes import MISTAKE, UNREACHABLE, USAGE, ended

Kubeconfig = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Default: $KUBECONFIG, else ~/.kube/config.", autocompletion=any_file),
]
Contexts = Annotated[
    list[str] | None,
    typer.Option(
        help="A context of the kubeconfig; repeatable. Default: the current context.", autocompletion=contexts_
    ),
]
Context = Annotated[
    str | None,
    typer.Option(help="A context of the kubeconfig. Default: the current context.", autocompletion=contexts_),
]
Every = Annotated[bool, typer.Option("--all", help="Show the clusters of all contexts of the kubeconfig.")]
Stack = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also show the node pools of this stack file that the cluster lacks.",
        autocompletion=stack_files,
    ),
]


def status(
    kubeconfig: Kubeconfig = None,
    context: Contexts = None,
    every: Every = False,
    stack: Stack = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show the status again after each change, until Ctrl-C.")
    ] = False,
    as_json_: Annotated[
        bool, typer.Option("--json", help="Print the status as JSON; with --watch in one line for each change.")
    ] = False,
    links: Annotated[
        bool, typer.Option("--links", help="Print only the addresses of logs and dashboards in Google's console.")
    ] = False,
) -> None:
    """Show the pools, slices and queues of a cluster: the jobs that hold slices, and why other jobs wait.

    With Google credentials, it also gets the state of each node pool from Google's API.

    Exit code 0: shown. 1: the stack file has mistakes. 2: no such kubeconfig, context or stack file. 3: a cluster
    cannot be reached or rejects the request; the others are shown.
    """
    from tpuplane.cli.status_table import print_clusters, print_links  # noqa: PLC0415
    from tpuplane.status.reading import Unreachable, contexts  # noqa: PLC0415

    if links and (watch or as_json_):
        raise typer.BadParameter("not together with --watch or --json", param_hint="--links")
    pools, described, failed = _node_pools(stack, as_json_), [], []
    clusters = _clusters(kubeconfig, context, every)
    if watch:
        _watch(clusters, pools, as_json_)
        return
    for cluster in clusters:
        try:
            objects = cluster.read()
            described.append(pools.complete(objects.described(), objects.nodes))
        except Unreachable as error:
            deleted = pools.deleted(cluster.context)
            failed.append(f"{deleted}. {error}" if deleted else str(error))
    if as_json_:
        typer.echo(json.dumps({"clusters": described} | ({"errors": failed} if failed else {}), indent=2))
    elif links:
        print_links(described)
    elif described:
        number = 1 if every or context else len(contexts(kubeconfig))
        hint = f", 1 of {number} contexts; --all shows all" if number > 1 else ""
        print_clusters(described, hint)
    for text in failed:
        typer.echo(f"error: {text}", err=True)
    if failed:
        raise typer.Exit(UNREACHABLE)


def why(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="The name of a job or pod, or NAMESPACE/NAME.", autocompletion=jobs)
    ],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Its namespace. Default: all namespaces.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="Its kind, such as JobSet. Default: any kind.", autocompletion=kinds)
    ] = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    stack: Stack = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the state as JSON.")] = False,
) -> None:
    """Explain the state of a job: why it waits, which jobs hold its resources, and the possible remedies.

    JOB is a Job, JobSet, RayJob, RayCluster, RayService, TrainJob, LeaderWorkerSet, StatefulSet, Deployment,
    CronJob or Pod. For a CronJob, the newest of its Jobs is explained.

    Exit code 0: explained. 1: no such job, or several, or the stack file has mistakes. 2: wrong arguments, no such
    kubeconfig, context or stack file. 3: the cluster cannot be reached or rejects the request.
    """
    from tpuplane.cli.status_table import print_job  # noqa: PLC0415
    from tpuplane.status.finding import NoJob  # noqa: PLC0415
    from tpuplane.status.job import explain  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    first, slash, name = job.rpartition("/")
    if not name or "/" in first or (slash and not first) or (first and namespace not in (None, first)):
        raise typer.BadParameter(f"{job!r} is not NAME or NAMESPACE/NAME; name one namespace", param_hint="JOB")
    pools = _node_pools(stack, as_json_)
    with cluster_errors():
        try:
            objects, found = Cluster(kubeconfig, context).read_job(name, first or namespace, kind)
        except NoJob as error:
            raise ended(f"error: {error}", MISTAKE) from None
    explained = explain(objects, pools.complete(objects.described(), objects.nodes), found)
    if as_json_:
        typer.echo(json.dumps(explained, indent=2))
    else:
        print_job(explained)


def ui(
    kubeconfig: Kubeconfig = None,
    context: Contexts = None,
    every: Every = False,
    stack: Stack = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port on 127.0.0.1; 0: a free one.")] = 8787,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            envvar="TPUPLANE_TIMELINE",
            help="Also show a file of `tpuplane-twin rehearse`. Default in a twin's shell: that of the last rehearsal.",
            autocompletion=any_file,
        ),
    ] = None,
) -> None:
    """Show slices, queues, waiting jobs, events and cost of clusters on a web page at 127.0.0.1, until Ctrl-C.

    The page updates itself. It only reads clusters, and loads nothing from other sites. It retries a cluster that
    cannot be reached.

    Exit code 0: ended by Ctrl-C. 1: the stack file has mistakes. 2: no such kubeconfig, context, stack file or
    timeline, or the port is taken.
    """
    import threading  # noqa: PLC0415

    from tpuplane.status.watching import watch  # noqa: PLC0415
    from tpuplane.ui.server import Page  # noqa: PLC0415
    from tpuplane.ui.timeline import NoTimeline, read_timeline  # noqa: PLC0415

    clusters = _clusters(kubeconfig, context, every)
    try:
        # A twin without a rehearsal does not have the file of its shell yet.
        if timeline and (timeline.exists() or str(timeline) != os.environ.get("TPUPLANE_TIMELINE")):
            read_timeline(timeline)
        page = Page(port, _node_pools(stack, False), clusters, timeline)
    except NoTimeline as error:
        raise typer.BadParameter(str(error), param_hint="--timeline") from None
    except OSError as error:
        message = f"error: port {port} on 127.0.0.1: {error.strerror}; choose another with --port"
        raise ended(message, USAGE) from None
    threading.Thread(target=page.serve_forever, daemon=True).start()
    typer.echo(f"{page.address} shows {', '.join(cluster.context for cluster in clusters)}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        for states in watch(clusters):
            page.show(states)


def _clusters(kubeconfig: Path | None, context: list[str] | None, every: bool) -> list[Any]:
    """The clusters to show. Ends the command if one is unknown."""
    from tpuplane.status.reading import Cluster, contexts  # noqa: PLC0415

    with cluster_errors():
        return [Cluster(kubeconfig, name) for name in (contexts(kubeconfig) if every else context or (None,))]


def _node_pools(stack: Path | None, as_json_: bool) -> Any:
    """The node pools of Google's API and of a stack file. Ends the command if the file has mistakes."""
    from tpuplane.cli.loaded import loaded  # noqa: PLC0415
    from tpuplane.plan import plan  # noqa: PLC0415
    from tpuplane.status.node_pools import NodePools  # noqa: PLC0415

    return NodePools(plan(loaded(stack, as_json_)), str(stack)) if stack else NodePools()


def _watch(clusters: Sequence[Any], pools: Any, as_json_: bool) -> None:
    """Print the status after each change until Ctrl-C."""
    from tpuplane.cli.status_table import print_clusters  # noqa: PLC0415
    from tpuplane.status.reading import Unreachable  # noqa: PLC0415
    from tpuplane.status.watching import watch  # noqa: PLC0415

    shown: list[Any] = []
    with cluster_errors(), suppress(KeyboardInterrupt):
        for states in watch(clusters):
            if unread := [state.problem for state in states if state.objects is None]:
                raise Unreachable(unread[0])
            now = [pools.complete(state.described(), state.objects.nodes if state.objects else ()) for state in states]
            if shown != (shown := now):
                typer.echo(json.dumps({"clusters": shown})) if as_json_ else print_clusters(shown, again=True)


@contextmanager
def cluster_errors() -> Iterator[None]:
    """End the command if the cluster is unknown or cannot be read."""
    from tpuplane.status.reading import NoContext, Unreachable  # noqa: PLC0415

    try:
        yield
    except (NoContext, Unreachable) as error:
        raise ended(f"error: {error}", USAGE if isinstance(error, NoContext) else UNREACHABLE) from None
