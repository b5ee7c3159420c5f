#!/bin/sh
# Makes the laboratory: dist/lab/ and dist/npsim-laboratory.html. Skips with a message if node,
# xz or the WebAssembly target is missing. NPSIM_WASM names a module built elsewhere.
set -eu
cd "$(dirname "$0")"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "web: skipped, node and npm are not here"
    exit 0
fi
if ! command -v xz >/dev/null; then
    echo "web: skipped, xz is not here"
    exit 0
fi
if [ -z "${NPSIM_WASM:-}" ]; then
    if ! rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown &&
        ! rustup target add wasm32-unknown-unknown; then
        echo "web: skipped, the target wasm32-unknown-unknown is not here and cannot be added"
        exit 0
    fi
    # The linker reserves five bytes for each index, but most indices need only two.
    (cd .. && cargo rustc -p npsim-web --lib --target wasm32-unknown-unknown --profile web -- -C link-arg=--compress-relocations)
    NPSIM_WASM=$(cd .. && cargo metadata --format-version 1 --no-deps |
        node -p 'JSON.parse(require("fs").readFileSync(0)).target_directory')/wasm32-unknown-unknown/web/npsim_web.wasm
fi
if [ ! -d node_modules ] && ! npm ci --no-audit --no-fund; then
    echo "web: skipped, the packages of package-lock.json cannot be fetched"
    exit 0
fi
npx tsc --noEmit
node build.mjs --wasm "$NPSIM_WASM"
# The page does not fetch these: they are distributed with the folder and with the single file.
cp LICENSES.md ../LICENSE-MIT ../LICENSE-APACHE dist/lab/
if python3 -c 'import tomllib' 2>/dev/null; then
    ../packaging/third-party --texts >dist/lab/THIRD-PARTY-LICENSES.txt
else
    echo "web: without the licences of linked crates, which need Python 3.11"
fi
