#!/usr/bin/env bash
# Fails if openapi.json, or the TypeScript types made from it, differ from what the models say.
set -euo pipefail
cd "$(dirname "$0")/.."

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python -m jupyter_datalayer_agent.server.openapi >"$made/openapi.json"
diff -u openapi.json "$made/openapi.json" || {
  echo "openapi.json is not current: run 'make generate'" >&2
  exit 1
}
cd labextension
jlpm generate --check || {
  echo "labextension/src/api/generated.ts is not current: run 'make generate'" >&2
  exit 1
}
