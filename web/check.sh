#!/bin/sh
# Tests of the page in a browser. Says so and tests nothing where node, Chromium or the built
# page is missing. NPSIM names the command to compare with, CHROMIUM the browser.
set -eu
cd "$(dirname "$0")"
command -v node >/dev/null || { echo "web: not tested, node is not here"; exit 0; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$CHROMIUM" ] || { echo "web: not tested, chromium is not here"; exit 0; }
export CHROMIUM
[ -f dist/lab/index.html ] || ./build.sh
[ -f dist/lab/index.html ] || { echo "web: not tested, the page is not built"; exit 0; }
node --test --test-concurrency=1 --test-timeout=900000 test/
