#!/usr/bin/env bash
# Tests the Python package as a user gets it: builds a wheel, installs it into an empty virtual
# environment and tests it there; compares its type stubs with the module.
#
#     crates/python/check.sh [FOLDER]
#
# Without a folder, a temporary one is used. Skips with a message if Python 3.11 or newer, pip,
# maturin or the libraries that the tests use are not available.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

skipped() {
    echo "skipped: $1"
    exit 0
}

base=${PYTHON:-python3}
"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    skipped "Python 3.11 or newer is not there (set PYTHON to its path)"
rm -rf "$work/venv" "$work/wheel"
"$base" -m venv "$work/venv" >"$work/venv.log" 2>&1 ||
    skipped "no virtual environment with pip can be made ($work/venv.log)"
python=$work/venv/bin/python

maturin=$(command -v maturin || true)
if [ -z "$maturin" ]; then
    "$python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' \
        >"$work/pip.log" 2>&1 || skipped "maturin cannot be had ($work/pip.log)"
    maturin=$work/venv/bin/maturin
fi

(cd "$here" && "$maturin" build --release --quiet --interpreter "$python" --out "$work/wheel")
"$python" -m pip install --quiet --disable-pip-version-check --no-deps "$work"/wheel/*.whl
# Nothing else is installed yet: the package has no dependencies.
(cd "$work" && "$python" -c 'import npsim' && "$work/venv/bin/npsim" --version)

"$python" -m pip install --quiet --disable-pip-version-check \
    --requirement "$here/tests/requirements.txt" >"$work/pip.log" 2>&1 ||
    skipped "the libraries that the tests use cannot be had ($work/pip.log)"

# Away from the repository, so that `npsim` is the installed package.
cd "$work"
"$python" -m mypy.stubtest npsim --allowlist "$here/stubtest-allowlist.txt" \
    --ignore-unused-allowlist
"$python" -m mypy --strict --config-file "$here/pyproject.toml" --cache-dir "$work/mypy" "$here/tests"
"$python" -m pytest -q -p no:cacheprovider --rootdir "$here" "$here/tests"
