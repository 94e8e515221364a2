"""Custom resources: kinds that come and go while the provider runs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.providers.kubernetes_driver import Diff, Driver, Rejected, Resource

pytestmark = pytest.mark.twin

CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_NUMBERS = itertools.count(1)


@dataclass
class Flavor:
    """A kind of its own for one test."""

    kind: str
    scope: str = "Namespaced"

    @property
    def token(self) -> str:
        return f"kubernetes:example.com/v1:{self.kind}"

    def definition(self, **properties: Any) -> dict[str, Any]:
        spec = {"type": "object", "properties": {"chips": {"type": "integer"}, **properties}}
        schema = {"type": "object", "properties": {"spec": spec, "status": _STATUS}}
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
        }
        plural = f"{self.kind.lower()}s"
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.example.com"},
            "spec": {
                "group": "example.com",
                "scope": self.scope,
                "names": {"plural": plural, "kind": self.kind},
                "versions": [version],
            },
        }

    def object(self, name: str = "one", namespace: str | None = None, **spec: Any) -> dict[str, Any]:
        metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
        return {"apiVersion": "example.com/v1", "kind": self.kind, "metadata": metadata, "spec": spec}


_STATUS = {"type": "object", "x_kubernetes_preserve_unknown_fields": True}


@pytest.fixture
def flavor() -> Flavor:
    return Flavor(f"Flavor{next(_NUMBERS)}x")


@pytest.fixture
def defined(provider: Driver, flavor: Flavor) -> Iterator[Resource]:
    definition = provider.make(CRD, flavor.definition())
    yield definition
    provider.delete(definition)


def test_objects_follow_their_definition_at_once(provider: Driver, flavor: Flavor, namespace: str) -> None:
    definition = provider.check(CRD, flavor.definition())
    early = provider.check(flavor.token, flavor.object(namespace=namespace, chips=4))
    assert provider.create(early, preview=True).state == early.inputs, "the kind is still to come"

    made: list[Resource] = []
    creating = threading.Thread(target=lambda: made.append(provider.create(early)))
    creating.start()
    provider.log.wait_for(f'no matches for kind "{flavor.kind}" in version "example.com/v1"')
    definition = provider.create(definition)
    creating.join(timeout=60)
    assert made[0].state["spec"] == {"chips": 4}
    assert not provider.diff(made[0], provider.recheck(made[0], early.inputs)).detailedDiff

    schema = definition.state["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["status"]["x_kubernetes_preserve_unknown_fields"] is True
    assert not provider.diff(definition, provider.recheck(definition, flavor.definition())).detailedDiff

    provider.delete(definition)
    assert provider.read(made[0]).id == "", "the object went with its kind"
    provider.delete(made[0])


def test_definition_is_replaced_in_one_request(provider: Driver, flavor: Flavor, defined: Resource) -> None:
    wanted = provider.recheck(defined, flavor.definition(hosts={"type": "integer"}))
    diff = provider.diff(defined, wanted)
    path = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.hosts"
    assert {key: change.kind for key, change in diff.detailedDiff.items()} == {path: Diff.ADD}
    updated = provider.update(defined, wanted)
    assert updated.state["metadata"]["uid"] == defined.state["metadata"]["uid"]


def test_a_definition_larger_than_annotations_may_be_is_applied(provider: Driver, flavor: Flavor) -> None:
    """KubeRay's are: who notes what was applied last in an annotation has no more than 262,144 bytes for it."""
    described = {f"field{number}": {"type": "string", "description": "x" * 1000} for number in range(300)}
    made = provider.make(CRD, flavor.definition(**described))
    assert "annotations" not in made.state["metadata"]
    wanted = provider.recheck(made, flavor.definition(**described, hosts={"type": "integer"}))
    updated = provider.update(made, wanted)
    schema = updated.state["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert len(schema) == 302
    provider.delete(updated)


def test_cluster_scope_comes_from_the_definition(fresh: Driver, control_plane: ControlPlane) -> None:
    fresh.configure(kubeconfig=control_plane.kubeconfig(), namespace="team")
    flavor = Flavor(f"Flavor{next(_NUMBERS)}x", scope="Cluster")
    assert fresh.check(flavor.token, flavor.object()).inputs["metadata"]["namespace"] == "team", (
        "the scope is not known yet"
    )
    fresh.check(CRD, flavor.definition())
    assert "namespace" not in fresh.check(flavor.token, flavor.object()).inputs["metadata"]


def test_field_that_the_schema_rejects(provider: Driver, flavor: Flavor, defined: Resource, namespace: str) -> None:
    wrong = provider.check(flavor.token, flavor.object(namespace=namespace, chips="four"))
    with pytest.raises(Rejected, match=r"spec\.chips: Invalid value"):
        provider.create(wrong, preview=True)


def test_custom_resource_is_updated_in_place(
    provider: Driver, flavor: Flavor, defined: Resource, namespace: str
) -> None:
    made = provider.make(flavor.token, flavor.object(namespace=namespace, chips=4))
    wanted = provider.recheck(made, flavor.object(namespace=namespace, chips=8))
    diff = provider.diff(made, wanted)
    assert {path: change.kind for path, change in diff.detailedDiff.items()} == {"spec.chips": Diff.UPDATE}
    assert provider.update(made, wanted, preview=True).state["spec"] == {"chips": 8}
    assert provider.update(made, wanted).state["spec"] == {"chips": 8}


def test_import_of_a_custom_resource_is_its_identity(
    provider: Driver, flavor: Flavor, defined: Resource, namespace: str
) -> None:
    made = provider.make(flavor.token, flavor.object(namespace=namespace, chips=4))
    found = provider.read(Resource(made.urn, {}, {}, made.id))
    assert found.inputs == {
        "apiVersion": "example.com/v1",
        "kind": flavor.kind,
        "metadata": {"name": "one", "namespace": namespace},
    }
    assert found.state["spec"] == {"chips": 4}
