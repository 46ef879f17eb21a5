#!/usr/bin/env bash
# From a fresh Debian 12 to a training that works, and then to one that fails: what forklift does in both cases.
# Needs root or sudo only if a package is missing. Can be run again at any time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/support/tools.sh

say() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n==> %s\n' "$*"; }
show() { printf '$'; printf ' %s' "$@"; printf '\n'; }

say "1. What is needed: a compiler, Boost, libfmt, nlohmann-json, and a Python with PyTorch"
bash tests/support/install_debian.sh build
python=$(python_with_torch)
if [ -z "$python" ]; then
  bash tests/support/install_debian.sh torch
  python=$(python_with_torch)
fi
[ -n "$python" ] || { echo "no Python here can import torch; name one in FORKLIFT_PYTHON" >&2; exit 1; }
echo "PyTorch $("$python" -c 'import torch; print(torch.__version__)') of $python"

say "2. Building forklift (a minute or two the first time)"
cmake=$(debian_or_path cmake)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ "$cmake" --preset release && "$cmake" --build --preset release --target forklift_binary; } >"$log" 2>&1 || {
  tail -n 40 "$log" >&2
  exit 1
}
forklift=build/release/forklift
"$forklift" version

job=("$forklift" launch --cpu --num-processes 4 --python "$python" examples/train_digits.py)

say "3. Four replicas train one network on handwritten digits (PyTorch DDP over gloo)"
show "${job[@]}"
"${job[@]}"

say "4. The same job; in epoch 3 the data of replica 2 turns out to be corrupted"
show "${job[@]}" --crash-rank 2
status=0
"${job[@]}" --crash-rank 2 || status=$?

say "What you have just seen"
if [ "$status" -ne 1 ]; then
  echo "The exit status is $status; that of the replica that failed is 1. Something is wrong here." >&2
  exit 1
fi
cat <<'TEXT'
Replica 2 raised a ValueError. The other three would have waited for it or failed with errors of their own (connection
closed by peer); forklift stopped them, reported the one that began it with its traceback, and left no process behind.
Its exit status, 1, is the one of replica 2.

Try also: --crash-how segfault, --crash-how kill, --crash-how exit; and build/release/forklift report last
TEXT
