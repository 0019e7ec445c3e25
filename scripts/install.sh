#!/usr/bin/env bash
# Installs this package with the extras that are named, and what it needs, into the environment in use:
#   scripts/install.sh [EXTRA]…
# CONSTRAINTS names another file of bounds: scripts/pins.txt for the versions that were tested.
# By uv, which takes a quarter of pip's time; by pip where uv is not to be had or does not succeed.
# Its wheel is built meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."
wheels=build/wheel
extras=("$@")
mapfile -t needed < <(python scripts/requirements.py "$@")

with_uv() {
  local settings
  settings=$(python scripts/uv_settings.py) && python -m pip install --quiet uv || return 1
  mapfile -t settings <<<"$settings"
  # This environment, whatever other one is active.
  settings+=("UV_PYTHON=$(python -c 'import sys; print(sys.executable)')" UV_PYTHON_DOWNLOADS=never)
  building=(env "${settings[@]}" uv build --wheel --out-dir "$wheels" .)
  installing=(env "${settings[@]}" uv pip install)
  # All modules are compiled for somebody who starts JupyterLab next. Tests import a quarter of them,
  # and scripts/compile_tests.sh compiles those.
  [[ " ${extras[*]} " == *" test "* ]] || installing+=(--compile-bytecode)
}

with_pip() {
  building=(python -m pip wheel --no-input -v --no-deps --progress-bar off --wheel-dir "$wheels" .)
  installing=(python -m pip install --no-input --progress-bar off)
}

install() {
  rm -rf "$wheels"
  "${building[@]}" &
  local build=$!
  "${installing[@]}" --constraint "${CONSTRAINTS:-scripts/constraints.txt}" "${needed[@]}" || {
    kill "$build" 2>/dev/null
    return 1
  }
  wait "$build" && "${installing[@]}" --no-deps --force-reinstall "$wheels"/*.whl
}

if with_uv && install; then
  exit 0
fi
echo "Installing by pip instead"
with_pip
install
