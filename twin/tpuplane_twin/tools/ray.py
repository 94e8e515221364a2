"""Ray for pods that are real Ray processes: an environment of its own, because it is large and few need it.

`build` makes it from the extra `ray` of this package. A twin uses it where TPUPLANE_TWIN_RAY is 1; else Ray's pods are
simulated, as all others.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from tpuplane_twin.machine.paths import cache_root
from tpuplane_twin.tools.catalogue import ToolError

SWITCH = "TPUPLANE_TWIN_RAY"
_DONE = ".complete"
_EXTRA = re.compile(r"""extra\s*==\s*['"]ray['"]""")


def requirements() -> list[str]:
    """What the extra `ray` asks for."""
    found = (entry.partition(";") for entry in metadata.requires("tpuplane-twin") or ())
    return sorted(name.strip() for name, _, marker in found if _EXTRA.search(marker))


def version() -> str:
    """The version of Ray that the extra pins."""
    return next(entry.partition("==")[2] for entry in requirements() if entry.startswith("ray["))


def folder(cache: Path | None = None) -> Path:
    """Where the environment is, or would be. It depends on what is in it, and on the Python that it is made from."""
    shape = "\n".join([*requirements(), sys.version, sys.base_prefix, "compiled"])
    return (cache or cache_root()).absolute() / "ray" / hashlib.sha256(shape.encode()).hexdigest()[:12]


def wanted() -> Path | None:
    """The environment for this twin's Ray pods; None where they are simulated. Raises `ToolError`."""
    switch = os.environ.get(SWITCH, "0")
    if switch not in ("0", "1"):
        raise ToolError(f"{SWITCH}: {switch!r} is not allowed; allowed: 0 (Ray's pods are simulated), 1 (they run)")
    if switch == "0":
        return None
    if not (folder() / _DONE).exists():
        raise ToolError(f"{SWITCH} is 1 and Ray {version()} is not there; run `tpuplane-twin build --ray` (1.2 GB)")
    return folder()


def build(cache: Path | None = None) -> Path:
    """Make the environment where it is not there, with uv or else pip. Raises `ToolError`."""
    target = folder(cache)
    if (target / _DONE).exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    python = str(target / "bin" / "python")
    if uv := shutil.which("uv"):
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(target))
        # Pods cannot write into it: each of Ray's many processes would compile all of Ray again, for five seconds.
        _run(uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *requirements())
    else:
        _run(sys.executable, "-m", "venv", str(target))
        _run(python, "-m", "pip", "install", "--quiet", *requirements())
    # Last: what was interrupted is made anew.
    (target / _DONE).touch()
    return target


def _run(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if result.returncode:
        tail = "\n".join(f"  {line}" for line in result.stderr.strip().splitlines()[-6:])
        raise ToolError(f"Ray's environment could not be made. {Path(command[0]).name} says:\n{tail}")
