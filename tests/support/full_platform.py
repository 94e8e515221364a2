"""A description that has every part."""

from __future__ import annotations

from tpuplane.spec import parse_platform

FULL = parse_platform(
    {
        "name": "lab",
        "project": "tpuplane-lab",
        "labels": {"environment": "test"},
        "reservations": {"mine": {"generation": "v6e", "zone": "us-central1-b", "chips": 64}},
        "quotas": {"us-central1": {"v6e": {"onDemand": 512}}},
        "classes": {
            "sweeps": {
                "preset": "cost-optimized",
                "tpu": {"type": "v6e", "topology": "4x4"},
                "reservation": {"name": "mine"},
            },
            "serving": {
                "priorities": [
                    {"nodepools": ["trainer"]},
                    {
                        "tpu": {"type": "v6e", "topology": "4x4", "count": 4},
                        "reservations": {"affinity": "Specific", "specific": [{"name": "mine"}]},
                        "taints": [{"key": "team", "value": "serving", "effect": "NoSchedule"}],
                        "storage": {"secondaryBootDisks": [{"diskImageName": "models"}]},
                    },
                ],
                "nodePoolAutoCreation": {"enabled": True},
                "nodePoolConfig": {"resourceManagerTags": [{"key": "1/env", "value": "test"}]},
            },
        },
        "queues": {"fairSharing": True},
        "images": {"training": {"location": "us-central1"}},
        "storage": {
            "buckets": {"checkpoints": {"purpose": "checkpoints"}},
            "lustre": {
                "files": {"zone": "us-central1-b", "capacityGib": 36000, "throughput": 500, "writers": ["research"]}
            },
            "disks": {"cache": {"type": "hyperdisk-balanced", "sizeGib": 100, "iops": 3000, "throughput": 140}},
            "filestore": {
                "home": {"location": "us-central1-b", "tier": "ZONAL", "capacityGib": 1024, "writers": ["research"]}
            },
        },
        "teams": {
            "research": {
                "members": ["group:research@example.com"],
                "weight": 2,
                "clusters": {
                    "main": {
                        "pools": {"trainer": {"slices": 1}},
                        "gpuPools": {"models": {"nodes": 1}},
                        "cpu": {"cores": 8},
                    }
                },
            },
            "product": {"queue": "jobs", "clusters": {"main": {"pools": {"trainer": {"chips": 16}}}}},
        },
        "observability": {},
        "clusters": {
            "main": {
                "location": "us-central1-b",
                "addons": {
                    "kueue": {"replicas": 2},
                    "jobset": {},
                    "monitoring": {},
                    "custom": {
                        "trainer": {
                            "definition": {
                                "title": "Trainer",
                                "chart": {"name": "trainer", "version": "2.2.1", "repository": "oci://charts.example"},
                                "image": {"repository": "example.com/trainer", "tag": "v2.2.1"},
                                "namespace": "trainer",
                                "probe": {
                                    "apiVersion": "trainer.example.com/v1",
                                    "kind": "Runtime",
                                    "plural": "runtimes",
                                    "namespaced": True,
                                    "spec": {},
                                },
                            }
                        }
                    },
                },
                "controlPlane": {"authorizedNetworks": [{"cidr": "10.0.0.0/8", "name": "vpn"}]},
                "security": {"securityGroup": "gke-security-groups@example.com"},
                "storage": {"gcsFuse": True, "lustre": True, "filestore": True},
                "multiTierCheckpointing": {"bucket": "checkpoints", "pools": {"trainer": {"ramDiskGb": 64}}},
                "maintenance": {
                    "window": {"days": ["SA", "SU"], "start": "06:00", "hours": 8},
                    "exclusions": {"freeze": {"start": "2026-12-19", "end": "2027-01-04"}},
                },
                "pools": {
                    "trainer": {
                        "generation": "v6e",
                        "topology": "4x4",
                        "slices": 2,
                        "imageStreaming": True,
                        "secondaryBootDisks": [{"diskImage": "projects/tpuplane-lab/global/images/models"}],
                        "extraNetworks": [{"network": "data", "subnetwork": "data"}],
                    }
                },
                "gpuPools": {"models": {"accelerator": "nvidia-l4"}},
            }
        },
    }
)
