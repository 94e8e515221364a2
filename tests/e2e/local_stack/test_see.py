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
        try:
            assert process.stdout is not None
            address = process.stdout.readline().partition(" ")[0]
            with urlopen(f"{address}clusters", timeout=60) as stream:

                def until(context: str, pool: str, cells: list[Any]) -> list[Any]:
                    line = b""
                    while True:
                        last, line = line, stream.readline()
                        if line.startswith(b"data: ") and last != b"event: timeline\n":
                            clusters = json.loads(line.removeprefix(b"data: "))
                            slices = [
                                {**slice_, "context": cluster["context"]}
                                for cluster in clusters
                                for slice_ in cluster["slices"]
                            ]
                            shown = {(slice_["context"], slice_["name"]): slice_["cells"] for slice_ in slices}
                            if shown.get((context, pool)) == cells:
                                return [slice_ for slice_ in slices if slice_["chips"]]

                until(CENTRAL2, "cubes-0", [[2, -1, "ready"]])
                platform.kubectl(CENTRAL1, "cordon", node)
                try:
                    slices = until(CENTRAL1, "evals-0", [[1, -1, "cordoned"], [3, -1, "ready"]])
                finally:
                    platform.kubectl(CENTRAL1, "uncordon", node)
                until(CENTRAL1, "evals-0", [[4, -1, "ready"]])
                assert sum(slice_["hosts"] for slice_ in slices) == 19
                assert all(slice_["usdPerHour"] > 0 for slice_ in slices)
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0
