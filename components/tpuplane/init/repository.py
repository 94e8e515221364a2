"""The files of a repository: the template, and a stack file and policies for each environment."""

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.init.first_stack import POOL, Answers, text
from tpuplane.plan import plan
from tpuplane.spec.core.texts import text_problem

_FILES = Path(__file__).parent
_SCHEMA = "../.venv/platform.schema.json"  # the template's Makefile writes it there


class _File(Template):
    """A file of the template. Makefiles and workflows have `$` of their own."""

    delimiter = "%%"


def starts(names: str) -> tuple[Answers, ...]:
    """The first answers of each environment. Raises `ValueError` for names that are not allowed."""
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if problem := text_problem("name", name):
            raise ValueError(problem)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{names!r} contains a name twice")
    return tuple(Answers(environment=name, cluster=_kind(name)["cluster"]) for name in wanted)


@dataclass(frozen=True)
class Repository:
    """A repository with its environments, and the files of a CI service (`none`: no such files)."""

    environments: tuple[Answers, ...]
    service: str

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of all files; needs no answers."""
        per_environment = (path for environment in self.environments for path in _paths(environment))
        return tuple(sorted((*self._templates, *per_environment)))

    @property
    def content(self) -> dict[str, str]:
        """The text of each file. Raises `SpecError` if the answers have mistakes."""
        first, *_ = self.environments
        names = [str(environment.environment) for environment in self.environments]
        pools = plan(first.described()).clusters[0].tpu_pools  # none for 0 slices
        values = {
            "name": first.name,
            "version": version("tpuplane"),
            "first": names[0],
            "last": names[-1],
            "all": ", ".join(f'"{name}"' for name in names),  # YAML 1.1 reads `no` as false
            "pool": pools[0].name if pools else POOL,
            "hosts": "" if pools and pools[0].node_count else "# ",  # an autoscaled pool may have none
        }
        written = {path: _File(file.read_text("utf-8")).substitute(values) for path, file in self._templates.items()}
        salt = (_FILES / "data/salt.yaml").read_text("utf-8")  # else the first `pulumi up` changes the file
        for environment in self.environments:
            stack, policies = _paths(environment)
            written[stack] = text(environment, Path(stack), _SCHEMA) + salt
            written[policies] = json.dumps(self._policies(environment), indent=2) + "\n"
        return written

    @cached_property
    def _templates(self) -> dict[str, Path]:
        folders = [_FILES / "template" / name for name in ("common", self.service)]
        paths = ((file.relative_to(folder).as_posix(), file) for folder in folders for file in folder.rglob("*"))
        # pip compiles the Python files.
        return {path: file for path, file in paths if file.is_file() and file.suffix != ".pyc"}

    def _policies(self, answers: Answers) -> dict[str, Any]:
        """The policy configuration of an environment. Its budget is the number of chips in the stack file."""
        kind = _kind(str(answers.environment))
        found: dict[str, Any] = {**kind["policies"], "TPU012": {"chips": plan(answers.described()).chips}}
        if answers.reservation is not None:
            found["TPU017"] = {"reservations": {answers.reservation: int(answers.reserved_chips or 0)}}
        return dict(sorted(found.items()))


def _paths(answers: Answers) -> tuple[str, str]:
    return f"stacks/Pulumi.{answers.environment}.yaml", f"policies/config/{answers.environment}.json"


def _kind(environment: str) -> dict[str, Any]:
    kinds = read_data("tpuplane.init", "environments")
    found: dict[str, Any] = kinds["production" if environment.startswith("prod") else "development"]
    return found
