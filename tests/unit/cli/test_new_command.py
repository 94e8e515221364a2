"""`tpuplane new`: asks until an answer is right, and what it writes is a stack file that `check` takes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import get_args

import pytest
from tpuplane.cli import app
from tpuplane.init.first_stack import Answers, locations_offered, text
from tpuplane.plan import plan
from tpuplane.spec import PoolSpec, load_stack
from tpuplane.spec.core.locations import is_zone
from tpuplane.spec.pools.hosts import Capacity
from typer.testing import CliRunner, Result

from tests.support.pages import blocks

pytestmark = pytest.mark.unit

SCHEMA = Path(__file__).parents[3] / "components/tpuplane/spec/platform.schema.json"
GIVEN = {
    "--name": "lab",
    "--project": "my-project",
    "--location": "us-central1",
    "--generation": "v6e",
    "--topology": "4x4",
    "--capacity": "on-demand",
    "--slices": "2",
}
RIGHT = Answers(**{key.removeprefix("--"): value for key, value in GIVEN.items()})


def new(file: Path, *args: str, answers: str = "", **changed: str | None) -> Result:
    """Run the command with `GIVEN`, but for what is changed; None leaves an option out."""
    given = {**GIVEN, **{f"--{key.replace('_', '-')}": value for key, value in changed.items()}}
    options = [part for option, value in given.items() if value is not None for part in (option, value)]
    return CliRunner().invoke(app, ["new", str(file), *options, *args], input=answers)


def trainer(file: Path) -> PoolSpec:
    return load_stack(file).clusters["main"].pools["trainer"]


def test_the_dialogue_of_the_page_is_what_the_command_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (page,) = (block.text for block in blocks("docs/cli.md") if block.text.startswith("name of the platform: "))
    monkeypatch.chdir(tmp_path)
    answers = "lab\nmy-project\nus-central1\nv6e\n4x5\n4x4\n\n2\n"
    said = CliRunner().invoke(app, ["new", "stacks/Pulumi.mine.yaml"], input=answers).output.splitlines()
    for shown, line in zip(page.splitlines(), said, strict=True):
        assert line.rstrip() == shown or (shown.endswith("…") and line.startswith(shown.removesuffix("…")))


def test_options_alone_write_a_file_that_plans(tmp_path: Path) -> None:
    file = tmp_path / "stacks" / "Pulumi.dev.yaml"
    result = new(file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"wrote {file}; next: tpuplane plan {file}\n"
    platform = plan(load_stack(file))
    assert (platform.name, platform.project, platform.chips) == ("lab", "my-project", 32)
    assert platform.clusters[0].deletion_protection


def test_the_next_command_can_be_pasted(tmp_path: Path) -> None:
    file = tmp_path / "sub folder" / "Pulumi.dev.yaml"
    assert new(file).stdout.endswith(f"next: tpuplane plan '{file}'\n")


@pytest.mark.parametrize("folder", ["stacks", "examples/mine/stacks", "."])
def test_editors_find_the_schema_in_the_checkout(folder: str) -> None:
    file = SCHEMA.parents[3] / folder / "Pulumi.dev.yaml"
    first = text(RIGHT, file).splitlines()[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert schema != first
    assert (file.parent / schema).resolve() == SCHEMA.resolve()


def test_elsewhere_the_file_names_no_path_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    new(file)
    written = file.read_text()
    assert written.startswith("# For editors: tpuplane schema > platform.schema.json")
    assert str(tmp_path) not in written
    assert str(SCHEMA.parent) not in written
    assert "../" not in written


def test_every_answer_is_checked_at_once_and_asked_for_again(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    answers = "Lab\nlab\nshort\nmy-project\nus-central9\nus-central1\nv7\nv6e\n4x5\n4x8\nrented\nspot\n-1\n0-4\n"
    result = new(file, answers=answers, **dict.fromkeys((key.removeprefix("--") for key in GIVEN), None))
    assert result.exit_code == 0
    rejected = [line.strip().partition(" ")[0] for line in result.stderr.splitlines()]
    assert rejected == ["'Lab'", "'short'", "'us-central9'", "'v7'", "'4x5'", "'rented'", "'-1'"]
    assert "'4x5' is not a v6e topology; allowed: 1x1, 2x2, 2x4" in result.stderr
    pool = trainer(file)
    assert (pool.topology, pool.capacity, pool.scale.minimum, pool.scale.maximum) == ("4x8", "spot", 0, 4)


def test_what_is_allowed_is_offered(tmp_path: Path) -> None:
    result = new(tmp_path / "Pulumi.dev.yaml", generation=None, topology=None, answers="v5e\n2x4\n")
    assert "TPU generation: v3-device, v5e, v5p, v6e, tpu7x\n" in result.stdout
    assert "topology of a slice: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16\n" in result.stdout


def test_the_zone_is_asked_for_only_where_there_is_a_choice(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    result = new(file, location="us-east5", answers="us-east5-c\nus-east5-b\n")
    assert result.exit_code == 0
    assert "zone of the chips: us-east5-a, us-east5-b\n" in result.stdout
    assert trainer(file).zone == "us-east5-b"


def test_flex_start_scales_from_nothing(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    wanted = {"location": "us-east5", "zone": "us-east5-b", "capacity": "flex-start"}
    assert new(file, **wanted, slices=None, answers="2\n\n").exit_code == 0
    assert (trainer(file).capacity, trainer(file).scale.minimum, trainer(file).scale.maximum) == ("flex-start", 0, 1)


def test_a_reservation_is_described(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    wanted = {"location": "us-east5", "zone": "us-east5-b", "capacity": "reservation"}
    result = new(file, **wanted, answers="ours\n16\n64\n")
    assert result.exit_code == 0
    assert "16 chips, but the pools that are always up need 32" in result.stderr
    (reservation,) = load_stack(file).reservations.items()
    assert (reservation[0], reservation[1].zone, reservation[1].chips) == ("ours", "us-east5-b", 64)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("name", "Lab", "--name: 'Lab' is not allowed"),
        ("name", "x" * 36, f"--name: its name '{'x' * 36}-main' in GKE has 41 characters"),
        ("location", "mars", "--location: 'mars' is not a Google Cloud region or zone"),
        ("generation", "v4", "--generation: 'v4' is not known to be in a zone of us-central1"),
        ("topology", "4x5", "--topology: '4x5' is not a v6e topology"),
        ("topology", "", "--topology: '' is not a v6e topology"),
        ("zone", "", "--zone: '' is not in the cluster's region us-central1; allowed: us-central1-b"),
        ("zone", "us-east5-a", "--zone: 'us-east5-a' is not in the cluster's region"),
        ("slices", "many", "--slices: 'many' is not a whole number"),
        ("slices", "4-2", "--slices: 4 is more than maxSlices"),
        ("reservation", "ours", "--reservation: only with --capacity reservation, not on-demand; remove it"),
        ("capacity", "flex-start", "--capacity: 'us-central1-b' is not known to offer flex-start"),
    ],
)
def test_a_wrong_option_is_rejected_and_nothing_is_written(
    tmp_path: Path, option: str, value: str, message: str
) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    result = new(file, **{option: value})
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert not file.exists()


def test_a_wrong_name_of_a_reservation_is_one_mistake(tmp_path: Path) -> None:
    result = new(tmp_path / "Pulumi.dev.yaml", capacity="reservation", reservation="projects/ours/reservations/held")
    assert result.stderr.splitlines()[1:] == []
    assert result.stderr.startswith("--reservation: 'projects/ours/reservations/held' is not allowed")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"location": "europe-west1", "generation": "v5p", "zone": "europe-west1-b", "topology": "2x2x1"}
            | {"capacity": "flex-start", "slices": "0-1"},
            "--capacity: clusters.main.pools.trainer.zone: 'europe-west1-b' is not known to offer flex-start",
        ),
        (
            {"location": "us-east5", "zone": "us-east5-b", "capacity": "flex-start", "slices": "3"},
            "--slices: 3 is a fixed number, but GKE creates flex-start hosts only when pods request them; "
            "use autoscaling with maxSlices instead: 0-3\n",
        ),
        ({"location": "us-central1-b", "slices": "2000"}, "--slices: clusters.main.network.nodesCidr: "),
    ],
)
def test_an_answer_that_makes_an_earlier_one_or_a_default_wrong_is_rejected(
    tmp_path: Path, wanted: dict[str, str], message: str
) -> None:
    result = new(tmp_path / "Pulumi.dev.yaml", **wanted)
    assert (result.exit_code, result.stderr[: len(message)]) == (2, message)


def test_a_mistake_of_no_single_answer_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "mistakes", lambda *_: ())
    result = new(tmp_path / "Pulumi.dev.yaml", slices="2000")
    assert (result.exit_code, "clusters.main.network.nodesCidr: " in result.stderr) == (2, True)


def test_a_file_that_is_there_stays_without_force(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text("mine")
    result = new(file)
    assert (result.exit_code, file.read_text()) == (2, "mine")
    assert result.stderr == f"{file} exists; choose another name, or overwrite it with --force\n"
    assert new(file, "--force").exit_code == 0
    assert trainer(file).topology == "4x4"


def test_an_end_of_answers_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    result = new(file, topology=None)
    assert result.exit_code == 2
    assert result.stderr.endswith("no answer; set --topology to skip the question. No file was written.\n")
    assert not file.exists()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = new(tmp_path / "taken" / "Pulumi.dev.yaml")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_a_name_that_a_file_cannot_contain_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.\udcff.yaml"
    result = new(file)
    assert result.exit_code == 2
    assert "cannot be written: its name is not UTF-8 text; choose another name" in result.stderr
    assert not file.exists()


@pytest.mark.parametrize("word", ["on", "no", "null", "true", "y", "e1"])
def test_names_that_yaml_reads_otherwise_stay_names(tmp_path: Path, word: str) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    assert new(file, name=word).exit_code == 0
    assert load_stack(file).name == word


def test_whatever_is_offered_is_right() -> None:
    """Every location with every generation that it offers there, in every zone, bought in every way."""
    for location in locations_offered():
        for generation in Answers(location=location).generations:
            zones = Answers(location=location, generation=generation).zones
            for zone in zones if len(zones) > 1 and not is_zone(location) else (None,):
                answers = Answers("lab", "my-project", location, generation, zone)
                wrong = {field: answers.mistakes(field) for field in ("location", "generation", "zone")}
                assert not any(wrong.values()), (location, generation, zone, wrong)


def test_a_file_of_every_capacity_is_right(tmp_path: Path) -> None:
    for capacity, slices in itertools.product(get_args(Capacity), ("0-2", "2")):
        if capacity == "flex-start" and slices == "2":
            continue  # rejected, and said so above
        reserved = {"reservation": "ours", "reserved_chips": "64"} if capacity == "reservation" else {}
        answers = Answers(
            "lab", "my-project", "us-east5", "v6e", "us-east5-b", "4x4", capacity, slices=slices, **reserved
        )
        file = tmp_path / f"Pulumi.{capacity}-{slices}.yaml"
        file.write_text(text(answers, file))
        assert plan(load_stack(file)).chips == 32
