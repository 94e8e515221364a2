"""Service accounts (IAM), and policies of projects (Resource Manager).

https://docs.cloud.google.com/iam/docs/service-accounts-create and https://docs.cloud.google.com/iam/docs/reference/rest/v1/Policy
"""

import hashlib
import re
from collections.abc import Callable

from tpuplane_twin.gcp.container.access_rules import SERVICE_ACCOUNT, may_exist
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, already_exists, invalid, not_found
from tpuplane_twin.gcp.handlers import IAM_POLICY, Call, Collection, Handler
from tpuplane_twin.gcp.merge import etag_of, mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.projects import described
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

_ACCOUNT_ID = re.compile(r"[a-z](?:[-a-z0-9]{4,28}[a-z0-9])")
_CHANGEABLE = ("displayName", "description")
_PUBLIC = ("allUsers", "allAuthenticatedUsers")


def identity_handlers(store: Store) -> dict[str, Handler]:
    """Handlers of the policies of projects by method id."""
    prefix = "cloudresourcemanager.projects"
    return {
        # The caller has every permission.
        f"{prefix}.testIamPermissions": lambda call: {"permissions": call.body.get("permissions", [])},
        **policy_methods(prefix, Policies(store), lambda call: f"projects/{call.params['resource']}"),
    }


def give_default_account(store: Store, project: str) -> None:
    """Create Compute Engine's default account in a project that is new to the twin.

    https://docs.cloud.google.com/compute/docs/access/service-accounts#default_service_account.
    Once deleted it stays deleted.
    """
    email = described("compute", project)["defaultServiceAccount"]
    ServiceAccounts(store).make(project, email, {"displayName": "Compute Engine default service account"})


def policy_methods(prefix: str, policies: "Policies", existing: Callable[[Call], str]) -> dict[str, Handler]:
    """Handlers that read and replace the IAM policy of a resource; `existing` is its name, by the request's path."""
    return {
        f"{prefix}.getIamPolicy": lambda call: policies.get(existing(call)),
        f"{prefix}.setIamPolicy": lambda call: policies.set(existing(call), call.body),
    }


class ServiceAccounts(Collection):
    """projects.serviceAccounts. A path names an account by its email or unique id; the project may be "-"."""

    kind, segment, prefix = SERVICE_ACCOUNT, "serviceAccounts", "iam.projects.serviceAccounts"
    verbs, policies = "create get list patch delete disable enable", True

    def create(self, call: Call) -> Json:
        """Create an account; its email is its name."""
        project = call.params["projectsId"]
        account_id = str(call.body.get("accountId", ""))
        if not _ACCOUNT_ID.fullmatch(account_id):
            raise invalid(
                f'Invalid service account ID "{account_id}": it must have 6 to 30 lowercase letters, digits and'
                " hyphens, start with a letter, and not end with a hyphen."
            )
        email = f"{account_id}@{project}.iam.gserviceaccount.com"
        if self._store.get(self.kind, f"projects/{project}/serviceAccounts/{email}") is not None:
            raise already_exists(f"Service account {account_id} already exists within project projects/{project}.")
        return self.make(project, email, call.body.get("serviceAccount", {}))

    def make(self, project: str, email: str, asked: Json) -> Json:
        """Create the account of an email."""
        key = f"projects/{project}/serviceAccounts/{email}"
        unique = "1" + str(int(hashlib.sha256(f"{key} {now()}".encode()).hexdigest(), 16))[:20]
        account: Json = {
            **{field: asked[field] for field in _CHANGEABLE if field in asked},
            "name": key,
            "projectId": project,
            "uniqueId": unique,
            "email": email,
            "oauth2ClientId": unique,
        }
        return self._put(key, account)

    def list(self, call: Call) -> Json:
        """The accounts of a project."""
        return {"accounts": self._store.values(self.kind, self.parent(call))}

    def patch(self, call: Call) -> Json:
        """Change display name and description, as far as the mask names them."""
        account = self.find(call)
        asked: Json = call.body.get("serviceAccount", {})
        mask = mask_paths(call.body.get("updateMask", "")) or list(asked)
        for path in mask:
            if path not in _CHANGEABLE and path not in ("etag", "name"):
                raise invalid(f"Invalid update mask path: {path}.")
        return self._put(account["name"], masked(account, asked, (path for path in mask if path in _CHANGEABLE)))

    def delete(self, call: Call) -> Json:
        """Delete an account and its own policy. Other policies then name it as deleted."""
        account = self.find(call)
        member = f"serviceAccount:{account['email']}"
        Policies(self._store).rename(member, f"deleted:{member}?uid={account['uniqueId']}")
        return super().delete(call)

    def disable(self, call: Call) -> Json:
        """Disable an account. Node pools can still use it here."""
        self._put(self.existing(call), {**self.find(call), "disabled": True})
        return {}

    def enable(self, call: Call) -> Json:
        """Enable an account again."""
        account = self.find(call)
        account.pop("disabled", None)
        self._put(account["name"], account)
        return {}

    def existing(self, call: Call) -> str:
        """Resource name of the account that the path names; 404 if it does not exist."""
        project, wanted = call.params["projectsId"], call.params["serviceAccountsId"]
        parent = "" if project == "-" else f"projects/{project}"
        for key, account in self._store.items(self.kind, parent):
            if wanted in (account["email"], account["uniqueId"]):
                return key
        raise not_found(f"Unknown service account: projects/{project}/serviceAccounts/{wanted}")

    def _put(self, key: str, account: Json) -> Json:
        return self.put(key, {**account, "etag": etag_of(account)})


