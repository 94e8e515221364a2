"""Cloud KMS: key rings, symmetric keys and their versions. The twin encrypts nothing with them.

https://docs.cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys

As in Google's service, a ring and a key stay for ever under their names; what is destroyed is a key's versions.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.container.keys import CRYPTO_KEY
from tpuplane_twin.gcp.container.merge import mask_paths, masked
from tpuplane_twin.gcp.errors import already_exists, failed_precondition, invalid, not_found, not_served
from tpuplane_twin.gcp.identity import Policies
from tpuplane_twin.gcp.locations import regions
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json, seconds
from tpuplane_twin.gcp.store import Store

_RING = "cloudkms.keyRings"
_VERSION = "cloudkms.cryptoKeyVersions"
_ID = re.compile(r"[A-Za-z0-9_-]{1,63}")
_MULTI_REGIONS = ("global", "us", "europe", "asia")
_ALGORITHM = "GOOGLE_SYMMETRIC_ENCRYPTION"
_SHORTEST_ROTATION = 86400  # seconds
_PENDING = 30 * 86400  # seconds until a destroyed version is gone
_LONGEST_PENDING = 120 * 86400
_MUTABLE = ("labels", "nextRotationTime", "rotationPeriod", "versionTemplate.algorithm")


def kms_handlers(store: Store) -> dict[str, Handler]:
    """Handlers by method id."""
    rings, keys, policies = KeyRings(store), CryptoKeys(store), Policies(store)
    ring, key = "cloudkms.projects.locations.keyRings", "cloudkms.projects.locations.keyRings.cryptoKeys"
    found: dict[str, Handler] = {
        f"{ring}.create": rings.create,
        f"{ring}.get": rings.get,
        f"{ring}.list": rings.list,
        f"{key}.create": keys.create,
        f"{key}.get": keys.get,
        f"{key}.list": keys.list,
        f"{key}.patch": keys.patch,
        f"{key}.cryptoKeyVersions.list": keys.versions,
        f"{key}.cryptoKeyVersions.get": keys.version,
        f"{key}.cryptoKeyVersions.destroy": keys.destroy,
        f"{ring}.getIamPolicy": lambda call: policies.get(rings.existing(call)),
        f"{ring}.setIamPolicy": lambda call: policies.set(rings.existing(call), call.body),
        f"{key}.getIamPolicy": lambda call: policies.get(keys.existing(call)),
        f"{key}.setIamPolicy": lambda call: policies.set(keys.existing(call), call.body),
    }
    return found


class KeyRings:
    """projects.locations.keyRings."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, call: Call) -> Json:
        """Make a ring."""
        name = f"{_parent(call)}/keyRings/{_id(call, 'keyRingId')}"
        if self._store.get(_RING, name) is not None:
            raise already_exists(f"KeyRing {name} already exists.")
        made: Json = {"name": name, "createTime": now()}
        self._store.put(_RING, name, made)
        return made

    def get(self, call: Call) -> Json:
        """One ring."""
        return self._store.get(_RING, self.existing(call)) or {}

    def list(self, call: Call) -> Json:
        """The rings of a location."""
        return {"keyRings": self._store.values(_RING, f"{_parent(call)}/keyRings")}

    def existing(self, call: Call) -> str:
        """Name of the ring that the path names; 404 if there is none."""
        name = f"{_parent(call)}/keyRings/{call.params['keyRingsId']}"
        if self._store.get(_RING, name) is None:
            raise not_found(f"KeyRing {name} not found.")
        return name


