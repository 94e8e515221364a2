"""Trials on every idle slice: when the team has urgent work, one of them makes room, and comes back afterwards."""

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import Multislice, MultisliceArgs

config = pulumi.Config()
options = pulumi.ResourceOptions(provider=kubernetes.Provider("cluster", context=config.require("context")))


def on_a_slice(command: str, priority: str) -> MultisliceArgs:
    """One v6e 4x4 slice for `command`."""
    return {
        "namespace": config.require("namespace"),
        "queue": config.get("queue") or "default",
        "priority_class": priority,
        "generation": "v6e",
        "topology": "4x4",
        "image": "python:3.11",
        "command": ["bash", "-c", command],
    }


for number in range(config.get_int("trials") or 2):
    # Separate jobs, because Kueue preempts a job as a whole.
    Multislice(f"trial-{number}", on_a_slice("echo one more trial; sleep infinity", "idle"), options)
if config.get_bool("urgent"):
    Multislice("deadline", on_a_slice("echo at once; sleep 600", "high"), options)
