"""The PyTorch example, run: two processes of Ray Train, joined by Gloo. Skipped where Ray's environment has no PyTorch.

PyTorch is 3 GB of CUDA from the registry, so that environment comes without it; `uv pip install --python PYTHON torch`
puts it there.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tpuplane_twin.tools import ray

pytestmark = pytest.mark.ray

PROGRAM = Path(__file__).parents[3] / "examples" / "ray-torch" / "train.py"
# Ray takes 127.0.0.1 for no address of a node unless it is told; the program itself starts or finds a Ray as any does.
RUN = f"""
import runpy, sys, ray
ray.init(_node_ip_address="127.0.0.1", include_dashboard=False, num_cpus=3)
sys.argv = ["train.py", "cpu", "2"]
runpy.run_path({str(PROGRAM)!r}, run_name="__main__")
"""


def test_the_loop_trains_two_workers_together(tmp_path: Path) -> None:
    python = ray.build() / "bin" / "python"
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
        pytest.skip(f"no PyTorch in Ray's environment; uv pip install --python {python} torch")
    # A network of its own with nothing but the loopback: Ray listens on every address that it finds.
    inside = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    environment = {**os.environ, "RAY_TMPDIR": str(tmp_path), "RAY_USAGE_STATS_ENABLED": "0"}
    result = subprocess.run(
        [*inside, str(python), "-c", RUN], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    (said,) = [line for line in result.stdout.splitlines() if line.startswith("result:")]
    assert "'workers': 2" in said
    assert "'device': 'cpu'" in said
