#!/bin/sh
# Tests the page in Chromium and in Firefox. Skips with a message if node, a browser or the built
# page is missing. NPSIM names the command to compare with, CHROMIUM and FIREFOX the browsers.
set -eu
cd "$(dirname "$0")"
command -v node >/dev/null || { echo "web: not tested, node is not here"; exit 0; }
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
firefox=${FIREFOX:-$(command -v firefox-esr || command -v firefox || true)}
unset CHROMIUM FIREFOX
[ -n "$chromium$firefox" ] || { echo "web: not tested, neither chromium nor firefox is here"; exit 0; }
[ -f dist/lab/index.html ] || ./build.sh
[ -f dist/lab/index.html ] || { echo "web: not tested, the page is not built"; exit 0; }

tests() { node --test --test-concurrency=1 --test-timeout=900000 "$@"; }
# The other tests need no browser, and run only with those in Chromium.
in_browser=$(grep -l "await laboratory()" test/*.test.mjs)
if [ -n "$chromium" ]; then
    CHROMIUM=$chromium tests test/
else
    echo "web: not tested in chromium, which is not here"
fi
if [ -n "$firefox" ]; then
    # shellcheck disable=SC2086 # a list of files
    FIREFOX=$firefox tests $in_browser
else
    echo "web: not tested in firefox, which is not here"
fi
