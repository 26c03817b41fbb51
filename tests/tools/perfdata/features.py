"""Features of the header: what is known of the machine and the recording.

Source: Linux, tools/perf/util/header.c, and perf.data-file-format.txt.
"""

from __future__ import annotations

from dataclasses import dataclass

from .attr import Event
from .order import Order, padded, text
from .records import header
from .user import build_id_parts

NUMBERS = {name: number for number, name in enumerate(
    "TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC "
    "CPUID TOTAL_MEM CMDLINE EVENT_DESC CPU_TOPOLOGY NUMA_TOPOLOGY "
    "BRANCH_STACK PMU_MAPPINGS GROUP_DESC AUXTRACE STAT CACHE SAMPLE_TIME "
    "MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED "
    "CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS CPU_DOMAIN_INFO"
    .split(), 1)}
# What ends the features of a pipe: one behind the last that perf 6.1 knows.
LAST = 32


# The size of struct bpf_prog_info in Linux 6.1.
_BPF_INFO = 232


@dataclass(frozen=True)
class BpfProgram:
    """A BPF program of one function, as the kernel runs it."""

    id: int
    name: str
    tag: bytes
    address: int
    code: bytes


class Features:
    """Bytes of features, in a byte order."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.data: dict[int, bytes] = {}

    def put(self, name: str, data: bytes) -> None:
        """Add a feature of any bytes."""
        self.data[NUMBERS[name]] = data

    def _string(self, value: str) -> bytes:
        data = text(value, 64)
        return self.order.u32(len(data)) + data

    def _strings(self, values: list[str]) -> bytes:
        return self.order.u32(len(values)) + b"".join(
            self._string(value) for value in values)

    def _u32(self, *values: int) -> bytes:
        return b"".join(self.order.u32(value) for value in values)

    def _u64(self, *values: int) -> bytes:
        return b"".join(self.order.u64(value) for value in values)

    def strings(self, **values: str) -> None:
        """Add HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID."""
        for name, value in values.items():
            self.put(name.upper(), self._string(value))

    def nrcpus(self, online: int, available: int) -> None:
        """Add how many processors there are."""
        self.put("NRCPUS", self._u32(available, online))

    def total_mem(self, kilobytes: int) -> None:
        """Add the size of memory."""
        self.put("TOTAL_MEM", self._u64(kilobytes))

    def cmdline(self, words: list[str]) -> None:
        """Add the command."""
        self.put("CMDLINE", self._strings(words))

    def event_desc(self, events: list[Event]) -> None:
        """Add events with their names."""
        size = events[0].attr.size if events else 0
        out = self._u32(len(events), size)
        for event in events:
            out += event.attr.encode(self.order).ljust(size, b"\0")[:size]
            out += self._u32(len(event.ids)) + self._string(event.name)
            out += self._u64(*event.ids)
        self.put("EVENT_DESC", out)

    def cpu_topology(self, cores: list[str], threads: list[str],
                     places: list[tuple[int, int]],
                     dies: list[str] | None = None) -> None:
        """Add core and socket of each processor; dies came later."""
        out = self._strings(cores) + self._strings(threads)
        for core, socket in places:
            out += self._u32(core, socket)
        if dies is not None:
            out += self._strings(dies)
            out += self._u32(*(0 for _ in places))
        self.put("CPU_TOPOLOGY", out)

    def numa_topology(self, nodes: list[tuple[int, int, int, str]]) -> None:
        """Add nodes of memory: number, total, free, processors."""
        out = self._u32(len(nodes))
        for number, total, free, cpus in nodes:
            out += (self._u32(number) + self._u64(total, free)
                    + self._string(cpus))
        self.put("NUMA_TOPOLOGY", out)

    def flag(self, name: str) -> None:
        """Add a feature without bytes: BRANCH_STACK, STAT."""
        self.put(name, b"")

    def pmu_mappings(self, pmus: dict[int, str]) -> None:
        """Add the names of types of events."""
        out = self._u32(len(pmus))
        for number, name in pmus.items():
            out += self._u32(number) + self._string(name)
        self.put("PMU_MAPPINGS", out)

    def group_desc(self, groups: list[tuple[str, int, int]]) -> None:
        """Add groups: name, index of the leader, members."""
        out = self._u32(len(groups))
        for name, leader, members in groups:
            out += self._string(name) + self._u32(leader, members)
        self.put("GROUP_DESC", out)

    def auxtrace(self, entries: list[tuple[int, int]]) -> None:
        """Add where AUXTRACE records lie, and how long they are."""
        out = self._u64(len(entries))
        self.put("AUXTRACE", out + b"".join(self._u64(*entry)
                                            for entry in entries))

    def cache(self, levels: list[tuple[int, int, int, int, str, str, str]]
              ) -> None:
        """Add caches: level, line size, sets, ways, type, size, cpus."""
        out = self._u32(1, len(levels))
        for level in levels:
            out += self._u32(*level[:4])
            out += b"".join(self._string(str(word)) for word in level[4:])
        self.put("CACHE", out)

    def sample_time(self, first: int, last: int) -> None:
        """Add the times of the first and the last sample."""
        self.put("SAMPLE_TIME", self._u64(first, last))

    def mem_topology(self, block: int, nodes: list[tuple[int, int, int]]
                     ) -> None:
        """Add nodes of memory: number, blocks, mask of blocks that exist."""
        out = self._u64(1, block, len(nodes))
        for number, size, mask in nodes:
            out += self._u64(number, size, size)
            out += self._u64(*((mask >> 64 * word) & ((1 << 64) - 1)
                               for word in range((size + 63) // 64)))
        self.put("MEM_TOPOLOGY", out)

    def clockid(self, resolution: int) -> None:
        """Add the resolution of the clock, in ns."""
        self.put("CLOCKID", self._u64(resolution))

    def clock_data(self, clock: int, wall: int, time: int) -> None:
        """Add one moment in the time of the day and of the clock."""
        self.put("CLOCK_DATA", self._u32(1, clock) + self._u64(wall, time))

    def dir_format(self, version: int = 1) -> None:
        """Add that the data are a folder."""
        self.put("DIR_FORMAT", self._u64(version))

    def bpf_prog_info(self, programs: list[BpfProgram]) -> None:
        """Add descriptions of BPF programs, with their code."""
        out = self._u32(len(programs))
        for program in programs:
            info, data = self._bpf_program(program)
            # Bits 0, 3 and 4: code, addresses and sizes are there.
            out += self._u32(len(info), len(data)) + self._u64(0b11001)
            out += info + data
        self.put("BPF_PROG_INFO", out)

    def _bpf_program(self, program: BpfProgram) -> tuple[bytes, bytes]:
        """Return struct bpf_prog_info, and what it points to."""
        code = padded(program.code, 8)
        data = (code + self._u64(program.address)
                + padded(self._u32(len(program.code)), 8))
        # Type and id, tag, sizes; then offsets in place of pointers.
        info = self._u32(1, program.id) + program.tag
        info += self._u32(len(program.code), 0) + self._u64(0, 0, 0)
        info += self._u32(0, 0) + self._u64(0)
        info += program.name.encode().ljust(16, b"\0") + self._u32(0, 1)
        info += self._u64(0, 0) + self._u32(1, 1)
        info += self._u64(len(code), len(code) + 8)
        # Types, lines, tags and counts, of which there are none.
        return info + bytes(_BPF_INFO - len(info)), data

    def bpf_btf(self, types: dict[int, bytes]) -> None:
        """Add types of BPF programs."""
        out = self._u32(len(types))
        for number, data in types.items():
            out += self._u32(number, len(data)) + data
        self.put("BPF_BTF", out)

    def compressed(self, *, level: int = 1, ratio: int = 1,
                   mmap_len: int = 0x81000) -> None:
        """Add that records are compressed with zstd."""
        self.put("COMPRESSED", self._u32(1, 1, level, ratio, mmap_len))

    def _caps(self, caps: dict[str, str]) -> bytes:
        return self._u32(len(caps)) + b"".join(
            self._string(word) for item in caps.items() for word in item)

    def cpu_pmu_caps(self, caps: dict[str, str]) -> None:
        """Add what the processor's own events can do."""
        self.put("CPU_PMU_CAPS", self._caps(caps))

    def pmu_caps(self, pmus: dict[str, dict[str, str]]) -> None:
        """Add what types of events can do."""
        self.put("PMU_CAPS", self._u32(len(pmus)) + b"".join(
            self._caps(caps) + self._string(name)
            for name, caps in pmus.items()))

    def hybrid_topology(self, pmus: dict[str, str]) -> None:
        """Add the processors of each kind of core."""
        self.put("HYBRID_TOPOLOGY", self._u32(len(pmus)) + b"".join(
            self._string(word) for item in pmus.items() for word in item))

    def build_ids(self, files: list[tuple[int, int, bytes, str]]) -> None:
        """Add build ids: misc, pid, id, name, each as a record (type 67)."""
        out = b""
        for misc, pid, ident, name in files:
            body = self.order.pack(build_id_parts(pid, ident, name))
            out += header(self.order, 67, misc | 1 << 15, 8 + len(body))
            out += body
        self.put("BUILD_ID", out)

    def tracing_data(self) -> None:
        """Add the least that perf takes for descriptions of tracepoints."""
        out = b"\x17\x08\x44tracing0.6\0"
        out += bytes([self.order.name == "big", 8]) + self._u32(4096)
        page = "".join(
            f"\tfield: {field};\toffset:{offset};\tsize:{size};\tsigned:0;\n"
            for field, offset, size in (
                ("u64 timestamp", 0, 8), ("local_t commit", 8, 8),
                ("int overwrite", 8, 1), ("char data", 16, 4080)))
        for name, said in (("header_page", page), ("header_event", "# none")):
            out += name.encode() + b"\0" + self._u64(len(said))
            out += said.encode()
        # Events of ftrace, systems, symbols, formats; names of threads.
        out += self._u32(0, 0, 0, 0) + self._u64(0)
        self.put("TRACING_DATA", padded(out, 8))
