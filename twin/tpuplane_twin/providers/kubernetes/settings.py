"""The provider's configuration: what is accepted, what changing it means, what it sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tpuplane_twin.providers.contract import Difference
from tpuplane_twin.providers.kubernetes import kubeconfig
from tpuplane_twin.providers.kubernetes.values import Object, to_kubernetes
from tpuplane_twin.providers.values import UNKNOWN

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
    configmap_mutable: bool = False
    secret_mutable: bool = False
    suppress_deprecation_warnings: bool = False

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Settings:
        """Read the engine's `kubernetes:config:…` variables; a flag that is not set there comes from `PULUMI_K8S_…`."""
        plain = {key.removeprefix("kubernetes:config:"): value for key, value in variables.items()}

        def flag(key: str, environment: str) -> bool:
            return plain.get(key, os.environ.get(f"PULUMI_K8S_{environment}", "")) == "true"

        return cls(
            kubeconfig=plain.get("kubeconfig", ""),
            context=plain.get("context", ""),
            cluster=plain.get("cluster", ""),
            namespace=plain.get("namespace", ""),
            delete_unreachable=flag("deleteUnreachable", "DELETE_UNREACHABLE"),
            skip_update_unreachable=flag("skipUpdateUnreachable", "SKIP_UPDATE_UNREACHABLE"),
            enable_patch_force=flag("enablePatchForce", "ENABLE_PATCH_FORCE"),
            upsert_existing_objects=flag("upsertExistingObjects", "UPSERT_EXISTING_OBJECTS"),
            configmap_mutable=flag("enableConfigMapMutable", "ENABLE_CONFIGMAP_MUTABLE"),
            secret_mutable=flag("enableSecretMutable", "ENABLE_SECRET_MUTABLE"),
            suppress_deprecation_warnings=flag("suppressDeprecationWarnings", "SUPPRESS_DEPRECATION_WARNINGS"),
        )


def rejections(inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What this stand-in cannot do: property and reason, for each one configured."""
    plain = to_kubernetes(dict(inputs))
    found = []
    if plain.get("renderYamlToDirectory"):
        found.append(
            (
                "renderYamlToDirectory",
                "the twin's Kubernetes provider does not render YAML; unset it, or install the official "
                "Kubernetes plugin (`pulumi plugin install resource kubernetes`)",
            )
        )
    ssa = plain.get("enableServerSideApply", os.environ.get("PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY", "true"))
    if ssa is not UNKNOWN and str(ssa).lower() != "true":
        found.append(
            (
                "enableServerSideApply",
                f"the twin's Kubernetes provider only knows server-side apply, not {ssa!r}; allowed: true (the "
                "default); for client-side apply install the official Kubernetes plugin",
            )
        )
    return found


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
