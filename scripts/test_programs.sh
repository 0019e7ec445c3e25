#!/usr/bin/env bash
# Installs the programs from npm that tests use into the folder $1: by npm, which takes a third of
# yarn's time, or by JupyterLab's own yarn where there is no npm.
set -euo pipefail
settings=$(cd "$(dirname "$0")/../labextension" && pwd)/.yarnrc.yml
mkdir -p "$1"
cd "$1"
cat >package.json <<'JSON'
{
  "name": "programs-of-tests",
  "private": true,
  "dependencies": {
    "@modelcontextprotocol/conformance": "0.1.16",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "azurite": "3.35.0",
    "configurable-http-proxy": "5.3.0"
  }
}
JSON
if ! npm install --no-audit --no-fund --ignore-scripts --loglevel=error; then
  cp "$settings" .yarnrc.yml
  # With a file of its own this is a project of its own, wherever the folder is.
  touch yarn.lock
  YARN_ENABLE_IMMUTABLE_INSTALLS=false YARN_ENABLE_SCRIPTS=false jlpm install
fi
# The conformance suite imports a function that Node.js has from version 22 on, for a report that is
# not made here.
dist=node_modules/@modelcontextprotocol/conformance/dist
sed 's/globSync as [A-Za-z_$]*,//' "$dist/index.js" >"$dist/conformance.mjs"
