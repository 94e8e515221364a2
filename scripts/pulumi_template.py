"""The template of `pulumi new`: what `tpuplane init` writes, with Pulumi's placeholders."""

from dataclasses import replace
from pathlib import Path

from tpuplane.data_files import read_yaml
from tpuplane.init import Repository, starts

FOLDER = "templates/tpu-platform"
ANSWERS: dict[str, str] = read_yaml(Path(__file__).parent / "data" / "answers.yaml")
_PROJECT, _PLATFORM = "project-name", "platform"
_DESCRIPTION = "description: A TPU platform on GKE, from one stack file per environment\n"


def template() -> dict[str, str]:
    """The text of each file."""
    texts = {path: text.replace(_PROJECT, "${PROJECT}") for path, text in _content(_PROJECT).items()}
    # In YAML, Pulumi puts the name of a project on a line of its own, so a stack file cannot use it.
    texts |= {path: text for path, text in _content(_PLATFORM).items() if path.startswith("stacks/")}
    about = texts["Pulumi.yaml"].replace(_DESCRIPTION, "description: ${DESCRIPTION}\n")
    texts["Pulumi.yaml"] = f"{about}template:\n  {_DESCRIPTION}"
    return {f"{FOLDER}/{path}": text for path, text in texts.items()}


def _content(name: str) -> dict[str, str]:
    return repository("github", name=name).content


def repository(service: str, **answers: str) -> Repository:
    """The repository with these answers to `tpuplane init`; for others, `ANSWERS`."""
    environments = tuple(replace(start, **{**ANSWERS, **answers}) for start in starts("dev,prod"))
    return Repository(environments, service)
