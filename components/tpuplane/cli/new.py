"""`tpuplane new`: asks for the values of a first stack file, and writes the file."""

import errno
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import typer

from tpuplane.cli.exit_codes import USAGE, ended
from tpuplane.init.first_stack import Answers, locations_offered, text
from tpuplane.spec import SpecError
from tpuplane.spec.pools.hosts import Capacity
from tpuplane.tpu import catalogue


def write_first_stack(file: Path, given: Mapping[str, str | None], *, force: bool) -> None:
    """Ask for each value that is not `given`, and write the file. Ends the command if a given value is wrong."""
    if exists(file) and not force:
        raise usage_error(f"{file} exists; choose another name, or overwrite it with --force")
    (answers,) = interview(given)
    write_files({file: text(answers, file)})
    typer.echo(f"wrote {file}; next: tpuplane plan {shlex.quote(str(file))}")


Variants = tuple[Answers, ...]
_ONE: Variants = (Answers(),)


def interview(given: Mapping[str, str | None], variants: Variants = _ONE, project: str | None = None) -> Variants:
    """Ask all questions, once for all variants. The choices of a question depend on earlier answers.

    `project` is the answer to that question if the user only confirms it.
    """
    answers = variants

    def ask(field: str, question: str, offered: tuple[str, ...] = (), default: str | None = None) -> None:
        nonlocal answers
        answers = _answered(answers, field, question, given.get(field), offered, default)

    ask("name", "name of the platform")
    ask("project", "Google Cloud project id", default=project)
    ask("location", "location of the cluster, a region or a zone", locations_offered())
    ask("generation", "TPU generation", answers[0].generations)
    if len(answers[0].zones) > 1 or given.get("zone") is not None:
        ask("zone", "zone of the chips", answers[0].zones)
    generation = catalogue().generation(answers[0].generation or "")
    more = (f"and {generation.rule}",) if generation.rule else ()
    ask("topology", "topology of a slice", (*generation.topologies, *more))
    ask("capacity", "capacity", get_args(Capacity), default="on-demand")
    if answers[0].capacity == "reservation":
        ask("reservation", "name of the reservation")
    elif unused := [option for option in ("reservation", "reserved_chips") if given.get(option) is not None]:
        options = " and ".join(f"--{option.replace('_', '-')}" for option in unused)
        raise usage_error(f"{options}: only with --capacity reservation, not {answers[0].capacity}; remove it")
    default = "0-1" if answers[0].capacity == "flex-start" else "1"
    ask("slices", "slices, or minimum and maximum such as 0-4", default=default)
    if answers[0].capacity == "reservation":
        most = int((answers[0].slices or "").rpartition("-")[2])
        ask("reserved_chips", "chips of the reservation", default=str(most * answers[0].shape.chips))
    try:
        for variant in answers:
            variant.described()
    except SpecError as error:  # a mistake of no single answer
        raise usage_error(str(error)) from None
    return answers


def _answered(
    answers: Variants, field: str, question: str, given: str | None, offered: tuple[str, ...], default: str | None
) -> Variants:
    """The answers with one more, which is `given`, or asked for until it is valid."""
    option = f"--{field.replace('_', '-')}"
    if given is not None:
        answers, mistakes = _with(answers, field, given)
        if mistakes:
            raise usage_error("\n".join(f"{option}: {mistake}" for mistake in mistakes))
        return answers
    if offered:
        typer.echo(f"{question}: {', '.join(offered)}")
    while True:
        try:
            answer = typer.prompt(question if not offered else field, default=default).strip()
        except typer.Abort:
            raise usage_error(f"no answer; set {option} to skip the question. No file was written.") from None
        candidates, mistakes = _with(answers, field, answer)
        if not mistakes:
            return candidates
        for mistake in mistakes:
            typer.echo(f"  {mistake}", err=True)


def _with(answers: Variants, field: str, value: str) -> tuple[Variants, tuple[str, ...]]:
    """The answers with this one, and its mistakes in any of them."""
    answer: dict[str, Any] = {field: value}
    candidates = tuple(replace(variant, **answer) for variant in answers)
    return candidates, tuple(dict.fromkeys(mistake for variant in candidates for mistake in variant.mistakes(field)))


def exists(path: Path) -> bool:
    """Whether the file exists. For a path that cannot exist, `write_files` has the message."""
    try:
        return path.exists()
    except OSError:
        return False


def write_files(files: Mapping[Path, str]) -> None:
    """Write the files and their folders. If one cannot be written, restore the others and end the command."""
    former: dict[Path, bytes | None] = {}
    try:
        for path, content in files.items():
            data = content.encode()
            path.parent.mkdir(parents=True, exist_ok=True)
            former[path] = path.read_bytes() if path.is_file() else None
            path.write_bytes(data)
    except (OSError, UnicodeEncodeError) as error:
        _restore(former)
        if isinstance(error, UnicodeEncodeError):
            raise usage_error(f"{path} cannot be written: its name is not UTF-8 text; choose another name") from None
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise usage_error(f"{path} cannot be written: {error.strerror}; free some space") from None
        raise usage_error(f"{path} cannot be written: {error.strerror}; choose another folder or name") from None


def _restore(former: dict[Path, bytes | None]) -> None:
    # The last one first, so that no step needs more space than there was.
    for path, content in reversed(former.items()):
        with suppress(OSError):
            if content is not None:
                path.write_bytes(content)
            elif path.is_file():  # not a device
                path.unlink()


def usage_error(message: str) -> typer.Exit:
    """Print the message; the exit to raise."""
    return ended(message, USAGE)
