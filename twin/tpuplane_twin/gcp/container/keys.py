"""Cloud KMS keys that clusters and node pools name: there, usable, in the right region, and open to Google's agent.

https://docs.cloud.google.com/kubernetes-engine/docs/how-to/using-cmek and …/how-to/encrypting-secrets
"""

from __future__ import annotations

import re

from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.projects import IAM_POLICY, service_agent
from tpuplane_twin.gcp.store import Store

CRYPTO_KEY = "cloudkms.cryptoKeys"

_NAME = re.compile(
    r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/keyRings/[^/]+/cryptoKeys/[A-Za-z0-9_-]{1,63}"
)
# roles/cloudkms.admin manages keys and may not use them (https://docs.cloud.google.com/kms/docs/reference/permissions-and-roles).
_ROLES = ("roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/owner")


def check_key(store: Store, project: str, name: str, region: str, agent: str) -> None:
    """Refuse a key that the agent of `project` cannot use for something in `region`.

    Keys of other projects are not known here: of them only the location is checked. `agent` is the first part of the
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
        # Clients wait for a precondition to come true by itself; nobody grants this one meanwhile.
        raise invalid(
            f"Cloud KMS key {name} is not usable: {member.partition(':')[2]} lacks permission "
            "cloudkms.cryptoKeyVersions.useToEncrypt."
        )
