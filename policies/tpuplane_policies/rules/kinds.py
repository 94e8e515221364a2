"""The resource types that rules check, as regular expressions for Pulumi's type tokens."""

TPU_VM = r"gcp:tpu/v2Vm:V2Vm"
QUEUED_TPU_VMS = r"gcp:tpu/v2QueuedResource:V2QueuedResource"
TPU_NODE = r"gcp:tpu/node:Node"
"""A Cloud TPU of the earlier API."""
SUBNETWORK = r"gcp:compute/subnetwork:Subnetwork"
ACL = r"gcp:storage/(bucketACL|objectACL|defaultObjectACL|(bucket|object|defaultObject)AccessControl):.*"
DATASET = r"gcp:bigquery/dataset(Access)?:.*"
"""Datasets of BigQuery, which have access lists."""
IAM = r"gcp:projects/iAM(Member|Binding|Policy):.*"
IAM_ABOVE = r"gcp:(folder|organizations)/iAM(Member|Binding|Policy):.*"
"""Grants on folders and organizations, which apply to all of their projects."""
IAM_ANY = r"gcp:[^:]*[iI](am|AM)(Member|Binding|Policy):.*"
"""Grants on resources of any type, also on projects, folders and organizations."""
WIF_PROVIDER = r"gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
ACCOUNT_KEY = r"gcp:serviceaccount/key:Key"
CRYPTO_KEY = r"gcp:kms/cryptoKey:CryptoKey"
FIREWALL = r"gcp:compute/firewall:Firewall"
FIREWALL_POLICY = r"gcp:compute/(firewall|networkFirewall|regionNetworkFirewall)Policy(Rule|WithRules):.*"
CRD = r"kubernetes:apiextensions\.k8s\.io/v1:CustomResourceDefinition"
RELEASE = r"kubernetes:helm\.sh/v3:Release"
CHART = r"kubernetes:helm\.sh/v[34]:(Release|Chart)"
WEBHOOK = r"kubernetes:admissionregistration\.k8s\.io/v1:MutatingWebhookConfiguration"
COMPUTE_CLASS = r"kubernetes:cloud\.google\.com/v1:ComputeClass"
KUEUE = r"kubernetes:kueue\.x-k8s\.io/[^:]+:"
FLAVOR = KUEUE + "ResourceFlavor"
CLUSTER_QUEUE = KUEUE + "ClusterQueue"
COHORT = KUEUE + "Cohort"
LOCAL_QUEUE = KUEUE + "LocalQueue"
TOPOLOGY = KUEUE + "Topology"
ADMISSION_CHECK = KUEUE + "AdmissionCheck"
JOBSET = r"kubernetes:jobset\.x-k8s\.io/[^:]+:JobSet"
RAY = r"kubernetes:ray\.io/[^:]+:Ray(Cluster|Job|Service)"
NAMESPACE = r"kubernetes:core/v1:Namespace"
ROLE = r"kubernetes:rbac\.authorization\.k8s\.io/[^:]+:(Cluster)?Role(Patch)?"
OWN_WORKLOAD = (
    r"kubernetes:core/v1:(Pod|PodTemplate|ReplicationController)(Patch)?",
    r"kubernetes:(apps|extensions)/[^:]+:(Deployment|StatefulSet|DaemonSet|ReplicaSet)(Patch)?",
    r"kubernetes:batch/[^:]+:(Job|CronJob)(Patch)?",
)
WORKLOAD = (
    *OWN_WORKLOAD,
    # Custom resources such as JobSet, Ray, LeaderWorkerSet, Kubeflow, Spark and Volcano. Some have no pods.
    r"kubernetes:(?!((?!sparkoperator\.)[^/:]*\.)?(k8s|helm)\.(io|sh)/|kueue\.x-k8s\.io/|cloud\.google\.com/"
    r"|networking\.gke\.io/|monitoring\.googleapis\.com/|([^/:]*\.)?(cert-manager|external-secrets)\.io/)"
    r"[^/:]+\.[^/:]+/[^:]+:.+",
)
ARGO = r"kubernetes:argoproj\.io/[^:]+:(?!Experiment|Rollout|(Cluster)?Analysis).+"
"""Argo's workflows and events. The objects of Argo Rollouts have ordinary pod templates."""
CLUSTER_SCOPED = (r"kubernetes:(argoproj\.io|trainer\.kubeflow\.org|serving\.kserve\.io)/[^:]+:Cluster[A-Z].*",)
"""Custom resources with pods and without a namespace, such as ClusterWorkflowTemplate."""
COUNTED = (*OWN_WORKLOAD, JOBSET, RAY, r"kubernetes:leaderworkerset\.x-k8s\.io/[^:]+:LeaderWorkerSet")
"""Workloads with a known number of pods."""
SERVICE = r"kubernetes:core/v1:Service"
NAMESPACED = (
    *COUNTED,
    SERVICE,
    r"kubernetes:core/v1:(Secret|ServiceAccount|ConfigMap)",
    r"kubernetes:rbac\.authorization\.k8s\.io/[^:]+:(Role|RoleBinding)",
    r"kubernetes:(networking\.k8s\.io|extensions)/[^:]+:Ingress",
    LOCAL_QUEUE,
)
"""Namespaced resources."""
