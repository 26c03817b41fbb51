"""What reads Arrow reads plans and batches, without a copy of the columns."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import hwt

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

COLUMNS = ["time_ns", "ip", "insns", "kind", "taken", "tid", "async_number"]


@pytest.fixture
def plan(trace_pt: Any) -> Any:
    return trace_pt.events(columns=COLUMNS)


@pytest.fixture
def rows(plan: Any) -> list:
    return [tuple(row) for row in plan]


def tuples(table: Any) -> list:
    return list(zip(*[column.to_pylist() for column in table.columns]))


def addresses(array: Any) -> list:
    """Of the buffers of an array of pyarrow; 0: there is none."""
    return [b.address if b is not None else 0 for b in array.buffers()]


# pyarrow.


def test_pyarrow_has_the_rows_and_the_same_memory(plan, rows):
    batches = list(plan.batches(rows=7000))
    for batch in batches:
        arrow = pa.record_batch(batch)
        for name in COLUMNS:
            want = batch.column(name).addresses()
            assert addresses(arrow[name])[: len(want)] == want
    assert tuples(pa.table(plan)) == rows
    assert tuples(plan.to_arrow()) == rows
    assert tuples(pa.Table.from_batches(map(pa.record_batch, batches))) == rows


def test_pyarrow_streams_a_plan(plan, rows):
    reader = pa.RecordBatchReader.from_stream(plan)
    assert reader.schema.names == COLUMNS
    assert tuples(reader.read_all()) == rows
    # Each stream is a pass of its own.
    assert tuples(pa.RecordBatchReader.from_stream(plan).read_all()) == rows


def test_a_stream_that_is_not_read_to_its_end_is_given_up(plan):
    reader = pa.RecordBatchReader.from_stream(plan)
    reader.read_next_batch()
    del reader
    assert pa.table(plan).num_rows == plan.count()


def test_schemas_have_units_meanings_and_what_may_be_null(plan):
    schema = pa.schema(plan)
    for field, ours in zip(schema, plan.schema):
        assert field.name == ours.name and field.nullable == ours.nullable
        assert field.metadata[b"meaning"].decode() == ours.meaning
        assert field.metadata.get(b"unit") == (
            ours.unit.encode() if ours.unit else None
        )
    assert schema.field("time_ns").metadata[b"unit"] == b"ns"
    assert schema.field("ip").type == pa.uint64()
    assert pa.types.is_dictionary(schema.field("kind").type)
    assert pa.schema(next(plan.batches())).equals(schema, check_metadata=True)


def test_what_is_unknown_is_null(plan, rows):
    table = pa.table(plan)
    for i, name in enumerate(COLUMNS):
        unknown = sum(row[i] is None for row in rows)
        assert table[name].null_count == unknown
    assert table["taken"].null_count > 0
    assert table["async_number"].null_count == len(rows)


def test_what_pyarrow_got_is_valid(trace_pt, trace_spe):
    for plan in (
        trace_pt.events(),
        trace_pt.packets(columns=["kind", "name", "text", "ip"]),
        trace_pt.records(),
        trace_pt.calls(enters=True, gaps=True),
        trace_spe.samples(),
        trace_pt.events(columns=["ip", "function", "image", "file", "line"]),
    ):
        pa.table(plan).validate(full=True)
        for batch in plan.batches(rows=1000):
            pa.record_batch(batch.slice(3, 100)).validate(full=True)


def test_a_failure_reaches_the_consumer_behind_the_good_rows(pt):
    builder = hwt.Builder.open(pt)
    builder.add_bytes(0, b"\xff" * 40)
    with builder.seal() as trace:
        plan = trace.events(columns=["ip"], strict=True)
        reader = pa.RecordBatchReader.from_stream(plan)
        assert reader.read_next_batch().num_rows > 50000
        with pytest.raises(OSError, match="the cursor is strict"):
            reader.read_next_batch()


# NumPy.


def test_numpy_sees_the_memory_that_pyarrow_sees(plan):
    batch = next(plan.batches())
    arrow = pa.record_batch(batch)
    for name in ("time_ns", "ip", "insns", "tid"):
        view = np.ma.getdata(batch[name])
        assert view.__array_interface__["data"][0] == (
            addresses(arrow[name])[1]
        )


# pandas.


def test_pandas_keeps_addresses_whole_and_knows_what_is_unknown(plan, rows):
    pd = pytest.importorskip("pandas")
    frame = plan.to_pandas()
    assert list(frame.columns) == COLUMNS
    assert str(frame["ip"].dtype) == "UInt64"
    assert str(frame["insns"].dtype) == "uint32"
    assert str(frame["kind"].dtype) == "category"
    assert str(frame["taken"].dtype) == "boolean"
    for i, name in enumerate(COLUMNS):
        got = [None if pd.isna(one) else one for one in frame[name]]
        assert got == [row[i] for row in rows]


# polars.


def test_polars_has_the_rows_and_the_same_memory(plan, rows):
    pl = pytest.importorskip("polars")
    for frame in (
        pl.DataFrame(plan),
        pl.from_arrow(pa.table(plan)),
        plan.to_polars(),
    ):
        assert frame.columns == COLUMNS
        assert frame.rows() == rows
    batch = next(plan.batches())
    frame = pl.DataFrame(batch)
    for name in ("time_ns", "ip", "insns"):
        assert addresses(frame[name].to_arrow())[1] == (
            batch.column(name).addresses()[1]
        )


def test_polars_takes_a_batch_and_an_empty_plan(plan):
    pl = pytest.importorskip("polars")
    batch = next(plan.batches(rows=10))
    assert pl.DataFrame(batch).rows() == [tuple(row) for row in batch.rows()]
    none = plan.where(tid=99)
    assert pl.DataFrame(none).shape == (0, len(COLUMNS))
    assert none.to_polars().columns == COLUMNS
    assert pa.table(none).schema.names == COLUMNS
    assert none.to_pandas().shape == (0, len(COLUMNS))
    assert {len(one) for one in none.to_numpy().values()} == {0}


# DuckDB.


def test_duckdb_asks_a_plan(plan, rows):
    duckdb = pytest.importorskip("duckdb")
    got = duckdb.sql(
        "select kind, count(*), sum(insns), count(taken) from plan"
        " group by kind"
    ).fetchall()
    want: dict = {}
    for row in rows:
        n, insns, taken = want.get(row[3], (0, 0, 0))
        want[row[3]] = (n + 1, insns + row[2], taken + (row[4] is not None))
    assert {one[0]: tuple(one[1:]) for one in got} == want
    batch = next(plan.batches(rows=100))
    assert duckdb.sql("select count(*) from batch").fetchall() == [(100,)]


def test_parquet_of_a_plan_is_what_duckdb_reads(plan, rows, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it's.parquet"
    assert plan.to_parquet(path, rows=20000) == len(rows)
    names = ", ".join(COLUMNS)
    got = duckdb.execute(
        f"select {names} from read_parquet($path)", {"path": str(path)}
    ).fetchall()
    assert got == rows
    groups = duckdb.execute(
        "select count(distinct row_group_id) from parquet_metadata($path)",
        {"path": str(path)},
    ).fetchall()
    assert groups == [(-(-len(rows) // 20000),)]
    assert [one.name for one in tmp_path.iterdir()] == ["it's.parquet"]


def test_a_parquet_file_is_left_alone_if_its_plan_fails(pt, tmp_path):
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "old.parquet"
    path.write_bytes(b"old")
    builder = hwt.Builder.open(pt)
    builder.add_bytes(0, b"\xff" * 40)
    with builder.seal() as trace:
        with pytest.raises(hwt.CorruptTraceError):
            trace.events(columns=["ip"], strict=True).to_parquet(path)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["old.parquet"]


# What no library does.


def test_a_capsule_is_what_the_interface_of_arrow_says(plan):
    capsule = plan.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [
        ctypes.py_object,
        ctypes.c_char_p,
    ]

    class Stream(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_void_p)
            for name in ("schema", "next", "error", "release", "private")
        ]

    stream = Stream.from_address(get(capsule, b"arrow_array_stream"))
    assert stream.schema and stream.next and stream.error and stream.release
    with pytest.raises(ValueError):
        get(capsule, b"arrow_array")
