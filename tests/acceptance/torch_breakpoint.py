"""One rank stops in the debugger while the others wait for it in a barrier; its commands come from standard input."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
assert world_size > 1, f"alone in a world of {world_size}"

learning_rate = torch.tensor(0.5)
if rank == 0:
    breakpoint()
dist.broadcast(learning_rate, src=0)
print(f"rank {rank} of {world_size} goes on with {learning_rate.item()}")
dist.destroy_process_group()
