"""The dashboard of a simulated Ray head, which answers KubeRay's requests about jobs.

Without it KubeRay would take the API server's "Failure" for the status of the job. A job has the state of the pod that
submits it, because nothing computes.
"""

import asyncio
import socket
from functools import partial

from aiohttp import web

from tpuplane_twin.cluster.api import Api, Object

_JOBS = "/api/jobs/"  # https://docs.ray.io/en/latest/cluster/running-applications/job-submission/rest.html
_STATES = {"Pending": "PENDING", "Running": "RUNNING", "Succeeded": "SUCCEEDED", "Failed": "FAILED"}
_NOTE = "The Ray cluster is simulated: the job has the state of the pod that submits it, and nothing computes."


def is_dashboard(pod: Object, port: int) -> bool:
    """Whether this port of the pod is the dashboard of a Ray head."""
    ports = (port for container in pod["spec"]["containers"] for port in container.get("ports", ()))
    head = pod["metadata"].get("labels", {}).get("ray.io/node-type") == "head"
    return head and any(offered.get("name") == "dashboard" and offered["containerPort"] == port for offered in ports)


class RayHeads:
    """The dashboards of a cluster's simulated Ray heads."""

    def __init__(self) -> None:
        self._submitted: set[tuple[str, str]] = set()  # uid of the head, id of the job

    async def connect(self, api: Api, head: Object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the dashboard of that head."""
        near, far = socket.socketpair()
        serving = web.Server(partial(self._serve, api, head["metadata"]))
        await asyncio.get_running_loop().connect_accepted_socket(serving, far)
        return await asyncio.open_connection(sock=near)

    async def _serve(self, api: Api, head: Object, request: web.BaseRequest) -> web.Response:
        answer = await self._answer(api, head, request)
        # The API server keeps open connections by address, and the next pod at this address is another head.
        answer.force_close()
        return answer

    async def _answer(self, api: Api, head: Object, request: web.BaseRequest) -> web.Response:
        if not request.path.startswith(_JOBS):
            return web.Response(status=404, text="no Ray runs in a simulated pod")
        job, _, action = request.path.removeprefix(_JOBS).partition("/")
        if request.method == "POST" and not job:
            job = str((await request.json())["submission_id"])
            self._submitted.add((head["uid"], job))
            return web.json_response({"job_id": job, "submission_id": job})
        state = await self._state(api, head, job)
        if action == "stop" or request.method == "DELETE":
            self._submitted.discard((head["uid"], job))
            return web.json_response({"stopped": True})
        if state is None:
            return web.Response(status=404, text=f"Job {job} does not exist")
        return web.json_response({"submission_id": job, "status": state, "message": _NOTE})

    async def _state(self, api: Api, head: Object, job: str) -> str | None:
        """The state of a job; None for one that was not submitted."""
        if (head["uid"], job) in self._submitted:
            return "RUNNING"
        jobs = await api.list("RayJob", head["namespace"])
        found = next((candidate for candidate in jobs if candidate.get("status", {}).get("jobId") == job), None)
        if found is None:
            return None
        if found["spec"].get("submissionMode") == "SidecarMode":
            return "RUNNING"
        name = f"batch.kubernetes.io/job-name={found['metadata']['name']}"
        pods = await api.list("Pod", head["namespace"], labelSelector=name)
        newest = max(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)
        return None if newest is None else _STATES.get(newest["status"].get("phase", ""))
