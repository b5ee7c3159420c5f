#!/usr/bin/env bash
# A Debian package of a built command.
#
#     packaging/deb/build.sh BINARY FOLDER
#
# Writes FOLDER/npsim_VERSION_ARCHITECTURE.deb and its SHA-256 beside it. The package contains the command, manual pages,
# completions for three shells, the book as HTML, the shipped systems and captures in /usr/share/npsim, licences and changelog.
set -euo pipefail
# All users read the installed files, and dpkg-deb rejects folders with other permissions.
umask 022

[ $# -eq 2 ] || { echo "usage: packaging/deb/build.sh BINARY FOLDER" >&2; exit 2; }
for tool in dpkg-deb readelf gzip; do
    command -v "$tool" >/dev/null || { echo "packaging/deb/build.sh: $tool is missing" >&2; exit 1; }
done
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
binary=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
version=$("$binary" --version | cut -d ' ' -f 2)
# To dpkg, `0.3.0-rc.1` is newer than `0.3.0`, and `0.3.0~rc.1` is older.
version=${version/-/\~}
architecture=$(dpkg --print-architecture)
# The time of the last commit, so that the same sources give the same bytes.
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH=$epoch

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
"$root/packaging/install-tree" "$binary" "$tree" debian
documents=$tree/usr/share/doc/npsim
if command -v strip >/dev/null; then
    strip "$tree/usr/bin/npsim"
fi

# Libraries that the loader needs; a static program needs none.
needs=
if readelf -d "$tree/usr/bin/npsim" | grep NEEDED >/dev/null; then
    libc=$(readelf -V "$tree/usr/bin/npsim" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
    needs="libc6 (>= $libc)"
    if readelf -d "$tree/usr/bin/npsim" | grep libgcc_s >/dev/null; then
        needs="$needs, libgcc-s1"
    fi
fi

cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: npsim
Source: https://github.com/npsim/npsim
Comment: Libraries of others that are linked into the command are listed with
 their licences in THIRD-PARTY-LICENSES.txt.gz beside this file.

Files: *
Copyright: 2026 The npsim developers
License: Expat or Apache-2.0

License: Expat
$(sed -n '/^Permission/,$p' "$root/LICENSE-MIT" | sed 's/^$/./; s/^/ /')

License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
END
rm "$documents/LICENSE-MIT" "$documents/LICENSE-APACHE"
mv "$documents/CHANGELOG.md" "$documents/changelog"
gzip -9n "$documents/changelog" "$documents/THIRD-PARTY-LICENSES.txt" "$tree"/usr/share/man/man1/*.1

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f ! -perm -u+x -exec chmod 644 {} +
find "$tree" -type f -perm -u+x -exec chmod 755 {} +
size=$(du -ks "$tree/usr" | cut -f 1)
mkdir "$tree/DEBIAN"
{
    cat <<END
Package: npsim
Version: $version
Architecture: $architecture
Maintainer: The npsim developers <npsim@users.noreply.github.com>
Installed-Size: $size
Section: electronics
Priority: optional
Homepage: https://github.com/npsim/npsim
END
    [ -z "$needs" ] || echo "Depends: $needs"
    cat <<END
Description: laboratory for Intel IXP network processors
 npsim assembles microengine microcode, runs it on a cycle-approximate model of
 the Intel IXP2400 or IXP2800, sends captures or generated traffic through it,
 and reports where every cycle went. Its debugger also runs backwards.
 .
 Systems to run and to copy are in /usr/share/npsim, the book is in
 /usr/share/doc/npsim/html and in "npsim docs".
END
} >"$tree/DEBIAN/control"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -newermt "@$epoch" -exec touch -h -d "@$epoch" {} +

package=$folder/npsim_${version}_${architecture}.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >/dev/null
(cd "$folder" && sha256sum "$(basename "$package")" >"$(basename "$package").sha256")
echo "$package"
