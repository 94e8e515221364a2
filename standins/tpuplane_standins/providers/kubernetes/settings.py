"""The provider's configuration: what is accepted, what changing it means, what it sets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from tpuplane_standins.providers.contract import Difference
from tpuplane_standins.providers.kubernetes import kubeconfig
from tpuplane_standins.providers.kubernetes.values import Object, to_kubernetes
from tpuplane_standins.providers.values import UNKNOWN

_CLUSTER_KEYS: Final = ("kubeconfig", "context", "cluster")
_IDENTIFIER: Final = "clusterIdentifier"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a program configured, with the environment's defaults."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    delete_unreachable: bool = False
    skip_update_unreachable: bool = False
    enable_patch_force: bool = False
    upsert_existing_objects: bool = False
    enable_configmap_mutable: bool = False
    enable_secret_mutable: bool = False
    suppress_deprecation_warnings: bool = False

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Settings:
        """Read the engine's `kubernetes:config:…` variables; a flag that is not set there comes from `PULUMI_K8S_…`."""
        # "enableConfigMapMutable" → enable_configmap_mutable, a field, and PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE.
        found = {key.removeprefix("kubernetes:config:").lower(): value for key, value in variables.items()}
        values: dict[str, Any] = {}
        for field in fields(cls):
            value = found.get(field.name.replace("_", ""))
            if field.type == "str":
                values[field.name] = value or ""
            else:
                values[field.name] = (
                    os.environ.get(f"PULUMI_K8S_{field.name.upper()}") if value is None else value
                ) == "true"
        return cls(**values)


def rejections(inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What this stand-in cannot do: property and reason, for each one configured."""
    plain = to_kubernetes(dict(inputs))
    if plain.get("renderYamlToDirectory"):
        yield (
            "renderYamlToDirectory",
            "the twin's Kubernetes provider does not render YAML; unset it, or install the official Kubernetes plugin "
            "(`pulumi plugin install resource kubernetes`)",
        )
    ssa = plain.get("enableServerSideApply", os.environ.get("PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY", "true"))
    if ssa is not UNKNOWN and str(ssa).lower() != "true":
        yield (
            "enableServerSideApply",
            f"the twin's Kubernetes provider only knows server-side apply, not {ssa!r}; allowed: true (the default); "
            "for client-side apply install the official Kubernetes plugin",
        )


def diff(olds: Object, news: Object) -> Difference:
    """Whether the provider, and with it every object, is replaced.

    With an unchanged `clusterIdentifier` never, and always when it changes. Without one, when the kubeconfig's active
    cluster changes or is not known yet. Raises `KubeconfigError` for a kubeconfig that cannot be read.
    """
    olds, news = to_kubernetes(olds), to_kubernetes(news)
    changed = tuple(sorted(key for key in {*olds, *news} if olds.get(key) != news.get(key)))
    if not changed:
        return Difference()
    replacing: list[str] = []
    before, after = olds.get(_IDENTIFIER), news.get(_IDENTIFIER)
    pinned = bool(after) and before == after
    if before is not None and after is not None and before != after:
        replacing.append(_IDENTIFIER)
    unknown = next((key for key in _CLUSTER_KEYS if news.get(key) is UNKNOWN), None)
    if unknown is not None:
        return Difference(replaces=() if pinned else (*replacing, unknown), changed=(unknown,))
    old_cluster, new_cluster = _active_cluster(olds), _active_cluster(news)
    if old_cluster is not None and new_cluster is not None and old_cluster != new_cluster:
        replacing += [key for key in _CLUSTER_KEYS if key in changed]
    if "renderYamlToDirectory" in changed:
        replacing.append("renderYamlToDirectory")
    return Difference(replaces=() if pinned else replacing, changed=changed)


def _active_cluster(config: Object) -> Object | None:
    written = config.get("kubeconfig")
    if not written or written is UNKNOWN:
        return None
    loaded = written if isinstance(written, dict) else kubeconfig.parse(str(written))[0]
    return kubeconfig.active_cluster(loaded, config.get("context"), config.get("cluster"))
