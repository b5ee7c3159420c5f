"""Tables go into other libraries without a copy."""

from __future__ import annotations

import time
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow  # type: ignore[import-untyped, unused-ignore]
import pytest

import npsim

ROWS = 1_000_000


def address(column: npsim.Column) -> int:
    """The address of a column's values."""
    array = numpy.asarray(column.values)
    return int(array.__array_interface__["data"][0])


def address_in(series: polars.Series) -> int:
    """The address of a column's values in polars."""
    buffers: list[Any] = series.to_arrow().buffers()
    return int(buffers[1].address)


@pytest.fixture(scope="module")
def table(forward: npsim.Project) -> npsim.Table:
    return forward.run(load=0.3, packets=True).packets


@pytest.fixture(scope="module")
def large(forward: npsim.Project) -> npsim.Table:
    """More than a million packets: small frames at full line rate."""
    load = {"rate": 1.0, "size": 64, "time": "240ms"}
    return forward.run(load=load, packets=True).packets


def test_table_has_the_columns_of_the_command(table: npsim.Table) -> None:
    assert table.keys()[:7] == [
        "packet", "flow", "bytes", "port_in", "first_bit_in", "last_bit_in", "fate",
    ]  # fmt: skip
    assert list(table) == table.keys()
    assert "delay" in table and "delays" not in table
    row = table.row(0)
    assert list(row) == table.keys()
    assert row["fate"] == "sent" and row["reason"] is None
    assert row["ended"] - row["last_bit_in"] == row["delay"]
    assert len(table["delay"]) == len(table)
    assert table["packet"][-1] == len(table) - 1


def test_numpy_shares_the_memory(table: npsim.Table) -> None:
    arrays = table.numpy()
    assert arrays["packet"].dtype == numpy.uint64
    assert arrays["bytes"].dtype == numpy.uint32
    assert arrays["port_in"].dtype == numpy.uint8
    for name in ("packet", "first_bit_in", "delay"):
        assert arrays[name].__array_interface__["data"][0] == address(table[name])
        assert not arrays[name].flags.writeable
    # These values are missing: the array is masked, but shares the memory.
    assert isinstance(arrays["me"], numpy.ma.MaskedArray)
    assert arrays["me"].mask.all()
    assert numpy.shares_memory(arrays["me"].data, numpy.asarray(table["me"].values))
    assert arrays["fate"][0] == "sent"


def test_memoryviews_are_read_only(table: npsim.Table) -> None:
    view = memoryview(table["delay"])
    assert (view.format, view.itemsize, view.readonly) == ("Q", 8, True)
    assert view.shape == (len(table),)
    assert view[:4].tolist() == [table["delay"][at] for at in range(4)]
    with pytest.raises(BufferError, match="missing"):
        memoryview(table["me"])
    with pytest.raises(BufferError, match="texts"):
        memoryview(table["fate"])


def test_a_buffer_outlives_its_table(forward: npsim.Project) -> None:
    array = numpy.asarray(forward.run(load=0.1, packets=True).packets["ended"])
    before = array.copy()
    for _ in range(5):
        forward.run(load=0.1, packets=True)
    assert (array == before).all()


def test_polars_shares_the_memory(table: npsim.Table) -> None:
    frame = table.polars()
    assert frame.shape == (len(table), len(table.keys()))
    for name in ("packet", "ended", "bytes", "port_in"):
        assert address_in(frame[name]) == address(table[name])
    assert frame["me"].null_count() == len(table)
    assert polars.Series(table["delay"]).to_list() == frame["delay"].to_list()


def test_pandas_shares_the_memory(table: npsim.Table) -> None:
    frame = table.pandas()
    assert frame.shape == (len(table), len(table.keys()))
    for name in ("packet", "ended", "bytes"):
        assert numpy.shares_memory(frame[name].to_numpy(copy=False), numpy.asarray(table[name]))
    assert frame["me"].isna().all()
    assert isinstance(frame["me"].dtype, pandas.UInt8Dtype)
    assert frame["fate"].eq("sent").sum() > 1_000


def test_arrow_shares_the_memory(table: npsim.Table) -> None:
    arrow = table.arrow()
    arrow.validate(full=True)
    assert arrow.num_rows == len(table)
    assert arrow["delay"].chunk(0).buffers()[1].address == address(table["delay"])
    assert arrow["reason"].null_count == len(table)
    column = pyarrow.array(table["flow"])
    assert column[0].as_py() == table["flow"][0]
    # A table can be exported more than once.
    assert table.arrow().equals(arrow)


def test_series_are_tables(forward: npsim.Project) -> None:
    series = forward.run(load=0.5, series=True).series
    frame = series.polars()
    assert frame["cycle"].is_sorted() and len(frame) > 10
    arrived = frame["arrived"]
    assert arrived.is_sorted() and arrived[-1] > 0
    assert frame["RBUF mean"].max() is not None


def test_a_notebook_shows_a_table(table: npsim.Table) -> None:
    html: str = table._repr_html_()  # type: ignore[attr-defined]
    assert "<th>fate</th>" in html and f"{len(table)} rows" in html


def test_a_million_rows_go_into_polars_and_duckdb(large: npsim.Table) -> None:
    assert len(large) >= ROWS
    begun = time.perf_counter()
    frame = polars.DataFrame(large)
    made = time.perf_counter() - begun
    for name in ("packet", "bytes", "delay", "ended"):
        assert address_in(frame[name]) == address(large[name])
    begun = time.perf_counter()
    relation: Any = duckdb.sql(
        "select fate, count(*), min(delay), max(delay) from large group by fate order by fate"
    )
    found: list[Any] = relation.fetchall()
    asked = time.perf_counter() - begun
    print(f"\n{len(large)} rows: {made:.3f} s into polars, {asked:.3f} s through DuckDB")
    assert sum(row[1] for row in found) == len(large)
    own = frame.group_by("fate").agg(polars.len()).sort("fate")
    assert own.rows() == [row[:2] for row in found]
    # Copying all rows in Python would take many seconds.
    assert made < 5 and asked < 5


def test_constructors_of_other_libraries_take_a_table(table: npsim.Table) -> None:
    # The type stubs of pandas do not have `from_arrow` yet.
    of_pandas: Any = pandas.DataFrame
    for frame in (
        polars.DataFrame(table),
        pyarrow.table(table).to_pandas(),
        of_pandas.from_arrow(table),
        table.pandas(),
    ):
        assert frame.shape == (len(table), len(table.keys()))
    # The constructor of pandas takes dictionaries and arrays, and would make a frame of the column names.
    with pytest.raises(TypeError, match=r"pandas\.DataFrame\.from_arrow\(table\)"):
        pandas.DataFrame(table)
    with pytest.raises(TypeError, match=r"table\.numpy\(\)"):
        numpy.asarray(table)
