"""Cloud KMS keys of a cluster: a key ring of its own, and Google's service agents as their only users."""

from typing import Final, TypedDict

import pulumi
import pulumi_gcp as gcp

from tpuplane.plan import KeyPlan
from tpuplane.plan.cluster_options import BOOT_DISK_KEY, SECRETS_KEY

_ROLE: Final = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_ROTATION: Final = "7776000s"  # 90 days, CIS Google Cloud 1.10


class ClusterKeysArgs(TypedDict):
    """Arguments of `ClusterKeys`."""

    project: pulumi.Input[str]
    """Project of the cluster and of the keys. A change replaces the keys."""

    region: str
    """Region of the cluster: GKE takes no key from elsewhere. A change replaces the keys."""

    names: tuple[str, ...]
    """Names of the keys, of the plan. A new name is a new key."""

    protected: bool
    """Whether Pulumi rejects deleting a key, as it does with its cluster: what a key has encrypted is lost with it."""


class ClusterKeys(pulumi.ComponentResource):
    """Keys that are rotated every 90 days, each usable by the one service agent that needs it.

    Google never deletes a key ring's name, so that the ring's name is a new one each time (Pulumi's auto-naming): a
    stack that was destroyed can be made again. Destroying a key schedules its versions for destruction in 30 days.
    """

    keys: dict[str, gcp.kms.CryptoKey]
    """Keys by their name in the plan."""

    def __init__(self, name: str, args: ClusterKeysArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpuplane:index:ClusterKeys", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        project = args["project"]
        # Makes the agent where the project has none yet, and shows the project's number.
        gke = gcp.projects.ServiceIdentity(name, project=project, service="container.googleapis.com", opts=own).email
        users = {SECRETS_KEY: gke, BOOT_DISK_KEY: gke.apply(_compute_agent)}
        ring = gcp.kms.KeyRing(name, project=project, location=args["region"], opts=own)
        self.keys = {}
        for key in args["names"]:
            self.keys[key] = gcp.kms.CryptoKey(
                f"{name}-{key}",
                name=key,
                key_ring=ring.id,
                rotation_period=_ROTATION,
                opts=pulumi.ResourceOptions(parent=self, protect=args["protected"] or None),
            )
            gcp.kms.CryptoKeyIAMMember(
                f"{name}-{key}",
                crypto_key_id=self.keys[key].id,
                role=_ROLE,
                member=pulumi.Output.concat("serviceAccount:", users[key]),
                opts=own,
            )
        self.register_outputs({"keys": {key: made.id for key, made in self.keys.items()}})


def key_id(plan: KeyPlan | None, made: ClusterKeys | None) -> pulumi.Input[str] | None:
    """Full resource name of a key, new or existing; None where Google's own is enough."""
    if plan is None:
        return None
    if plan.existing is not None:
        return plan.existing
    if made is None or plan.name is None:
        raise ValueError("the plan wants a key that was not made")
    made_id: pulumi.Output[str] = made.keys[plan.name].id
    return made_id


def _compute_agent(gke_agent: str) -> str:
    """Compute Engine's service agent, whose address differs from GKE's in the domain alone."""
    return f"{gke_agent.partition('@')[0]}@compute-system.iam.gserviceaccount.com"
