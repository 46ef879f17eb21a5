"""Elastic style: every replica leaves a file named by its rank, so that the test can count who really ran.

TEST_SENTINEL_PARENT must be inherited from the launcher's caller.
"""

import argparse
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--touch-file-dir", type=pathlib.Path, required=True)
parser.add_argument("--fail", action="store_true", help="raise instead of leaving a file")
arguments = parser.parse_args()

rank = int(os.environ["RANK"])
world_size = int(os.environ["WORLD_SIZE"])
assert world_size > 1, f"alone in a world of {world_size}"
for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT",
             "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS"):
    assert name in os.environ, f"{name} is missing from the environment"
assert os.environ.get("TEST_SENTINEL_PARENT"), "the caller's environment was not inherited"

if arguments.fail:
    raise RuntimeError(f"rank {rank} was told to fail")
(arguments.touch_file_dir / str(rank)).touch()
print(f"rank {rank} of {world_size} left its file")
