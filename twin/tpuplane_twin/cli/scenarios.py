"""`rehearse FILE`: a scenario of a stack, or a trace of jobs on several."""

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.markup import escape
from tpuplane.spec.core.errors import SpecError
from tpuplane.ui.timeline import elapsed

from tpuplane_twin.cli.bringup import bring_up
from tpuplane_twin.cli.console import answer, console, stderr
from tpuplane_twin.cli.rehearse import rehearse, require_stack_file
from tpuplane_twin.clock.times import duration
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.machine.paths import TwinNameError, TwinPaths
from tpuplane_twin.rehearsal.chart import chart
from tpuplane_twin.rehearsal.descriptions import described, difference
from tpuplane_twin.rehearsal.play import Player
from tpuplane_twin.rehearsal.records import Timeline
from tpuplane_twin.rehearsal.scenario import ScenarioSpec, load_scenario
from tpuplane_twin.rehearsal.stage import Stage
from tpuplane_twin.rehearsal.summary import summary
from tpuplane_twin.rehearsal.text import figures_table
from tpuplane_twin.rehearsal.trace import InvalidTrace, TraceJob, read_trace
from tpuplane_twin.shell.environment import shell_environment

_AFTER_SECONDS = 3 * 86_400
"""How long a trace is played after its last job has arrived, if jobs still wait or run."""


class _Play(NamedTuple):
    """What a file plays, until when, and on which stacks."""

    scenario: ScenarioSpec
    jobs: Sequence[TraceJob]
    until: float
    stacks: Sequence[str]


def rehearse_files(
    paths: TwinPaths,
    files: Sequence[Path],
    stacks: Sequence[str],
    project: Path,
    picture: Path | None,
    *,
    as_json: bool,
) -> None:
    """Play scenarios and traces one after the other, each on its stacks, and print what happened side by side.

    Raises `TwinError` for a mistake in a file before the first one begins, and exits with 1 if a scenario ends
    otherwise than it expects.
    """
    if picture is not None and (picture.is_dir() or not os.access(picture.absolute().parent, os.W_OK)):
        raise TwinError(f"--picture: {picture} cannot be written; name a file in an existing folder")
    made: dict[str, list[str]] = {}
    played = [_checked(file, stacks, project) for file in files]
    unmet = [_rehearse(paths, each, project, picture, made, as_json=as_json) for each in played]
    if any(unmet):
        raise typer.Exit(1)


def _rehearse(
    paths: TwinPaths, play: _Play, project: Path, picture: Path | None, made: dict[str, list[str]], *, as_json: bool
) -> list[str]:
    """Play jobs and events on each of the stacks. Return what is not as expected.

    `made` has the contexts of the stacks that are up on the twin.
    """
    timelines: dict[str, Timeline] = {}
    alone = len(play.stacks) == 1
    try:
        for stack in play.stacks:
            twin, up = (paths, made) if alone else (_twin_for(paths, stack), {})
            try:
                timelines[stack] = _on_stack(twin, play, stack, project, up, quiet=as_json)
            finally:
                if not alone:
                    TwinClient(twin).remove()
    finally:  # an error of a later stack comes after what the former ones have shown
        unmet = _report(paths, play.scenario, timelines, picture, as_json=as_json) if timelines else []
    return unmet


def _report(
    paths: TwinPaths, scenario: ScenarioSpec, timelines: Mapping[str, Timeline], picture: Path | None, *, as_json: bool
) -> list[str]:
    """Print what happened, draw it and keep it for `tpuplane ui`. Return what is not as expected."""
    unmet = [
        text if len(timelines) == 1 else f"{stack}: {text}"
        for stack, timeline in timelines.items()
        for text in scenario.unmet(timeline)
    ]
    drawn = chart(list(timelines.values()))
    result: dict[str, Any] = {
        "title": scenario.title,
        "stacks": {stack: summary(timeline) for stack, timeline in timelines.items()},
        "unmet": unmet,
    }
    if paths.is_twin():  # with --against there may be none of this name; `tpuplane ui` shows the file in its shell
        write_atomic(paths.timeline, json.dumps(result | {"picture": drawn}))

    def show() -> None:
        console.print(figures_table(list(result["stacks"].values())))
        for text in unmet:
            console.print(f"[bold red]not as expected:[/bold red] {escape(text)}", soft_wrap=True)
        if scenario.expect and not unmet:
            console.print(f"as expected: {len(scenario.expect)} of {len(scenario.expect)}")

    answer(result, as_json, show)
    if picture is not None:  # last: a full disk then costs only the picture
        try:
            picture.write_text(drawn, encoding="utf-8")
        except OSError as error:
            cause = f"--picture: {picture} cannot be written: {error.strerror}"
            raise TwinError(f"{cause}; the result is complete without it") from None
    return unmet


