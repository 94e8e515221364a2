"""What a project finds on a twin: an empty stack for each of its stack files, and the reservations in these.

Every `pulumi` command of a twin's shell runs `main` first, so a new file has its stack at once. The files of the
project do not change, and other projects get nothing.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

_MADE = "made.json"  # the stacks that the twin made, which `pulumi stack init` makes again; the files that it has read
_PREVIEWS = (["preview"], ["pre"])
_FIELDS = {"-C": "folder", "--cwd": "folder", "-s": "stack", "--stack": "stack"}


def prepare(project: Path, pulumi: Path, backend: Path, arguments: Sequence[str] = ()) -> None:
    """Make the missing stacks of the project around the folder `project` in a twin's `backend`.

    `pulumi` is the command, and `arguments` are those with which it will run: `stack init` makes its stack itself.
    """
    found = _project(project)
    if found is None:
        return
    root, settings = found
    name, folder = str(settings["name"]), root / str(settings.get("stackConfigDir") or "")
    file = backend.parent / _MADE
    made: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    own = made.setdefault("stacks", {}).setdefault(name, [])
    states = backend / ".pulumi" / "stacks" / name
    created = _created(arguments)
    if created in own:
        own.remove(created)
        if not (backend / ".pulumi" / "history" / name / created).exists():
            (states / f"{created}.json").unlink(missing_ok=True)
    for each in sorted(folder.glob("Pulumi.*.yaml")):
        _reserve(each, backend, made)
        stack = each.name.removeprefix("Pulumi.").removesuffix(".yaml")
        if stack != created and not list(states.glob(f"{stack}.json*")):
            _init(name, stack, pulumi)
            own.append(stack)
    file.write_text(json.dumps(made))


def _reserve(file: Path, backend: Path, made: dict[str, Any]) -> None:
    """Tell the twin of the reservations in a stack file that is new or changed."""
    stamp = [file.stat().st_mtime_ns, file.stat().st_size]
    if made.setdefault("files", {}).get(str(file)) == stamp:
        return
    if b"reservations" in file.read_bytes():
        from tpuplane_twin.daemon.described import reserve  # noqa: PLC0415  (most commands need none of it)

        if not reserve(file, backend.parents[1]):
            return
    made["files"][str(file)] = stamp


def _init(project: str, stack: str, pulumi: Path) -> None:
    """An empty stack. In a folder of its own: Pulumi would write the salt of a passphrase into the stack file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "Pulumi.yaml").write_text(json.dumps({"name": project, "runtime": "yaml"}))
        command = [str(pulumi), "stack", "init", stack, "--no-select", "--non-interactive", "--cwd", folder]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode and "already exists" not in result.stderr:
        raise OSError(f"the twin cannot create the stack {stack!r}: {result.stderr.strip()}")


def _project(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The folder with Pulumi.yaml, from `folder` upward, and its settings; None if Pulumi finds no project either."""
    for root in (folder, *folder.parents):
        for file in (root / "Pulumi.yaml", root / "Pulumi.yml"):
            if file.is_file():
                settings = yaml.safe_load(file.read_text(encoding="utf-8"))
                return (root, settings) if isinstance(settings, dict) and settings.get("name") else None
    return None


def _created(arguments: Sequence[str]) -> str:
    """The stack that `pulumi stack init` creates, empty for other commands and where Pulumi asks for its name."""
    words, options = _parsed(arguments)
    if words[:2] != ["stack", "init"]:
        return ""
    return str(options.get("stack") or next(iter(words[2:]), "")).rpartition("/")[2]


def _parsed(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The arguments that are not options, and the options of `_FIELDS`."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest: Iterator[str] = iter(arguments)
    for argument in rest:
        option, given, value = argument.partition("=")
        if option in _FIELDS:
            options[_FIELDS[option]] = value if given else next(rest, "")
        elif not argument.startswith("-"):
            words.append(argument)
    return words, options


def main(root: str, pulumi: str, *arguments: str) -> None:
    """Prepare the stacks of the twin in the folder `root`, then become `pulumi` with its arguments."""
    backend = Path(root, "pulumi", "backend")
    with contextlib.suppress(KeyboardInterrupt):
        if os.environ.get("PULUMI_BACKEND_URL", "").partition("?")[0] == f"file://{backend}":
            folder = Path(_parsed(arguments)[1].get("folder") or ".").absolute()
            try:
                prepare(folder, Path(pulumi), backend, arguments)
            except (OSError, ValueError, yaml.YAMLError) as error:
                print(f"warning: {' '.join(str(error).split())}", file=sys.stderr)
        # The Kubernetes provider leaves a kubeconfig behind at each run. `tpuplane-twin down` deletes this folder.
        temporary = Path(root, "pulumi", "temporary")
        temporary.mkdir(exist_ok=True)
        os.environ.setdefault("TMPDIR", str(temporary))
        # By default, four for each processor. The Deployments and Services of operators take all of them on a small
        # machine with three clusters, and wait for roles and webhooks, which wait for their turn.
        os.environ.setdefault("PULUMI_PARALLEL", "64")
        if _parsed(arguments)[0][:1] in _PREVIEWS:
            # At each step the engine writes the whole state down, and throws it away at the end of a preview.
            os.environ.setdefault("PULUMI_SKIP_CHECKPOINTS", "true")
        os.execv(pulumi, ["pulumi", *arguments])  # noqa: S606  (the command is the user's own)


if __name__ == "__main__":
    main(*sys.argv[1:])
