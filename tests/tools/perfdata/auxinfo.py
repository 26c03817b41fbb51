"""AUXTRACE_INFO of Intel PT, CoreSight and Arm SPE.

Source: Linux, tools/perf/util/{intel-pt,cs-etm,arm-spe}.h and what reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .records import Record
from .user import auxtrace_info

INTEL_PT, CORESIGHT, ARM_SPE = 1, 3, 4

# Bits of the config of an Intel PT event.
PT, CYC_BIT, MTC_BIT, TSC_BIT = 1 << 0, 1 << 1, 1 << 9, 1 << 10
NORETCOMP_BIT, BRANCH_BIT, MTC_FREQ_BITS = 1 << 11, 1 << 13, 0xf << 14

# Any number that says "metadata of SPE begin here".
SPE_MAGIC = 0x1010101010101010
ETMV3_MAGIC, ETMV4_MAGIC = 0x3030303030303030, 0x4040404040404040
ETE_MAGIC = 0x5050505050505050


@dataclass(frozen=True)
class IntelPt:
    """What perf tells of Intel PT."""

    pmu_type: int = 8
    time_shift: int = 0
    time_mult: int = 1
    time_zero: int = 0
    cap_user_time_zero: int = 1
    # 0: none, 1: tracepoint, 2: of all, 3: of the CPU.
    have_sched_switch: int = 3
    snapshot_mode: int = 0
    per_cpu_mmaps: int = 1
    tsc_ctc_n: int = 2
    tsc_ctc_d: int = 1
    max_nonturbo_ratio: int = 20
    filter: str = ""
    # A word behind the filter that newer ones write.
    cap_event_trace: int | None = 0
    # Where the words end, for producers of old.
    words: int | None = None

    def record(self) -> Record:
        """Return the record."""
        words: list[int | bytes] = [
            self.pmu_type, self.time_shift, self.time_mult, self.time_zero,
            self.cap_user_time_zero, TSC_BIT, NORETCOMP_BIT,
            self.have_sched_switch, self.snapshot_mode, self.per_cpu_mmaps,
            MTC_BIT, MTC_FREQ_BITS, self.tsc_ctc_n, self.tsc_ctc_d, CYC_BIT,
            self.max_nonturbo_ratio]
        said = self.filter.encode() + b"\0" if self.filter else b""
        words += [len(said) - 1 if said else 0, said]
        if self.cap_event_trace is not None:
            words.append(self.cap_event_trace)
        return auxtrace_info(INTEL_PT, words[:self.words])


@dataclass(frozen=True)
class TraceUnit:
    """The trace unit of one processor: registers in the order of its kind."""

    cpu: int
    magic: int = ETMV4_MAGIC
    registers: tuple[int, ...] = ()


def etmv4(cpu: int, trace_id: int, *, configr: int = 0x1, idr0: int = 0,
          idr1: int = 0x4100f403, idr2: int = 0x488, idr8: int = 0,
          authstatus: int = 0xcc, ts_source: int | None = None) -> TraceUnit:
    """Return an ETMv4; TS_SOURCE came later."""
    more = () if ts_source is None else (ts_source,)
    return TraceUnit(cpu, ETMV4_MAGIC, (configr, trace_id, idr0, idr1, idr2,
                                        idr8, authstatus, *more))


def ete(cpu: int, trace_id: int, *, configr: int = 0x1, idr0: int = 0,
        idr1: int = 0x4100fff3, idr2: int = 0x488, idr8: int = 0,
        authstatus: int = 0xcc, devarch: int = 0x47705a13,
        ts_source: int | None = None) -> TraceUnit:
    """Return an ETE."""
    more = () if ts_source is None else (ts_source,)
    return TraceUnit(cpu, ETE_MAGIC, (configr, trace_id, idr0, idr1, idr2,
                                      idr8, authstatus, devarch, *more))


def etmv3(cpu: int, trace_id: int, *, control: int = 0, ccer: int = 0,
          idr: int = 0x411cf300) -> TraceUnit:
    """Return an ETMv3 or a PTM."""
    return TraceUnit(cpu, ETMV3_MAGIC, (control, trace_id, ccer, idr))


@dataclass(frozen=True)
class Coresight:
    """What perf tells of CoreSight."""

    units: tuple[TraceUnit, ...]
    pmu_type: int = 8
    version: int = 1
    snapshot: int = 0

    def record(self) -> Record:
        """Return the record: version 0 does not count registers."""
        words: list[int | bytes] = [
            self.version, self.pmu_type << 32 | len(self.units),
            self.snapshot]
        for unit in self.units:
            words += [unit.magic, unit.cpu]
            if self.version:
                words.append(len(unit.registers))
            words += unit.registers
        return auxtrace_info(CORESIGHT, words)


@dataclass(frozen=True)
class SpeUnit:
    """The SPE of one processor."""

    cpu: int
    midr: int
    pmu_type: int = 8
    min_interval: int = 1024
    # What newer ones tell more.
    event_filter: int | None = None
    more: tuple[int, ...] = ()


@dataclass(frozen=True)
class ArmSpe:
    """What perf tells of Arm SPE: with units it is version 2."""

    pmu_type: int = 8
    per_cpu_mmaps: int = 1
    units: tuple[SpeUnit, ...] = field(default=())

    def record(self) -> Record:
        """Return the record."""
        if not self.units:
            return auxtrace_info(ARM_SPE, [self.pmu_type,
                                           self.per_cpu_mmaps])
        words: list[int | bytes] = [2, 4, self.pmu_type, len(self.units)]
        for unit in self.units:
            said = [unit.midr, unit.pmu_type, unit.min_interval]
            if unit.event_filter is not None:
                said.append(unit.event_filter)
            said += unit.more
            words += [SPE_MAGIC, unit.cpu, len(said), *said]
        return auxtrace_info(ARM_SPE, words)
