"""A twin's Pulumi: its command, its language host, its backend, and the environment that leads to them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from importlib.metadata import version
from pathlib import Path

import psutil

from tpuplane_twin.engine.plugins import install_plugin, remove_plugin
from tpuplane_twin.machine.files import link_atomic
from tpuplane_twin.machine.paths import TwinPaths, cache_root
from tpuplane_twin.tools import Tools, catalogue

# Not a secret. Pulumi keeps the passphrase's salt in the stack file, which is checked in: a passphrase of each twin's
# own would change that file at every `up` and lock every other twin out of the stack. What a stack on a twin encrypts
# with it lies in the twin's own folder (mode 0700) and opens nothing but that twin. A stack with real secrets names
# its own `secretsprovider`, which outweighs this.
_PASSPHRASE = "tpuplane-twin"  # noqa: S105
_YAML = "pulumi-language-yaml"


def pulumi_home(paths: TwinPaths) -> Path:
    """PULUMI_HOME of the twin: plugins and credentials of its own, nothing of the user's."""
    return paths.pulumi / "home"


def install_engine(paths: TwinPaths, tools: Tools) -> Path:
    """Put `pulumi`, and the project's uv, into the twin's `bin` and set up its home and backend; returns the command.

    `tools` must hold the tool "pulumi". An official Pulumi brings its own language hosts; beside a built one this
    package's for Python is installed, run by the Python that runs this, and the built one for YAML where `tools` holds
    it. May be called again at any time.
    """
    home = pulumi_home(paths)
    for folder in (home, paths.backend):
        folder.mkdir(parents=True, exist_ok=True)
    if tools.official_pulumi:
        remove_plugin(home, "language", "python")
    else:
        host = [sys.executable, "-m", "tpuplane_twin.engine.language_host"]
        install_plugin(home, "language", "python", version("pulumi"), host)
    if _YAML in tools.binaries:
        (source,) = catalogue().sources_of([_YAML])
        install_plugin(home, "language", "yaml", source.version.removeprefix("v"), [tools.binary(_YAML)])
    else:
        remove_plugin(home, "language", "yaml")
    # `make` puts a uv into the tool cache where PATH has none that is new enough; language hosts look for it on PATH.
    if (uv := cache_root() / "uv" / "bin" / "uv").exists():
        link_atomic(paths.bin / uv.name, uv)
    command = paths.bin / "pulumi"
    link_atomic(command, tools.binary("pulumi"))
    return command


def environment(paths: TwinPaths) -> dict[str, str]:
    """The variables with which every `pulumi` command works on this twin's stacks, and on nothing else."""
    return {
        "PATH": os.pathsep.join([str(paths.bin), os.environ.get("PATH", os.defpath)]),
        "PULUMI_HOME": str(pulumi_home(paths)),
        "PULUMI_BACKEND_URL": f"file://{paths.backend}",
        "PULUMI_CONFIG_PASSPHRASE": _PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # What is not there is not fetched from the internet; the message names the plugin.
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # No hints that lead to Pulumi's cloud.
        "PULUMI_SUPPRESS_NEO_LINK": "true",
    }


def stack_locks(backend: Path, stack: str | None = None) -> list[Path]:
    """The lock files of `stack`, or of every stack, in the `file://` backend of the folder `backend`."""
    locks = (backend / ".pulumi" / "locks").glob("**/*.json")
    return sorted(file for file in locks if stack is None or file.parent.name == stack)


def live_holder(lock: Path) -> int | None:
    """The process id of the engine behind `lock` if it runs on this machine, else None."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        holder = json.loads(lock.read_text())
        process = psutil.Process(int(holder.get("pid", 0)))
        # The process id may belong to another program by now.
        if holder.get("hostname") == socket.gethostname() and process.name().startswith("pulumi"):
            return process.pid
    return None
