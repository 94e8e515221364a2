"""The stand-in provider's client of an API server of the test's own, without TLS."""

from __future__ import annotations

import json

from tpuplane_standins.providers.kubernetes.api import ApiServer
from tpuplane_standins.providers.kubernetes.kubeconfig import load


def client_of(port: int) -> ApiServer:
    """A client of what listens at that port of 127.0.0.1."""
    name = {"name": "test"}
    config = {
        "current-context": "test",
        "contexts": [{**name, "context": {"cluster": "test", "user": "test"}}],
        "clusters": [{**name, "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{**name, "user": {"token": "a-token"}}],
    }
    return ApiServer(load(json.dumps(config), "", "", ""))
