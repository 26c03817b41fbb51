"""Passes over rows: what a plan opens in the library."""

from __future__ import annotations

import dataclasses
import errno
from typing import Any, Callable, Mapping, Optional, Sequence

from hwt import errors
from hwt._filters import (
    FILTERS,
    U32_MAX,
    U64_MAX,
    filters_to_c,
    integer,
    integers,
    kind_bits,
    name_numbers,
    range_of,
)
from hwt._native import (
    check,
    context,
    error,
    failure,
    ffi,
    lib,
    new,
    path_bytes,
    slot,
)
from hwt._stream import Stream
from hwt.config import c_text


@dataclasses.dataclass(frozen=True)
class Stats:
    """What a pass saw, and what it could not see.

    Attributes
    ----------
    rows : int
        Rows that were handed out.
    complete : bool
        The pass came to its end.
    bytes : int or None
        Bytes of trace that were read; None where rows are not of these.
    lost_bytes : int or None
        Those of them that gave nothing.
    file_lost_bytes : int or None
        Bytes of the file that are damaged.
    gaps : dict of str to int
        Gaps by reason.
    lost_bytes_by_reason : dict of str to int
        The bytes in them.
    insns, blocks : int or None
        Executed instructions and blocks.
    kinds : dict of str to int
        Rows that were made of each kind, before filters.
    first_ns, last_ns : int or None
        First and last known time, ns.
    notes : list of str
        Losses, in words.

    Examples
    --------
    >>> stats = hwt.open(pt).events().stats()
    >>> stats.complete, stats.lost_bytes
    (True, 0)
    """

    rows: int
    complete: bool
    bytes: int | None = None
    lost_bytes: int | None = None
    file_lost_bytes: int | None = None
    gaps: dict[str, int] = dataclasses.field(default_factory=dict)
    lost_bytes_by_reason: dict[str, int] = dataclasses.field(
        default_factory=dict
    )
    insns: int | None = None
    blocks: int | None = None
    kinds: dict[str, int] = dataclasses.field(default_factory=dict)
    first_ns: int | None = None
    last_ns: int | None = None

    @property
    def notes(self) -> list[str]:
        """What is missing in the rows; empty: nothing."""
        said = []
        for reason, n in self.gaps.items():
            said.append(
                f"{n} gap{'s' if n != 1 else ''} of reason {reason}"
                + (
                    f" ({self.lost_bytes_by_reason[reason]} bytes)"
                    if reason in self.lost_bytes_by_reason
                    else ""
                )
            )
        if not self.gaps and self.lost_bytes:
            said.append(f"{self.lost_bytes} bytes gave nothing")
        if self.file_lost_bytes:
            said.append(
                f"{self.file_lost_bytes} bytes of the file are damaged"
            )
        if not self.complete:
            said.append("the pass did not come to its end")
        return said


class Pass:
    """A stream of arrays, and the cursors that it reads.

    Parameters
    ----------
    rows : int
        Rows in each array, 0: as the library likes.
    file : str, optional
        Of the trace, for messages.
    """

    def __init__(self, rows: int, names: Sequence[str] | None, file: Any):
        self.rows = rows
        self.names = names
        self.file = None if file is None else str(file)
        self.stream = Stream(self._fail)
        self._room: Any = None
        #: Bytes that there are to read.
        self.total = 0
        #: What cursors have seen; called while the stream is open.
        self.see: Callable[[], dict[str, Any]] = dict

    def export(self, function: Any, cursor: Any) -> None:
        """Make a stream of a cursor, which belongs to it from then on."""
        options = new("struct hwtd_export_options")
        options.rows = self.rows
        keep = []
        if self.names is not None:
            texts = [
                ffi.new("char[]", c_text("columns", one)) for one in self.names
            ]
            array = ffi.new("char *[]", texts)
            keep = [texts, array]
            options.names = array
            options.n_names = len(texts)
        self.stream.answer(options)
        err = error()
        self._room = None
        self._room = self.stream.add()
        check(
            function(cursor, options, self._room, err), err, file=self.file
        )
        del keep

    @property
    def took(self) -> bool:
        """Whether the last cursor belongs to its stream, whatever was raised."""
        return self._room is not None and self._room.release != ffi.NULL

    def _fail(self, rc: int, words: str, at: Any) -> BaseException:
        err = error()
        if lib.hwtd_export_failure(at, err) == lib.HWTD_OK:
            return failure(err.code, err, self.file)
        if rc == errno.ENOMEM:
            return MemoryError(words)
        return errors.HwtError(words, file=self.file, errno=rc)


