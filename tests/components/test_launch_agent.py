"""W&B's Launch agent as it is registered: nothing waits for its Secret, and teams alone give it rights of theirs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.components.deployment import Deployment, Inputs, deploy_platform

pytestmark = pytest.mark.components


@pytest.fixture
def launching(lab: Inputs, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """The lab, whose agent works for one of two teams, in two namespaces."""
    monkeypatch.delenv("TPUPLANE_CHART_MIRROR", raising=False)
    agent = {"queues": ["tpu"], "teams": ["research"]}
    lab["clusters"]["central1"]["addons"] = {"kueue": {}, "launchAgent": agent}
    lab["clusters"]["central1"]["namespaces"] = []
    lab["teams"] = {
        "research": {"namespaces": ["one", "two"], "clusters": {"central1": {}}},
        "product": {"clusters": {"central1": {}}},
    }
    return deploy_platform(lab)


def test_an_up_does_not_wait_for_a_secret_that_a_person_makes(launching: Deployment) -> None:
    charts = {chart.inputs["name"]: chart.inputs for chart in launching.all("helm.sh/v4:Chart")}
    assert charts["launch-agent"]["skipAwait"] is True
    assert "skipAwait" not in charts["kueue"]
    assert charts["launch-agent"]["chart"] == "oci://ghcr.io/wandb/helm-charts/launch-agent"
    ready = launching.one(":ConfigMap", "platform-central1-addons-launchAgent-ready")
    # It brings no webhook that could be asked.
    assert not ready.request.hooks.before_create


def test_in_a_teams_namespace_it_starts_jobs_and_reads_no_secret_but_its_own(launching: Deployment) -> None:
    named = {"name": "tpuplane-launch-agent"}
    roles = [
        resource.inputs for resource in launching.all("v1:Role") if named.items() <= resource.inputs["metadata"].items()
    ]
    assert {manifest["metadata"]["namespace"] for manifest in roles} == {"one", "two"}
    for role in roles:
        of_secrets = [rule for rule in role["rules"] if "secrets" in rule["resources"]]
        assert [(secret["verbs"], secret.get("resourceNames")) for secret in of_secrets] == [
            (["create"], None),
            (["get", "delete"], ["wandb-api-key-launch-agent"]),
        ]
    bindings = [
        binding.inputs
        for binding in launching.all(":RoleBinding")
        if named.items() <= binding.inputs["metadata"].items()
    ]
    accounts: list[Any] = [subject for binding in bindings for subject in binding["subjects"]]
    account = {"kind": "ServiceAccount", "name": "wandb-launch-serviceaccount-launch-agent", "namespace": "wandb"}
    assert accounts == [account, account]
