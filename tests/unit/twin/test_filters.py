"""Filters of Google's lists: which items an expression keeps."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.gcp.filters import FilterError, parse

pytestmark = pytest.mark.unit

ITEMS: list[dict[str, Any]] = [
    {
        "name": "gke-one-pool-0a1b",
        "zone": "https://www.googleapis.com/compute/v1/projects/acme/zones/us-central1-a",
        "guestCpus": 8,
        "creationTimestamp": "2026-03-01T00:00:00.000-08:00",
        "isSharedCpu": False,
        "labels": {"owner": "research", "a.b/c": "d"},
        "status": "RUNNING",
    },
    {
        "name": "gke-one-other-2c3d",
        "zone": "https://www.googleapis.com/compute/v1/projects/acme/zones/us-east5-b",
        "guestCpus": 64,
        "creationTimestamp": "2026-03-02T00:00:00+00:00",
        "isSharedCpu": True,
        "disks": [{"sizeGb": "100"}, {"sizeGb": "20"}],
        "status": "TERMINATED",
    },
]


def kept(expression: str) -> list[int]:
    test = parse(expression)
    return [at for at, item in enumerate(ITEMS) if test(item)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # AIP-160, as Cluster Toolkit, xpk and the documentation of Compute Engine write it.
        ("name: gke-one-pool*", [0]),
        ("name:OTHER", [1]),
        ("name = gke-one-pool", []),
        ('name = "gke-one-pool-0a1b"', [0]),
        ("name != 'gke-one-pool-0a1b'", [1]),
        ("guestCpus >= 49 AND zone = '*us-east5-b'", [1]),
        ("guestCpus<49", [0]),
        ("(isSharedCpu = false) (status = RUNNING)", [0]),
        ("status = RUNNING OR status = TERMINATED", [0, 1]),
        # OR binds more tightly than AND.
        ("status = RUNNING OR status = TERMINATED AND guestCpus = 8", [0]),
        ("guestCpus = 8 AND status = TERMINATED OR status = RUNNING", [0]),
        ("NOT status = RUNNING", [1]),
        ("-(status = RUNNING)", [1]),
        ("labels.owner:*", [0]),
        ("labels:owner", [0]),
        ('labels."a.b/c" = d', [0]),
        ("labels.owner = research", [0]),
        ("labels.owner != research", [1]),
        ("disks.sizeGb = 20", [1]),
        ("disks.sizeGb > 99", [1]),
        ("creationTimestamp > 2026-03-01T12:00:00Z", [1]),
        ("creation_timestamp < 2026-03-01T12:00:00+00:00", [0]),
        # Compute Engine's regular expressions, as gcloud and Cluster Toolkit write them.
        ('name eq ".*one-pool.*"', [0]),
        ("name eq gke-one", []),
        ("name ne gke-one-pool-.*", [1]),
        (r'zone eq ".*\bus\-central1\-a\b.*"', [0]),
        (r'(name eq ".*(gke\-one).*")(status ne "RUNNING")', [1]),
        ("name eq ^gke-one(-.+)*-[0-9].+", [0, 1]),
        ("isSharedCpu eq true", [1]),
        ("labels.owner ne nobody", [0, 1]),
    ],
)
def test_an_expression_keeps(expression: str, expected: list[int]) -> None:
    assert kept(expression) == expected


@pytest.mark.parametrize(
    "expression",
    ["", "name", "name =", "= x", "(name = x", "name = x)", "name eq (", "name ~ x", "a = b AND", "OR a = b"],
)
def test_what_cannot_be_read_is_an_error(expression: str) -> None:
    with pytest.raises(FilterError):
        parse(expression)


@pytest.mark.parametrize("expression", ["nam = x", "nam eq x", "name = x OR NOT (nam:y)"])
def test_each_field_is_checked(expression: str) -> None:
    asked: list[str] = []
    parse(expression, asked.append)
    assert "nam" in asked


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(FilterError):
        parse("(" * 5000 + "a = b" + ")" * 5000)
