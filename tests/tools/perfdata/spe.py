"""A recording of Arm SPE, as perf makes it.

The counter runs at 100 MHz: time in ns is ZERO + 10 * counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hwtasm.samples import SampleExpectation
from hwtasm.spe import SpeStream

from . import PerfDataError, attr as a, records as r, user
from .attr import Attr, Event
from .auxinfo import ArmSpe
from .case import Case
from .file import Item, PerfData
from .order import LITTLE, Order
from .records import Record
from .sample import Where

SHIFT, MULT, ZERO = 10, 10240, 7_000_000_000
PMU = 8
SAMPLE_TYPE = a.IP | a.TID | a.TIME | a.CPU | a.IDENTIFIER
NEOVERSE_N1, AMPEREONE = 0x413fd0c1, 0xc00fac30


def ns(count: int) -> int:
    """Return the time of a count."""
    return ZERO + 10 * count


@dataclass
class SpeRecording:
    """Events, processes and buffers of one file."""

    case: Case
    cpus: int = 1
    threads: tuple[int, ...] = ()
    order: Order = LITTLE
    info: ArmSpe = field(default_factory=ArmSpe)
    midr: int = NEOVERSE_N1
    conversion: Record = field(
        default_factory=lambda: user.time_conv(SHIFT, MULT, ZERO))
    file: PerfData = field(init=False)
    spe: Event = field(init=False)
    side: Event = field(init=False)
    _aux: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.file = PerfData(self.order)
        self.case.params["trace"] = "spe"
        if self.order.name == "big":
            self.case.params["byte_order"] = "big"
        count = len(self.threads) or self.cpus
        places = ([] if self.threads else list(range(count)),
                  list(self.threads))
        self.spe = self.file.event(Event("arm_spe_0//u", Attr(
            PMU, 0x700000001, SAMPLE_TYPE, ("disabled", "inherit",
                                            "sample_id_all")),
            [100 + number for number in range(count)], *places))
        self.side = self.file.event(Event("dummy:u", Attr(
            a.SOFTWARE, a.SW_DUMMY, SAMPLE_TYPE, (
                "inherit", "mmap", "comm", "task", "sample_id_all", "mmap2",
                "comm_exec", "context_switch")),
            [200 + number for number in range(count)], *places))
        features = self.file.features
        if features is not None:
            features.strings(hostname="fixture", osrelease="6.12.0",
                             version="6.12", arch="aarch64",
                             cpuid=f"{self.midr:#018x}")
            features.nrcpus(self.cpus, self.cpus)
            features.event_desc(self.file.events)
            features.pmu_mappings({PMU: "arm_spe_0", 1: "software"})

    def start(self) -> None:
        """Add what stands in front of all other records."""
        self.file.add(self.conversion)
        self.file.add(user.id_index(self.file.events))
        self.file.add(self.info.record())

    def process(self, pid: int, name: str, *tids: int) -> None:
        """Add a process that was there before: names and some code."""
        self.file.add(r.comm(pid, pid, name))
        self.file.add(r.mmap2(pid, pid, 0x400000, 0x1000, 0, "/opt/" + name))
        for tid in tids:
            self.file.add(r.comm(pid, tid, name))

    def at(self, record: Record, count: int, pid: int, tid: int | None = None,
           cpu: int = 0, event: Event | None = None) -> Item:
        """Add a record of the kernel, with its place and time."""
        return self.file.add(record, event or self.side,
                             Where(ns(count), pid, tid or pid, cpu))

    def switch(self, count: int, out: tuple[int, int], into: tuple[int, int],
               cpu: int = 0) -> None:
        """Add both records of a switch on a processor."""
        self.at(r.switch_cpu_wide(*into, out=True), count, *out, cpu=cpu)
        self.at(r.switch_cpu_wide(*out, out=False), count, *into, cpu=cpu)

    def buffer(self, text: str, *, cpu: int = 0, tid: int | None = None,
               count: int, flags: int = 0, cut: int = 0,
               offset: int | None = None) -> SpeStream:
        """Add records of SPE; ``cut`` bytes at their end are missing."""
        stream = SpeStream(self.case.flow.labels())
        for raw in text.splitlines():
            line = raw.split("#", 1)[0].strip()
            if line:
                stream.add(line)
        data = stream.finish()
        data = data[:len(data) - cut]
        idx = self.threads.index(tid) if tid is not None else cpu
        at = self._aux.get(idx, 0) if offset is None else offset
        self._aux[idx] = at + len(data)
        # Offsets of samples are those of the whole buffer.
        stream.marks = {name: at + place
                        for name, place in stream.marks.items()}
        self.at(r.aux(at, len(data), flags), count, tid or 0, cpu=cpu,
                event=self.spe)
        data += bytes(-len(data) % 8)
        self.file.add(user.auxtrace(
            data, offset=at, idx=idx, reference=idx + 1,
            tid=user.NONE if tid is None else tid,
            cpu=cpu if tid is None else user.NONE))
        return stream

    def expect(self, stream: SpeStream, text: str, *, q: int = 0,
               cpu: int | None = 0) -> None:
        """Say what samples a buffer has; `t PID TID` lines tell of whom."""
        expect = SampleExpectation(self.case.flow.labels(), stream.marks,
                                   None)
        thread: tuple[int, int] | None = None
        whose = []
        for number, raw in enumerate(text.splitlines(), 1):
            words = raw.split()
            if not words:
                continue
            if words[0] == "t":
                thread = (int(words[1]), int(words[2]))
                continue
            if words[0] == "sample":
                if thread is None:
                    raise PerfDataError("a sample of no thread")
                whose.append(thread)
            expect.add("samples", number, " ".join(words))
        self.case.expect_samples([
            {"q": q, "cpu": cpu, "pid": pid, "tid": tid,
             "first": sample.first, "record_bytes": sample.size,
             **sample.fields}
            for sample, (pid, tid) in zip(expect.samples, whose,
                                          strict=True)])

    def finish(self) -> None:
        """Make the file."""
        self.case.write(self.file)
