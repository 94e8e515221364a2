"""Faults of control planes: their real processes are killed or stopped, and etcd raises a real alarm.

Nothing is stored: a stopped process and an alarm are their own record. A process that starts again is not stopped.
"""

import signal
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

import psutil
from aiohttp import web
from tpuplane.contexts import gke_cluster
from tpuplane.data_files import read_data
from tpuplane.spec.core.errors import choice

from tpuplane_twin.failures.clusters import choices, clusters_named
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.planes.control_plane import ControlPlane


class Disruptions:
    """The routes of /twin/disruptions: list, begin and clear. `planes` are those that run, by context."""

    def __init__(self, planes: Mapping[str, ControlPlane]) -> None:
        self._planes = planes

    def serve(self, app: web.Application) -> None:
        """Add the routes."""
        serve(app, "/twin/disruptions", get=self._list, post=self._begin, delete=self._clear)

    async def _list(self, _: Json) -> Json:
        return {"disruptions": [found async for found in self._lasting()]}

    async def _begin(self, asked: Json) -> Json:
        kinds: dict[str, Json] = read_data("tpuplane_twin.failures", "disruptions")
        name, namespace = str(asked.get("kind") or ""), str(asked.get("namespace") or "")
        if name not in kinds:
            raise invalid(choice(name, "a disruption", kinds))
        chosen = self._chosen(asked)
        if len(chosen) != 1:
            names = ", ".join(choices(filter(None, map(gke_cluster, chosen))))
            raise invalid(f"choose a cluster with --cluster: {names or 'none runs'}")
        kind, (plane,) = kinds[name], chosen.values()
        of_operator = "process" not in kind and "alarm" not in kind
        if namespace and not of_operator:
            raise invalid(f"{name} is a fault of the control plane; leave out --namespace")
        if "alarm" in kind:
            await plane.etcd_alarms("ACTIVATE", kind["alarm"])
        else:
            operators = plane.operators()
            if of_operator and not namespace:
                running = ", ".join(sorted(operators)) or "none"
                raise invalid(f"{name} needs the namespace of an operator; running: {running}")
            if of_operator and namespace not in operators:
                raise invalid(choice(namespace, "the namespace of a running operator", sorted(operators)))
            for process in _all(plane.processes(kind["process"]) if "process" in kind else operators[namespace]):
                process.send_signal(signal.Signals[kind["signal"]])
        return await self._list(asked)

    async def _clear(self, asked: Json) -> Json:
        """End all disruptions, or those of a cluster."""
        for plane in self._chosen(asked).values():
            for process in _all(plane.processes("")):
                process.resume()
            for alarm in await plane.etcd_alarms():
                await plane.etcd_alarms("DEACTIVATE", alarm)
        return await self._list(asked)

    def _chosen(self, asked: Json) -> dict[str, ControlPlane]:
        """The control planes of the named cluster; all without one."""
        clusters = {context: own for context in self._planes if (own := gke_cluster(context))}
        return {name: self._planes[name] for name in clusters_named(str(asked.get("cluster") or ""), clusters)}

    async def _lasting(self) -> AsyncIterator[Json]:
        for context, plane in self._planes.items():
            for process in _all(plane.processes("")):
                if process.status() == psutil.STATUS_STOPPED:
                    yield {"cluster": context, "disruption": f"{process.name()} is stopped"}
            for alarm in await plane.etcd_alarms():
                yield {"cluster": context, "disruption": f"etcd has the alarm {alarm}"}


def _all(pids: Iterable[int]) -> Iterator[psutil.Process]:
    """The processes with their descendants: what runs in a pod is one."""
    for pid in pids:
        if psutil.pid_exists(pid):
            process = psutil.Process(pid)
            yield from (process, *process.children(recursive=True))
