#!/usr/bin/env bash
# Makes the captures in this folder again, or checks them.
#
#   sudo traces/make.sh [DIR]   capture everything anew into DIR (default: this folder)
#   traces/make.sh --table [DIR]  print the content table that tshark sees
#   traces/make.sh --check [DIR]  compare that table with README.md; exit 1 on a difference
#
# Making needs root (network namespaces, packet sockets) and: iproute2, ethtool, tcpdump, tshark,
# iputils-ping, python3. Everything happens in three fresh namespaces that are removed at the end;
# nothing outside them is touched, and no frame leaves the machine. It takes about a minute.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
files=(mixed.pcap exceptions.pcap minsize.pcap.gz two-ports.pcapng)

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "make.sh: '$tool' is missing; install it first (see the head of this script)" >&2; exit 2; }
    done
}

# One Markdown row for each file: frames, bytes, shortest and longest frame, flows, frames whose
# IPv4 header checksum is wrong, frames whose TCP, UDP or ICMP checksum is wrong.
table() {
    local dir=$1 file path verify
    verify=(-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE)
    for file in "${files[@]}"; do
        path=$dir/$file
        [ -r "$path" ] || { echo "make.sh: cannot read $path" >&2; exit 1; }
        local sizes flows bad_ip bad_l4
        sizes=$(tshark -r "$path" -T fields -e frame.len 2>/dev/null | awk '
            NR == 1 || $1 < low { low = $1 } $1 > high { high = $1 } { sum += $1 }
            END { printf "%d | %d | %d | %d", NR, sum, low, high }')
        # A flow is a 5-tuple in one direction; fragments and other protocols have no ports and count by addresses and protocol.
        flows=$(tshark -r "$path" -Y 'ip or ipv6' -T fields -E occurrence=f \
            -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst -e ip.proto -e ipv6.nxt \
            -e tcp.srcport -e tcp.dstport -e udp.srcport -e udp.dstport 2>/dev/null | sort -u | wc -l)
        bad_ip=$(tshark "${verify[@]}" -r "$path" -Y 'ip.checksum.status == "Bad"' 2>/dev/null | wc -l)
        bad_l4=$(tshark "${verify[@]}" -r "$path" \
            -Y 'tcp.checksum.status == "Bad" or udp.checksum.status == "Bad" or icmp.checksum.status == "Bad"' 2>/dev/null | wc -l)
        echo "| \`$file\` | $sizes | $flows | $bad_ip | $bad_l4 |"
    done
}

check() {
    local dir=$1 row wrong=0
    while IFS= read -r row; do
        if ! grep -qxF -- "$row" "$here/README.md"; then
            echo "make.sh: README.md has no row like this one, which is what tshark finds: $row" >&2
            wrong=1
        fi
    done < <(table "$dir")
    [ "$wrong" -eq 0 ] || exit 1
    echo "make.sh: ${#files[@]} captures are as README.md says"
}

case ${1-} in
    --table) need tshark awk; table "${2-$here}"; exit 0 ;;
    --check) need tshark awk; check "${2-$here}"; exit 0 ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "make.sh: unknown option $1 (try --help)" >&2; exit 2 ;;
esac

out=$(mkdir -p "${1-$here}" && cd "${1-$here}" && pwd)
need ip ethtool tcpdump tshark mergecap python3 ping gzip tc
[ "$(id -u)" -eq 0 ] || { echo "make.sh: making captures needs root; --check does not" >&2; exit 2; }

left=npsim-left-$$
router=npsim-router-$$
right=npsim-right-$$
work=$(mktemp -d)
started=()
listeners=()

finish() {
    local pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for ns in "$left" "$router" "$right"; do ip netns del "$ns" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

# Not for background jobs that are to be killed: the job would be a subshell, and the signal would end only that.
L() { ip netns exec "$left" "$@"; }
R() { ip netns exec "$router" "$@"; }
G() { ip netns exec "$right" "$@"; }

# left (10.1.0.0/24) -- router -- right (10.2.0.0/24, and the documentation prefixes behind it)
build() {
    ip netns add "$left"; ip netns add "$router"; ip netns add "$right"
    for ns in "$left" "$router" "$right"; do
        ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
        ip -n "$ns" link set lo up
    done
    ip -n "$left" link add eth0 type veth peer name port0 netns "$router"
    ip -n "$right" link add eth0 type veth peer name port1 netns "$router"
    ip -n "$left" link set eth0 address 02:00:00:00:01:0a
    ip -n "$router" link set port0 address 02:00:00:00:01:01
    ip -n "$right" link set eth0 address 02:00:00:00:02:0a
    ip -n "$router" link set port1 address 02:00:00:00:02:01

    # Without this the stacks would hand over frames of up to 64 kB with unfinished checksums.
    for place in "$left eth0" "$right eth0" "$router port0" "$router port1"; do
        set -- $place
        ip netns exec "$1" ethtool -K "$2" tx off rx off tso off gso off gro off sg off >/dev/null
        ip netns exec "$1" ip link set "$2" up
        # Spaces frames as a gigabit line would; where the kernel has no tbf the frames come closer together.
        ip netns exec "$1" tc qdisc add dev "$2" root tbf rate 1gbit burst 1600 latency 50ms 2>/dev/null || true
    done

    for host in 11 12 13 14; do ip -n "$left" addr add 10.1.0.$host/24 brd + dev eth0; done
    for host in 21 22 23; do ip -n "$right" addr add 10.2.0.$host/24 brd + dev eth0; done
    ip -n "$router" addr add 10.1.0.1/24 brd + dev port0
    ip -n "$router" addr add 10.2.0.1/24 brd + dev port1
    for net in 192.0.2.0/24 198.51.100.0/24; do
        ip -n "$router" route add $net via 10.2.0.21
        ip -n "$right" route add local $net dev lo
    done
    ip -n "$left" route add default via 10.1.0.1
    ip -n "$right" route add default via 10.2.0.1
    R sysctl -qw net.ipv4.ip_forward=1
    for ns in "$left" "$right"; do ip netns exec "$ns" sysctl -qw net.ipv4.ping_group_range="0 0"; done
    sleep 0.5
}

flush_neighbours() {
    for ns in "$left" "$router" "$right"; do ip -n "$ns" neigh flush all; done
}

wait_for() {
    local tries=0
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "make.sh: waited 10 s for '$2' in $1:" >&2; cat "$1" >&2; exit 1; }
        sleep 0.1
    done
}

