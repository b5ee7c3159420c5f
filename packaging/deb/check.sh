#!/usr/bin/env bash
# Tests the Debian package as a user gets it: installed into an empty root, used there, and removed.
#
#     packaging/deb/check.sh FOLDER
#
# FOLDER has the package that build.sh made for this machine. The root holds bash, what bash needs, and
# the libraries that the package depends on; there is no compiler and nothing of the repository. Needs root for
# chroot; without it, skips with a message.
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: packaging/deb/check.sh FOLDER" >&2; exit 2; }
if [ "$(id -u)" -ne 0 ] || ! command -v chroot >/dev/null || ! command -v dpkg >/dev/null; then
    echo "skipped: the package is installed into a root of its own, which needs root and dpkg"
    exit 0
fi
package=$(find "$1" -maxdepth 1 -name "npsim_*_$(dpkg --print-architecture).deb" | sort -V | tail -n 1)
[ -n "$package" ] || { echo "$1 has no package for this machine" >&2; exit 1; }

fail() {
    echo "packaging/deb/check.sh: $1" >&2
    exit 1
}
(cd "$(dirname "$package")" && sha256sum --check --quiet "$(basename "$package").sha256") || fail "its SHA-256 is another"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Copies a program of the host with its libraries.
bring() {
    local file
    for file in "$1" $(ldd "$1" | grep -o '/[^ )]*'); do
        mkdir -p "$root$(dirname "$file")"
        cp -L "$file" "$root$file"
    done
}
bring "$(command -v bash)"
# Each command below is started with env.
bring "$(command -v env)"
mkdir -p "$root/tmp" "$root/dev" "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/dev/null"

# dpkg looks for the dependencies in its status file: they are entered there, and their libraries are copied.
: >"$root/var/lib/dpkg/status"
for needed in $(dpkg-deb --field "$package" Depends | tr ',' '\n' | sed 's/(.*//'); do
    dpkg-query --status "$needed" >>"$root/var/lib/dpkg/status"
    echo >>"$root/var/lib/dpkg/status"
    dpkg-query --listfiles "$needed" | grep '\.so' | while read -r file; do
        if [ -f "$file" ]; then
            mkdir -p "$root$(dirname "$file")"
            cp -L "$file" "$root$file"
        fi
    done
done

files() {
    (cd "$root" && find . -path ./var -prune -o -path ./tmp -prune -o -print | sort)
}
files >"$root/var/before"

dpkg --root="$root" --install "$package" >/dev/null 2>"$root/tmp/dpkg" || fail "$(cat "$root/tmp/dpkg")"
echo "installed: $(dpkg-deb --field "$package" Package Version Depends Installed-Size | tr '\n' ' ')"

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp "$@" 2>&1
}
version=$(dpkg-deb --field "$package" Version | sed 's/~/-/')
[ "$(inside npsim --version)" = "npsim $version" ] || fail "npsim --version is not $version"

# The first command of the README, with the files of the package.
told=$(inside bash -c 'cd /usr/share/npsim && npsim run microcode/forward --trace traces/mixed.pcap --out /tmp/out.pcap') ||
    fail "the first command: $told"
grep -q 'packets      in 631   out 627   dropped 0   exceptions 4' <<<"$told" || fail "the first command: $told"
[ -s "$root/tmp/out.pcap" ] || fail "the first command wrote no capture"
grep 'packets  ' <<<"$told"

inside npsim docs glossary | grep -i microengine >/dev/null || fail "npsim docs shows no glossary"
[ -s "$root/usr/share/doc/npsim/html/index.html" ] || fail "the book has no index.html"
! grep -E '\]\([A-Za-z][^):]*\)' "$root/usr/share/doc/npsim/README.md" || fail "README.md links to files that are not there"
for page in npsim npsim-run npsim-trace-gen; do
    gzip -dc "$root/usr/share/man/man1/$page.1.gz" | grep '^\.TH' >/dev/null || fail "$page.1 is no manual page"
done
if command -v man >/dev/null; then
    shown=$(MANWIDTH=80 man --local-file "$root/usr/share/man/man1/npsim-run.1.gz" 2>/dev/null) ||
        fail "man cannot show npsim-run"
    grep -q -- '--trace' <<<"$shown" || fail "the manual page of npsim-run has no --trace"
fi
completed=$(inside bash -c '
    source /usr/share/bash-completion/completions/npsim
    COMP_WORDS=(npsim rep) COMP_CWORD=1 COMPREPLY=()
    _npsim npsim rep npsim
    echo "${COMPREPLY[*]}"')
[ "$completed" = reproduce ] || fail "bash completes \`npsim rep\` to \`$completed\`"

dpkg --root="$root" --purge npsim >/dev/null 2>"$root/tmp/dpkg" || fail "$(cat "$root/tmp/dpkg")"
files | diff "$root/var/before" - >"$root/tmp/left" || fail "left behind: $(cat "$root/tmp/left")"
echo "used and removed"
