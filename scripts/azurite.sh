#!/usr/bin/env bash
# Installs Azurite, the emulator of Azure Storage, into the folder $1: by npm, which takes a third of
# yarn's time, or by JupyterLab's own yarn where there is no npm.
set -euo pipefail
folder=$1
settings=$(cd "$(dirname "$0")/../labextension" && pwd)/.yarnrc.yml
mkdir -p "$folder"
cd "$folder"
echo '{"name": "azurite-of-tests", "private": true, "dependencies": {"azurite": "3.35.0"}}' >package.json
if npm install --no-audit --no-fund --ignore-scripts --loglevel=error; then
  exit 0
fi
cp "$settings" .yarnrc.yml
# With a file of its own this is a project of its own, wherever the folder is.
touch yarn.lock
YARN_ENABLE_IMMUTABLE_INSTALLS=false YARN_ENABLE_SCRIPTS=false jlpm install
