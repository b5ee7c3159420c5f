#!/usr/bin/env python3
"""Records two Linux TCPs over a path that loses chosen packets: see README.md.

As root: record.py FOLDER. Makes two network namespaces with a TUN device each, moves packets between
them, and writes what both ends sent and got as FOLDER/NAME.pcap.gz. Removes the namespaces at the end.
"""

import fcntl
import gzip
import heapq
import os
import select
import socket
import struct
import subprocess
import sys
import time

A, B = "npsim-rec-a", "npsim-rec-b"
DELAY = 0.020  # one way
SPACING = 0.001  # at the line towards the receiver
MTU = 296  # so that segments carry 256 bytes
SEGMENT = MTU - 40

# The data packets that the line loses, numbered from 1, and the number of segments.
SCENARIOS = {
    "clean": (True, 120, []),
    "sack-one": (True, 120, [21]),
    "sack-three": (True, 120, [30, 33, 36]),
    "sack-burst": (True, 120, [40, 41, 42, 43, 44, 45]),
    "sack-repair": (True, 120, [30, 50]),
    "newreno-one": (False, 120, [21]),
    "newreno-three": (False, 120, [30, 33, 36]),
    "sack-tail": (True, 60, [60]),
}

SYSCTLS = {
    "tcp_congestion_control": "reno",
    "tcp_timestamps": "0",
    "tcp_dsack": "0",
    "tcp_recovery": "0",  # no RACK: the rules of RFC 6675
    "tcp_early_retrans": "0",  # no tail loss probe
    "tcp_no_metrics_save": "1",
    "tcp_ecn": "0",
    "tcp_min_snd_mss": "48",
}


def run(*words):
    subprocess.run(words, check=True)


def tun(name, namespace, address, peer):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0001 | 0x1000))
    run("ip", "link", "set", name, "netns", namespace)
    run("ip", "-n", namespace, "addr", "add", address, "peer", peer, "dev", name)
    run("ip", "-n", namespace, "link", "set", name, "mtu", str(MTU), "up")
    run("ip", "-n", namespace, "link", "set", "lo", "up")
    return device


def inside(namespace, *words, **more):
    return subprocess.Popen(["ip", "netns", "exec", namespace, sys.executable, __file__, *words], **more)


def receive():
    with socket.create_server(("10.9.0.2", 5001)) as listener:
        print("ready", flush=True)
        connection, _ = listener.accept()
        while connection.recv(1 << 16):
            pass
        connection.close()


def send(segments):
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        connection.bind(("10.9.0.1", 1024))
        connection.connect(("10.9.0.2", 5001))
        connection.sendall(bytes(int(segments) * SEGMENT))


def relay(a, b, lost, out):
    """Moves packets until both ends have closed and been silent for a second."""
    due, serial, placed, free_at, closed = [], 0, 0, 0.0, set()
    start = time.monotonic()
    last = start
    records = []

    # A packet to the receiver is recorded twice: where it was sent and, with a TTL one lower, where it arrived.
    def note(packet):
        records.append((time.monotonic() - start, packet))

    while not (len(closed) == 2 and time.monotonic() - last > 1):
        now = time.monotonic()
        if now - start > 60:
            raise SystemExit("the transfer did not end")
        wait = min(0.1, max(0.0, due[0][0] - now)) if due else 0.1
        ready, _, _ = select.select([a, b], [], [], wait)
        for device in ready:
            packet = os.read(device, 65536)
            if packet[0] >> 4 != 4 or packet[9] != 6:
                continue
            last = now = time.monotonic()
            header = 20 + (packet[32] >> 4) * 4
            if packet[33] & 1:
                closed.add(device)
            note(packet)
            if device == b:
                heapq.heappush(due, (now + DELAY, serial, a, packet))
            else:
                data = len(packet) > header
                placed += data
                if data and placed in lost:
                    continue
                free_at = max(free_at, now) + SPACING
                heapq.heappush(due, (free_at + DELAY, serial, b, packet))
            serial += 1
        while due and due[0][0] <= time.monotonic():
            _, _, device, packet = heapq.heappop(due)
            os.write(device, packet)
            # One packet per turn, so that the answer is read before the next packet arrives.
            if device == b:
                note(lower(packet))
                break
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for at, packet in records:
            seconds, micros = divmod(int(at * 1e6), 1_000_000)
            file.write(struct.pack("<IIII", seconds, micros, len(packet), len(packet)) + packet)


def lower(packet):
    """The packet behind a router: TTL one lower, IPv4 checksum put right."""
    header = bytearray(packet[:20])
    header[8] -= 1
    header[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", total ^ 0xFFFF)
    return bytes(header) + packet[20:]


def record(folder, name, sack, segments, lost):
    try:
        for namespace in (A, B):
            run("ip", "netns", "add", namespace)
        a = tun("npsim-rec-0", A, "10.9.0.1", "10.9.0.2")
        b = tun("npsim-rec-1", B, "10.9.0.2", "10.9.0.1")
        for namespace in (A, B):
            for key, value in {**SYSCTLS, "tcp_sack": str(int(sack))}.items():
                if key == "tcp_min_snd_mss" and namespace == B:
                    continue
                run("ip", "netns", "exec", namespace, "sysctl", "-q", "-w", f"net.ipv4.{key}={value}")
        ends = [inside(B, "receive", stdout=subprocess.PIPE)]
        ends[0].stdout.readline()
        ends.append(inside(A, "send", str(segments)))
        relay(a, b, lost, os.path.join(folder, f"{name}.pcap.gz"))
        for end in ends:
            end.wait()
        os.close(a)
        os.close(b)
    finally:
        for namespace in (A, B):
            subprocess.run(["ip", "netns", "del", namespace], check=False)


def main(words):
    match words:
        case ["receive"]:
            receive()
        case ["send", segments]:
            send(segments)
        case [folder]:
            for name, (sack, segments, lost) in SCENARIOS.items():
                record(folder, name, sack, segments, lost)
                print(name)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
