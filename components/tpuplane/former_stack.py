"""Earlier stack files, from a git revision or from the last update of a stack; and the state of a stack."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from tpuplane.labels import DEFINITION
from tpuplane.spec import PlatformSpec, SpecError, load_stack, parse_platform
from tpuplane.spec.addons.definitions import Read, project_folder, read_definition
from tpuplane.spec.core.errors import Mistake, dotted
from tpuplane.spec.core.errors import Path as Place
from tpuplane.spec.core.yaml_reader import Lines
from tpuplane.spec.platform import PROJECT_KEY
from tpuplane.spec.stackfile import CONFIG_KEY, StackFileMissing

_REMEDY = "name two stack files, or REVISION:PATH of a git repository as in `git show`"

# `:0` is a stage of the index.
_REVISION = re.compile(r"\A(:[0-3]|[^:]*):(.*)", re.DOTALL)


def load_revision(file: str) -> PlatformSpec:
    """The platform of a stack file, or of `REVISION:PATH` as in `git show`. Raises `SpecError`."""
    here = os.path.exists(file)  # noqa: PTH110 (False for a name that is too long)
    return load_stack(file) if ":" not in file or here else _from_git(file, file)


def load_last_commit(file: str) -> PlatformSpec:
    """The platform of a stack file at `HEAD` of its own repository. Raises `SpecError`."""
    path = Path(file)
    return _from_git(f"HEAD:./{path.name}", f"HEAD:{file}", path.parent)


def _from_git(revision: str, file: str, folder: Path = Path()) -> PlatformSpec:
    commit, path = _REVISION.findall(revision)[0]
    content = _git(folder, file, "show", "--end-of-options", revision)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "stack.yaml")
        copy.write_bytes(content)

        def read(name: str, _: Place) -> tuple[Any, Lines]:
            relative = path.startswith(("./", "../"))
            top = "." if relative else _git(folder, file, "rev-parse", "--show-toplevel").decode().strip()
            project = project_folder((folder / top / path).parent)

            def locate(of_project: str) -> Path:
                found = Path(scratch, "definition.yaml")
                found.write_bytes(_git(project, file, "show", "--end-of-options", f"{commit}:./{of_project}"))
                return found

            return read_definition(name, locate)

        try:
            return load_stack(copy, read)
        except SpecError as error:
            mistakes = (replace(mistake, where=mistake.where.replace(str(copy), file)) for mistake in error.mistakes)
            raise SpecError(mistakes) from None


def _git(folder: Path, file: str, *arguments: str) -> bytes:
    """What a command of git prints. Raises `StackFileMissing` about `file`."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise StackFileMissing([Mistake((), f"git is not on PATH; {_REMEDY}", file)]) from None
    if done.returncode:
        cause = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").rstrip(".")
        raise StackFileMissing([Mistake((), f"{cause}; {_REMEDY}", file)])
    return done.stdout


class NoUpdate(Exception):
    """A stack that cannot be read, or whose last update did not succeed."""


def load_deployed(stack: str) -> PlatformSpec:
    """The platform of the last update of a stack, from its history and its state. Raises `NoUpdate`."""
    with _reading(stack):
        description, project = _last_update(stack)
    try:
        return parse_platform(description, project=project, read=_definitions_in(stack))
    except SpecError as error:  # another version of tpuplane has accepted it
        found = "; ".join(str(replace(mistake, where="")) for mistake in error.listed)
        raise NoUpdate(
            f"this version of tpuplane rejects the last update of stack {stack}: {found}; "
            "run `pulumi preview`, or compare two stack files"
        ) from None


