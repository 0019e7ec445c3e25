#!/usr/bin/env bash
# Sees that there is a Chromium for the browser tests: the machine's, else Debian's package, else
# the one that Playwright downloads. ui-tests/chromium.ts looks for it in the same order.
set -euo pipefail
cd "$(dirname "$0")/.."

works() {
  for name in "${DATALAYER_AGENT_CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && "$name" --version 2>/dev/null; then
      return 0
    fi
  done
  return 1
}

if works; then
  exit 0
fi
if scripts/apt_install.sh chromium fonts-dejavu-core && works; then
  exit 0
fi
echo "Downloading the Chromium of Playwright instead"
cd labextension
jlpm playwright install $([ "$(id -u)" -eq 0 ] && echo --with-deps) chromium || {
  echo "No Chromium could be had. Install one, or name one: export DATALAYER_AGENT_CHROMIUM=/path" >&2
  exit 1
}
