"""Cloud KMS: key rings and keys. Neither can be deleted: a key's versions are destroyed, and the state forgets both."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from tpuplane_twin.providers.contract import Properties
from tpuplane_twin.providers.gcp.api import Deadline, explaining
from tpuplane_twin.providers.gcp.bodies import expand, flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, Update, known, planned_labels, touched
from tpuplane_twin.providers.values import UNKNOWN, Secret, reveal

_DESTROYED: Final = ("DESTROYED", "DESTROY_SCHEDULED")


class KeyRing(Resource):
    """A key ring; its id is `projects/P/locations/L/keyRings/N`."""

    table_name = "key_ring"

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"{self._parent(properties)}/keyRings/{properties['name']}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        query = urlencode({"keyRingId": planned["name"]})
        with explaining("creating KeyRing"):
            self.api.call("POST", f"{self.session.kms}{self._parent(planned)}/keyRings?{query}", {})
        resource_id = self.canonical_id("", planned)
        return resource_id, self.read(resource_id, planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        if self.api.find(self.session.kms + resource_id) is None:
            return None
        _, project, _, location, _, name = resource_id.split("/")
        return {"project": project, "location": location, "name": name}

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """No request: the ring stays in the project."""

    def _parent(self, properties: Mapping[str, Any]) -> str:
        return f"projects/{self.need_project(properties)}/locations/{properties['location']}"


class CryptoKey(Resource):
    """A key; its id is `RING/cryptoKeys/N`."""

    table_name = "crypto_key"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """Adds the labels that the key will have."""
        plain = reveal(prior) if prior is not None else None
        return {**super().plan(inputs, prior), **planned_labels(self.session, inputs.get("labels"), plain)}

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        skip = "true" if planned.get("skipInitialVersionCreation") else "false"
        query = urlencode({"cryptoKeyId": planned["name"], "skipInitialVersionCreation": skip})
        url = f"{self.session.kms}{planned['keyRing']}/cryptoKeys?{query}"
        with explaining("creating CryptoKey"):
            self.api.call("POST", url, self._body(planned))
        resource_id = f"{planned['keyRing']}/cryptoKeys/{planned['name']}"
        return resource_id, self.read(resource_id, planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(self.session.kms + resource_id)
        if found is None:
            return None
        state = flatten(self.table.fields, found)
        state["keyRing"], _, state["name"] = resource_id.rpartition("/cryptoKeys/")[0], "", found["name"].split("/")[-1]
        actual = found.get("labels", {})
        before = reveal(known(prior))
        for name in ("labels", "pulumiLabels"):
            state[name] = {key: actual.get(key, "") for key in before.get(name) or {}}
        state["pulumiLabels"] = Secret(state["pulumiLabels"])
        state["skipInitialVersionCreation"] = bool(before.get("skipInitialVersionCreation"))
        state["deletionPolicy"] = before.get("deletionPolicy") or "DELETE"
        return state

    def update(self, it: Update) -> Properties:  # noqa: D102
        mask = self.update_mask(it.changed)
        if mask:
            body = {key: value for key, value in self._body(it.planned).items() if key not in ("purpose",)}
            if not touched(it.changed, "rotationPeriod"):
                body.pop("nextRotationTime", None)
            with explaining(f'updating CryptoKey "{it.resource_id}"'):
                self.api.call("PATCH", f"{self.session.kms}{it.resource_id}?{urlencode({'updateMask': mask})}", body)
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """Destroy the versions, and see that rotation makes no new one. The key itself stays in the project."""
        url = self.session.kms + resource_id
        for version in self.api.call("GET", f"{url}/cryptoKeyVersions").get("cryptoKeyVersions", []):
            if version["state"] not in _DESTROYED:
                self.api.call("POST", f"{self.session.kms}{version['name']}:destroy", {})
        if state.get("rotationPeriod"):
            self.api.call("PATCH", f"{url}?{urlencode({'updateMask': 'rotationPeriod,nextRotationTime'})}", {})

    def _body(self, planned: Properties) -> dict[str, Any]:
        fields = {name: rule for name, rule in self.table.fields.items() if not rule.output}
        body = expand(fields, known(planned))
        labels = planned.get("effectiveLabels")
        if labels and labels is not UNKNOWN:
            body["labels"] = labels
        if period := body.get("rotationPeriod"):
            next_time = datetime.now(UTC) + timedelta(seconds=float(period.removesuffix("s")))
            body["nextRotationTime"] = next_time.isoformat().replace("+00:00", "Z")
        return body
