"""Operators: versions that were tested together, and what they need."""

from __future__ import annotations

from collections.abc import Iterator

from tpuplane_policies.core.judging import Demands, Options, demand
from tpuplane_policies.core.registry import stack_rule
from tpuplane_policies.core.resources import POOL, Resource, Stack
from tpuplane_policies.core.values import Truth
from tpuplane_policies.rules.kinds import CHART, CRD, WEBHOOK
from tpuplane_policies.rules.pools import tpu_hosts


@stack_rule("VER001")
def operators_are_tested_together(stack: Stack, options: Options) -> Demands:
    """The versions of charts, wherever they are written: a Helm release or a chart."""
    for name, chart in _charts(stack):
        tested = options["versions"].get(name)
        if tested is not None:
            at = chart["version"]
            version = at.test(lambda it, tested=tested: str(it).removeprefix("v") in tested)
            yield demand(version, at, f"{name} was tested with {', '.join(tested)}")


@stack_rule("RAY002")
def ray_knows_the_generation(stack: Stack, options: Options) -> Demands:
    """tpu7x needs KubeRay 1.4, the TPU webhook 1.1."""
    has_7x = any((hosts := tpu_hosts(pool)) is not None and hosts.generation.name == "tpu7x" for pool in stack.of(POOL))
    least = options["leastFor7x"] if has_7x else options["least"]
    for name, chart in _charts(stack):
        if name == "kuberay-operator":
            at = chart["version"]
            yield demand(at.test(lambda it: _numbers(it) >= _numbers(least)), at, f"at least {least} is needed")


@stack_rule("RAY002")
def the_tpu_webhook_has_certificates(stack: Stack, options: Options) -> Demands:
    """A webhook of one's own is called over TLS, and has its certificate from cert-manager; GKE's add-on needs none."""
    there = Truth(any(name == "cert-manager" for name, _ in _charts(stack)))
    for definition in stack.of(CRD):
        there |= definition["metadata.name"].one_of("certificates.cert-manager.io")
    for webhook in stack.of(WEBHOOK):
        at = webhook["metadata.annotations"].child("cert-manager.io/inject-ca-from")
        text = "no cert-manager in this stack: the webhook's calls fail, and with them pods"
        yield demand(there | ~at.is_set, at, text)
    for name, chart in _charts(stack):
        if name.endswith("tpu-webhook"):
            yield demand(there, chart["chart"], "no cert-manager in this stack for the webhook's certificate")


def _charts(stack: Stack) -> Iterator[tuple[str, Resource]]:
    """Helm releases and charts with the charts' names."""
    for chart in stack.of(CHART):
        yield str(chart["chart"].get("")).rpartition("/")[2], chart


def _numbers(version: object) -> tuple[int, ...]:
    parts = str(version or "0").removeprefix("v").partition("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())
