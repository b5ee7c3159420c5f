#!/usr/bin/env bash
# Tests a live run between real hosts: what a script can check by counts and hashes, never by rates.
#
#   traces/live/check.sh NPSIM [SECONDS | thorough]
#
# Needs root, iproute2, ping, traceroute, curl, python3 and iperf3; without them it says what is missing and passes.
# SECONDS is how long the exchange of small packets lasts, 20 if left out. `thorough` takes half an hour on an idle
# machine: ten minutes of small packets, a download of 50 MB, and the only check of a rate: iperf3 in dilated time
# measures what simulated hosts measure on the same lines.
set -euo pipefail
cd "$(dirname "$0")/../.."
npsim=$(realpath "${1:?the npsim command}")
seconds=${2:-20}
thorough=
[ "$seconds" != thorough ] || { thorough=1 seconds=600; }
work=$(mktemp -d)

missing() { echo "skipped: $*"; exit 0; }
[ "$(id -u)" = 0 ] || missing "a live run opens interfaces, which takes root"
[ -e /dev/net/tun ] || missing "this host has no /dev/net/tun"
for tool in ip ping traceroute curl python3 iperf3; do
    command -v $tool >/dev/null || missing "$tool is not installed"
done
ip netns add np-probe 2>/dev/null || missing "network namespaces cannot be made here"
ip netns del np-probe

