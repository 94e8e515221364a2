"""A definition that the API server never serves, because a user's own has its names."""

from __future__ import annotations

import ssl
from contextlib import aclosing
from typing import Any

import pytest
from tpuplane_twin.cluster.api import Api, ClusterError
from tpuplane_twin.cluster.install import established

pytestmark = pytest.mark.unit

NAME = "jobsets.jobset.x-k8s.io"
ESTABLISHED = {"type": "Established", "status": "True"}
REJECTED = [
    {"type": "NamesAccepted", "status": "False", "message": '"JobSetList" is already in use'},
    {"type": "Established", "status": "False", "message": "not all names are accepted"},
]


class Definitions(Api):
    """A server whose definition has other conditions each time; the last ones stay."""

    def __init__(self, *conditions: list[dict[str, str]] | None) -> None:
        super().__init__("http://127.0.0.1:1", tls=ssl.create_default_context(), token="token")
        self.conditions = list(conditions)

    async def request(self, *_: Any, **__: Any) -> dict[str, Any]:
        first = self.conditions[0]
        self.conditions = self.conditions[1:] or self.conditions
        return {"status": {"conditions": first}}


async def test_one_whose_names_are_taken_is_not_waited_for_for_ever() -> None:
    async with aclosing(Definitions(REJECTED)) as api:
        with pytest.raises(
            ClusterError, match=r'does not serve jobsets.* after 0 s: "JobSetList" is already in use; not'
        ):
            await established(api, NAME, within=0)


async def test_one_that_comes_is_waited_for() -> None:
    async with aclosing(Definitions(None, REJECTED, [ESTABLISHED])) as api:
        await established(api, NAME)
        assert api.conditions == [[ESTABLISHED]]