# serve SIDE NS: the servers of one side, running until the end of the script
serve() {
    ip netns exec "$2" timeout 120 python3 "$here/endpoints.py" serve >"$work/$1.log" 2>&1 &
    started+=($!)
    wait_for "$work/$1.log" ready
}

# listen PORT FILE: writes what that port of the router receives to FILE until stop_listening
listen() {
    ip netns exec "$router" timeout 120 tcpdump -i "$1" -Q in -s 0 -Z root --immediate-mode \
        --time-stamp-precision=nano -U -w "$2" 2>"$2.log" &
    listeners+=($!)
    started+=($!)
    wait_for "$2.log" "listening on"
}

stop_listening() {
    sleep 0.5
    kill -TERM "${listeners[@]}"
    wait "${listeners[@]}" || true
    listeners=()
}

# record FILE COMMAND...: what port0 of the router receives while COMMAND runs
record() {
    local file=$1
    shift
    flush_neighbours
    listen port0 "$file"
    "$@"
    stop_listening
}

pings() {
    L ping -q -n -c 12 -i 0.02 -I 10.1.0.11 10.2.0.21 >/dev/null &
    local first=$!
    L ping -q -n -c 8 -i 0.03 -s 1000 -I 10.1.0.12 198.51.100.7 >/dev/null
    wait "$first"
}

mixed() {
    L timeout 60 python3 "$here/endpoints.py" mixed &
    local traffic=$!
    pings
    wait "$traffic"
}

both() {
    L timeout 60 python3 "$here/endpoints.py" from-left &
    local one=$!
    G timeout 60 python3 "$here/endpoints.py" from-right &
    local two=$!
    L ping -q -n -c 8 -i 0.02 -I 10.1.0.11 10.2.0.21 >/dev/null
    wait "$one"
    wait "$two"
}

exceptions() {
    L ping -q -n -c 3 -i 0.05 -M dont -s 4000 -I 10.1.0.11 10.2.0.21 >/dev/null
    L ping -q -n -c 2 -i 0.05 -R -I 10.1.0.12 10.2.0.22 >/dev/null
    L ping -q -n -c 2 -i 0.05 -T tsandaddr -I 10.1.0.12 10.2.0.22 >/dev/null
    for ttl in 1 2; do L ping -q -n -c 2 -i 0.05 -t $ttl -W 1 -I 10.1.0.13 10.2.0.22 >/dev/null || true; done
    L ping -q -n -c 2 -i 0.05 -I 10.1.0.11 10.1.0.1 >/dev/null
    L ping -q -n -b -c 2 -i 0.2 -W 1 -I 10.1.0.11 10.1.0.255 >/dev/null 2>&1 || true
    L ping -q -n -c 1 -W 1 -I 10.1.0.11 203.0.113.9 >/dev/null || true
    L timeout 60 python3 "$here/endpoints.py" exceptions
    L ping -q -n -6 -c 3 -i 0.05 fd00:2::21 >/dev/null
    L ping -q -n -6 -c 1 -t 1 -W 1 fd00:2::21 >/dev/null || true
    L ping -q -n -6 -c 1 -W 1 ff02::1%eth0 >/dev/null || true
}

allow_ipv6() {
    for ns in "$left" "$router" "$right"; do
        ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
            net.ipv6.conf.all.accept_dad=0
    done
    R sysctl -qw net.ipv6.conf.all.forwarding=1
    ip -n "$left" addr add fd00:1::11/64 dev eth0 nodad
    ip -n "$router" addr add fd00:1::1/64 dev port0 nodad
    ip -n "$router" addr add fd00:2::1/64 dev port1 nodad
    ip -n "$right" addr add fd00:2::21/64 dev eth0 nodad
    ip -n "$left" route add default via fd00:1::1
    ip -n "$right" route add default via fd00:2::1
    sleep 1
}

build
serve left "$left"
serve right "$right"

record "$work/mixed.pcap" mixed
record "$work/minsize.pcap" L timeout 60 python3 "$here/endpoints.py" minsize
gzip -9n "$work/minsize.pcap"

flush_neighbours
listen port0 "$work/port0.pcap"
listen port1 "$work/port1.pcap"
both
stop_listening
# Two interfaces in one file, frames in the order of their times.
mergecap -I none -F pcapng -w "$work/two-ports.pcapng" "$work/port0.pcap" "$work/port1.pcap"

allow_ipv6
record "$work/exceptions.pcap" exceptions

for file in "${files[@]}"; do install -m 644 "$work/$file" "$out/$file"; done
echo "make.sh: new captures in $out; rows for README.md:"
table "$out"
