#!/usr/bin/env bash
# usage: install_debian.sh GROUP...
# Installs what is missing of the groups of tests/debian-packages.txt; with nothing missing it needs neither root nor network.
set -euo pipefail

list=$(dirname "${BASH_SOURCE[0]}")/../debian-packages.txt

wanted=()
for group in "$@"; do
  mapfile -t packages < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
  [ "${#packages[@]}" -gt 0 ] || { echo "install_debian.sh: no group '$group' in $list" >&2; exit 2; }
  wanted+=("${packages[@]}")
done

command -v dpkg-query >/dev/null || {
  echo "install_debian.sh: this is no Debian; make sure that these are there: ${wanted[*]}" >&2
  exit 0
}

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null | head -n 1 || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "install_debian.sh: neither root nor sudo; as root, please: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi

echo "installing ${missing[*]}"
# Not by export: sudo passes only what stands on its own command line.
apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{ apt_get update && apt_get install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
  tail -n 30 "$log" >&2
  exit 1
}
