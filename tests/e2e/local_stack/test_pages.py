"""The shell blocks of the documentation, as they are written: in a new checkout, one shell for each page.

`make up` of the README finds the twin that the other tests of this tier work with, and changes nothing on it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.e2e.platform_under_test import PlatformUnderTest
from tests.support.pages import ELSEWHERE, PAGES, blocks, recorded, script, with_outputs

pytestmark = pytest.mark.e2e

OWN_TWIN = "examples"  # of the pages that start one

# These build an operator, create platforms of their own, or update one several times. The others repeat other tests:
# docs/errors.md: tests/e2e/test_clusters_that_go.py; docs/policies.md: test_gate_on_the_twin.py;
# ray-multislice: tests/twin/cluster/test_cluster_ray.py; ray-serve-autoscaling: test_inference_on_the_twin.py;
# ray-torch: tests/e2e/one_cluster/test_gpu_queues_on_the_twin.py; ray-vllm: the page of ray-serve.
LONG = {
    "docs/errors.md",
    "docs/policies.md",
    "docs/scenarios.md",
    "docs/tutorial.md",
    "examples/add-pools-to-existing-cluster/README.md",
    "examples/buckets/README.md",
    "examples/dynamic-slices/README.md",
    "examples/file-systems/README.md",
    "examples/idle-chips/README.md",
    "examples/images/README.md",
    "examples/kubeflow-trainer/README.md",
    "examples/lws-serving/README.md",
    "examples/pathways/README.md",
    "examples/ray-multislice/README.md",
    "examples/ray-serve-autoscaling/README.md",
    "examples/ray-torch/README.md",
    "examples/ray-vllm/README.md",
    "examples/sub-slices/README.md",
    "examples/yaml-stack/README.md",
}

UNCHANGED = r"Resources:\n +\d+ unchanged\n"
# The lines of the README's example that depend on nothing which other tests change.
UP = [
    " +".join(map(re.escape, line.split()))
    for block in blocks("README.md")
    if block.text.startswith("lab-central1 in")
    for line in block.text.splitlines()
    if re.match(r"lab|node pool|system|evals|notebooks|cubes", line)
]
# What the commands of a page must print, in addition to exit code 0.
SAID = {
    "README.md": [rf"{UNCHANGED}[\s\S]*done in \d+ s[\s\S]*{UNCHANGED}", *UP],
    "docs/twin-elasticity.md": [
        "stockout: no v6e in us-east5-b as spot",
        "no stockouts",
        "fault: quota, 2 times, for nodePools.create of clusters/lab/[*]",
        "no faults",
    ],
    "docs/see.md": [
        r"Job product/giant waits for Kueue \(since ",
        r"Kueue +requests 48 chips of v6e-4x4, but its queue can get at most 32, including borrowed chips",
        r"needs +12 pods, 48 chips; 3 x v6e 4x4",
        r"- Request at most 32 chips of v6e-4x4\.",
        r'\{"clusters": \[\{"context": "gke_',
        r"http://127\.0\.0\.1:\d+/ shows gke_.*, gke_.*; Ctrl-C ends it",
    ],
    "examples/add-pools-to-existing-cluster/README.md": [
        r"chips +48\n",
        r'nodePools +\["trainer-0","trainer-1","evals"\]',
        r" trainer-1 +4x4\n",
    ],
    "examples/file-systems/README.md": [
        r"research +files +Bound +research\.files +1Ti +RWX",
        r"research +programs +Bound +research\.programs +1Ti +ROX",
        r"tools +programs +Bound +tools\.programs +1Ti +RWX",
        r"pvc-\S+ +500Gi +RWO +Delete +Bound +research/train-\S+ +cache ",
    ],
    "examples/idle-chips/README.md": [
        r"research/deadline +high +16 chips +on trainer-[01] *\n",
        r"research/trial-[01] +idle +16 chips +on trainer-[01] *\n",
        r"research/trial-[01] +idle +16 chips +waits: was preempted by a job of its team with higher priority",
    ],
    "examples/jobset-multislice/README.md": [r"research/pretrain +\S+ +32 chips +on trainer-0, trainer-1 *\n"],
    "examples/pathways/README.md": [r"research/pathways +\S+ +32 chips +on system, trainer-0, trainer-1 *\n"],
    "examples/ray-torch/README.md": [r"research/torch +\S+ +16 chips +on system, trainer-[01]\b"],
    "examples/ray-train/README.md": [r"research/train +\S+ +16 chips +on system, trainer-[01]\b"],
    "examples/sub-slices/README.md": [
        *(rf"research/trial-{number} +\S+ +16 chips +on trainer-0 *\n" for number in range(1, 5)),
        r"research/trial-5 +\S+ +16 chips +waits: ",
    ],
    "examples/yaml-stack/README.md": [r"chips +32\n", r'nodePools +\["trainer-0","trainer-1"\]'],
}


_OURS = ("TPUPLANE_", "PULUMI_", "UV_PROJECT_ENVIRONMENT", "VIRTUAL_ENV", "KUBECONFIG")
_KEPT = ("TPUPLANE_CACHE", "TPUPLANE_TWIN", "TPUPLANE_TWIN_HOME")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The repository as a user has cloned and installed it. At the end no file of it may have changed."""
    patterns = [".git", *(line.rstrip("/") for line in (REPOSITORY / ".gitignore").read_text().split())]

    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if any(PurePath(folder, name).match(pattern) for pattern in patterns)}

    folder = tmp_path_factory.mktemp("clone") / "tpuplane"
    shutil.copytree(REPOSITORY, folder, ignore=ignored)
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    subprocess.run(["make", "--silent", ".venv/.installed"], cwd=folder, env=_clean(), check=True)
    yield folder
    assert [path for path, content in files.items() if not path.exists() or path.read_bytes() != content] == []


