"""`tpuplane drain`."""

import json
import signal
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tpuplane.cli.clusters import Context, Kubeconfig, cluster_errors
from tpuplane.cli.exit_codes import INTERRUPTED, MISTAKE, ended


def drain(
    pools: Annotated[list[str], typer.Argument(metavar="POOL...", help="Node pools of TPUs or GPUs, as in status.")],
    preempt: Annotated[
        bool, typer.Option("--preempt", help="Stop the jobs of queues; they wait again. Default: let them finish.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Allow new work on the pools again.")] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Empty node pools before a change replaces or deletes them: no new work starts, and the running work ends first.

    The nodes are cordoned. The command waits until no job has chips or GPUs on them. Ctrl-C and the signals TERM and
    HUP end the command, and the nodes remain cordoned.

    Exit code 0: the pools are empty, or allow new work again. 1: no such node pool of TPUs or GPUs. 2: no such
    kubeconfig or context. 3: the cluster cannot be reached or rejects the request. 130: stopped by Ctrl-C or one of
    the signals.
    """
    from tpuplane.status.draining import Stopped, cordon  # noqa: PLC0415
    from tpuplane.status.reading import Cluster  # noqa: PLC0415

    signals: list[int] = []

    def end(number: int, _: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) != signal.SIG_IGN:  # as with nohup
            signal.signal(ending, end)
    with cluster_errors():
        cluster = Cluster(kubeconfig, context)
        objects = cluster.read()
        rows = objects.described()["nodePools"]
        known = sorted(row["name"] for row in rows if row["chips"] or row["gpus"])
        if unknown := [pool for pool in pools if pool not in known]:
            allowed = ", ".join(known) or "none"
            raise ended(f"error: {unknown[0]!r} is not a node pool with TPUs or GPUs; allowed: {allowed}", MISTAKE)
        try:
            cordon(cluster, objects, pools, closed=not undo)
            with Stopped(cluster, objects, pools) as stopped:
                jobs = {} if undo else _until_empty(cluster, pools, stopped, signals, preempt=preempt)
        except KeyboardInterrupt:
            message = "stopped; the nodes remain cordoned. Run the command again, or with --undo to uncordon them"
            raise ended(message, INTERRUPTED) from None
    if as_json_:
        typer.echo(json.dumps({"pools": pools, "cordoned": not undo, "jobs": jobs}))
    elif undo:
        typer.echo(f"{', '.join(pools)}: new work can start")
    else:
        typer.echo(f"{', '.join(pools)}: empty. Run the change now, or allow new work with --undo")


def _until_empty(
    cluster: Any, pools: list[str], stopped: Any, signals: Sequence[int], *, preempt: bool
) -> dict[str, str]:
    """Wait until no job has chips or GPUs on the pools. Returns what happened to each job."""
    from tpuplane.status.draining import cordon, held  # noqa: PLC0415
    from tpuplane.status.watching import watch  # noqa: PLC0415

    said: dict[str, str] = {}
    lines: set[str] = set()
    for (state,) in watch([cluster]):
        if signals:  # Python ignores an exception of a signal handler that runs in a finalizer
            raise KeyboardInterrupt
        if state.problem != said.get("", ""):
            said[""] = state.problem
            typer.echo(state.problem or "the cluster answers again", err=True)
        if state.objects and not state.problem:  # GKE creates new nodes during the wait, for example in a repair
            cordon(cluster, state.objects, pools, closed=True)
        running = held(state.objects, pools) if state.objects else None
        for uid, job in (running or {}).items():
            if preempt and job.workload is not None:
                stopped.stop(job.workload)
            text = "stops" if uid in stopped.workloads else "runs until its end"
            text += " (Kueue cannot stop it and start it again)" if preempt and job.workload is None else ""
            said[job.job] = text
            if (line := f"{job.job} on {', '.join(job.pools)}: {text}") not in lines:
                lines.add(line)
                typer.echo(line, err=True)
        if running is not None:
            stopped.release(running)
        if running == {}:
            return {job: "waits again" if text == "stops" else "ended" for job, text in said.items() if job}
    return {}
