"""Google's API of a twin that has ended: the provider names the remedy, without a long wait."""

import socket

import pytest
from tpuplane_standins.providers.gcp.api import Api, Unreachable

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refused_connection_names_the_command_that_starts_the_twin(method: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound without `listen`: the port refuses connections, and no one else gets it
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1/projects/acme"
        with pytest.raises(
            Unreachable,
            match=f"^Google's API .*: {method} {url}: .*; if the twin has ended, start it: tpuplane-twin up",
        ):
            Api("token", poll_seconds=0.01).call(method, url)