def undo(platform: PlatformUnderTest) -> None:
    """Undo what a failed page has left."""
    platform.run(BIN / "tpuplane-twin", "down", "--name", OWN_TWIN)
    platform.twin("stockout", "--clear")
    platform.twin("fault", "--clear")
    platform.rehearse("--no-sample")


def commands(page: str) -> list[str]:
    return [line.partition("  #")[0].rstrip() for line in script(page).splitlines()]


def begins_another(page: str) -> bool:
    """Whether another page has the same commands, and more of them."""
    own = commands(page)
    return any(len(others := commands(candidate)) > len(own) and others[: len(own)] == own for candidate in PAGES)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page in LONG else [])
        for page in PAGES
        if page not in ELSEWHERE and script(page) and not begins_another(page)
    ],
)
def test_the_commands_of_a_page_run_as_they_are_written(page: str, checkout: Path, platform: PlatformUnderTest) -> None:
    # The user knows only the name of the twin.
    shell = _clean() | {key: variable for key, variable in platform.variables.items() if key in _KEPT}
    file = checkout.parent / "page.sh"
    file.write_text(recorded(page))
    run = ["bash", "-v", "-e", "-o", "pipefail", file]
    output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    said = subprocess.run(run, cwd=checkout, env=shell, text=True, check=False, **output)
    if said.returncode:
        undo(platform)
    assert said.returncode == 0, said.stdout[-10_000:]
    assert [wanted for wanted in SAID.get(page, []) if not re.search(wanted, said.stdout)] == [], said.stdout[-10_000:]
    new = with_outputs(page, said.stdout)
    if os.environ.get("TPUPLANE_PAGES") == "write":
        (REPOSITORY / page).write_text(new)
    assert new == (REPOSITORY / page).read_text(), "outputs are stale; run make pages"


def _clean() -> dict[str, str]:
    """The variables of this process without those that the project or a twin reads."""
    return {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
