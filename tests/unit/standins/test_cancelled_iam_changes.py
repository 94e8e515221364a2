"""Changes of one IAM policy that wait for each other, when the user stops the deployment."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import pytest
from tpuplane_standins.providers.gcp.api import Api, Deadline, Interrupted
from tpuplane_standins.providers.gcp.resources.iam_member import IamMember
from tpuplane_standins.providers.gcp.session import Session

pytestmark = pytest.mark.unit


class CancelledInThePause(Api):
    """A connection on which the user stops the deployment while the first of the changes waits for others."""

    def __init__(self, followers: list[threading.Thread]) -> None:
        super().__init__("token", 0.01)
        self.followers = followers
        self.member: IamMember | None = None

    def pause(self, seconds: float) -> None:
        for thread in self.followers:
            thread.start()
        assert self.member is not None
        while len(self.member._waiting["acme"]) <= len(self.followers):
            threading.Event().wait(0.01)
        raise Interrupted("cancelled")


def test_a_cancelled_change_ends_the_wait_of_the_others() -> None:
    ends: SimpleQueue[Any] = SimpleQueue()

    def create() -> None:
        try:
            member.create({"project": "acme", "role": "roles/viewer", "member": "user:a@acme.com"}, Deadline(60))
        except Exception as error:
            ends.put(error)

    followers = [threading.Thread(target=create, daemon=True) for _ in range(2)]
    api = CancelledInThePause(followers)
    endpoints = {"resourceManager": "http://127.0.0.1:1/"}
    names: dict[str, Any] = {"project": "acme", "region": "us-east5", "zone": "", "attribution": ""}
    member = api.member = IamMember(Session(api=api, endpoints=endpoints, default_labels={}, **names), "iam_member")
    create()
    for thread in followers:
        thread.join(10)
    assert [type(ends.get(timeout=10)) for _ in range(3)] == [Interrupted] * 3
    assert not member._waiting
