"""The webhook of Kueue's slice controller, in a cluster that has its published manifest. Emulated: the twin answers it.

The pod of the controller is simulated. The API server reaches the twin's own webhook at its address, and the authority
of that stands in the configuration, as the real controller writes its own.
"""

import base64

from tpuplane_twin.cluster.api import Api, Object

SERVICE = "slice-controller-webhook-service.slice-controller-system.svc"
PATHS = (
    "/mutate-batch-v1-job",
    "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
    "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
)
_CONFIGURATION = "slice-controller-mutating-webhook-configuration"
_PORT = 9443


def is_controller(pod: Object, port: int) -> bool:
    """Whether this port of the pod is the webhook of the controller."""
    of_controller = pod["metadata"]["namespace"] == SERVICE.split(".")[1]
    return of_controller and port == _PORT and "kueue-slice-controller" in pod["spec"]["containers"][0]["image"]


async def trust(api: Api, certificate: str) -> None:
    """Write the authority of the twin's webhook into the configuration, where a cluster has it."""
    if (found := await api.get("MutatingWebhookConfiguration", _CONFIGURATION)) is None:
        return
    bundle = base64.b64encode(certificate.encode()).decode()
    webhooks = [{**hook, "clientConfig": {**hook["clientConfig"], "caBundle": bundle}} for hook in found["webhooks"]]
    if webhooks != found["webhooks"]:
        version = {"resourceVersion": found["metadata"]["resourceVersion"]}
        await api.merge("MutatingWebhookConfiguration", _CONFIGURATION, {"metadata": version, "webhooks": webhooks})
