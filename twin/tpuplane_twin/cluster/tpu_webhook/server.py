"""The webhook's server, in the supervisor's process, and its registration with the API server."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web

from tpuplane_twin.cluster import compute_class
from tpuplane_twin.cluster.api import Api, Object
from tpuplane_twin.cluster.layout import Layout, LoopbackServer
from tpuplane_twin.cluster.tpu_webhook import jobs, ray
from tpuplane_twin.cluster.tpu_webhook.pods import Pod, Rejected, patch

logger = logging.getLogger(__name__)

PORT = "tpu-webhook"
_MUTATING, _VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"
_JOB_PODS = "gke-tpu-job-webhook"
_CLASS_PODS = "gke-compute-class-webhook"
_RAY_PODS = "kuberay-tpu-mutating-webhook-cfg"
_RAY_CLUSTERS = "kuberay-tpu-validating-webhook-cfg"
_LARGEST_REVIEW = 8 * 1024**2  # bytes; etcd rejects objects of more than 1.5 MiB
_NOT_SYSTEM = {
    "matchExpressions": [
        {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": ["kube-system", "kube-node-lease"],
        }
    ]
}
# Only pods that ask for chips: every other pod is created without a round trip.
_ASKS_FOR_TPU = (
    "object.spec.containers.exists(c, has(c.resources) && ("
    "(has(c.resources.limits) && 'google.com/tpu' in c.resources.limits) || "
    "(has(c.resources.requests) && 'google.com/tpu' in c.resources.requests)))"
)


class TpuWebhook(LoopbackServer):
    """Serves admission reviews over mutual TLS on 127.0.0.1."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._api: Api | None = None

    async def start(self) -> None:
        """Listen. Raises `OSError` where the port is taken."""
        app = web.Application(client_max_size=_LARGEST_REVIEW)
        app.router.add_post("/mutate/ray", _mutating(ray.mutate))
        app.router.add_post("/mutate/job", _mutating(jobs.mutate))
        app.router.add_post("/mutate/class", _mutating(compute_class.tolerating))
        app.router.add_post("/mutate/default-class", self._default_class)
        app.router.add_post("/validate/raycluster", _validating(ray.validate))
        await self.listen(app, PORT, self._layout.serving(PORT))

    async def register(self, api: Api, *, ray: bool) -> None:
        """Register the webhooks of Job pods and of compute classes, and those of Ray with `ray`."""
        self._api = api
        asks = [{"name": "asks-for-tpu", "expression": _ASKS_FOR_TPU}]
        of_jobs = {"matchExpressions": [{"key": jobs.JOB, "operator": "Exists"}]}
        of_ray = {"matchLabels": {"app.kubernetes.io/name": "kuberay"}}
        job_pods = self._webhook(_JOB_PODS, "/mutate/job", objectSelector=of_jobs, matchConditions=asks)
        ray_pods = self._webhook(_RAY_PODS, "/mutate/ray", objectSelector=of_ray, matchConditions=asks)
        clusters = self._webhook(_RAY_CLUSTERS, "/validate/raycluster", rules=[_rule("ray.io", "*", "rayclusters")])
        await api.apply(_configuration(_MUTATING, _CLASS_PODS, *self._of_classes()))
        await api.apply(_configuration(_MUTATING, _JOB_PODS, job_pods))
        if ray:
            await api.apply(_configuration(_MUTATING, _RAY_PODS, ray_pods))
            await api.apply(_configuration(_VALIDATING, _RAY_CLUSTERS, clusters))
        else:
            await api.delete(_MUTATING, _RAY_PODS)
            await api.delete(_VALIDATING, _RAY_CLUSTERS)

    async def _default_class(self, request: web.Request) -> web.Response:
        api, review = self._api, await request.json()
        found = await api.get("Namespace", review["request"]["namespace"]) if api is not None else None
        name = ((found or {"metadata": {}})["metadata"].get("labels") or {}).get(compute_class.NAMESPACE_DEFAULT)
        answer: web.Response = await _mutating(lambda pod: compute_class.defaulted(pod, name))(request)
        return answer

    def _of_classes(self) -> Iterator[Object]:
        """The webhooks of compute classes. The default class of a cluster changes no pod: the autoscaler reads it."""
        none = [{"name": "no-class", "expression": compute_class.NAMES_NONE}]
        marked = {"key": compute_class.NAMESPACE_DEFAULT, "operator": "Exists"}
        namespaces = {"matchExpressions": [*_NOT_SYSTEM["matchExpressions"], marked]}
        named = [{"name": "a-class", "expression": compute_class.NAMES_A_CLASS}]
        yield self._webhook(
            f"{_CLASS_PODS}-of-namespace", "/mutate/default-class", namespaceSelector=namespaces, matchConditions=none
        )
        yield self._webhook(f"{_CLASS_PODS}-named", "/mutate/class", matchConditions=named)

    def _webhook(self, name: str, path: str, **more: Any) -> Object:
        """One webhook; of new pods, unless `more` has other rules."""
        bundle = base64.b64encode(self._layout.authority.pem.encode()).decode()
        return {
            "name": f"{name.removesuffix('-cfg')}.ray-system.svc",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "namespaceSelector": _NOT_SYSTEM,
            "clientConfig": {"url": f"https://{self._layout.address(PORT)}{path}", "caBundle": bundle},
            "rules": [_rule("", "v1", "pods")],
            **more,
        }


def _configuration(kind: str, name: str, *webhooks: Object) -> Object:
    group = "admissionregistration.k8s.io/v1"
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, "webhooks": list(webhooks)}


def client(layout: Layout) -> Object:
    """The kubeconfig in which the API server finds what it shows this webhook: a certificate."""
    pair = layout.authority.issue(f"{PORT}-client")
    shown = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
    return {"apiVersion": "v1", "kind": "Config", "users": [{"name": layout.address(PORT), "user": shown}]}


def _rule(group: str, version: str, resource: str) -> Object:
    return {
        "operations": ["CREATE"],
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "scope": "Namespaced",
    }


def _mutating(mutate: Callable[[Pod], Pod]) -> Callable[[web.Request], Any]:
    async def handle(request: web.Request) -> web.Response:
        def answer(pod: Pod) -> Object:
            operations = patch(pod, mutate(pod))
            if not operations:
                return {}
            encoded = base64.b64encode(json.dumps(operations).encode()).decode()
            return {"patchType": "JSONPatch", "patch": encoded}

        return await _review(request, answer)

    return handle


def _validating(validate: Callable[[Object], None]) -> Callable[[web.Request], Any]:
    async def handle(request: web.Request) -> web.Response:
        def answer(item: Object) -> Object:
            validate(item)
            return {}

        return await _review(request, answer)

    return handle


async def _review(request: web.Request, answer: Callable[[Object], Object]) -> web.Response:
    try:
        review = await request.json()
        uid, item = review["request"]["uid"], review["request"]["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise web.HTTPBadRequest(text="the body is no AdmissionReview") from error
    response: Object = {"uid": uid, "allowed": True}
    try:
        response |= answer(item)
    except Rejected as rejection:
        response |= {"allowed": False, "status": {"message": str(rejection), "code": 403}}
        logger.info("rejected: %s", rejection)
    return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
