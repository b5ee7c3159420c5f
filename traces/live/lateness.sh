#!/usr/bin/env bash
# Measures how late frames leave a live run, and what an idle run costs: the table of docs/src/live.md.
#
#   traces/live/lateness.sh NPSIM [SECONDS]
#
# Sends datagrams of 1000 bytes from one host to another through the forwarder: first as many as the line takes, which
# shows how many frames a second the simulator can handle; then a hundredth, a tenth and half of that, SECONDS (20 if
# left out) each. Then a chip and a network of three run idle as long. The figures are for this machine, which must
# be otherwise idle. Needs root, iproute2, iperf3 and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
npsim=$(realpath "${1:?the npsim command}")
seconds=${2:-20}
work=$(mktemp -d)
live=
clean() {
    [ -z "$live" ] || kill "$live" 2>/dev/null || true
    traces/live/three-hosts.sh down
    rm -rf "$work"
}
trap clean EXIT
traces/live/three-hosts.sh down
traces/live/three-hosts.sh up
ends=(--port 0=tap:np0@np-left --port 1=tap:np1@np-right)

start() { # TARGET OPTION...
    "$npsim" live "$@" --control "$work/sock" --stats "$work/stats.json" --quiet >"$work/live.log" 2>&1 &
    live=$!
    for _ in $(seq 100); do
        "$npsim" live --ask "$work/sock" status >/dev/null 2>&1 && return
        sleep 0.1
    done
    echo "the run does not answer: $(cat "$work/live.log")" >&2
    exit 1
}
stop() {
    kill -INT $live
    wait $live || true
    live=
}
# Sends at a rate in bit/s for a number of seconds, through a run of the forwarder.
send() { # RATE SECONDS
    start microcode/forward/arp.toml "${ends[@]}"
    ip netns exec np-left ping -qc 3 -i 0.2 -W 5 10.2.0.2 >/dev/null
    ip netns exec np-right timeout $(($2 + 20)) iperf3 -s -1 >/dev/null 2>&1 &
    local server=$!
    sleep 0.5
    ip netns exec np-left iperf3 -c 10.2.0.2 -u -b "$1" -l 1000 -t "$2" >"$work/iperf.log" 2>&1 || cat "$work/iperf.log" >&2
    wait $server || true
    stop
}
figures() { # EXPRESSION
    python3 -c "import json; live = json.load(open('$work/stats.json'))['live']; late = live['departures']; $1"
}

send 1G 5
borne=$(figures "print(round(live['ports'][0]['came'] / 5))")
echo "the simulator bears $borne frames a second; of time that the host has, what slips is left out"
echo
echo "| load | frames | median | 90 of 100 | 99 of 100 | most | slipped |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for percent in 1 10 50; do
    send $((borne * percent / 100 * 8000)) "$seconds"
    figures "
us = lambda name: f'{late[name] / 1000:,.0f} us'
print(f'| $percent % |', ' | '.join([str(late['frames']), us('p50_ns'), us('p90_ns'), us('p99_ns'), us('max_ns'), f\"{live['slipped_nanoseconds'] / live['host_nanoseconds']:.2%}\"]), '|')"
done
echo

# The processor time of an idle run, without its start.
idle() { # NAME TARGET OPTION...
    local name=$1 before after
    shift
    start "$@"
    sleep 2
    before=$(awk '{print $14 + $15}' /proc/$live/stat)
    sleep "$seconds"
    after=$(awk '{print $14 + $15}' /proc/$live/stat)
    python3 -c "print(f'$name, idle: {($after - $before) / $(getconf CLK_TCK) / $seconds:.1%} of a core')"
    stop
    figures "print(f\"  {live['slipped_nanoseconds'] / 1e6:.1f} ms slipped\")"
}
idle "a chip" microcode/forward/arp.toml "${ends[@]}"
idle "three chips" traces/live/three-routers.toml --port left=tap:np0@np-left --port right=tap:np1@np-right
