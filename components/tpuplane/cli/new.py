"""`tpuplane new`: asks for the values of a first stack file, and writes the file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

import typer

from tpuplane.cli.first_stack import Answers, locations_offered, text
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import catalogue

USAGE = 2


def write_first_stack(file: Path, given: Mapping[str, str | None], *, force: bool) -> None:
    """Ask for each value that is not `given` and write the file. Ends the command if a given value is wrong."""
    if file.exists() and not force:
        raise _usage_error(f"{file} exists; choose another name, or overwrite it with --force")
    content = text(_interview(given), file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(content)
    except OSError as error:
        raise _usage_error(f"{file} cannot be written: {error.strerror}") from None
    typer.echo(f"wrote {file}; next: tpuplane plan {file}")


def _interview(given: Mapping[str, str | None]) -> Answers:
    """Ask all questions. The choices of a question depend on earlier answers."""
    answers = Answers()

    def ask(field: str, question: str, offered: tuple[str, ...] = (), default: str | None = None) -> None:
        nonlocal answers
        answers = _answered(answers, field, question, given.get(field), offered, default)

    ask("name", "name of the platform")
    ask("project", "Google Cloud project id")
    ask("location", "location of the cluster, a region or a zone", locations_offered())
    ask("generation", "TPU generation", answers.generations)
    if len(answers.zones) > 1 or given.get("zone"):
        ask("zone", "zone of the chips", answers.zones)
    generation = catalogue().generation(answers.generation or "")
    more = (f"and {generation.rule}",) if generation.rule else ()
    ask("topology", "topology of a slice", (*generation.topologies, *more))
    ask("capacity", "capacity", get_args(Capacity), default="on-demand")
    if answers.capacity == "reservation":
        ask("reservation", "name of the reservation")
    elif unused := [it for it in ("reservation", "reserved_chips") if given.get(it) is not None]:
        options = " and ".join(f"--{it.replace('_', '-')}" for it in unused)
        raise _usage_error(f"{options}: only with --capacity reservation, not {answers.capacity}; remove it")
    default = "0-1" if answers.capacity == "flex-start" else "1"
    ask("slices", "slices, or minimum and maximum such as 0-4", default=default)
    if answers.capacity == "reservation":
        most = int((answers.slices or "").rpartition("-")[2])
        ask("reserved_chips", "chips of the reservation", default=str(most * answers.shape.chips))
    return answers


def _answered(
    answers: Answers, field: str, question: str, given: str | None, offered: tuple[str, ...], default: str | None
) -> Answers:
    """The answers with one more, which is given or asked for until it is valid."""
    option = f"--{field.replace('_', '-')}"
    if given is not None:
        answers = replace(answers, **{field: given})
        mistakes = answers.mistakes(field)
        if mistakes:
            raise _usage_error("\n".join(f"{option}: {mistake}" for mistake in mistakes))
        return answers
    if offered:
        typer.echo(f"{question}: {', '.join(offered)}")
    while True:
        try:
            answer = typer.prompt(question if not offered else field, default=default).strip()
        except typer.Abort:
            raise _usage_error(f"no answer; set {option} to skip the question. No file was written.") from None
        candidate = replace(answers, **{field: answer})
        mistakes = candidate.mistakes(field)
        if not mistakes:
            return candidate
        for mistake in mistakes:
            typer.echo(f"  {mistake}", err=True)


def _usage_error(message: str) -> typer.Exit:
    typer.echo(message, err=True)
    return typer.Exit(USAGE)
