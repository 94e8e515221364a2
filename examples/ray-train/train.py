"""A JAX training loop on every host of a slice, by Ray Train's JaxTrainer: data-parallel linear regression."""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import ray.train
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.v2.jax import JaxTrainer

STORAGE = "/checkpoints"  # the same folder on head and workers, as Ray Train needs it: a bucket
TOPOLOGY, ACCELERATOR, HOSTS, CHIPS_PER_HOST = "4x4", "TPU-V6E", 4, 4  # of one slice
FEATURES, ROWS_PER_CHIP = 8, 64


def train(config: dict[str, Any]) -> None:
    """Runs once on every host; JAX's processes are joined already, so `jax.devices()` are those of all slices."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("data",))
    rows, all_chips = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
    shape = (ROWS_PER_CHIP * jax.device_count(), FEATURES)
    truth = np.arange(FEATURES, dtype=np.float32)
    every_x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    every_y = every_x @ truth
    # Each host makes the rows of its own chips only.
    x = jax.make_array_from_callback(every_x.shape, rows, lambda index: every_x[index])
    y = jax.make_array_from_callback(every_y.shape, rows, lambda index: every_y[index])
    weights = jax.make_array_from_callback((FEATURES,), all_chips, lambda _: np.zeros(FEATURES, np.float32))

    @jax.jit
    def step(weights: jax.Array, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(weights)
        return weights - config["rate"] * gradient, loss

    loss = jnp.inf
    for _ in range(config["steps"]):
        weights, loss = step(weights, x, y)
        # One step at a time: devices that are threads of few processors must not run ahead of each other.
        loss.block_until_ready()
    metrics = {"loss": float(loss), "devices": jax.device_count(), "processes": jax.process_count()}
    metrics["slices"] = int(os.environ.get("MEGASCALE_NUM_SLICES", "1"))  # Ray Train says it where there are more
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = None
        if ray.train.get_context().get_world_rank() == 0:
            np.save(Path(folder) / "weights.npy", np.asarray(weights.addressable_data(0)))
            checkpoint = Checkpoint.from_directory(folder)
        ray.train.report(metrics, checkpoint=checkpoint)


def main() -> None:
    """Train on whole slices."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--slices", type=int, default=1)
    slices = parser.parse_args().slices
    trainer = JaxTrainer(
        train,
        train_loop_config={"steps": 20, "rate": 0.1},
        scaling_config=ScalingConfig(
            use_tpu=True,
            topology=TOPOLOGY,
            accelerator_type=ACCELERATOR,
            num_workers=HOSTS * slices,
            resources_per_worker={"TPU": CHIPS_PER_HOST},
        ),
        run_config=RunConfig(name="linear", storage_path=STORAGE),
    )
    print("result:", trainer.fit().metrics, flush=True)


if __name__ == "__main__":
    main()
