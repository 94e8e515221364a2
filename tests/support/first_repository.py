"""A repository of `tpuplane init`, without the command."""

from __future__ import annotations

from tpuplane.init import Repository

from scripts import pulumi_template

ANSWERS = {"name": "acme", **pulumi_template.ANSWERS}


def first_repository(service: str = "none", **changed: str) -> Repository:
    return pulumi_template.repository(service, **{**ANSWERS, **changed})
