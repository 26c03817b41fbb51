"""Where and when a record was made, and records of samples.

Both lie in a record in the order that the kernel gives them, as far as the
sample type of their event has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import PerfDataError, attr as a
from .attr import Attr, Event
from .order import Parts, padded

Fields = dict[str, int | str]


@dataclass(frozen=True)
class Where:
    """Process, thread, time and processor of a record.

    perf writes zeroes for records that it makes up itself before it starts
    to record: that is what this is without anything.
    """

    time: int = 0
    pid: int = 0
    tid: int = 0
    cpu: int = 0
    id: int | None = None
    stream_id: int | None = None

    def id_for(self, event: Event) -> int:
        """Return the id that tells the event."""
        if self.id is not None:
            return self.id
        return event.id_of(self.cpu) if self.time else 0

    def stream_for(self, event: Event) -> int:
        """Return the stream's id, which is the event's unless inherited."""
        return self.id_for(event) if self.stream_id is None else self.stream_id


def trailer(event: Event, where: Where) -> Parts:
    """Return the fields at the end of a record that is no sample."""
    kinds = event.attr.sample_type
    out: Parts = []
    if "sample_id_all" not in event.attr.flags:
        return out
    if kinds & a.TID:
        out += [("I", where.pid), ("I", where.tid)]
    if kinds & a.TIME:
        out += [("Q", where.time)]
    if kinds & a.ID:
        out += [("Q", where.id_for(event))]
    if kinds & a.STREAM_ID:
        out += [("Q", where.stream_for(event))]
    if kinds & a.CPU:
        out += [("I", where.cpu), ("I", 0)]
    if kinds & a.IDENTIFIER:
        out += [("Q", where.id_for(event))]
    return out


def where_fields(event: Event, where: Where, *, sample: bool = False
                 ) -> Fields:
    """Return what a reader can know of place and time."""
    kinds = event.attr.sample_type
    out: Fields = {}
    if not sample and "sample_id_all" not in event.attr.flags:
        return out
    if kinds & a.TIME:
        out["time"] = where.time
    if kinds & a.CPU:
        out["cpu"] = where.cpu
    if kinds & a.TID:
        out.update(pid=where.pid, tid=where.tid)
    if kinds & (a.ID | a.IDENTIFIER):
        out["id"] = where.id_for(event)
    if kinds & a.STREAM_ID:
        out["stream"] = where.stream_for(event)
    return out


@dataclass(frozen=True)
class SampleValues:
    """What one sample holds; each is written if the sample type has it."""

    ip: int = 0
    addr: int = 0
    period: int = 1
    # Of one event (value, enabled, running, id, lost), or of a group:
    # (enabled, running), then (value, id, lost) of each.
    read: tuple[int, ...] = (0, 0, 0, 0, 0)
    group: tuple[tuple[int, int, int], ...] = ()
    callchain: tuple[int, ...] = ()
    raw: bytes = b""
    # from, to, flags, the newest first.
    branches: tuple[tuple[int, int, int], ...] = ()
    hw_index: int = 0
    regs_user: tuple[int, ...] = ()
    regs_intr: tuple[int, ...] = ()
    regs_abi: int = 2
    stack: bytes = b""
    stack_used: int = 0
    weight: int = 0
    # var1, var2, var3 of WEIGHT_STRUCT.
    weights: tuple[int, int, int] = (0, 0, 0)
    data_src: int = 0
    transaction: int = 0
    phys_addr: int = 0
    cgroup: int = 0
    data_page_size: int = 0
    code_page_size: int = 0
    aux: bytes = b""


_HW_INDEX = 1 << 17


def _read(attr: Attr, values: SampleValues) -> Parts:
    form = attr.read_format
    value, enabled, running, ident, lost = (values.read + (0,) * 5)[:5]
    times: Parts = []
    if form & a.TOTAL_TIME_ENABLED:
        times.append(("Q", enabled))
    if form & a.TOTAL_TIME_RUNNING:
        times.append(("Q", running))
    if not form & a.GROUP:
        tail: Parts = [("Q", ident)] if form & a.FORMAT_ID else []
        if form & a.LOST:
            tail.append(("Q", lost))
        return [("Q", value), *times, *tail]
    out: Parts = [("Q", len(values.group)), *times]
    for value, ident, lost in values.group:
        out.append(("Q", value))
        if form & a.FORMAT_ID:
            out.append(("Q", ident))
        if form & a.LOST:
            out.append(("Q", lost))
    return out


def _regs(mask: int, abi: int, regs: tuple[int, ...]) -> Parts:
    if not regs:
        return [("Q", 0)]
    if len(regs) != mask.bit_count():
        raise PerfDataError("as many registers as the mask has bits")
    return [("Q", abi), *(("Q", reg) for reg in regs)]


def _weight(kinds: int, values: SampleValues, big: bool) -> Parts:
    if kinds & a.WEIGHT_STRUCT:
        one, two, three = values.weights
        if big:
            return [("H", three), ("H", two), ("I", one)]
        return [("I", one), ("H", two), ("H", three)]
    return [("Q", values.weight)]


def sample_parts(event: Event, where: Where, values: SampleValues,
                 *, big: bool = False) -> Parts:
    """Return the fields of a sample."""
    kinds, attr = event.attr.sample_type, event.attr
    ident = where.id_for(event)
    out: Parts = []

    def put(bit: int, *parts: tuple[str, int | float | bytes]) -> None:
        if kinds & bit:
            out.extend(parts)

    put(a.IDENTIFIER, ("Q", ident))
    put(a.IP, ("Q", values.ip))
    put(a.TID, ("I", where.pid), ("I", where.tid))
    put(a.TIME, ("Q", where.time))
    put(a.ADDR, ("Q", values.addr))
    put(a.ID, ("Q", ident))
    put(a.STREAM_ID, ("Q", where.stream_for(event)))
    put(a.CPU, ("I", where.cpu), ("I", 0))
    put(a.PERIOD, ("Q", values.period))
    put(a.READ, *_read(attr, values))
    put(a.CALLCHAIN, ("Q", len(values.callchain)),
        *(("Q", ip) for ip in values.callchain))
    # The size of raw data counts what fills it up behind those 4 bytes.
    raw = values.raw + bytes(-(len(values.raw) + 4) % 8)
    put(a.RAW, ("I", len(raw)), ("s", raw))
    if kinds & a.BRANCH_STACK:
        out.append(("Q", len(values.branches)))
        if attr.branch_sample_type & _HW_INDEX:
            out.append(("Q", values.hw_index))
        out.extend(("Q", word) for branch in values.branches
                   for word in branch)
    if kinds & a.REGS_USER:
        out.extend(_regs(attr.sample_regs_user, values.regs_abi,
                         values.regs_user))
    stack = padded(values.stack, 8)
    put(a.STACK_USER, ("Q", len(stack)), ("s", stack))
    if kinds & a.STACK_USER and stack:
        out.append(("Q", values.stack_used or len(values.stack)))
    if kinds & (a.WEIGHT | a.WEIGHT_STRUCT):
        out.extend(_weight(kinds, values, big))
    put(a.DATA_SRC, ("Q", values.data_src))
    put(a.TRANSACTION, ("Q", values.transaction))
    if kinds & a.REGS_INTR:
        out.extend(_regs(attr.sample_regs_intr, values.regs_abi,
                         values.regs_intr))
    put(a.PHYS_ADDR, ("Q", values.phys_addr))
    put(a.CGROUP, ("Q", values.cgroup))
    put(a.DATA_PAGE_SIZE, ("Q", values.data_page_size))
    put(a.CODE_PAGE_SIZE, ("Q", values.code_page_size))
    aux = padded(values.aux, 8)
    put(a.AUX, ("Q", len(aux)), ("s", aux))
    return out
