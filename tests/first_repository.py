"""A repository of `tpuplane init`, without the command."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from tpuplane.init import Repository, starts

ANSWERS = {
    "name": "acme",
    "project": "my-project",
    "location": "us-central1",
    "generation": "v6e",
    "topology": "2x2",
    "capacity": "on-demand",
    "slices": "1",
}


def first_repository(service: str = "none", **changed: str) -> Repository:
    answered = tuple(replace(it, **{**ANSWERS, **changed}) for it in starts("dev,prod"))
    return Repository(answered, service, date(2027, 2, 28))
