"""A recording of CoreSight, as perf makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hwtasm.etm import EtmStream
from hwtasm.frames import Formatter
from hwtasm.program import Program

from . import attr as a, records as r, user
from .attr import Attr, Event
from .auxinfo import Coresight, TraceUnit, etmv4
from .case import Case
from .file import Item, PerfData
from .order import LITTLE, Order
from .records import Record
from .sample import Where

PMU = 8
SAMPLE_TYPE = a.IP | a.TID | a.TIME | a.CPU | a.IDENTIFIER
# Bits of the config of an event: context IDs, time stamps.
CTXTID, TIMESTAMPS = 1 << 14, 1 << 28
# TRCCONFIGR: context IDs and time stamps; TRCIDR0 with 64-bit time stamps.
CONFIGR, IDR0 = 0x841, 0x28000ea1
ZERO = 9_000_000_000


def unit(cpu: int, trace_id: int) -> TraceUnit:
    """Return the trace unit that the cases have."""
    return etmv4(cpu, trace_id, configr=CONFIGR, idr0=IDR0)


def hw_id(trace_id: int, *, minor: int = 0, sink: int = 0) -> Record:
    """Return the record of a trace ID; with minor version 1 of a sink."""
    return r.aux_output_hw_id(trace_id | sink << 8 | minor << 56)


@dataclass
class EtmRecording:
    """Events, processes and buffers of one file."""

    case: Case
    units: Sequence[TraceUnit]
    version: int = 1
    threads: tuple[int, ...] = ()
    order: Order = LITTLE
    sample_type: int = SAMPLE_TYPE
    config: int = CTXTID | TIMESTAMPS
    file: PerfData = field(init=False)
    etm: Event = field(init=False)
    side: Event = field(init=False)
    _aux: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.file = PerfData(self.order)
        self.case.params["trace"] = "coresight"
        count = len(self.threads) or len(self.units)
        places = ([] if self.threads else list(range(count)),
                  list(self.threads))
        self.etm = self.file.event(Event("cs_etm//u", Attr(
            PMU, self.config, self.sample_type, (
                "disabled", "inherit", "exclude_kernel", "exclude_hv",
                "sample_id_all")),
            [100 + number for number in range(count)], *places))
        self.side = self.file.event(Event("dummy:u", Attr(
            a.SOFTWARE, a.SW_DUMMY, self.sample_type, (
                "inherit", "exclude_kernel", "exclude_hv", "mmap", "comm",
                "task", "sample_id_all", "mmap2", "comm_exec")),
            [200 + number for number in range(count)], *places))
        features = self.file.features
        if features is not None:
            features.strings(hostname="fixture", osrelease="6.6.0",
                             version="6.6", arch="aarch64",
                             cpuid="0x00000000410fd0c0")
            features.nrcpus(len(self.units), len(self.units))
            features.event_desc(self.file.events)
            features.pmu_mappings({PMU: "cs_etm", 1: "software"})

    def start(self) -> None:
        """Add what stands in front of all other records."""
        self.file.add(user.id_index(self.file.events))
        self.file.add(Coresight(tuple(self.units), PMU,
                                self.version).record())

    def process(self, pid: int, name: str, program: Program, path: str
                ) -> None:
        """Add a process that was there before: its name and its code."""
        start, data = program.pieces[0]
        self.file.add(r.comm(pid, pid, name))
        self.file.add(r.mmap2(pid, pid, start, -(-len(data) // 4096) * 4096,
                              0x1000, path, inode=1000 + pid))

    def at(self, record: Record, time: int, pid: int, tid: int | None = None,
           cpu: int = 0, event: Event | None = None) -> Item:
        """Add a record of the kernel; the time is one behind ZERO."""
        return self.file.add(record, event or self.side,
                             Where(ZERO + time, pid, tid or pid, cpu))

    def stream(self, text: str) -> EtmStream:
        """Return packets with the labels of the case."""
        stream = EtmStream(self.case.flow.labels())
        for raw in text.splitlines():
            line = raw.split("#", 1)[0].strip()
            if line:
                stream.add(line)
        return stream

    def frames(self, sources: Mapping[int, EtmStream], text: str) -> bytes:
        """Return frames of several sources, as hwtasm writes them."""
        frames = Formatter(
            {ident: bytes(stream.data)
             for ident, stream in sources.items()},
            {ident: {**stream.marks, "start": 0, "end": len(stream.data)}
             for ident, stream in sources.items()})
        for raw in text.splitlines():
            if raw.strip():
                frames.add(raw.strip())
        return frames.finish("memory")

    def framed(self, trace_id: int, text: str) -> bytes:
        """Return frames of one source."""
        return self.frames({trace_id: self.stream(text)},
                           f"{trace_id} start end")

    def aux(self, data: bytes, *, cpu: int = 0, tid: int | None = None,
            time: int, flags: int = 0,
            whose: tuple[int, int] | None = None) -> None:
        """Add that a buffer has these bytes more."""
        idx = self.threads.index(tid) if tid is not None else cpu
        at = self._aux.get(idx, 0)
        self._aux[idx] = at + len(data)
        pid, thread = whose or (tid or 0, tid or 0)
        self.at(r.aux(at, len(data), flags), time, pid, thread, cpu=cpu,
                event=self.etm)

    def buffer(self, data: bytes, *, offset: int = 0, cpu: int = 0,
               tid: int | None = None) -> None:
        """Add the bytes of a buffer."""
        idx = self.threads.index(tid) if tid is not None else cpu
        self.file.add(user.auxtrace(
            data + bytes(-len(data) % 8), offset=offset, idx=idx,
            reference=idx + 1, tid=user.NONE if tid is None else tid,
            cpu=cpu if tid is None else user.NONE))

    def trace(self, data: bytes, *, cpu: int = 0, tid: int | None = None,
              time: int, flags: int = 0) -> None:
        """Add the bytes of a buffer, and that they are there."""
        idx = self.threads.index(tid) if tid is not None else cpu
        at = self._aux.get(idx, 0)
        self.aux(data, cpu=cpu, tid=tid, time=time, flags=flags)
        self.buffer(data, offset=at, cpu=cpu, tid=tid)

    def finish(self) -> None:
        """Make the file."""
        self.case.write(self.file)


FIRST = """
org 0x401000
a_main: nop
a_call: bl a_work
a_back: cbnz x0, a_main
a_next: b a_main
a_work: nop
a_ret:  ret
"""

SECOND = """
org 0x501000
b_main: nop
        nop