def _version(bindings: list[Json]) -> int:
    """Google's version of a policy with these bindings."""
    return 3 if any(binding.get("condition") for binding in bindings) else 1


class Policies:
    """IAM policies of projects and service accounts, changed by read-modify-write with etags."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, resource: str) -> Json:
        """The policy, empty until one is set."""
        policy = self._store.get(IAM_POLICY, resource) or {"bindings": []}
        policy = {**policy, "version": _version(policy["bindings"])}
        return {**policy, "etag": etag_of([resource, policy])}

    def set(self, resource: str, body: Json) -> Json:
        """Replace the policy; an etag must be the newest. Some services also take it as the whole body."""
        asked: Json = body.get("policy", body)
        etag = asked.get("etag")
        if etag and etag != self.get(resource)["etag"]:
            raise ApiError(
                "ABORTED",
                "There were concurrent policy changes. Please retry the whole read-modify-write with exponential"
                f" backoff. The request's ETag '{etag}' did not match the current policy's ETag"
                f" '{self.get(resource)['etag']}'.",
            )
        policy = {field: value for field, value in asked.items() if field != "etag"}
        policy["bindings"] = [binding for binding in policy.get("bindings", []) if binding.get("members")]
        version = policy.get("version", 0)
        policy["version"] = _version(policy["bindings"])
        # Without an etag, a policy of an older version replaces one with conditions.
        needed = max(policy["version"], self.get(resource)["version"] if etag else 1)
        if version not in (0, 1, 3) or (needed == 3 and version != 3):
            allowed = "3, because the former or the new policy has conditions" if needed == 3 else "0, 1 and 3"
            raise invalid(f"Policy version {version} is not valid; allowed: {allowed}.")
        for binding in policy["bindings"]:
            self._check(resource.split("/")[1], binding)
        self._store.put(IAM_POLICY, resource, policy)
        return self.get(resource)

    def rename(self, member: str, new: str) -> None:
        """Rename a member in every policy."""
        for resource, policy in self._store.items(IAM_POLICY):
            found = [binding for binding in policy["bindings"] if member in binding["members"]]
            for binding in found:
                binding["members"] = [new if present == member else present for present in binding["members"]]
            if found:
                self._store.put(IAM_POLICY, resource, policy)

    def _check(self, project: str, binding: Json) -> None:
        role = str(binding.get("role", ""))
        if not re.fullmatch(r"(roles|projects/[^/]+/roles|organizations/[^/]+/roles)/[\w.]+", role):
            raise invalid(f"Role {role} is not supported for this resource.")
        for member in binding["members"]:
            kind, _, identity = member.partition(":")
            if member not in _PUBLIC and (kind not in data("kinds")["members"] or not identity):
                kinds = ", ".join([*sorted(_PUBLIC), *(f"{known}:…" for known in data("kinds")["members"])])
                raise invalid(f"The member {member} is not valid; allowed: {kinds}.")
            if kind == "serviceAccount" and not may_exist(self._store, project, identity):
                raise invalid(f"Service account {identity} does not exist.")
