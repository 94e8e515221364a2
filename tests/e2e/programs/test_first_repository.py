"""A user's own repository from the wheels alone: `tpuplane init`, then its Makefile, on a twin."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.first_repository import ANSWERS
from tests.support.pages import START, recorded, with_outputs
from tests.support.pulumi_program import run

pytestmark = pytest.mark.e2e

PROJECTS = ("acme", "yaml/plugin")
_OURS = ("TPUPLANE_", "PULUMI_", "UV_", "VIRTUAL_ENV", "KUBECONFIG", "MAKE")


@pytest.fixture
def user(wheels: Path, constraints: str, tmp_path: Path) -> dict[str, str]:
    """The variables of a user who has uv and the wheels."""
    (tmp_path / "bin").mkdir()
    for name in ("uv", "uvx"):
        (tmp_path / "bin" / name).symlink_to(BIN / name)
    for folder in PROJECTS:  # uv reads it in the folder of a project only
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "uv.toml").write_text(
            f"constraint-dependencies = {json.dumps(_requirements(constraints))}"
        )
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith(_OURS) or key == "TPUPLANE_CACHE"},
        "PATH": os.pathsep.join([str(tmp_path / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]),
        "UV_FIND_LINKS": str(wheels),
        "TPUPLANE_TWIN_HOME": str(tmp_path / "twins"),
    }


def test_a_first_repository_runs_on_the_twin(user: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    answers = [
        part for key in ("name", "project", "location", "generation", "topology") for part in (f"--{key}", ANSWERS[key])
    ]
    said = run(("uvx", "--quiet", "tpuplane", "init", folder, *answers), tmp_path, user).stdout
    assert "  make up " in said

    assert run(("make", "check"), folder, user).stdout.count("ok: 1 cluster, 4 chips") == 2
    stack = (folder / "stacks/Pulumi.dev.yaml").read_text()
    first = stack.partition("\n")[0]
    assert (folder / "stacks" / first.partition("$schema=")[2]).is_file()
    try:
        said = run(("make", "test"), folder, user).stdout
        created, ready, previewed = said.partition("4 chips; 1 of 1 TPU host ready")
        assert ready, said
        assert " created\n" in created
        assert 'env --name acme)"\n' in previewed, "the next command names the twin"
        assert " unchanged\n" in previewed
        assert previewed.count("0 mandatory") == previewed.count("mandatory") > 0
        assert previewed.rstrip().endswith("0 mandatory, 0 advisory")
        assert "as expected: 2 of 2\n" in run(("make", "scenario"), folder, user).stdout
    finally:
        run(("make", "down"), folder, user)
    assert (folder / "stacks/Pulumi.dev.yaml").read_text() == stack
    assert not list((tmp_path / "twins").glob("*/twin.json"))


@pytest.mark.long
def test_the_page_from_an_empty_folder(user: dict[str, str], tmp_path: Path) -> None:
    """With an empty home: all tools come from a bundle."""
    (tmp_path / "home").mkdir()
    run((BIN / "tpuplane-twin", "build", "--bundle", tmp_path / "tools.zip"), REPOSITORY, dict(os.environ))
    names = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    places = {"HOME": str(tmp_path / "home"), "TPUPLANE_TOOLS": str(tmp_path / "tools.zip")}
    own = {key: value for key, value in user.items() if key != "TPUPLANE_CACHE" and not key.startswith("XDG_")}
    (tmp_path / "page.sh").write_text(recorded(START))
    run_page = ["bash", "-v", "-e", "-o", "pipefail", tmp_path / "page.sh"]
    output = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    variables = own | names | places
    try:
        said = subprocess.run(run_page, cwd=tmp_path, env=variables, text=True, check=False, **output)
    finally:
        left = run((BIN / "tpuplane-twin", "down", "--name", "acme"), tmp_path, variables)
    assert said.returncode == 0, said.stdout[-10_000:]
    assert "did not exist" in left.stdout
    new = with_outputs(START, said.stdout)
    if os.environ.get("TPUPLANE_PAGES") == "write":
        (REPOSITORY / START).write_text(new)
    assert new == (REPOSITORY / START).read_text(), "outputs are stale; run make pages"


def _requirements(exported: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in exported.splitlines())
    return [line for line in lines if line]
