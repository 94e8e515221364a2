"""The components in other people's programs: from the wheel, from YAML, and with an existing cluster."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import BIN, REPOSITORY
from tests.support.e2e.other_programs import Twin
from tests.support.pulumi_program import Program, run

pytestmark = pytest.mark.e2e

EXAMPLES = REPOSITORY / "examples"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    made = Twin(tmp_path_factory.mktemp("reuse"))
    made.up()
    try:
        yield made
    finally:
        made.down()


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory, wheels: Path, constraints: str) -> Path:
    """A user's program with an environment of its own: the wheel, and this repository's locked dependencies."""
    folder = tmp_path_factory.mktemp("user") / "consumer"
    shutil.copytree(Path(__file__).parent / "consumer", folder)
    (folder / "constraints.txt").write_text(constraints)
    (wheel,) = wheels.glob("tpuplane-*.whl")
    variables = {**os.environ, "VIRTUAL_ENV": str(folder / "venv")}
    run((BIN / "uv", "venv", "--quiet", "venv"), folder, variables)
    run((BIN / "uv", "pip", "install", "--quiet", "-c", "constraints.txt", wheel, "mypy"), folder, variables)
    return folder


def test_a_program_is_typed_by_the_wheel(consumer: Path) -> None:
    # Google's and Kubernetes' types would take minutes, and are not what is judged.
    settings = "[mypy]\nstrict = True\n[mypy-pulumi_gcp.*,pulumi_kubernetes.*]\nfollow_imports = skip\n"
    (consumer / "mypy.ini").write_text(settings)
    mypy = [consumer / "venv" / "bin" / "python", "-m", "mypy", "--config-file", "mypy.ini"]
    run((*mypy, "__main__.py"), consumer, dict(os.environ))
    wrong = (consumer / "__main__.py").read_text().replace('"topology": shape.topology', '"topologie": 4')
    (consumer / "wrong.py").write_text(wrong)
    said = run((*mypy, "wrong.py"), consumer, dict(os.environ), check=False).stdout
    assert 'Missing key "topology" for TypedDict "TpuNodePoolArgs"' in said
    assert 'Extra key "topologie" for TypedDict "TpuNodePoolArgs"' in said


def test_the_wheel_in_a_program_of_the_user(twin: Twin, consumer: Path) -> None:
    program = twin.program(consumer)
    assert program.steps().keys() == {"create"}
    assert program.up() == {"chips": 8, "cluster": "trainers", "pools": ["trainer"]}

    made = {resource["urn"]: resource for resource in program.resources()}
    google = [created for created in made.values() if created["type"].startswith("gcp:")]
    assert len(google) > 9
    assert [urn for urn, created in made.items() if created in google and "::theirs::" not in created["provider"]] == []
    assert [
        created["id"] for created in made.values() if created["type"].endswith(":ComputeClass") and created["custom"]
    ] == ["spot-first"]
    pools = [created for created in google if created["type"].endswith(":NodePool")]
    assert len(pools) == 2
    assert {pool["inputs"]["nodeConfig"]["resourceLabels"]["cost-centre"] for pool in pools} == {"42"}

    program.pulumi("config", "set", "renamed", "true", "--stack", "dev")
    assert not program.steps(), "an aliased rename changes nothing"
    program.up()
    assert {resource["id"] for resource in program.resources() if resource["type"].startswith("gcp:")} == {
        created["id"] for created in google
    }
    program.destroy()
    assert not program.resources()


def test_a_mistake_in_yaml_names_the_property(twin: Twin, tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(EXAMPLES / "yaml-stack", folder)
    text = (folder / "Pulumi.yaml").read_text()
    text = text.replace("../../components", str(REPOSITORY / "components")).replace("name: yaml-stack", "name: wrong")
    (folder / "Pulumi.yaml").write_text(text.replace("topology: 4x4", "topology: 4x5"))
    said = twin.program(folder).pulumi("preview", check=False)
    assert said.returncode != 0
    assert "property topology" in said.stdout
    assert "'4x5' is not a v6e topology; allowed: " in said.stdout
    assert "Traceback" not in said.stdout + said.stderr


def test_the_schema_that_the_engine_gets_is_the_golden_one(twin: Twin) -> None:
    here = Program(REPOSITORY, twin.shell.variables)
    golden = here.pulumi("package", "get-schema", "components/schema.json")
    served = here.pulumi("package", "get-schema", "./components")
    assert json.loads(served.stdout) == json.loads(golden.stdout)
    assert json.loads(golden.stdout)["resources"]
