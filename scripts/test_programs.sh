#!/usr/bin/env bash
# Installs into the folder $1 what tests use besides the environment: programs from npm, by npm, which
# takes a third of yarn's time, or by JupyterLab's own yarn where there is no npm; and Python packages.
set -euo pipefail
settings=$(cd "$(dirname "$0")/../labextension" && pwd)/.yarnrc.yml
settings_of_uv=$(cd "$(dirname "$0")" && pwd)/uv_settings.py
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

# Python packages that change every server of the environment that they are installed in (jupytext its
# notebooks, jupyter-collaboration and jupyter-server-documents its documents). tests/support/beside.py gives them to single servers.
beside() {
  local name=$1
  shift
  if python -m uv --version >/dev/null 2>&1; then
    mapfile -t uv_settings < <(python "$settings_of_uv")
    env "${uv_settings[@]}" uv pip install --python "$(command -v python)" --no-deps --target "$name" "$@"
  else
    python -m pip install --no-input --progress-bar off --no-deps --target "$name" "$@"
  fi
}
rm -rf jupytext collaboration documents xllamacpp litellm-proxy
beside jupytext jupytext==1.19.6 mdit-py-plugins==0.7.0
beside collaboration jupyter-collaboration==5.0.4 jupyter-collaboration-ui==3.0.4 \
  jupyter-docprovider==3.0.4 jupyter-server-fileid==0.10.0 jupyter-server-ydoc==3.0.4 \
  jupyter-ydoc==4.2.1 pycrdt==0.14.13 pycrdt-store==0.1.5 pycrdt-websocket==0.16.5 sqlite-anyio==0.3.2
beside documents jupyter-server-documents==0.3.3 jupyter-collaboration-ui==3.0.4 \
  jupyter-docprovider==3.0.4 jupyter-server-fileid==0.9.3 jupyter-ydoc==4.2.1 pycrdt==0.14.13
# Model servers: llama.cpp, and what LiteLLM's proxy imports besides litellm itself.
beside xllamacpp xllamacpp==2026.10.11549
beside litellm-proxy apscheduler==3.11.3 backoff==2.2.1 dnspython==2.9.2 email-validator==2.4.0 \
  expression==5.8.0 fastapi-sso==0.23.0 orjson==3.13.0 redis==8.1.0 soundfile==0.14.0 \
  uvloop==0.23.0 websockets==15.0.1
