"""Two whole slices from one Ray program: a placement group per slice, a task on every host, the slices' own labels."""

from collections import defaultdict

import ray
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
from ray.util.tpu import slice_placement_group

TOPOLOGY, VERSION, SLICES, CHIPS_PER_HOST = "4x4", "v6e", 2, 4


@ray.remote(num_cpus=0, resources={"TPU": CHIPS_PER_HOST})
def place() -> tuple[str, int, int]:
    """The slice, the host's number in it, and the devices that JAX finds there."""
    import os

    import jax

    return os.environ["TPU_NAME"], int(os.environ["TPU_WORKER_ID"]), jax.local_device_count()


def main() -> None:
    """Reserve the slices together, see that each is whole, and give them back."""
    ray.init()
    slices = slice_placement_group(topology=TOPOLOGY, accelerator_version=VERSION, num_slices=SLICES, pg_per_slice=True)
    try:
        for number, group in enumerate(slices.slice_placement_groups):
            ray.get(group.ready())
            strategy = PlacementGroupSchedulingStrategy(group)
            hosts = group.bundle_count
            found = ray.get([place.options(scheduling_strategy=strategy).remote() for _ in range(hosts)])
            by_slice = defaultdict(set)
            for name, worker, devices in found:
                by_slice[name].add((worker, devices))
            print(f"slice {number}:", {name: sorted(seen) for name, seen in by_slice.items()}, flush=True)
            if len(by_slice) != 1:
                raise SystemExit(f"placement group {number} is on {len(by_slice)} slices")
    finally:
        slices.shutdown()


if __name__ == "__main__":
    main()
