"""Cloud KMS keys of a cluster: a separate key ring, which only Google's service agents can use."""

from typing import Final

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan import ClusterPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY

_ROLE: Final = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_ROTATION: Final = "7776000s"  # 90 days, CIS Google Cloud 1.10


class ClusterKeys(pulumi.ComponentResource):
    """Keys with rotation every 90 days. Only the service agent that needs a key can use it.

    Google never deletes the name of a key ring. Pulumi's auto-naming gives the ring a new name each time, so that a
    destroyed stack can be created again. A destroyed key schedules its versions for destruction in 30 days.
    """

    keys: dict[str, gcp.kms.CryptoKey]
    """Keys by their name in the plan."""

    def __init__(self, name: str, plan: ClusterPlan, project: pulumi.Input[str], opts: pulumi.ResourceOptions) -> None:
        """Create the keys of a plan, in the cluster's region, because GKE supports only keys of this region.

        With `deletionProtection` Pulumi rejects the deletion of a key, because encrypted data is lost without its key.
        """
        super().__init__("tpuplane:index:ClusterKeys", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        # Creates the service agent if the project has none, and returns its address.
        gke = gcp.projects.ServiceIdentity(name, project=project, service="container.googleapis.com", opts=own).email
        # Only the domain of the address of Compute Engine's service agent differs from that of GKE's agent.
        compute = gke.apply(lambda agent: f"{agent.partition('@')[0]}@compute-system.iam.gserviceaccount.com")
        users = {SECRETS_KEY: gke, BOOT_DISK_KEY: compute}
        ring = gcp.kms.KeyRing(name, project=project, location=plan.region, opts=own)
        self.keys = {}
        for key in plan.own_keys:
            self.keys[key] = gcp.kms.CryptoKey(
                f"{name}-{key}",
                name=key,
                key_ring=ring.id,
                rotation_period=_ROTATION,
                opts=pulumi.ResourceOptions(parent=self, protect=plan.deletion_protection or None),
            )
            gcp.kms.CryptoKeyIAMMember(
                f"{name}-{key}",
                crypto_key_id=self.keys[key].id,
                role=_ROLE,
                member=pulumi.Output.concat("serviceAccount:", users[key]),
                opts=own,
            )
        self.register_outputs({"keys": {key: made.id for key, made in self.keys.items()}})
