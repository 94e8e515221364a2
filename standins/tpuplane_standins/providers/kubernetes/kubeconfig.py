"""From a kubeconfig (its text or its path) to an authenticated client configuration."""

import base64
import contextlib
import copy
import logging
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from tpuplane_standins.providers.contract import ProviderError

_HELP = (
    "unable to load Kubernetes client configuration from kubeconfig file. Make sure you have: \n\n"
    " \t • set up the provider as per "
    "https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/ \n\n {}"
)


class KubeconfigError(ProviderError):
    """A kubeconfig that leads to no cluster; the message is the official provider's."""


def parse(text_or_path: str) -> tuple[dict[str, Any], str]:
    """The kubeconfig, and the folder its relative file names start from. Raises `KubeconfigError`."""
    base, text = "", text_or_path
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        path = Path(text_or_path).expanduser()
        if path.is_file():
            base, text = str(path.absolute().parent), path.read_text("utf-8")
    try:
        loaded = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise KubeconfigError(f"the kubeconfig is neither a file nor valid YAML: {error}") from error
    if not isinstance(loaded, dict):
        raise KubeconfigError(
            "couldn't get version/kind; json parse error: the kubeconfig is neither the path of a file nor a mapping"
        )
    return loaded, base


def active_cluster(config: dict[str, Any], context: str | None, cluster: str | None) -> dict[str, Any] | None:
    """The cluster entry that is in use under these overrides; None where there is none."""
    chosen = _named(config.get("contexts"), context or config.get("current-context"))
    if chosen is None:
        return None
    name = cluster or (chosen.get("context") or {}).get("cluster")
    found = _named(config.get("clusters"), name)
    return (found.get("cluster") or {}) if found else None


def _named(entries: Any, name: Any) -> dict[str, Any] | None:
    return next((entry for entry in entries or () if entry.get("name") == name), None)


@dataclass
class Credentials:
    """A client configuration that renews itself: a credential plugin runs once per life of its token."""

    loader: Any
    configuration: Any
    namespace: str
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def headers(self) -> dict[str, str]:
        """The authorization header of the next request."""
        with self._lock:
            token = self.configuration.get_api_key_with_prefix("BearerToken")
        return {"Authorization": token} if token else {}

    def renew(self, rejected: dict[str, str]) -> bool:
        """Ask again after the server rejected these headers; whether there are others now."""
        if self.headers() == rejected:
            with self._lock, _logged_errors():
                self.loader.load_and_set(self.configuration)
        return self.headers() != rejected


def load(text_or_path: str, context: str, cluster: str, namespace: str) -> Credentials:
    """Authenticate as the kubeconfig says; with an empty `text_or_path`, as `$KUBECONFIG` or `~/.kube/config` says.

    `context`, `cluster` and `namespace` override what is current there, empty ones do not. Raises `KubeconfigError`.
    """
    if text_or_path:
        try:
            config, base = parse(text_or_path)
        except KubeconfigError as error:
            raise KubeconfigError(
                f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"
            ) from error
    else:
        config, base = _ambient()
    return _authenticate(_overridden(config, context, cluster), base, namespace)


def _ambient() -> tuple[dict[str, Any], str]:
    for path in os.environ.get("KUBECONFIG", "~/.kube/config").split(os.pathsep):
        if path and Path(path).expanduser().is_file():
            return parse(path)
    raise KubeconfigError(
        _HELP.format(
            "invalid configuration: no configuration has been provided, "
            "try setting KUBERNETES_MASTER environment variable"
        )
    )


def _overridden(config: dict[str, Any], context: str, cluster: str) -> dict[str, Any]:
    config = copy.deepcopy(config)
    if context:
        config["current-context"] = context
    current = _named(config.get("contexts"), config.get("current-context"))
    if current is None:
        raise KubeconfigError(
            _HELP.format(f'context "{config.get("current-context") or ""}" does not exist')
            if config.get("contexts")
            else _HELP.format("invalid configuration: no configuration has been provided")
        )
    if cluster:
        current["context"]["cluster"] = cluster
    return config


def _authenticate(config: dict[str, Any], base: str, namespace: str) -> Credentials:
    # Imported late: it takes longer than the rest of the provider's start.
    from kubernetes.client import Configuration  # noqa: PLC0415
    from kubernetes.config.config_exception import ConfigException  # noqa: PLC0415
    from kubernetes.config.kube_config import KubeConfigLoader  # noqa: PLC0415

    configuration = Configuration()
    configuration.retries = False
    configuration.connection_pool_maxsize = 128
    # The loader would write the certificate to a file, which a provider that is killed leaves behind.
    current = _named(config["contexts"], config["current-context"]) or {}
    authority = (active_cluster(config, None, None) or {}).pop("certificate-authority-data", None)
    try:
        with _logged_errors() as problems:
            folder = _private_folder(config)
            loader: Any = cast(Any, KubeConfigLoader)(config, config_base_path=base, temp_file_path=folder)
            loader.load_and_set(configuration)
            if authority:
                configuration.ca_cert_data = base64.b64decode(authority).decode()
    except (ConfigException, OSError, KeyError, TypeError, ValueError) as error:
        raise KubeconfigError(_HELP.format(f"invalid configuration: {error}")) from error
    if problems:
        raise KubeconfigError(f"getting credentials: {'; '.join(problems)}")
    inside = (current.get("context") or {}).get("namespace")
    return Credentials(loader, configuration, namespace or inside or "default")


def _private_folder(config: dict[str, Any]) -> str | None:
    """Where a client certificate from the kubeconfig is while the provider runs: a private folder, mode 0700.

    None where no user has one in the kubeconfig itself.
    """
    if not any("client-certificate-data" in (entry.get("user") or {}) for entry in config.get("users") or ()):
        return None
    if not _folders:
        _folders.append(tempfile.TemporaryDirectory(prefix="pulumi-kubernetes-"))
    return _folders[0].name


_folders: list[tempfile.TemporaryDirectory[str]] = []


@contextlib.contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """What the kubeconfig loader logs instead of raising: a credential plugin that failed."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    root, collector = logging.getLogger(), Collector(logging.ERROR)
    root.addHandler(collector)
    try:
        yield messages
    finally:
        root.removeHandler(collector)
