"""Run by Ray's own Python, as the program of a RayJob: work on all four hosts of a slice at once."""

from __future__ import annotations

import os

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as On

HOSTS, CHIPS = 4, 4


@ray.remote(num_cpus=0, resources={"TPU": CHIPS})
def place() -> tuple[str, int]:
    """The slice, and the host's number in it."""
    return os.environ["TPU_NAME"], int(os.environ["TPU_WORKER_ID"])


if __name__ == "__main__":
    ray.init()
    group = placement_group([{"TPU": CHIPS}] * HOSTS, strategy="STRICT_SPREAD")
    work = [place.options(scheduling_strategy=On(group, number)).remote() for number in range(HOSTS)]
    print("placed", sorted(ray.get(work)), flush=True)
