"""Operators: versions that were tested together, and their requirements."""

import re
from collections.abc import Iterator

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import Truth
from tpuplane_policies.rules.kinds import CHART, CRD, WEBHOOK
from tpuplane_policies.rules.pools import tpu_hosts

CERTIFICATES = "install cert-manager, or use GKE's Ray add-on"


@stack_rule("VER001")
def operators_are_tested_together(stack: Stack, options: Options) -> Demands:
    """The versions of Helm releases and charts."""
    for name, chart in _charts(stack):
        if (tested := options["versions"].get(name)) is not None:
            at = chart["version"]
            tested_version = at.test(lambda version, tested=tested: str(version).removeprefix("v") in tested)
            text = f"this version of {name} was not tested with the other operators; tested: {', '.join(tested)}"
            yield demand(tested_version, at, text)


@stack_rule("RAY002")
def kuberay_supports_the_generation(stack: Stack, options: Options) -> Demands:
    """tpu7x and the TPU webhook need a minimum version of KubeRay."""
    has_7x = any((hosts := tpu_hosts(pool)) is not None and hosts.generation.name == "tpu7x" for pool in stack.of(POOL))
    least = options["leastFor7x"] if has_7x else options["least"]
    for name, chart in _charts(stack):
        if name == "kuberay-operator":
            at = chart["version"]
            newer = at.test(lambda version: _numbers(version) >= _numbers(least))
            text = f"not a version of KubeRay that is new enough for these TPUs; allowed: {least} or newer"
            yield demand(newer, at, text, remedy="set such a version of the chart, not a range")


@stack_rule("RAY002")
def tpu_webhook_has_certificates(stack: Stack, options: Options) -> Demands:
    """A self-managed webhook needs a certificate from cert-manager. GKE's Ray add-on needs none."""
    installed = Truth(any(name == "cert-manager" for name, _ in _charts(stack)))
    for definition in stack.of(CRD):
        installed |= definition["metadata.name"].one_of("certificates.cert-manager.io")
    for webhook in stack.of(WEBHOOK):
        at = webhook["metadata.annotations"].child("cert-manager.io/inject-ca-from")
        text = "this stack has no cert-manager, so the webhook rejects every pod"
        yield demand(installed | ~at.is_set, at, text, remedy=CERTIFICATES)
    for name, chart in _charts(stack):
        if name.endswith("tpu-webhook"):
            text = "this stack has no cert-manager for the certificate of the webhook"
            yield demand(installed, chart["chart"], text, remedy=CERTIFICATES)


def _charts(stack: Stack) -> Iterator[tuple[str, Resource]]:
    """Helm releases and charts, by the name of the chart."""
    yield from ((str(chart["chart"].get("")).rpartition("/")[2], chart) for chart in stack.of(CHART))


def _numbers(version: object) -> tuple[int, ...]:
    """The numbers of a version. A range, such as `^1.4.0`, and an unset version have none, and are older than any."""
    numbers = re.fullmatch(r"v?([0-9]+(?:\.[0-9]+)*)(?:[-+].*)?", str(version))
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
