"""Rendering a chart with Helm itself, for the cluster that it is meant for."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.kubernetes import kubeconfig
from tpuplane_standins.providers.kubernetes.cluster import Cluster

VALUE_FILES: Final = "valueYamlFiles"
"""The input with the texts of YAML files, under `values`."""

_NOT_OFFERED: Final = {
    "verify": "verification of signatures",
    "keyring": "verification of signatures",
    "postRenderer": "post-renderers",
}


def render(name: str, inputs: Mapping[str, Any], cluster: Cluster) -> str:
    """The chart's manifest without hooks, from the inputs of `helm.sh/v4`'s Chart called `name`.

    Raises `ProviderError`, also with Helm's message.
    """
    for key, what in _NOT_OFFERED.items():
        if inputs.get(key):
            raise ProviderError(
                f"{key}: the twin's own Kubernetes provider offers no {what}; install the official Kubernetes plugin"
            )
    repository: Mapping[str, Any] = inputs.get("repositoryOpts") or {}
    if others := repository.keys() - {"repo"}:
        # Helm's command line takes credentials as arguments, which every user of the machine can read.
        raise ProviderError(
            f"repositoryOpts.{min(others)}: the twin's own Kubernetes provider takes repo alone; log in with "
            "`helm registry login` or `helm repo add`, or install the official Kubernetes plugin"
        )
    helm = shutil.which("helm")
    if helm is None:
        raise ProviderError("a chart is rendered with Helm, and no `helm` is on PATH; install it: https://helm.sh")
    chart = str(inputs.get("chart") or "")
    with tempfile.TemporaryDirectory(prefix="pulumi-kubernetes-") as temporary:
        folder = Path(temporary)  # mode 0700: values may be secret
        command = [helm, "template", str(inputs.get("name") or name), chart]
        command += [*_flags(inputs, repository.get("repo")), *_cluster_flags(cluster, folder)]
        for index, text in enumerate((*(inputs.get(VALUE_FILES) or ()), json.dumps(inputs.get("values") or {}))):
            file = folder / f"values-{index}.yaml"
            file.write_text(text, encoding="utf-8")
            command += ["--values", str(file)]
        # The user's own Helm settings (repositories, registry credentials), and a cache where none is configured.
        environment = {"HELM_CACHE_HOME": str(folder / "cache"), **os.environ}
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        raise ProviderError(f"chart {chart!r} cannot be rendered: {_message(result.stderr)}")
    return result.stdout


def _flags(inputs: Mapping[str, Any], repository: Any) -> Iterator[str]:
    yield from ("--no-hooks", "--dry-run=server", "--namespace", inputs.get("namespace") or "default")
    version = inputs.get("version")
    for flag, wanted in (
        ("--include-crds", not inputs.get("skipCrds")),
        ("--devel", inputs.get("devel") and not version),
        ("--dependency-update", inputs.get("dependencyUpdate")),
        ("--plain-http", inputs.get("plainHttp")),
    ):
        if wanted:
            yield flag
    for flag, value in (("--version", version), ("--repo", repository)):
        if value:
            yield from (flag, str(value))


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


def _message(errors: str) -> str:
    lines = [line.removeprefix("Error: ") for line in errors.splitlines() if line.strip()]
    return "\n".join(line for line in lines if not line.startswith(("WARNING:", "walk.go"))) or "Helm said nothing"
