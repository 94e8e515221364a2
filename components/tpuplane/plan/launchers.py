"""Who starts jobs for a team besides its members."""

from __future__ import annotations

from tpuplane.plan.queue_model import LauncherPlan
from tpuplane.spec import ClusterSpec
from tpuplane.spec.addon_catalogue import addon_catalogue


def launcher_plan(cluster: ClusterSpec, team: str) -> LauncherPlan | None:
    """The cluster's Launch agent, where it works for the team."""
    agent, addon = cluster.addons.launch_agent, addon_catalogue().addons["launchAgent"]
    if agent is None or team not in agent.teams or addon.account is None or addon.secret is None:
        return None
    return LauncherPlan(addon.namespace, addon.account, addon.secret)
