"""A recording of Intel PT, as perf makes it.

The TSC runs at 2 GHz: time in ns is ZERO + TSC / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hwtasm.packets import Stream
from hwtasm.program import Program

from . import attr as a, records as r, user
from .attr import Attr, Event
from .auxinfo import BRANCH_BIT, PT, TSC_BIT, IntelPt
from .case import Case
from .file import Item, PerfData
from .order import LITTLE, Order, padded
from .records import Record
from .sample import Where

SHIFT, MULT, ZERO = 10, 512, 5_000_000_000
PMU = 8
SAMPLE_TYPE = a.IP | a.TID | a.TIME | a.CPU | a.IDENTIFIER


def ns(tsc: int) -> int:
    """Return the time of a TSC."""
    return ZERO + tsc // 2


@dataclass
class PtRecording:
    """Events, processes and buffers of one file."""

    case: Case
    cpus: int = 1
    # Threads with a buffer each, or none: buffers are of processors.
    threads: tuple[int, ...] = ()
    order: Order = LITTLE
    pipe: bool = False
    sample_type: int = SAMPLE_TYPE
    attr_size: int = 128
    config: int = PT | TSC_BIT | BRANCH_BIT
    info: IntelPt | None = None
    snapshot: bool = False
    # Whether the kernel is traced too.
    kernel: bool = False
    side_flags: tuple[str, ...] = ()
    file: PerfData = field(init=False)
    pt: Event = field(init=False)
    side: Event = field(init=False)
    _aux: dict[int, int] = field(default_factory=dict)
    _ids: int = 100

    def __post_init__(self) -> None:
        self.file = PerfData(self.order, self.pipe)
        if self.order.name == "big":
            self.case.params["byte_order"] = "big"
        self.case.params.setdefault("trace", "pt")
        user_only = () if self.kernel else ("exclude_kernel", "exclude_hv")
        self.pt = self._event(
            "intel_pt//" if self.kernel else "intel_pt//u", PMU, self.config,
            ("disabled", "inherit", *user_only, "sample_id_all"))
        self.side = self._event("dummy:u", a.SOFTWARE, a.SW_DUMMY, (
            "inherit", "exclude_kernel", "exclude_hv", "mmap", "comm", "task",
            "sample_id_all", "mmap2", "comm_exec", "context_switch",
            *self.side_flags))
        self._features()

    def _event(self, name: str, kind: int, config: int,
               flags: tuple[str, ...]) -> Event:
        count = len(self.threads) or self.cpus
        ids = [self._ids + number for number in range(count)]
        self._ids += count
        event = Event(name, Attr(kind, config, self.sample_type, flags,
                                 self.attr_size), ids,
                      [] if self.threads else list(range(count)),
                      list(self.threads))
        return self.file.event(event)

    def _features(self) -> None:
        features = self.file.features
        if features is None:
            return
        features.strings(hostname="fixture", osrelease="6.1.0", version="6.1",
                         arch="x86_64", cpudesc="Fixture CPU",
                         cpuid="GenuineIntel,6,85,4")
        features.nrcpus(self.cpus, self.cpus)
        features.total_mem(1 << 20)
        features.cmdline(["perf", "record", "-e", "intel_pt//u"])
        features.event_desc(self.file.events)
        features.pmu_mappings({PMU: "intel_pt", 1: "software"})

    def start(self) -> None:
        """Add what stands in front of all other records."""
        info = self.info or IntelPt(
            PMU, SHIFT, MULT, ZERO, per_cpu_mmaps=int(not self.threads),
            have_sched_switch=0 if self.threads else 3,
            snapshot_mode=int(self.snapshot))
        self.file.add(user.time_conv(SHIFT, MULT, ZERO))
        self.file.add(user.id_index(self.file.events))
        self.file.add(info.record())
        self.file.add(user.thread_map([(tid, "") for tid in self.threads]
                                      or [(-1 & (1 << 64) - 1, "")]))
        if not self.threads:
            self.file.add(user.cpu_map(list(range(self.cpus))))

    def process(self, pid: int, name: str, *maps: tuple[Program, str],
                tid: int | None = None) -> None:
        """Add a process that was there before: its name and its code."""
        tid = tid or pid
        self.made_up(r.comm(pid, tid, name))
        for program, path in maps:
            self.made_up(self.map(pid, program, path))

    def map(self, pid: int, program: Program, path: str, *, tid: int = 0,
            piece: int = 0) -> Record:
        """Return the mapping of the code of an ELF file."""
        start, data = program.pieces[piece]
        return r.mmap2(pid, tid or pid, start, -(-len(data) // 4096) * 4096,
                       0x1000, path, inode=1000 + pid)

    def made_up(self, record: Record) -> Item:
        """Add a record that perf made up before it began: time 0."""
        return self.file.add(record, self.pt)

    def at(self, record: Record, tsc: int, pid: int, tid: int | None = None,
           cpu: int = 0, event: Event | None = None) -> Item:
        """Add a record of the kernel, with its place and time."""
        return self.file.add(record, event or self.side,
                             Where(ns(tsc), pid, tid or pid, cpu))

    def switch(self, tsc: int, out: tuple[int, int], into: tuple[int, int],
               cpu: int = 0) -> None:
        """Add both records of a switch on a processor."""
        self.at(r.switch_cpu_wide(*into, out=True), tsc, *out, cpu=cpu)
        self.at(r.switch_cpu_wide(*out, out=False), tsc, *into, cpu=cpu)

    def packets(self, text: str) -> bytes:
        """Return the bytes of packets with the labels of the case."""
        stream = Stream(self.case.flow.labels())
        for raw in text.splitlines():
            if not raw.strip():
                continue
            stream.add(raw.split("#", 1)[0].strip())
        return bytes(stream.data)

    def aux(self, offset: int, size: int, flags: int = 0, *, tsc: int,
            tid: int = 0, cpu: int = 0) -> None:
        """Add that there is trace."""
        self.file.add(r.aux(offset, size, flags), self.pt,
                      Where(ns(tsc), tid, tid, cpu))

    def trace(self, data: bytes, *, cpu: int = 0, tid: int | None = None,
              tsc: int = 0, flags: int = 0, record: bool = True,
              offset: int | None = None, pad: int = 8) -> int:
        """Add trace of a processor or a thread, and that it is there.

        What fills it up to a multiple does not count in offsets.
        """
        idx = self.threads.index(tid) if tid is not None else cpu
        at = self._aux.get(idx, 0) if offset is None else offset
        self._aux[idx] = at + len(data)
        if record:
            self.aux(at, len(data), flags, tsc=tsc, tid=tid or 0, cpu=cpu)
        self.file.add(user.auxtrace(
            padded(data, pad), offset=at, idx=idx, reference=idx + 1,
            tid=user.NONE if tid is None else tid,
            cpu=cpu if tid is None else user.NONE))
        return at

    def finish(self) -> None:
        """Make the file."""
        self.case.write(self.file)


# Programs that many cases run: a loop with a call, and a loop.
FIRST = """
org 0x401000
a_main: push rbp
        call a_work
