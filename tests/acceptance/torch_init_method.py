"""Rendezvous by init_method, then a sum that only a whole world can give."""

import argparse

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--init-method", default="env://")
arguments = parser.parse_args()

dist.init_process_group("gloo", init_method=arguments.init_method)
rank, world_size = dist.get_rank(), dist.get_world_size()
assert world_size > 1, f"alone in a world of {world_size}"

total = torch.tensor([rank + 1])
dist.all_reduce(total)
assert total.item() == world_size * (world_size + 1) // 2, total
dist.barrier()
dist.destroy_process_group()
print(f"Done: rank {rank} of {world_size}, sum {total.item()}")
