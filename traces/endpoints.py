#!/usr/bin/env python3
"""Servers and clients whose traffic make.sh captures. Run inside its network namespaces.

Content, sizes, addresses and source ports are fixed; what the kernel chooses (initial sequence
numbers, TCP timestamps, segmentation of acknowledgements) differs from run to run.
"""

import socket
import struct
import sys
import threading
import time

HTTP = 80
UDP_ANSWER = 7000
UDP_SINK = 9
IP_PKTINFO = 8  # linux/in.h; Python names it only from 3.14 on


def text(length):
    """`length` bytes of numbered lines."""
    lines = b"".join(b"%07d abcdefghijklmnopqrstuvwxyz 0123456789\n" % n for n in range(length // 46 + 1))
    return lines[:length]


# ---- servers -------------------------------------------------------------------------------


def read_line(stream):
    return stream.readline().decode("ascii").strip()


def http_connection(sock):
    """A few HTTP/1.1 requests on one connection: GET /<bytes>, PUT with Content-Length."""
    with sock, sock.makefile("rwb") as stream:
        while True:
            request = read_line(stream)
            if not request:
                return
            method, path, _ = request.split()
            length = 0
            while header := read_line(stream):
                name, value = header.split(":", 1)
                if name.lower() == "content-length":
                    length = int(value)
            stream.read(length)
            body = text(int(path[1:])) if method == "GET" else b"stored %d\n" % length
            stream.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body))
            stream.write(body)
            stream.flush()


def http_server():
    listener = socket.create_server(("0.0.0.0", HTTP), backlog=64)
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=http_connection, args=(sock,), daemon=True).start()


def udp_answers(sock):
    """The first two bytes of a request say how long the answer is to be."""
    while True:
        request, peer, local = receive_with_address(sock)
        answer = text(struct.unpack("!H", request[:2])[0])
        source = struct.pack("@I4s4s", 0, socket.inet_aton(local), b"\0" * 4)
        sock.sendmsg([answer], [(socket.IPPROTO_IP, IP_PKTINFO, source)], 0, peer)


def receive_with_address(sock):
    """Data, sender, and the address it was sent to: answers must leave from that one."""
    data, control, _, peer = sock.recvmsg(65536, 256)
    for level, kind, value in control:
        if level == socket.IPPROTO_IP and kind == IP_PKTINFO:
            return data, peer, socket.inet_ntoa(value[8:12])
    raise RuntimeError("no destination address on a datagram")


def serve():
    answers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    answers.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    answers.bind(("0.0.0.0", UDP_ANSWER))
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("0.0.0.0", UDP_SINK))
    threading.Thread(target=udp_answers, args=(answers,), daemon=True).start()
    threading.Thread(target=http_server, daemon=True).start()
    print("ready", flush=True)
    while True:
        sink.recv(65536)


# ---- clients -------------------------------------------------------------------------------


def http_client(source, server, requests):
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(source)
    sock.settimeout(20)
    sock.connect((server, HTTP))
    with sock, sock.makefile("rwb") as stream:
        for method, size in requests:
            head = b"Host: %s\r\nUser-Agent: npsim-traces\r\n" % server.encode()
            if method == "GET":
                stream.write(b"GET /%d HTTP/1.1\r\n%s\r\n" % (size, head))
            else:
                stream.write(b"PUT /0 HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s" % (head, size, text(size)))
            stream.flush()
            length = 0
            status = read_line(stream)
            if not status.endswith("200 OK"):
                raise RuntimeError(f"{server} answered {status!r}")
            while header := read_line(stream):
                if header.lower().startswith("content-length:"):
                    length = int(header.split(":")[1])
            if len(stream.read(length)) != length:
                raise RuntimeError(f"{server} closed early")


def udp_client(source, server, sizes, pause):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(source)
    sock.settimeout(5)
    for request, answer in sizes:
        sock.sendto(struct.pack("!H", answer) + text(request - 2), (server, UDP_ANSWER))
        if len(sock.recv(65536)) != answer:
            raise RuntimeError("wrong answer")
        time.sleep(pause)


