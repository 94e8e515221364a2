"""What `Configure` decided: the addresses of the APIs, the credentials, and the provider's defaults."""

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any, Final

from tpuplane_standins.providers.contract import ProviderError
from tpuplane_standins.providers.gcp.api import Api

# The official default is 10 s, made for operations of minutes; the twin's take fractions of a second.
_DEFAULT_POLL_SECONDS: Final = 0.5

_ENVIRONMENT: Final[Mapping[str, Sequence[str]]] = {
    "project": ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
    "region": ("GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
    "zone": ("GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"),
    "accessToken": ("GOOGLE_OAUTH_ACCESS_TOKEN",),
}
_NO_CREDENTIALS: Final = (
    "failed to load application credentials.\n"
    "To use your default gcloud credentials, run:\n"
    "\t`gcloud auth application-default login`\n"
    "See https://www.pulumi.com/registry/packages/gcp/installation-configuration/ for details."
)
_LIFETIME_SECONDS: Final = 300.0
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(slots=True)
class ListCache:
    """A list that many resources read, by full name: the node pools of a cluster, the group managers of a zone.

    A missing or old item makes one thread read the whole list again. The official plugin does the same, so that a
    refresh of a hundred pools costs one request.
    """

    _items: dict[str, tuple[float, Any]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, name: str, read_list: Callable[[], Mapping[str, Any]]) -> Any:
        """The item, None if the list does not have it. `read_list` answers full name → item."""
        with self._lock:
            at, item = self._items.get(name, (float("-inf"), None))
            now = time.monotonic()
            if now - at > _LIFETIME_SECONDS:
                self._items.pop(name, None)
                self._items.update({key: (now, value) for key, value in read_list().items()})
                item = self._items.get(name, (0.0, None))[1]
            return item

    def drop(self, name: str) -> None:
        """Forget an item that changed."""
        with self._lock:
            self._items.pop(name, None)


@dataclass(slots=True)
class Session:
    """A configured provider."""

    api: Api
    endpoints: Mapping[str, str]
    """The base URL of each service, which ends in a slash."""
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
    return (key for key in config if key not in {*config_keys(), "version", "pluginDownloadURL"})


def start_session(config: Mapping[str, Any], services: Iterable[str]) -> Session:
    """The session of a configuration; `services` are the texts before "CustomEndpoint" in it.

    Raises `ProviderError` without credentials or without an endpoint of the twin.
    """
    settings = {key: _setting(config, key, *names) for key, names in _ENVIRONMENT.items()}
    keys = {service: f"{service}CustomEndpoint" for service in services}
    endpoints = {
        service: _setting(config, key, "GOOGLE_" + re.sub("([A-Z])", r"_\1", key).upper())
        for service, key in keys.items()
    }
    if missing := [keys[service] for service, url in endpoints.items() if not url]:
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
        endpoints={service: _base(url) for service, url in endpoints.items()},
        project=settings["project"],
        region=settings["region"].rpartition("/")[2],
        zone=settings["zone"].rpartition("/")[2],
        default_labels=_labels(config.get("defaultLabels")),
        attribution=attribution,
    )


def _setting(config: Mapping[str, Any], key: str, *variables: str) -> str:
    if value := config.get(key):
        return str(value)
    return next((os.environ[name] for name in variables if os.environ.get(name)), "")


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
