#!/usr/bin/env bash
# Three hosts around a simulated router: a network namespace each, joined to a port by a TAP.
#
#   three-hosts.sh up      makes the namespaces np-left, np-right and np-far with their TAPs
#   three-hosts.sh down    removes them
#
# For microcode/forward/arp.toml: 10.1.0.2 at port 0, 10.2.0.2 at port 1, 192.0.2.2 at port 2.
# Needs root and iproute2. Then, in another terminal:
#
#   npsim live microcode/forward/arp.toml --port 0=tap:np0@np-left --port 1=tap:np1@np-right --port 2=tap:np2@np-far
#   ip netns exec np-left ping 10.2.0.2
set -eu

hosts() {
    "$@" np-left np0 10.1.0.2/16 10.1.0.1
    "$@" np-right np1 10.2.0.2/16 10.2.0.1
    "$@" np-far np2 192.0.2.2/24 192.0.2.1
}

up() { # NAMESPACE TAP ADDRESS ROUTER
    ip netns add "$1"
    ip -n "$1" link set lo up
    ip -n "$1" tuntap add "$2" mode tap
    # The router does not support IPv6.
    ip netns exec "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=1" 2>/dev/null || true
    ip -n "$1" addr add "$3" dev "$2"
    ip -n "$1" link set "$2" up
    ip -n "$1" route add default via "$4"
}

down() { # NAMESPACE ...
    ip netns del "$1" 2>/dev/null || true
}

case "${1-}" in
    up) hosts up ;;
    down) hosts down ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
