"""Objects can be sent to another process, or say why not."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import npsim

LOOP = "here#:\nctx_arb[voluntary], br[here#]\n"


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def test_pickled_projects_run_identically(forward: npsim.Project) -> None:
    other = again(forward)
    assert other.name == "forward"
    assert other.run(load=0.2).stats_json == forward.run(load=0.2).stats_json


def test_pickled_projects_keep_their_arguments() -> None:
    project = npsim.load(
        {"chip": {"profile": "ixp2400"}, "me": [{"id": "0", "source": "a.uc"}]},
        files={"a.uc": "immed[a0, WHAT]\nctx_arb[kill]\n"},
        define={"WHAT": 7},
        set={"profile.sram.read": 120},
    )
    other = again(project)
    assert list(other.programs[0].words) == list(project.programs[0].words)
    assert other.run().stats_json == project.run().stats_json


def test_networks_sweeps_and_points_are_pickled() -> None:
    network = again(npsim.network("traces/networks/dumbbell.toml", set={"until": "35s"}))
    assert network.name == "dumbbell"
    sweep = npsim.sweep("benches/sweeps/forward-load.toml")
    assert len(again(sweep)) == len(sweep)
    point = again(sweep.points[7])
    assert (point.number, point.settings) == (8, sweep.points[7].settings)
    study = again(npsim.sweep("hauger", quick=True).points[3])
    assert study.number == 4


def test_bookmarks_are_pickled(forward: npsim.Project) -> None:
    debugger = forward.debug(load=0.3)
    debugger.goto("20us")
    mark = again(debugger.save())
    assert (mark.cycle, mark.me, mark.context) == (12_000, 0, 0)
    debugger.goto(0)
    debugger.restore(mark)
    assert debugger.cycle == 12_000


@pytest.fixture(scope="module")
def others(forward: npsim.Project) -> dict[str, Any]:
    chip = forward.chip()
    chip.feed(bytes(60))
    run = forward.run(load=0.2, packets=True, report=True)
    return {
        "Chip": chip,
        "Column": run.packets["delay"],
        "Debugger": forward.debug(load=0.1),
        "NetworkRun": npsim.network("traces/networks/dumbbell.toml").run(until="31s"),
        "Page": run.report(),
        "Program": forward.programs[0],
        "Read": npsim.Read(0, 2),
        "Run": run,
        "Table": run.packets,
        "Write": npsim.Write(4, [1, 2]),
    }


@pytest.mark.parametrize(
    "name",
    ["Chip", "Column", "Debugger", "NetworkRun", "Page", "Program", "Read", "Run", "Table", "Write"],
)
def test_everything_else_pickles_or_says_why_not(name: str, others: dict[str, Any]) -> None:
    thing = others[name]
    try:
        other = again(thing)
    except TypeError as error:
        # The message names the class, and mostly what to do instead.
        assert "pickle" in str(error)
        with pytest.raises(TypeError, match="pickle"):
            copy.deepcopy(thing)
    else:
        assert type(other) is type(thing)


def test_exceptions_are_pickled() -> None:
    with pytest.raises(npsim.Error) as caught:
        npsim.load("nothing-here")
    other = again(caught.value)
    assert type(other) is npsim.Error and str(other) == str(caught.value)


def load_badly(_: int) -> None:
    npsim.load("nothing-here")


def fault(_: int) -> None:
    source = "alu[a0, --, b, b0]\nctx_arb[kill]\n"
    npsim.load({"me": [{"id": "0", "source": "a.uc"}]}, files={"a.uc": source}).run()


@pytest.mark.parametrize("work", [load_badly, fault])
def test_worker_errors_reach_the_parent(work: Any) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        future = pool.submit(work, 0)
        with pytest.raises(npsim.Error) as caught:
            future.result(timeout=60)
    assert "error" in str(caught.value)


def test_images_round_trip_through_disk(tmp_path: Path) -> None:
    program = npsim.assemble(LOOP)
    file = tmp_path / "loop.npi"
    file.write_bytes(program.to_bytes())
    (other,) = npsim.read_image(file)
    assert list(other.words) == list(program.words)
    assert len(other) == len(program) == 1
    assert npsim.load(file).run(until="10us").ending == "reached"
