module tpuplane.dev/tools/managed-prometheus

go 1.26.0

require github.com/GoogleCloudPlatform/prometheus-engine v0.17.2
