"""Tasks of the core in Python."""

from __future__ import annotations

import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import npsim


def checksum(data: bytes) -> int:
    data += bytes(len(data) % 2)
    total = sum(int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Pings:
    """Answers echo requests to the router's addresses."""

    name = "pings"

    def __init__(self, keys: dict[str, Any]) -> None:
        self.reason = keys["local_reason"]
        self.identification = 0

    def takes(self, packet: npsim.SlowPathPacket) -> bool:
        header = packet.header
        return bool(packet.reason == self.reason and header[23] == 1 and header[34] == 8)

    def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> bytes:
        ip = bytearray(frame[14 : 14 + int.from_bytes(frame[16:18])])
        self.identification = (self.identification + 1) & 0xFFFF
        ip[4:8] = self.identification.to_bytes(2) + bytes(2)
        ip[8] = 64
        ip[12:16], ip[16:20] = ip[16:20], ip[12:16]
        ip[10:12] = bytes(2)
        ip[10:12] = checksum(bytes(ip[:20])).to_bytes(2)
        ip[20:24] = bytes(4)
        ip[22:24] = checksum(bytes(ip[20:])).to_bytes(2)
        return bytes(ip)


class Broken(Pings):
    def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> bytes:
        raise LookupError("no idea")


class Unsaved(Pings):
    """Holds a generator, which cannot be pickled."""

    def __init__(self, keys: dict[str, Any]) -> None:
        super().__init__(keys)
        self.generator = (number for number in range(3))


def project(task: Any) -> npsim.Project:
    keys = tomllib.loads(Path("microcode/forward/icmp.toml").read_text())
    del keys["gpp"]["icmp"]
    keys["gpp"]["tasks"] = ["routes", "exceptions", "pings"]
    keys["gpp"]["pings"] = {"ring": "CORE_RING", "local_reason": 5}
    return npsim.load(keys, base="microcode/forward", tasks=[task])


def ping(chip: npsim.Chip, number: int) -> None:
    datagram = IP(src="10.1.0.77", dst="10.1.0.1", id=number) / ICMP(id=7, seq=number)
    chip.feed(Ether(dst="02:00:00:00:01:00") / datagram / Raw(bytes(10 + 40 * number)), port=0)


def answers(chip: npsim.Chip, numbers: range) -> list[bytes]:
    for number in numbers:
        ping(chip, number)
    chip.run_for("2ms")
    return [left.frame for left in chip.departures()]


def test_python_task_sends_the_same_packets_as_rust() -> None:
    shipped = answers(npsim.load("microcode/forward/icmp.toml").chip(), range(5))
    assert len(shipped) == 5
    own = project(Pings)
    assert answers(own.chip(), range(5)) == shipped
    assert answers(pickle.loads(pickle.dumps(own)).chip(), range(5)) == shipped


def test_a_task_is_saved_with_its_chip() -> None:
    chip = project(Pings).chip()
    answers(chip, range(2))
    state = chip.save()
    one = answers(chip, range(2, 4))
    chip.restore(state)
    assert one and answers(chip, range(2, 4)) == one


def test_task_exception_propagates() -> None:
    chip = project(Broken).chip()
    ping(chip, 0)
    with pytest.raises(LookupError, match="no idea"):
        chip.run_for("1ms")


def test_saving_an_unpicklable_task_fails() -> None:
    chip = project(Unsaved).chip()
    chip.run_for("10us")
    with pytest.raises((npsim.Error, TypeError), match="pickle|save"):
        chip.save()


@pytest.mark.parametrize("tasks", [[int], [object()], 3])
def test_non_task_objects_are_refused(tasks: Any) -> None:
    with pytest.raises((npsim.Error, TypeError, AttributeError)):
        npsim.load("microcode/forward", tasks=tasks)
