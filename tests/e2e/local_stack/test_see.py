"""The page of `tpuplane ui` about a real control plane: its slices, who holds them, and a change as it comes."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any
from urllib.request import urlopen

import pytest

from tests.support import BIN
from tests.support.e2e.platform_under_test import CENTRAL1, CENTRAL2, PlatformUnderTest

pytestmark = pytest.mark.e2e


def test_the_page_shows_both_clusters_and_follows_a_change(platform: PlatformUnderTest) -> None:
    node = platform.items(CENTRAL1, "nodes", "-l", "cloud.google.com/gke-nodepool=evals-0")[0]["metadata"]["name"]
    command = [BIN / "tpuplane", "ui", "--all", "--port", "0"]
    variables = {**platform.variables, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().partition(" ")[0]
        with urlopen(f"{address}clusters", timeout=60) as stream:

            def until(context: str, pool: str, cells: list[Any]) -> list[Any]:
                while True:
                    line = stream.readline()
                    if line.startswith(b"data: "):
                        clusters = json.loads(line.removeprefix(b"data: "))
                        slices = [{**it, "context": of["context"]} for of in clusters for it in of["slices"]]
                        shown = {(it["context"], it["name"]): it["cells"] for it in slices}
                        if shown.get((context, pool)) == cells:
                            return [it for it in slices if it["chips"]]

            until(CENTRAL2, "cubes-0", [[2, -1, "ready"]])
            platform.kubectl(CENTRAL1, "cordon", node)
            try:
                slices = until(CENTRAL1, "evals-0", [[1, -1, "cordoned"], [3, -1, "ready"]])
            finally:
                platform.kubectl(CENTRAL1, "uncordon", node)
            until(CENTRAL1, "evals-0", [[4, -1, "ready"]])
            assert sum(it["hosts"] for it in slices) == 19
            assert all(it["usdPerHour"] > 0 for it in slices)
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0
