"""What `remediate` changes, through the SDK's own mappings: what is missing or wrong, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pulumi_policy.deserialize import deserialize_properties, serialize_properties
from tpuplane_policies.core.registry import rules
from tpuplane_policies.core.values import UNKNOWN
from tpuplane_policies.pack import _put
from tpuplane_policies.shown import plain

from tests.support.policies.case_files import a_run, bases, merged, resource

pytestmark = pytest.mark.policies

LABELS = {"values": {"environment": "dev", "owner": "nobody"}, "labels": ["environment", "owner"]}
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hidden"}
UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


@pytest.mark.parametrize(
    ("rule_id", "written", "settings"),
    [
        ("GKE006", {"of": "cluster", "with": {"enableShieldedNodes": False}}, {}),
        ("GKE021", {"of": "cluster", "with": {"resourceLabels": None}}, LABELS),
        ("GKE021", {"of": "pool", "with": {"nodeConfig": {"resourceLabels": {"owner": None}}}}, LABELS),
        ("PRJ002", {"of": "subnetwork", "with": {"privateIpGoogleAccess": False}}, {}),
    ],
)
def test_a_remediated_resource_is_good(rule_id: str, written: dict[str, Any], settings: dict[str, Any]) -> None:
    rule = next(candidate for candidate in rules() if candidate.id == rule_id)
    before, run = resource(written), a_run({rule_id: settings})
    assert run.resource(rule, before)
    props = copy.deepcopy(before.props.raw)
    found = run.repairs(rule, before)
    for keys, value in found:
        _put(props, keys, value)
    after = resource({"of": written["of"]})
    after = type(after)(after.type, after.name, after.urn, lambda: props, protect=True)
    assert not run.resource(rule, after)
    assert not run.repairs(rule, after)


@pytest.mark.parametrize("name", bases())
def test_what_is_good_is_left_alone(name: str) -> None:
    judged_resource, run = resource({"of": name}), a_run({"GKE021": {"values": {"owner": "another"}}})
    assert [found for rule in rules() for found in run.repairs(rule, judged_resource)] == []


@pytest.mark.parametrize("kind", ["cluster", "pool"])
def test_no_remediation_replaces_a_resource(kind: str) -> None:
    """The provider replaces a pool if its secure boot changes, and a cluster if that of its default pool changes."""
    nodes = {"nodeConfig": {"shieldedInstanceConfig": {"enableSecureBoot": False, "enableIntegrityMonitoring": False}}}
    rule = next(candidate for candidate in rules() if candidate.id == "GKE006")
    insecure, run = resource({"of": kind, "with": {"removeDefaultNodePool": False, **nodes}}), a_run()
    assert run.resource(rule, insecure)
    assert not run.repairs(rule, insecure)


def test_an_exempted_resource_is_left_alone() -> None:
    rule = next(candidate for candidate in rules() if candidate.id == "PRJ002")
    judged_resource = resource({"of": "subnetwork", "with": {"privateIpGoogleAccess": False}})
    for until, found in (("2026-11-21", []), ("2026-11-20", [(("privateIpGoogleAccess",), True)])):
        exemption = {"resource": "subnetwork", "reason": "no machines yet", "until": until}
        assert a_run({"PRJ002": {"exemptions": [exemption]}}).repairs(rule, judged_resource) == found


def test_secrets_and_unknown_values_stay_what_they_are() -> None:
    raw = merged(bases()["pool"]["props"], {"nodeConfig": {"resourceLabels": None}})
    raw["nodeConfig"] |= {"serviceAccount": SECRET, "imageType": UNKNOWN_STRING}
    props = deserialize_properties(raw, proxy_secrets=True)
    assert plain(props)["nodeConfig"]["imageType"] is UNKNOWN
    _put(props, ("nodeConfig", "resourceLabels", "owner"), "nobody")
    after = serialize_properties(props)["nodeConfig"]
    assert after["serviceAccount"] == SECRET
    assert after["imageType"] == UNKNOWN_STRING
    assert after["resourceLabels"] == {"owner": "nobody"}
