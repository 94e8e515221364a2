# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Cloud KMS: key rings and keys. Neither can be deleted: a key's versions are destroyed, and the state forgets both."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.api import Deadline
from tpuplane_standins.providers.gcp.resources.base import Update, touched
from tpuplane_standins.providers.gcp.resources.rest import Call, Labelled, Rest

_DESTROYED: Final = ("DESTROYED", "DESTROY_SCHEDULED")


class KeyRing(Rest):
    """A key ring; its id is `projects/P/locations/L/keyRings/N`."""

    def query(self, planned: Properties) -> dict[str, str]:
        return {"keyRingId": planned["name"]}

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """No request: the ring stays in the project."""


class CryptoKey(Labelled):
    """A key; its id is `RING/cryptoKeys/N`."""

    def query(self, planned: Properties) -> dict[str, str]:
        skip = str(bool(planned.get("skipInitialVersionCreation"))).lower()
        return {"cryptoKeyId": planned["name"], "skipInitialVersionCreation": skip}

    def calls(self, update: Update) -> Iterator[Call]:
        for method, suffix, body in super().calls(update):
            left_out = {"purpose"} if touched(update.changed, "rotationPeriod") else {"purpose", "nextRotationTime"}
            yield method, suffix, {key: value for key, value in body.items() if key not in left_out}

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """Destroy the versions, and see that rotation makes no new one. The key itself stays in the project."""
        url = self.url(resource_id)
        for version in self.api.call("GET", f"{url}/cryptoKeyVersions").get("cryptoKeyVersions", []):
            if version["state"] not in _DESTROYED:
                self.api.call("POST", self.url(f"{version['name']}:destroy"), {})
        if state.get("rotationPeriod"):
            self.api.call("PATCH", f"{url}?{urlencode({'updateMask': 'rotationPeriod,nextRotationTime'})}", {})

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        body = super().body(properties)
        if period := body.get("rotationPeriod"):
            next_time = datetime.now(UTC) + timedelta(seconds=float(period.removesuffix("s")))
            body["nextRotationTime"] = next_time.isoformat().replace("+00:00", "Z")
        return body

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = super().state(found, prior)
        state.setdefault("skipInitialVersionCreation", False)
        return state
