#!/bin/sh
# Fetches what scenario.mjs runs: Visual Studio Code for the browser, a browser driver and
# the extension packer, from the npm registry, at fixed versions.
#
#   editors/vscode/test/fetch.sh FOLDER
#
# It needs node, npm, tar, 1 GB in FOLDER, and a minute or two. A browser has to be there
# (Chromium, or what BROWSER names). Nothing is compiled: native modules serve the editor's
# logs and watchdogs only.
set -eu

test $# -eq 1 || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

fetch() {
    npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error "$@"
}

test -f package.json || npm init -y >/dev/null
# code-server needs this version of node, whatever the machine has.
platform=$(node -p 'process.platform + "-" + process.arch')
fetch "node-$platform@24.9.0" playwright-core@1.65.1
ln -sf "node_modules/node-$platform/bin/node" node24

if ! test -d code-server/node_modules; then
    rm -rf code-server package
    tar xzf "$(npm pack --silent code-server@4.139.1)"
    rm -f code-server-*.tgz
    for part in package package/lib/vscode package/lib/vscode/extensions; do
        (cd "$part" && fetch)
    done
    mv package code-server
fi

mkdir -p extension
(cd extension && { test -f package.json || npm init -y >/dev/null; } &&
    fetch vscode-languageclient@9.0.1 @vscode/vsce@3.9.2)
