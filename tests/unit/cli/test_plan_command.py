"""`tpuplane plan`: the table says what the plan says, marks what is not known, and the picture is written."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tpuplane.cli import app
from typer.testing import CliRunner, Result

from tests.support.imported import imported

pytestmark = pytest.mark.unit

ACME = Path(__file__).parents[1] / "acme.yaml"
STACKS = sorted((Path(__file__).parents[3] / "stacks").glob("Pulumi.*.yaml"))

TEAMS = """
config:
  tpuplane:platform:
    name: lab
    project: tpuplane-lab
    teams:
      research:
        clusters:
          main:
            pools: {trainer: {slices: 2, borrowingLimit: 1}}
            gpuPools: {models: {gpus: 3, lendingLimit: 1}}
    clusters:
      main:
        location: us-central1-b
        addons: {kueue: {}}
        pools: {trainer: {generation: v6e, topology: 4x4, slices: 3}}
        gpuPools: {models: {accelerator: nvidia-l4, machineType: g2-standard-12, nodes: 4}}
"""

WITHOUT_PRICE = """
config:
  tpuplane:platform:
    name: lab
    project: tpuplane-lab
    clusters:
      main:
        location: us-central1-a
        gpuPools:
          serving: {accelerator: nvidia-l4, nodes: 1}
          batch: {machineType: a3-highgpu-8g, autoscaling: {maxNodes: 1}, capacity: flex-start}
"""


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def row(result: Result, title: str, *starts: str) -> str:
    """The cells of the first line under a title that starts with these words, one line after the other."""
    lines = iter(result.stdout.partition(title)[2].splitlines())
    for start in starts:
        found = next(line for line in lines if line.strip().startswith(start))
    return " ".join(found.split())


def acme(*options: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run("plan", ACME, "--json", *options).stdout)
    return answer


def test_what_will_exist() -> None:
    result = run("plan", ACME)
    assert result.exit_code == 0
    assert result.stderr == ""
    sweeps = row(result, "Planned resources", "acme-central", "sweeps")
    assert sweeps == "sweeps v5e 4x8 ct5lp-hightpu-4t us-central1-a spot 8 0-8 0-64 0-256"
    system = row(result, "Planned resources", "acme-central", "system")
    assert system == "system e2-standard-8 3 zones on-demand 1 6-18"


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.name)
def test_every_stack_of_the_project_plans(stack: Path) -> None:
    assert run("plan", stack).exit_code == 0


def test_what_each_team_has(tmp_path: Path) -> None:
    """Own, borrowed and lent of every flavor; what no team owns; of GPUs and cores too."""
    file = tmp_path / "Pulumi.teams.yaml"
    file.write_text(TEAMS, encoding="utf-8")
    result = run("plan", file)
    assert result.exit_code == 0, result.stderr
    quota = partial(row, result, "Quotas of the teams", "lab-main")
    assert quota("research") == "research cpu system 16 cores, 64 GB any all"
    assert quota("research", "v6e-4x4") == "v6e-4x4 trainer 2 slices, 32 chips 16 chips all"
    assert quota("research", "g2-standard-12") == "g2-standard-12 models 3 GPUs any 1 GPU"
    assert quota("shared by all teams") == "shared by all teams g2-standard-12 models 1 GPU"
    assert quota("shared by all teams", "v6e-4x4") == "v6e-4x4 trainer 1 slice, 16 chips"
    (cluster,) = json.loads(run("plan", file, "--json").stdout)["clusters"]
    (team,) = cluster["queues"]["teams"]
    assert (team["name"], team["namespaces"]) == ("research", ["research"])
    chips = [quota_ for quota_ in team["quotas"] if quota_["resource"] == "google.com/tpu"]
    assert chips == [
        {
            "flavor": "v6e-4x4",
            "resource": "google.com/tpu",
            "nominal": "32",
            "borrowingLimit": "16",
            "lendingLimit": None,
        }
    ]
    assert {
        candidate["nominal"] for candidate in cluster["queues"]["shared"] if candidate["resource"] == "google.com/tpu"
    } == {"16"}


def test_a_cluster_without_teams_has_no_quotas() -> None:
    assert "Quotas of the teams" not in run("plan", ACME).stdout
    assert {cluster["queues"] for cluster in acme()["clusters"]} == {None}


def test_instances_of_filestore(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    instance = "{location: us-central1-b, tier: ZONAL, capacityGib: 12800, readers: [research]}"
    described = TEAMS.replace("    teams:", f"    storage: {{filestore: {{home: {instance}}}}}\n    teams:")
    file.write_text(described.replace("addons:", "storage: {filestore: true}\n        addons:"))
    table = run("plan", file).stdout
    assert re.search(r"Filestore\ninstance +location +tier +read by +read and written by +GiB", table)
    assert re.search(r"lab-home +us-central1-b +ZONAL +research +12,800", table)
    (found,) = json.loads(run("plan", file, "--json").stdout)["filestore"]
    assert (found["name"], found["tier"], found["capacityGib"]) == ("lab-home", "ZONAL", 12800)


def test_instances_of_managed_lustre(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    instance = "{zone: us-central1-b, capacityGib: 36000, throughput: 500, writers: [research]}"
    described = TEAMS.replace("    teams:", f"    storage: {{lustre: {{files: {instance}}}}}\n    teams:")
    file.write_text(described.replace("addons:", "storage: {lustre: true}\n        addons:"))
    result = run("plan", file)
    assert row(result, "Managed Lustre", "lab-files") == "lab-files us-central1-b research 36,000 500"
    (found,) = json.loads(run("plan", file, "--json").stdout)["lustre"]
    assert (found["key"], found["name"], found["zone"]) == ("files", "lab-files", "us-central1-b")
    assert (found["capacityGib"], found["throughput"]) == (36000, 500)
    assert (found["readers"], found["writers"]) == ([], ["research"])


def test_buckets_and_repositories(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    storage = """
    storage:
      buckets:
        corpus: {purpose: data, existing: acme-corpus, readers: [research]}
        checkpoints: {purpose: checkpoints, writers: [research]}
    images:
      training: {location: us, writers: [group:builders@acme.example]}
