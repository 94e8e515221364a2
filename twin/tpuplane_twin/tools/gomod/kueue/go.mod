module tpuplane.dev/tools/kueue

go 1.26.0

tool (
	sigs.k8s.io/kueue/cmd/kueue
)

require sigs.k8s.io/kueue v0.16.1
