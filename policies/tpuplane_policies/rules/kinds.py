"""The resource types that rules judge, as regular expressions over Pulumi's type tokens."""

from __future__ import annotations

NETWORK = r"gcp:compute/network:Network"
SUBNETWORK = r"gcp:compute/subnetwork:Subnetwork"
PROXIES = ("INTERNAL_HTTPS_LOAD_BALANCER", "REGIONAL_MANAGED_PROXY", "GLOBAL_MANAGED_PROXY")
"""Purposes of subnetworks that hold no machines."""
INSTANCE = r"gcp:compute/instance:Instance"
BUCKET = r"gcp:storage/bucket:Bucket"
BUCKET_IAM = r"gcp:storage/bucketIAM(Member|Binding):BucketIAM(Member|Binding)"
BUCKET_ACL = r"gcp:storage/(bucketAccessControl|defaultObjectAccessControl):.*"
PROJECT = r"gcp:organizations/project:Project"
IAM = r"gcp:projects/iAM(Member|Binding):IAM(Member|Binding)"
IAM_ABOVE = r"gcp:(folder|organizations)/iAM(Member|Binding):IAM(Member|Binding)"
"""Bindings on folders and organizations, which hold for every project below."""
WIF_PROVIDER = r"gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
K8S_PROVIDER = r"pulumi:providers:kubernetes"
CRD = r"kubernetes:apiextensions\.k8s\.io/v1:CustomResourceDefinition"
CHART = r"kubernetes:helm\.sh/v[34]:(Release|Chart)"
WEBHOOK = r"kubernetes:admissionregistration\.k8s\.io/v1:MutatingWebhookConfiguration"
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
LEADER_WORKER_SET = r"kubernetes:leaderworkerset\.x-k8s\.io/[^:]+:LeaderWorkerSet"
WORKLOAD = (
    r"kubernetes:core/v1:(Pod|PodTemplate|ReplicationController)",
    r"kubernetes:(apps|extensions)/[^:]+:(Deployment|StatefulSet|DaemonSet|ReplicaSet)",
    r"kubernetes:batch/[^:]+:(Job|CronJob)",
    JOBSET,
    RAY,
    LEADER_WORKER_SET,
)
SERVICE = r"kubernetes:core/v1:Service"
NAMESPACED = (
    *WORKLOAD,
    SERVICE,
    r"kubernetes:core/v1:(Secret|ServiceAccount|ConfigMap)",
    r"kubernetes:rbac\.authorization\.k8s\.io/[^:]+:(Role|RoleBinding)",
    r"kubernetes:(networking\.k8s\.io|extensions)/[^:]+:Ingress",
    LOCAL_QUEUE,
)
"""What is in a namespace, and not in all of the cluster."""
