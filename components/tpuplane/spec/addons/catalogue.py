"""The definition of an operator, and the facts about the operators that the platform ships."""

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from tpuplane.data_files import read_data
from tpuplane.spec.core.changes import Change, InPlace
from tpuplane.spec.core.fields import GkeVersion, Namespace, Spec, text
from tpuplane.spec.core.rules import spec_data

Quantity = Annotated[str, *text("quantity")]
Memory = Annotated[str, *text("memory")]


class ComputeSpec(Spec):
    """CPU and memory."""

    cpu: InPlace[Quantity | None] = None
    """CPUs, such as 500m or "2". Default: that of the add-on."""

    memory: InPlace[Memory | None] = None
    """Memory, such as 512Mi. Default: that of the add-on."""


class Chart(Spec):
    """A Helm chart of exactly one release."""

    name: Annotated[str, *text("chart")]
    """Name of the chart."""

    version: Annotated[str, *text("chartVersion")]
    """Version of the chart."""

    repository: Annotated[str, *text("chartRepository")]
    """OCI prefix (`oci://…`), to which the name is added, or https address of a Helm repository. Mirrors replace it."""


class Image(Spec):
    """The image that an operator runs."""

    repository: Annotated[str, *text("imageRepository")]
    """Repository, without a tag."""

    tag: Annotated[str, *text("imageTag")]
    """Tag of the release."""

    digest: Annotated[str, *text("digest")] | None = None
    """Digest of the tag, such as sha256:…. Default: the tag alone selects the image."""

    @property
    def pinned(self) -> str:
        """The tag, with its digest if that is known: `v0.12.0@sha256:…`."""
        return f"{self.tag}@{self.digest}" if self.digest else self.tag


class Probe(Spec):
    """An object that the API server accepts, as a dry run, only after the add-on's CRDs and webhooks answer."""

    api_version: Annotated[str, *text("apiVersion")]
    """Group and version of its kind, such as jobset.x-k8s.io/v1alpha2."""

    kind: Annotated[str, *text("kind")]
    """Its kind, such as JobSet."""

    plural: Annotated[str, *text("plural")]
    """Name of the kind in paths of the API, such as jobsets."""

    namespaced: bool
    """Whether the object is in a namespace: that of the add-on."""

    spec: dict[str, Any]
    """Its `spec`."""


class GoModule(Spec):
    """The Go module of an operator's program and chart."""

    path: Annotated[str, *text("goModule")]
    """Path of the module, such as github.com/kubeflow/trainer/v2."""

    version: Annotated[str, *text("goVersion")]
    """Version of the module, such as v2.2.1."""

    package: Annotated[str, *text("folder")] | None = None
    """Folder of the program in the module, such as cmd/manager. Default: the module itself."""

    chart: Annotated[str, *text("folder")]
    """Folder of the chart in the module, such as charts/trainer."""

    entrypoint: Annotated[str, *text("absolutePath")] = "/manager"
    """Path of the program in the image. Default /manager."""


class AddonDefinition(Spec):
    """An operator: its chart and image, its needs, and a probe that shows whether it answers."""

    title: Annotated[str, Field(min_length=1)]
    """Name of the operator in messages."""

    chart: Chart
    """Helm chart."""

    image: Image | None = None
    """Image of the operator, for `$image` and the like in `values`. Default: that of the chart."""

    user: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    """User ID of the image, for `$user` in `values`. Default: that of the chart."""

    namespace: Annotated[
        Namespace,
        Change(
            "deletes-work", "A change deletes the operator and installs it in the other namespace.", source="charts"
        ),
    ]
    """Namespace of the operator. No other add-on has it."""

    namespace_by_chart: Annotated[
        bool,
        Change(
            on="deletes-work",
            off="creates",
            says={
                "on": "Switching it on deletes the namespace with the operator; the chart creates another one.",
                "off": "Switching it off creates the namespace; the chart must no longer contain it.",
            },
            source="charts",
        ),
    ] = False
    """Whether the chart creates the namespace. Default false."""

    after: tuple[str, ...] = ()
    """Add-ons that are ready before this one is installed, if the cluster has them. Default: none."""

    needs: tuple[str, ...] = ()
    """Add-ons that the cluster must have, and that are ready before this one is installed. Default: none."""

    kubernetes: GkeVersion | None = None
    """Minimum version of the control plane. Default: any."""

    frameworks: tuple[str, ...] = ()
    """Kinds of the operator that Kueue manages, by Kueue's names. Kueue is then installed after it. Default: none."""

    probe: Probe | None = None
    """Object that the API server accepts only if the CRDs and webhooks of the operator answer. `pulumi up` sends it as
    a dry run until it is accepted. Default: the operator has no kinds."""

    secret: Annotated[str, *text("objectName")] | None = None
    """Secret in the namespace that the operator's pods wait for. Users create it, so `pulumi up` does not wait for the
    pods. Default: none."""

    requests: ComputeSpec = ComputeSpec()
    """Resource requests of one replica, for `$resources` in `values`."""

    limits: ComputeSpec = ComputeSpec()
    """Resource limits of one replica, for `$resources` in `values`."""

    go_module: GoModule | None = None
    """Go module from which a twin builds the operator (`tpuplane-twin build --addon`). Default: a twin needs a chart
    mirror, and simulates the operator's pods."""

    values: dict[str, Any] = Field(default_factory=dict)
    """Values of the chart. The plan replaces texts such as `$replicas`. Default: those of the chart."""


class Addon(AddonDefinition):
    """The definition of one operator, by its name."""

    key: str
    """Its name in the user's file; rayTpuWebhook is not there, because `ray` installs it."""

    @property
    def probe_request(self) -> dict[str, Any] | None:
        """The request that is sent as a dry run until the API server accepts it: the probe's group, version, plural
        name, namespace and body; None if the add-on has no kinds."""
        if (probe := self.probe) is None:
            return None
        place = {"namespace": self.namespace} if probe.namespaced else {}
        group, _, version = probe.api_version.partition("/")
        metadata = {"name": "tpuplane-probe", **place}
        body = {"apiVersion": probe.api_version, "kind": probe.kind, "metadata": metadata, "spec": probe.spec}
        return {"group": group, "version": version, "plural": probe.plural, "body": body, **place}


class AddonCatalogue(NamedTuple):
    """Everything in `data/addons.yaml` and `data/addons/`."""

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
        """The add-on whose CRDs a kind needs; None if it needs none."""
        return next((addon for addon in self.addons.values() if framework in addon.frameworks), None)


@functools.cache
def addon_catalogue() -> AddonCatalogue:
    """The data, read once."""
    data = spec_data("addons")
    defined = {file.name.removesuffix(".yaml") for file in files("tpuplane.spec").joinpath("data/addons").iterdir()}
    if wrong := sorted(defined ^ set(data["order"])):
        text = "an add-on needs spec/data/addons/NAME.yaml, and a place in `order` of spec/data/addons.yaml"
        raise LookupError(f"{', '.join(wrong)}: {text}")
    addons = {key: Addon(key=key, **read_data("tpuplane.spec", f"addons/{key}")) for key in data["order"]}
    gates = {name: {**data[name]["featureGates"], **data[name].get("lockedGates", {})} for name in ("kueue", "ray")}
    return AddonCatalogue(addons, gates, data["kueue"])
