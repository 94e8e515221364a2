"""What clusters and node pools name must exist and be usable: service accounts of nodes, and Cloud KMS keys.

https://docs.cloud.google.com/kubernetes-engine/docs/how-to/using-cmek and …/how-to/encrypting-secrets
"""

import re

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.handlers import IAM_POLICY
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.projects import service_agent
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

CRYPTO_KEY = "cloudkms.cryptoKeys"
SERVICE_ACCOUNT = "iam.serviceAccounts"

_NAME = re.compile(
    r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/keyRings/[^/]+/cryptoKeys/[A-Za-z0-9_-]{1,63}"
)
# roles/cloudkms.admin manages keys and may not use them (https://docs.cloud.google.com/kms/docs/reference/permissions-and-roles).
_ROLES = ("roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/owner")


def check_key(store: Store, project: str, name: str, region: str, agent: str) -> None:
    """Reject a key that the agent of `project` cannot use in `region`.

    The keys of other projects are not known here: only their location is checked. `agent` is the first part of the
    domain of the service agent's address.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise invalid(f'Cloud KMS key name "{name}" is malformed.')
    if match["location"] != region:
        raise invalid(f'Cloud KMS key "{name}" must be in location {region}.')
    if match["project"] != project:
        return
    if store.get(CRYPTO_KEY, name) is None:
        raise invalid(f'Cloud KMS key "{name}" was not found.')
    member = f"serviceAccount:{service_agent(project, agent)}"
    # A key inherits what its ring and its project grant.
    granting = (name, name.partition("/cryptoKeys/")[0], f"projects/{project}")
    policies = [store.get(IAM_POLICY, resource) for resource in granting]
    bindings = (binding for policy in policies if policy for binding in policy["bindings"])
    if not any(binding["role"] in _ROLES and member in binding["members"] for binding in bindings):
        # Not a failed precondition: clients would wait for it, and no one grants the role meanwhile.
        raise invalid(
            f"Cloud KMS key {name} is not usable: {member.partition(':')[2]} lacks permission "
            "cloudkms.cryptoKeyVersions.useToEncrypt."
        )


def may_exist(store: Store, project: str, email: str) -> bool:
    """Whether a service account of the project exists; those of Google and of other projects are not known here."""
    own = email.endswith(f"@{project}.iam.gserviceaccount.com")
    return not own or store.get(SERVICE_ACCOUNT, f"projects/{project}/serviceAccounts/{email}") is not None


def check_service_account(store: Store, project: str, pool: Json) -> None:
    """Reject a service account that does not exist."""
    email = PoolView(pool).service_account
    if not may_exist(store, project, email):
        raise invalid(
            f'The user does not have access to service account "{email}". '
            "Ask a project owner to grant you the iam.serviceAccountUser role on the service account."
        )


def check_boot_disk_key(store: Store, project: str, location: str, pool: Json) -> None:
    """Reject a key for boot disks that Compute Engine cannot use."""
    if key := PoolView(pool).config.get("bootDiskKmsKey"):
        check_key(store, project, str(key), region_of(location), "compute-system")
