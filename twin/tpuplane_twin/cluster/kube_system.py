"""What every GKE cluster has in kube-system: kube-dns with its autoscaler, and the metrics API.

They come from the add-ons of the very release of Kubernetes. GKE's do, too, with other labels and images. The pods are
simulated: `pods.dns` answers names at kube-dns' address, `pods.metrics` the metrics API.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

import yaml
from tpuplane.data_files import formatted, read_data

from tpuplane_twin.cluster.addresses import DOMAIN, dns_address, kubernetes_address
from tpuplane_twin.cluster.api import Object

MODULE = "kubernetes-addons"
METRICS_PORT = 10250
"""The port behind the Service `metrics-server`, as on GKE."""

_ADDONS = Path("cluster") / "addons"
# GKE's: https://docs.cloud.google.com/kubernetes-engine/docs/how-to/nodelocal-dns-cache
_DNS_MEMORY = "210Mi"
_DNS = "Deployment/kube-dns"
# What the autoscaler makes of `preventSinglePointFailure`. It is simulated, and changes no number.
_DNS_REPLICAS = 2


def objects(module: Path, services: str, authority: str) -> list[Object]:
    """The objects of a cluster with the Service range `services`; `authority` (PEM) vouches for the metrics API."""
    addons = module / _ADDONS
    values = {
        "__DNS__SERVER__": dns_address(services),
        "__DNS__DOMAIN__": DOMAIN,
        "__DNS__MEMORY__LIMIT__": _DNS_MEMORY,
    }
    items = [
        *_read(addons / "dns" / "kube-dns" / "kube-dns.yaml.base", values),
        *_read(addons / "dns-horizontal-autoscaler" / "dns-horizontal-autoscaler.yaml", {"{{.Target}}": _DNS}),
        *_read(addons / "metrics-server" / "metrics-server-service.yaml", {}),
        *_read(addons / "metrics-server" / "metrics-apiservice.yaml", {}),
    ]
    for item in items:
        match item["kind"], item["metadata"]["name"]:
            case "Deployment", "kube-dns":
                item["spec"]["replicas"] = _DNS_REPLICAS
            case "Deployment", "kube-dns-autoscaler":
                items.append(_parameters(item))
            case "Service", "metrics-server":
                item["spec"] = {"ports": [{"port": 443, "targetPort": METRICS_PORT}]}
                endpoint = read_data("tpuplane_twin.cluster", "metrics_endpoint")
                items.append(formatted(endpoint, {"address": kubernetes_address(services)}))
            case "APIService", _:
                del item["spec"]["insecureSkipTLSVerify"]
                item["spec"]["caBundle"] = base64.b64encode(authority.encode()).decode()
    return items


def _read(file: Path, values: dict[str, str]) -> list[Object]:
    text = file.read_text()
    for name, value in values.items():
        text = text.replace(name, value)
    return [item for item in yaml.load_all(text, yaml.CSafeLoader) if item]


def _parameters(autoscaler: Object) -> Object:
    """The ConfigMap that the autoscaler makes at its start, and that administrators change."""
    (container,) = autoscaler["spec"]["template"]["spec"]["containers"]
    given = next(
        found for argument in container["command"] if (found := re.fullmatch("--default-params=(.*)", argument))
    )
    data: dict[str, Any] = json.loads(given[1])
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kube-dns-autoscaler", "namespace": "kube-system"},
        "data": {name: json.dumps(value, separators=(",", ":")) for name, value in data.items()},
    }
