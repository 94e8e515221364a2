"""A PyTorch training loop by Ray Train's TorchTrainer. The loop is the same on TPU chips, on GPUs and on CPUs.

`train.py --on tpu` trains on a v6e 4x4 slice, `--on gpu --workers 2` on two GPUs, `--on cpu --workers 2` in two
processes.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import ray.train
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, get_device, prepare_data_loader, prepare_model

TOPOLOGY, ACCELERATOR, CHIPS = "4x4", "TPU-V6E", 16
FEATURES, ROWS, BATCH = 8, 4096, 64


def train(config: dict[str, Any]) -> None:
    """Runs once for every chip, GPU or process; Ray has joined them by TorchTPU, NCCL or Gloo."""
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, FEATURES, generator=generator)
    y = x @ torch.arange(FEATURES, dtype=torch.float32).unsqueeze(1)
    # Each worker gets rows of its own, and its batches on its own device.
    batches = prepare_data_loader(DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True))
    model = prepare_model(nn.Linear(FEATURES, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["rate"])
    context = ray.train.get_context()
    for epoch in range(config["epochs"]):
        if context.get_world_size() > 1:
            batches.sampler.set_epoch(epoch)
        losses = []
        for rows, truth in batches:
            loss = nn.functional.mse_loss(model(rows), truth)
            optimizer.zero_grad()
            loss.backward()  # averages the gradients of all workers
            optimizer.step()
            losses.append(loss.detach())
        metrics = {
            "loss": float(torch.stack(losses).mean()),
            "workers": context.get_world_size(),
            "device": get_device().type,
        }
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if context.get_world_rank() == 0 and epoch == config["epochs"] - 1:
                torch.save(model.state_dict(), Path(folder) / "model.pt")
                checkpoint = Checkpoint.from_directory(folder)
            ray.train.report(metrics, checkpoint=checkpoint)


def scaling(on: str, workers: int) -> ScalingConfig:
    """What the workers are."""
    if on == "tpu":
        # TorchTPU binds a process to a chip: a worker for each, on one whole slice.
        return ScalingConfig(
            use_tpu=True,
            topology=TOPOLOGY,
            accelerator_type=ACCELERATOR,
            num_workers=CHIPS,
            resources_per_worker={"TPU": 1},
        )
    return ScalingConfig(use_gpu=on == "gpu", num_workers=workers)


def main() -> None:
    """Train, and print the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", choices=("tpu", "gpu", "cpu"), required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--storage", default="/checkpoints")  # the same folder on head and workers: a bucket
    asked = parser.parse_args()
    trainer = TorchTrainer(
        train,
        train_loop_config={"epochs": 3, "rate": 0.05},
        scaling_config=scaling(asked.on, asked.workers),
        run_config=RunConfig(name="linear", storage_path=asked.storage),
    )
    print("result:", trainer.fit().metrics, flush=True)


if __name__ == "__main__":
    main()
