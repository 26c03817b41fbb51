"""Batches and columns are the memory that C filled, and keep it alive."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

import hwt
from hwt import _columns, _stream
from hwt._native import ffi, lib

np = pytest.importorskip("numpy")

COLUMNS = ("time_ns", "stream_off", "kind", "ip", "insns", "taken", "gap_text")


def first(trace: Any, **filters: Any) -> Any:
    filters.setdefault("columns", COLUMNS)
    return next(trace.events(**filters).batches())


def test_a_column_of_numbers_is_a_view_that_cannot_be_written(trace_pt):
    batch = first(trace_pt)
    offsets = batch["stream_off"]
    assert offsets.dtype == np.uint64 and offsets.shape == (len(batch),)
    assert offsets.__array_interface__["data"][0] == (
        batch.column("stream_off").addresses()[1]
    )
    with pytest.raises(ValueError):
        offsets[0] = 1
    with pytest.raises(ValueError):
        offsets.flags.writeable = True
    with pytest.raises(TypeError):
        batch.column("stream_off").buffer[0] = 1


def test_views_outlive_batch_plan_trace_and_context(pt):
    trace = hwt.open(pt)
    plan = trace.events(columns=["stream_off", "kind"])
    batches = plan.batches()
    batch = next(batches)
    want = batch.column("stream_off").to_list()
    view = batch["stream_off"]
    part = view[10:20]
    gone = weakref.ref(batch)
    batches.close()
    trace.close()
    del batch, batches, plan, trace, view
    gc.collect()
    assert gone() is None
    # Memory that was given back would be somebody else's by now.
    filler = [bytearray(1 << 16) for _ in range(50)]
    assert part.tolist() == want[10:20]
    del filler


def test_what_was_handed_out_outlives_the_batch(trace_pt):
    pa = pytest.importorskip("pyarrow")
    batch = first(trace_pt)
    want = batch.column("ip").to_list()
    arrow = pa.record_batch(batch)
    child = arrow["ip"]
    del batch, arrow
    gc.collect()
    assert child.to_pylist() == want


def test_views_of_a_cycle_are_given_back(trace_pt):
    class Holder:
        pass

    holder = Holder()
    holder.batch = first(trace_pt)
    holder.view = holder.batch["stream_off"]
    holder.me = holder
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_values_numpy_lists_and_rows_agree(trace_pt):
    batch = first(trace_pt)
    rows = list(batch.rows())
    assert len(rows) == len(batch) > 100
    for name in COLUMNS:
        column = batch.column(name)
        listed = column.to_list()
        assert listed == [getattr(row, name) for row in rows]
        array = batch[name]
        assert array.tolist() == listed
        valid = column.valid
        assert valid.tolist() == [one is not None for one in listed]
        assert column.null_count == listed.count(None)


def test_what_is_unknown_is_masked_and_never_0(trace_pt):
    batch = first(trace_pt)
    taken = batch["taken"]
    assert isinstance(taken, np.ma.MaskedArray)
    kinds = batch["kind"]
    # Only code goes anywhere.
    assert taken.mask[kinds == "enable"].all()
    assert not taken.mask[kinds == "block"].all()
    assert set(batch["gap_text"].tolist()) == {None}


def test_names_are_codes_and_a_list(trace_pt):
    column = first(trace_pt).column("kind")
    assert column.type == "text" and column.names[1] == "block"
    assert [column.names[c] for c in column.codes] == column.to_list()
    with pytest.raises(TypeError, match="no list of names"):
        first(trace_pt).column("ip").codes


def test_columns_say_unit_and_meaning(trace_pt):
    column = first(trace_pt).column("time_ns")
    assert (column.name, column.type, column.unit) == (
        "time_ns",
        "uint64",
        "ns",
    )
    assert "time" in column.meaning and column.nullable
    assert "time_ns: uint64 [ns]" in repr(column)


def test_bits_have_no_buffer_of_numbers(trace_pt):
    with pytest.raises(TypeError, match="to_list"):
        first(trace_pt).column("taken").buffer


def test_a_column_that_is_not_there_is_a_key_error(trace_pt):
    batch = first(trace_pt)
    with pytest.raises(KeyError, match="no column 'ipp'"):
        batch["ipp"]
    assert "ip" in batch and "ipp" not in batch
    assert sorted(dict(batch)) == sorted(COLUMNS)


@pytest.mark.parametrize("start", [0, 1, 7, 8, 9, 63, 64, 65])
def test_a_slice_is_the_same_rows(trace_pt, start):
    batch = first(trace_pt)
    part = batch.slice(start, 21)
    assert list(part.rows()) == list(batch.rows())[start : start + 21]
    for name in COLUMNS:
        assert part[name].tolist() == batch[name][start : start + 21].tolist()
        assert part.column(name).null_count == (
            batch.column(name).to_list()[start : start + 21].count(None)
        )
    again = part.slice(2, 5)
    assert list(again.rows()) == list(batch.rows())[start + 2 : start + 7]
    address = batch["stream_off"].__array_interface__["data"][0]
    assert part["stream_off"].__array_interface__["data"][0] == (
        address + 8 * start
    )


def test_slices_stop_at_the_end(trace_pt):
    batch = first(trace_pt)
    n = len(batch)
    assert len(batch.slice(n - 3, 10)) == 3
    assert len(batch.slice(n + 5)) == 0
    assert batch.slice(n)["ip"].tolist() == []
    assert batch.slice(n)["taken"].tolist() == []
    assert batch.slice(n)["gap_text"].tolist() == []


class Counted:
    """An array of C of one column, whose release is counted."""

    def __init__(self, values: list) -> None:
        self.released = {"schema": 0, "array": 0}
        self.keep: list = []
        self.schema = self._schema("+s", b"", 1)
        child = self._schema("L", b"n", 0)
        children = ffi.new("struct ArrowSchema *[]", [child])
        self.schema.children = children
        self.array = self._array(len(values), 1, 1)
        numbers = ffi.new("uint64_t[]", values)
        inner = self._array(len(values), 2, 0)
        inner.buffers[1] = numbers
        inners = ffi.new("struct ArrowArray *[]", [inner])
        self.array.children = inners
        self.keep += [children, child, inner, inners, numbers]

    def _callback(self, what: str) -> Any:
        def release(struct: Any) -> None:
            self.released[what] += 1
            struct.release = ffi.NULL

        made = ffi.callback(
            "void (*)(struct Arrow%s *)" % what.capitalize(), release
        )
        self.keep.append(made)
        return made

    def _schema(self, form: str, name: bytes, n: int) -> Any:
        schema = ffi.new("struct ArrowSchema *")
        texts = [ffi.new("char[]", form.encode()), ffi.new("char[]", name)]
        schema.format, schema.name = texts
        schema.n_children = n
        schema.release = self._callback("schema")
        self.keep.append(texts)
        return schema

    def _array(self, length: int, n_buffers: int, n: int) -> Any:
        array = ffi.new("struct ArrowArray *")
        array.length = length
        array.n_buffers = n_buffers
        buffers = ffi.new("void *[]", max(n_buffers, 1))
        array.buffers = buffers
        array.n_children = n
        array.release = self._callback("array")
        self.keep.append(buffers)
        return array


def test_memory_of_c_is_given_back_once_when_all_are_gone():
    counted = Counted([1, 2, 3])
    batch = _stream.Batch.of_arrays(counted.schema, counted.array)
    assert counted.array.release == ffi.NULL
    view = batch["n"]
    capsules = [batch.__arrow_c_array__() for _ in range(3)]
    streams = [batch.__arrow_c_stream__() for _ in range(2)]
    part = batch.slice(1)
    del batch
    gc.collect()
    assert counted.released == {"schema": 0, "array": 0}
    assert view.tolist() == [1, 2, 3] and part["n"].tolist() == [2, 3]
    del capsules, streams
    gc.collect()
    assert counted.released == {"schema": 0, "array": 0}
    del part
    gc.collect()
    # Who has schema and array has no need of the schema any more.
    assert counted.released == {"schema": 1, "array": 0}
    del view
    gc.collect()
    assert counted.released == {"schema": 1, "array": 1}


def test_a_capsule_that_was_taken_is_not_given_back_again():
    pa = pytest.importorskip("pyarrow")
    counted = Counted([7, 8])
    batch = _stream.Batch.of_arrays(counted.schema, counted.array)
    schema, array = batch.__arrow_c_array__()
    arrow = pa.RecordBatch._import_from_c_capsule(schema, array)
    del batch, schema, array
    gc.collect()
    assert counted.released["array"] == 0
    assert arrow.column(0).to_pylist() == [7, 8]
    del arrow
    gc.collect()
    assert counted.released == {"schema": 1, "array": 1}


def test_batches_can_be_handed_out_any_number_of_times(trace_pt):
    pa = pytest.importorskip("pyarrow")
    batch = first(trace_pt)
    taken = [pa.record_batch(batch) for _ in range(20)]
    addresses = {one["ip"].buffers()[1].address for one in taken}
    assert addresses == {batch.column("ip").addresses()[1]}
    assert all(one.equals(taken[0]) for one in taken)


def test_capsules_have_the_names_of_the_protocol(trace_pt):
    batch = first(trace_pt)
    assert '"arrow_schema"' in repr(batch.__arrow_c_schema__())
    schema, array = batch.__arrow_c_array__()
    assert '"arrow_schema"' in repr(schema)
    assert '"arrow_array"' in repr(array)
    assert '"arrow_array_stream"' in repr(batch.__arrow_c_stream__())


def test_a_plan_whose_capsule_nobody_takes_leaves_nothing_open(pt):
    trace = hwt.open(pt)
    plan = trace.insns(jobs=2)
    for _ in range(10):
        plan.__arrow_c_stream__()
        plan.__arrow_c_schema__()
    trace.close()
    gc.collect()
    from hwt._native import context

    now = ffi.new("uint64_t *")
    lib.hwtd_context_memory(context().c, now, ffi.NULL)
    before = now[0]
    # The plan keeps no cursor, only what it was made of.
    del plan, trace
    gc.collect()
    lib.hwtd_context_memory(context().c, now, ffi.NULL)
    assert now[0] <= before


def test_text_that_is_no_utf8_is_told_as_bytes():
    from hwt._native import new

    assert _columns.c_text(ffi.new("char[]", b"a\xff")) == "a\\xff"
    assert new("struct hwtd_stats").size > 0


@pytest.mark.skipif(
    not hasattr(sys, "getrefcount"), reason="no counts of references"
)
def test_batches_do_not_pile_up(trace_pt):
    def objects() -> int:
        gc.collect()
        return sum(
            isinstance(one, (_stream.Batch, _stream.Stream))
            for one in gc.get_objects()
        )

    before = objects()
    for _ in range(3):
        for batch in trace_pt.events().batches(rows=500):
            batch["ip"]
    del batch
    assert objects() == before
