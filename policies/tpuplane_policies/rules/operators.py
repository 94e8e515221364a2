"""Operators: versions that were tested together, and their requirements."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import CLUSTER, POOL, Resource, Stack
from tpuplane_policies.core.values import UNKNOWN, Truth, UndecidedError, Value, any_of
from tpuplane_policies.rules.kinds import CHART, CRD, RENDERED, WEBHOOK
from tpuplane_policies.rules.pools import tpu_hosts

CERTIFICATES = "install cert-manager, or use GKE's Ray add-on"
NO_CERTIFICATES = "this stack has no cert-manager for the certificate of the webhook"
CHART_LABEL = "helm.sh/chart"
"""Helm's label of the objects of a chart: https://helm.sh/docs/chart_best_practices/labels/."""
MARKER = "tpuplane.dev/chart"
"""The annotation of the object that this project creates next to the Chart of an add-on."""
SHOWN = "use helm.v3.Release, which shows its chart and version but not its objects, or exempt this Chart"
_NAMED = re.compile(r"(.+?)-(v?[0-9]+\.[0-9].*)")
"""NAME-VERSION of a chart. Labels and tags have `_` for `+`."""


@stack_rule("VER001")
def operators_are_tested_together(stack: Stack, options: Options) -> Demands:
    """The versions of Helm releases and charts."""
    for chart in _charts(stack):
        if (tested := options["versions"].get(chart.name)) is not None:
            at = chart.version
            tested_version = at.scalar.test(lambda version, tested=tested: str(version).removeprefix("v") in tested)
            text = f"this version of {chart.name} was not tested with the other operators; tested: {', '.join(tested)}"
            yield demand(tested_version, at, text)


@stack_rule("RAY002")
def kuberay_supports_the_generation(stack: Stack, options: Options) -> Demands:
    """tpu7x and the TPU webhook need a minimum version of KubeRay."""
    has_7x = any((hosts := tpu_hosts(pool)) is not None and hosts.generation.name == "tpu7x" for pool in stack.of(POOL))
    least = options["leastFor7x"] if has_7x else options["least"]
    for chart in _charts(stack):
        if chart.name == "kuberay-operator":
            at = chart.version
            newer = at.test(lambda version: _numbers(version) >= _numbers(least))
            text = f"not a version of KubeRay that is new enough for these TPUs; allowed: {least} or newer"
            yield demand(newer, at, text, remedy="set such a version of the chart, not a range")


@stack_rule("RAY002")
def tpu_webhook_has_certificates(stack: Stack, options: Options) -> Demands:
    """A self-managed webhook of pods needs a certificate from cert-manager. GKE's Ray add-on needs none.

    cert-manager can be in another stack if this one has no cluster and no pools.
    """
    if not any(stack.of(CLUSTER, POOL)):
        return
    charts = list(_charts(stack))
    installed = any_of(one["metadata.name"].one_of("certificates.cert-manager.io") for one in stack.of(CRD))
    installed |= Truth(any(chart.name == "cert-manager" for chart in charts))
    for webhook in stack.of(WEBHOOK):
        at = webhook["metadata.annotations"].child("cert-manager.io/inject-ca-from")
        yield demand(installed | ~at.is_set | ~_changes_pods(webhook), at, NO_CERTIFICATES, remedy=CERTIFICATES)
    for chart in charts:
        if chart.name.endswith("tpu-webhook"):
            yield demand(installed, chart.at, NO_CERTIFICATES, remedy=CERTIFICATES)


def _changes_pods(webhook: Resource) -> Truth:
    """Whether the API server sends pods to the webhook."""
    rules = (rule for each in webhook["webhooks"].each() for rule in each["rules"].each())
    return any_of(
        rule["apiGroups"].contains("", "*") & rule["resources"].contains("pods", "pods/*", "*", "*/*") for rule in rules
    )


class _Chart(NamedTuple):
    """A Helm chart in the cluster."""

    name: str
    version: Value
    at: Value
    """The property that names it."""


def _charts(stack: Stack) -> Iterator[_Chart]:
    """The charts of Helm releases, and those of a Chart, whose inputs the engine does not show, by its objects.

    If no object of a Chart has the label, as in the preview of a new cluster, `UndecidedError` follows all others.
    """
    inside, hidden = _inside(stack), list[Value]()
    for chart in stack.of(*CHART):
        if (at := chart["chart"]).raw is not None:
            yield _released(at, chart["version"])
            continue
        labels = [each["metadata.labels"].child(CHART_LABEL) for each in inside[chart.urn]]
        labels += [each["metadata.annotations"].child(MARKER) for each in inside[chart.parent]]
        found = {match[0]: (match, at) for at in labels if (match := _NAMED.fullmatch(str(at.raw)))}.values()
        yield from (_versioned(match, at) for match, at in found)
        if not found:
            hidden.append(Value(UNKNOWN, "chart and version", chart, remedy=SHOWN))
    if hidden:
        raise UndecidedError(*hidden)


def _released(at: Value, version: Value) -> _Chart:
    """The chart of a Release: a name, a folder, or an archive or image, whose own version is the one that counts."""
    place = re.sub(r"(\?|@sha256:).*", "", str(at.get())).rstrip("/")
    name, _, tag = place.rpartition("/")[2].removesuffix(".tgz").partition(":")
    match = _NAMED.fullmatch(f"{name}-{tag}" if tag else name)
    return _versioned(match, at) if match else _Chart(name, version, at)


def _versioned(match: re.Match[str], at: Value) -> _Chart:
    return _Chart(match[1], Value(match[2].replace("_", "+"), f"the version in {at.path}", at.resource), at)


def _inside(stack: Stack) -> defaultdict[str, list[Resource]]:
    """The resources inside each component, by its URN."""
    inside = defaultdict[str, list[Resource]](list)
    for resource in stack.resources:
        inside[resource.parent].append(resource)
    return inside


def unseen(stack: Stack) -> Iterator[tuple[Resource, list[Value]]]:
    """Each component that the provider renders; with an unknown value if the engine shows no object of it.

    The preview of a new cluster has none. Add-ons of this project's components pass: its tests judge what its
    charts render, and `pulumi up` judges the objects of an own operator.
    """
    inside = _inside(stack)
    for component in stack.of(*RENDERED):
        marks = (each["metadata.annotations"].child(MARKER).raw for each in inside[component.parent])
        shown = inside[component.urn] or any(isinstance(mark, str) for mark in marks)
        yield component, [] if shown else [Value(UNKNOWN, "its objects", component)]


def _numbers(version: object) -> tuple[int, ...]:
    """The numbers of a version. A range, such as `^1.4.0`, and an unset version have none, and are older than any."""
    numbers = re.fullmatch(r"v?([0-9]+(?:\.[0-9]+)*)(?:[-+].*)?", str(version))
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
