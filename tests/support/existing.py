"""Clusters as Google's API answers, and the description that adopts them."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from tpuplane.adopt import Adopted, Facts, describe
from tpuplane.spec import PlatformSpec, parse_platform

from tests.support import TESTS

Json = dict[str, Any]
CLUSTERS: list[Json] = yaml.safe_load((TESTS / "unit/adopt/clusters.yaml").read_text())


def cluster(name: str) -> Json:
    return copy.deepcopy(next(described for described in CLUSTERS if described["name"] == name))


def adopted(*clusters: Json, **facts: Any) -> Adopted:
    found = describe(Facts("acme-ml", clusters, **facts), clusters[0]["name"])
    assert found.places, left(found)
    return found


def spec(found: Adopted) -> PlatformSpec:
    return parse_platform(found.config)


def left(found: Adopted) -> list[str]:
    return [str(rest) for rest in found.left]
