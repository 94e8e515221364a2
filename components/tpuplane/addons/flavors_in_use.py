"""Protection of running workloads: a cluster queue keeps a flavor while its workloads use quota of that flavor."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.data_files import read_data
from tpuplane.gke.resource_options import after

NAME = "tpuplane-flavors-in-use"


def keep_flavors_in_use(name: str, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """Make the API server reject the removal of a flavor in use from a queue. `name` is the name in Pulumi."""
    policy = kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
        name, metadata={"name": NAME}, spec=read_data("tpuplane.addons", "flavors_in_use"), opts=opts
    )
    return kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
        f"{name}-binding",
        metadata={"name": NAME},
        spec={"policy_name": NAME, "validation_actions": ["Deny"]},
        opts=after(opts, [policy]),
    )
