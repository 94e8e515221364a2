"""What the pack says of a platform that the components register."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.resources import Resource, Stack
from tpuplane_policies.core.run import Violation

from tests.support.components.deployment import deploy_platform
from tests.support.policies.case_files import a_run


def judged(config: Any, platform: dict[str, Any], more: Iterable[Resource] = ()) -> list[Violation]:
    """What is mandatory in the configuration and is broken, of all that the components register, and of `more`."""
    registered = tuple(
        Resource(
            registration.type,
            registration.name,
            registration.urn,
            lambda resource=registration: resource.inputs,
            protect=registration.request.protect,
            delete_before_replace=registration.request.deleteBeforeReplace,
            provider=registration.request.provider.rpartition("::")[0],  # the URN, without the id
        )
        for registration in deploy_platform(platform).registrations.values()
    )
    resources = (*registered, *more)
    run = a_run(config)
    held = [rule for rule in rules() if run.settings.level(rule) == "mandatory"]
    found = [finding for rule in held for resource in resources for finding in run.resource(rule, resource)]
    return found + [finding for rule in held for finding in run.whole(rule, Stack(resources))]
