"""The soak command notices what it is there for. The platform's commands are played by scripts here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tpuplane.plan import plan
from tpuplane.spec import load_stack
from tpuplane.workloads import MultisliceSpec, multislice_manifest

from benchmarks.rehearsal import JOB_SPEC, STACK_FILE, STEPS, TEAM, Rehearsal, as_json
from benchmarks.soak import cpu_load, minutes
from tests.support.eventually import wait_until

pytestmark = pytest.mark.unit

GOOD: dict[str, Any] = {
    "rehearse": {"sample": {"workers": 4}},
    "env": {},
    "preview": {"steps": [{"op": "same", "urn": "urn:pulumi:soak::p::t::stack"}]},
    "status": {
        "clusters": [{"queues": [{"workloads": [{"job": "job", "state": "admitted", "nodePools": ["trainer-0"]}]}]}]
    },
}
CHANGED = {"steps": [{"op": "update", "urn": "urn:pulumi:soak::p::t::platform-main"}]}


def played(folder: Path, answers: dict[str, Any], down: str = 'rm -r "$TPUPLANE_TWIN_HOME"') -> Path:
    """Commands that print what they are told to, by their first argument."""
    scripts = folder / "bin"
    scripts.mkdir()
    for name in ("tpuplane-twin", "tpuplane", "pulumi", "kubectl"):
        cases = "".join(f"{word}) echo '{json.dumps(said)}' ;;\n" for word, said in answers.items())
        script = scripts / name
        script.write_text(
            f"#!/bin/sh\ncase $1 in\ndown) {down} ;;\n{cases}apply) ;;\n*) echo no {name} $1 >&2; exit 7 ;;\nesac\n"
            'if [ "$1" = rehearse ]; then mkdir -p "$TPUPLANE_TWIN_HOME/soak/logs"; '
            'echo cause > "$TPUPLANE_TWIN_HOME/soak/logs/supervisor.log"; fi\n'
        )
        script.chmod(0o755)
    return scripts


def rehearsed(folder: Path, answers: dict[str, Any], **options: str) -> Rehearsal:
    own = folder / "own"
    own.mkdir()
    rehearsal = Rehearsal(own, programs=played(folder, answers, **options))
    rehearsal.run()
    return rehearsal


def test_a_good_time_takes_every_step_and_leaves_no_folder(tmp_path: Path) -> None:
    rehearsal = rehearsed(tmp_path, GOOD)
    assert rehearsal.failure == ""
    assert tuple(rehearsal.seconds) == STEPS
    assert not rehearsal.folder.exists()
    assert as_json(1, rehearsal)["ok"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rehearse": {"sample": None}}, "up: KubeRay's sample found no slice"),
        ({"preview": CHANGED}, "preview: the next preview has changes: update platform-main"),
    ],
)
def test_what_is_not_as_it_must_be_is_a_failure(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    rehearsal = rehearsed(tmp_path, {**GOOD, **wrong})
    assert rehearsal.failure == said
    assert "down" in rehearsal.seconds, "the twin ends all the same"
    assert (rehearsal.folder / "logs" / "logs" / "supervisor.log").read_text() == "cause\n"


def test_a_command_that_fails_is_quoted(tmp_path: Path) -> None:
    without_preview = {key: value for key, value in GOOD.items() if key != "preview"}
    failure = rehearsed(tmp_path, without_preview).failure
    assert failure.startswith("preview: pulumi preview --stack soak")
    assert failure.endswith("ended with 7: no pulumi preview")


def test_what_down_leaves_is_a_failure(tmp_path: Path) -> None:
    rehearsal = rehearsed(tmp_path, GOOD, down="true")
    assert rehearsal.failure.startswith("down: left behind: soak")


def test_an_interrupted_time_takes_its_twin_down_too(tmp_path: Path) -> None:
    def interrupted(step: str) -> None:
        if step == "preview":
            raise KeyboardInterrupt

    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(KeyboardInterrupt):
        Rehearsal(own, interrupted, played(tmp_path, GOOD)).run()
    assert not own.exists()


def test_the_job_fits_a_flavor_of_its_team() -> None:
    queues = plan(load_stack(STACK_FILE)).clusters[0].queues
    assert queues is not None
    (team,) = (queue for queue in queues.cluster_queues if queue.name == TEAM)
    mine = {quota.flavor for quota in team.flavors}
    manifest = multislice_manifest("job", MultisliceSpec.model_validate(JOB_SPEC))
    (replicated,) = manifest["spec"]["replicatedJobs"]
    selector = replicated["template"]["spec"]["template"]["spec"]["nodeSelector"]
    (flavor,) = (candidate for candidate in queues.flavors if selector.items() <= candidate.node_labels.items())
    assert flavor.name in mine


def test_the_load_runs_during_the_block_and_ends_with_it() -> None:
    before = psutil.Process().children()
    with cpu_load(2):
        busy = [child for child in psutil.Process().children() if child not in before]
        assert len(busy) == 2
    assert not [process for process in busy if process.is_running()]


def test_the_load_ends_with_the_process_that_started_it() -> None:
    """However that ended: `finally` does not run after kill -9."""
    program = (
        "import os, signal, psutil\n"
        "from benchmarks.soak import cpu_load\n"
        "with cpu_load(1):\n"
        "    print(psutil.Process().children()[0].pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    wait_until(lambda: not psutil.pid_exists(pid))


@pytest.mark.parametrize(("seconds", "said"), [(44.6, "45 s"), (725, "12 min"), (3900, "1 h 5 min")])
def test_the_remaining_time_is_shown_in_minutes(seconds: float, said: str) -> None:
    assert minutes(seconds) == said


def test_times_that_are_none_are_rejected() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "soak", "--times", "0"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 2
    assert "--times" in done.stderr
