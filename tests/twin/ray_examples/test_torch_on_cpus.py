"""The PyTorch example, run: two processes of Ray Train, joined by Gloo. Skipped where Ray's environment has no PyTorch.

PyTorch is 3 GB of CUDA from the registry, so that environment comes without it; `uv pip install --python PYTHON torch`
puts it there.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tpuplane_twin_ray import environment as ray

pytestmark = pytest.mark.ray

PROGRAM = Path(__file__).parents[3] / "examples" / "ray-torch" / "train.py"
# The program finds the Ray that is there, as it does in a cluster; this one is told its address, for there is no other.
RUN = f"""
import runpy, sys, ray
ray.init(_node_ip_address="127.0.0.1", include_dashboard=False, num_cpus=3)
sys.argv = "train.py --on cpu --workers 2 --storage /tmp/checkpoints".split()
runpy.run_path({str(PROGRAM)!r}, run_name="__main__")
"""


def test_the_loop_trains_two_workers_together() -> None:
    python = ray.build() / "bin" / "python"
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
        pytest.skip(f"no PyTorch in Ray's environment; uv pip install --python {python} torch")
    # A network with nothing but the loopback, because Ray listens on every address, and a /tmp that goes with it.
    inside = 'ip link set lo up && mount -t tmpfs tmpfs /tmp && exec "$@"'
    alone = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", inside, "sh"]
    # Ray gives a node a minute to start, which is little where other work has the processors.
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "600"}
    result = subprocess.run(
        [*alone, str(python), "-c", RUN], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    (said,) = [line for line in result.stdout.splitlines() if line.startswith("result:")]
    assert "'workers': 2" in said
    assert "'device': 'cpu'" in said
