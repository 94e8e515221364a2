"""The gate after an operator. It opens when the webhooks answer, which is later than its Deployment is ready."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

import pulumi

from tpuplane.plan.addons import AddonPlan

PATIENCE = 600.0
"""Time limit in seconds, the same as the provider's for a Deployment."""

_FIRST_WAIT, _LONGEST_WAIT, _GROWTH = 0.25, 5.0, 1.6

# Answers that do not change with time, because the API server rejects the probe itself.
_FINAL = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY})

_REQUEST_TIMEOUT = (5, 35)  # seconds to connect, and for the answer: a webhook can take 30


class NotReady(Exception):
    """An operator's webhooks do not answer, or the API server rejects the probe."""


class Rejected(Exception):
    """The API server rejects the probe itself."""


def hook(name: str, plan: AddonPlan, probe: Mapping[str, Any], kubeconfig: pulumi.Output[str]) -> pulumi.ResourceHook:
    """Return the hook that waits until the add-on's webhooks answer.

    The engine runs it before it creates or updates a resource, but not in a preview or for an unchanged resource. So it
    needs no cluster that does not exist yet, and adds nothing to the state.
    """

    async def wait(_: pulumi.ResourceHookArgs) -> None:
        if (config := await kubeconfig.future()) is None:
            raise NotReady(f"{plan.title}: the cluster's kubeconfig is not known")
        send = probe_sender(json.loads(config), probe)
        await until_accepted(plan, lambda: asyncio.to_thread(send), PATIENCE)

    return pulumi.ResourceHook(name, wait)


async def until_accepted(plan: AddonPlan, ask: Callable[[], Awaitable[str | None]], patience: float) -> None:
    """Send the probe until it is accepted, at growing intervals.

    Raises `NotReady` with the API server's last message, after `patience` seconds or if it rejects the probe.
    """
    loop = asyncio.get_running_loop()
    deadline, wait = loop.time() + patience, _FIRST_WAIT
    try:
        while (message := await ask()) is not None:
            if loop.time() + wait > deadline:
                raise NotReady(
                    f"{plan.title} did not answer within {patience:.0f} s. The last message of the API server: "
                    f"{message or 'none'}. See `kubectl -n {plan.namespace} get pods,events`, fix the cause and run "
                    "`pulumi up` again"
                )
            pulumi.log.debug(f"{plan.title} does not answer yet: {message}")
            await asyncio.sleep(wait)
            wait = min(wait * _GROWTH, _LONGEST_WAIT)
    except Rejected as error:
        last = str(error) or "none"
        raise NotReady(f"{plan.title}: the API server rejects the probe of its webhooks: {last}") from None


def probe_sender(kubeconfig: Mapping[str, Any], probe: Mapping[str, Any]) -> Callable[[], str | None]:
    """Return a function that sends the probe as a dry run, once, with fresh credentials.

    It returns None if the probe is accepted, otherwise why not yet. It raises `Rejected` if that does not change.
    """
    # Imported late, because the import is slow and most programs do not need it.
    from kubernetes.client import ApiException, CustomObjectsApi  # noqa: PLC0415
    from kubernetes.config import ConfigException, new_client_from_config_dict  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    connect: Any = new_client_from_config_dict
    arguments = {**probe, "dry_run": "All", "_request_timeout": _REQUEST_TIMEOUT}

    def send() -> str | None:
        try:
            with connect(dict(kubeconfig), persist_config=False) as client:
                client.configuration.retries = False
                api: Any = CustomObjectsApi(client)
                if "namespace" in probe:
                    api.create_namespaced_custom_object(**arguments)
                else:
                    api.create_cluster_custom_object(**arguments)
        except ApiException as error:
            text = _message(error.body) or str(error.reason)
            if error.status in _FINAL:
                raise Rejected(text) from None
            # A conflict with an existing object also means that the webhooks have accepted the probe.
            return None if error.status == HTTPStatus.CONFLICT else text
        except (HTTPError, ConfigException, OSError) as error:
            return str(error)
        return None

    return send


def _message(body: Any) -> str:
    try:
        return str(json.loads(body)["message"])
    except (TypeError, ValueError, KeyError):
        return ""
