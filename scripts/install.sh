#!/usr/bin/env bash
# Installs this package with the extras that are named, and what it needs, into the environment in use:
#   scripts/install.sh [EXTRA]…
# Its wheel is built meanwhile, since that and pip keep one core busy each.
set -euo pipefail
cd "$(dirname "$0")/.."
pip=(python -m pip --no-input)
wheels=build/wheel

rm -rf "$wheels"
"${pip[@]}" wheel -v --no-deps --progress-bar off --wheel-dir "$wheels" . &
building=$!
trap 'kill "$building" 2>/dev/null || true' EXIT
mapfile -t needed < <(python scripts/requirements.py "$@")
"${pip[@]}" install --progress-bar off --constraint scripts/constraints.txt "${needed[@]}"
wait "$building"
trap - EXIT
"${pip[@]}" install --no-deps --force-reinstall "$wheels"/*.whl