b_loop: cbnz x1, b_main
b_next: b b_main
"""


def first(case: Case) -> Program:
    """Return the first program, with its file."""
    program = case.program(FIRST, "arm")
    case.elf("/opt/first", program, isa="arm")
    return program


def second(case: Case) -> Program:
    """Return the second program, with its file."""
    program = case.program(SECOND, "arm")
    case.elf("/opt/second", program, isa="arm")
    return program


def runs_first(pid: int, time: int) -> str:
    """From its start twice through the loop."""
    return f"""
        async
        tinfo
        ts {time}
        on
        addr.ctx long64 a_main el=0 ns sf cid={pid}
        atom EE
        addr long64 a_back
        atom EEE
        addr long64 a_back
        atom N
        ts {time + 100}
    """


def flow_first() -> str:
    """What runs_first is."""
    return """
        b a_main 2 a64 a_call
        b a_work 2 a64 a_ret
        b a_back 1 a64 a_back
        b a_main 2 a64 a_call
        b a_work 2 a64 a_ret
        b a_back 1 a64 a_back
    """


def runs_second(pid: int, time: int) -> str:
    """From its start three times through the loop.

    perf 6.1 shows nothing of less than four frames; another synchronisation
    makes them.
    """
    return f"""
        async
        tinfo
        ts {time}
        on
        addr.ctx long64 b_main el=0 ns sf cid={pid}
        atom EEN
        ts {time + 100}
        async
        tinfo
        ts {time + 110}
    """


def flow_second() -> str:
    """What runs_second is."""
    return """
        b b_main 3 a64 b_loop
        b b_main 3 a64 b_loop
        b b_main 3 a64 b_loop
    """
