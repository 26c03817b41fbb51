"""What a trace says of itself: streams, threads, records, damage.

All of these are plain values that stay when the trace is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar

from hwt import config
from hwt._native import (
    check,
    check_found,
    ffi,
    lib,
    new,
    optional_id,
    text,
    text_or_none,
)
from hwt._words import printable
from hwt.config import CData

if TYPE_CHECKING:
    from hwt._table import Table

__all__ = [
    "Damage",
    "ExecContext",
    "Extent",
    "Items",
    "Process",
    "Record",
    "SinkInfo",
    "Stream",
    "Thread",
    "TraceInfo",
]

T = TypeVar("T")

# What a listing shows of itself.
_MOST_ROWS = 20
_MOST_CHARACTERS = 60
_ADDRESSES = frozenset(
    ("address", "length", "file_off", "first", "end", "ip_before", "ip_after")
)


class Items(tuple[T, ...], Generic[T]):
    """A tuple of values of one kind that shows itself as a table.

    Examples
    --------
    >>> with hwt.open(spe) as trace:
    ...     [stream.cpu for stream in trace.streams]
    [0, 1]
    """

    __slots__ = ()

    def _names(self) -> list[str]:
        """Fields that are known of any, and are numbers, names or texts."""
        first: Any = self[0] if self else None
        return [
            f.name
            for f in (fields(first) if self else ())
            if any(
                isinstance(getattr(item, f.name), (int, str, bytes))
                for item in self
            )
        ]

    def to_table(self) -> Table:
        """Make a table of the values: a column for each field.

        Returns
        -------
        hwt.Table
            Fields that are neither numbers nor texts are told as text.
        """
        from hwt._table import Spec, Table

        specs = []
        for name in self._names():
            kind, values = _column([getattr(item, name) for item in self])
            specs.append(Spec(name, kind, values))
        title = type(self[0]).__name__ if self else ""
        return Table._from_rows(len(self), specs, title=title)

    def __repr__(self) -> str:
        """An aligned text of the first rows."""
        if not self:
            return "()"
        names = self._names()
        shown = [names] + [
            [_cell(name, getattr(item, name)) for name in names]
            for item in self[:_MOST_ROWS]
        ]
        widths = [max(len(row[i]) for row in shown) for i in range(len(names))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip()
            for row in shown
        ]
        if len(self) > _MOST_ROWS:
            lines.append(f"... {len(self) - _MOST_ROWS} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from hwt import _repr

        return str(_repr.table_html(self.to_table()))


def _column(values: list[Any]) -> tuple[str, list[Any]]:
    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return "bool", values
    if all(isinstance(value, int) and 0 <= value < 1 << 64 for value in known):
        return "u64", values
    return "text", [None if v is None else str(v) for v in values]


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        found = printable(value)
    elif name in _ADDRESSES:
        found = f"{value:#x}"
    else:
        found = str(value)
    if len(found) > _MOST_CHARACTERS:
        return found[: _MOST_CHARACTERS - 3] + "..."
    return found


@dataclass(frozen=True)
class TraceInfo:
    """Counts and origin of a trace.

    Attributes
    ----------
    format : str
        What it was read from: ``"hwt"``, ``"raw"``, ``"memory"`` and so on.
    origin : str
        Tool and version that made it; or "".
    abi, cpu_model : str
        ABI of the traced programs, the CPU in words; or "".
    clock : str
        What ``time_ns`` counts, for instance ``"CLOCK_MONOTONIC"``; or "".
    capture : mapping of str to str
        How it was recorded, as far as no stream tells it.
    files : tuple of str
        Files that streams and records were read from.
    n_streams, n_sections, n_images, n_damages, n_records : int
        Counts.
    n_bytes : int
        Raw bytes of all streams.
    """

    format: str
    origin: str
    abi: str
    cpu_model: str
    clock: str
    capture: Mapping[str, str]
    files: tuple[str, ...]
    n_streams: int
    n_sections: int
    n_images: int
    n_damages: int
    n_records: int
    n_bytes: int


@dataclass(frozen=True)
class Extent:
    """A run of bytes of a stream that adjoin.

    Attributes
    ----------
    start, end : int
        Bytes of the stream, [start, end).
    why : {"new", "after-loss", "after-damage"}
        Why it starts here.
    """

    start: int
    end: int
    why: str


EXTENT_STARTS = {
    "new": lib.HWTD_EXTENT_NEW,
    "after-loss": lib.HWTD_EXTENT_AFTER_LOSS,
    "after-damage": lib.HWTD_EXTENT_AFTER_DAMAGE,
}


@dataclass(frozen=True)
class SinkInfo:
    """What the bytes of a CoreSight sink with frames are.

    Attributes
    ----------
    n_frames, n_barriers : int
        Frames, and barriers behind which bytes do not adjoin.
    overhead_bytes, sync_bytes, footer_bytes : int
        IDs and flags in frames; synchronisation; ends of DSTREAM blocks.
    lost_bytes : int
        Bytes in no frame, or that could not be read.
    untold_bytes : int
        In frames, before the first ID.
    turned_off : int
        Where the oldest frame lies in memory that is that of a ring.
    id_bytes : mapping of int to int
        Bytes by trace ID, of those that have some.
    """

    n_frames: int
    n_barriers: int
    overhead_bytes: int
    sync_bytes: int
    footer_bytes: int
    lost_bytes: int
    untold_bytes: int
    turned_off: int
    id_bytes: Mapping[int, int]


@dataclass(frozen=True)
class Stream:
    """Raw bytes of one technology, from one CPU, thread or sink.

    Attributes
    ----------
    id : int
        The number in rows, and for filters.
    tech : {"intel-pt", "coresight", "spe", "unknown"}
        What wrote the bytes.
    name : str
        For people.
    cpu, pid, tid : int or None
        Where and of whom it was recorded.
    n_bytes : int
        Bytes in it.
    extents : tuple of Extent
        Runs of bytes that adjoin.
    clock : Clock or None
        How its counts become times.
    clock_derived : bool
        The clock was derived from a nominal frequency, not told.
    pt, coresight, spe : config or None
        How it was recorded.
    framing : str
        ``"none"``, or how the bytes of many sources lie in it.
    sink : int or None
        The stream that has its bytes in frames.
    frames : SinkInfo or None
        Of a stream with frames: what its bytes are.
    """

    id: int
    tech: str
    name: str
    cpu: Optional[int]
    pid: Optional[int]
    tid: Optional[int]
    n_bytes: int
    extents: tuple[Extent, ...]
    clock: Optional[config.Clock]
    clock_derived: bool
    pt: Optional[config.PtConfig]
    coresight: Optional[config.CoresightConfig]
    spe: Optional[config.SpeConfig]
    framing: str
    sink: Optional[int]
    frames: Optional[SinkInfo]


@dataclass(frozen=True)
class Thread:
    """A thread that streams or records speak of.

    Attributes
    ----------
    tid : int
        Its id.
    pid : int or None
        Its process.
    name : str
        The last name that records give it; or "".
    """

    tid: int
    pid: Optional[int]
    name: str


@dataclass(frozen=True)
class Process:
    """A process that records speak of.

    Attributes
    ----------
    pid : int
        Its id.
    parent : int or None
        Its parent.
    name : str
        Of its last program or main thread; or "".
    n_execs : int
        Programs that it started while the trace was made.
    vmid : int or None
        Virtual machine that it runs in; None: the host.
    """

    pid: int
    parent: Optional[int]
    name: str
    n_execs: int
    vmid: Optional[int]


@dataclass(frozen=True)
class ExecContext:
    """Who executes: what ``context`` in a row stands for.

    Attributes
    ----------
    id : int
        The number in rows.
    pid, tid, cpu : int or None
        Process, thread, CPU.
    cr3, vmcs : int or None
        Page table and VMCS of x86.
    contextidr, vmid : int or None
        Of Arm.
    level : int or None
        Exception level (Arm) or privilege ring (x86).
    security : {"secure", "non-secure", "root", "realm"} or None
        Security state of Arm.
    guest : bool
        It runs as a guest (VMX non-root).
    epoch : int
        Of the process: 0 before its first exec.
    """

    id: int
    pid: Optional[int]
    tid: Optional[int]
    cpu: Optional[int]
    cr3: Optional[int]
    vmcs: Optional[int]
    contextidr: Optional[int]
    vmid: Optional[int]
    level: Optional[int]
    security: Optional[str]
    guest: bool
    epoch: int


_SECURITY = ("secure", "non-secure", "root", "realm")


@dataclass(frozen=True)
class Damage:
    """A damaged or missing part of a trace file.

    Attributes
    ----------
    text : str
        What is wrong.
    file_off, file_bytes : int
        Bytes of the file, [file_off, file_off + file_bytes).
    stream : int or None
        Stream whose bytes are missing.
    first, end : int
        Bytes of that stream, [first, end).
    earlier_file : bool
        The file is not this one but the one that it was saved from.
    more : bool
        The last one: there are more, which are not listed.
    """

    text: str
    file_off: int
    file_bytes: int
    stream: Optional[int]
    first: int
    end: int
    earlier_file: bool
    more: bool


RECORD_TYPES: Mapping[str, int] = {
    text(lib.hwtd_record_type_name(i)): i for i in range(lib.HWTD_REC_TYPES)
}
_RECORD_NAMES = {number: name for name, number in RECORD_TYPES.items()}

# Fields of a record, and the flag that says that they are known.
RECORD_FIELDS: Mapping[str, int] = {
    "time_ns": lib.HWTD_RECF_TIME,
    "stream_off": lib.HWTD_RECF_STREAM_OFF,
    "addr": lib.HWTD_RECF_ADDR,
    "len": lib.HWTD_RECF_LEN,
    "file_off": lib.HWTD_RECF_FILE_OFF,
    "base": lib.HWTD_RECF_BASE,
    "value": lib.HWTD_RECF_VALUE,
    "vmid": lib.HWTD_RECF_VMID,
}
RECORD_IDS = ("cpu", "pid", "tid", "stream", "image")
RECORD_FLAGS: Mapping[str, int] = {
    "kernel_space": lib.HWTD_RECF_KERNEL_SPACE,
    "hypervisor_space": lib.HWTD_RECF_HYPERVISOR_SPACE,
    "anonymous": lib.HWTD_RECF_ANONYMOUS,
    "jit": lib.HWTD_RECF_JIT,
    "switch_out": lib.HWTD_RECF_SWITCH_OUT,
}


@dataclass(frozen=True)
class Record:
    """One typed fact beside the raw bytes.  None: not known.

    Parameters
    ----------
    type : str
        ``"exec"``, ``"mmap"``, ``"munmap"``, ``"protect"``, ``"kernel"``,
        ``"module-load"``, ``"module-unload"``, ``"thread-create"``,
        ``"thread-name"``, ``"thread-exit"``, ``"fork"``, ``"exit"``,
        ``"switch"``, ``"buffer"``, ``"lost"``, ``"code"``, ``"clock"`` or
        ``"unknown"``.
    time_ns : int, optional
        ns on the clock of the trace.
    cpu, pid, tid : int, optional
        Where it happened, and of whom it speaks.
    stream, stream_off : int, optional
        It holds from this byte of this stream on.
    addr, len, file_off : int, optional
        Virtual address and bytes, and the byte in the file that lies there.
    image : int, optional
        The image that it shows.
    name : str, optional
        Path, or the name of a thread or function.
    base : int, optional
        Of exec: where the interpreter was loaded.
    value : int, optional
        By type.
    build_id : bytes
        Of the file `name`.
    vmid : int, optional
        The virtual machine that it speaks of.
    kernel_space, hypervisor_space, anonymous, jit, switch_out : bool
        The address is of the kernel, of a hypervisor; of no file; code that
        was made at run time; the thread stops running.
    """

    type: str
    time_ns: Optional[int] = None
    cpu: Optional[int] = None
    pid: Optional[int] = None
    tid: Optional[int] = None
    stream: Optional[int] = None
    stream_off: Optional[int] = None
    addr: Optional[int] = None
    len: Optional[int] = None
    file_off: Optional[int] = None
    image: Optional[int] = None
    name: Optional[str] = None
    base: Optional[int] = None
    value: Optional[int] = None
    build_id: bytes = b""
    vmid: Optional[int] = None
    kernel_space: bool = False
    hypervisor_space: bool = False
    anonymous: bool = False
    jit: bool = False
    switch_out: bool = False

    def __post_init__(self) -> None:
        config.choice("Record.type", self.type, RECORD_TYPES)
        for name in RECORD_FIELDS:
            found = getattr(self, name)
            if found is not None:
                bits = 32 if name == "vmid" else 64
                config.frozen(
                    self, name, config.number(f"Record.{name}", found, bits)
                )
        for name in RECORD_IDS:
            found = getattr(self, name)
            if found is not None:
                config.frozen(
                    self, name, config.an_id(f"Record.{name}", found)
                )
        if self.name is not None:
            config.c_text("Record.name", self.name)
        config.frozen(self, "build_id", bytes(memoryview(self.build_id)))
        if len(self.build_id) > lib.HWTD_MAX_BUILD_ID:
            raise ValueError(
                "Record.build_id: more than " f"{lib.HWTD_MAX_BUILD_ID} bytes"
            )

    def _to_c(self, keep: list[Any]) -> CData:
        c = new("struct hwtd_record")
        c.type = RECORD_TYPES[self.type.lower()]
        for name, flag in RECORD_FIELDS.items():
            if getattr(self, name) is not None:
                setattr(c, name, getattr(self, name))
                c.flags |= flag
        for name in RECORD_IDS:
            found = getattr(self, name)
            setattr(c, name, lib.HWTD_NO_ID if found is None else found)
        for name, flag in RECORD_FLAGS.items():
            if getattr(self, name):
                c.flags |= flag
        if self.name is not None:
            keep.append(ffi.new("char[]", config.c_text("name", self.name)))
            c.name = keep[-1]
        c.n_build_id = len(self.build_id)
        ffi.memmove(c.build_id, self.build_id, c.n_build_id)
        return c

    @classmethod
    def _of_c(cls, c: CData) -> Record:
        n = min(c.n_build_id, lib.HWTD_MAX_BUILD_ID)
        values: dict[str, Any] = {
            name: getattr(c, name) if c.flags & flag else None
            for name, flag in RECORD_FIELDS.items()
        }
        values.update(
            (name, optional_id(getattr(c, name))) for name in RECORD_IDS
        )
        values.update(
            (name, bool(c.flags & flag)) for name, flag in RECORD_FLAGS.items()
        )
        return cls(
            type=_RECORD_NAMES.get(c.type, "unknown"),
            name=text_or_none(c.name),
            build_id=bytes(ffi.buffer(c.build_id, n)),
            **values,
        )


# Readers.  The lock of the trace is held.


def trace_info(trace: CData) -> TraceInfo:
    """Read the counts and the origin of a trace."""
    c = new("struct hwtd_trace_info")
    check(lib.hwtd_trace_info(trace, c))
    capture = {}
    for line in text(c.capture).splitlines():
        what, equals, value = line.partition("=")
        if equals:
            capture[what] = value
    files: list[str] = []
    while True:
        path = lib.hwtd_trace_file(trace, len(files))
        if path == ffi.NULL:
            break
        files.append(text(path))
    return TraceInfo(
        format=text(c.format),
        origin=text(c.origin),
        abi=text(c.abi),
        cpu_model=text(c.cpu_model),
        clock=text(c.clock),
        capture=capture,
        files=tuple(files),
        n_streams=c.n_streams,
        n_sections=c.n_sections,
        n_images=c.n_images,
        n_damages=c.n_damages,
        n_records=c.n_records,
        n_bytes=c.n_bytes,
    )


def _extents(trace: CData, stream: int) -> Iterator[Extent]:
    c = new("struct hwtd_extent")
    i = 0
    while lib.hwtd_trace_extent(trace, stream, i, c) == lib.HWTD_OK:
        yield Extent(c.start, c.end, config.name_of(c.why, EXTENT_STARTS))
        i += 1


def _sink(trace: CData, stream: int) -> Optional[SinkInfo]:
    c = new("struct hwtd_sink_info")
    if lib.hwtd_trace_sink(trace, stream, c) != lib.HWTD_OK:
        return None
    return SinkInfo(
        n_frames=c.n_frames,
        n_barriers=c.n_barriers,
        overhead_bytes=c.overhead_bytes,
        sync_bytes=c.sync_bytes,
        footer_bytes=c.footer_bytes,
        lost_bytes=c.lost_bytes,
        untold_bytes=c.untold_bytes,
        turned_off=c.turned_off,
        id_bytes={i: n for i, n in enumerate(c.id_bytes) if n},
    )


def streams(trace: CData) -> Iterator[Stream]:
    """Read all streams of a trace."""
    c = new("struct hwtd_stream_desc")
    i = 0
    while lib.hwtd_trace_stream(trace, i, c) == lib.HWTD_OK:
        framed = c.framing != lib.HWTD_FRAMING_NONE
        yield Stream(
            id=i,
            tech=config.name_of(c.tech, config.TECHS),
            name=text(c.name),
            cpu=optional_id(c.cpu),
            pid=optional_id(c.pid),
            tid=optional_id(c.tid),
            n_bytes=c.n_bytes,
            extents=tuple(_extents(trace, i)),
            clock=config.Clock._of_c(c.clock),
            clock_derived=bool(c.flags & lib.HWTD_STREAMF_CLOCK_DERIVED),
            pt=None if c.pt == ffi.NULL else config.PtConfig._of_c(c.pt),
            coresight=(
                None
                if c.coresight == ffi.NULL
                else config.CoresightConfig._of_c(c.coresight)
            ),
            spe=None if c.spe == ffi.NULL else config.SpeConfig._of_c(c.spe),
            framing=config.name_of(c.framing, config.FRAMINGS),
            sink=c.sink_plus_1 - 1 if c.sink_plus_1 else None,
            frames=_sink(trace, i) if framed else None,
        )
        i += 1


def processes(trace: CData) -> Iterator[Process]:
    """Read all processes of a trace."""
    c = new("struct hwtd_process")
    i = 0
    while lib.hwtd_trace_process(trace, i, c) == lib.HWTD_OK:
        yield Process(
            pid=c.pid,
            parent=optional_id(c.parent),
            name=text(c.name),
            n_execs=c.n_execs,
            vmid=optional_id(c.vmid),
        )
        i += 1


def exec_context(trace: CData, number: int) -> ExecContext:
    """Read one execution context."""
    c = new("struct hwtd_exec_context")
    code = lib.hwtd_trace_exec_context(trace, number, c)
    check_found(code, f"context {number}")

    def known(flag: int, value: int) -> Optional[int]:
        return value if c.flags & flag else None

    return ExecContext(
        id=number,
        pid=optional_id(c.pid),
        tid=optional_id(c.tid),
        cpu=optional_id(c.cpu),
        cr3=known(lib.HWTD_CTXF_CR3, c.cr3),
        vmcs=known(lib.HWTD_CTXF_VMCS, c.vmcs),
        contextidr=known(lib.HWTD_CTXF_CONTEXTIDR, c.contextidr),
        vmid=known(lib.HWTD_CTXF_VMID, c.vmid),
        level=known(lib.HWTD_CTXF_LEVEL, c.level),
        security=(
            _SECURITY[c.security & 3]
            if c.flags & lib.HWTD_CTXF_SECURITY
            else None
        ),
        guest=bool(c.flags & lib.HWTD_CTXF_GUEST),
        epoch=c.epoch,
    )


def damages(trace: CData) -> Iterator[Damage]:
    """Read all known damage of a trace."""
    c = new("struct hwtd_damage")
    i = 0
    while lib.hwtd_trace_damage(trace, i, c) == lib.HWTD_OK:
        yield Damage(
            text=text(c.text),
            file_off=c.file_off,
            file_bytes=c.file_bytes,
            stream=optional_id(c.stream),
            first=c.first,
            end=c.end,
            earlier_file=bool(c.flags & lib.HWTD_DAMAGEF_EARLIER_FILE),
            more=bool(c.flags & lib.HWTD_DAMAGEF_MORE),
        )
        i += 1


# Records that are looked at in one call of C.
_SCAN = 1 << 16


class Owners:
    """CPUs and threads that streams and records speak of."""

    def __init__(self, found: Iterable[Stream]) -> None:
        self.cpus: set[int] = set()
        self.names: dict[tuple[Optional[int], int], str] = {}
        for stream in found:
            if stream.cpu is not None:
                self.cpus.add(stream.cpu)
            if stream.tid is not None:
                self.names.setdefault((stream.pid, stream.tid), "")

    def scan(self, handle: Any) -> None:
        """Look at all records; the lock is taken for a part at a time."""
        seen = ffi.new("struct hwtpy_owner[]", lib.HWTPY_OWNERS)
        numbers = ffi.new("uint64_t[]", 1024)
        at = ffi.new("uint64_t *")
        c = new("struct hwtd_record")
        while True:
            before = at[0]
            trace = handle.c
            with handle.lock:
                n = lib.hwtpy_record_owners(
                    trace, at, _SCAN, seen, numbers, len(numbers)
                )
                for i in range(n):
                    check(lib.hwtd_trace_record(trace, numbers[i], c))
                    self._add(c)
            if at[0] == before:
                return

    def _add(self, c: CData) -> None:
        if c.cpu != lib.HWTD_NO_ID:
            self.cpus.add(c.cpu)
        if c.tid == lib.HWTD_NO_ID:
            return
        key = (optional_id(c.pid), c.tid)
        self.names.setdefault(key, "")
        if c.type == lib.HWTD_REC_THREAD_NAME:
            self.names[key] = text(c.name)

    def threads(self) -> list[Thread]:
        """List them; one whose process is told elsewhere counts once."""
        told = {tid for pid, tid in self.names if pid is not None}
        found = [
            Thread(tid, pid, name)
            for (pid, tid), name in self.names.items()
            if pid is not None or tid not in told
        ]
        found.sort(key=lambda t: (-1 if t.pid is None else t.pid, t.tid))
        return found