class Source:
    """Where rows come from: a trace, or a file of text."""

    def __init__(self, trace: Any = None, path: Any = None) -> None:
        self.trace = trace
        self.path = path if trace is None else trace._path

    def bytes(self) -> int:
        """Bytes that there are to read."""
        info = new("struct hwtd_trace_info")
        handle = self.trace._handle
        with handle.lock:
            check(lib.hwtd_trace_info(handle.c, info))
        return int(info.n_bytes)

    def streams(self) -> list[tuple[int, int]]:
        """Numbers and technologies (``HWTD_TECH_*``) of its streams."""
        info = new("struct hwtd_trace_info")
        found = []
        handle = self.trace._handle
        with handle.lock:
            check(lib.hwtd_trace_info(handle.c, info))
            for number in range(info.n_streams):
                stream = new("struct hwtd_stream_desc")
                check(lib.hwtd_trace_stream(handle.c, number, stream))
                found.append((number, int(stream.tech)))
        return found

    def open(
        self,
        function: Any,
        ctype: str,
        options: Any,
        closer: Optional[str] = None,
    ) -> Any:
        """Open a cursor; while it is open the trace is kept."""
        out = slot(ctype, closer) if closer else ffi.new(f"{ctype} **")
        err = error()
        handle = self.trace._handle
        with handle.lock:
            check(
                function(handle.c, options, out, err),
                err,
                file=self.trace._path,
            )
        return out if closer else out[0]


def _named(count: int, name_of: Any, numbers: Any) -> dict[str, int]:
    """Those of an array of numbers by name that are not 0."""
    found = {}
    for name, i in name_numbers(count, name_of).items():
        if numbers[i] != 0:
            found[name] = int(numbers[i])
    return found


def stats_of_events(cursor: Any) -> dict[str, Any]:
    c = new("struct hwtd_stats")
    check(lib.hwtd_events_stats(cursor, c))
    return {
        "bytes": int(c.bytes),
        "lost_bytes": int(c.gap_bytes),
        "file_lost_bytes": int(c.file_gap_bytes),
        "gaps": _named(
            lib.HWTD_GAP_REASONS, lib.hwtd_gap_reason_name, c.gaps
        ),
        "lost_bytes_by_reason": _named(
            lib.HWTD_GAP_REASONS,
            lib.hwtd_gap_reason_name,
            c.gap_bytes_by_reason,
        ),
        "kinds": _named(lib.HWTD_EV_KINDS, lib.hwtd_event_kind_name, c.kinds),
        "insns": int(c.insns),
        "blocks": int(c.blocks),
        "first_ns": int(c.first_ns) if c.has_time else None,
        "last_ns": int(c.last_ns) if c.has_time else None,
    }


def _export(
    made: Pass, function: Any, cursor: Any, close: Callable[[Any], None]
) -> None:
    try:
        made.export(function, cursor)
    except BaseException:
        # Ctrl-C may have come when the stream had it already.
        if not made.took:
            close(cursor)
        raise


def _open_events(
    source: Source, options: Mapping[str, Any], made: Pass, level: int
) -> None:
    c, keep = filters_to_c(options, level=level)
    cursor = source.open(lib.hwtd_events_open, "struct hwtd_events", c)
    del keep
    _export(made, lib.hwtd_events_export, cursor, lib.hwtd_events_close)
    made.total = source.bytes()
    made.see = lambda: stats_of_events(cursor)


