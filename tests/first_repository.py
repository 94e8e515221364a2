"""A repository of `tpuplane init`, without the command."""

from __future__ import annotations

from datetime import date

from tpuplane.init import Repository

from scripts import pulumi_template

ANSWERS = {"name": "acme", **pulumi_template.ANSWERS}


def first_repository(service: str = "none", **changed: str) -> Repository:
    return pulumi_template.repository(service, date(2027, 2, 28), **{**ANSWERS, **changed})
