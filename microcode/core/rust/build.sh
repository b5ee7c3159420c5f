#!/bin/sh
# Makes ../tally.elf. Needs a nightly toolchain with the source of its library:
#
#     rustup toolchain install nightly --component rust-src
set -eu
cd "$(dirname "$0")"
toolchain=${TOOLCHAIN:-nightly}
# No path of the build machine gets into the file.
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\037' -Ctarget-cpu=xscale -Clink-arg=-T../lib/core.ld -Clink-arg=--build-id=none \
    -Clink-arg=-zmax-page-size=32 "--remap-path-prefix=$(rustc "+$toolchain" --print sysroot)/lib/rustlib/src/rust/library=library")"--remap-path-prefix=$PWD=rust"
export CARGO_ENCODED_RUSTFLAGS
# The target has no compiled library, so `core` is built with the program.
cargo "+$toolchain" build --release --target armv5te-none-eabi -Zbuild-std=core
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
cp "$target/armv5te-none-eabi/release/tally" ../tally.elf
