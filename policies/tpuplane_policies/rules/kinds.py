"""The resource types that rules judge, as regular expressions over Pulumi's type tokens."""

from __future__ import annotations

CLUSTER = r"gcp:container/cluster:Cluster"
POOL = r"gcp:container/nodePool:NodePool"
NETWORK = r"gcp:compute/network:Network"
SUBNETWORK = r"gcp:compute/subnetwork:Subnetwork"
BUCKET = r"gcp:storage/bucket:Bucket"
PROJECT = r"gcp:organizations/project:Project"
IAM = r"gcp:projects/iAM(Member|Binding):IAM(Member|Binding)"
WIF_PROVIDER = r"gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
K8S_PROVIDER = r"pulumi:providers:kubernetes"
CRD = r"kubernetes:apiextensions\.k8s\.io/v1:CustomResourceDefinition"
COMPUTE_CLASS = r"kubernetes:cloud\.google\.com/v1:ComputeClass"
KUEUE = r"kubernetes:kueue\.x-k8s\.io/[^:]+:"
FLAVOR = KUEUE + "ResourceFlavor"
CLUSTER_QUEUE = KUEUE + "ClusterQueue"
LOCAL_QUEUE = KUEUE + "LocalQueue"
TOPOLOGY = KUEUE + "Topology"
ADMISSION_CHECK = KUEUE + "AdmissionCheck"
JOBSET = r"kubernetes:jobset\.x-k8s\.io/[^:]+:JobSet"
RAY = r"kubernetes:ray\.io/[^:]+:Ray(Cluster|Job|Service)"
NAMESPACE = r"kubernetes:core/v1:Namespace"
WORKLOAD = (
    r"kubernetes:core/v1:Pod",
    r"kubernetes:apps/v1:(Deployment|StatefulSet|DaemonSet|ReplicaSet)",
    r"kubernetes:batch/v1:(Job|CronJob)",
    JOBSET,
    RAY,
)
