"""YAML text for Ray. KubeRay reports text that cannot be read only in a status."""

from __future__ import annotations

from typing import Annotated

import yaml
from pydantic import AfterValidator

from tpuplane.spec.core.fields import reject


def _mapping(text: str) -> str:
    try:
        found = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # The text itself is not shown, because it can contain passwords.
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise reject(f"not YAML: {error.problem}{line}") from None
    except yaml.YAMLError:
        raise reject("not YAML: a character that YAML does not allow") from None
    if not isinstance(found, dict):
        raise reject("not a YAML mapping; allowed: fields and their values")
    return text


YamlMapping = Annotated[str, AfterValidator(_mapping)]
