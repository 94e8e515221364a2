"""The changes to the description that led to a plan, as `tpuplane diff` shows them."""

import json
from dataclasses import replace

from tpuplane.diff import diff
from tpuplane.former_stack import NoUpdate, load_deployed, load_revision
from tpuplane.spec import parse_platform
from tpuplane.spec.addons.definitions import in_project
from tpuplane.spec.platform import PROJECT_KEY
from tpuplane.spec.stackfile import CONFIG_KEY

from tpuplane_policies.core.plans import Plan

_REMEDY = "name the description before the change with --before FILE or --before REVISION:PATH"


def described(plan: Plan, stack: str, before: str | None) -> Plan:
    """The plan with the changes to its description, or with the reason why they are not known.

    Args:
        plan: the plan. A plan without a description in its configuration is returned unchanged.
        stack: the stack, whose last update has the description before the change.
        before: the description before the change, as for `tpuplane diff`: a stack file, or REVISION:PATH. None: the
            description of the last update.

    """
    text = plan.config.get(CONFIG_KEY)
    if before is None and (text is None or not plan.exists):
        return plan
    if text is None:
        return replace(plan, unread=f"the plan has no {CONFIG_KEY} in its configuration, so omit --before")
    try:
        after = parse_platform(json.loads(text), project=plan.config.get(PROJECT_KEY), read=in_project())
        former = load_deployed(stack) if before is None else load_revision(before)
        return replace(plan, changes=diff(former, after))
    except (NoUpdate, ValueError) as error:
        remedy = f"; {_REMEDY}" if isinstance(error, NoUpdate) else ""  # others have their own
        cause = " ".join(str(error).split())
        return replace(plan, unread=f"the changes to the description are not known ({cause}{remedy})")
