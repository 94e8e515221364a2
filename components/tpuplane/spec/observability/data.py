"""What is measured, how it is shown and what is run for it, as data."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import yaml


@functools.cache
def observability_data() -> dict[str, Any]:
    """The metrics, tiles, alerts, scrapes and the query frontend, read once."""
    text = resources.files("tpuplane.spec").joinpath("data/observability.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def frontend_url() -> str:
    """Where the add-on `monitoring` answers PromQL queries, inside its cluster."""
    frontend = observability_data()["frontend"]
    return f"http://frontend.{frontend['namespace']}.svc:{frontend['port']}"
