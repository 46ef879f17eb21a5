"""jax.distributed.initialize() without arguments, then a sum over every replica's device."""

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.distributed.initialize()
world_size = jax.process_count()
assert world_size > 1, f"alone in a world of {world_size}"
assert jax.device_count() == world_size * jax.local_device_count()

mesh = Mesh(jax.devices(), ("replica",))
mine = jnp.full((jax.local_device_count(), 3), jax.process_index() + 1.0)
everyones = multihost_utils.host_local_array_to_global_array(mine, mesh, PartitionSpec("replica"))
total = jax.jit(lambda x: x.sum(axis=0), out_shardings=NamedSharding(mesh, PartitionSpec()))(everyones)

# Whole lines in one write: all replicas print the same text at the same time.
print(f"{world_size} replicas, sum {total.addressable_data(0).tolist()}", flush=True)
multihost_utils.sync_global_devices("printed")
jax.distributed.shutdown()