class CryptoKeys:
    """projects.locations.keyRings.cryptoKeys and their versions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rings = KeyRings(store)

    def create(self, call: Call) -> Json:
        """Make a symmetric key, with a first version that is its primary one."""
        name = f"{self._rings.existing(call)}/cryptoKeys/{_id(call, 'cryptoKeyId')}"
        if self._store.get(CRYPTO_KEY, name) is not None:
            raise already_exists(f"CryptoKey {name} already exists.")
        if call.body.get("purpose") != "ENCRYPT_DECRYPT":
            raise not_served(f"keys of purpose {call.body.get('purpose')}; it serves ENCRYPT_DECRYPT")
        _check_rotation(call.body)
        if seconds(call.body.get("destroyScheduledDuration", "0s")) > _LONGEST_PENDING:
            raise invalid("The destroy_scheduled_duration must be at most 120 days.")
        template = {"algorithm": _ALGORITHM, "protectionLevel": "SOFTWARE", **call.body.get("versionTemplate", {})}
        made: Json = {
            "destroyScheduledDuration": f"{_PENDING}s",
            **call.body,
            "name": name,
            "createTime": now(),
            "versionTemplate": template,
        }
        if call.query.get("skipInitialVersionCreation", "false") != "true":
            made["primary"] = self._add_version(name, template)["name"]
        self._store.put(CRYPTO_KEY, name, made)
        return self._view(made)

    def get(self, call: Call) -> Json:
        """One key."""
        return self._view(self._store.get(CRYPTO_KEY, self.existing(call)) or {})

    def list(self, call: Call) -> Json:
        """The keys of a ring."""
        found = self._store.values(CRYPTO_KEY, f"{self._rings.existing(call)}/cryptoKeys")
        return {"cryptoKeys": [self._view(key) for key in found]}

    def patch(self, call: Call) -> Json:
        """Change what the mask names; a field that it names and the body lacks is cleared."""
        name = self.existing(call)
        key: Json = dict(self._store.get(CRYPTO_KEY, name) or {})
        mask = mask_paths(call.query.get("updateMask", ""))
        if not mask:
            raise invalid("The request has an empty update_mask.")
        for path in mask:
            if path not in _MUTABLE:
                raise invalid(f"Field {path} of a CryptoKey cannot be updated.")
        key = masked(key, call.body, mask)
        key["versionTemplate"].setdefault("algorithm", _ALGORITHM)
        _check_rotation(key)
        self._store.put(CRYPTO_KEY, name, key)
        return self._view(key)

    def versions(self, call: Call) -> Json:
        """The versions of a key."""
        return {"cryptoKeyVersions": self._store.values(_VERSION, f"{self.existing(call)}/cryptoKeyVersions")}

    def version(self, call: Call) -> Json:
        """One version."""
        name = f"{self.existing(call)}/cryptoKeyVersions/{call.params['cryptoKeyVersionsId']}"
        found = self._store.get(_VERSION, name)
        if found is None:
            raise not_found(f"CryptoKeyVersion {name} not found.")
        return found

    def destroy(self, call: Call) -> Json:
        """Schedule a version for destruction."""
        version = self.version(call)
        if version["state"] not in ("ENABLED", "DISABLED"):
            raise failed_precondition(f"{version['name']} is in state {version['state']}.")
        key: Json = self._store.get(CRYPTO_KEY, self.existing(call)) or {}
        pending = timedelta(seconds=seconds(key["destroyScheduledDuration"]))
        gone = datetime.fromisoformat(now()) + pending
        version = {**version, "state": "DESTROY_SCHEDULED", "destroyTime": gone.isoformat().replace("+00:00", "Z")}
        self._store.put(_VERSION, version["name"], version)
        return version

    def existing(self, call: Call) -> str:
        """Name of the key that the path names; 404 if there is none."""
        name = f"{self._rings.existing(call)}/cryptoKeys/{call.params['cryptoKeysId']}"
        if self._store.get(CRYPTO_KEY, name) is None:
            raise not_found(f"CryptoKey {name} not found.")
        return name

    def _add_version(self, key: str, template: Json) -> Json:
        version: Json = {
            "name": f"{key}/cryptoKeyVersions/1",
            "state": "ENABLED",
            "createTime": now(),
            "generateTime": now(),
            "algorithm": template["algorithm"],
            "protectionLevel": template["protectionLevel"],
        }
        self._store.put(_VERSION, version["name"], version)
        return version

    def _view(self, key: Json) -> Json:
        """The key as it is answered: with its primary version, as long as that is enabled."""
        primary = self._store.get(_VERSION, str(key.get("primary", "")))
        shown = {field: value for field, value in key.items() if field != "primary"}
        return {**shown, "primary": primary} if primary else shown


def _parent(call: Call) -> str:
    location = call.params["locationsId"]
    if location not in (*regions(), *_MULTI_REGIONS):
        raise invalid(f"Location {location} is not a Cloud KMS location.")
    return f"projects/{call.params['projectsId']}/locations/{location}"


def _id(call: Call, parameter: str) -> str:
    found = call.query.get(parameter, "")
    if not _ID.fullmatch(found):
        raise invalid(f'Invalid {parameter} "{found}": it must match {_ID.pattern}.')
    return found


def _check_rotation(key: Json) -> None:
    period = key.get("rotationPeriod")
    if period is None:
        return
    if seconds(period) < _SHORTEST_ROTATION:
        raise invalid("The rotation_period must be at least 24 hours.")
    if "nextRotationTime" not in key:
        raise invalid("The next_rotation_time must be set when rotation_period is set.")