def _twin_for(paths: TwinPaths, stack: str) -> TwinPaths:
    """The twin on which a stack is compared. The name of a stack can have more letters than that of a twin."""
    try:
        return TwinPaths.of(f"{paths.name}-against-{stack}")
    except TwinNameError:
        return TwinPaths.of(f"{paths.name[:16]}-against-{sha256(stack.encode()).hexdigest()[:6]}")


def _on_stack(
    paths: TwinPaths, play: _Play, stack: str, project: Path, made: dict[str, list[str]], *, quiet: bool
) -> Timeline:
    """Bring up a stack, unless it is in `made` with all of its node pools, and play the jobs and events on it."""
    out = stderr if quiet else console

    def say(at: float, text: str) -> None:
        out.print(f"{stack}{elapsed(at):>9}  {text}", highlight=False, markup=False, soft_wrap=True)

    client = TwinClient(paths)
    if stack not in made:
        bring_up(paths)  # lets the clock of a killed rehearsal run, which a twin that is held does not
    with client.for_rehearsal() as free:
        if not free:
            raise TwinError(f"another rehearsal runs on the twin {paths.name!r}; wait until it ends, or use --name")
        if stack not in made or _any_in_error(client):
            made[stack] = rehearse(paths, stack, project, sample=False, quiet=True)["contexts"]
        stage = Stage(client, made[stack], os.environ | shell_environment(client))
        try:
            return Player(stage, play.jobs, play.scenario.events, say).play(stack, play.until)
        finally:
            stage.close()


def _any_in_error(client: TwinClient) -> bool:
    """Whether a former scenario has left a node pool in ERROR."""
    return any(pool["status"] == "ERROR" for cluster in client.status()["clusters"] for pool in cluster["nodePools"])


def _is_trace(file: Path) -> bool:
    return file.suffix.lower() == ".csv"


def _checked(file: Path, stacks: Sequence[str], project: Path) -> _Play:
    """What a file plays. Raises `TwinError` for mistakes that files show."""
    scenario, jobs = _read(file)
    if not (stacks := list(dict.fromkeys(stacks)) or ([] if _is_trace(file) else [scenario.stack])):
        raise TwinError(f"{file} is a trace: name the stacks that it is played on, each with --against STACK")
    found = {stack: require_stack_file(stack, project) for stack in stacks}
    try:
        platforms = {stack: spec for stack, path in found.items() if path and (spec := described(path))}
    except SpecError as error:
        raise TwinError(str(error)) from None
    if problem := difference(platforms, jobs, scenario.events):
        raise TwinError(f"{file}: {problem}")
    until = max(job.at for job in jobs) + _AFTER_SECONDS if _is_trace(file) else duration(scenario.until)
    return _Play(scenario, jobs, until, stacks)


def _read(file: Path) -> tuple[ScenarioSpec, list[TraceJob]]:
    if file.match("Pulumi.?*.yaml"):
        stack = file.name.removeprefix("Pulumi.").removesuffix(".yaml")
        raise TwinError(f"{file} is a stack file, not a scenario; name the stack instead: {stack}")
    try:
        if _is_trace(file):
            return ScenarioSpec(title=file.name), read_trace(file.read_text(encoding="utf-8"))
        scenario = load_scenario(file)
    except (SpecError, InvalidTrace) as error:
        raise TwinError(f"{file}: {error}" if isinstance(error, InvalidTrace) else str(error)) from None
    except UnicodeDecodeError as error:
        raise TwinError(f"{file}: not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise TwinError(f"{file} cannot be read: {error.strerror}") from None
    return scenario, scenario.all_jobs