def together(*jobs):
    """Runs all jobs at once; the first failure is the program's."""
    failures = []

    def run(job):
        try:
            job[0](*job[1:])
        except Exception as error:  # reported below, from the main thread
            failures.append((job, error))

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"endpoints.py: {failures[0][0]}: {failures[0][1]}")


def mixed():
    small = [("GET", 200 + 40 * n) for n in range(25)]
    together(
        (http_client, ("10.1.0.11", 41001), "10.2.0.21", [("PUT", 180_000)]),
        (http_client, ("10.1.0.12", 41002), "10.2.0.22", [("PUT", 120_000), ("PUT", 60_000)]),
        (http_client, ("10.1.0.13", 41003), "192.0.2.10", [("PUT", 90_000), ("GET", 50_000)]),
        (http_client, ("10.1.0.11", 41004), "198.51.100.20", [("GET", 250_000)]),
        (http_client, ("10.1.0.14", 41005), "10.2.0.23", [("GET", 120_000), ("GET", 30_000)]),
        (http_client, ("10.1.0.12", 41006), "192.0.2.77", small),
        (udp_client, ("10.1.0.13", 42001), "10.2.0.21", [(40 + 10 * n, 120) for n in range(40)], 0.003),
        (udp_client, ("10.1.0.14", 42002), "198.51.100.5", [(18, 1000)] * 40, 0.004),
        (udp_client, ("10.1.0.11", 42003), "192.0.2.200", [(1200, 18)] * 30, 0.005),
    )


def from_left():
    together(
        (http_client, ("10.1.0.11", 43001), "10.2.0.21", [("PUT", 60_000)]),
        (http_client, ("10.1.0.12", 43002), "192.0.2.10", [("GET", 60_000)]),
        (udp_client, ("10.1.0.13", 44001), "198.51.100.5", [(60, 300)] * 30, 0.003),
    )


def from_right():
    together(
        (http_client, ("10.2.0.22", 43003), "10.1.0.13", [("PUT", 40_000)]),
        (http_client, ("10.2.0.23", 43004), "10.1.0.14", [("GET", 40_000)]),
        (udp_client, ("10.2.0.21", 44002), "10.1.0.12", [(300, 60)] * 30, 0.003),
    )


def minsize():
    """Eight flows that take turns; 18 bytes of UDP payload make a 60-byte frame."""
    servers = ["10.2.0.21", "10.2.0.22", "192.0.2.1", "192.0.2.129", "198.51.100.1", "198.51.100.64", "10.2.0.23", "198.51.100.200"]
    flows = []
    for n, server in enumerate(servers):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind((f"10.1.0.{11 + n % 4}", 45000 + n))
        sock.connect((server, UDP_SINK))
        flows.append(sock)
        # The first datagram waits for ARP; the rest must not overflow the queue behind it.
        sock.send(b"npsim %11d\n" % 0)
        time.sleep(0.05)
    for n in range(1, 500):
        for sock in flows:
            sock.send(b"npsim %11d\n" % n)
        if n % 20 == 0:
            time.sleep(0.005)


# ---- what a fast path does not forward ------------------------------------------------------


def datagram(source, destination, payload=b"npsim exception", options=(), family=socket.AF_INET):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind(source)
    for level, name, value in options:
        sock.setsockopt(level, name, value)
    sock.sendto(payload, destination)
    time.sleep(0.02)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_byte(frame, offset, value, repair=True):
    """A copy with one byte changed and, unless told otherwise, a right IPv4 header checksum."""
    copy = bytearray(frame)
    copy[offset] = value
    if repair:
        copy[24:26] = b"\0\0"
        copy[24:26] = struct.pack("!H", checksum(copy[14:34]))
    return bytes(copy)


