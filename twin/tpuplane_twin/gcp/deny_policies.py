"""Deny policies of projects (IAM v2), which take permissions from the caller; without one, the caller has all.

https://docs.cloud.google.com/iam/docs/deny-overview. Only `testIamPermissions` respects them: no request is rejected.
"""

from urllib.parse import unquote

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import Call, Collection, Handler
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store


def permission_handlers(store: Store) -> dict[str, Handler]:
    """Handlers by method id."""
    policies = _DenyPolicies(store)
    return {
        "cloudresourcemanager.projects.testIamPermissions": policies.test,
        "iam.policies.createPolicy": policies.create,
        "iam.policies.delete": policies.delete,
        "iam.policies.get": policies.get,
        "iam.policies.listPolicies": policies.list,
    }


class _DenyPolicies(Collection):
    kind, segment, label = "denyPolicy", "policies", "Policy"

    def parent(self, call: Call) -> str:
        return f"policies/{unquote(call.params['policiesId'])}/{call.params['policiesId1']}"

    def name(self, call: Call) -> str:
        return f"{self.parent(call)}/{call.params['policiesId2']}"

    def create(self, call: Call) -> Json:
        """Attach a policy to a project."""
        name = f"{self.parent(call)}/{call.query['policyId']}"
        self.check_new(name)
        self.put(name, {**call.body, "name": name, "kind": "DenyPolicy"})
        return {"name": f"{name}/operations/finished", "done": True}

    def delete(self, call: Call) -> Json:
        """Detach a policy."""
        super().delete(call)
        return {"name": f"{self.name(call)}/operations/finished", "done": True}

    def test(self, call: Call) -> Json:
        """Those of the permissions that no policy denies."""
        asked: list[str] = call.body.get("permissions", [])
        if bad := [it for it in asked if it.count(".") < 2]:
            raise invalid(f"Permission {bad[0]} is not valid for this resource.")
        parent = f"policies/cloudresourcemanager.googleapis.com/projects/{call.params['resource']}/denypolicies"
        rules = [rule["denyRule"] for it in self._store.values(self.kind, parent) for rule in it.get("rules", [])]
        denied = {permission for rule in rules for permission in rule.get("deniedPermissions", [])}
        return {"permissions": [it for it in asked if _full(it) not in denied]}


def _full(permission: str) -> str:
    """A permission as policies have it: container.clusters.create is container.googleapis.com/clusters.create."""
    service, _, rest = permission.partition(".")
    return f"{'cloudresourcemanager' if service == 'resourcemanager' else service}.googleapis.com/{rest}"
