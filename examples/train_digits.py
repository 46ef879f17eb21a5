"""Trains a small convolutional network on handwritten digits, data-parallel, on CPU.

    forklift launch --cpu --num-processes 4 examples/train_digits.py

Every replica holds a copy of the network and sees its own part of each batch; DistributedDataParallel averages the
gradients over gloo. Alone (`python examples/train_digits.py`) it trains as a world of one.

--crash-rank makes one replica fail for real, to see what the launcher says about it.
"""

import argparse
import ctypes
import gzip
import os
import pathlib
import signal
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SIDE = 8
PIXEL_MAX = 16
TEST_SAMPLES = 360
LOWEST_GOOD_ACCURACY = 0.95


def parse_arguments():
    parser = argparse.ArgumentParser(description="Train on handwritten digits, one shard per replica.")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(__file__).parent / "data" / "digits.csv.gz")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64, help="samples per step, over all replicas")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--crash-rank", type=int, default=None, metavar="R", help="the replica that is to fail")
    parser.add_argument("--crash-epoch", type=int, default=3, metavar="E", help="the epoch, from 1, in which it fails")
    parser.add_argument(
        "--crash-how",
        choices=["exception", "segfault", "exit", "kill"],
        default="exception",
        help="a corrupted sample, a read at address 0, exit status 3, or SIGKILL",
    )
    return parser.parse_args()


class Digits:
    """Pixels and labels in file order; a batch is checked when it is read, as a loader of untrusted files must."""

    def __init__(self, path):
        with gzip.open(path, "rt", encoding="ascii") as lines:
            rows = torch.tensor([[int(field) for field in line.split(",")] for line in lines])
        self.pixels = rows[:, : SIDE * SIDE]
        self.labels = rows[:, SIDE * SIDE]

    def __len__(self):
        return len(self.labels)

    def corrupt(self, sample):
        self.pixels[sample, 0] = 255

    def batch(self, samples):
        pixels = self.pixels[samples]
        check_pixels(pixels, samples)
        images = pixels.float().div(PIXEL_MAX).view(-1, 1, SIDE, SIDE)
        return images, self.labels[samples]


def check_pixels(pixels, samples):
    bad = (pixels < 0) | (pixels > PIXEL_MAX)
    if bad.any():
        row, column = bad.nonzero()[0].tolist()
        raise ValueError(
            f"sample {samples[row].item()} is corrupted: "
            f"pixel {column} is {pixels[row, column].item()}, outside 0..{PIXEL_MAX}"
        )


def make_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * (SIDE // 2) ** 2, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def shard(samples, rank, world_size):
    """This replica's samples, as many as every other replica has: uneven shards would leave a collective waiting."""
    return samples[: len(samples) - len(samples) % world_size][rank::world_size]


def crash(how, digits, samples):
    """Fails as real jobs do. `exception` only spoils the data: the loader is what finds it and raises."""
    if how == "exception":
        digits.corrupt(samples[len(samples) // 2].item())
    elif how == "segfault":
        ctypes.string_at(0)
    elif how == "exit":
        sys.exit(3)
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


def train_epoch(network, optimizer, digits, samples, batch_size):
    """Returns the mean loss over this replica's samples."""
    network.train()
    total = 0.0
    for batch in samples.split(batch_size):
        images, labels = digits.batch(batch)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(samples)


def count_correct(network, digits, samples):
    network.eval()
    with torch.no_grad():
        images, labels = digits.batch(samples)
        return int((network(images).argmax(dim=1) == labels).sum())


def sum_over_replicas(*values):
    total = torch.tensor(values, dtype=torch.float64)
    if dist.is_initialized():
        dist.all_reduce(total)
    return total.tolist()


def train(arguments, rank, world_size):
    """Returns the share of test samples that are recognised, the same on every replica."""
    say = print if rank == 0 else lambda *_: None
    torch.manual_seed(arguments.seed)
    digits = Digits(arguments.data)
    split = torch.randperm(len(digits))
    test, training = split[:TEST_SAMPLES], split[TEST_SAMPLES:]
    say(f"{len(training)} training and {len(test)} test samples, {world_size} replicas")

    network = make_network()
    if dist.is_initialized():
        network = DistributedDataParallel(network)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=arguments.epochs)

    for epoch in range(1, arguments.epochs + 1):
        # Seeded alike on every replica, so that the shards of one epoch are disjoint.
        order = training[torch.randperm(len(training))]
        mine = shard(order, rank, world_size)
        if rank == arguments.crash_rank and epoch == arguments.crash_epoch:
            crash(arguments.crash_how, digits, mine)
        loss = train_epoch(network, optimizer, digits, mine, max(1, arguments.batch_size // world_size))
        scheduler.step()
        (loss_sum,) = sum_over_replicas(loss)
        say(f"epoch {epoch:2d}: loss {loss_sum / world_size:.4f}")

    mine = test[rank::world_size]
    correct, seen = sum_over_replicas(count_correct(network, digits, mine), len(mine))
    return correct / seen


def main():
    arguments = parse_arguments()
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if dist.is_initialized() else 0
    world_size = dist.get_world_size() if dist.is_initialized() else 1

    accuracy = train(arguments, rank, world_size)
    if rank == 0:
        print(f"test accuracy: {accuracy:.4f}")
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()
    if accuracy < LOWEST_GOOD_ACCURACY:
        sys.exit(f"the test accuracy {accuracy:.4f} is below {LOWEST_GOOD_ACCURACY}")


if __name__ == "__main__":
    main()
