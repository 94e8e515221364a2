"""The webhook's server, in the supervisor's process, and its registration with the API server."""

import base64
import json
import logging
from collections.abc import Callable, Collection
from functools import partial

from aiohttp import web
from tpuplane.data_files import read_data

from tpuplane_twin.cluster import compute_class, slice_jobs, slice_webhook
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.layout import LOOPBACK, Layout, LoopbackServer
from tpuplane_twin.cluster.tpu_webhook import jobs, ray
from tpuplane_twin.cluster.tpu_webhook.pods import Pod, Rejected, patch

logger = logging.getLogger(__name__)

PORT = "tpu-webhook"
_LARGEST_REVIEW = 8 * 1024**2  # bytes; etcd rejects objects of more than 1.5 MiB


class TpuWebhook(LoopbackServer):
    """Serves admission reviews over mutual TLS on 127.0.0.1."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._api: Api | None = None

    async def start(self) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        app = web.Application(client_max_size=_LARGEST_REVIEW)
        app.router.add_post("/mutate/ray", partial(_mutate, ray.mutate))
        app.router.add_post("/mutate/job", partial(_mutate, jobs.mutate))
        for path in ("/mutate/slice", *slice_webhook.PATHS):
            app.router.add_post(path, partial(_mutate, slice_jobs.mutate))
        app.router.add_post("/mutate/class", partial(_mutate, compute_class.tolerating))
        app.router.add_post("/mutate/default-class", self._default_class)
        app.router.add_post("/validate/raycluster", partial(_review, ray.validate))
        hosts = (LOOPBACK, "localhost", slice_webhook.SERVICE)
        await self.listen(app, PORT, self._layout.serving(PORT, hosts=hosts))

    async def register(self, api: Api, addons: Collection[str]) -> None:
        """Register the webhooks of Job pods and of compute classes, and those of the cluster's add-ons."""
        self._api = api
        bundle = base64.b64encode(self._layout.authority.pem.encode()).decode()
        for name, entry in read_data("tpuplane_twin.cluster", "webhooks")["configurations"].items():
            if entry.get("addon") not in (None, *addons):
                await api.delete(entry["kind"], name)
                continue
            webhooks = []
            for webhook in entry["webhooks"]:
                url = f"https://{self._layout.address(PORT)}{webhook['path']}"
                rest = {key: value for key, value in webhook.items() if key != "path"}
                webhooks.append({**rest, "clientConfig": {"url": url, "caBundle": bundle}})
            group = "admissionregistration.k8s.io/v1"
            await api.apply(
                {"apiVersion": group, "kind": entry["kind"], "metadata": {"name": name}, "webhooks": webhooks}
            )

    async def _default_class(self, request: web.Request) -> web.Response:
        api, review = self._api, await request.json()
        found = await api.get("Namespace", review["request"]["namespace"]) if api is not None else None
        name = ((found or {"metadata": {}})["metadata"].get("labels") or {}).get(compute_class.NAMESPACE_DEFAULT)
        return await _mutate(lambda pod: compute_class.defaulted(pod, name), request)


async def _mutate(mutate: Callable[[Pod], Pod], request: web.Request) -> web.Response:
    def answer(pod: Pod) -> Object:
        operations = patch(pod, mutate(pod))
        if not operations:
            return {}
        return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}

    return await _review(answer, request)


async def _review(answer: Callable[[Object], Object | None], request: web.Request) -> web.Response:
    try:
        review = await request.json()
        uid, item = review["request"]["uid"], review["request"]["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise web.HTTPBadRequest(text="the body is not an AdmissionReview") from error
    response: Object = {"uid": uid, "allowed": True}
    try:
        response |= answer(item) or {}
    except Rejected as rejection:
        response |= {"allowed": False, "status": {"message": str(rejection), "code": 403}}
        logger.info("rejected: %s", rejection)
    return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
