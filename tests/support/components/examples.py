"""The programs of `examples/`, deployed under mocks."""

from __future__ import annotations

import runpy
from typing import Any

import pulumi
import pytest
import yaml

from tests.support import REPOSITORY
from tests.support.components.deployment import Deployment, deploy

EXAMPLES = REPOSITORY / "examples"


def run(example: str, monkeypatch: pytest.MonkeyPatch, **more: str) -> Deployment:
    folder = EXAMPLES / example
    monkeypatch.chdir(folder)
    settings: dict[str, Any] = yaml.safe_load((folder / "Pulumi.yaml").read_text())["config"]
    # The mocks' project is called otherwise than the example's.
    settings = {
        key if ":" in key else f"tpuplane:{key}": value["default"] if isinstance(value, dict) else value
        for key, value in settings.items()
    }
    pulumi.runtime.set_all_config({**settings, **{f"tpuplane:{key}": value for key, value in more.items()}})
    try:
        return deploy(lambda: runpy.run_path(str(folder / "__main__.py"), run_name="__main__"))
    finally:
        pulumi.runtime.set_all_config({})
