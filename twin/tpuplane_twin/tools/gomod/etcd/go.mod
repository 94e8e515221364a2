module tpuplane.dev/tools/etcd

go 1.26.0

tool (
	go.etcd.io/etcd/server/v3
)

require go.etcd.io/etcd/server/v3 v3.6.8
