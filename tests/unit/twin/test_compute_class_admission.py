"""What pods are given at admission for compute classes."""

from __future__ import annotations

from typing import Any

import pytest
from tpuplane_twin.cluster.compute_class import LABEL, defaulted, tolerating

pytestmark = pytest.mark.unit

OURS = {"key": LABEL, "operator": "Equal", "value": "cheap", "effect": "NoSchedule"}


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [], **spec}}


def test_a_pod_tolerates_the_nodes_of_its_class() -> None:
    other = {"key": "google.com/tpu", "operator": "Exists"}
    given = pod(nodeSelector={LABEL: "cheap"}, tolerations=[other])
    assert tolerating(given)["spec"]["tolerations"] == [other, OURS]
    assert given["spec"]["tolerations"] == [other]


@pytest.mark.parametrize(
    "spec", [{}, {"nodeSelector": {"a": "b"}}, {"nodeSelector": {LABEL: "x"}, "tolerations": [OURS]}]
)
def test_what_needs_nothing_stays_as_it_is(spec: dict[str, Any]) -> None:
    given = pod(**spec)
    assert tolerating(given) is given


def test_a_default_is_for_pods_that_name_no_class() -> None:
    named, plain = pod(nodeSelector={LABEL: "mine"}), pod(nodeSelector={"a": "b"})
    assert defaulted(named, "cheap") is named
    assert defaulted(plain, None) is plain
    given = defaulted(plain, "cheap")["spec"]
    assert given["nodeSelector"] == {"a": "b", LABEL: "cheap"}
    assert given["tolerations"] == [OURS]
