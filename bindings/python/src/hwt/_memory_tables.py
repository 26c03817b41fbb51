"""Tables of samples: how they are filled, and what their columns are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from hwt import _measure, _native
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns, Loss
from hwt._table import Names

if TYPE_CHECKING:
    from hwt.trace import Trace


LATENCIES = ("total", "issue", "translation", "execution")

#: Tables, as hwtd_memory_table_name() has them.
TABLES = (
    "symbol",
    "insn",
    "address",
    "page",
    "line",
    "source",
    "cpu",
    "thread",
    "branch",
    "path",
)

CODE_TABLES = ("symbol", "insn", "branch", "path")

DATA_TABLES = ("address", "page", "line")

ALIASES = {
    **{f"{name}s": name for name in TABLES},
    "function": "symbol",
    "functions": "symbol",
    "addresses": "address",
    "branches": "branch",
    "code": "symbol",
    "instruction": "insn",
    "instructions": "insn",
    "data": "address",
    "data-source": "source",
    "data-sources": "source",
    "cache-line": "line",
    "cache-lines": "line",
    "sharing": "line",
}

COUNTS = (
    ("loads", "loads, atomic ones as well"),
    ("stores", "only stores"),
    ("atomics", "of both those that are atomic"),
    ("branches", "branches"),
    ("others", "other operations"),
    ("taken", "branches that were taken"),
    ("mispredicted", "branches that were mispredicted"),
    ("not_retired", "operations that had no effect in the end"),
    ("exceptions", "operations with an exception"),
    ("l1_accesses", "accesses to the first-level cache"),
    ("l1_misses", "misses of the first-level cache"),
    ("l2_accesses", "accesses to the second-level cache"),
    ("l2_misses", "misses of the second-level cache"),
    ("llc_accesses", "accesses to the last-level cache"),
    ("llc_misses", "misses of the last-level cache"),
    ("tlb_accesses", "accesses to the TLB"),
    ("tlb_misses", "misses of the TLB"),
    ("misaligned", "accesses that are not aligned"),
    ("remote", "accesses to another chip or socket"),
    ("transfers", "loads and stores of a line that another cache had"),
    ("modified", "those that were modified there, where that is told"),
)


@dataclass(frozen=True)
class MemoryInfo:
    """What tables of samples are made of, and what was left out.

    Attributes
    ----------
    samples, used : int
        Samples that were read, and those of them that tables are made of.
    damaged, truncated, duplicate, headless : int
        Those left out, each by the first that holds: damaged, cut off, mixed
        of two, and without their beginning.
    without_pc, without_symbol : int
        Of those used: without an address of the instruction, and in code that
        no symbol is known of.
    without_origin : int
        Loads and stores of which nothing tells where data was.
    saturated : int
        Samples with a latency at the limit of its counter.
    unweighted : int
        Samples of unknown interval: they have no weight.
    accesses_lost : int
        Accesses to lines that there was no room for.
    interval_min, interval_max : int or None
        Sampling intervals in operations; None: not known.
    midr : int or None
        The CPU, if all samples are of one kind and it is known.
    cpu_unknown, many_cpus : bool
        There are samples of CPUs that are not known, of several kinds.
    branch_bias : bool
        These CPUs sample targets of branches too often, and what follows them
        too seldom (Neoverse N1, erratum 1694299).
    full : bool
        A table had no room for all rows.
    rows : mapping of str to int
        Rows of each table that there is.
    buffers, collisions, buffers_cut_short : int or None
        Buffers that records tell of, in how many of these samples collided,
        and in how many some were lost; None: no records tell.
    loss : Loss
        Bytes of trace that gave no samples.
    """

    samples: int
    used: int
    damaged: int
    truncated: int
    duplicate: int
    headless: int
    without_pc: int
    without_symbol: int
    without_origin: int
    saturated: int
    unweighted: int
    accesses_lost: int
    interval_min: int | None
    interval_max: int | None
    midr: int | None
    cpu_unknown: bool
    many_cpus: bool
    branch_bias: bool
    full: bool
    rows: Mapping[str, int]
    buffers: int | None = None
    collisions: int | None = None
    buffers_cut_short: int | None = None
    loss: Loss = field(default_factory=Loss)


@dataclass(frozen=True)
class Read:
    """What was read beside the samples."""

    loss: Loss = field(default_factory=Loss)
    buffers: int = 0
    collided: int = 0
    cut_short: int = 0

    def __add__(self, other: Read) -> Read:
        return Read(
            self.loss + other.loss,
            self.buffers + other.buffers,
            self.collided + other.collided,
            self.cut_short + other.cut_short,
        )


#: Of a number or pointer: it is not 0.
ANY = (1 << 64) - 1


def sharing_names() -> Names:
    return Names(_measure.names_by(lib.hwtd_memory_sharing_name, 4))


def number_columns(c: Columns, used: int) -> None:
    """Columns of counts and latencies."""
    c.number("samples", "u64", "row.samples", meaning="samples")
    c.number(
        "percent",
        "f64",
        "row.samples",
        unit="%",
        scale=100.0 / used if used else 0.0,
        meaning="of all samples in tables",
    )
    latency(c, 0, "total", LATENCY_FIRST)
    c.number(
        "weight",
        "u64",
        "row.weight",
        known=("row.weight", ANY),
        meaning="operations that they stand for",
    )
    for name, meaning in COUNTS:
        c.number(name, "u64", f"row.{name}", meaning=meaning)
    levels = _measure.names_by(
        lib.hwtd_memory_level_name, lib.HWTD_MEMORY_LEVELS
    )
    for i, name in enumerate(levels):
        level = name.replace("-", "_")
        c.number(
            f"at_{level}",
            "u64",
            f"row.at_level[{i}]",
            meaning="loads and stores whose data was there",
        )
        c.number(
            f"missed_{level}",
            "u64",
            f"row.missed_level[{i}]",
            meaning="that missed there, and nothing tells where data was",
        )
    latency(c, 0, "total", LATENCY_MORE)
    for i, kind in enumerate(LATENCIES[1:], 1):
        latency(c, i, kind, LATENCY_FIRST + LATENCY_MORE)


# Columns of a latency: name, member, kind, which are known, meaning.
LATENCY_FIRST = (
    ("mean", "", "f64", "below", "mean of latencies below the limit"),
    ("p50", "p50", "u32", "any", "median"),
    ("p90", "p90", "u32", "any", "90 of 100 are not above"),
    ("p99", "p99", "u32", "any", "99 of 100 are not above"),
    ("longest", "longest", "u32", "any", "longest of all"),
)

LATENCY_MORE = (
    ("n", "n", "u64", "", "latencies below the limit"),
    ("sum", "sum", "u64", "", "sum of those below the limit"),
    ("min", "min", "u32", "below", "least below the limit"),
    ("max", "max", "u32", "below", "greatest below the limit"),
    ("saturated", "n_saturated", "u64", "", "latencies at the limit"),
    ("saturated_sum", "saturated_sum", "u64", "", "sum of the limits"),
    (
        "at_least",
        "at_least",
        "u32",
        "",
        "bits: p50, p90, p99, longest is at a limit",
    ),
)


def latency(
    c: Columns, i: int, kind: str, columns: Iterable[tuple[str, ...]]
) -> None:
    masks = {
        "below": ("known", lib.HWTPY_MEMORY_MEAN << i),
        "any": ("known", lib.HWTPY_MEMORY_LATENCY << i),
    }
    for name, member, type_, known, meaning in columns:
        c.number(
            f"{kind}_{name}",
            type_,
            f"row.latency[{i}].{member}" if member else f"mean[{i}]",
            unit="" if name in ("n", "saturated", "at_least") else "cycles",
            known=masks.get(known),
            meaning=meaning,
        )


def add_samples(
    memory: _native.Handle,
    trace: Trace,
    meter: _measure.Meter,
    jobs: int | None,
    filters: Mapping[str, Any],
) -> Loss:
    """Add the samples of a trace; what was lost of it."""
    events, keep = _measure.options_of(jobs, filters)
    events.kinds = 1 << lib.HWTD_EV_SAMPLE | 1 << lib.HWTD_EV_GAP
    first = min(
        (events.times_ns[i].start for i in range(events.n_times)), default=0
    )
    err = _native.error()
    out = _native.slot("struct hwtd_events", "hwtd_events_close")
    with trace._handle.lock:
        _native.check(
            lib.hwtd_events_open(trace._handle.c, events, out, err), err
        )
    del keep
    stats = _native.new("struct hwtd_stats")
    rows = ffi.new("struct hwtd_event[]", 2048)
    with _native.Handle.of(out, "hwtd_events_close") as cursor:
        # The filter would do, but only after decoding what comes before.
        if first > _measure.LOOK_BACK_NS:
            _native.check(
                lib.hwtd_events_seek_ns(
                    cursor.c, first - _measure.LOOK_BACK_NS, err
                ),
                err,
            )

        def done() -> int:
            _native.check(lib.hwtd_events_stats(cursor.c, stats))
            return int(stats.bytes)

        _measure.run(
            lambda: _native.check(
                lib.hwtpy_memory_step(memory.c, cursor.c, rows, 2048, err),
                err,
            ),
            meter,
            done,
        )
        done()
    meter.part_done(_measure.bytes_of([trace]))
    return _measure.loss_of(stats)


def buffers_of(trace: Trace, loss: Loss) -> Read:
    """What records tell of buffers, where they do."""
    found = ffi.new("struct hwtpy_buffers *")
    first = 0
    while True:
        with trace._handle.lock:
            code = _native.check(
                lib.hwtpy_memory_buffers(
                    trace._handle.c, first, _measure.ROWS, found
                )
            )
        if code == lib.HWTD_END:
            return Read(loss, found.n, found.collided, found.cut_short)
        first += _measure.ROWS


#: Variant and revision in MIDR_EL1: 0 where only the name of the CPU was given.
MIDR_VERSION = 0x00F0000F


def notes_of(info: MemoryInfo, table: int | None = None) -> list[str]:
    """What the numbers depend on, and what is left out of them."""
    left_out = (
        f"; left out: {info.damaged} damaged, {info.truncated} cut off, "
        f"{info.duplicate} mixed, {info.headless} without beginning"
        if info.samples != info.used
        else ""
    )
    notes = [f"samples: {info.samples}, of them {info.used} used{left_out}"]
    notes += info.loss.notes
    if info.buffers is None:
        notes.append("collisions: the trace does not tell")
    else:
        notes.append(
            f"collisions: in {info.collisions} of {info.buffers} buffers; in "
            f"{info.buffers_cut_short} samples were lost"
        )
    notes += interval_notes(info)
    if info.cpu_unknown:
        notes.append(
            "CPU: not known, so data sources are numbers and levels are by "
            "events (midr=)"
        )
    elif info.many_cpus:
        notes.append("CPU: of several kinds")
    if info.branch_bias:
        unsure = (
            ", if it is one"
            if info.midr is not None and not info.midr & MIDR_VERSION
            else ""
        )
        notes.append(
            f"bias: erratum 1694299 (Neoverse N1 before r4p1{unsure}): targets "
            "of branches are sampled too often, what follows them too seldom"
        )
    if info.saturated:
        notes.append(
            f"latencies: {info.saturated} samples are at the limit of a "
            "counter and in no mean"
        )
    if info.without_symbol and (table is None or TABLES[table] in CODE_TABLES):
        notes.append(
            f"symbols: {info.without_symbol} samples are in code without"
        )
    if info.without_origin:
        notes.append(
            f"levels: {info.without_origin} loads and stores tell no level"
        )
    if info.accesses_lost:
        notes.append(
            f"accesses: {info.accesses_lost} are not kept (max_accesses=)"
        )
    if info.full:
        notes.append("rows: a table had no room for all (max_rows=)")
    return notes


def interval_notes(info: MemoryInfo) -> list[str]:
    if info.interval_max is None:
        return ["interval: not known, so samples have no weight (interval=)"]
    span = (
        str(info.interval_max)
        if info.interval_min == info.interval_max
        else f"{info.interval_min} to {info.interval_max}"
    )
    notes = [
        f"interval: {span}; weights are estimates of operations before "
        "filtering"
    ]
    if info.unweighted:
        notes.append(f"interval: {info.unweighted} samples have no weight")
    return notes


def what(c: Columns, table: str, keeps_accesses: bool) -> None:
    """Columns of what a row is."""
    flags = "row.flags"
    if table == "source":
        is_stores = lib.HWTD_MEMORY_ROW_STORES
        other = lib.HWTD_MEMORY_ROW_OTHER
        c.listed(
            "of",
            "text",
            [
                (
                    None
                    if r.row.flags & other
                    else "stores" if r.row.flags & is_stores else "loads"
                )
                for r in c.rows[0 : c.n]
            ],
            meaning="loads or stores",
        )
        c.number(
            "source",
            "u64",
            "row.source",
            known=(flags, lib.HWTD_MEMORY_ROW_SOURCE),
            meaning="data source as samples have it; null: they had none",
        )
        c.text("source_name", "row.source_name", "name of the source")
    for name in ("cpu",) if table == "cpu" else ():
        c.number(name, "u32", f"row.{name}", known="id", meaning="CPU")
    if table == "path":
        c.number(
            "prev_target",
            "u64",
            "row.prev_target",
            unit="address",
            known=(flags, lib.HWTD_MEMORY_ROW_PREV_TARGET),
            meaning="target of the last branch that was taken before",
        )
    if table in ("insn", "branch", "path", *DATA_TABLES):
        c.number(
            "address",
            "u64",
            "row.address",
            unit="address",
            known=(flags, lib.HWTD_MEMORY_ROW_ADDRESS),
            meaning=(
                "of the data" if table in DATA_TABLES else "of the instruction"
            ),
        )
    if table in ("branch", "path"):
        c.number(
            "to",
            "u64",
            "row.to",
            unit="address",
            known=(flags, lib.HWTD_MEMORY_ROW_TO),
            meaning="where the branch goes",
        )
        c.flag(
            "is_taken",
            flags,
            lib.HWTD_MEMORY_ROW_TAKEN,
            "branches that were taken; null: no branch",
            known=("known", lib.HWTPY_MEMORY_TAKEN),
        )
    if table == "thread" or table in DATA_TABLES:
        c.number("pid", "u32", "row.pid", known="id", meaning="process")
    if table == "thread":
        c.number("tid", "u32", "row.tid", known="id", meaning="thread")
    if table in CODE_TABLES:
        code(c, table)
    if table == "line" and keeps_accesses:
        c.named("sharing", "row.sharing", sharing_names(), "how it is used")
        c.number("users", "u32", "row.users", meaning="threads that use it")
        c.number("writers", "u32", "row.writers", meaning="those that write")
        c.number("cpus", "u32", "row.cpus", meaning="CPUs that use it")


def code(c: Columns, table: str) -> None:
    c.text("symbol", "row.symbol", "function")
    c.text("image", "row.image", "image that has the code")
    is_symbol = table == "symbol"
    c.number(
        "symbol_address" if is_symbol else "symbol_offset",
        "u64",
        "row.symbol_off",
        unit="address" if is_symbol else "bytes",
        known=("row.symbol", ANY),
        meaning=(
            "address of the symbol in its file"
            if is_symbol
            else "byte of the symbol"
        ),
    )
    if not is_symbol:
        c.number(
            "image_offset",
            "u64",
            "row.symbol_off",
            unit="bytes",
            known=("known", lib.HWTPY_MEMORY_IMAGE_OFFSET),
            meaning="byte of the file of the image, without a symbol",
        )


def accesses_columns(rows: Any, n: int) -> Columns:
    """Who touched which byte of lines."""
    c = Columns(n, "struct hwtpy_access", rows)
    c.number("line", "u64", "line", unit="address", meaning="cache line")
    c.named("sharing", "sharing", sharing_names(), "how it is used")
    c.number(
        "offset",
        "u32",
        "access.offset",
        unit="bytes",
        meaning="byte of the line",
    )
    for name, what in (
        ("cpu", "CPU"),
        ("pid", "process"),
        ("tid", "thread"),
    ):
        c.number(name, "u32", f"access.{name}", known="id", meaning=what)
    c.number(
        "pc",
        "u64",
        "access.pc",
        unit="address",
        known=("access.flags", lib.HWTD_MEMORY_ROW_ADDRESS),
        meaning="instruction",
    )
    c.number(
        "source",
        "u64",
        "access.source",
        known=("access.flags", lib.HWTD_MEMORY_ROW_SOURCE),
        meaning="data source as samples have it",
    )
    c.text("source_name", "access.source_name", "name of the source")
    c.text("image", "access.image", "image that has the code")
    c.text("symbol", "access.symbol", "function")
    c.number(
        "symbol_offset",
        "u64",
        "access.symbol_off",
        unit="bytes",
        known=("access.symbol", ANY),
        meaning="byte of the symbol",
    )
    for name, unit, what in (
        ("loads", "", "loads"),
        ("stores", "", "stores"),
        ("transfers", "", "of a line that another cache had"),
        ("latency", "cycles", "sum of total latencies"),
    ):
        c.number(name, "u64", f"access.{name}", unit=unit, meaning=what)
    return c


def read_accesses(
    memory: _native.Handle, table: int, numbers: range
) -> tuple[Any, int]:
    """Read the accesses to lines; the lock is held."""
    row = ffi.new("struct hwtpy_memory_row *")
    got = ffi.new("size_t *")
    cap, n = 1024, 0
    rows = ffi.new("struct hwtpy_access[]", cap)
    for i in numbers:
        _native.check(lib.hwtpy_memory_read(memory.c, table, i, row, 1, got))
        first = 0
        while True:
            if n == cap:
                grown = ffi.new("struct hwtpy_access[]", cap * 2)
                ffi.memmove(grown, rows, ffi.sizeof(rows))
                rows, cap = grown, cap * 2
            code = _native.check(
                lib.hwtpy_memory_accesses(
                    memory.c,
                    i,
                    ffi.addressof(row, "row"),
                    first,
                    rows + n,
                    min(cap - n, _measure.ROWS),
                    got,
                )
            )
            if code == lib.HWTD_END:
                break
            first += got[0]
            n += got[0]
    return rows, n


def read_buckets(
    memory: _native.Handle, table: int, numbers: range, kind: int
) -> tuple[list[tuple[int, int, int]], int]:
    """Buckets of rows added up; and how many latencies are in none."""
    sums: dict[tuple[int, int], int] = {}
    saturated = 0
    row = ffi.new("struct hwtpy_memory_row *")
    buckets = ffi.new("struct hwtd_memory_bucket[]", 4096)
    got = ffi.new("size_t *")
    size = ffi.sizeof("struct hwtd_memory_bucket")
    for i in numbers:
        _native.check(lib.hwtpy_memory_read(memory.c, table, i, row, 1, got))
        saturated += row.row.latency[kind].n_saturated
        at = 0
        while True:
            code = _native.check(
                lib.hwtd_memory_histogram(
                    memory.c, table, i, kind, at, buckets, size, 4096, got
                )
            )
            if code == lib.HWTD_END:
                break
            for k in range(got[0]):
                b = buckets[k]
                key = b.first, b.end
                sums[key] = sums.get(key, 0) + b.n
            at += got[0]
    return [(*key, n) for key, n in sorted(sums.items())], saturated


def row_name(memory: _native.Handle, table: int, i: int) -> str:
    """What a row is of, for a title; the lock is held."""
    rows = ffi.new("struct hwtpy_memory_row *")
    got = ffi.new("size_t *")
    _native.check(lib.hwtpy_memory_read(memory.c, table, i, rows, 1, got))
    row = rows.row
    if TABLES[table] == "cpu":
        return f"CPU {row.cpu}"
    if TABLES[table] == "thread":
        return f"thread {row.pid}/{row.tid}"
    if TABLES[table] == "source":
        return _native.text(row.source_name) or f"source {row.source:#x}"
    if row.flags & lib.HWTD_MEMORY_ROW_ADDRESS:
        return f"{row.address:#x}"
    return _native.text(row.symbol) or _native.text(row.image) or "unknown"
