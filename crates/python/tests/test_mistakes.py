"""Bad input of every kind raises an exception with a helpful message."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import npsim

ONE: dict[str, Any] = {"me": [{"id": "0", "source": "a.uc"}]}
SOURCE = {"a.uc": "ctx_arb[kill]\n"}

load: Any = npsim.load
network: Any = npsim.network
sweep: Any = npsim.sweep
assemble: Any = npsim.assemble
disassemble: Any = npsim.disassemble


def project(**keys: Any) -> Any:
    return load({**ONE, **keys}, files=SOURCE)


def endless_dictionary() -> dict[str, Any]:
    endless: dict[str, Any] = {}
    endless["chip"] = endless
    return endless


def endless_list() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


# The calls, and a part of the message of each.
LOADS: dict[str, tuple[Callable[[], Any], str]] = {
    "no file": (lambda: load("nothing-here"), "nothing-here"),
    "number": (lambda: load(7), "not a path or a dictionary"),
    "none": (lambda: load(None), "not a path or a dictionary"),
    "list": (lambda: load([]), "not a path or a dictionary"),
    "empty dictionary": (lambda: load({}), "."),
    "zero in a path": (lambda: load("a\0b"), "."),
    "wrong key": (lambda: project(prot=[{"rate": "1Gbps"}]), "at prot"),
    "wrong key below": (
        lambda: project(port=[{"rate": "1Gbps"}, {"rat": 3}]),
        r"at port\[1\]\.rat",
    ),
    "wrong type": (lambda: project(chip="ixp2400"), "at chip"),
    "key that is no text": (lambda: load({7: 3}), "keys are texts"),
    "key below that is no text": (lambda: load({"chip": {7: 3}}), "a key of chip is 7"),
    "none as value": (lambda: project(name=None), "name is a NoneType"),
    "object as value": (lambda: project(name=object()), "name is a object"),
    "dictionary that contains itself": (lambda: load(endless_dictionary()), "contain itself"),
    "list that contains itself": (lambda: project(name=endless_list()), "contain itself"),
    "set: list that contains itself": (
        lambda: load("microcode/forward", set={"name": endless_list()}),
        "contain itself",
    ),
    "nan": (lambda: project(load={"rate": math.nan}), r"load\.rate is (nan|NaN)"),
    "infinity": (lambda: project(load={"rate": math.inf}), r"load\.rate is inf"),
    "huge": (lambda: project(load={"seed": 2**70}), r"load\.seed is 1180591620717411303424"),
    "negative": (lambda: project(load={"flows": -1}), r"load\.flows"),
    "empty list": (lambda: load({"me": []}, files=SOURCE), "."),
    "no files": (lambda: load(ONE), r"a\.uc"),
    "surrogate as key": (lambda: project(**{"\ud800": 1}), "."),
    "surrogate as path": (lambda: load("\ud800"), "."),
    "surrogate in a source": (lambda: load(ONE, files={"a.uc": "\ud800"}), "."),
    "set: wrong key": (lambda: load("microcode/forward", set={"me.x.id": 0}), "no .*me.* is called"),
    "set: no text": (lambda: load("microcode/forward", set={7: 0}), "a key of `set` is not a text"),
    "set: none": (lambda: load("microcode/forward", set={"name": None}), r"set\[\"name\"\]"),
    "set: no dictionary": (lambda: load("microcode/forward", set=["a=b"]), "set"),
    "unknown chip": (lambda: load("microcode/forward", chip="ixp9"), "ixp9"),
    "unknown board": (lambda: load("microcode/forward", board="desk"), "desk"),
    "unknown argument": (lambda: load("microcode/forward", seed=3), "seed"),
    "imports": (lambda: load("microcode/forward", imports={"a": -1}), "."),
    "network: no file": (lambda: network("nothing-here"), "nothing-here"),
    "network: wrong key": (
        lambda: network({"name": "n", "until": "1s", "hots": [{"name": "a"}]}),
        "at hots",
    ),
    "network: number": (lambda: network(3.5), "not a path or a dictionary"),
    "sweep: no file": (lambda: sweep("nothing-here"), "nothing-here"),
    "sweep: wrong key": (lambda: sweep({"name": "s", "windwo": {}}), "at windwo"),
    "sweep: empty": (lambda: sweep({}), "."),
    "assemble: unknown": (lambda: assemble("alu[a, b, +, c]\n"), "source.uc:1:5"),
    "assemble: number": (lambda: assemble(7), "."),
    "assemble: nothing": (lambda: assemble(""), "."),
    "assemble: zero": (lambda: assemble("\0"), "."),
    "assemble: surrogate": (lambda: assemble("\ud800"), "."),
    "assemble: chip": (lambda: assemble("nop\n", chip="z80"), "z80"),
    "disassemble: wide": (lambda: disassemble([0, 2**41]), r"words\[1\]"),
    "disassemble: huge": (lambda: disassemble([2**70]), "."),
    "disassemble: negative": (lambda: disassemble([-1]), "."),
    "disassemble: text": (lambda: disassemble("abc"), "."),
    "read_image": (lambda: npsim.read_image("README.md"), "README.md"),
}  # fmt: skip

EXPECTED = (npsim.Error, TypeError, ValueError, OverflowError)


@pytest.mark.parametrize("name", LOADS)
def test_bad_inputs_are_refused(name: str) -> None:
    work, text = LOADS[name]
    with pytest.raises(EXPECTED, match=text) as caught:
        work()
    assert not isinstance(caught.value, npsim.InternalError)


RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "load that contains itself": ({"load": {"size": endless_list()}}, "contain itself"),
    "load: words": ({"load": "much"}, "is not a rate"),
    "load: true": ({"load": True}, "gives no rate"),
    "load: wrong key": ({"load": {"rate": 0.3, "siz": 4}}, "siz"),
    "load: wrong type": ({"load": {"rate": 0.3, "ttl": "long"}}, "load"),
    "load: no rate": ({"load": {"size": 64}}, "no traffic is asked for"),
    "load: negative": ({"load": -0.5}, "load"),
    "load: nan": ({"load": math.nan}, "load"),
    "load: nan below": ({"load": {"rate": math.nan}}, "load"),
    "load: object": ({"load": object()}, "load"),
    "load: empty": ({"load": []}, "load"),
    "load: huge": ({"load": 10**30}, "load"),
    "load: number as key": ({"load": {3: 4}}, "not a text"),
    "load: surrogate": ({"load": "\ud800"}, "."),
    "time": ({"until": "3 parsecs"}, "not a unit of time"),
    "time: negative": ({"until": -1}, "until"),
    "time: nan": ({"until": math.nan}, "until"),
    "time: huge": ({"until": 2**70}, "until"),
    "time: dictionary": ({"until": {}}, "until"),
    "drain": ({"drain": "soon"}, "drain"),
    "seed: negative": ({"seed": -1}, "."),
    "seed: huge": ({"seed": 2**64}, "."),
    "core": ({"core": "quantum"}, "no core `quantum`"),
    "allow": ({"allow": ["rbuf-leak", "nonsense"]}, "no check is named `nonsense`"),
    "trace": ({"trace": "nothing.pcap"}, "nothing.pcap"),
    "trace and load": ({"trace": "traces/mixed.pcap", "load": 0.2}, "one of them"),
    "trace: no capture": ({"trace": "README.md"}, "README.md"),
    "pace without trace": ({"pace": "line"}, "there is none"),
    "pace": ({"trace": "traces/mixed.pcap", "pace": "slow"}, "pace"),
    "ports": ({"trace": "traces/mixed.pcap", "ports": "all"}, "ports"),
    "hops": ({"hops": 0, "load": 0.1}, "."),
    "hops: negative": ({"hops": -1}, "."),
    "hops: many": ({"hops": 256, "load": 0.1}, "1 to 255"),
    "hops: no traffic": ({"hops": 2, "load": False}, "nothing comes in at the first router"),
    "positional": ({"packets": "yes"}, "."),
    "unknown": ({"speed": 2}, "speed"),
}


@pytest.mark.parametrize("name", RUNS)
def test_bad_run_arguments_are_refused(name: str, forward: Any) -> None:
    options, text = RUNS[name]
    with pytest.raises(EXPECTED, match=text):
        forward.run(**options)


def test_missing_results_say_how_to_request_them(forward: npsim.Project) -> None:
    run = forward.run(load=0.1)
    for what in ("packets", "series"):
        with pytest.raises(npsim.Error, match=f"{what}=True"):
            getattr(run, what)
    for work in (run.why, run.report):
        with pytest.raises(npsim.Error, match="report=True"):
            work()
    table = forward.run(load=0.1, packets=True).packets
    with pytest.raises(KeyError, match="choose one of packet, flow"):
        table["fat"]
    numbered: Any = table
    with pytest.raises(TypeError, match=r"a row by `table.row\(0\)`"):
        numbered[0]
    with pytest.raises(IndexError):
        table["fate"][len(table)]
    with pytest.raises(IndexError):
        table.row(10**9)


def test_fault_exceptions_carry_the_run() -> None:
    source = {"a.uc": ".reg a b\nimmed[a, 1]\nalu[a, a, +, b]\nctx_arb[kill]\n"}
    with pytest.raises(npsim.Fault, match="uninitialised-read") as caught:
        load(ONE, files=source).run()
    assert isinstance(caught.value, npsim.Error)
    assert isinstance(caught.value.run, npsim.Run)
    assert caught.value.run.ending == "fault"
    assert load(ONE, files=source).run(allow=["uninitialised-read"]).ending == "quiet"


CHIPS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no bytes": (lambda chip: chip.feed(3), "a frame is bytes"),
    "text": (lambda chip: chip.feed("abc"), "a frame is bytes"),
    "none": (lambda chip: chip.feed(None), "a frame is bytes"),
    "numbers too large": (lambda chip: chip.feed([300]), "."),
    "port": (lambda chip: chip.feed(bytes(60), port=99), "no port 99"),
    "port: negative": (lambda chip: chip.feed(bytes(60), port=-1), "."),
    "time": (lambda chip: chip.feed(bytes(60), at="later"), "at"),
    "run to": (lambda chip: chip.run_to("\ud800"), "."),
    "run for": (lambda chip: chip.run_for(-5), "time"),
    "memory": (lambda chip: chip.memory("attic"), "attic"),
    "whole memory": (lambda chip: chip.memory("scratch"), "from which byte address"),
    "odd address": (lambda chip: chip.memory("scratch", 3, 1), "multiples of four"),
    "far address": (lambda chip: chip.memory("scratch", 4_294_967_292, 9), "."),
    "many words": (lambda chip: chip.memory("scratch", 0, 2**32 - 1), "."),
    "negative address": (lambda chip: chip.memory("scratch", -4, 1), "."),
    "state": (lambda chip: chip.restore(b"abc"), "not a state of such a chip"),
    "state: text": (lambda chip: chip.restore("abc"), "."),
}


@pytest.mark.parametrize("name", CHIPS)
def test_bad_chip_arguments_are_refused(name: str, forward: npsim.Project) -> None:
    work, text = CHIPS[name]
    chip = forward.chip()
    with pytest.raises(EXPECTED, match=text):
        work(chip)
    chip.run_for("1us")
    assert chip.now == 600


def test_faulted_chip_raises_the_fault_again() -> None:
    source = {"a.uc": "alu[a0, --, b, b0]\nctx_arb[kill]\n"}
    chip = load(ONE, files=source).chip()
    for _ in range(2):
        with pytest.raises(npsim.Fault, match="uninitialised-read"):
            chip.run_for("1us")


DEBUGGERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "command": (lambda debugger: debugger.execute("dance"), "dance"),
    "empty": (lambda debugger: debugger.execute(7), "."),
    "place": (lambda debugger: debugger.search("nothing.uc:3"), "nothing.uc"),
    "line": (lambda debugger: debugger.search("forward.uc:99999"), "."),
    "watch": (lambda debugger: debugger.search("attic[0]", watch=True), "."),
    "expression": (lambda debugger: debugger.evaluate("1 +"), "."),
    "name": (lambda debugger: debugger.evaluate("no_such_name"), "no_such_name"),
    "context": (lambda debugger: debugger.select(0, 99), "."),
    "microengine": (lambda debugger: debugger.select(300, 0), "."),
    "time": (lambda debugger: debugger.goto("soon"), "at"),
    "bookmark": (lambda debugger: debugger.restore(5), "."),
    "memory": (lambda debugger: debugger.memory("attic"), "attic"),
    "cycles": (lambda debugger: debugger.view(cycles=-1), "."),
}


@pytest.mark.parametrize("name", DEBUGGERS)
def test_bad_debugger_arguments_are_refused(name: str, forward: npsim.Project) -> None:
    work, text = DEBUGGERS[name]
    debugger = forward.debug(load=0.1)
    with pytest.raises(EXPECTED, match=text):
        work(debugger)
    debugger.goto(600)
    assert debugger.cycle == 600


@pytest.mark.parametrize("memory", [0, -1, 2**63, 2**64])
def test_extreme_debugger_memory_is_accepted_or_refused(memory: int, forward: npsim.Project) -> None:
    try:
        debugger = forward.debug(load=0.1, memory=memory)
    except EXPECTED as error:
        assert str(error)
    else:
        debugger.goto(600)


def test_bad_network_and_sweep_arguments_are_refused() -> None:
    net: Any = npsim.network("traces/networks/dumbbell.toml")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"until": "10s"}, "before the file's `from`"),
        ({"until": 7}, "not a time of a network"),
        ({"until": "0s"}, "until"),
        ({"sample_every": "often"}, "sample_every"),
        ({"seed": -1}, "."),
    ]
    for options, text in cases:
        with pytest.raises(EXPECTED, match=text):
            given: Any = options
            net.run(**given)
    with pytest.raises(npsim.Error, match="sample_every"):
        _ = net.run(until="30100ms").series
    forward_load: Any = npsim.sweep("benches/sweeps/forward-load.toml")
    with pytest.raises((AttributeError, *EXPECTED), match="map"):
        forward_load.submit(7)
    with pytest.raises(EXPECTED):
        forward_load.run(jobs=-1)


@pytest.mark.parametrize(
    "name",
    ["Project", "Run", "Table", "Column", "Chip", "Debugger", "Sweep", "Point", "Network", "Page"],
)
def test_classes_have_no_public_constructor(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(npsim, name)()
