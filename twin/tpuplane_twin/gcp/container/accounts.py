"""What nodes are given by name must exist: their service account, and the key of their boot disks."""

from __future__ import annotations

from tpuplane_twin.gcp.container.keys import check_key
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

SERVICE_ACCOUNT = "iam.serviceAccounts"


def check_service_account(store: Store, project: str, pool: Json) -> None:
    """Refuse a node service account of this project that is not there. Other projects' accounts are not known here."""
    email = str(pool["config"].get("serviceAccount", "default"))
    if not email.endswith(f"@{project}.iam.gserviceaccount.com"):
        return
    if store.get(SERVICE_ACCOUNT, f"projects/{project}/serviceAccounts/{email}") is None:
        raise invalid(
            f'The user does not have access to service account "{email}". '
            "Ask a project owner to grant you the iam.serviceAccountUser role on the service account."
        )


def check_boot_disk_key(store: Store, project: str, location: str, pool: Json) -> None:
    """Refuse a key for boot disks that Compute Engine cannot use."""
    key = pool["config"].get("bootDiskKmsKey")
    if key:
        check_key(store, project, str(key), region_of(location), "compute-system")
