"""`tpuplane job` for a part of a slice, and the mistakes of `subSlices`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.spec import SpecError, parse_platform
from tpuplane.tpu import Slice
from typer.testing import CliRunner, Result

pytestmark = pytest.mark.unit

PART = "cloud.google.com/gke-tpu-slice-4x4-id"


def description(**pool: Any) -> dict[str, Any]:
    trainer = {"generation": "v6e", "topology": "8x8", "zone": "us-east5-b", "subSlices": ["2x4", "4x4"], **pool}
    cluster = {"location": "us-east5", "addons": {"kueue": {}, "jobset": {}, "ray": {}}, "pools": {"trainer": trainer}}
    teams = {"research": {"clusters": {"main": {"pools": {"trainer": {"chips": 64}}}}}}
    return {"name": "lab", "project": "tpuplane-lab", "teams": teams, "clusters": {"main": cluster}}


def job(folder: Path, *options: str, platform: dict[str, Any] | None = None) -> Result:
    stack = folder / "Pulumi.lab.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform or description()}}))
    given = ["job", "--stack", str(stack), "--team", "research", "--image", "i", *options, "--", "python", "train.py"]
    return CliRunner().invoke(app, given)


@pytest.mark.parametrize("shape", ["v6e-4x4", "v6e-16"])
def test_a_job_gets_a_part(tmp_path: Path, shape: str) -> None:
    result = job(tmp_path, "--slice", shape, "--slices", "4")
    assert result.exit_code == 0, result.stderr
    (replicated,) = yaml.safe_load(result.stdout)["spec"]["replicatedJobs"]
    assert replicated["replicas"] == 4
    pods = replicated["template"]["spec"]
    assert (pods["parallelism"], pods["template"]["metadata"]["annotations"]) == (
        4,
        {
            "cloud.google.com/gke-tpu-slice-topology": "4x4",
            "kueue.x-k8s.io/podset-slice-required-topology": PART,
            "kueue.x-k8s.io/podset-slice-size": "4",
            "kueue.x-k8s.io/podset-preferred-topology": "cloud.google.com/gke-nodepool",
        },
    )
    assert pods["template"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == "8x8"


def test_kueue_must_manage_the_jobsets_for_parts(tmp_path: Path) -> None:
    platform = description()
    platform["clusters"]["main"]["addons"]["kueue"] = {"integrations": ["batch/job"]}
    result = job(tmp_path, "--slice", "v6e-4x4", platform=platform)
    assert result.stderr.strip() == (
        "--kind: 'JobSet' is not a kind of job for v6e 4x4 in a cluster; none exists; add jobset.x-k8s.io/jobset to "
        "addons.kueue.integrations"
    )


def test_a_whole_slice_is_as_before(tmp_path: Path) -> None:
    result = job(tmp_path, "--slice", "v6e-8x8")
    assert "gke-tpu-slice-" not in result.stdout
    assert "podset-slice-required-topology: cloud.google.com/gke-nodepool" in result.stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--slice", "v6e-4x4", "--slices", "5"], "--slices: requests 80 chips"),
        (["--slice", "v6e-4x4", "--slices", "5"], "Request at most 64 chips of v6e-8x8-of-4x4-2x4. Add"),
        (["--slice", "v6e-2x4", "--slices", "9"], "Add 1 slice of v6e 8x8 to the pool trainer."),
        (["--slice", "v6e-4x8"], "--slice: 'v6e-4x8' is not a slice of a pool; allowed: v6e 8x8 (trainer), v6e 4x4"),
        (
            ["--slice", "v6e-4x4", "--kind", "RayJob"],
            "--kind: 'RayJob' is not a kind of job for v6e 4x4 in a cluster; allowed: JobSet; for parts of slices "
            "and slices of cubes, tpuplane prints only JobSets; write another manifest yourself",
        ),
    ],
    ids=["too many", "all parts", "whole slices", "not offered", "Ray"],
)
def test_what_cannot_run(tmp_path: Path, options: list[str], line: str) -> None:
    result = job(tmp_path, *options)
    assert result.exit_code != 0
    assert line in result.stderr


@pytest.mark.parametrize(
    ("slices", "line", "more"), [(2, "", ""), (4, "32 chips", "1 slice"), (5, "40 chips", "2 slices")]
)
def test_a_part_is_only_in_flavors_that_have_parts(tmp_path: Path, slices: int, line: str, more: str) -> None:
    """The other pool has enough hosts of the same shape, but no label of parts, and a RAM disk."""
    lab = description(topology="4x4", subSlices=["2x4"])
    (cluster,) = lab["clusters"].values()
    zone = {"zone": "us-east5-b", "slices": 3}
    cluster["pools"]["whole"] = {"generation": "v6e", "topology": "4x4", "capacity": "spot", **zone}
    cluster |= {"storage": {"gcsFuse": True}}
    cluster["multiTierCheckpointing"] = {"bucket": "saved", "pools": {"whole": {"ramDiskGb": 600}}}
    lab["storage"] = {"buckets": {"saved": {"purpose": "checkpoints", "location": "us-east5"}}}
    lab["teams"]["research"]["clusters"]["main"]["pools"] = {"trainer": {"slices": 1}, "whole": {"slices": 3}}
    result = job(tmp_path, "--slice", "v6e-2x4", "--slices", str(slices), platform=lab)
    if line:
        assert result.stderr == (
            f"--slices: requests {line} of v6e-4x4-of-2x4, but its queue can get 16 chips. Request at most 16 chips "
            f"of v6e-4x4-of-2x4. Add {more} of v6e 4x4 to the pool trainer.\n"
        )
    else:
        assert "memory: 576Gi" in result.stdout


@pytest.mark.parametrize(
    ("pool", "line"),
    [
        ({"subSlices": ["4x4", "2x2"]}, "subSlices[1]: '2x2' is not a part of v6e 8x8 slices; allowed: 4x8, 4x4, 2x4"),
        ({"subSlices": ["8x8"]}, "subSlices[0]: '8x8' is not a part of v6e 8x8 slices; allowed: 4x8, 4x4, 2x4"),
        ({"subSlices": ["2x4", "2x4"]}, "subSlices[1]: '2x4' is in the list twice; remove one"),
    ],
    ids=["one host", "whole", "twice"],
)
def test_wrong_shapes(pool: dict[str, Any], line: str) -> None:
    with pytest.raises(SpecError) as error:
        parse_platform(description(**pool))
    assert line in str(error.value)


def test_the_hosts_of_a_part_are_neighbours() -> None:
    whole = Slice.of("v6e", "8x8")
    parts = [whole.part("4x4", host) for host in range(whole.hosts)]
    assert parts == [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]
    assert [whole.part("2x4", host) for host in range(whole.hosts)] == [n // 2 for n in range(16)]
    for host in range(whole.hosts):
        assert whole.part("4x8", host) == host // 8