def _open_blocks(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    _open_events(source, options, made, lib.HWTD_LEVEL_BLOCK)


def _open_insns(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    _open_events(source, options, made, lib.HWTD_LEVEL_INSN)


def _open_samples(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    kinds = {**options, "kinds": ["sample"]}
    _open_events(source, kinds, made, lib.HWTD_LEVEL_BLOCK)


def _stats_of_calls(cursor: Any) -> dict[str, Any]:
    c = new("struct hwtd_calls_info")
    check(lib.hwtd_calls_info(cursor, c))
    return {
        "bytes": int(c.bytes),
        "lost_bytes": int(c.gap_bytes),
        "file_lost_bytes": int(c.file_gap_bytes),
        "gaps": _named(
            lib.HWTD_GAP_REASONS, lib.hwtd_gap_reason_name, c.gaps
        ),
        "insns": int(c.insns),
    }


def _calls_options(options: Mapping[str, Any]) -> Any:
    c = new("struct hwtd_calls_options")
    for name, bit, default in (
        ("enters", lib.HWTD_CALLS_ENTERS, False),
        ("gaps", lib.HWTD_CALLS_GAPS, False),
        ("interpolate", lib.HWTD_CALLS_NO_INTERPOLATION, True),
        ("symbols", lib.HWTD_CALLS_NO_SYMBOLS, True),
    ):
        wanted = options.get(name)
        if wanted is not None and bool(wanted) != default:
            c.flags |= bit
    for name in ("max_depth", "max_stacks"):
        if options.get(name) is not None:
            setattr(c, name, integer(name, options[name], U32_MAX))
    return c


def _check_calls(options: Mapping[str, Any]) -> None:
    _calls_options(options)
    filters_to_c({k: v for k, v in options.items() if k in FILTERS})


def _open_calls(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    c = _calls_options(options)
    if source.trace is None:
        out = ffi.new("struct hwtd_calls **")
        err = error()
        with context().lock:
            check(
                lib.hwtd_calls_open_text(
                    context().c, path_bytes(source.path), c, out, err
                ),
                err,
                file=str(source.path),
            )
        cursor = out[0]
    else:
        rows, keep = filters_to_c(
            {k: v for k, v in options.items() if k in FILTERS}
        )
        c.events = rows
        cursor = source.open(lib.hwtd_calls_open, "struct hwtd_calls", c)
        del keep
        made.total = source.bytes()
    _export(made, lib.hwtd_calls_export, cursor, lib.hwtd_calls_close)
    made.see = lambda: _stats_of_calls(cursor)


def _packets_options(options: Mapping[str, Any]) -> Any:
    c = new("struct hwtd_packets_options")
    if options.get("offset") is not None:
        c.first, c.end = range_of("offset", options["offset"])
    for name, bit, default in (
        ("sync", lib.HWTD_PACKETS_NO_SYNC, True),
        ("times", lib.HWTD_PACKETS_TIME, False),
        ("sink", lib.HWTD_PACKETS_SINK, False),
    ):
        wanted = options.get(name)
        if wanted is not None and bool(wanted) != default:
            c.flags |= bit
    if options.get("stream") is not None:
        integers("stream", options["stream"])
    if options.get("kinds") is not None:
        bits = kind_bits(
            options["kinds"], lib.HWTD_PACKET_KINDS, lib.hwtd_packet_kind_name
        )
        c.kinds = bits & U64_MAX
        c.kinds_from_64 = bits >> 64
    return c


def _stats_of_packets(cursors: Sequence[Any]) -> dict[str, Any]:
    total = [0, 0]
    for cursor in cursors:
        c = new("struct hwtd_packets_stats")
        check(lib.hwtd_packets_stats(cursor, c))
        total[0] += int(c.bytes)
        total[1] += int(c.bytes_unknown) + int(c.bytes_lost)
    return {"bytes": total[0], "lost_bytes": total[1]}


def _open_packets(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    c = _packets_options(options)
    chosen = options.get("stream")
    if chosen is None:
        numbers = [number for number, _ in source.streams()]
    else:
        numbers = integers("stream", chosen)
    cursors = []
    for c.stream in numbers:
        try:
            cursor = source.open(
                lib.hwtd_packets_open, "struct hwtd_packets", c
            )
        except errors.UnsupportedError:
            # There are no packets of its technology.
            if chosen is not None:
                raise
            continue
        _export(made, lib.hwtd_packets_export, cursor, lib.hwtd_packets_close)
        cursors.append(cursor)
    if not cursors:
        raise errors.UnsupportedError(
            "no stream of this trace has packets", lib.HWTD_E_UNSUPPORTED
        )
    made.total = source.bytes()
    made.see = lambda: _stats_of_packets(cursors)


def _open_records(
    source: Source, options: Mapping[str, Any], made: Pass
) -> None:
    handle = source.trace._handle
    with handle.lock:
        made.export(lib.hwtd_records_export, handle.c)


@dataclasses.dataclass(frozen=True)
class What:
    """What rows can be of."""

    #: Filters and options that it has, besides `columns`.
    filters: tuple[str, ...]
    open: Callable[[Source, Mapping[str, Any], Pass], None]
    #: Refuses values that filters and options cannot have.
    check: Callable[[Mapping[str, Any]], Any]
    #: An ``HWTD_LEVEL_*`` of rows that are structs; None: they are not.
    level: int | None = None
    #: Beginnings of names of columns that are there if they are asked for.
    hidden: tuple[str, ...] = ()


_CODE = tuple(name for name in FILTERS if name not in ("kinds", "address"))
_CALLS = (
    "enters",
    "gaps",
    "interpolate",
    "symbols",
    "max_depth",
    "max_stacks",
)

WHATS = {
    "events": What(FILTERS, _open_blocks, filters_to_c, lib.HWTD_LEVEL_BLOCK),
    "insns": What(FILTERS, _open_insns, filters_to_c, lib.HWTD_LEVEL_INSN),
    "samples": What(
        tuple(name for name in FILTERS if name != "kinds"),
        _open_samples,
        filters_to_c,
        None,
        ("gap_", "marker_", "power_", "async_", "mode_"),
    ),
    "packets": What(
        ("stream", "kinds", "offset", "sync", "times", "sink"),
        _open_packets,
        _packets_options,
    ),
    "records": What((), _open_records, dict),
    "calls": What(_CODE + _CALLS, _open_calls, _check_calls),
}


def has_samples(source: Source) -> bool:
    """Whether it has a stream whose rows are samples."""
    if source.trace is None:
        return False
    return any(tech == lib.HWTD_TECH_SPE for _, tech in source.streams())


__all__ = [
    "WHATS",
    "Pass",
    "Source",
    "Stats",
    "has_samples",
    "stats_of_events",
]
