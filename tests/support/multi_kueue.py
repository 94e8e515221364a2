"""A platform whose manager of MultiKueue hands jobs on to two workers."""

from typing import Any


def multi_kueue_platform() -> dict[str, Any]:
    """A manager without a TPU, and a slice of v6e 4x4 in each of two regions."""
    clusters: dict[str, Any] = {}
    for index, (name, location) in enumerate(
        {"hub": "us-central1-b", "central": "us-central1-b", "east": "us-east5-b"}.items()
    ):
        clusters[name] = {
            "location": location,
            "deletionProtection": False,
            "addons": {"kueue": {"integrations": ["batch/job"]}, "ray": {"mode": "none"}},
            "network": {
                "nodesCidr": f"10.0.{16 * index}.0/20",
                "podsCidr": f"10.{64 + 4 * index}.0.0/14",
                "servicesCidr": f"10.32.{16 * index}.0/20",
            },
            "pools": {} if name == "hub" else {"trainer": {"generation": "v6e", "topology": "4x4"}},
        }
    quota = {"pools": {"trainer": {"slices": 1}}}
    return {
        "name": "lab",
        "project": "tpuplane-lab",
        "queues": {"multiKueue": {"manager": "hub", "workers": ["central", "east"]}},
        "teams": {"research": {"clusters": {"central": quota, "east": quota}}},
        "clusters": clusters,
    }
