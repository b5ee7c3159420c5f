"""Observers in Python: batches of events, exceptions, what they must not touch."""

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


def test_an_exception_ends_the_run_and_comes_out(forward: npsim.Project) -> None:
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


def test_an_exception_in_the_last_batch_comes_out(forward: npsim.Project) -> None:
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


WRONG: list[tuple[Any, str]] = [
    (object(), "wants"),
    (type("A", (), {"wants": ()})(), "see_batch|empty"),
    (type("A", (), {"wants": {"departed"}})(), "see_batch"),
    (type("A", (), {"wants": {"everything"}, "see_batch": print})(), "no kind of events"),
    (type("A", (), {"wants": [3], "see_batch": print})(), "."),
    (type("A", (), {"wants": 3, "see_batch": print})(), "."),
    (type("A", (), {"wants": "departed", "see_batch": print})(), "."),
    (7, "wants"),
]


@pytest.mark.parametrize(("observer", "text"), WRONG)
def test_objects_that_are_none_say_so(observer: Any, text: str, forward: npsim.Project) -> None:
    with pytest.raises((AttributeError, TypeError, npsim.Error), match=text):
        forward.run(load=0.1, observer=observer)
