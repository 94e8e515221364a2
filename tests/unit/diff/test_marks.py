"""Known changes: what they open and close, and why an update with them fails."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tpuplane.diff import Diff, diff
from tpuplane.spec import parse_platform
from tpuplane.spec.core.errors import dotted

from tests.support.diff.changed import ONE, PLATFORM, TRAINER, changed
from tests.support.diff.every_field import PLATFORMS

pytestmark = pytest.mark.unit


def rejected(found: Diff) -> dict[str, str]:
    return {dotted(rejection.path): str(rejection) for rejection in found.rejected}


def protected(*settings: tuple[str, Any]) -> Diff:
    """The change of a protected cluster with keys of its own."""
    kept = (
        (f"{ONE}.deletionProtection", True),
        (f"{ONE}.security", {"secretsEncryption": {}, "bootDiskEncryption": {}}),
    )
    return diff(changed(*kept).after.spec, changed(*kept, *settings).after.spec)


def test_the_engine_rejects_the_deletion_of_a_protected_cluster() -> None:
    for settings in (
        [(f"{ONE}.network.podsCidr", "10.128.0.0/14")],
        [("name", "other")],
        [(f"{ONE}.network.podsCidr", "10.128.0.0/14"), (f"{ONE}.deletionProtection", False)],  # both at once
    ):
        (said,) = rejected(protected(*settings)).values()
        assert "lab-central1 has deletionProtection: true" in said
        assert f"First set {ONE}.deletionProtection: false, with no other change" in said
    assert rejected(changed((f"{ONE}.network.podsCidr", "10.128.0.0/14"))) == {}
    assert rejected(protected((f"{TRAINER}.slices", 1), (f"{ONE}.pools.serving", None))) == {}


@pytest.mark.parametrize(("field", "key"), [("secretsEncryption", "secrets"), ("bootDiskEncryption", "boot-disks")])
@pytest.mark.parametrize("other", [None, {"key": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"}])
def test_the_engine_rejects_the_deletion_of_a_protected_key(field: str, key: str, other: Any) -> None:
    found = protected((f"{ONE}.autoProvisioning", None), (f"{ONE}.security.{field}", other))
    if field == "bootDiskEncryption":  # the cluster has auto-provisioning
        found = diff(protected((f"{ONE}.autoProvisioning", None)).after.spec, found.after.spec)
    (said,) = [rejection for path, rejection in rejected(found).items() if "security" in path]
    assert f"deletes the key `{key}`" in said
    assert f"Finally, set {ONE}.deletionProtection: true" in said


def test_a_queue_that_loses_a_flavor_waits_for_its_work() -> None:
    (lost,) = changed((f"{TRAINER}.topology", "4x8")).rejected
    assert (lost.cluster, lost.queue, lost.flavors) == ("central1", "research", ("v6e-4x4",))
    assert changed((f"{TRAINER}.slices", 1)).rejected == ()
    assert changed(("teams.research", None)).rejected == ()  # its namespaces are deleted with their work
    (quota,) = changed(("teams.research.clusters.central1.gpuPools", None)).rejected
    assert quota.flavors == ("g2-standard-12",)


def test_a_deleted_queue_waits_for_its_work_in_a_namespace_that_remains() -> None:
    team = PLATFORM["teams"]["research"]
    (renamed,) = changed(("teams.research", None), ("teams.science", team)).rejected
    assert (dotted(renamed.path), renamed.cluster, renamed.queue) == ("teams.research", "central1", "research")
    assert "deletes the queue research of lab-central1 and keeps the work in papers, research." in renamed.why
    assert renamed.flavors == ("cpu", "g2-standard-12", "v6e-4x4")
    (kept,) = changed(("teams.research", None), (f"{ONE}.namespaces", ["tools", "docs", "papers"])).rejected
    assert "keeps the work in papers." in kept.why


def test_a_namespace_of_another_team_opens_and_closes() -> None:
    new = ("teams.product", {"members": ["user:two@example.com"], "clusters": {"central1": {}}})
    before = changed(new).after.spec
    moved = changed(("teams.research.namespaces", None), new, ("teams.product.namespaces", ["product", "papers"]))
    found = diff(before, moved.after.spec)
    assert [(dotted(opening.path), opening.value) for opening in found.opens] == [
        ("teams.product.namespaces", ("papers",))
    ]
    assert [(dotted(closing.path), closing.value) for closing in found.closes] == [
        ("teams.research.namespaces", ("papers",))
    ]
    assert {change.kind for change in found.changes} == {"in-place"}
    assert found.rejected == ()


def test_another_cluster_of_a_team_opens_it_to_its_members() -> None:
    described = copy.deepcopy(PLATFORMS["company"])
    before = parse_platform(described)
    described["teams"]["research"]["clusters"]["spare"] = {"cpu": {"cores": 8}}
    after = parse_platform(described)
    for mark in (diff(before, after).opens, diff(after, before).closes):
        assert [(dotted(each.path), each.value) for each in mark] == [("teams.research.clusters", ("spare",))]


def test_what_closes_something_is_marked() -> None:
    found = changed((f"{ONE}.controlPlane", {"dnsEndpoint": True, "ipEndpoint": False}), ("teams.research.members", []))
    assert {dotted(closing.path) for closing in found.closes} == {
        f"{ONE}.controlPlane.ipEndpoint",
        f"{ONE}.controlPlane.authorizedNetworks",
        "teams.research.members",
    }
    back = diff(found.after.spec, found.before.spec)
    assert [dotted(closing.path) for closing in back.closes] == [f"{ONE}.controlPlane.dnsEndpoint"]
    ranges = {"nodesCidr": "10.9.0.0/20", "podsCidr": "10.192.0.0/14", "servicesCidr": "10.9.16.0/20"}
    private = {"location": "us-central1", "network": ranges, "controlPlane": {"dnsEndpoint": True, "ipEndpoint": False}}
    assert changed(("clusters.private", private)).closes == ()  # a new cluster has no kubeconfigs


@pytest.mark.parametrize(
    ("cidrs", "opens", "closes"),
    [
        (["10.200.0.0/16"], 0, 0),
        (["10.200.0.0/17", "10.200.128.0/17"], 0, 0),
        (["10.200.0.0/17"], 0, 1),
        (["10.200.0.0/15"], 1, 0),
        (["10.201.0.0/16"], 1, 1),
    ],
)
def test_authorized_networks_are_compared_by_their_addresses(cidrs: list[str], opens: int, closes: int) -> None:
    networks = [{"cidr": cidr, "name": "renamed"} for cidr in cidrs]
    found = changed((f"{ONE}.controlPlane.authorizedNetworks", networks))
    assert (len(found.opens), len(found.closes)) == (opens, closes)


@pytest.mark.parametrize(
    ("path", "value", "opened"),
    [
        (f"{ONE}.controlPlane.publicEndpoint", True, True),
        (f"{ONE}.controlPlane.dnsEndpoint", True, True),
        (f"{ONE}.controlPlane.authorizedNetworks", [{"cidr": "10.9.0.0/16", "name": "lab"}], True),
        (f"{ONE}.controlPlane.authorizedNetworks", [], False),
        ("teams.research.members", ["user:one@example.com", "user:two@example.com"], True),
        ("teams.research.members", [], False),
        ("teams.research.podSecurity", "privileged", True),
        ("teams.research.podSecurity", "restricted", False),
        (f"{ONE}.security.anonymousAuthentication", "ENABLED", True),
        ("classes.processors.nodePoolConfig.ipType", "public", True),
        (f"{ONE}.addons.launchAgent", {"queues": ["night"], "teams": ["research"]}, True),
        (f"{ONE}.costAllocation", False, False),
        ("images.training.writers", ["user:two@example.com"], True),
        ("images.training.writers", [], False),
    ],
)
def test_what_opens_something_is_marked(path: str, value: Any, opened: bool) -> None:
    found = changed((path, value))
    assert bool(found.opens) == opened
    assert all(dotted(opening.path).startswith(path) for opening in found.opens)


def test_a_new_team_opens_its_namespaces_to_its_members() -> None:
    team = {"members": ["group:new@example.com"], "clusters": {"central1": {}}}
    security = (f"{ONE}.security.securityGroup", "gke-security-groups@example.com")
    found = changed(("teams.added", team), security)
    assert {dotted(opening.path) for opening in found.opens} == {"teams.added.members", security[0]}


def stored(before: dict[str, Any], after: dict[str, Any]) -> Diff:
    """The change of the storage of a platform."""
    old, new = (changed(("storage", storage)).after.spec for storage in (before, after))
    return diff(old, new)


def buckets(**fields: Any) -> dict[str, Any]:
    bucket = {"purpose": "models", "location": "us-central1", **fields}
    return {"buckets": {"models": bucket, "theirs": {"purpose": "data", "existing": "theirs"}}}


def test_the_engine_rejects_the_deletion_of_protected_data() -> None:
    for after in ({"buckets": {}}, buckets(name="other-name"), buckets(purpose="data", deletionProtection=False)):
        said = rejected(stored(buckets(), after))
        (rejection,) = [text for path, text in said.items() if "models" in path]
        assert "deletionProtection: true protects the objects of the bucket models" in rejection
        assert "First set storage.buckets.models.deletionProtection: false" in rejection
        assert len(said) == 1
    assert rejected(stored(buckets(deletionProtection=False), {"buckets": {}})) == {}
    assert rejected(stored(buckets(), buckets(storageClass="NEARLINE"))) == {}


def test_access_to_data_is_marked() -> None:
    found = stored(buckets(writers=["research"]), buckets(readers=["research"], deletionProtection=False))
    assert {dotted(opening.path).rpartition(".")[2] for opening in found.opens} == {"readers", "deletionProtection"}
    assert {dotted(closing.path).rpartition(".")[2] for closing in found.closes} == {"writers"}


@pytest.mark.parametrize(
    ("before", "after", "days"),
    [({}, {"deleteAfterDays": 9}, "9 days"), ({"purpose": "data"}, {"purpose": "scratch"}, "30 days")],
)
def test_a_bucket_that_begins_to_delete_objects_says_so(before: Any, after: Any, days: str) -> None:
    (change,) = stored(buckets(**before), buckets(**after)).changes
    assert change.kind == "in-place"
    assert change.why.endswith(f" in place. Objects older than {days} are deleted.")
    (back,) = stored(buckets(**after), buckets(**before)).changes
    assert "older" not in back.why
