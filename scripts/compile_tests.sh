#!/usr/bin/env bash
# Compiles what the tests import, and the tests, once: the processes that run them start together, and
# each would compile all of it.
set -euo pipefail
cd "$(dirname "$0")/.."
# Python writes what it compiled unless it is told not to.
unset PYTHONDONTWRITEBYTECODE
python -c 'from tests.support.preloaded.modules import import_all; import_all("kernels")' &
kernels=$!
python -c 'from tests.support.preloaded.modules import import_all; import_all("servers")'
python -m pytest --collect-only --quiet
wait "$kernels"
