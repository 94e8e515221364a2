module tpuplane.dev/tools/kwok

go 1.26.0

tool (
	sigs.k8s.io/kwok/cmd/kwok
)

require sigs.k8s.io/kwok v0.8.0
