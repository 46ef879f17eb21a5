"""Accelerator() on CPU: without the launcher's environment it would silently be N single runs."""

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType, gather_object

accelerator = Accelerator()
world_size = accelerator.num_processes
assert world_size > 1, f"alone in a world of {world_size}"
assert accelerator.distributed_type == DistributedType.MULTI_CPU, accelerator.distributed_type
assert accelerator.device.type == "cpu", accelerator.device

model = accelerator.prepare(torch.nn.Linear(4, 1))
torch.manual_seed(accelerator.process_index)
loss = model(torch.randn(8, 4)).square().mean()
accelerator.backward(loss)

gradient = next(model.parameters()).grad.sum().reshape(1)
gradients = accelerator.gather(gradient)
assert len(gradients) == world_size
assert torch.allclose(gradients, gradients[0].expand(world_size)), gradients
ranks = gather_object([accelerator.process_index])
accelerator.print(f"gathered ranks {ranks}: {world_size} replicas agree on the gradient")
accelerator.end_training()
