#!/usr/bin/env bash
# usage: tests/run.sh [ctest arguments...]
# Installs what the tests need, builds them, runs them. The exit status and the last lines are ctest's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/support/tools.sh

bash tests/support/install_debian.sh build torch test
cmake=$(debian_or_path cmake)
"$cmake" --preset check
"$cmake" --build --preset check
"$(debian_or_path ctest)" --preset check -j2 "$@"
