"""What is known about the add-ons: releases, charts and order, as data."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tpuplane.spec.core.fields import Spec
from tpuplane.spec.core.rules import spec_data


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart of exactly one release."""

    name: str
    version: str
    repository: str
    """An OCI prefix (`oci://…`), to which the name is added, or the address of a Helm repository."""


class Image(Spec):
    """The image that an operator runs."""

    repository: str
    tag: str
    digest: str | None = None

    @property
    def pinned(self) -> str:
        """The tag, with its digest where that is known: `v0.12.0@sha256:…`."""
        return f"{self.tag}@{self.digest}" if self.digest else self.tag


class Probe(Spec):
    """An object that is accepted, as a dry run, only once the add-on's CRDs and webhooks answer."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    spec: dict[str, Any]


class Addon(Spec):
    """One operator that a cluster may run."""

    key: str
    """Its name in the user's file, under `addons`; rayTpuWebhook is not there, because `ray` installs it."""
    title: str
    chart: Chart
    image: Image
    namespace: str
    after: tuple[str, ...] = ()
    """Add-ons that are ready before this one is installed, where the cluster has them."""
    kubernetes: str | None
    """Lowest Kubernetes version of the control plane; None where the project names none."""
    frameworks: tuple[str, ...]
    """What Kueue manages of it."""
    probe: Probe | None = None
    """None: it brings no kinds."""
    requests: dict[str, str]
    limits: dict[str, str]
    values: dict[str, Any]
    """The chart's values, with `$names` that the plan fills in."""
    sources: tuple[str, ...]
    namespace_by_chart: bool = False
    """The chart makes its namespace itself."""
    secret: str | None = None
    """A Secret in its namespace, made by no program, that its pods wait for."""
    account: str | None = None
    """Its service account, where it works in teams' namespaces."""
    user: int | None = None
    """Number of its image's user, where its chart takes it."""

    @property
    def probe_request(self) -> dict[str, Any] | None:
        """What is sent as a dry run until the API server accepts it: the probe's group, version, plural name, namespace
        and body; None if the add-on has no kinds."""
        probe = self.probe
        if probe is None:
            return None
        place = {"namespace": self.namespace} if probe.namespaced else {}
        group, _, version = probe.api_version.partition("/")
        metadata = {"name": "tpuplane-probe", **place}
        body = {"apiVersion": probe.api_version, "kind": probe.kind, "metadata": metadata, "spec": probe.spec}
        return {"group": group, "version": version, "plural": probe.plural, "body": body, **place}


class AddonCatalogue(NamedTuple):
    """Everything in `data/addons.yaml`."""

    addons: Mapping[str, Addon]
    feature_gates: Mapping[str, Mapping[str, bool]]
    """The gates of a release and their defaults, by add-on."""
    kueue: Mapping[str, Any]
    """Kueue's kinds, gates and configuration, by their keys in the file."""

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Every kind that Kueue can manage."""
        of_addons = (name for addon in self.addons.values() for name in addon.frameworks)
        return tuple(sorted({*self.kueue["frameworks"], *of_addons, *self.kueue["otherFrameworks"]}))

    def bringing(self, framework: str) -> Addon | None:
        """The add-on whose CRDs a kind needs; None where it needs none of them."""
        return next((addon for addon in self.addons.values() if framework in addon.frameworks), None)


@functools.cache
def addon_catalogue() -> AddonCatalogue:
    """The data, read once."""
    data = spec_data("addons")
    addons = {key: Addon(key=key, **entry) for key, entry in data["addons"].items()}
    gates = {name: {**data[name]["featureGates"], **data[name].get("lockedGates", {})} for name in ("kueue", "ray")}
    return AddonCatalogue(addons, gates, data["kueue"])
