"""One rank fails in the first attempt only; the second attempt finds a new store and finishes."""

import os

import torch
import torch.distributed as dist

attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
assert world_size > 1, f"alone in a world of {world_size}"

total = torch.tensor([rank + 1])
dist.all_reduce(total)
dist.barrier()
if attempt == 0 and rank == world_size - 1:
    raise ConnectionResetError("the data server closed the connection")
if attempt == 0:
    dist.barrier()
print(f"rank {rank} of {world_size} in attempt {attempt}, sum {total.item()}")
dist.destroy_process_group()
