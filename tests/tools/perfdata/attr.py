"""struct perf_event_attr, of any size and byte order, and sample types.

Source: Linux, include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import PerfDataError
from .order import Order, Parts

# Bits of sample_type.
IP, TID, TIME, ADDR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ, CALLCHAIN, ID, CPU = 1 << 4, 1 << 5, 1 << 6, 1 << 7
PERIOD, STREAM_ID, RAW, BRANCH_STACK = 1 << 8, 1 << 9, 1 << 10, 1 << 11
REGS_USER, STACK_USER, WEIGHT, DATA_SRC = 1 << 12, 1 << 13, 1 << 14, 1 << 15
IDENTIFIER, TRANSACTION, REGS_INTR = 1 << 16, 1 << 17, 1 << 18
PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE = 1 << 19, 1 << 20, 1 << 21, 1 << 22
CODE_PAGE_SIZE, WEIGHT_STRUCT = 1 << 23, 1 << 24

# Bits of read_format.
TOTAL_TIME_ENABLED, TOTAL_TIME_RUNNING, FORMAT_ID = 1 << 0, 1 << 1, 1 << 2
GROUP, LOST = 1 << 3, 1 << 4

# Types of events.
HARDWARE, SOFTWARE, TRACEPOINT = 0, 1, 2
SW_DUMMY = 9

# Flags in the order of the bit field; `precise_ip` is two bits wide.
FLAGS = (
    "disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv "
    "exclude_idle mmap comm freq inherit_stat enable_on_exec task watermark "
    "precise_ip precise_ip mmap_data sample_id_all exclude_host exclude_guest "
    "exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec "
    "use_clockid context_switch write_backward namespaces ksymbol bpf_event "
    "aux_output cgroup text_poke build_id inherit_thread remove_on_exec "
    "sigtrap defer_callchain defer_output").split()

# Sizes that were published, the first and those with more at the end.
SIZES = (64, 72, 80, 96, 104, 112, 120, 128, 136, 144)


@dataclass(frozen=True)
class Attr:
    """What an event is: the fields of struct perf_event_attr.

    ``flags`` names those that are set; ``size`` is how much of the structure
    the producer knew. What lies behind that is not written.
    """

    type: int
    config: int = 0
    sample_type: int = 0
    flags: tuple[str, ...] = ()
    size: int = 128
    sample_period: int = 1
    read_format: int = FORMAT_ID
    precise_ip: int = 0
    wakeup: int = 0
    bp_type: int = 0
    config1: int = 0
    config2: int = 0
    branch_sample_type: int = 0
    sample_regs_user: int = 0
    sample_stack_user: int = 0
    clockid: int = 0
    sample_regs_intr: int = 0
    aux_watermark: int = 0
    sample_max_stack: int = 0
    aux_sample_size: int = 0
    aux_action: int = 0
    sig_data: int = 0
    config3: int = 0
    config4: int = 0
    more: bytes = field(default=b"")

    def bits(self, order: Order) -> int:
        """Return the bit field; its first bit is the top one in big endian."""
        value = 0
        for name in self.flags:
            if name not in FLAGS or name == "precise_ip":
                raise PerfDataError(f"no such flag of an event: {name}")
            at = FLAGS.index(name)
            value |= 1 << (63 - at if order.name == "big" else at)
        at = FLAGS.index("precise_ip")
        return value | self.precise_ip << (62 - at if order.name == "big"
                                           else at)

    def encode(self, order: Order) -> bytes:
        """Return the first ``size`` bytes, and ``more`` behind those known."""
        parts: Parts = [
            ("I", self.type), ("I", self.size), ("Q", self.config),
            ("Q", self.sample_period), ("Q", self.sample_type),
            ("Q", self.read_format), ("Q", self.bits(order)),
            ("I", self.wakeup), ("I", self.bp_type), ("Q", self.config1),
            ("Q", self.config2), ("Q", self.branch_sample_type),
            ("Q", self.sample_regs_user), ("I", self.sample_stack_user),
            ("i", self.clockid), ("Q", self.sample_regs_intr),
            ("I", self.aux_watermark), ("H", self.sample_max_stack),
            ("H", 0), ("I", self.aux_sample_size), ("I", self.aux_action),
            ("Q", self.sig_data), ("Q", self.config3), ("Q", self.config4)]
        data = order.pack(parts) + self.more
        if self.size > len(data):
            data += bytes(self.size - len(data))
        return data[:self.size]


@dataclass
class Event:
    """An event of the file: its attributes, name and ids."""

    name: str
    attr: Attr
    ids: list[int]
    # The processor or thread that each id is of, for ID_INDEX.
    cpus: list[int] = field(default_factory=list)
    tids: list[int] = field(default_factory=list)

    def id_of(self, cpu: int) -> int:
        """Return the id on a processor, or the first one."""
        if cpu in self.cpus:
            return self.ids[self.cpus.index(cpu)]
        return self.ids[0] if self.ids else 0