a_back: test eax, eax
        jne a_main
a_sys:  syscall
a_next: jmp a_main
a_work: inc eax
a_ret:  ret
"""

SECOND = """
org 0x501000
b_main: nop 3
b_loop: dec ecx
b_jne:  jne b_loop
b_sys:  syscall
b_next: jmp b_main
"""


def first(case: Case) -> Program:
    """Return the first program, with its file."""
    program = case.program(FIRST)
    case.elf("/opt/first", program)
    return program


def second(case: Case) -> Program:
    """Return the second program, with its file."""
    program = case.program(SECOND)
    case.elf("/opt/second", program)
    return program


# What these do from a moment on: packets with a TSC in front.
def runs_first(tsc: int) -> str:
    """From its start twice through the loop, up to the system call."""
    return f"""
        psb
        tsc {tsc}
        psbend
        mode.exec 64
        tip.pge 3 a_main
        tnt TTTN
        tip.pgd 0
    """


def goes_on_first(tsc: int) -> str:
    """Behind its system call, up to the next one."""
    return f"""
        tsc {tsc}
        mode.exec 64
        tip.pge 3 a_next
        tnt TN
        tip.pgd 0
    """


def runs_second(tsc: int, sync: bool = False) -> str:
    """From its start three times through the loop, up to the call."""
    front = f"psb\ntsc {tsc}\npsbend" if sync else f"tsc {tsc}"
    return f"""
        {front}
        mode.exec 64
        tip.pge 3 b_main
        tnt TTN
        tip.pgd 0
    """


def flow_first(time: int) -> str:
    """What runs_first is."""
    return f"""
        b a_main 2 64 a_main+1 time={time}
        b a_work 2 64 a_ret
        b a_back 2 64 a_back+2
        b a_main 2 64 a_main+1
        b a_work 2 64 a_ret
        b a_back 3 64 a_sys
    """


def flow_next(time: int) -> str:
    """What goes_on_first is."""
    return f"""
        b a_next 1 64 a_next time={time}
        b a_main 2 64 a_main+1
        b a_work 2 64 a_ret
        b a_back 3 64 a_sys
    """


def flow_second(time: int) -> str:
    """What runs_second is."""
    return f"""
        b b_main 3 64 b_jne time={time}
        b b_loop 2 64 b_jne
        b b_loop 3 64 b_sys
    """
