"""Gaps: bytes or time of a trace that gave nothing, why, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from hwt._filters import filters_to_c
from hwt._native import (
    Handle,
    check,
    error,
    ffi,
    lib,
    new,
    reporter,
    slot,
    text,
)
from hwt.config import CData

__all__ = ["EXPLANATIONS", "Gap"]

# What a gap means, and what helps.
EXPLANATIONS: Mapping[str, tuple[str, str]] = {
    "unknown": ("It is not known why these bytes gave nothing.", ""),
    "unsynced": (
        "These bytes come before the first point where decoding can start.",
        "That is usual at the start of a ring buffer; record synchronisation "
        "packets (PSB, A-Sync) more often to lose less.",
    ),
    "overflow": (
        "The hardware dropped packets because its buffer was full; no byte of "
        "the stream is missing.",
        "Record less: filter by address, leave out timing packets.",
    ),
    "bad-packet": (
        "The bytes are no packets, or a packet that cannot stand here.",
        "They were changed or mixed with bytes of another stream: check how "
        "the buffer was copied, and the technology.",
    ),
    "bad-flow": (
        "Packets and code contradict each other.",
        "The code is not what ran (another build, code that was changed), or "
        "an address filter of the recording is not known: give the right "
        "image, or filters in PtConfig.",
    ),
    "no-code": (
        "No image holds the address.",
        "Give it: roots=, build_id_dirs= or images= of hwt.open(); "
        "trace.images says which are missing.",
    ),
    "bad-code": (
        "The bytes at the address are no instruction.",
        "The image is of another version or lies elsewhere.",
    ),
    "endless-loop": (
        "The code as given never leaves a loop and writes no packet in it.",
        "The code is not what ran, or it was changed while it ran.",
    ),
    "ambiguous-mapping": (
        "Several images could lie at the address, and the trace does not "
        "decide which.",
        "Record mappings with times, or give one image only.",
    ),
    "truncated": (
        "The collector lost bytes here, or the last packet is cut off.",
        "Record with a larger buffer, or read it more often.",
    ),
    "file-damaged": (
        "The trace file is damaged here.",
        "Copy it again; trace.damage says what is wrong.",
    ),
    "unsupported": (
        "This build has no decoder for this kind of stream.",
        "Use a build that has it; for frames, tell the sources in "
        "coresight= of hwt.open().",
    ),
    "engine": (
        "The decoding library failed in a way of its own.",
        "Try another engine=.",
    ),
    "limit": (
        "A limit that protects against hostile input was reached.",
        "Open the trace with a larger max_memory= if you trust it.",
    ),
}


@dataclass(frozen=True)
class Gap:
    """Bytes or time that gave nothing, and why.

    Attributes
    ----------
    stream : int
        Its stream.
    reason : str
        A short stable name, for instance ``"overflow"``.
    first, end : int
        Bytes of the stream, [first, end); empty where hardware lost data.
    time_ns : int or None
        When.
    time_before_ns, time_after_ns : int or None
        Time at the start and at the end.
    ip_before, ip_after : int or None
        The last address before, and where decoding goes on.
    address : int or None
        The address that is to blame.
    file_off, file_bytes : int or None
        Damaged bytes of the file.
    text : str
        The cause in this place; or "".
    """

    stream: int
    reason: str
    first: int
    end: int
    time_ns: Optional[int]
    time_before_ns: Optional[int]
    time_after_ns: Optional[int]
    ip_before: Optional[int]
    ip_after: Optional[int]
    address: Optional[int]
    file_off: Optional[int]
    file_bytes: Optional[int]
    text: str

    @property
    def n_bytes(self) -> int:
        """Bytes of the stream that gave nothing."""
        return self.end - self.first

    @property
    def meaning(self) -> str:
        """What a gap of this reason means."""
        return EXPLANATIONS.get(self.reason, EXPLANATIONS["unknown"])[0]

    @property
    def advice(self) -> str:
        """What helps; or ""."""
        return EXPLANATIONS.get(self.reason, EXPLANATIONS["unknown"])[1]

    @property
    def explanation(self) -> str:
        """Both, in two sentences."""
        return f"{self.meaning} {self.advice}".rstrip()


def read_gaps(
    trace: Any, filters: Mapping[str, Any], progress: Any
) -> Iterator[Gap]:
    """Decode a trace, or what filters leave of it, and give its gaps."""
    options, keep = filters_to_c({**filters, "kinds": ("gap",)})
    out, err = slot("struct hwtd_events", "hwtd_events_close"), error()
    with trace._handle.lock:
        total = trace.info.n_bytes
        check(lib.hwtd_events_open(trace._handle.c, options, out, err), err)
    del keep
    tell = reporter(progress)
    stats = new("struct hwtd_stats")
    with Handle.of(out, "hwtd_events_close", name="cursor") as cursor:
        rows = ffi.new("struct hwtd_event[]", 1024)
        batch = new("struct hwtd_batch")
        batch.events, batch.cap = rows, len(rows)
        batch.stride = ffi.sizeof("struct hwtd_event")
        while (
            check(lib.hwtd_events_read(cursor.c, batch, err), err)
            == lib.HWTD_OK
        ):
            for i in range(batch.n):
                yield _gap(rows[i], batch)
            if tell is not None:
                check(lib.hwtd_events_stats(cursor.c, stats))
                tell(stats.bytes, total)


def _gap(row: CData, batch: CData) -> Gap:
    c = ffi.cast(
        "const struct hwtd_gap *",
        ffi.cast("const char *", batch.gaps) + row.value * batch.gap_stride,
    )

    def known(flag: int, value: int) -> Optional[int]:
        return value if c.flags & flag else None

    return Gap(
        stream=row.stream,
        reason=text(lib.hwtd_gap_reason_name(c.reason)),
        first=c.first,
        end=c.end,
        time_ns=row.time_ns if row.flags & lib.HWTD_EVF_TIME else None,
        time_before_ns=known(lib.HWTD_GAPF_TIME_BEFORE, c.time_before_ns),
        time_after_ns=known(lib.HWTD_GAPF_TIME_AFTER, c.time_after_ns),
        ip_before=known(lib.HWTD_GAPF_IP_BEFORE, c.ip_before),
        ip_after=known(lib.HWTD_GAPF_IP_AFTER, c.ip_after),
        address=known(lib.HWTD_GAPF_ADDR, c.addr),
        file_off=known(lib.HWTD_GAPF_FILE, c.file_off),
        file_bytes=known(lib.HWTD_GAPF_FILE, c.file_bytes),
        text=text(c.text),
    )
