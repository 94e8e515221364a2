"""`train.py` on two slices, joined over the data-centre network: a JobSet of which each job is a slice."""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
from tpuplane import Multislice

config = pulumi.Config()
cluster = kubernetes.Provider("cluster", context=config.require("context"))
program = Path("train.py").read_text()
Multislice(
    "pretrain",
    {
        "namespace": config.require("namespace"),
        "queue": config.get("queue") or "default",
        "generation": "v6e",
        "topology": "4x4",
        "slices": config.get_int("slices") or 2,
        "image": "python:3.11",
        "command": ["bash", "-c", 'pip install --quiet "jax[tpu]==0.10.2" && python -c "$0"', program],
    },
    pulumi.ResourceOptions(provider=cluster),
)
