"""What is known about the add-ons: releases, charts and order, as data."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart: where it is published and which release is meant."""

    name: str
    version: str
    repository: str
    """An OCI prefix (`oci://…`), to which the name is added, or the address of a Helm repository."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An object that is accepted, as a dry run, only once the add-on's CRDs and webhooks answer."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Addon:
    """One operator that a cluster may run."""

    key: str
    """Its name in the user's file, under `addons`; rayTpuWebhook has no place there, for it comes with ray."""
    title: str
    chart: Chart
    image: str
    image_tag: str
    """With its digest, where that is known: `v0.12.0@sha256:…`."""
    namespace: str
    after: tuple[str, ...]
    """Add-ons that are ready before this one is installed, where the cluster has them."""
    kubernetes: str | None
    """Lowest Kubernetes version of the control plane; None where the project names none."""
    frameworks: tuple[str, ...]
    """What Kueue manages of it."""
    probe: Probe | None
    """None: it brings no kinds."""
    requests: Mapping[str, str]
    limits: Mapping[str, str]
    sources: tuple[str, ...]
    namespace_by_chart: bool = False
    """The chart makes its namespace itself."""
    secret: str | None = None
    """A Secret in its namespace, made by no program, that its pods wait for."""
    account: str | None = None
    """Its service account, where it works in teams' namespaces."""
    user: int | None = None
    """Number of its image's user, where its chart takes it."""


@dataclass(frozen=True, slots=True)
class AddonCatalogue:
    """Everything in `data/addons.yaml`."""

    addons: Mapping[str, Addon]
    feature_gates: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """The gates of a release and their defaults, by add-on."""
    needed_gates: Mapping[str, str] = field(default_factory=dict)
    """Kueue's gates that teams' queues need, and why."""
    base_frameworks: tuple[str, ...] = ()
    """Kubernetes' own kinds that Kueue manages by default."""
    other_frameworks: tuple[str, ...] = ()
    """Kinds that Kueue knows and whose CRDs no add-on brings."""
    system_namespaces: tuple[str, ...] = ()
    kueue_pod_sets: int = 0
    """Most pod sets of one workload."""
    kueue_beside_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pod sets beside the worker groups, by Ray's kind."""
    kueue_configuration: Mapping[str, Any] = field(default_factory=dict)
    kueue_fair_sharing: Mapping[str, Any] = field(default_factory=dict)
    multi_kueue_kubernetes: str = ""
    """Lowest Kubernetes version of a manager and of its workers."""
    multi_kueue_kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """API group and resource of each kind that a manager hands on, by Kueue's name of the kind."""
    multi_kueue_dispatchers: Mapping[str, str] = field(default_factory=dict)

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Every kind that Kueue can be told to manage."""
        of_addons = (name for addon in self.addons.values() for name in addon.frameworks)
        return tuple(sorted({*self.base_frameworks, *of_addons, *self.other_frameworks}))

    def bringing(self, framework: str) -> Addon | None:
        """The add-on whose CRDs a kind needs; None where it needs none of them."""
        return next((addon for addon in self.addons.values() if framework in addon.frameworks), None)


@functools.cache
def addon_catalogue() -> AddonCatalogue:
    """The data, read once."""
    text = resources.files("tpuplane.spec").joinpath("data/addons.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    kueue = data["kueue"]
    return AddonCatalogue(
        addons={key: _addon(key, entry) for key, entry in data["addons"].items()},
        feature_gates={"kueue": kueue["featureGates"], "ray": data["ray"]["featureGates"]},
        needed_gates=kueue["neededGates"],
        base_frameworks=tuple(kueue["frameworks"]),
        other_frameworks=tuple(kueue["otherFrameworks"]),
        system_namespaces=tuple(kueue["systemNamespaces"]),
        kueue_pod_sets=kueue["podSets"]["most"],
        kueue_beside_groups={kind: tuple(names) for kind, names in kueue["podSets"]["beside"].items()},
        kueue_configuration=kueue["configuration"],
        kueue_fair_sharing=kueue["fairSharing"],
        multi_kueue_kubernetes=kueue["multiKueue"]["kubernetes"],
        multi_kueue_kinds={name: tuple(kind) for name, kind in kueue["multiKueue"]["kinds"].items()},
        multi_kueue_dispatchers=kueue["multiKueue"]["dispatchers"],
    )


def _addon(key: str, entry: dict[str, Any]) -> Addon:
    return Addon(
        key=key,
        title=entry["title"],
        chart=Chart(**entry["chart"]),
        image=entry["image"]["repository"],
        image_tag="@".join(entry["image"][part] for part in ("tag", "digest") if part in entry["image"]),
        namespace=entry["namespace"],
        after=tuple(entry.get("after", ())),
        kubernetes=entry["kubernetes"],
        frameworks=tuple(entry["frameworks"]),
        probe=_probe(entry["probe"]) if "probe" in entry else None,
        requests=entry["requests"],
        limits=entry["limits"],
        sources=tuple(entry["sources"]),
        namespace_by_chart=entry.get("namespaceByChart", False),
        secret=entry.get("secret"),
        account=entry.get("account"),
        user=entry.get("user"),
    )


def _probe(entry: dict[str, Any]) -> Probe:
    return Probe(entry["apiVersion"], entry["kind"], entry["plural"], entry["namespaced"], entry["spec"])
