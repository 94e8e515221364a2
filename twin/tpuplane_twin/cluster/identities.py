"""Who may talk to a cluster's API server: one bearer token per process, and the rights real RBAC gives it."""

from __future__ import annotations

import base64
import csv
import io
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tpuplane_twin.machine.files import write_if_changed

ADMIN = "twin-admin"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user as the API server sees it: its name and groups."""

    key: str
    user: str
    groups: tuple[str, ...] = ()

    @classmethod
    def service_account(cls, key: str, namespace: str, name: str) -> Identity:
        """The identity of a ServiceAccount, whose RBAC bindings apply to it as to any pod that runs as it."""
        return cls(
            key,
            f"system:serviceaccount:{namespace}:{name}",
            ("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
        )


class Credentials:
    """The token file of one API server and the kubeconfigs made from it, all mode 0600."""

    def __init__(self, folder: Path, admin_token: str, identities: tuple[Identity, ...]) -> None:
        """Keep the tokens that `folder` has, make those that are missing; `admin_token` is system:masters."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self.token_file = folder / "tokens.csv"
        known = self._read()
        rows = [(admin_token, ADMIN, ADMIN, "system:masters")]
        rows += [
            (
                known.get(identity.user) or secrets.token_urlsafe(32),
                identity.user,
                identity.key,
                ",".join(identity.groups),
            )
            for identity in identities
        ]
        self._tokens = {key: token for token, _, key, _ in rows}
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        write_if_changed(self.token_file, text.getvalue())

    def token(self, key: str) -> str:
        """The bearer token of the identity called `key`."""
        return self._tokens[key]

    def kubeconfig(self, key: str, *, server: str, authority: Path) -> Path:
        """A kubeconfig for the process called `key`."""
        path = self._folder / f"{key}.kubeconfig"
        cluster = cluster_entry(server, authority.read_bytes())
        write_if_changed(path, kubeconfig({key: cluster}, {"token": self.token(key)}, key))
        return path

    def _read(self) -> dict[str, str]:
        if not self.token_file.exists():
            return {}
        with self.token_file.open(newline="") as stream:
            return {row[1]: row[0] for row in csv.reader(stream)}


def cluster_entry(server: str, authority: bytes) -> dict[str, str]:
    """The `cluster` of a kubeconfig entry."""
    return {"server": server, "certificate-authority-data": base64.b64encode(authority).decode()}


def kubeconfig(clusters: Mapping[str, Mapping[str, str]], user: Mapping[str, Any], current: str) -> str:
    """A kubeconfig with a context for each of the `clusters`, by name; `user` is the user entry of all."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "clusters": [{"name": name, "cluster": dict(entry)} for name, entry in clusters.items()],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in clusters],
        "users": [{"name": name, "user": user} for name in clusters],
    }
    return yaml.safe_dump(document, sort_keys=False)
