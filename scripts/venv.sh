#!/usr/bin/env bash
# Makes the virtual environment $1 with the interpreter $2 (Python 3.10 or newer).
set -euo pipefail
venv=$1
python=$2

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
  echo "$python is older than Python 3.10. Name a newer one: make PYTHON=python3.12 …" >&2
  exit 1
}
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  # Debian keeps venv in a package of its own, one for each Python.
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  "$(dirname "$0")/step.sh" venv "Installing $package by apt, which this Python lacks" \
    "$(dirname "$0")/apt_install.sh" "$package" || {
    echo "Or name a Python that has venv: make PYTHON=… (after \"make clean\")" >&2
    exit 1
  }
fi
echo "Making the environment $venv with $("$python" --version)"
"$python" -m venv "$venv"
