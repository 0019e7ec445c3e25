#!/usr/bin/env bash
# Runs one step of the set-up: says what is done, now and then what it is at, and how long it took.
# All that it printed is in build/logs/, and is shown where it fails.
#   scripts/step.sh NAME "What is done (how long)" COMMAND…
set -uo pipefail
name=$1 what=$2
shift 2
every=${STEP_EVERY:-15}
logs="$(cd "$(dirname "$0")/.." && pwd)/build/logs"
mkdir -p "$logs"
log="$logs/setup-$name.log"

echo "$what …"
"$@" >"$log" 2>&1 </dev/null &
work=$!
trap 'kill "$work" 2>/dev/null; exit 130' INT TERM
reported=0
while kill -0 "$work" 2>/dev/null; do
  sleep 0.2
  if [ $((SECONDS - reported)) -ge "$every" ]; then
    reported=$SECONDS
    # Without colours, the last line that says something.
    at=$(tr '\r' '\n' <"$log" | sed 's/\x1b\[[0-9;]*m//g; s/^[^[:alnum:]]*//' |
      grep '[[:alnum:]]' | tail -n 1 | cut -c 1-70)
    echo "  $SECONDS s: ${at:-working}"
  fi
done
wait "$work"
status=$?
if [ "$status" -ne 0 ]; then
  cat "$log" >&2
  echo "This failed after $SECONDS s (exit $status), with the output above: $what" >&2
  exit "$status"
fi
echo "  done in $SECONDS s"
