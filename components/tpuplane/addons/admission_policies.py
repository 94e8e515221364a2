"""Rules of the API server that protect running work from changes to its queue and from missing requests."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.data_files import read_data
from tpuplane.gke.resource_options import after


def admission_policy(name: str, rule: str, action: str, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """Make the API server reject what breaks a rule of `data`, or warn of it. `name` is the prefix in Pulumi."""
    resource, inside = f"{name}-{rule}", f"tpuplane-{rule}"
    policy = kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
        resource, metadata={"name": inside}, spec=read_data("tpuplane.addons", rule.replace("-", "_")), opts=opts
    )
    return kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
        f"{resource}-binding",
        metadata={"name": inside},
        spec={"policy_name": inside, "validation_actions": [action]},
        opts=after(opts, [policy]),
    )
