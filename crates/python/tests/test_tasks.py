"""Tasks of the core and look-aside devices in Python."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

import npsim


def forwarder(task: Any) -> npsim.Project:
    """The forwarder with a class in place of its task `icmp`."""
    with open("microcode/forward/icmp.toml", "rb") as file:
        keys = tomllib.load(file)
    del keys["gpp"]["icmp"]
    keys["gpp"]["tasks"] = ["routes", "exceptions", task.name]
    keys["gpp"][task.name] = {"ring": "CORE_RING"}
    return npsim.load(keys, base="microcode/forward", tasks=[task])


def pinged(project: npsim.Project) -> npsim.Chip:
    chip = project.chip()
    ping = Ether(dst="02:00:00:00:01:00") / IP(src="10.1.0.77", dst="10.1.0.1") / ICMP() / b"x"
    chip.feed(bytes(ping))
    return chip


class Silent:
    """Takes everything and answers nothing."""

    name = "silent"

    def __init__(self, keys: dict[str, Any]) -> None:
        self.seen: list[tuple[int, int, int]] = []

    def takes(self, packet: npsim.SlowPathPacket) -> bool:
        return True

    def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> bytes | None:
        self.seen.append((packet.reason, packet.length, len(frame)))
        return None


def test_packet_without_an_answer_is_counted_as_silent() -> None:
    chip = pinged(forwarder(Silent))
    chip.run_for("1ms")
    assert chip.departures() == []
    assert chip.stats["gpp"]["silent"] == [{"answered": 0, "silent": 1, "given_up": 0}]
    idle = forwarder(Silent).chip()
    idle.run_for("1ms")
    assert chip.stats["buffers"] == idle.stats["buffers"]
    state = chip.save()
    chip.restore(state)


def test_task_exceptions_propagate_from_a_run() -> None:
    class Broken(Silent):
        def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> bytes | None:
            raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        pinged(forwarder(Broken)).run_for("1ms")

    class Short(Silent):
        def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> bytes | None:
            return b"short"

    with pytest.raises(ValueError, match="not an IPv4 datagram"):
        pinged(forwarder(Short)).run_for("1ms")

    class Worded(Silent):
        def answer(self, packet: npsim.SlowPathPacket, frame: bytes) -> Any:
            return "no bytes"

    with pytest.raises(TypeError, match="`answer` gives a str; give the bytes"):
        pinged(forwarder(Worded)).run_for("1ms")


def test_task_exceptions_propagate_from_a_chain(tmp_path: Path) -> None:
    class Broken(Silent):
        def takes(self, packet: npsim.SlowPathPacket) -> bool:
            raise LookupError("in a chain")

    trace = tmp_path / "ping.pcap"
    ping = Ether(dst="02:00:00:00:01:00") / IP(src="10.1.0.77", dst="10.1.0.1") / ICMP()
    wrpcap(str(trace), [ping])
    with pytest.raises(LookupError, match="in a chain"):
        forwarder(Broken).run(trace=trace, hops=2, threads=2)


def test_unpicklable_task_cannot_be_saved_or_debugged() -> None:
    class Generating(Silent):
        def __init__(self, keys: dict[str, Any]) -> None:
            super().__init__(keys)
            self.numbers: Iterator[int] = (number for number in range(3))

    chip = forwarder(Generating).chip()
    chip.run_for("10us")
    with pytest.raises(TypeError, match="cannot be copied or saved"):
        chip.save()
    with pytest.raises(TypeError, match="cannot be copied or saved"):
        forwarder(Generating).debug(load=0.1).goto("50us")


def test_debugger_restores_task_state() -> None:
    debugger = forwarder(Silent).debug(load={"rate": 0.2, "time": "100us"})
    debugger.goto("80us")
    before = debugger.view()["contexts"]
    debugger.goto("10us")
    debugger.goto("80us")
    assert debugger.view()["contexts"] == before


class Rotation:
    """Writes a table on a timer, in two accesses."""

    name = "rotation"
    bytes = 20

    def __init__(self, keys: dict[str, Any]) -> None:
        self.version = 0
        self.accesses = 0

    def step(self, words: list[int] | None) -> npsim.Write | None:
        self.accesses += 1
        if self.accesses == 1:
            return npsim.Write(4, [(at + self.version) % 4 for at in range(4)])
        if self.accesses == 2:
            self.version += 1
            return npsim.Write(0, [self.version])
        self.accesses = 0
        return None


def test_timer_task_matches_the_rust_example() -> None:
    run = npsim.load("crates/npsim/examples/write_a_task/npsim.toml", tasks=[Rotation]).run()
    gpp = run.stats["nodes"][0]["chip"]["gpp"]
    assert (run.ending, gpp["rotation"]) == ("quiet", [{"jobs": 5}])


def test_a_device_answers_questions() -> None:
    class Tcam:
        name = "tcam"
        longwords = 16

        def __init__(self, keys: dict[str, Any]) -> None:
            self.keys = keys

        def answer(self, table: npsim.Column, question: int) -> tuple[int, int]:
            assert len(table) == 16
            return 7, 12

    example = "crates/npsim/examples/write_a_device/npsim.toml"
    run = npsim.load(example, devices=[Tcam]).run()
    assert run.stats["nodes"][0]["chip"]["tcam"]["questions"] == 3


@pytest.mark.parametrize(
    ("tasks", "text"),
    [([int], "no `name`"), ([object()], "no `name`"), (3, "iterable")],
)
def test_invalid_task_classes_are_refused(tasks: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        npsim.load("microcode/forward", tasks=tasks)


def test_out_of_bounds_table_accesses_are_refused() -> None:
    class Outside(Rotation):
        def step(self, words: list[int] | None) -> npsim.Write | None:
            return npsim.Write(16, [1, 2])

    project = npsim.load("crates/npsim/examples/write_a_task/npsim.toml", tasks=[Outside])
    with pytest.raises(ValueError, match="leaves the table"):
        project.run()
    for offset, words in ((2, [1]), (0, []), (0, [0] * 9)):
        with pytest.raises(ValueError, match="longwords"):
            npsim.Write(offset, words)
