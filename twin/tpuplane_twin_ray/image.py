"""Ray's image: an environment from PyPI instead of a program, for every tag."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tpuplane_twin.cluster.api import Object
from tpuplane_twin.pods.images import Image
from tpuplane_twin.tools import Tools

from tpuplane_twin_ray import environment, tpu_host

_HOME = "/home/ray"


@dataclass(frozen=True, slots=True)
class RayImage(Image):
    """The images of Ray, with the environment in `folder`."""

    repository: str = "rayproject/ray(-ml|-llm)?"
    tool: str = "ray"
    entrypoint: str = "/bin/bash"
    cwd: str = _HOME
    starts_hard: bool = True  # Ray gives up after 30 s
    folder: Path = field(kw_only=True)

    @property
    def version(self) -> str:
        """The version of the environment."""
        return environment.version()

    def rejection(self, reference: str) -> str | None:
        """Every tag can run."""
        del reference
        return None

    def mounts(self, tools: Tools) -> list[Object]:
        """The environment and its Python."""
        del tools
        folders = {self.folder, (self.folder / "bin" / "python").resolve().parents[1]}
        # A Python below /usr is mounted with the rest of /usr.
        there = [str(folder) for folder in folders if not folder.is_relative_to("/usr")]
        return [{"source": folder, "target": folder, "readOnly": True} for folder in there]

    def environment(self, labels: Mapping[str, str], chips: int) -> dict[str, str]:
        """Ray's variables, and those of a TPU host."""
        # Ray's workers run at the lowest priority but four. In a container's share of a machine they stand back for
        # its raylet only; here they would for everything else that runs. Without the last it would tell Ray's authors
        # of every start, if it could.
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": _HOME,
            "USER": "ray",
            "LANG": "C.UTF-8",
            "RAY_worker_niceness": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
            **(tpu_host.environment(labels, chips) if chips else {}),
        }

    def overrides(self, environment: Mapping[str, str], chips: int) -> dict[str, str]:
        """The variables that replace missing chips."""
        return tpu_host.instead_of(environment, chips) if chips else {}
