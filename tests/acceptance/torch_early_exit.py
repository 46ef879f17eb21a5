"""After a first collective one rank leaves with status 7 while the others wait for it in the second."""

import argparse
import os
import sys

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--exit-rank", type=int, default=2)
arguments = parser.parse_args()

dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
assert world_size > 1, f"alone in a world of {world_size}"

ranks = [torch.zeros(1) for _ in range(world_size)]
dist.all_gather(ranks, torch.tensor([float(rank)]))
assert [int(r.item()) for r in ranks] == list(range(world_size)), ranks
if rank == 0:
    print(f"gathered from {world_size} replicas")
dist.barrier()
if rank == arguments.exit_rank:
    print(f"rank {rank}: the licence server refused a seat", file=sys.stderr, flush=True)
    os._exit(7)
dist.all_reduce(torch.ones(1))
