#!/usr/bin/env bash
# Installs libfaketime, with which a test sets the clock of a server, where apt has it. Without it
# that test is skipped, and says so.
set -euo pipefail
compgen -G "/usr/lib/*/faketime/libfaketimeMT.so.1" >/dev/null && exit 0
"$(dirname "$0")/apt_install.sh" libfaketime || echo "libfaketime is not to be had: a test is skipped"
