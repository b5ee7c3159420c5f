"""The debugger: moves through time, searches and values."""

from __future__ import annotations

from pathlib import Path

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

import npsim


@pytest.fixture
def debugger(forward: npsim.Project) -> npsim.Debugger:
    return forward.debug(load=0.3)


def test_console_commands_return_lines(debugger: npsim.Debugger) -> None:
    assert debugger.cycle == 0
    lines = debugger.execute("step")
    assert lines[0].startswith("cycle 1 ")
    assert any("forward.uc:86" in line for line in lines)
    assert any("back" in line for line in debugger.execute("help"))


def test_goto_and_back_restores_the_view(debugger: npsim.Debugger) -> None:
    debugger.goto("50us")
    there = (debugger.cycle, debugger.view())
    debugger.goto("10us")
    assert debugger.cycle == 6_000
    debugger.execute("back step")
    assert debugger.cycle < 6_000
    debugger.goto("50us")
    assert (debugger.cycle, debugger.view()) == there


def test_search_works_in_both_directions(debugger: npsim.Debugger) -> None:
    debugger.goto("20us")
    assert debugger.search("forward.uc:123")
    first = debugger.cycle
    assert debugger.search("forward.uc:123")
    second = debugger.cycle
    assert debugger.search("forward.uc:123", back=True)
    assert 12_000 <= first < second and debugger.cycle == first
    # Searches leave no breakpoints.
    debugger.goto("60us")
    assert debugger.cycle == 36_000


def test_contexts_and_memory_are_returned_as_values(debugger: npsim.Debugger) -> None:
    debugger.goto("20us")
    contexts = debugger.contexts()
    assert contexts[0]["thread"] == {"me": 0, "context": 0}
    assert {context["thread"]["me"] for context in contexts} == {0, 1}
    assert len(debugger.memory("scratch", 0, 4)) == 4
    assert debugger.evaluate("1 + 2") == 3


def test_bookmarks_restore_the_position(forward: npsim.Project, debugger: npsim.Debugger) -> None:
    debugger.goto("30us")
    debugger.select(0, 3)
    mark = debugger.save()
    debugger.goto("90us")
    debugger.restore(mark)
    assert debugger.cycle == mark.cycle == 18_000
    other = forward.debug(load=0.3)
    other.restore(npsim.Bookmark(18_000, 0, 3))
    assert other.view() == debugger.view()


def test_goto_gives_the_memory_of_a_run(forward: npsim.Project, tmp_path: Path) -> None:
    frame = bytes(Ether(dst="02:00:00:00:01:00") / IP(src="10.1.0.77", dst="10.2.0.1") / bytes(40))
    wrpcap(str(tmp_path / "one.pcap"), [Ether(frame)])
    debugger = forward.debug(trace=tmp_path / "one.pcap")
    debugger.goto("80us")
    debugger.goto("40us")
    chip = forward.chip()
    chip.feed(frame)
    chip.run_for("40us")
    assert debugger.cycle == chip.now
    words = list(debugger.memory("dram", 0, 0x4000))
    assert any(words), "the frame is in its buffer"
    assert words == list(chip.memory("dram", 0, 0x4000))
