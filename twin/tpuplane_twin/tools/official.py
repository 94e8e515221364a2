"""An installed Pulumi, used instead of a built one if it is recent and can run Python programs."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tpuplane_twin.tools.catalogue import version_of
from tpuplane_twin.tools.golang import Version, parse_version

# The oldest engine that the components, the policy pack and the twin's providers were run with.
MINIMUM: Version = (3, 230, 0)
LANGUAGE_HOST = "pulumi-language-python"


@dataclass(frozen=True, slots=True)
class OfficialPulumi:
    """An installed `pulumi` that brings its Python language host."""

    command: Path
    version: str

    def brings(self, program: str) -> bool:
        """Whether `program`, such as another language's host, was installed with it."""
        return os.access(self.command.resolve().parent / program, os.X_OK)


def find_official(path: str, ours: Path) -> OfficialPulumi | None:
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
        resolved = Path(command).resolve()
        if resolved.is_relative_to(ours.resolve()):
            continue
        if elsewhere is None and not os.access(resolved.parent / LANGUAGE_HOST, os.X_OK):
            continue
        version = version_of(command, "version", environment=quiet).removeprefix("v")
        if parse_version(version) >= MINIMUM:
            return OfficialPulumi(Path(command), version)
    return None
