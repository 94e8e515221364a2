"""Protection of running workloads: a cluster queue keeps a flavor while its workloads use quota of that flavor."""

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.gke.resource_options import after

NAME = "tpuplane-flavors-in-use"

# Kueue accepts the removal and no longer counts the workloads, so it would assign their slices a second time.
_LOST = (
    "oldObject.?status.flavorsReservation.orValue([])"
    ".filter(flavor, flavor.resources.exists(it, string(it.total) != '0')"
    " && !object.spec.?resourceGroups.orValue([])"
    ".exists(group, group.flavors.exists(it, it.name == flavor.name)))"
    ".map(flavor, flavor.name)"
)
_MESSAGE = (
    "'work in this queue holds quota of ' + variables.lost.join(', ') + ', which the change takes from the queue; "
    "let that work end, or delete it, and repeat the change'"
)


def keep_flavors_in_use(name: str, opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """Make the API server reject the removal of a flavor in use from a queue. `name` is the name in Pulumi."""
    rule: kubernetes.admissionregistration.v1.NamedRuleWithOperationsArgsDict = {
        "api_groups": ["kueue.x-k8s.io"],
        "api_versions": ["*"],
        "operations": ["UPDATE"],
        "resources": ["clusterqueues"],
    }
    policy = kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
        name,
        metadata={"name": NAME},
        spec={
            "match_constraints": {"resource_rules": [rule]},
            "variables": [{"name": "lost", "expression": _LOST}],
            "validations": [{"expression": "variables.lost.size() == 0", "message_expression": _MESSAGE}],
        },
        opts=opts,
    )
    return kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
        f"{name}-binding",
        metadata={"name": NAME},
        spec={"policy_name": NAME, "validation_actions": ["Deny"]},
        opts=after(opts, [policy]),
    )
