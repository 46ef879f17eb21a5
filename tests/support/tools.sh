# Sourced by the scripts that build: which tools they use. Debian's own before others of the same name on PATH, so that a
# build folder always sees the same version.
debian_or_path() { if [ -x "/usr/bin/$1" ]; then echo "/usr/bin/$1"; else command -v "$1"; fi; }

# The first Python that has PyTorch; empty if none has.
python_with_torch() {
  local python
  for python in "${FORKLIFT_PYTHON:-}" /usr/bin/python3 python3; do
    if [ -n "$python" ] && "$python" -c 'import torch' >/dev/null 2>&1; then
      command -v "$python"
      return
    fi
  done
}
