"""An installed Pulumi, used instead of a built one if it is recent and can run Python programs."""

import os
import shutil
from pathlib import Path

from tpuplane_twin.tools.catalogue import version_of
from tpuplane_twin.tools.golang import Version, parse_version

# The oldest engine that the components, the policy pack and the twin's providers were run with.
MINIMUM: Version = (3, 230, 0)
LANGUAGE_HOST = "pulumi-language-python"


def brings(pulumi: str | Path, program: str) -> bool:
    """Whether `program`, such as a language host, was installed with this `pulumi`."""
    return os.access(Path(pulumi).resolve().parent / program, os.X_OK)


def find_official(path: str, ours: Path) -> Path | None:
    """The first usable `pulumi` on `path` (as in PATH), or None.

    It is usable with `pulumi-language-python` in its folder or on the path, from version `MINIMUM`. Those in `ours`,
    the cache of built tools, do not count: a twin's shell has them on its PATH.
    """
    quiet = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    elsewhere = shutil.which(LANGUAGE_HOST, path=path)
    for folder in path.split(os.pathsep):
        command = shutil.which("pulumi", path=folder) if folder else None
        if command is None:
            continue
        if Path(command).resolve().is_relative_to(ours.resolve()):
            continue
        if elsewhere is None and not brings(command, LANGUAGE_HOST):
            continue
        if parse_version(version_of(command, "version", environment=quiet).removeprefix("v")) >= MINIMUM:
            return Path(command)
    return None
