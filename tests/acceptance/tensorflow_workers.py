"""Two TF_CONFIG workers train one variable under MultiWorkerMirroredStrategy."""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402  (the log level is read at import)

strategy = tf.distribute.MultiWorkerMirroredStrategy()
world_size = strategy.num_replicas_in_sync
assert world_size > 1, f"alone in a world of {world_size}"
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]

with strategy.scope():
    weight = tf.Variable(0.0)


@tf.function
def step():
    def replica_step():
        contribution = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0
        total = tf.distribute.get_replica_context().all_reduce("sum", contribution)
        weight.assign(total)
        return total

    return strategy.run(replica_step)


step()
print(f"worker {index}: num_replicas_in_sync {world_size}, sum {weight.numpy():.0f}", flush=True)