def altered_copies():
    """Frames that a stack refuses to send: copies of one of its own with one thing changed."""
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    raw.bind(("eth0", 0))
    raw.settimeout(5)
    datagram(("10.1.0.14", 46100), ("10.2.0.21", UDP_SINK))
    while True:
        frame, (_, _, direction, *_) = raw.recvfrom(2048)
        if direction == socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00" and frame[34:36] == struct.pack("!H", 46100):
            break
    ip = 14
    martian = bytearray(frame)
    martian[ip + 12 : ip + 16] = socket.inet_aton("127.0.0.1")
    copies = [
        with_byte(frame, ip + 10, frame[ip + 10] ^ 0x01, repair=False),  # wrong header checksum
        with_byte(frame, ip + 11, frame[ip + 11] ^ 0x80, repair=False),  # wrong header checksum
        with_byte(frame, ip, 0x55),  # version 5
        with_byte(frame, ip, 0x44),  # header length of 16 bytes
        with_byte(frame, ip + 2, 0x40),  # total length far beyond the frame
        with_byte(frame, ip + 8, 0),  # TTL 0
        with_byte(bytes(martian), ip + 8, 64),  # source 127.0.0.1
        frame[:-1] + bytes([frame[-1] ^ 0x01]),  # UDP checksum no longer right; IPv4 header fine
        frame[:12] + b"\x81\x00\x00\x64" + frame[12:],  # 802.1Q tag, VLAN 100
        b"\x02\x00\x00\x00\x01\xee" + frame[6:],  # another station's MAC address
        frame[:12] + b"\x88\xb5" + frame[14:],  # EtherType for local experiments
        frame[: ip + 12],  # cut inside the IPv4 header
        frame[: ip + 22],  # cut inside the UDP header
    ]
    for copy in copies:
        raw.send(copy)
        time.sleep(0.02)


def exceptions():
    ip = socket.IPPROTO_IP
    mtu_discover, dont_fragment_never = 10, 0
    for n, size in enumerate((1473, 2000, 4000)):
        datagram(("10.1.0.11", 46000 + n), ("10.2.0.21", UDP_SINK), text(size), [(ip, mtu_discover, dont_fragment_never)])
    for n in range(3):
        datagram(("10.1.0.12", 46010), ("10.2.0.22", 33434 + n), b"probe", [(ip, socket.IP_TTL, 1)])
    datagram(("10.1.0.12", 46011), ("10.2.0.22", UDP_SINK), b"last hop", [(ip, socket.IP_TTL, 2)])
    no_operations = b"\x01\x01\x01\x01"
    router_alert = b"\x94\x04\x00\x00"
    for n, options in enumerate((no_operations, router_alert)):
        datagram(("10.1.0.13", 46020 + n), ("10.2.0.21", UDP_SINK), b"options", [(ip, socket.IP_OPTIONS, options)])
    datagram(("10.1.0.11", 46030), ("10.1.0.255", UDP_SINK), b"subnet", [(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)])
    datagram(
        ("10.1.0.11", 46031),
        ("255.255.255.255", UDP_SINK),
        b"everybody",
        [(socket.SOL_SOCKET, socket.SO_BROADCAST, 1), (socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0\0")],
    )
    # Joining makes the kernel send IGMP reports, which carry the router alert option.
    member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    member.setsockopt(ip, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.1.2.3") + socket.inet_aton("10.1.0.11"))
    for n in range(2):
        datagram(
            ("10.1.0.11", 46040 + n),
            ("239.1.2.3", UDP_SINK),
            b"group",
            [(ip, socket.IP_MULTICAST_TTL, 8), (ip, socket.IP_MULTICAST_IF, socket.inet_aton("10.1.0.11"))],
        )
    time.sleep(1)
    datagram(("10.1.0.12", 46050), ("203.0.113.9", UDP_SINK), b"no route")
    datagram(("10.1.0.12", 46051), ("10.2.0.99", UDP_SINK), b"no such host")
    datagram(("10.1.0.12", 46052), ("10.1.0.1", UDP_SINK), b"for the router")
    datagram(("10.1.0.12", 46053), ("10.2.0.21", UDP_SINK), b"")
    datagram(("fd00:1::11", 46060), ("fd00:2::21", UDP_SINK), b"version 6", family=socket.AF_INET6)
    altered_copies()


if __name__ == "__main__":
    parts = {
        "serve": serve,
        "mixed": mixed,
        "from-left": from_left,
        "from-right": from_right,
        "minsize": minsize,
        "exceptions": exceptions,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: endpoints.py {'|'.join(parts)}")
    parts[sys.argv[1]]()
