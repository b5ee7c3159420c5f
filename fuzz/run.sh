#!/bin/sh
# Runs the fuzz targets one after another.
#
#   fuzz/run.sh [SECONDS [TARGET...]]
#
# SECONDS is the time for each target (60). Inputs that reach new code are kept in
# fuzz/found/TARGET, inputs that fail in fuzz/artifacts/TARGET; neither is
# committed. Exits with 1 if a target found a failure.
set -eu

cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- preprocess parse assemble decode image capture packet \
    elf checkpoint recording project network lsp dap page
toolchain=${FUZZ_TOOLCHAIN:-nightly}

# Sources and captures of the repository that are small enough to mutate.
seed() {
    case $1 in
    preprocess | assemble)
        find ../microcode ../crates/asm/tests/corpus -name '*.uc' -size -8k
        ;;
    capture)
        find ../traces -size -64k \( -name '*.pcap' -o -name '*.pcapng' -o -name '*.gz' \)
        ;;
    elf)
        find ../crates/xscale/tests/programs -name '*.elf'
        ;;
    project)
        find ../microcode -name '*.toml' -size -4k
        ;;
    network)
        find ../traces/networks -name '*.toml'
        ;;
    esac | while read -r file; do
        # Files in different folders have the same name.
        cp "$file" "found/$1/seed-$(echo "${file#../}" | tr '/' '-')"
    done
}

# Longest input of a target: longer ones would only test throughput.
longest() {
    case $1 in
    preprocess | assemble) echo 4096 ;;
    parse) echo 400 ;;
    decode) echo 60 ;;
    image) echo 4096 ;;
    capture) echo 32768 ;;
    packet) echo 256 ;;
    elf) echo 8192 ;;
    checkpoint) echo 256 ;;
    recording | project | network | lsp | dap | page) echo 4096 ;;
    *)
        echo "fuzz/run.sh: there is no target \`$1\`" >&2
        exit 2
        ;;
    esac
}

found=0
for target in "$@"; do
    length=$(longest "$target")
    mkdir -p "found/$target" "artifacts/$target" "corpus/$target"
    seed "$target"
    dictionary=
    case $target in
    preprocess | assemble) dictionary=-dict=uc.dict ;;
    image) dictionary=-dict=image.dict ;;
    lsp | dap | page) dictionary=-dict=messages.dict ;;
    esac
    echo "== $target: $seconds s =="
    # No sanitizer: there is no unsafe code here, so it would only cost speed.
    cargo "+$toolchain" fuzz run --fuzz-dir . --sanitizer none "$target" \
        "found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len="$length" -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 $dictionary || found=1
done
exit $found
