"""Columns as pyarrow reads them: types, values, nulls, errors and lifetimes.

The library is the one that HWTDECODE_LIBRARY names.  pyarrow is in no Debian
package, so that these tests are skipped where nobody installed it (pip install
pyarrow).
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent.parent
GOOD = TESTS.parent / "fixtures" / "pt-good"
sys.path.insert(0, str(TESTS / "abi"))

from public_api import Api  # noqa: E402

try:
    import pyarrow as pa
    from cffi import FFI
except ImportError:
    pa = None

LIBRARY = os.environ.get("HWTDECODE_LIBRARY", "")

pytestmark = [
    pytest.mark.skipif(pa is None, reason="no pyarrow, or no cffi"),
    pytest.mark.skipif(not LIBRARY, reason="HWTDECODE_LIBRARY is not set"),
]

# Together they have rows of all kinds that Intel PT has.
CASES = [
    "power-events-tell-the-sleep-and-the-wake",
    "ptwrite-with-and-without-its-address",
    "transaction-abort-goes-to-its-fallback",
    "vm-exit-carries-vmcs-and-paging",
    "overflow-resumes-at-fup",
    "core-ratio-changes-are-rows",
    "syscall-disables-and-resumes",
    "interrupt-in-a-loop-comes-back-to-the-loop",
    "timing-packets-never-change-the-flow",
]

NO_ID = 0xFFFFFFFF


class Library:
    """The library through cffi, with what the tests build and read."""

    def __init__(self) -> None:
        self.ffi = FFI()
        self.ffi.cdef(Api(TESTS.parent).cdef)
        self.lib = self.ffi.dlopen(LIBRARY)

    def options(self, name: str, **fields: Any) -> Any:
        struct = self.ffi.new(f"struct {name} *", fields)
        struct.size = self.ffi.sizeof(f"struct {name}")
        return struct

    def call(self, function: str, *args: Any) -> None:
        err = self.options("hwtd_error")
        code = getattr(self.lib, function)(*args, err)
        assert code == 0, self.ffi.string(err.message).decode()

    def made(self, function: str, what: str, *args: Any) -> Any:
        out = self.ffi.new(f"struct {what} **")
        self.call(function, *args, out)
        return out[0]

    def trace(self, case: str) -> Any:
        """A trace of a fixture, on CPU 3 with a clock of 1 count a ns."""
        ffi = self.ffi
        ctx = self.made("hwtd_context_create", "hwtd_context", ffi.NULL)
        trace = self.made("hwtd_trace_create", "hwtd_trace", ctx, ffi.NULL)
        self.lib.hwtd_context_destroy(ctx)
        desc = self.options(
            "hwtd_stream_desc",
            tech=1,
            cpu=3,
            pid=NO_ID,
            tid=8,
            clock={"counts_per": 1, "ns_per": 1},
        )
        stream = ffi.new("uint32_t *")
        self.call("hwtd_trace_add_stream", trace, desc, stream)
        raw = (GOOD / case / "trace.pt").read_bytes()
        self.call(
            "hwtd_trace_add_bytes", trace, stream[0],
            ffi.from_buffer(raw), len(raw),
        )  # fmt: skip
        for line in (GOOD / case / "image.txt").read_text().splitlines():
            name, *numbers = line.split()
            offset, length, address = (int(n, 16) for n in numbers)
            code = (GOOD / case / name).read_bytes()[offset:][:length]
            path = ffi.new("char[]", b"code")
            image = self.options(
                "hwtd_image_desc",
                path=path,
                bytes=ffi.from_buffer(code),
                n_bytes=length,
                flags=1,
                address=address,
            )
            self.call("hwtd_trace_add_image", trace, image, ffi.NULL)
        self.call("hwtd_trace_seal", trace)
        return trace

    def events(self, trace: Any, **fields: Any) -> Any:
        return self.made(
            "hwtd_events_open", "hwtd_events", trace,
            self.options("hwtd_events_options", **fields),
        )  # fmt: skip

    def export(self, events: Any, **fields: Any) -> Any:
        stream = self.ffi.new("struct ArrowArrayStream *")
        self.call(
            "hwtd_events_export", events,
            self.options("hwtd_export_options", **fields), stream,
        )  # fmt: skip
        return stream

    def reader(self, events: Any, **fields: Any) -> Any:
        stream = self.export(events, **fields)
        address = int(self.ffi.cast("uintptr_t", stream))
        # It moves the stream out of the struct.
        return pa.RecordBatchReader._import_from_c(address)

    def name(self, function: str, number: int) -> str:
        name = getattr(self.lib, function)(number)
        return self.ffi.string(name).decode()

    def rows(self, trace: Any, **fields: Any) -> Iterator[dict[str, Any]]:
        """What hwtd_events_read() tells of some columns, 5 rows a read."""
        events = self.events(trace, **fields)
        rows = self.ffi.new("struct hwtd_event[5]")
        batch = self.options("hwtd_batch", events=rows, stride=64, cap=5)
        err = self.options("hwtd_error")
        while self.lib.hwtd_events_read(events, batch, err) == 0:
            for row in rows[0 : batch.n]:
                yield self.row(trace, row, batch)
        assert err.code == 0
        self.lib.hwtd_events_close(events)

    def row(self, trace: Any, row: Any, batch: Any) -> dict[str, Any]:
        kind = self.name("hwtd_event_kind_name", row.kind)
        context = self.options("hwtd_exec_context")
        self.lib.hwtd_trace_exec_context(trace, row.context, context)

        def if_flag(flag: int, value: Any) -> Any:
            return value if row.flags & flag else None

        code = kind in ("block", "insn")
        known = {
            "time_ns": if_flag(0x1, row.time_ns),
            "stream": row.stream,
            "stream_off": row.stream_off,
            "kind": kind,
            "ip": if_flag(0x2, row.ip),
            "target": if_flag(0x4, row.target),
            "insns": row.insns,
            "bytes": row.bytes,
            "branch": self.name("hwtd_branch_name", row.branch)
            if code
            else None,
            "taken": if_flag(0x24, bool(row.flags & 0x20)) if code else None,
            "isa": if_flag(
                0xF000, self.name("hwtd_isa_name", row.flags >> 12)
            ),
            "section": if_flag(0x800, row.section),
            "context": row.context,
            "status": bool(row.flags & 0x40),
            "async": bool(row.flags & 0x80),
            "time_estimated": if_flag(0x1, bool(row.flags & 0x10)),
            "pid": None if context.pid == NO_ID else context.pid,
            "tid": None if context.tid == NO_ID else context.tid,
            "cpu": None if context.cpu == NO_ID else context.cpu,
            "cr3": context.cr3 if context.flags & 1 else None,
            "guest": bool(context.flags & 0x40)
            if context.flags & 0x41
            else None,
        }
        details: dict[str, Any] = dict.fromkeys(
            ("gap_reason", "gap_first", "gap_text", "gap_ip_after",
             "marker_source", "marker_payload", "power_what", "power_state",
             "power_hints", "async_type", "async_number", "value"),
        )  # fmt: skip
        if kind == "gap":
            gap = batch.gaps[row.value]
            details["gap_reason"] = self.name(
                "hwtd_gap_reason_name", gap.reason
            )
            details["gap_first"] = gap.first
            details["gap_text"] = self.ffi.string(gap.text).decode()
            if gap.flags & 2:
                details["gap_ip_after"] = gap.ip_after
        elif kind == "marker":
            marker = batch.markers[row.value]
            details["marker_source"] = self.name(
                "hwtd_marker_source_name", marker.source
            )
            details["marker_payload"] = marker.payload
        elif kind == "power":
            power = batch.powers[row.value]
            what = self.name("hwtd_power_what_name", power.what)
            details["power_what"] = what
            if what in ("entry", "exit"):
                details["power_state"] = power.state
            if what == "mwait":
                details["power_hints"] = power.hints
        elif kind == "async" and row.flags & 0x8:
            transfer = batch.asyncs[row.value]
            details["async_type"] = self.name(
                "hwtd_async_type_name", transfer.type
            )
            if transfer.flags & 1:
                details["async_number"] = transfer.number
        elif kind != "async":
            details["value"] = if_flag(0x8, row.value)
        return known | details


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


class Capsule:
    """An object that hands out a stream as consumers ask for it."""

    def __init__(self, library: Library, events: Any, **fields: Any) -> None:
        self.library = library
        self.stream = library.export(events, **fields)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        address = int(self.library.ffi.cast("uintptr_t", self.stream))
        return new(address, b"arrow_array_stream", None)


@pytest.mark.parametrize("rows", [1, 7, 0])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_rows(
    library: Library, case: str, level: int, rows: int
) -> None:
    trace = library.trace(case)
    want = list(library.rows(trace, level=level))
    table = library.reader(
        library.events(trace, level=level), rows=rows
    ).read_all()
    library.lib.hwtd_trace_close(trace)
    table.validate(full=True)
    assert table.num_rows == len(want) > 0
    assert table.select(list(want[0])).to_pylist() == want


def test_fixtures_have_what_columns_are_for(library: Library) -> None:
    kinds, filled = set(), set()
    for case in CASES:
        trace = library.trace(case)
        for row in library.rows(trace):
            kinds.add(row["kind"])
            filled |= {name for name in row if row[name] is not None}
        library.lib.hwtd_trace_close(trace)
    assert {"block", "async", "gap", "marker", "power", "mode", "context",
            "frequency", "enable", "disable"} <= kinds  # fmt: skip
    assert {"gap_reason", "marker_payload", "power_state", "power_hints",
            "async_type", "cr3", "value", "time_ns"} <= filled  # fmt: skip


def test_schema_has_types_units_and_nulls(library: Library) -> None:
    trace = library.trace(CASES[0])
    schema = library.reader(library.events(trace)).schema
    library.lib.hwtd_trace_close(trace)
    names = pa.dictionary(pa.int8(), pa.string())
    assert schema.field("time_ns").type == pa.uint64()
    assert schema.field("time_ns").nullable
    assert schema.field("time_ns").metadata[b"unit"] == b"ns"
    assert b"clock" in schema.field("time_ns").metadata[b"meaning"]
    assert schema.field("kind").type == names
    assert not schema.field("kind").nullable
    assert schema.field("gap_reason").type == names
    assert schema.field("taken").type == pa.bool_()
    assert schema.field("gap_text").type == pa.string()
    assert schema.field("level").type == pa.uint8()
    assert schema.field("insns").metadata[b"unit"] == b"instructions"
    assert schema.metadata[b"libhwtdecode"]


def test_chosen_columns_are_all_there_is(library: Library) -> None:
    trace = library.trace(CASES[0])
    table = library.reader(library.events(trace), columns=0x19).read_all()
    library.lib.hwtd_trace_close(trace)
    assert table.column_names == ["time_ns", "kind", "ip"]


def named(library: Library, *names: str) -> dict[str, Any]:
    """Columns by name, with what keeps their names alive."""
    ffi = library.ffi
    texts = [ffi.new("char[]", name.encode()) for name in names]
    array = ffi.new("char *[]", texts)
    return {"names": array, "n_names": len(names), "keep": texts}


def exported(
    library: Library, function: str, source: Any, *names: str, rows: int = 0
) -> Any:
    """The table of calls, packets, records or events."""
    stream = library.ffi.new("struct ArrowArrayStream *")
    fields = named(library, *names)
    keep = fields.pop("keep")
    options = library.options("hwtd_export_options", rows=rows)
    if keep:
        options.names = fields["names"]
        options.n_names = fields["n_names"]
    library.call(function, source, options, stream)
    address = int(library.ffi.cast("uintptr_t", stream))
    table = pa.RecordBatchReader._import_from_c(address).read_all()
    table.validate(full=True)
    return table


def test_named_columns_come_in_their_order(library: Library) -> None:
    trace = library.trace("overflow-resumes-at-fup")
    want = list(library.rows(trace))
    names = ["gap_reason", "ip", "kind", "function"]
    table = exported(
        library, "hwtd_events_export", library.events(trace), *names
    )
    library.lib.hwtd_trace_close(trace)
    assert table.column_names == names
    assert table["kind"].to_pylist() == [row["kind"] for row in want]
    assert table["ip"].to_pylist() == [row["ip"] for row in want]
    reasons = table["gap_reason"].to_pylist()
    assert reasons == [row["gap_reason"] for row in want]
    assert "overflow" in reasons
    # The code is bare bytes: nothing has a name.
    assert table["function"].null_count == len(want)


@pytest.mark.parametrize("rows", [1, 0])
@pytest.mark.parametrize("case", CASES)
def test_packets_cover_all_bytes_of_the_trace(
    library: Library, case: str, rows: int
) -> None:
    trace = library.trace(case)
    packets = library.made(
        "hwtd_packets_open", "hwtd_packets", trace,
        library.options("hwtd_packets_options"),
    )  # fmt: skip
    table = exported(library, "hwtd_packets_export", packets, rows=rows)
    library.lib.hwtd_trace_close(trace)
    raw = (GOOD / case / "trace.pt").read_bytes()
    offsets = table["stream_off"].to_pylist()
    sizes = table["bytes"].to_pylist()
    assert sum(sizes) == len(raw)
    assert offsets == [sum(sizes[:i]) for i in range(len(sizes))]
    # PSB is 02 82, eight times.
    at = raw.index(bytes([2, 0x82] * 8))
    assert table["kind"].to_pylist()[offsets.index(at)] == "psb"
    assert table.schema.field("bytes").metadata[b"unit"] == b"bytes"
    assert "text" not in table.column_names


def test_calls_of_code_without_symbols_have_no_numbers_made_up(
    library: Library,
) -> None:
    trace = library.trace("timing-packets-never-change-the-flow")
    calls = library.made(
        "hwtd_calls_open", "hwtd_calls", trace,
        library.options("hwtd_calls_options", flags=3),
    )  # fmt: skip
    table = exported(library, "hwtd_calls_export", calls)
    library.lib.hwtd_trace_close(trace)
    assert table.num_rows > 0
    for field in table.schema:
        assert field.metadata[b"meaning"], field.name
    for row in table.to_pylist():
        assert row["tid"] == 8
        assert row["pid"] is None
        if row["kind"] == "enter":
            assert row["end"] is None
            assert row["ns"] is None
            assert row["insns"] is None


def test_records_are_a_table(library: Library) -> None:
    ffi = library.ffi
    ctx = library.made("hwtd_context_create", "hwtd_context", ffi.NULL)
    trace = library.made("hwtd_trace_create", "hwtd_trace", ctx, ffi.NULL)
    library.lib.hwtd_context_destroy(ctx)
    for name, pid in ((b"", 7), (b"a\n\"\xff;", NO_ID)):
        path = ffi.new("char[]", name)
        record = library.options(
            "hwtd_record", type=1, flags=0x1, cpu=NO_ID, pid=pid, tid=NO_ID,
            stream=NO_ID, image=NO_ID, time_ns=5,
        )  # fmt: skip
        record.name = path
        library.call("hwtd_trace_add_record", trace, record)
    library.call("hwtd_trace_seal", trace)
    table = exported(library, "hwtd_records_export", trace)
    library.lib.hwtd_trace_close(trace)
    assert table["name"].to_pylist() == ["", 'a\n"\ufffd;']
    assert table["pid"].to_pylist() == [7, None]
    assert table["addr"].to_pylist() == [None, None]
    assert table["index"].to_pylist() == [0, 1]


def test_capsule_makes_a_table_that_outlives_everything(
    library: Library,
) -> None:
    trace = library.trace(CASES[0])
    want = [row["kind"] for row in library.rows(trace)]
    capsule = Capsule(library, library.events(trace), rows=3)
    library.lib.hwtd_trace_close(trace)
    table = pa.table(capsule)
    del capsule
    gc.collect()
    kinds = table["kind"]
    del table
    gc.collect()
    assert kinds.to_pylist() == want


def test_error_of_a_strict_cursor_comes_after_the_rows(
    library: Library,
) -> None:
    trace = library.trace("overflow-resumes-at-fup")
    want = [row["kind"] for row in library.rows(trace)]
    want = want[: want.index("gap") + 1]
    reader = library.reader(library.events(trace, flags=1), rows=2)
    library.lib.hwtd_trace_close(trace)
    got: list[str] = []
    with pytest.raises(OSError, match="the cursor is strict"):
        for batch in reader:
            got += batch["kind"].to_pylist()
    assert got == want