"""
    file.write_text(TEAMS.replace("    teams:", f"{storage.strip(chr(10))}\n    teams:"))
    result = run("plan", file)
    assert row(result, "Repositories for images", "us-docker").endswith("/training group:builders@acme.example")
    assert row(result, "Buckets", "acme-corpus") == "acme-corpus data existing research"
    row_of_made = "tpuplane-lab-lab-checkpoints checkpoints us-central1 research"
    assert row(result, "Buckets", "tpuplane-lab-lab") == row_of_made
    answer = json.loads(run("plan", file, "--json").stdout)
    assert answer["buckets"] == [
        {
            "key": "corpus",
            "name": "acme-corpus",
            "purpose": "data",
            "existing": True,
            "location": None,
            "readers": ["research"],
            "writers": [],
        },
        {
            "key": "checkpoints",
            "name": "tpuplane-lab-lab-checkpoints",
            "purpose": "checkpoints",
            "existing": False,
            "location": "us-central1",
            "readers": [],
            "writers": ["research"],
        },
    ]
    assert [own["name"] for own in answer["images"]] == ["training"]


def test_addresses_at_full_scale() -> None:
    """395 nodes: 256 + 32 + 64 + 24 hosts, 18 nodes of the system pool, and the one that its upgrade adds."""
    result = run("plan", ACME)
    assert row(result, "Addresses", "acme-central") == "acme-central nodes 10.0.0.0/20 4,092 395 10%"
    assert row(result, "Addresses", "acme-legacy", "control plane") == "control plane 172.16.0.48/28 16 16 100%"


def test_a_platform_in_existing_networks_has_no_network_and_no_addresses(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    existing = "network: {existing: {network: default, subnetwork: default}}"
    file.write_text(TEAMS.replace("location: us-central1-b", f"location: us-central1-b\n        {existing}"))
    lines = run("plan", file).stdout.splitlines()
    assert lines[0] == "lab in project tpuplane-lab"
    assert not any(line.startswith("Addresses") for line in lines)


def test_what_it_costs() -> None:
    """32 to 192 chips of v5p at 4.20."""
    result = run("plan", ACME)
    ablations = row(result, "Cost", "acme-columbus", "ablations")
    assert ablations == "ablations 2026-10 4.2000 134.40 806.40 98,112 588,672"


def test_a_missing_price_is_shown_and_marks_every_sum_that_lacks_it() -> None:
    result = run("plan", ACME)
    assert row(result, "Cost", "acme-central", "sweeps") == "sweeps not on record ? 0.00 ? 0 ?"
    assert [cell.endswith("+") for cell in row(result, "Cost", "in all").split()[2:]] == [False, True, False, True]
    assert "? acme-central sweeps: no spot price of v5e is on record for us-central1, only for" in result.stdout


def test_an_estimate_is_marked_wherever_it_is_in() -> None:
    result = run("plan", ACME, "--estimate")
    sweeps = row(result, "Cost", "acme-central", "sweeps")
    assert sweeps == "sweeps 2026-08-06 in us-west4 ~0.5779 0.00 ~147.94 0 ~107,998"
    assert [cell.startswith("~") for cell in row(result, "Cost", "in all").split()[2:]] == [False, True, False, True]
    assert "+ and more" not in result.stdout


def test_the_hint_at_estimates_is_only_without_them(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(WITHOUT_PRICE)
    assert "+ incomplete: 1 pool without a price (--estimate uses" in run("plan", file).stdout
    estimated = run("plan", file, "--estimate")
    assert estimated.stdout.endswith("+ incomplete: 1 pool without a price\n")
    assert row(estimated, "Planned", "serving").endswith(" 1 GPU")


def test_what_the_numbers_mean_stands_below() -> None:
    notes = run("plan", ACME).stdout.partition("\nmin: ")[2]
    assert "A month is 730 hours" in notes
    assert "Not included: nodes that GKE creates for compute classes; the clusters' management fee; CPU nodes" in notes
    assert "The oldest price is from 2026." in notes
    assert "TPU_PRICING table" in notes


def test_json_has_the_same_numbers() -> None:
    answer = acme()
    assert answer["chips"] == 3520
    assert [cluster["key"] for cluster in answer["clusters"]] == ["central", "columbus", "eemshaven", "legacy"]
    central = answer["clusters"][0]
    assert central["addresses"]["nodes"] == {"cidr": "10.0.0.0/20", "size": 4092, "used": 395}
    assert (central["systemPool"]["minNodes"], central["systemPool"]["maxNodes"]) == (6, 18)
    pools = {pool["name"]: pool for pool in central["pools"]}
    assert pools["ironwood"]["price"] == {
        "region": "us-central1",
        "model": "on-demand",
        "usdPerChipHour": 12.0,
        "asOf": "2026-10",
        "source": "sgl",
        "standIn": False,
    }
    assert pools["ironwood"]["cost"]["max"]["perMonth"] == 1_121_280
    assert pools["sweeps"]["cost"]["max"] == {
        "perHour": None,
        "perMonth": None,
        "estimated": [],
        "missing": ["acme-central sweeps"],
    }
    assert answer["cost"]["max"]["missing"] == ["acme-central sweeps", "acme-eemshaven batch"]
    assert set(answer["cost"]["byCapacity"]) == {"on-demand", "spot"}
    assert acme("--estimate")["cost"]["max"]["missing"] == []


def test_the_picture_is_written(tmp_path: Path) -> None:
    file = tmp_path / "platform.svg"
    assert run("plan", ACME, "--picture", file).exit_code == 0
    assert ElementTree.parse(file).getroot().tag.endswith("svg")


def test_a_picture_is_an_svg(tmp_path: Path) -> None:
    file = tmp_path / "platform.png"
    result = run("plan", ACME, "--picture", file)
    assert (result.exit_code, file.exists()) == (2, False)
    assert "name a file that ends with .svg" in " ".join(result.stderr.replace("│", "").split())


def test_a_picture_that_cannot_be_written_is_a_wrong_call(tmp_path: Path) -> None:
    result = run("plan", ACME, "--picture", tmp_path / "missing" / "platform.svg")
    assert result.exit_code == 2
    assert result.stderr.startswith("--picture: ")
    assert "No such file or directory" in result.stderr


def test_a_wrong_file_is_rejected_as_check_rejects_it(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(ACME.read_text().replace("topology: 16x16", "topology: 16x17"))
    planned, checked = run("plan", file), run("check", file)
    assert (planned.exit_code, planned.stderr) == (1, checked.stderr)
    assert planned.stdout == ""
    assert run("plan", tmp_path / "none.yaml").exit_code == 2


def test_no_command_imports_pulumi() -> None:
    program = (
        "import tpuplane.cli, tpuplane.cli.new, tpuplane.cli.plan_json, tpuplane.cli.plan_table, "
        "tpuplane.cli.explain_text, tpuplane.jobs.request, tpuplane.picture, tpuplane.spec.schema"
    )
    assert imported(program, "pulumi", "grpc") == []
