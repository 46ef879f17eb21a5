"""@record writes the exception of one rank to its error file; the others wait in a collective for ever."""

import argparse

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record


def load_checkpoint(step):
    raise KeyError(f"optimizer state of step {step} is missing from the checkpoint")


@record
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--raise-rank", type=int, default=1)
    arguments = parser.parse_args()

    dist.init_process_group("gloo")
    assert dist.get_world_size() > 1, f"alone in a world of {dist.get_world_size()}"
    dist.barrier()
    if dist.get_rank() == arguments.raise_rank:
        load_checkpoint(step=1200)
    dist.all_reduce(torch.ones(1))


if __name__ == "__main__":
    main()
