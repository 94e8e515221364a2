"""Cloud Storage: buckets, their IAM policies, and the names of their objects, without contents.

https://docs.cloud.google.com/storage/docs/json_api/v1
"""

import re

from tpuplane.data_files import formatted

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, invalid, not_found
from tpuplane_twin.gcp.handlers import Call, Collection, Handler
from tpuplane_twin.gcp.locations import regions
from tpuplane_twin.gcp.merge import at, etag_of, overlay
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.projects import project_number, service_agent
from tpuplane_twin.gcp.schema import Json

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL", "RAPID")
_MULTI_REGIONS = ("US", "EU", "ASIA")
# https://docs.cloud.google.com/storage/docs/locations#predefined
_DUAL_REGIONS = ("ASIA1", "EUR4", "EUR5", "EUR7", "EUR8", "NAM4")
_WEEK = 7 * 86400  # seconds
_LONGEST_SOFT_DELETE = 90 * 86400
_FIXED = ("location", "customPlacementConfig", "hierarchicalNamespace", "name")


class Buckets(Collection):
    """b. A name is that of one bucket in all of Google Cloud."""

    kind = prefix = "storage.buckets"
    verbs, policies = "insert get list patch delete", True

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id, with those of the layout and the service agent."""
        return {
            **super().handlers(),
            f"{self.prefix}.getStorageLayout": lambda call: {**self.find(call), "bucket": call.params["bucket"]},
            "storage.projects.serviceAccount.get": lambda call: {
                "email_address": service_agent(call.params["projectId"], "gs-project-accounts")
            },
        }

    def insert(self, call: Call) -> Json:
        """Create a bucket in a project."""
        project, name = call.query.get("project", ""), str(call.body.get("name", ""))
        if not project:
            raise invalid("Required parameter: project", reason="required")
        if not _NAME.fullmatch(name) or name.startswith("goog"):
            raise invalid(f"Invalid bucket name: '{name}'")
        if taken := self._key(name):
            own = taken.startswith(f"projects/{project}/")
            words = (
                "Your previous request to create the named bucket succeeded and you already own it."
                if own
                else "The requested bucket name is not available. The bucket namespace is shared by all users of the"
                " system. Please select a different name and try again."
            )
            raise ApiError("ALREADY_EXISTS", words, reason="conflict")
        location = str(call.body.get("location", "US")).upper()
        if location.lower() not in regions() and location not in (*_MULTI_REGIONS, *_DUAL_REGIONS):
            raise invalid(f"The specified location constraint is not valid: {location}", reason="invalid")
        placed = at(call.body, "customPlacementConfig.dataLocations")
        if placed is not None and (location not in _MULTI_REGIONS or len(placed) != 2):
            raise invalid("A custom placement needs a multi-region as location, and two regions.", reason="invalid")
        dual = location in _DUAL_REGIONS or placed is not None
        where = "dual-region" if dual else "multi-region" if location in _MULTI_REGIONS else "region"
        facts = {"name": name, "number": project_number(project), "where": where, "now": now()}
        made = overlay(formatted(data("defaults")["bucket"], facts), {**call.body, "location": location})
        if call.query.get("enableObjectRetention") == "true":
            made["objectRetention"] = {"mode": "Enabled"}
        return self._put(f"projects/{project}/buckets/{name}", made)

    def list(self, call: Call) -> Json:
        """The buckets of a project whose names begin with `prefix`."""
        found = self._store.values(self.kind, f"projects/{call.query.get('project', '')}/buckets")
        return {"items": [bucket for bucket in found if bucket["name"].startswith(call.query.get("prefix", ""))]}

    def patch(self, call: Call) -> Json:
        """Change the fields in the body; null clears one."""
        found = self.find(call)
        changed = overlay(found, call.body)
        for field in _FIXED:
            if changed.get(field) != found.get(field):
                raise invalid(f"The {field} of a bucket cannot be changed.", reason="invalid")
        changed["metageneration"] += 1
        return self._put(self.existing(call), changed)

    def delete(self, call: Call) -> Json:
        """Delete an empty bucket, and its policy."""
        key = self.existing(call)
        if self._store.items(Objects.kind, f"{key}/o"):
            raise ApiError("ALREADY_EXISTS", "The bucket you tried to delete is not empty.", reason="conflict")
        return super().delete(call)

    def existing(self, call: Call) -> str:
        """The key of the bucket that the path names; 404 if it does not exist."""
        key = self._key(call.params["bucket"])
        if key is None:
            raise not_found("The specified bucket does not exist.")
        return key

    def _key(self, name: str) -> str | None:
        return next((key for key, bucket in self._store.items(self.kind) if bucket["name"] == name), None)

    def _put(self, key: str, bucket: Json) -> Json:
        cleared = {field: data("defaults")["bucket"][field] for field in ("storageClass", "iamConfiguration")}
        bucket = overlay(cleared, bucket)  # null in a request stands for the default
        bucket["storageClass"] = _class(bucket["storageClass"])
        kept = int(at(bucket, "softDeletePolicy.retentionDurationSeconds", _WEEK))
        if kept and not _WEEK <= kept <= _LONGEST_SOFT_DELETE:
            raise invalid("The soft delete retention duration must be 0, or from 7 to 90 days.", reason="invalid")
        uniform = at(bucket, "iamConfiguration.uniformBucketLevelAccess.enabled")
        if at(bucket, "hierarchicalNamespace.enabled"):
            if not uniform:
                raise invalid("Hierarchical namespace requires uniform bucket-level access.", reason="invalid")
            if at(bucket, "versioning.enabled"):
                raise invalid("Object versioning is not supported with hierarchical namespace.", reason="invalid")
        bucket["iamConfiguration"]["bucketPolicyOnly"] = {"enabled": bool(uniform)}
        if bucket.get("rpo") == "ASYNC_TURBO" and bucket["locationType"] != "dual-region":
            raise invalid("Turbo replication needs a dual-region.", reason="invalid")
        if bucket["locationType"] != "region":
            bucket.setdefault("rpo", "DEFAULT")
        if "logging" in bucket:
            bucket["logging"].setdefault("logObjectPrefix", bucket["name"])
        bucket["updated"] = now()
        return self.put(key, {**bucket, "etag": etag_of([key, bucket["metageneration"]])})


def _class(given: str) -> str:
    """A storage class of a request, which accepts any case.

    https://github.com/googleapis/google-cloud-node/pull/2001
    """
    if (found := given.upper()) not in _CLASSES:
        raise invalid(f"Invalid storage class: {given}", reason="invalid")
    return found


class Objects(Collection):
    """b.o: what keeps a bucket from being deleted."""

    kind = prefix = "storage.objects"
    segment, verbs = "items", "insert get list delete"

    def insert(self, call: Call) -> Json:
        """Record an object with the name of the query, or of the body."""
        parent, name = self.parent(call), call.query.get("name") or str(call.body.get("name", ""))
        if not name:
            raise invalid("Required", reason="required")
        made = {"name": name, "bucket": call.params["bucket"], "generation": 1, "timeCreated": now()}
        if given := call.body.get("storageClass"):
            made["storageClass"] = _class(given)
        return self.put(f"{parent}/{name}", overlay(call.body, made))

    def list(self, call: Call) -> Json:
        """The objects whose names begin with `prefix`. `prefixes` has the starts of those with `delimiter` after it."""
        prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
        items: list[Json] = []
        prefixes: dict[str, None] = {}
        for found in self._store.values(self.kind, self.parent(call)):
            name = found["name"]
            if name.startswith(prefix):
                head, cut, _ = name[len(prefix) :].partition(delimiter) if delimiter else (name, "", "")
                if cut:
                    prefixes[prefix + head + cut] = None
                else:
                    items.append(found)
        return {"items": items, "prefixes": [*prefixes]}

    def parent(self, call: Call) -> str:
        """The objects of a bucket, which must exist."""
        return f"{Buckets(self._store).existing(call)}/o"

    def name(self, call: Call) -> str:
        """The key of an object."""
        return f"{self.parent(call)}/{call.params['object']}"
