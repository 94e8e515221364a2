"""Artifact Registry: repositories and their operations. The twin stores no image.

https://docs.cloud.google.com/artifact-registry/docs/reference/rest/v1/projects.locations.repositories
"""

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import Call, Handler, LongRunning
from tpuplane_twin.gcp.locations import regions
from tpuplane_twin.gcp.merge import mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json

_MULTI_REGIONS = ("us", "europe", "asia")
_STANDARD = "STANDARD_REPOSITORY"
_IMMUTABLE = ("format", "kmsKeyName", "mode", "name")


def _places() -> tuple[str, ...]:
    return (*regions(), *_MULTI_REGIONS)


def _locations(call: Call) -> Json:
    parent = f"projects/{call.params['projectsId']}/locations"
    return {"locations": [{"name": f"{parent}/{place}", "locationId": place} for place in _places()]}


class Repositories(LongRunning):
    """projects.locations.repositories."""

    kind, segment, label = "artifactregistry.repositories", "repositories", "Repository"
    prefix, verbs, policies = "artifactregistry.projects.locations.repositories", "create get list patch delete", True
    operations, types = "artifactregistry.projects.locations.operations", "google.devtools.artifactregistry.v1"

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method id, with the list of the locations."""
        return {**super().handlers(), "artifactregistry.projects.locations.list": _locations}

    def parent(self, call: Call) -> str:
        """The collection of a location; rejects a location that Artifact Registry does not have."""
        location = call.params["locationsId"]
        if location not in _places():
            raise invalid(f"Location {location} is not an Artifact Registry location.")
        return super().parent(call)

    def create(self, call: Call) -> Json:
        """Create a repository. The official provider writes the parameter as protobuf does."""
        wanted = call.query.get("repositoryId") or call.query.get("repository_id", "")
        name = self.new_name(call, "repository_id", wanted)
        if call.body.get("format", "FORMAT_UNSPECIFIED") == "FORMAT_UNSPECIFIED":
            raise invalid("The format of the repository must be specified.")
        location, project = call.params["locationsId"], call.params["projectsId"].replace(":", "/")
        kind = call.body["format"].lower()
        made: Json = {"mode": _STANDARD, **call.body, "name": name, "createTime": now()}
        if made["mode"] == "MODE_UNSPECIFIED":  # as gcloud sends it
            made["mode"] = _STANDARD
        made["registryUri"] = f"{location}-{kind}.pkg.dev/{project}/{wanted}"
        return self.begun(call, "Repository", self._keep(made))

    def patch(self, call: Call) -> Json:
        """Change the fields of the mask; a field of the mask that the body lacks is cleared."""
        before, mask = self.find(call), mask_paths(call.query.get("updateMask", ""))
        if not mask:
            raise invalid("The request has an empty update_mask.")
        for path in mask:
            if path.partition(".")[0] in _IMMUTABLE:
                raise invalid(f"Field {path} of a repository cannot be updated.")
        return self._keep(masked(before, call.body, mask))

    def _keep(self, made: Json) -> Json:
        remote = made["mode"] == "REMOTE_REPOSITORY"
        if remote != ("remoteRepositoryConfig" in made):
            raise invalid("A repository has remote_repository_config if and only if its mode is REMOTE_REPOSITORY.")
        for policy in made.get("cleanupPolicies", {}).values():
            if "mostRecentVersions" in policy and policy.get("action") != "KEEP":
                raise invalid("most_recent_versions may only be specified with a Keep action.")
        return self.put(made["name"], {**made, "updateTime": now()})
