module tpuplane.dev/tools/kuberay

go 1.26.0

tool (
	github.com/ray-project/kuberay/ray-operator
)

require github.com/ray-project/kuberay/ray-operator v1.6.1
