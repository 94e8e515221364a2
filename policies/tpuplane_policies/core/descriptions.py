"""The changes to the description that led to a plan, as `tpuplane diff` shows them."""

import json
from dataclasses import replace

from tpuplane.diff import diff
from tpuplane.former_stack import NoUpdate, load_deployed, load_revision
from tpuplane.spec import parse_platform
from tpuplane.spec.addons.definitions import in_project
from tpuplane.spec.platform import PROJECT_KEY
from tpuplane.spec.stackfile import CONFIG_KEY

from tpuplane_policies.core.config import ConfigError
from tpuplane_policies.core.plans import Plan
from tpuplane_policies.core.values import HIDDEN

_BEFORE = "name the description before the change with --before FILE or --before REVISION:PATH"


def described(plan: Plan, stack: str, before: str | None) -> Plan:
    """The plan with the changes to its description, or with the reason why they are not known.

    `before` names the description before the change, as for `tpuplane diff`: a stack file, or REVISION:PATH. None
    means that of the last update; a plan without a description is then returned unchanged. Raises `ConfigError` if
    `before` cannot be read, or if the plan has no description to compare with it.
    """
    text = plan.config.get(CONFIG_KEY)
    if before == "":  # as from a variable that is not set
        raise ConfigError(f"--before: the name is empty. Remedy: {_BEFORE}, or omit --before")
    if before is None and (text is None or not plan.exists):
        return plan
    if text is None:
        raise ConfigError(f"--before: the plan has no {CONFIG_KEY} in its configuration. Remedy: omit --before")
    try:
        former = None if before is None else load_revision(before)
    except ValueError as error:
        raise ConfigError(f"--before: {_line(error)}") from None
    if text == HIDDEN:
        return _unread(plan, f"{CONFIG_KEY} is a secret", "set it as plain text, without --secret")
    try:
        after = parse_platform(json.loads(text), project=plan.config.get(PROJECT_KEY), read=in_project())
        return replace(plan, changes=diff(former or load_deployed(stack), after))
    except NoUpdate as error:
        return _unread(plan, _line(error), _BEFORE)
    except ValueError as error:
        return _unread(plan, _line(error), "correct the description, or the file that the message names")


def _unread(plan: Plan, cause: str, remedy: str) -> Plan:
    return replace(plan, unread=f"the changes to the description are not known: {cause}", remedy=remedy)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
