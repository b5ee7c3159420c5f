"""A run in Python gives the same bytes as the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

import npsim

SYSTEMS: list[tuple[str, str, dict[str, Any]]] = [
    ("microcode/forward", "--load 0.3", {"load": 0.3}),
    ("microcode/router", "--load 0.5 --seed 7", {"load": 0.5, "seed": 7}),
    ("microcode/ordering/in-order.toml", "--rate 1Mpps", {"load": "1Mpps"}),
    ("microcode/quick-start/atomic.toml", "--load 20%", {"load": "20%"}),
    (
        "microcode/xcp/split.toml",
        "--rate 500kpps --size 64 --time 300us --until 400us",
        {"load": {"rate": "500kpps", "size": 64, "time": "300us"}, "until": "400us"},
    ),
    ("microcode/stress/dram.toml", "--until 200us", {"until": "200us"}),
]


@pytest.mark.parametrize(("target", "words", "options"), SYSTEMS, ids=[it[0] for it in SYSTEMS])
def test_stats_match_the_command(
    target: str, words: str, options: dict[str, Any], command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "stats.json"
    command("run", target, *words.split(), "--stats", file, "--quiet")
    run = npsim.load(target).run(**options)
    assert run.stats_json == file.read_text()
    assert run.stats == json.loads(file.read_text())
    assert run.stats["nodes"][0]["chip"]["cycles"] > 0


def test_observed_run_has_the_same_stats(forward: npsim.Project) -> None:
    plain = forward.run(load=0.3)
    seen = forward.run(load=0.3, packets=True, series=True, report=True)
    assert plain.stats_json == seen.stats_json


def test_capture_stats_match_the_command(
    forward: npsim.Project, command: Command, tmp_path: Path
) -> None:
    captures = sorted(Path("traces").glob("*.pcap*"))
    assert captures, "the repository has captures"
    file = tmp_path / "stats.json"
    words = ["--trace", captures[0], "--pace", "line", "--ports", "round-robin"]
    command("run", "microcode/forward", *words, "--stats", file, "--quiet")
    run = forward.run(trace=captures[0], pace="line", ports="round-robin")
    assert run.stats_json == file.read_text()
    assert run.ending == "drained"


def test_router_chain_stats_match_the_command(
    forward: npsim.Project, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "stats.json"
    command("run", "microcode/forward", "--load", "0.2", "--hops", "3", "--stats", file, "-q")
    assert forward.run(load=0.2, hops=3, threads=2).stats_json == file.read_text()


def test_observed_router_chain_matches_the_command(
    forward: npsim.Project, command: Command, tmp_path: Path
) -> None:
    csv, stats = tmp_path / "packets.csv", tmp_path / "stats.json"
    words = ["--hops", "3", "--packets", csv, "--stats", stats, "--report", tmp_path / "page"]
    said = command("run", "microcode/forward", "--load", "0.9", *words).stdout
    run = forward.run(load=0.9, hops=3, threads=2, packets=True, series=True, report=True)
    assert run.stats_json == stats.read_text()
    assert [router.number for router in run.routers] == [1, 2, 3]
    for router in run.routers:
        expected = (tmp_path / f"packets.{router.number}.csv").read_text()
        assert router.packets.polars().write_csv() == expected
        assert len(router.series) > 0
        assert f"{router.number} of 3" in str(router.report())
    # The command wraps lines to the width of its terminal.
    why = run.why().split()
    assert why == said[said.index("router 1: bottleneck") :].split()[: len(why)]
    for work in (lambda: run.packets, lambda: run.series, run.report):
        with pytest.raises(npsim.Error, match=r"run\.routers\[0\]"):
            work()
    alone = forward.run(load=0.2, packets=True)
    assert alone.routers[0].packets.polars().equals(alone.packets.polars())


@pytest.mark.parametrize(
    ("name", "until"), [("dumbbell", "40s"), ("stack", "1s"), ("short-flows-chip", "12s")]
)
def test_network_stats_match_the_command(
    name: str, until: str, command: Command, tmp_path: Path
) -> None:
    target = f"traces/networks/{name}.toml"
    network = npsim.network(target)
    file = tmp_path / "stats.json"
    command("network", target, "--until", until, "--seed", "3", "--stats", file, "--quiet")
    assert network.run(until=until, seed=3).stats_json == file.read_text()


def test_settings_have_the_effect_of_command_options(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "stats.json"
    words = ["--set", "me.forward.id=0,2", "--set", "profile.sram.read=120", "--load", "0.4"]
    command("run", "microcode/forward", *words, "--stats", file, "-q")
    settings: dict[str, Any] = {"me.forward.id": [0, 2], "profile.sram.read": 120}
    run = npsim.load("microcode/forward", set=settings).run(load=0.4)
    assert run.stats_json == file.read_text()


def test_package_installs_the_command(command: Command) -> None:
    assert command("--version").stdout.strip() == f"npsim {npsim.__version__}"


def test_run_reports_progress(forward: npsim.Project) -> None:
    seen: list[npsim.Progress] = []
    run = forward.run(load={"rate": 0.5, "time": "20ms"}, progress=seen.append)
    assert {one.total for one in seen} == {1}
    fractions = [one.fraction for one in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert [one.done for one in seen[:-1]] == [0] * (len(seen) - 1) and seen[-1].done == 1
    simulated = seen[-1].simulated
    assert simulated is not None and 0.02 <= simulated <= 0.03
    assert "ms simulated, 0:0" in str(seen[-1])
    assert run.stats == forward.run(load={"rate": 0.5, "time": "20ms"}, progress=False).stats


def test_network_run_reports_progress() -> None:
    seen: list[npsim.Progress] = []
    network = npsim.network("traces/networks/dumbbell.toml")
    network.run(until="32s", progress=seen.append)
    assert seen[-1].fraction == 1.0 and seen[-1].simulated == pytest.approx(32.0)

    def see(progress: npsim.Progress) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        network.run(progress=see)
