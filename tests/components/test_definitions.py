"""CRDs without prose: everything that the API server acts on stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tpuplane.addons.operator import without_descriptions

pytestmark = pytest.mark.components

CRD: dict[str, Any] = {
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com", "annotations": {"description": "kept? no: prose"}},
    "spec": {
        "versions": [
            {
                "name": "v1",
                "additionalPrinterColumns": [{"name": "Age", "jsonPath": ".metadata", "description": "How old."}],
                "schema": {
                    "openAPIV3Schema": {
                        "description": "A widget.",
                        "properties": {
                            "description": {"type": "string", "description": "What it says.", "default": "description"},
                            "properties": {
                                "type": "object",
                                "properties": {"description": {"type": "integer", "enum": [1, 2]}},
                            },
                        },
                        "required": ["description"],
                        "x-kubernetes-validations": [{"rule": "self.description != ''", "message": "say something"}],
                    }
                },
            }
        ]
    },
}


def test_prose_goes_and_fields_of_that_name_stay() -> None:
    schema = without_descriptions(CRD)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema == {
        "properties": {
            "description": {"type": "string", "default": "description"},
            "properties": {"type": "object", "properties": {"description": {"type": "integer", "enum": [1, 2]}}},
        },
        "required": ["description"],
        "x-kubernetes-validations": [{"rule": "self.description != ''", "message": "say something"}],
    }


def test_its_metadata_is_its_own() -> None:
    assert without_descriptions(CRD)["metadata"] == CRD["metadata"]


def test_the_definition_that_was_given_is_left_alone() -> None:
    before = json.dumps(CRD)
    without_descriptions(CRD)
    assert json.dumps(CRD) == before
