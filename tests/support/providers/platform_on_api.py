"""A whole platform, from its description to Google's API: plan, components, provider, in one process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from tpuplane.spec import parse_platform
from tpuplane_twin.daemon.described import described

from tests.support.components.deployment import Inputs, deploy_platform
from tests.support.providers.gcp_driver import (
    ACCOUNT,
    CLUSTER,
    NETWORK,
    NODE_POOL,
    RESOURCE_POLICY,
    SUBNETWORK,
    Deployed,
    Driver,
)
from tests.support.providers.google_api import TOKEN

# What a node pool stands on. The rest (NAT, roles) is made by tests of its own.
_MADE = (NETWORK, SUBNETWORK, ACCOUNT, CLUSTER, RESOURCE_POLICY, NODE_POOL)
_KINDS = {CLUSTER: "cluster", RESOURCE_POLICY: "policy", NODE_POOL: "pool"}


class Made(NamedTuple):
    """A resource as it was made, and the properties whose changes the program ignores."""

    resource: Deployed
    ignored: tuple[str, ...]


def deploy_on(driver: Driver, description: Inputs, changes: Mapping[str, Inputs]) -> Iterator[Made]:
    """Make the resources of the description, in the order of the program, each with `changes` of its kind laid over it.

    The system pool is as right as before: only pools of slices are changed.
    """
    _reserve(driver.url, described(parse_platform(description)))
    ids: dict[str, str] = {}
    for registered in deploy_platform(description).custom():
        if registered.type not in _MADE:
            continue
        inputs = with_ids(registered.inputs, ids)
        if not registered.name.endswith("-system"):
            inputs = _laid_over(inputs, changes.get(_KINDS.get(registered.type, ""), {}))
        made = driver.create(registered.type, registered.name, **inputs)
        ids[f"{registered.name}-id"] = made.id  # what the mocks answered for it
        yield Made(made, tuple(registered.request.ignoreChanges))


def _reserve(url: str, reservations: Inputs) -> None:
    """Give the API what the description has bought."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    body = json.dumps(reservations).encode()
    with urlopen(Request(f"{url}/twin/reservations", data=body, method="PUT", headers=headers)) as answer:
        assert answer.status == 200


def with_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """The inputs with the ids that Google gave in the place of those of the mocks."""
    if isinstance(value, dict):
        return {name: with_ids(item, ids) for name, item in value.items()}
    if isinstance(value, list):
        return [with_ids(item, ids) for item in value]
    return ids.get(value, value) if isinstance(value, str) else value


def _laid_over(inputs: Inputs, change: Inputs) -> Inputs:
    """`inputs` with `change` laid over it; None takes a field away."""
    merged = dict(inputs)
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict) and isinstance(merged.get(name), dict):
            merged[name] = _laid_over(merged[name], value)
        else:
            merged[name] = value
    return merged
