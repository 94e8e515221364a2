"""What `Configure` decided: where the APIs are, as whom to call them, and the provider's defaults."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any, Final

from tpuplane_twin.providers.contract import ProviderError
from tpuplane_twin.providers.gcp.api import Api
from tpuplane_twin.providers.gcp.cache import ListCache

# The official default is 10 s, made for operations of minutes; the twin's take fractions of a second.
_DEFAULT_POLL_SECONDS: Final = 0.5

_ENVIRONMENT: Final[Mapping[str, Sequence[str]]] = {
    "project": ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
    "region": ("GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
    "zone": ("GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"),
    "accessToken": ("GOOGLE_OAUTH_ACCESS_TOKEN",),
    "containerCustomEndpoint": ("GOOGLE_CONTAINER_CUSTOM_ENDPOINT",),
    "computeCustomEndpoint": ("GOOGLE_COMPUTE_CUSTOM_ENDPOINT",),
    "iamBetaCustomEndpoint": ("GOOGLE_IAM_BETA_CUSTOM_ENDPOINT",),
    "resourceManagerCustomEndpoint": ("GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT",),
    "kmsCustomEndpoint": ("GOOGLE_KMS_CUSTOM_ENDPOINT",),
    "loggingCustomEndpoint": ("GOOGLE_LOGGING_CUSTOM_ENDPOINT",),
    "monitoringCustomEndpoint": ("GOOGLE_MONITORING_CUSTOM_ENDPOINT",),
    "serviceUsageCustomEndpoint": ("GOOGLE_SERVICE_USAGE_CUSTOM_ENDPOINT",),
}
_ENDPOINTS: Final = (
    "containerCustomEndpoint",
    "computeCustomEndpoint",
    "iamBetaCustomEndpoint",
    "resourceManagerCustomEndpoint",
    "kmsCustomEndpoint",
    "loggingCustomEndpoint",
    "monitoringCustomEndpoint",
    "serviceUsageCustomEndpoint",
)
_NO_CREDENTIALS: Final = (
    "failed to load application credentials.\n"
    "To use your default gcloud credentials, run:\n"
    "\t`gcloud auth application-default login`\n"
    "See https://www.pulumi.com/registry/packages/gcp/installation-configuration/ for details."
)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(slots=True)
class Session:
    """A configured provider. Base URLs end in a slash."""

    api: Api
    container: str
    compute: str
    iam: str
    resource_manager: str
    kms: str
    logging: str
    monitoring: str
    service_usage: str
    project: str
    region: str
    zone: str
    default_labels: dict[str, str]
    attribution: str
    node_pools: ListCache = field(default_factory=ListCache)
    group_managers: ListCache = field(default_factory=ListCache)
    locks: dict[str, Lock] = field(default_factory=dict)

    def lock(self, key: str) -> Lock:
        """One lock per key: what the official plugin does one at a time is done one at a time here."""
        return self.locks.setdefault(key, Lock())


@cache
def config_keys() -> frozenset[str]:
    """Every configuration key of the official plugin: those of its SDK, which is read because its import takes long."""
    source = Path(metadata.distribution("pulumi-gcp").locate_file("pulumi_gcp/provider.py"))  # type: ignore[arg-type]
    arguments = source.read_text("utf-8").partition("\nclass ProviderArgs:")[2].partition("\nclass ")[0]
    found = re.finditer(r'@pulumi\.getter(?:\(name="(\w+)"\))?\s+def (\w+)', arguments)
    return frozenset(match[1] or match[2] for match in found)


def unknown_keys(config: Mapping[str, Any]) -> Iterator[str]:
    """Configuration keys that the official plugin does not have."""
    known = config_keys()
    return (key for key in config if key not in known and key not in ("version", "pluginDownloadURL"))


def start_session(config: Mapping[str, Any]) -> Session:
    """Raises `ProviderError` without credentials or without an endpoint of the twin."""
    settings = {key: _setting(config, key) for key in _ENVIRONMENT}
    if missing := [key for key in _ENDPOINTS if not settings[key]]:
        raise ProviderError(
            f"this stand-in for the gcp provider never talks to Google, and gcp:{missing[0]} is not set: run inside "
            f"the environment of `tpuplane-twin env`, or set gcp:{', gcp:'.join(missing)}; for Google Cloud itself "
            "install the official plugin with `pulumi plugin install resource gcp`"
        )
    if not settings["accessToken"]:
        raise ProviderError(_NO_CREDENTIALS)
    attribution = ""
    if str(config.get("addPulumiAttributionLabel", "true")).lower() != "false":
        attribution = str(config.get("pulumiAttributionLabelAdditionStrategy") or "CREATION_ONLY")
    return Session(
        api=Api(settings["accessToken"], _seconds(str(config.get("pollInterval") or ""))),
        container=_base(settings["containerCustomEndpoint"]),
        compute=_base(settings["computeCustomEndpoint"]),
        iam=_base(settings["iamBetaCustomEndpoint"]),
        resource_manager=_base(settings["resourceManagerCustomEndpoint"]),
        kms=_base(settings["kmsCustomEndpoint"]),
        logging=_base(settings["loggingCustomEndpoint"]),
        monitoring=_base(settings["monitoringCustomEndpoint"]),
        service_usage=_base(settings["serviceUsageCustomEndpoint"]),
        project=settings["project"],
        region=settings["region"].rpartition("/")[2],
        zone=settings["zone"].rpartition("/")[2],
        default_labels=_labels(config.get("defaultLabels")),
        attribution=attribution,
    )


def _setting(config: Mapping[str, Any], key: str) -> str:
    if value := config.get(key):
        return str(value)
    return next((os.environ[name] for name in _ENVIRONMENT[key] if os.environ.get(name)), "")


def _base(url: str) -> str:
    if not re.match(r"https?://.+/[^/]+/$", url):
        raise ProviderError(f"custom endpoint '{url}' must be a URL that ends in '/<version>/'")
    return url


def _labels(value: Any) -> dict[str, str]:
    labels = json.loads(value) if isinstance(value, str) else value or {}
    return {str(key): str(item) for key, item in labels.items()}


def _seconds(duration: str) -> float:
    if not duration:
        return _DEFAULT_POLL_SECONDS
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ProviderError(f"gcp:pollInterval '{duration}' is not a duration such as '500ms', '1s' or '1m30s'")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