live=
clean() {
    [ -z "$live" ] || kill "$live" 2>/dev/null || true
    jobs -p | xargs -r kill 2>/dev/null || true
    traces/live/three-hosts.sh down
    veths down
    umount "$work/full" 2>/dev/null || true
    rm -rf "$work"
}
trap clean EXIT
fail() { echo "FAILED: $*" >&2; tail -n 5 "$work"/*.log >&2; exit 1; }
# Two hosts that are joined by veth pairs instead of TAPs: np-one with 10.1.0.2 and np-two with 10.2.0.2, whose other
# ends, npv0 and npv1, are here; both have IPv6 and a VLAN, too, and leave checksums, tags and segmentation
# to the interface.
veths() { # up | down
    local side namespace
    for side in 0 1; do
        namespace=$([ $side = 0 ] && echo np-one || echo np-two)
        if [ "$1" = down ]; then
            ip netns del $namespace 2>/dev/null || true
            ip link del npv$side 2>/dev/null || true
            continue
        fi
        ip netns add $namespace
        ip link add npv$side type veth peer name npe$side netns $namespace
        ip -n $namespace link set lo up
        ip -n $namespace addr add 10.$((side + 1)).0.2/16 dev npe$side
        ip -n $namespace addr add 10.8.0.$((side + 1))/24 dev npe$side
        ip -n $namespace addr add fd00::$((side + 1))/64 dev npe$side nodad 2>/dev/null || true
        ip -n $namespace link set npe$side up
        ip -n $namespace route add default via 10.$((side + 1)).0.1
        # Not every kernel has VLANs.
        if ip -n $namespace link add link npe$side name npe$side.7 type vlan id 7 2>/dev/null; then
            ip -n $namespace addr add 10.7.0.$((side + 1))/24 dev npe$side.7
            ip -n $namespace link set npe$side.7 up
        fi
        # The machine itself is neither of the two hosts: it must send no IPv6 messages.
        sysctl -qw net.ipv6.conf.npv$side.disable_ipv6=1 2>/dev/null || true
        ip link set npv$side up
    done
}
left() { ip netns exec np-left "$@"; }
right() { ip netns exec np-right "$@"; }

# Starts a live run with these options, and waits until it answers.
start() { # TARGET OPTION...
    local target=$1
    shift
    "$npsim" live "$target" "$@" --control "$work/sock" >"$work/live.log" 2>&1 &
    live=$!
    for _ in $(seq 200); do
        "$npsim" live --ask "$work/sock" status >/dev/null 2>&1 && return
        kill -0 $live 2>/dev/null || fail "the run did not begin: $(cat "$work/live.log")"
        sleep 0.1
    done
    fail "the run does not answer"
}
ask() { "$npsim" live --ask "$work/sock" "$@"; }
# Ends the run with a signal, and checks that its exit code is the expected one.
stop() { # SIGNAL CODE
    local code=0
    kill "-$1" $live
    wait $live || code=$?
    live=
    [ "$code" = "$2" ] || fail "SIG$1 ended the run with $code, not $2"
}
same() { cmp "$1" "$2" || fail "$3"; }
# Checks that replaying a recording gives the departures of the live run. The reference core takes minutes for seconds.
replays() { # TARGET NAME CORE...
    for core in "${@:3}"; do
        "$npsim" run "$1" --trace "$work/$2.pcapng" --pace recorded --core $core --quiet --out "$work/$core.pcapng" 2>>"$work/replay.log"
        same "$work/$2-out.pcapng" "$work/$core.pcapng" "the $core does not repeat $2"
    done
}

# Checks that replaying a recording of a network gives the departures of the live run.
replays_network() { # NETWORK NAME OPTION...
    local network=$1 name=$2
    shift 2
    "$npsim" network "$network" --recorded "$work/$name.pcapng" --quiet --out "$work/again.pcapng" "$@" 2>>"$work/replay.log" || fail "$name cannot be repeated: $*"
    same "$work/$name-out.pcapng" "$work/again.pcapng" "the network does not repeat $name: $*"
}
# iperf3 between two namespaces; the results are in iperf.log.
iperf() { # CLIENT SERVER ADDRESS OPTION...
    local client=$1 server=$2 address=$3 pid
    shift 3
    ip netns exec "$server" iperf3 -s -1 >"$work/server.log" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        ip netns exec "$server" ss -ltn | grep -q ':5201 ' && break
        sleep 0.1
    done
    ip netns exec "$client" iperf3 -c "$address" --json "$@" >"$work/iperf.log" || fail "iperf3 $* to $address failed: $(grep '"error"' "$work/iperf.log")"
    wait $pid || true
}
# Checks that no datagram of iperf3 was lost.
nothing_lost() {
    python3 - "$work/iperf.log" <<'END' || fail "iperf3 lost datagrams"
import json, sys
end = json.load(open(sys.argv[1]))["end"]["sum"]
sys.exit(f"{end['lost_packets']} of {end['packets']}" if end["lost_packets"] or end["packets"] < 50 else 0)
END
}

forwarder=microcode/forward/arp.toml
three=(--port 0=tap:np0@np-left --port 1=tap:np1@np-right --port 2=tap:np2@np-far)
recorded=(--record "$work/lab.pcapng" --out "$work/lab-out.pcapng")
wire=traces/live/wire.toml
wired=(--port left=if:npv0 --port right=if:npv1)
traces/live/three-hosts.sh down
traces/live/three-hosts.sh up
mkdir "$work/www"
head -c 5000000 /dev/urandom >"$work/www/file"
(cd "$work/www" && exec ip netns exec np-right python3 -m http.server --bind 10.2.0.2 8000 >"$work/http.log" 2>&1) &

echo "ping, traceroute, small packets both ways, a route that is pulled"
# Dilated, so that the reference core has little simulated time to repeat.
start $forwarder "${three[@]}" "${recorded[@]}" --dilate 10
left ping -qc 5 -i 0.2 -W 5 10.1.0.1 >"$work/ping.log" || fail "the router does not answer"
left ping -qc 5 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through"
left traceroute -n -w 5 -q 1 10.2.0.2 >"$work/trace.log"
grep -q '^ 1  10\.1\.0\.1 ' "$work/trace.log" && grep -q '^ 2  10\.2\.0\.2 ' "$work/trace.log" || fail "the traceroute has not both hops"
left ping -qc $((seconds * 10)) -i 0.1 -s 64 -W 5 10.2.0.2 >"$work/left.log" &
one=$!
right ping -qc $((seconds * 10)) -i 0.1 -s 64 -W 5 10.1.0.2 >"$work/right.log" &
two=$!
wait $one $two
for log in left right; do
    grep -q ' 0% packet loss' "$work/$log.log" || fail "small packets are lost: $(cat "$work/$log.log")"
done
# The default route leads there, too: only removing the route would lose nothing.
ask route remove 10.2.0.0/16 >/dev/null || fail "the route cannot be removed"
ask route add 10.2.0.0/16 discard >/dev/null || fail "another route cannot be added"
left ping -qc 2 -i 0.2 -W 1 10.2.0.2 >"$work/ping.log" && fail "a pulled route still leads there"
ask route change 10.2.0.0/16 port=1 next_hop=10.2.0.2 >/dev/null || fail "the route cannot be put back"
left ping -qc 3 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "the route is not back"
stop INT 130
replays $forwarder lab engine $([ -n "$thorough" ] || echo reference)

echo "a download, with its hash, and iperf3 in slipping and in dilated time"
start $forwarder "${three[@]}" "${recorded[@]}"
left curl -fsS --max-time 120 -o "$work/copy" http://10.2.0.2:8000/file || fail "the download broke off"
same "$work/www/file" "$work/copy" "the download is not what was served"
stop TERM 130
replays $forwarder lab engine
for dilation in 1 20; do
    start $forwarder "${three[@]}" --dilate $dilation --stats "$work/iperf.json"
    iperf np-left np-right 10.2.0.2 -u -b 4M -t 2
    nothing_lost
    iperf np-left np-right 10.2.0.2 -t 3
    stop INT 130
    python3 - "$work/iperf.log" "$work/iperf.json" $dilation <<'END' || fail "retransmissions or drops with dilation $dilation"
import json, sys
iperf, live = (json.load(open(name)) for name in sys.argv[1:3])
# A clock that slips may be slower than the host's timers.
again = iperf["end"]["sum_sent"]["retransmits"] if sys.argv[3] != "1" else 0
dropped = sum(port["dropped"] for port in live["live"]["ports"])
sys.exit(f"{again} retransmissions, {dropped} drops" if again or dropped else 0)
END
done

echo "a kill, and a disk that is full"
start $forwarder "${three[@]}" "${recorded[@]}"
left ping -qc 10 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log"
sleep 1.5
kill -KILL $live
wait $live || true
live=
"$npsim" run $forwarder --trace "$work/lab.pcapng" --pace recorded --quiet --stats "$work/killed.json" 2>>"$work/replay.log" || fail "the recording of a run that was killed cannot be repeated"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["packets"]["offered"] < 20)' "$work/killed.json" || fail "the recording of a run that was killed lacks frames"
mkdir "$work/full"
if mount -t tmpfs -o size=64k tmpfs "$work/full" 2>/dev/null; then
    start $forwarder "${three[@]}" --record "$work/full/lab.pcapng"
    left ping -qc 200 -i 0.01 -s 1400 -W 1 10.2.0.2 >"$work/ping.log" || true
    code=0
    wait $live || code=$?
    live=
    [ $code = 1 ] || fail "a full disk ended the run with $code"
    grep -q 'the recording cannot be written' "$work/live.log" || fail "a full disk is not named"
    "$npsim" run $forwarder --trace "$work/full/lab.pcapng" --pace recorded --quiet 2>>"$work/replay.log" || fail "the recording of a full disk is not whole"
fi

echo "three routers in a row, in one network"
routers=traces/live/three-routers.toml
two=(--port left=tap:np0@np-left --port right=tap:np1@np-right)
start $routers "${two[@]}" "${recorded[@]}" --dilate 10
left ping -qc 5 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through three routers"
left traceroute -n -w 5 -q 1 10.2.0.2 >"$work/trace.log"
[ "$(grep -c '^ [1-4]  [0-9]' "$work/trace.log")" = 4 ] || fail "three routers and a host are not four hops: $(cat "$work/trace.log")"
ask route r3 remove 10.2.0.0/16 >/dev/null || fail "a route of a router in a network cannot be removed"
left ping -qc 2 -i 0.2 -W 1 10.2.0.2 >"$work/ping.log" && fail "a route that was pulled from a network still leads there"
ask route r3 add 10.2.0.0/16 port=1 next_hop=10.2.0.2 >/dev/null || fail "the route cannot be put back into a network"
left ping -qc 3 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "the route is not back in the network"
ask counters r2.gpp | grep -q exceptions || fail "no counters of a router"
stop INT 130
replays_network $routers lab --core reference
replays_network $routers lab --threads 1
start $routers "${two[@]}" "${recorded[@]}"
left curl -fsS --max-time 120 -o "$work/copy" http://10.2.0.2:8000/file || fail "the download through three routers broke off"
same "$work/www/file" "$work/copy" "the download through three routers is not what was served"
stop INT 130
replays_network $routers lab --threads 3

echo "equal routers in a row"
# Routers that find each other by ARP, and routers that know their neighbours and check what is addressed to them.
pair=(--port 0=tap:np0@np-left --port 1=tap:np1@np-right)
start $forwarder --hops 3 "${pair[@]}" "${recorded[@]}" --dilate 10
left ping -qc 5 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through a chain"
right ping -qc 5 -i 0.2 -W 5 10.1.0.2 >"$work/ping.log" || fail "nothing comes back through a chain"
left traceroute -n -w 5 -q 1 10.2.0.2 >"$work/trace.log"
[ "$(grep -cE '^ [1-4]  (10\.1\.0\.1|172\.31\.[12]\.2|10\.2\.0\.2) ' "$work/trace.log")" = 4 ] || fail "a chain of three and a host are not four hops: $(cat "$work/trace.log")"
stop INT 130
replays_network $forwarder lab --hops 3 --core reference
replays_network $forwarder lab --hops 3 --threads 1
known() { # NAMESPACE TAP MAC ROUTER MAC
    ip -n "$1" link set "$2" address "$3"
    ip -n "$1" neigh replace "$4" lladdr "$5" dev "$2"
}
known np-left np0 02:00:5e:10:00:00 10.1.0.1 02:00:5e:00:00:00
known np-right np1 02:00:5e:10:00:01 10.2.0.1 02:00:5e:00:00:01
strict=(--hops 2 --set 'me.0.define={}')
start microcode/forward/icmp.toml "${strict[@]}" "${pair[@]}" "${recorded[@]}" --dilate 10
left ping -qc 5 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through a chain of known neighbours"
stop INT 130
replays_network microcode/forward/icmp.toml lab "${strict[@]}"
for host in "left np0" "right np1"; do
    ip -n "np-${host% *}" neigh flush dev "${host#* }" nud permanent
done

echo "interfaces that exist, with checksums, tags and segments that are left to them"
veths up
ends=(--port 0=if:npv0 --port 1=if:npv1)
start $forwarder "${ends[@]}" "${recorded[@]}"
ip netns exec np-one ping -qc 15 -i 0.2 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through veth pairs"
iperf np-one np-two 10.2.0.2 -u -b 4M -t 1
nothing_lost
iperf np-one np-two 10.2.0.2 -n 1M
stop INT 130
replays $forwarder lab engine
start $wire "${wired[@]}" "${recorded[@]}"
for address in 10.8.0.2 fd00::2 10.7.0.2; do
    if ! ip -n np-one route get $address 2>/dev/null | grep -Eq ' src (10\.8\.0\.1|fd00::1|10\.7\.0\.1)( |$)'; then
        echo "  nothing to $address: this kernel has no such interface"
        continue
    fi
    iperf np-one np-two $address -u -b 4M -t 1
    nothing_lost
    iperf np-one np-two $address -n 500K
done
ip netns exec np-two timeout 20 python3 - >"$work/datagrams.log" <<'END' &
import socket
end = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
end.bind(("::", 7777))
print("listens", flush=True)
print(*[len(end.recv(9999)) for _ in range(12)])
END
receiver=$!
for _ in $(seq 100); do
    grep -q listens "$work/datagrams.log" && break
    sleep 0.1
done
ip netns exec np-one python3 - <<'END' || fail "no datagrams can be sent"
import socket
UDP_SEGMENT = 103
for family, address in (socket.AF_INET, "10.8.0.2"), (socket.AF_INET6, "fd00::2"):
    end = socket.socket(family, socket.SOCK_DGRAM)
    try:
        end.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        end.sendto(bytes(5500), (address, 7777))
    except OSError:  # This kernel cuts no datagrams.
        for length in [1000] * 5 + [500]:
            end.sendto(bytes(length), (address, 7777))
# A tagged frame, whose tag the kernel removes at the receiver.
line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
line.bind(("npe0", 0))
line.send(b"\xff" * 6 + b"\x02\0\0\0\0\1" + b"\x81\0\x60\7\x88\xb5tagged" + bytes(40))
END
wait $receiver || fail "datagrams are lost: $(cat "$work/datagrams.log")"
grep -q '^1000 1000 1000 1000 1000 500 1000 1000 1000 1000 1000 500$' "$work/datagrams.log" || fail "datagrams are cut wrongly: $(cat "$work/datagrams.log")"
sleep 0.5
stop INT 130
LC_ALL=C grep -qaP '\x81\x00\x60\x07\x88\xb5tagged' "$work/lab-out.pcapng" || fail "a tag is lost"
replays_network $wire lab
start $forwarder "${ends[@]}"
ip link del npv1
code=0
wait $live || code=$?
live=
[ $code = 1 ] && grep -q 'npv1. is gone' "$work/live.log" || fail "an interface that vanishes ended the run with $code: $(cat "$work/live.log")"
veths down

echo "the rate of dilated time beside that of simulated hosts"
# An idle machine can keep up with a much smaller dilation; a rate is the chip's only without slip.
dilation=$([ -n "$thorough" ] && echo 100 || echo 50)
# A machine that is busy for a moment wakes the simulator late; the simulator then catches up.
start $forwarder "${three[@]}" --dilate $dilation --max-late 50ms --stats "$work/rate.json"
renice -n -10 -p $live >/dev/null 2>&1 || true
iperf np-left np-right 10.2.0.2 -t $([ -n "$thorough" ] && echo 60 -O 20 || echo 3)
stop INT 130
"$npsim" network traces/live/stacks.toml --quiet --stats "$work/stacks.json"
python3 - "$work/iperf.log" "$work/rate.json" "$work/stacks.json" $dilation "$thorough" <<'END' || fail "the rates differ"
import json, sys
iperf, live, stacks = (json.load(open(name)) for name in sys.argv[1:4])
real = iperf["end"]["sum_received"]["bits_per_second"] * float(sys.argv[4]) / 1e6
transfer = stacks["transfers"][0]
simulated = transfer["request"]["delivered"] * 8 / transfer["completion_s"] / 1e6
again = iperf["end"]["sum_sent"]["retransmits"]
slipped = live["live"]["slipped_nanoseconds"] / live["live"]["host_nanoseconds"]
print(f"  iperf3 {real:.0f} Mb/s of simulated time, {again} retransmissions, {slipped:.2%} slipped; simulated hosts {simulated:.0f} Mb/s")
dropped = sum(port["dropped"] for port in live["live"]["ports"])
if transfer["outcome"] != "done" or dropped:
    sys.exit(f"{transfer['outcome']}, {dropped} drops")
if sys.argv[5] and slipped > 0.01:
    sys.exit("this machine is too busy for a rate: repeat it on an idle one")
if sys.argv[5] and abs(real / simulated - 1) > 0.05:
    sys.exit("more than 5 % apart")
END

if [ -n "$thorough" ]; then
    echo "50 MB"
    head -c 50000000 /dev/urandom >"$work/www/large"
    start $forwarder "${three[@]}" "${recorded[@]}" --dilate auto
    left curl -fsS --max-time 1200 -o "$work/copy" http://10.2.0.2:8000/large || fail "the download of 50 MB broke off"
    same "$work/www/large" "$work/copy" "the 50 MB are not what was served"
    stop INT 130
    "$npsim" run $forwarder --trace "$work/lab.pcapng" --pace recorded --quiet --out "$work/engine.pcapng" 2>>"$work/replay.log"
    same "$work/lab-out.pcapng" "$work/engine.pcapng" "the engine does not repeat the download of 50 MB"
fi

echo "files that are written on request, and the screen"
requests() {
    start $forwarder "${three[@]}"
    # A timeline slows the simulator so much that hardly any packets get through.
    ask timeline start "$work/asked.json.gz" >/dev/null || fail "no timeline can be begun"
    ask timeline stop >/dev/null || fail "the timeline does not end"
    ask packets start "$work/asked.csv" >/dev/null || fail "no table of packets can be begun"
    left ping -qc 10 -i 0.1 -W 5 10.2.0.2 >"$work/ping.log" || fail "nothing comes through while it is observed"
    ask packets stop >/dev/null || fail "the table of packets does not end"
    python3 - "$work/asked.json.gz" "$work/asked.csv" <<'END' || fail "what was written on request is not whole"
import csv, gzip, json, sys
events = json.load(gzip.open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
rows = list(csv.DictReader(open(sys.argv[2])))
assert len(events) > 1000, len(events)
assert len(rows) >= 20 and any("10.2.0.2" in row["flow"] for row in rows), rows[:3]
END
    ask counters gpp | grep -q exceptions || fail "no counters"
    stop INT 130
    # `q` ends a run on a terminal, which is then as before.
    local code=0
    (sleep 4; printf q) | script -qec "stty rows 50 cols 140; '$npsim' live $forwarder ${three[*]} --screen" "$work/screen.log" >/dev/null || code=$?
    [ $code = 0 ] || fail "q ended the screen with $code"
    grep -q Bottleneck "$work/screen.log" && grep -q Contexts "$work/screen.log" || fail "the screen lacks panes"
    grep -qF $'\e[?1049l' "$work/screen.log" || fail "the terminal is not restored"
}
command -v script >/dev/null && requests

echo "what cannot be"
refused() { # WORDS OPTION...
    local words=$1 code=0
    shift
    timeout 20 "$npsim" live $forwarder "$@" --until 1s >"$work/refused.log" 2>&1 || code=$?
    [ $code = 1 ] && grep -q "$words" "$work/refused.log" || fail "no refusal ($words): $(cat "$work/refused.log")"
}
refused 'there is no such interface' --port 0=if:np-none
refused 'there is no network namespace' --port 0=tap:np0@np-none
refused 'that is not a TAP' --port 0=tap:lo@np-left
refused 'there is no port' --port 9=tap:np0@np-left
refused 'joined to two interfaces' --port 0=tap:np0@np-left --port 0=tap:np1@np-right
refused 'two ports are joined' --port 0=tap:np0@np-left --port 1=tap:np0@np-left
ip -n np-far link set np2 mtu 9000
refused 'MTU of 9000' --port 2=tap:np2@np-far
start $forwarder "${three[@]:0:4}"
traces/live/three-hosts.sh down
code=0
wait $live || code=$?
live=
[ $code = 1 ] && grep -q 'is gone' "$work/live.log" || fail "a namespace that vanishes ended the run with $code: $(cat "$work/live.log")"
echo "all as it should be"
