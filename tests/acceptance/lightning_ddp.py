"""A small LightningModule under a launcher that made the processes already; --devices must agree with their number."""

import argparse
import os

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Line(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.layer(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self):
        inputs = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
        return DataLoader(TensorDataset(inputs, inputs.sum(dim=1, keepdim=True)), batch_size=8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=2)
    arguments = parser.parse_args()

    trainer = Trainer(
        accelerator="cpu",
        devices=arguments.devices,
        strategy="ddp",
        max_steps=4,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Line()
    trainer.fit(model)
    assert trainer.world_size > 1, f"alone in a world of {trainer.world_size}"

    weights = trainer.strategy.all_gather(model.layer.weight.detach())
    assert torch.equal(weights, weights[:1].expand_as(weights)), "the replicas have drifted apart"
    print(f"rank {trainer.global_rank} of {trainer.world_size}: {trainer.global_step} steps, pid {os.getpid()}")


if __name__ == "__main__":
    main()
