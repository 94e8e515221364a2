"""A twin's Pulumi: its command, language host, backend and environment."""

import os
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

from tpuplane_twin.machine.files import link_atomic, write_if_changed
from tpuplane_twin.machine.paths import TwinPaths, cache_root, commands, users_path
from tpuplane_twin.machine.processes import has_much_memory
from tpuplane_twin.shell.plugins import install_plugin, remove_plugin, stand_in
from tpuplane_twin.tools import Tools, catalogue

# Not a secret. Pulumi stores the passphrase's salt in the stack file, which is checked in: different passphrases of
# twins would change that file at every `up`, and exclude other twins. What a stack on a twin encrypts is in the twin's
# folder (mode 0700), and useful only for that twin. A stack with real secrets has its own `secretsprovider`, which
# takes precedence.
_PASSPHRASE = "tpuplane-twin"  # noqa: S105
_YAML = "pulumi-language-yaml"
_USERS_HOME = "TPUPLANE_PULUMI_HOME"  # in a twin's shell: PULUMI_HOME before it


def pulumi_home(paths: TwinPaths) -> Path:
    """PULUMI_HOME of the twin, separate from the user's."""
    return paths.pulumi / "home"


def users_home() -> Path:
    """The user's PULUMI_HOME, which a shell of a twin replaces."""
    configured = os.environ.get(_USERS_HOME) or os.environ.get("PULUMI_HOME")
    return Path(configured or os.path.expanduser("~/.pulumi"))  # noqa: PTH111  (a user of a container may have no home)


def install_engine(paths: TwinPaths, tools: Tools) -> None:
    """Put `pulumi`, and the project's uv, into the twin's `bin` and set up its home and backend.

    `tools` must hold the tool "pulumi". An official Pulumi has its own language hosts. With a built one, the
    stand-in for Python's is installed, and the built host for YAML if `tools` has it. Idempotent. Raises `ToolError`.
    """
    home = pulumi_home(paths)
    for folder in (home, paths.backend):
        folder.mkdir(parents=True, exist_ok=True)
    if tools.official_pulumi:
        remove_plugin(home, "language", "python")
    else:
        install_plugin(home, "language", "python", version("pulumi"), stand_in("language", "python"))
    if _YAML in tools.binaries:
        (source,) = catalogue().sources_of([_YAML])
        install_plugin(home, "language", "yaml", source.version.removeprefix("v"), [tools.binary(_YAML)])
    else:
        remove_plugin(home, "language", "yaml")
    # `make` installs uv into the tool cache if PATH has no recent one; language hosts look for it on PATH.
    if (uv := cache_root() / "uv" / "bin" / "uv").exists():
        link_atomic(paths.bin / uv.name, uv)
    words = (sys.executable, "-P", "-m", "tpuplane_twin.shell.stacks", paths.root, tools.binary("pulumi"))
    command = " ".join(shlex.quote(str(word)) for word in words)
    # An eighth of the processor time of a preview is Go's collector.
    collector = "export GOGC=${GOGC:-400}\n" if has_much_memory() else ""
    write_if_changed(paths.bin / "pulumi", f'#!/bin/sh\n{collector}exec {command} "$@"\n', mode=0o700)


def environment(paths: TwinPaths) -> dict[str, str]:
    """The variables with which `pulumi` commands work on this twin's stacks only."""
    return {
        "PATH": os.pathsep.join([str(commands()), str(paths.bin), users_path()]),
        "PULUMI_HOME": str(pulumi_home(paths)),
        _USERS_HOME: str(users_home()),
        # No file of attributes beside the state: if a killed engine leaves it empty, no command reads the state.
        "PULUMI_BACKEND_URL": f"file://{paths.backend}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": _PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Missing plugins are not downloaded; the message names the plugin.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # No hints about Pulumi Cloud.
        "PULUMI_SUPPRESS_NEO_LINK": "true",
    }
