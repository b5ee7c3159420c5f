"""Sweeps give the outcomes of the command, with any engine."""

from __future__ import annotations

import json
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
    """The outcomes that the command keeps, in the order of the points."""
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


def test_points_give_the_outcomes_of_the_command(sweep: npsim.Sweep, expected: Outcomes) -> None:
    assert [point.number for point in sweep.points] == [1, 2, 3, 4, 5, 6]
    assert sweep.points[0].settings == ["load.size=64", "load.rate=0.5Mpps"]
    assert sweep.points[0].coordinates == {"rate": 0.5}
    assert [point.run() for point in sweep.points] == expected


def test_processes_give_the_outcomes_of_the_command(
    sweep: npsim.Sweep, expected: Outcomes
) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(sweep.submit(pool)) == expected
        assert list(pool.map(npsim.Point.run, sweep.points)) == expected


def test_dask_gives_the_outcomes_of_the_command(sweep: npsim.Sweep, expected: Outcomes) -> None:
    distributed: Any = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = sweep.submit(client)
        assert client.gather(futures) == expected


def test_a_sweep_is_a_table(sweep: npsim.Sweep, expected: Outcomes, tmp_path: Path) -> None:
    table = sweep.run(jobs=2, results=tmp_path / "kept")
    assert table.keys() == ["point", "sweep", "rate", "run", "ending", "egress", "latency"]
    assert list(table["egress"]) == [one["metrics"]["egress"]["value"] for one in expected]
    kept = sorted((tmp_path / "kept").glob("points/*.json"))
    assert len(kept) == len(sweep) == 6
    # What is kept is not run again.
    times = [path.stat().st_mtime_ns for path in kept]
    assert sweep.run(results=tmp_path / "kept").polars().equals(table.polars())
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_a_study_is_a_sweep_by_its_name() -> None:
    study = npsim.sweep("hauger", quick=True)
    assert study.name == "hauger" and len(study) > 50
