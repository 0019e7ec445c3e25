#!/usr/bin/env bash
# Installs Debian packages, as root or by a sudo that asks for no password. Fails where that cannot be.
set -euo pipefail

command -v apt-get >/dev/null || {
  echo "Needed, and not installed: $* (there is no apt-get here)" >&2
  exit 1
}
root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null || {
    echo "Needed, and not installed: $*. Installing takes root: sudo apt-get install $*" >&2
    exit 1
  }
  root=(sudo -n)
fi
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
