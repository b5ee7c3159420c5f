"""Sweeps give the same outcomes as the command, with any executor."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

import npsim

SWEEP: dict[str, Any] = {
    "name": "small",
    "title": "The forwarder under load",
    "window": {"warm_up": "50us", "measure": "100us"},
    "replication": {"runs": 2},
    "metric": {
        "egress": {"measure": "egress-rate"},
        "latency": {"measure": "latency", "statistic": "p99"},
    },
    "sweep": {
        "forward": {
            "replicate": True,
            "system": "microcode/forward",
            "set": {"load.size": 64},
            "axis": [
                {"name": "rate", "key": "load.rate", "values": ["0.5Mpps", "1Mpps", "2Mpps"]},
            ],
        }
    },
}

FILE = """
name = "small"
title = "The forwarder under load"
[window]
warm_up = "50us"
measure = "100us"
[replication]
runs = 2
[metric.egress]
measure = "egress-rate"
[metric.latency]
measure = "latency"
statistic = "p99"
[sweep.forward]
replicate = true
system = "microcode/forward"
set = { "load.size" = 64 }
[[sweep.forward.axis]]
name = "rate"
key = "load.rate"
values = ["0.5Mpps", "1Mpps", "2Mpps"]
"""

Outcomes = list[dict[str, Any]]


@pytest.fixture(scope="module")
def sweep() -> npsim.Sweep:
    return npsim.sweep(SWEEP, root=ROOT)


@pytest.fixture
def expected(command: Command, tmp_path: Path) -> Outcomes:
    """The outcomes that the command saves, in the order of the points."""
    file = tmp_path / "small.toml"
    file.write_text(FILE)
    out = tmp_path / "out"
    command("sweep", file, "--root", ROOT, "--out", out)
    listed = command("sweep", file, "--root", ROOT, "--list", "--format", "json").stdout
    keys = [point["key"] for point in points(json.loads(listed))]
    assert len(keys) == 6
    return [json.loads((out / "points" / f"{key}.json").read_text()) for key in keys]


def points(listed: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = listed if isinstance(listed, list) else listed["points"]
    return found


def test_point_outcomes_match_the_command(sweep: npsim.Sweep, expected: Outcomes) -> None:
    assert [point.number for point in sweep.points] == [1, 2, 3, 4, 5, 6]
    assert sweep.points[0].settings == ["load.size=64", "load.rate=0.5Mpps"]
    assert sweep.points[0].coordinates == {"rate": 0.5}
    assert [point.run() for point in sweep.points] == expected


def test_process_pool_outcomes_match_the_command(
    sweep: npsim.Sweep, expected: Outcomes
) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(sweep.submit(pool)) == expected
        assert list(pool.map(npsim.Point.run, sweep.points)) == expected


def test_dask_outcomes_match_the_command(sweep: npsim.Sweep, expected: Outcomes) -> None:
    distributed: Any = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = sweep.submit(client)
        assert client.gather(futures) == expected


def test_sweep_returns_a_table_and_keeps_results(sweep: npsim.Sweep, expected: Outcomes, tmp_path: Path) -> None:
    table = sweep.run(jobs=2, results=tmp_path / "kept")
    assert table.keys() == ["point", "sweep", "rate", "run", "ending", "egress", "latency"]
    assert list(table["egress"]) == [one["metrics"]["egress"]["value"] for one in expected]
    kept = sorted((tmp_path / "kept").glob("points/*.json"))
    assert len(kept) == len(sweep) == 6
    # Saved points are not run again.
    times = [path.stat().st_mtime_ns for path in kept]
    assert sweep.run(results=tmp_path / "kept").polars().equals(table.polars())
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_sweep_reports_progress(sweep: npsim.Sweep, tmp_path: Path) -> None:
    seen: list[npsim.Progress] = []
    threads: set[threading.Thread] = set()

    def see(progress: npsim.Progress) -> None:
        threads.add(threading.current_thread())
        seen.append(progress)

    table = sweep.run(progress=see)
    assert threads == {threading.current_thread()}
    assert {one.total for one in seen} == {6}
    done = [one.done for one in seen]
    assert done == sorted(done) and done[-1] == 6
    fractions = [one.fraction for one in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert seen[-1].remaining == 0 and str(seen[-1]).startswith("6 of 6 points, 0:0")
    assert table.polars().equals(sweep.run(progress=False, results=tmp_path).polars())
    # Points that were run before count as done.
    seen.clear()
    sweep.run(progress=see, results=tmp_path)
    assert {one.done for one in seen} <= {0, 6} and seen[-1].done == 6


def test_progress_callback_exception_ends_the_sweep() -> None:
    long = npsim.sweep("baseline")

    def see(progress: npsim.Progress) -> None:
        if progress.fraction > 0:
            raise LookupError("enough")

    begun = time.perf_counter()
    with pytest.raises(LookupError, match="enough"):
        long.run(progress=see)
    assert time.perf_counter() - begun < 30
    wrong: Any = 7
    with pytest.raises(TypeError, match="`progress` is a int"):
        long.run(progress=wrong)


SHOWING = """
import npsim
npsim._progress.PATIENCE = 0
sweep = npsim.sweep("benches/sweeps/forward-load.toml")
assert sweep.run({}).keys()
"""


def test_progress_line_is_shown_only_on_terminals(tmp_path: Path) -> None:
    def said(arguments: str, terminal: bool) -> str:
        ours, theirs = os.openpty() if terminal else os.pipe()
        program = [sys.executable, "-c", "import npsim._progress" + SHOWING.format(arguments)]
        with subprocess.Popen(program, stderr=theirs) as process:
            os.close(theirs)
            parts = []
            # On Linux, reading at the end of a terminal is an error.
            with contextlib.suppress(OSError):
                while part := os.read(ours, 4096):
                    parts.append(part)
        os.close(ours)
        assert process.returncode == 0
        return b"".join(parts).decode()

    told = said("", True)
    assert "of 60 points" in told and " %, 0:0" in told
    assert told.endswith("\r\x1b[K"), "the line is taken away"
    assert said("progress=False", True) == ""
    assert said("", False) == ""
    assert "of 60 points" in said("progress=True", False)


def test_studies_load_by_name() -> None:
    study = npsim.sweep("hauger", quick=True)
    assert study.name == "hauger" and len(study) > 50
