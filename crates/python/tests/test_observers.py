"""Observers in Python: batches of events, exceptions, and what observers must not change."""

from __future__ import annotations

from typing import Any

import pytest

import npsim


class Collector:
    """Keeps what it sees."""

    def __init__(self, *wants: str) -> None:
        self.wants = set(wants)
        self.sizes: list[int] = []
        self.rows: list[dict[str, Any]] = []

    def see_batch(self, table: npsim.Table) -> None:
        self.sizes.append(len(table))
        self.rows += table.polars().to_dicts()


def test_events_come_in_batches(forward: npsim.Project) -> None:
    collector = Collector("departed", "arrives", "issued")
    run = forward.run(load=0.3, observer=collector, packets=True)
    assert len(collector.sizes) > 5
    assert set(collector.sizes[:-1]) == {10_000} and 0 < collector.sizes[-1] <= 10_000
    departed = [row for row in collector.rows if row["kind"] == "departed"]
    sent = run.packets.polars().filter(fate="sent")
    assert len(departed) == len(sent)
    assert sorted(row["cycle"] for row in departed) == sorted(sent["ended"].to_list())
    issued = sum(row["value"] for row in collector.rows if row["kind"] == "issued")
    chip = run.stats["nodes"][0]["chip"]
    assert issued == sum(me["instructions"] for me in chip["microengines"])


def test_an_observer_changes_nothing(forward: npsim.Project) -> None:
    seen = forward.run(load=0.3, observer=Collector("context", "ring", "written"))
    assert seen.stats_json == forward.run(load=0.3).stats_json


def test_observer_exception_ends_the_run_and_propagates(forward: npsim.Project) -> None:
    class Broken:
        wants = ("issued",)
        calls = 0

        def see_batch(self, table: npsim.Table) -> None:
            self.calls += 1
            raise LookupError("enough")

    broken = Broken()
    with pytest.raises(LookupError, match="enough"):
        forward.run(load={"rate": 0.3, "time": "20s"}, observer=broken)
    assert broken.calls == 1


def test_exception_in_the_last_batch_propagates(forward: npsim.Project) -> None:
    class Broken:
        wants = ("departed",)

        def see_batch(self, table: npsim.Table) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forward.run(load=0.1, observer=Broken())


def test_a_callback_may_run_the_project_again(forward: npsim.Project) -> None:
    inner: list[str] = []

    class Nested:
        wants = ("departed",)

        def see_batch(self, table: npsim.Table) -> None:
            inner.append(forward.run(load=0.1).stats_json)

    forward.run(load=0.3, observer=Nested())
    assert inner and set(inner) == {forward.run(load=0.1).stats_json}


def test_wants_accepts_a_single_string(forward: npsim.Project) -> None:
    collector, both = Collector(), Collector("departed")
    wants: Any = "departed"
    collector.wants = wants
    forward.run(load=0.3, observer=collector)
    forward.run(load=0.3, observer=both)
    assert collector.rows == both.rows and {row["router"] for row in both.rows} == {1}


def test_skipping_time_without_wanted_events_changes_nothing() -> None:
    """The forwarder polls, with only occasional frames."""
    project = npsim.load("microcode/forward")
    load = {"rate": "10kpps", "time": "2ms"}
    wanted, all_kinds = Collector("departed"), Collector("departed", "issued")
    plain = project.run(load=load).stats_json
    assert project.run(load=load, observer=wanted).stats_json == plain
    assert project.run(load=load, observer=all_kinds).stats_json == plain
    assert wanted.rows == [row for row in all_kinds.rows if row["kind"] == "departed"]
    assert len(wanted.rows) > 10


def test_observers_distinguish_routers_of_a_chain(forward: npsim.Project) -> None:
    collector = Collector("departed")
    run = forward.run(load=0.2, hops=3, threads=3, observer=collector, packets=True)
    for router in run.routers:
        sent = router.packets.polars().filter(fate="sent")["ended"]
        own = [row["cycle"] for row in collector.rows if row["router"] == router.number]
        assert sorted(own) == sorted(sent) and own

    class Broken(Collector):
        def see_batch(self, table: npsim.Table) -> None:
            if table["router"][0] == 2:
                raise LookupError("in the second")

    with pytest.raises(LookupError, match="in the second"):
        forward.run(load=0.2, hops=3, threads=3, observer=Broken("departed"))


WRONG: list[tuple[Any, str]] = [
    (object(), "wants"),
    (type("A", (), {"wants": ()})(), "see_batch|empty"),
    (type("A", (), {"wants": {"departed"}})(), "see_batch"),
    (type("A", (), {"wants": {"everything"}, "see_batch": print})(), "no kind of events"),
    (type("A", (), {"wants": [3], "see_batch": print})(), "."),
    (type("A", (), {"wants": 3, "see_batch": print})(), "."),
    (type("A", (), {"wants": "departing", "see_batch": print})(), "no kind of events `departing`"),
    (7, "wants"),
]


@pytest.mark.parametrize(("observer", "text"), WRONG)
def test_invalid_observers_are_refused(observer: Any, text: str, forward: npsim.Project) -> None:
    with pytest.raises((AttributeError, TypeError, npsim.Error), match=text):
        forward.run(load=0.1, observer=observer)


def test_event_columns_remain_valid_after_the_run(forward: npsim.Project) -> None:
    """Columns are made when they are first read, but describe the time of their events."""

    class Keeps:
        wants = ("arrives", "departed")
        tables: list[npsim.Table] = []

        def see_batch(self, table: npsim.Table) -> None:
            self.tables.append(table)

    keeps = Keeps()
    load = {"rate": 0.3, "time": "50us"}
    run = forward.run(load=load, observer=keeps)
    kinds = [kind for table in keeps.tables for kind in table["kind"]]
    assert kinds.count("arrives") == run.stats["packets"]["offered"]
    assert kinds.count("departed") == run.stats["packets"]["sent"]
    for table in keeps.tables:
        rows = [table.row(at) for at in range(len(table))]
        assert [row["cycle"] for row in rows] == sorted(table["cycle"])
        assert all((row["kind"] == "departed") <= (row["port"] is not None) for row in rows)
