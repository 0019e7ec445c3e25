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
  # Debian keeps venv in a package of its own.
  "$(dirname "$0")/apt_install.sh" python3-venv
fi
"$python" -m venv "$venv"
