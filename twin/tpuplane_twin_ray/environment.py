"""Ray for pods that are real Ray processes: a separate environment, because it is large and optional.

`build` creates it from the extra `ray` of this package. A twin uses it if TPUPLANE_TWIN_RAY is 1; else Ray's pods are
simulated.
"""

import hashlib
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

from tpuplane_twin.machine.paths import cache_root
from tpuplane_twin.tools.catalogue import ToolError, run

SWITCH = "TPUPLANE_TWIN_RAY"
_DONE = ".complete"
_EXTRA = re.compile(r"""extra\s*==\s*['"]ray['"]""")


def requirements() -> list[str]:
    """The requirements of the extra `ray`."""
    found = (entry.partition(";") for entry in metadata.requires("tpuplane-twin") or ())
    return sorted(name.strip() for name, _, marker in found if _EXTRA.search(marker))


def version() -> str:
    """The version of Ray that the extra pins."""
    return next(entry.partition("==")[2] for entry in requirements() if entry.startswith("ray["))


def folder(cache: Path | None = None) -> Path:
    """The folder of the environment, by its requirements and its Python."""
    shape = "\n".join([*requirements(), sys.version, sys.base_prefix, "compiled"])
    return (cache or cache_root()).absolute() / "ray" / hashlib.sha256(shape.encode()).hexdigest()[:12]


def wanted() -> Path | None:
    """The environment for this twin's Ray pods; None if they are simulated. Raises `ToolError`."""
    switch = os.environ.get(SWITCH, "0")
    if switch not in ("0", "1"):
        raise ToolError(f"{SWITCH}: {switch!r} is not allowed; allowed: 0 (Ray's pods are simulated), 1 (they run)")
    if switch == "0":
        return None
    if not (folder() / _DONE).exists():
        raise ToolError(f"{SWITCH} is 1 and Ray {version()} is not installed; run `tpuplane-twin build --ray` (1.2 GB)")
    return folder()


def build(cache: Path | None = None) -> Path:
    """Create the environment if it is missing, with uv or else pip. Raises `ToolError`."""
    target = folder(cache)
    if (target / _DONE).exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    python, failure = str(target / "bin" / "python"), "Ray's environment could not be created"
    if uv := shutil.which("uv"):
        run([uv, "venv", "--quiet", "--python", sys.executable, str(target)], failure)
        # Pods cannot write into it, so each of Ray's processes would compile Ray again, for five seconds.
        run([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *requirements()], failure)
    else:
        run([sys.executable, "-m", "venv", str(target)], failure)
        run([python, "-m", "pip", "install", "--quiet", *requirements()], failure)
    # Last, so that an interrupted installation is repeated.
    (target / _DONE).touch()
    return target
