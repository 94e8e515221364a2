# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Cloud Storage: buckets, and members of their IAM policies."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tpuplane_standins.providers.contract import Properties, ProviderError
from tpuplane_standins.providers.gcp.api import Deadline, existing
from tpuplane_standins.providers.gcp.resources.base import Update, touched
from tpuplane_standins.providers.gcp.resources.iam_member import POLICY_VERSION, IamMember, Policy
from tpuplane_standins.providers.gcp.resources.rest import Call, Labelled

_LABELS = "effectiveLabels"


class Bucket(Labelled):
    """A bucket; its id is its name. It is patched with the fields that changed."""

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        planned = super().plan(inputs, prior)
        if isinstance(planned.get("location"), str):
            planned["location"] = planned["location"].upper()
        return planned

    def query(self, planned: Properties) -> dict[str, str]:
        return {"project": self.need_project(planned)}

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return str(properties["name"])

    def path(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        return f"b/{resource_id}"

    def calls(self, update: Update) -> Iterator[Call]:
        changed = {name for name in self.table.fields if touched(update.changed, name)}
        if changed & {"uniformBucketLevelAccess", "publicAccessPrevention"}:
            changed |= {"uniformBucketLevelAccess", "publicAccessPrevention"}
        body = self.body({name: value for name, value in update.planned.items() if name in changed})
        if "lifecycleRules" in changed:
            body.setdefault("lifecycle", {"rule": []})
        if _LABELS in changed:
            gone = dict.fromkeys((update.prior.get(_LABELS) or {}).keys() - body.get("labels", {}).keys())
            body["labels"] = {**body.get("labels", {}), **gone}
        yield "PATCH", "", body

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        """Delete an empty bucket, or one with `forceDestroy` after its objects."""
        objects = f"{self.url(self.path(resource_id, state))}/o"
        query = urlencode({"versions": "true"})
        while found := (existing(lambda: self.api.call("GET", f"{objects}?{query}")) or {}).get("items"):
            if not state.get("forceDestroy"):
                raise ProviderError(
                    f"Error trying to delete bucket {resource_id} containing objects"
                    " without `force_destroy` set to true"
                )
            for item in found:
                self.api.call(
                    "DELETE",
                    f"{objects}/{quote(item['name'], safe='')}?{urlencode({'generation': item['generation']})}",
                )
        super().delete(resource_id, state, deadline)

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = super().state({"hierarchicalNamespace": {"enabled": False}, **found}, prior)
        for rule in state.get("lifecycleRules", ()):
            rule["condition"]["withState"] = "ANY"
        return {**state, "url": f"gs://{found['name']}", "forceDestroy": bool(prior.get("forceDestroy"))}


class BucketIamMember(IamMember):
    """A (role, member, condition) of a bucket; its id is `b/NAME/role/member`."""

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        return super().create({**planned, "bucket": self._target(planned)}, deadline)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        return super().read(resource_id, {**prior, "bucket": self._target(prior)})

    def _target(self, properties: Mapping[str, Any]) -> str:
        return f"b/{str(properties['bucket']).removeprefix('b/')}"

    def _policy(self, target: str) -> Policy:
        query = {"optionsRequestedPolicyVersion": str(POLICY_VERSION)}
        return dict(self.api.call("GET", self.url(f"{target}/iam"), query=query))

    def _set_policy(self, target: str, policy: Policy) -> None:
        self.api.call("PUT", self.url(f"{target}/iam"), policy)
