"""`tpuplane job` for slices that GKE's slice controller makes of cubes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from typer.testing import CliRunner

pytestmark = pytest.mark.unit

COMMAND = ["job", "--team", "research", "--image", "i", "--stack"]


def job(tmp_path: Path, *options: str, teams: dict[str, Any] | None = None, **cluster: Any) -> Any:
    """The command with a cluster of four cubes."""
    cubes = {"generation": "tpu7x", "topology": "4x4x4", "zone": "us-central1-c", "slices": 4}
    cubes |= {"capacity": "reservation", "reservation": {"name": "ours", "block": "one"}}
    cubes["acceleratorTopologyMode"] = "PROVISION_ONLY"
    main = {"location": "us-central1", "releaseChannel": "RAPID", "version": "1.36", "sliceController": True}
    main |= {"addons": {"kueue": {}, "jobset": {}}, "pools": {"cubes": cubes}, **cluster}
    platform = {
        "name": "lab",
        "project": "acme-lab",
        "reservations": {"ours": {"generation": "tpu7x", "zone": "us-central1-c", "chips": 256}},
        "teams": teams or {"research": {"clusters": {"main": {"pools": {"cubes": {"chips": 256}}}}}},
        "clusters": {"main": main},
    }
    stack = tmp_path / "platform.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform}}), encoding="utf-8")
    return CliRunner().invoke(app, [*COMMAND, str(stack), *options, "--", "python", "train.py"])


@pytest.mark.parametrize(
    ("topology", "pods"), [("2x2x1", 1), ("2x4x4", 8), ("4x4x4", 16), ("4x4x8", 32), ("4x8x8", 64)]
)
def test_the_pods_name_the_slice_and_select_no_topology(tmp_path: Path, topology: str, pods: int) -> None:
    result = job(tmp_path, "--slice", f"tpu7x-{topology}")
    assert result.exit_code == 0, result.output
    (replicated,) = yaml.safe_load(result.stdout)["spec"]["replicatedJobs"]
    template = replicated["template"]["spec"]["template"]
    assert replicated["template"]["spec"]["parallelism"] == pods
    assert template["metadata"] == {"annotations": {"cloud.google.com/gke-tpu-slice-topology": topology}}
    selector = template["spec"]["nodeSelector"]
    assert selector["cloud.google.com/gke-tpu-accelerator"] == "tpu7x"
    assert "cloud.google.com/gke-tpu-topology" not in selector


@pytest.mark.parametrize(
    ("options", "cluster", "message"),
    [
        (
            ["--slice", "tpu7x-8x8x8"],
            {},
            "--slice: 'tpu7x-8x8x8' is not a slice of a pool; allowed: tpu7x 4x4x4 (cubes)",
        ),
        (
            ["--slice", "tpu7x-4x4x4"],
            {"sliceController": False},
            "for which research has quota; none exists; cubes need sliceController: true",
        ),
        (["--slice", "tpu7x-2x2x4", "--slices", "17"], {}, "Add 1 slice of tpu7x 4x4x4 to the pool cubes."),
        (["--slice", "tpu7x-4x4x8"], {"sliceController": False}, "is not a slice of a pool; allowed: tpu7x 4x4x4"),
        (["--slice", "tpu7x-4x4x16", "--slices", "2"], {}, "requests 512 chips of tpu7x-4x4x4-reservation-ours-cubes"),
    ],
)
def test_what_cannot_run_is_rejected(tmp_path: Path, options: list[str], cluster: dict[str, Any], message: str) -> None:
    result = job(tmp_path, *options, **cluster)
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())


def test_a_cloud_tpu_name_is_the_most_cubic_shape(tmp_path: Path) -> None:
    assert "gke-tpu-slice-topology: 4x8x8" in job(tmp_path, "--slice", "tpu7x-512").stdout


@pytest.mark.parametrize("sub_block", [None, "sub"])
def test_pools_of_one_block_are_joined(tmp_path: Path, sub_block: str | None) -> None:
    blocks: list[dict[str, str]] = [{"subBlock": sub_block + end} if sub_block else {} for end in "ab"]
    pool = {"generation": "tpu7x", "topology": "4x4x4", "zone": "us-central1-c", "capacity": "reservation"}
    pool["acceleratorTopologyMode"] = "PROVISION_ONLY"
    ca, cb = ({**pool, "reservation": {"name": "ours", "block": "one", **own}} for own in blocks)
    teams = {"research": {"clusters": {"main": {"pools": {"ca": {"chips": 64}, "cb": {"chips": 64}}}}}}
    result = job(tmp_path, "--slice", "tpu7x-4x4x8", teams=teams, pools={"ca": ca, "cb": cb})
    assert "gke-tpu-slice-topology: 4x4x8" in result.stdout, result.output


@pytest.mark.parametrize(
    ("slices", "options", "said"),
    [
        ((2, 2), ["tpu7x-4x4x8", "--slices", "2"], "room for 32 of 64 pods"),
        ((2, 2), ["tpu7x-4x4x4", "--slices", "4"], "room for 32 of 64 pods"),
        ((2, 2), ["tpu7x-2x4x4", "--slices", "5"], "Add 1 slice of tpu7x 4x4x4 to the pool ca."),
        ((2, 2), ["tpu7x-4x4x12"], "Add 1 slice of tpu7x 4x4x4 to the pool ca."),
        ((1, 3), ["tpu7x-4x4x16"], "Add 1 slice of tpu7x 4x4x4 to the pool cb."),
        ((1, 3), ["tpu7x-2x4x4", "--slices", "6"], ""),
        ((1, 3), ["tpu7x-4x4x12"], ""),
    ],
)
def test_all_slices_of_a_job_are_in_one_block(
    tmp_path: Path, slices: tuple[int, int], options: list[str], said: str
) -> None:
    pool = {"generation": "tpu7x", "topology": "4x4x4", "zone": "us-central1-c", "capacity": "reservation"}
    pool["acceleratorTopologyMode"] = "PROVISION_ONLY"
    own = dict(zip(("ca", "cb"), slices, strict=True))
    pools = {key: {**pool, "slices": n, "reservation": {"name": "ours", "block": key}} for key, n in own.items()}
    teams = {"research": {"clusters": {"main": {"pools": {key: {"slices": n} for key, n in own.items()}}}}}
    result = job(tmp_path, "--slice", *options, teams=teams, pools=pools)
    assert result.exit_code == bool(said)
    shown = " ".join(result.output.split())
    assert said in shown
    assert ("all must be on nodes with the same cloud.google.com/gce-topology-block" in shown) == bool(said)


def test_a_smaller_request_is_of_whole_slices(tmp_path: Path) -> None:
    result = job(tmp_path, "--slice", "tpu7x-4x4x12", "--slices", "2")
    assert "Request at most 192 chips of" in " ".join(result.output.split())
