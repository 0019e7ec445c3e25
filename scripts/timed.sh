#!/usr/bin/env bash
# Runs a part of the work, shows its output, keeps it in build/logs/, and prints how long it took.
#   scripts/timed.sh NAME COMMAND…
set -uo pipefail
name=$1
shift
logs="$(cd "$(dirname "$0")/.." && pwd)/build/logs"
mkdir -p "$logs"
start=$(date +%s)

exec 3> >(exec tee "$logs/$name.log")
reader=$!
"$@" >&3 2>&1 3>&-
status=$?
exec 3>&-
# A kernel that a failed test left behind holds the output open: it is not waited for.
for _ in $(seq 50); do
  kill -0 "$reader" 2>/dev/null || break
  sleep 0.1
done
kill "$reader" 2>/dev/null

line="[timing] $name: $(($(date +%s) - start)) s, exit $status"
echo "$line"
echo "$line" >>"$logs/timings.txt"
exit "$status"