def _last_update(stack: str) -> tuple[Any, Any]:
    """The description in the configuration of the last update, and its project."""
    last = next(_updates(stack), None)
    if last and last["result"] != "succeeded":
        kind = last["kind"]
        again = "`pulumi up` or `pulumi destroy`" if kind == "destroy" else "`pulumi up`"
        raise NoUpdate(
            f"the last {kind} of stack {stack} did not succeed, so its resources are unknown; do what "
            f"`tpuplane check FILE --online --deployed {stack}` prints, then run {again}. `pulumi preview` shows what "
            "`pulumi up` does"
        )
    if not last or last["kind"] == "destroy":
        raise NoUpdate(f"stack {stack} has no resources from an update; run `pulumi preview` to see the first one")
    config = last["config"]
    described = config.get(CONFIG_KEY, {})
    if "value" not in described or described.get("secret"):
        raise NoUpdate(
            f"the last update of stack {stack} has no {CONFIG_KEY} in plain text in its configuration; "
            "run `pulumi preview`, or compare two stack files"
        )
    return json.loads(described["value"]), config.get(PROJECT_KEY, {}).get("value")


def _updates(stack: str) -> Iterator[dict[str, Any]]:
    """The updates and destroys in the history of a stack, the last one first."""
    for page in count(1):  # refreshes can fill the newest pages
        history = _pulumi("history", stack, "--json", "--page-size", "50", "--page", str(page))
        yield from (update for update in history if update["kind"] in ("update", "destroy"))
        if not history:
            return


def destroy_ended_early(stack: str) -> bool:
    """Whether a `pulumi destroy` of a stack did not succeed, and no later command did. Raises `NoUpdate`."""
    with _reading(stack):
        failed = takewhile(lambda update: update["result"] != "succeeded", _updates(stack))
        return any(update["kind"] == "destroy" for update in failed)


def _definitions_in(stack: str) -> Read:
    """Reads definitions of installed add-ons from the state, which is read once: they are those of the last update."""
    state = cache(partial(state_of, stack))

    def read(name: str, at: Place) -> tuple[Any, Lines]:
        resources = [(resource["urn"].rpartition("::")[2], resource) for resource in state().get("resources") or ()]
        platforms = [logical for logical, resource in resources if resource["type"] == "tpuplane:index:Platform"]
        markers = {f"{platform}-{at[1]}-addons-{at[4]}-ready" for platform in platforms}
        try:
            (marker,) = (resource for logical, resource in resources if logical in markers)
            return json.loads(marker["inputs"]["metadata"]["annotations"][DEFINITION]), Lines(None)
        except (KeyError, TypeError, ValueError):
            raise NoUpdate(
                f"the state of stack {stack} does not have the definition {name} of {dotted(at[:-1])}; "
                "run `pulumi preview`, or compare two stack files"
            ) from None

    return read


def state_of(stack: str) -> dict[str, Any]:
    """The state of a stack: its resources and pending operations. Raises `NoUpdate`."""
    with _reading(stack):
        return dict(_pulumi("export", stack)["deployment"] or {})


@contextmanager
def _reading(stack: str) -> Iterator[None]:
    """Raises `NoUpdate` if what Pulumi prints of a stack has another form."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise NoUpdate(
            f"this version of tpuplane cannot read what `pulumi stack` prints of stack {stack} ({error!r}); "
            "run `pulumi stack history --json` to see it, or compare two stack files"
        ) from None


def _pulumi(command: str, stack: str, *options: str) -> Any:
    """The JSON output of `pulumi stack COMMAND`. Raises `NoUpdate`."""
    if not stack:  # Pulumi would take the selected stack
        raise NoUpdate("the name of the stack is empty; `pulumi stack ls` lists the stacks")
    words = ["pulumi", "stack", command, "--stack", stack, "--non-interactive", *options]
    try:
        return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    except FileNotFoundError:
        raise NoUpdate('pulumi is not on PATH; install it, or for a twin run: eval "$(tpuplane-twin env)"') from None
    except subprocess.CalledProcessError as error:
        cause = " ".join(error.stderr.split()).removeprefix("error: ")
        raise NoUpdate(f"{cause}; `pulumi stack ls` lists the stacks") from None
