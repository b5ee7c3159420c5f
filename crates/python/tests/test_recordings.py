"""Recordings of live runs are repeated cycle by cycle, as by the command."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from conftest import Command

import npsim

TARGET = "microcode/forward/arp.toml"
HERTZ = 600_000_000
START_SECONDS = 1_796_000_000


def block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def options(*pairs: tuple[int, bytes]) -> bytes:
    parts = [struct.pack("<HH", code, len(value)) + padded(value) for code, value in pairs]
    return b"".join(parts) + bytes(4)


class Recording:
    """Writes a file as `npsim live --record` does."""

    def __init__(self, hertz: int = HERTZ, target: str = TARGET) -> None:
        self.hertz = hertz
        comment = f"npsim recording\ntarget={target}\nhertz={hertz}\n"
        comment += f"start_seconds={START_SECONDS}\nseed=7\nroute_blocks=4"
        head = struct.pack("<IHHQ", 0x1A2B3C4D, 1, 0, 2**64 - 1)
        self.blocks = [block(0x0A0D0D0A, head + options((1, comment.encode())))]
        for number in range(3):
            self.interface(1, f"port{number}", (8, struct.pack("<Q", 1_000_000_000)))
        self.interface(147, "npsim control")

    def interface(self, link: int, name: str, *more: tuple[int, bytes]) -> None:
        offset = (14, struct.pack("<Q", START_SECONDS))
        found = options((2, name.encode()), *more, (9, b"\x0c"), offset)
        self.blocks.append(block(1, struct.pack("<HHI", link, 0, 262_144) + found))

    def packet(self, interface: int, cycle: int, data: bytes) -> None:
        at = cycle * 10**12 // self.hertz
        head = struct.pack("<IIIII", interface, at >> 32, at & 0xFFFFFFFF, len(data), len(data))
        self.blocks.append(block(6, head + padded(data)))

    def command(self, cycle: int, text: str) -> None:
        self.packet(3, cycle, text.encode())

    def save(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.blocks))
        return path


def question() -> bytes:
    """An ARP request for the router's address at port 0, which the router answers."""
    own = bytes([2, 0, 0, 0, 7, 0])
    frame = b"\xff" * 6 + own + bytes([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]) + own
    return (frame + bytes([10, 1, 0, 2, 0, 0, 0, 0, 0, 0, 10, 1, 0, 1])).ljust(60, b"\0")


def recording(path: Path) -> Path:
    made = Recording()
    made.packet(0, 6_001, question())
    made.command(30_000, "route remove 10.2.0.0/16")
    made.command(30_000, "screen on")
    made.packet(0, 6_000_001, question())
    made.command(6_100_000, "end")
    return made.save(path)


def test_recordings_match_the_command(command: Command, tmp_path: Path) -> None:
    trace = recording(tmp_path / "live.pcapng")
    stats, packets = tmp_path / "stats.json", tmp_path / "packets.csv"
    words = ["--trace", trace, "--pace", "recorded", "--stats", stats, "--packets", packets]
    said = command("run", TARGET, *words, "--quiet").stderr
    run = npsim.load(TARGET).run(trace=trace, pace="recorded", packets=True)
    assert run.stats_json == stats.read_text()
    assert run.packets.polars().write_csv() == packets.read_text()
    chip = run.stats["nodes"][0]["chip"]
    assert chip["cycles"] == 6_100_000 and '"removed":1' in run.stats_json.replace(" ", "")
    # The command wraps lines to the width of its terminal.
    assert [f"note: {note}" for note in run.notes] == [" ".join(said.split())]
    assert "the command `screen on` of the recording changes no routes" in run.notes[0]


def test_recording_leaves_the_project_unchanged(tmp_path: Path) -> None:
    trace = recording(tmp_path / "live.pcapng")
    project = npsim.load(TARGET)
    before = project.run(load=0.2).stats_json
    assert '"removed":0' in before.replace(" ", "") or '"removed"' not in before
    project.run(trace=trace, pace="recorded")
    assert project.run(load=0.2).stats_json == before


def test_the_debugger_repeats_a_recording(tmp_path: Path) -> None:
    trace = recording(tmp_path / "live.pcapng")
    debugger = npsim.load(TARGET).debug(trace=trace, pace="recorded")
    told = debugger.goto(7_000_000)
    assert debugger.cycle == 6_100_000
    assert any("its time is up" in line for line in told)


def test_recordings_of_other_chips_are_refused(tmp_path: Path) -> None:
    other = Recording(hertz=1_400_000_000).save(tmp_path / "other.pcapng")
    project = npsim.load(TARGET)
    with pytest.raises(npsim.Error, match="a chip of 1,400,000,000 Hz") as caught:
        project.run(trace=other, pace="recorded")
    assert f"run what was recorded, `{TARGET}`" in str(caught.value)
    network = Recording(hertz=10**12).save(tmp_path / "network.pcapng")
    with pytest.raises(npsim.Error, match="the recording is of a network"):
        project.run(trace=network, pace="recorded")
    with pytest.raises(npsim.Error, match="mixed.pcap"):
        project.run(trace="traces/mixed.pcap", pace="recorded")
    whole = recording(tmp_path / "live.pcapng")
    with pytest.raises(npsim.Error, match="frames of a recording are whole"):
        project.run(trace=whole, pace="recorded", link=True)
