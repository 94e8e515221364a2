"""The volumes of a process pod, as folders: filled before it starts, and kept up to date while it runs."""

import base64
import datetime as dt
import time
from pathlib import Path
from typing import Any

from tpuplane_twin.cluster import gcs_fuse
from tpuplane_twin.cluster.api import Api, Object, path
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.pods.container import field

_RENEW_AFTER = 0.8  # of a token's life, as a kubelet does

_WRITTEN = ("configMap", "secret", "downwardAPI", "projected")


class NotThere(Exception):
    """Something that the pod mounts is missing; the message names it."""


class Volumes:
    """The volumes of one pod, below `folder`; buckets are folders below `buckets`, and outlive the pod."""

    def __init__(self, api: Api, pod: Object, folder: Path, buckets: Path) -> None:
        self._api = api
        self._pod = pod
        self._namespace = str(pod["metadata"]["namespace"])
        self._folder = folder
        self._buckets = buckets
        self._renewals: dict[Path, float] = {}
        self._sources: list[Object] = pod["spec"].get("volumes", [])

    def part(self, name: str, path: str) -> Path:
        """A path in the volume `name`; created as a folder where missing. Raises `NotThere` where it leads out of it.

        A process that writes in a volume can create a symbolic link there.
        """
        volume = next(volume for volume in self._sources if volume["name"] == name)
        folder = self._place(volume).resolve()
        found = (folder / path).resolve()
        if not found.is_relative_to(folder):
            raise NotThere(f'volume "{name}": subPath "{path}" leads out of it')
        if not found.exists():
            found.mkdir(parents=True)
        return found

    def read_only(self) -> set[str]:
        """The volumes in which only a kubelet writes, whatever a mount says."""
        return {volume["name"] for volume in self._sources if not volume.keys().isdisjoint(_WRITTEN)}

    async def refresh(self) -> None:
        """Write what is new. Raises `NotThere`."""
        written = self._pod["spec"].get("volumes", ())
        self._sources = [await gcs_fuse.claimed(self._api, volume, self._namespace) for volume in written]
        for volume in self._sources:
            if gcs_fuse.bucket(volume) is not None and (why := await gcs_fuse.rejection(self._api, self._pod, volume)):
                raise NotThere(why)
            folder = self._place(volume)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A ConfigMap or Secret volume is written like one source of a projected volume.
            sources = volume["projected"]["sources"] if "projected" in volume else [_as_source(volume)]
            for source in sources:
                await self._write(folder, source)

    async def texts(self, kind: str, name: str) -> dict[str, str] | None:
        """The texts of a ConfigMap or Secret of the pod's namespace; None where it does not exist."""
        found = await self._content(kind, name)
        return None if found is None else {key: value.decode(errors="replace") for key, value in found.items()}

    def _place(self, volume: Object) -> Path:
        bucket = gcs_fuse.bucket(volume)
        return self._folder / volume["name"] if bucket is None else self._buckets / bucket

    async def _write(self, folder: Path, source: Object) -> None:
        for kind in ("configMap", "secret"):
            if wanted := source.get(kind):
                await self._write_keys(folder, kind, wanted)
        for item in source.get("downwardAPI", {}).get("items", ()):
            if "fieldRef" in item:
                _put(folder, item["path"], field(self._pod, item["fieldRef"]["fieldPath"]).encode())
        if token := source.get("serviceAccountToken"):
            await self._write_token(folder, token)

    async def _write_keys(self, folder: Path, kind: str, wanted: Object) -> None:
        content = await self._content(kind, wanted["name"])
        if content is None:
            if wanted.get("optional"):
                return
            raise NotThere(f'{kind.lower()} "{wanted["name"]}" not found')
        items = wanted.get("items") or [{"key": key, "path": key} for key in content]
        for item in items:
            if item["key"] in content:
                _put(folder, item["path"], content[item["key"]])
            elif not wanted.get("optional"):
                raise NotThere(f"{kind.lower()} references non-existent config key: {item['key']}")

    async def _content(self, kind: str, name: str) -> dict[str, bytes] | None:
        found = await self._api.get("ConfigMap" if kind == "configMap" else "Secret", name, self._namespace)
        if found is None:
            return None
        encoded = found.get("binaryData" if kind == "configMap" else "data") or {}
        texts = found.get("data") or {} if kind == "configMap" else {}
        return {
            **{key: text.encode() for key, text in texts.items()},
            **{key: base64.b64decode(value) for key, value in encoded.items()},
        }

    async def _write_token(self, folder: Path, wanted: Object) -> None:
        file = folder / wanted["path"]
        if time.time() < self._renewals.get(file, 0):
            return
        metadata = self._pod["metadata"]
        reference = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec: dict[str, Any] = {
            "expirationSeconds": wanted.get("expirationSeconds", 3600),
            "boundObjectRef": reference,
            "audiences": [wanted["audience"]] if wanted.get("audience") else [],
        }
        account = self._pod["spec"].get("serviceAccountName", "default")
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = await self._api.request("POST", f"{path('ServiceAccount', account, self._namespace)}/token", body=body)
        _put(folder, wanted["path"], answer["status"]["token"].encode())
        expires = dt.datetime.fromisoformat(answer["status"]["expirationTimestamp"]).timestamp()
        self._renewals[file] = time.time() + _RENEW_AFTER * (expires - time.time())


def _as_source(volume: Object) -> Object:
    if secret := volume.get("secret"):
        return {"secret": {**secret, "name": secret["secretName"]}}
    # An emptyDir is its folder. A claim of a disk or a host path has no files on the twin, so its folder is empty, too.
    return volume


def _put(folder: Path, name: str, content: bytes) -> None:
    """Write a file of a volume. Raises `NotThere` where a symbolic link leads out of its folder."""
    path = folder / name
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise NotThere(f'volume "{folder.name}": path "{name}" leads out of it')
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, content)
