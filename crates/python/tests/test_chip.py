"""A chip that is fed frame by frame."""

from __future__ import annotations

from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

import npsim

US = 600  # cycles


def datagram(to: str = "10.1.0.5", ttl: int = 9) -> Any:
    frame = Ether(src="02:00:00:00:00:09", dst="02:00:5e:00:00:00")
    return frame / IP(src="192.0.2.9", dst=to, ttl=ttl) / UDP(sport=5, dport=7) / Raw(b"hello")


def sent(chip: npsim.Chip) -> list[tuple[int, Any]]:
    return [(it.port, Ether(bytes(it))) for it in chip.departures()]


def test_scapy_packets_are_forwarded_and_dissected(forward: npsim.Project) -> None:
    chip = forward.chip()
    assert chip.feed(datagram("10.1.0.5"), port=2) == 0
    chip.feed(bytes(datagram("10.2.0.5")), port=2, at="1us")
    chip.feed(bytearray(bytes(datagram("10.1.0.6"))), port=1, at=2 * US)
    chip.run_for("100us")
    assert chip.now == 100 * US
    left = sent(chip)
    assert sorted(port for port, _ in left) == [0, 0, 1]
    for port, frame in left:
        packet = frame[IP]
        assert packet.ttl == 8
        assert frame[Raw].load.startswith(b"hello")
        kept = packet.chksum
        del packet.chksum
        assert IP(bytes(packet)).chksum == kept, "the checksum is right"
        assert frame.src == f"02:00:5e:00:00:0{port}"
    assert chip.departures() == []


def test_departures_have_times_and_origins(forward: npsim.Project) -> None:
    chip = forward.chip()
    first = chip.feed(datagram(), port=2)
    second = chip.feed(datagram(ttl=5), port=2)
    # 64 bytes, preamble and gap at 1 Gbit/s.
    assert second - first == pytest.approx(84 * 8 * 0.6, abs=1)
    chip.run_for("50us")
    one, two = chip.departures()
    assert one.start > first and one.end - one.start == pytest.approx(72 * 8 * 0.6, abs=60)
    assert two.start >= one.end
    assert (one.origin, two.origin) == (0, 1) and len(one.frame) == 60
    assert bytes(one) == one.frame
    chip.restore(chip.save())
    chip.feed(datagram(), port=0)
    chip.run_for("50us")
    assert [it.origin for it in chip.departures()] == [2]


def test_core_answers_arp_and_icmp() -> None:
    chip = npsim.load("microcode/forward/arp.toml").chip()
    host = "02:00:00:00:00:09"
    asked = Ether(src=host, dst="ff:ff:ff:ff:ff:ff") / ARP(
        op="who-has", hwsrc=host, psrc="10.1.0.2", pdst="10.1.0.1"
    )
    chip.feed(asked, port=0)
    chip.run_for("1ms")
    ((port, answer),) = sent(chip)
    assert port == 0 and answer[ARP].op == 2 and answer[ARP].psrc == "10.1.0.1"
    ping = Ether(src=host, dst=answer[ARP].hwsrc) / IP(src="10.1.0.2", dst="10.1.0.1")
    chip.feed(ping / ICMP(id=4, seq=1) / Raw(b"0123456789"), port=0)
    chip.run_for("1ms")
    ((port, answer),) = sent(chip)
    assert port == 0 and answer[ICMP].type == 0 and answer[IP].src == "10.1.0.1"
    assert (answer[ICMP].id, answer[ICMP].seq) == (4, 1)
    assert answer[Raw].load.startswith(b"0123456789")


def test_restored_state_continues_identically(forward: npsim.Project) -> None:
    def go_on(chip: npsim.Chip) -> tuple[int, list[bytes], dict[str, Any]]:
        chip.feed(datagram(ttl=3), port=1)
        chip.run_for("80us")
        return chip.now, [bytes(it) for it in chip.departures()], chip.stats

    chip = forward.chip()
    chip.feed(datagram(), port=0)
    chip.run_for("3us")
    state = chip.save()
    assert isinstance(state, bytes)
    one = go_on(chip)
    chip.restore(state)
    assert chip.now == 3 * US
    assert go_on(chip) == one
    other = forward.chip()
    other.restore(state)
    assert go_on(other) == one


def test_states_of_other_chips_are_refused(forward: npsim.Project) -> None:
    chip = forward.chip()
    state = npsim.load("microcode/router").chip().save()
    for wrong in (state, b"", b"nonsense", chip.save()[:-7]):
        with pytest.raises(npsim.Error, match="not a state of such a chip"):
            chip.restore(wrong)
    chip.feed(datagram(), port=0)
    chip.run_for("50us")
    assert len(chip.departures()) == 1


def test_memory_is_a_column(forward: npsim.Project) -> None:
    chip = forward.chip()
    words = chip.memory("scratch", 0x100, 8)
    assert len(words) == 8 and memoryview(words).format == "I"
    chip.feed(datagram(to="127.0.0.1"), port=0)
    chip.run_for("50us")
    assert sum(chip.memory("DROP_MARTIAN")) == 1


def test_frames_with_bad_time_port_or_size_are_refused(forward: npsim.Project) -> None:
    chip = forward.chip()
    chip.run_to("10us")
    with pytest.raises(npsim.Error, match="is over"):
        chip.feed(datagram(), at="1us")
    with pytest.raises(npsim.Error, match="ports 0 to 2"):
        chip.feed(datagram(), port=3)
    for wrong in (b"", bytes(70_000)):
        with pytest.raises(npsim.Error, match="1 to 65,535"):
            chip.feed(wrong)


def test_lost_frames_are_reported() -> None:
    # Four microengines' worth of work for one: RBUF fills.
    chip = npsim.load("microcode/forward", set={"profile.sram.read": 4_000}).chip()
    for _ in range(400):
        for port in range(3):
            chip.feed(bytes(datagram()), port=port)
    chip.run_for("1ms")
    lost = chip.lost()
    assert lost
    for cycle, reason in lost:
        assert 0 < cycle < chip.now and isinstance(reason, str)
    assert chip.lost() == []
