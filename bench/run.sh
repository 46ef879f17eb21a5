#!/usr/bin/env bash
# usage: bench/run.sh FOLDER [TORCHRUN]
# Builds the release preset, runs every bench, prints the tables and leaves FOLDER/NAME.json. With TORCHRUN (default: the
# one on PATH, if it can run two processes) its figures as well. Takes about five minutes; run nothing else meanwhile.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
folder=$(realpath -m "$1")
torchrun=${2:-$(command -v torchrun || true)}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/support/tools.sh

cmake=$(debian_or_path cmake)
"$cmake" --preset release >/dev/null
"$cmake" --build --preset release --target forklift_bench
benches=$PWD/build/release/bench
mkdir -p "$folder"

compare=()
if [ -n "$torchrun" ] && "$torchrun" --nproc_per_node 2 --redirects 0:1 --tee 0:2 --no_python /bin/true >/dev/null 2>&1; then
  compare=(--torchrun "$torchrun")
else
  echo "no comparison with torchrun: ${torchrun:-none on PATH} does not run" >&2
fi

for bench in start crash output idle model template fork_api; do
  echo
  "$benches/bench_$bench" --json "$folder/$bench.json" "${compare[@]}"
done
if [ -x "$benches/bench_micro" ]; then
  echo
  "$benches/bench_micro" --benchmark_enable_random_interleaving=true --benchmark_repetitions=5 \
    --benchmark_report_aggregates_only=true --benchmark_out="$folder/micro.json" --benchmark_out_format=json
fi
