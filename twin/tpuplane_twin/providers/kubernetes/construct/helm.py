"""Rendering a chart with Helm itself, for the cluster that it is meant for."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tpuplane_twin.providers.contract import ProviderError
from tpuplane_twin.providers.kubernetes import kubeconfig
from tpuplane_twin.providers.kubernetes.cluster import Cluster
from tpuplane_twin.tools import ToolError, ensure


@dataclass(frozen=True, slots=True)
class Release:
    """What to render: the fields of `helm.sh/v4`'s Chart."""

    name: str
    chart: str
    namespace: str = ""
    version: str = ""
    devel: bool = False
    dependency_update: bool = False
    plain_http: bool = False
    skip_crds: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    value_files: tuple[str, ...] = ()
    """Texts of YAML files, under `values`."""
    repository: str = ""


def render(release: Release, cluster: Cluster) -> str:
    """The chart's manifest, without hooks. Raises `ProviderError` with Helm's message."""
    try:
        helm = ensure(["helm"]).binary("helm")
    except ToolError as error:
        raise ProviderError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="pulumi-kubernetes-") as name:
        folder = Path(name)  # mode 0700: values may be secret
        command = [str(helm), "template", release.name, release.chart, *_flags(release)]
        command += _cluster_flags(cluster, folder)
        for index, text in enumerate((*release.value_files, json.dumps(release.values))):
            file = folder / f"values-{index}.yaml"
            file.write_text(text, encoding="utf-8")
            command += ["--values", str(file)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment(folder))
    if result.returncode:
        raise ProviderError(f"chart {release.chart!r} cannot be rendered: {_said(result.stderr)}")
    return result.stdout


def _flags(release: Release) -> Iterator[str]:
    yield from ("--no-hooks", "--dry-run=server", "--namespace", release.namespace or "default")
    if not release.skip_crds:
        yield "--include-crds"
    for flag, wanted in (
        ("--devel", release.devel and not release.version),
        ("--dependency-update", release.dependency_update),
        ("--plain-http", release.plain_http),
    ):
        if wanted:
            yield flag
    for flag, value in (
        ("--version", release.version),
        ("--repo", release.repository),
    ):
        if value:
            yield from (flag, value)


def _cluster_flags(cluster: Cluster, folder: Path) -> Iterator[str]:
    """What charts ask about their cluster: its version and kinds; and where they may look things up."""
    settings = cluster.settings
    with contextlib.suppress(kubeconfig.KubeconfigError):
        if settings.kubeconfig:
            loaded, base = kubeconfig.parse(settings.kubeconfig)
            if base:
                file = Path(settings.kubeconfig).expanduser()
            else:
                file = folder / "kubeconfig"
                file.write_text(json.dumps(loaded), encoding="utf-8")
            yield from ("--kubeconfig", str(file))
    if settings.context:
        yield from ("--kube-context", settings.context)
    if cluster.unreachable:
        return
    yield from ("--kube-version", str(cluster.api.request("GET", "/version").get("gitVersion")))
    cluster.discovery.refresh()
    for known in cluster.discovery.api_versions():
        yield from ("--api-versions", known)


def _environment(folder: Path) -> dict[str, str]:
    """The user's own Helm settings (repositories, registry credentials), and a cache where none is configured."""
    return {"HELM_CACHE_HOME": str(folder / "cache"), **os.environ}


def _said(errors: str) -> str:
    lines = [line.removeprefix("Error: ") for line in errors.splitlines() if line.strip()]
    return "\n".join(line for line in lines if not line.startswith(("WARNING:", "walk.go"))) or "Helm said nothing"
