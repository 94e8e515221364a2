"""Cloud KMS: key rings, symmetric keys and their versions. The twin does not encrypt with them.

https://docs.cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys

As in Google's service, rings and keys cannot be deleted; only the versions of a key are destroyed.
"""

import re
from datetime import datetime, timedelta

from tpuplane_twin.gcp.container.access_rules import CRYPTO_KEY
from tpuplane_twin.gcp.errors import failed_precondition, invalid, not_served
from tpuplane_twin.gcp.handlers import Call, Collection
from tpuplane_twin.gcp.locations import regions
from tpuplane_twin.gcp.merge import mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json, seconds

_ID = re.compile(r"[A-Za-z0-9_-]{1,63}")
_MULTI_REGIONS = ("global", "us", "europe", "asia")
_ALGORITHM = "GOOGLE_SYMMETRIC_ENCRYPTION"
_SHORTEST_ROTATION = 86400  # seconds
_PENDING = 30 * 86400  # seconds until a version that is scheduled for destruction is destroyed
_LONGEST_PENDING = 120 * 86400
_MUTABLE = ("labels", "nextRotationTime", "rotationPeriod", "versionTemplate.algorithm")


class KeyRings(Collection):
    """projects.locations.keyRings."""

    kind, segment, label = "cloudkms.keyRings", "keyRings", "KeyRing"
    prefix, verbs, policies = "cloudkms.projects.locations.keyRings", "create get list", True

    def parent(self, call: Call) -> str:
        """The collection of a location; rejects a location that Cloud KMS does not have."""
        location = call.params["locationsId"]
        if location not in (*regions(), *_MULTI_REGIONS):
            raise invalid(f"Location {location} is not a Cloud KMS location.")
        return super().parent(call)

    def create(self, call: Call) -> Json:
        """Create a key ring."""
        name = self.new_name(call, "key_ring_id", call.query.get("keyRingId", ""), _ID)
        return self.put(name, {"name": name, "createTime": now()})


class CryptoKeys(Collection):
    """projects.locations.keyRings.cryptoKeys."""

    kind, segment, label = CRYPTO_KEY, "cryptoKeys", "CryptoKey"
    prefix, verbs, policies = f"{KeyRings.prefix}.cryptoKeys", "create get list patch", True

    def parent(self, call: Call) -> str:
        """The collection of a key ring, which must exist."""
        return f"{KeyRings(self._store).existing(call)}/{self.segment}"

    def create(self, call: Call) -> Json:
        """Create a symmetric key, with a first version that is its primary one."""
        name = self.new_name(call, "crypto_key_id", call.query.get("cryptoKeyId", ""), _ID)
        if call.body.get("purpose") != "ENCRYPT_DECRYPT":
            raise not_served(f"keys of purpose {call.body.get('purpose', 'unspecified')}; it serves ENCRYPT_DECRYPT")
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
            made["primary"] = CryptoKeyVersions(self._store).add(name, template)["name"]
        return self.view(self.put(name, made))

    def patch(self, call: Call) -> Json:
        """Change the fields of the mask; a field of the mask that the body lacks is cleared."""
        key = self.find(call)
        mask = mask_paths(call.query.get("updateMask", ""))
        if not mask:
            raise invalid("The request has an empty update_mask.")
        for path in mask:
            if path not in _MUTABLE:
                raise invalid(f"Field {path} of a CryptoKey cannot be updated.")
        key = masked(key, call.body, mask)
        key["versionTemplate"].setdefault("algorithm", _ALGORITHM)
        _check_rotation(key)
        return self.view(self.put(key["name"], key))

    def view(self, stored: Json) -> Json:
        """The key with its primary version, in whichever state."""
        primary = self._store.get(CryptoKeyVersions.kind, str(stored.get("primary", "")))
        shown = {field: value for field, value in stored.items() if field != "primary"}
        return {**shown, "primary": primary} if primary else shown


class CryptoKeyVersions(Collection):
    """projects.locations.keyRings.cryptoKeys.cryptoKeyVersions."""

    kind, segment, label = "cloudkms.cryptoKeyVersions", "cryptoKeyVersions", "CryptoKeyVersion"
    prefix, verbs = f"{CryptoKeys.prefix}.cryptoKeyVersions", "get list destroy"

    def parent(self, call: Call) -> str:
        """The collection of a key, which must exist."""
        return f"{CryptoKeys(self._store).existing(call)}/{self.segment}"

    def add(self, key: str, template: Json) -> Json:
        """Create the first version of a key."""
        version = {
            "name": f"{key}/{self.segment}/1",
            "state": "ENABLED",
            "createTime": now(),
            "generateTime": now(),
            "algorithm": template["algorithm"],
            "protectionLevel": template["protectionLevel"],
        }
        return self.put(version["name"], version)

    def destroy(self, call: Call) -> Json:
        """Schedule a version for destruction."""
        version = self.find(call)
        if version["state"] not in ("ENABLED", "DISABLED"):
            raise failed_precondition(
                f"{version['name']} is in state {version['state']}; only an ENABLED or DISABLED one can be destroyed."
            )
        key = CryptoKeys(self._store).find(call)
        end = datetime.fromisoformat(now()) + timedelta(seconds=seconds(key["destroyScheduledDuration"]))
        scheduled = {"state": "DESTROY_SCHEDULED", "destroyTime": end.isoformat().replace("+00:00", "Z")}
        return self.put(version["name"], {**version, **scheduled})


def _check_rotation(key: Json) -> None:
    period = key.get("rotationPeriod")
    if period is None:
        return
    if seconds(period) < _SHORTEST_ROTATION:
        raise invalid("The rotation_period must be at least 24 hours.")
    if "nextRotationTime" not in key:
        raise invalid("The next_rotation_time must be set when rotation_period is set.")
