#!/usr/bin/env bash
# Runs a part of the work, shows its output, keeps it in build/logs/, and prints how long it took.
#   scripts/timed.sh NAME COMMAND…
set -uo pipefail
name=$1
shift
logs="$(dirname "$0")/../build/logs"
mkdir -p "$logs"
start=$(date +%s)
"$@" 2>&1 | tee "$logs/$name.log"
status=${PIPESTATUS[0]}
line="[timing] $name: $(($(date +%s) - start)) s, exit $status"
echo "$line"
echo "$line" >>"$logs/timings.txt"
exit "$status"
