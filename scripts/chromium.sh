#!/usr/bin/env bash
# Sees that there is a Chromium for the browser tests: the machine's, else Debian's package, else
# the one that Playwright downloads. ui-tests/chromium.ts looks for it in the same order.
# The headless shell comes first, by apt too where only a whole Chromium is installed: the browser
# tests took 438 s with it and 514 s with chromium, the same version on the same machine.
set -euo pipefail
cd "$(dirname "$0")/.."

works() {
  for name in "$@"; do
    if [ -n "$name" ] && "$name" --version 2>/dev/null; then
      return 0
    fi
  done
  return 1
}

install() {
  # The fonts decide how wide texts are, and some tests measure that.
  scripts/apt_install.sh "$1" fonts-dejavu-core && works "$1"
}

if works "${DATALAYER_AGENT_CHROMIUM:-}" chromium-headless-shell; then
  exit 0
fi
if install chromium-headless-shell || works chromium chromium-browser google-chrome || install chromium; then
  exit 0
fi
echo "Downloading the Chromium of Playwright instead"
cd labextension
jlpm playwright install $([ "$(id -u)" -eq 0 ] && echo --with-deps) chromium || {
  echo "No Chromium could be had. Install one, or name one: export DATALAYER_AGENT_CHROMIUM=/path" >&2
  exit 1
}
