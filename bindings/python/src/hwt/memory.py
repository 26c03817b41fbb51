"""What samples of Arm SPE say together: where time went, and by whom.

Tables of a :class:`Memory` sum up samples by code, by data, by where data came
from and by who used it.  Latencies are in cycles of the core; one at the limit
of its counter was that, or more, and is in no mean.
"""

from __future__ import annotations
from typing import TYPE_CHECKING, Any, Iterable, Mapping
from hwt import _measure, _native, config
from hwt._filters import settled
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns, Loss
from hwt._memory_tables import (
    ALIASES,
    LATENCIES,
    TABLES,
    MemoryInfo,
    Read,
    accesses_columns,
    add_samples,
    buffers_of,
    notes_of,
    number_columns,
    read_accesses,
    read_buckets,
    row_name,
    what,
)
from hwt._table import Table
from hwt._words import plural, quoted

if TYPE_CHECKING:
    from hwt.trace import Trace
__all__ = ["Memory", "MemoryInfo", "mem"]


class Memory:
    """Tables of the samples of one trace or of several.

    :meth:`hwt.Trace.memory` makes one of a trace, :meth:`Memory.of` one of
    several.

    Examples
    --------
    >>> with hwt.open(spe) as trace:
    ...     mem = trace.memory()
    >>> mem.info.used > 0
    True
    >>> mem.table("cpu").columns[:3]
    ('cpu', 'samples', 'percent')
    """

    def __init__(
        self, handle: _native.Handle, options: Mapping[str, Any], read: Read
    ) -> None:
        self._handle = handle
        self._options = dict(options)
        self._read = read

    @classmethod
    def of(
        cls,
        traces: Trace | Iterable[Trace],
        *,
        tables: str | Iterable[str] | None = None,
        accesses: bool = False,
        physical: bool = False,
        line_bytes: int = 64,
        page_bytes: int = 4096,
        max_rows: int = 262144,
        max_accesses: int = 1048576,
        midr: int | None = None,
        version: int | None = None,
        interval: int | None = None,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Memory:
        """Sum up the samples of one trace or of several.

        Parameters
        ----------
        traces : Trace or iterable of Trace
            They may be closed afterwards.
        tables : str or iterable of str, optional
            Which tables are wanted; see :meth:`table`.  Default: all;
            ``sharing`` has to be named, or `accesses` be set.
        accesses : bool, default False
            Keep who touched which byte of a cache line; see
            :meth:`accesses` and :meth:`sharing`.
        physical : bool, default False
            Addresses of data are physical ones, of samples that have one:
            what processes share at different addresses is one row.
        line_bytes, page_bytes : int
            Of a cache line, a power of 2 from 8 to 4096; of a page.
        max_rows, max_accesses : int
            Rows of a table, and accesses, that are held; what else there is
            goes into one row, and is counted only.
        midr, version, interval : int, optional
            Of streams that do not tell: MIDR_EL1 of the CPU,
            ID_AA64DFR0_EL1.PMSVer, and the sampling interval in operations.
        jobs : int, optional
            Threads that decode.  Default: all CPUs.
        progress : bool or callable, optional
            True: text on stderr if that is a terminal; or a function of bytes
            done and bytes in all.
        **filters
            Which samples: ``cpu``, ``tid``, ``pid``, ``stream``, ``time``,
            ``address``, ``engine``, ``strict``, as of
            :meth:`hwt.Trace.events`.

        Returns
        -------
        Memory
            Of all of them.

        Raises
        ------
        ValueError
            There is no table of a name, or an option is out of range.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     mem = trace.memory(tables=["source", "line"])
        >>> sorted(mem.info.rows)
        ['line', 'source']
        """
        chosen = set(range(len(TABLES)))
        if tables is not None:
            listed = [tables] if isinstance(tables, str) else list(tables)
            if not listed:
                raise ValueError("tables: there is none; None are all")
            accesses = accesses or "sharing" in listed
            chosen = {
                _measure.choose("tables", t, TABLES, ALIASES) for t in listed
            }
        options = {
            "tables": sum(1 << i for i in chosen),
            "flags": (lib.HWTD_MEMORY_KEEP_ACCESSES if accesses else 0)
            | (lib.HWTD_MEMORY_KEEP_PHYSICAL if physical else 0),
        }
        ctype = ffi.typeof("struct hwtd_memory_options")
        members = dict(ctype.fields or ())
        for name, value in (
            ("line_bytes", line_bytes),
            ("page_bytes", page_bytes),
            ("max_rows", max_rows),
            ("max_accesses", max_accesses),
            ("midr", midr or 0),
            ("version", version or 0),
            ("interval", interval or 0),
        ):
            bits = 8 * ffi.sizeof(members[name].type)
            options[name] = config.number(name, value, bits)
            if value == 0 and name.startswith(("line", "page", "max")):
                raise ValueError(f"{name}: 0 is too few")
        found = _measure.traces_of(traces)
        if not found:
            raise ValueError("traces: there is none")
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        made: Memory | None = None
        for trace in found:
            part = cls._of_one(trace, options, meter, jobs, filters)
            if made is None:
                made = part
            else:
                with part:
                    made.merge(part)
        assert made is not None
        return made

    @classmethod
    def _of_one(
        cls,
        trace: Trace,
        options: Mapping[str, Any],
        meter: _measure.Meter,
        jobs: int | None,
        filters: Mapping[str, Any],
    ) -> Memory:
        err = _native.error()
        how = _native.new("struct hwtd_memory_options")
        for name, value in options.items():
            setattr(how, name, value)
        out = _native.slot("struct hwtd_memory", "hwtd_memory_close")
        with trace._handle.lock:
            _native.check(
                lib.hwtd_memory_open(trace._handle.c, how, out, err), err
            )
        handle = _native.Handle.of(
            out, "hwtd_memory_close", (trace._handle,), "memory"
        )
        try:
            with _native.in_file(trace._path):
                loss = add_samples(handle, trace, meter, jobs, filters)
        except BaseException:
            handle.close()
            raise
        return cls(handle, options, buffers_of(trace, loss))

    def add(
        self,
        trace: Trace,
        *,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Memory:
        """Add the samples of another trace, or others of the same one.

        Parameters
        ----------
        trace : Trace
            It may be closed afterwards.
        jobs, progress : optional
            As of :meth:`of`.
        **filters
            As of :meth:`of`.

        Returns
        -------
        Memory
            This one.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     trace.memory(cpu=0).add(trace, cpu=1).info.used
        3000
        """
        self._handle.c
        found = _measure.traces_of(trace)
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        for one in found:
            with self._of_one(
                one, self._options, meter, jobs, filters
            ) as part:
                self.merge(part)
        return self

    def merge(self, other: Memory) -> Memory:
        """Add all that other tables have; that is as one trace with all.

        Parameters
        ----------
        other : Memory
            It is not changed.  Not this one; of the same `line_bytes`,
            `page_bytes` and `physical`.

        Returns
        -------
        Memory
            This one.

        Raises
        ------
        InvalidError
            Both are the same, or they differ in what rows are.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     mem = trace.memory(cpu=0).merge(trace.memory(cpu=1))
        >>> mem.info.used
        3000
        """
        if not isinstance(other, Memory):
            raise TypeError(f"{quoted(other)} is no Memory")
        err = _native.error()
        with _measure.locked(self._handle, other._handle):
            _native.check(
                lib.hwtd_memory_merge(self._handle.c, other._handle.c, err),
                err,
            )
            self._read += other._read
            # What only one has stays as it is.
            self._options["tables"] |= other._options["tables"]
        return self

    @property
    def info(self) -> MemoryInfo:
        """What was read, and what of it was left out."""
        with self._handle.lock:
            return self._info()

    def _info(self) -> MemoryInfo:
        c = _native.new("struct hwtd_memory_info")
        _native.check(lib.hwtd_memory_info(self._handle.c, c))
        read = self._read
        told = read.buffers != 0
        return MemoryInfo(
            samples=c.samples,
            used=c.used,
            damaged=c.damaged,
            truncated=c.truncated,
            duplicate=c.duplicate,
            headless=c.headless,
            without_pc=c.without_pc,
            without_symbol=c.without_symbol,
            without_origin=c.without_origin,
            saturated=c.saturated,
            unweighted=c.unweighted,
            accesses_lost=c.accesses_lost,
            interval_min=c.interval_min or None,
            interval_max=c.interval_max or None,
            midr=c.midr or None,
            cpu_unknown=bool(c.flags & lib.HWTD_MEMORY_INFO_NO_MIDR),
            many_cpus=bool(c.flags & lib.HWTD_MEMORY_INFO_MANY_MIDRS),
            branch_bias=bool(c.flags & lib.HWTD_MEMORY_INFO_BRANCH_BIAS),
            full=bool(c.flags & lib.HWTD_MEMORY_INFO_FULL),
            rows={
                name: int(c.rows[i])
                for i, name in enumerate(TABLES)
                if self._options["tables"] >> i & 1
            },
            buffers=read.buffers if told else None,
            collisions=read.collided if told else None,
            buffers_cut_short=read.cut_short if told else None,
            loss=read.loss,
        )

    @property
    def loss(self) -> Loss:
        """Bytes of trace that gave no samples."""
        return self._read.loss

    @property
    def notes(self) -> list[str]:
        """What the numbers depend on, a line each.

        The sampling interval, the CPU, its errata, collisions, latencies at
        their limit, and what was left out.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     notes = trace.memory().notes
        >>> notes[0].startswith("samples: ")
        True
        """
        with self._handle.lock:
            return notes_of(self._info())

    # Tables.

    def _table_no(self, table: str) -> int:
        no = _measure.choose("table", table, TABLES, ALIASES)
        if not self._options["tables"] >> no & 1:
            there = [
                name
                for i, name in enumerate(TABLES)
                if self._options["tables"] >> i & 1
            ]
            raise ValueError(
                f"table: {quoted(table)} was not asked for; there is "
                + ", ".join(there)
            )
        return no

    def _sort(self, table: int, sort: str | None) -> int:
        """Sort a table; the lock is held.  Rows that there are."""
        if sort is None:
            by = (
                lib.HWTD_MEMORY_BY_SAMPLES
                if TABLES[table] in ("branch", "path")
                else lib.HWTD_MEMORY_BY_LATENCY
            )
        else:
            names = _measure.names_by(
                lib.hwtd_memory_sort_name, lib.HWTD_MEMORY_SORTS
            )
            by = _measure.choose("sort", sort, names)
        if by == lib.HWTD_MEMORY_BY_SHARING:
            self._need_accesses()
        err = _native.error()
        _native.check(
            lib.hwtd_memory_sort(self._handle.c, table, by, err), err
        )
        return self._info().rows[TABLES[table]]

    def _need_accesses(self) -> None:
        if not self._options["flags"] & lib.HWTD_MEMORY_KEEP_ACCESSES:
            raise ValueError(
                "accesses to lines were not kept; accesses=True keeps them"
            )

    def _rows(self, table: int, n: int) -> tuple[Any, int]:
        def read(first: int, out: Any, _size: int, cap: int, got: Any) -> int:
            return _native.check(
                lib.hwtpy_memory_read(
                    self._handle.c, table, first, out, cap, got
                )
            )

        return _measure.read_rows("struct hwtpy_memory_row", n, read)

    def table(
        self,
        table: str = "symbol",
        sort: str | None = None,
        limit: int | None = None,
    ) -> Table:
        """List what samples sum up to.

        Parameters
        ----------
        table : str
            What rows are of: ``symbol`` (or ``function``), ``insn``,
            ``address``, ``page``, ``line`` (of the cache), ``source`` (where
            data was), ``cpu``, ``thread``, ``branch`` or ``path`` (from the
            target of the last branch before, where the hardware tells it);
            or ``sharing``, see :meth:`sharing`.
        sort : str, optional
            ``samples``, ``weight``, ``latency``, ``max``, ``mean``,
            ``l1-misses``, ``llc-misses``, ``tlb-misses``, ``remote``,
            ``mispredicted``, ``transfers``: highest first; ``key``: by
            address, number or name; ``sharing``: of lines.  Default:
            ``latency``, of branches and paths ``samples``.
        limit : int, optional
            Only the first rows.

        Returns
        -------
        Table
            What it is, then `samples`, `percent` of all, `weight` (operations
            that they stand for; null: not known), counts of events, and for
            each of ``total``, ``issue``, ``translation`` and ``execution``
            columns such as `total_mean`, `total_p99` and `total_max`, in
            cycles.  `total_saturated` latencies were at the limit of the
            counter; they are in no mean, and bits of `total_at_least` say
            which of p50, p90, p99 and longest are at one (1, 2, 4, 8).

        Raises
        ------
        ValueError
            There is no such table, or it was not asked for.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     table = trace.memory().table("function", limit=3)
        >>> len(table) <= 3
        True
        >>> "total_p99" in table.columns
        True
        """
        if limit is not None and limit < 0:
            raise ValueError(f"limit: {limit} is below 0")
        if table == "sharing":
            return self.sharing(sort, limit)
        no = self._table_no(table)
        with self._handle.lock:
            n = self._sort(no, sort)
            if limit is not None:
                n = min(n, limit)
            rows, n = self._rows(no, n)
            info = self._info()
            c = Columns(n, "struct hwtpy_memory_row", rows)
            keeps = self._options["flags"] & lib.HWTD_MEMORY_KEEP_ACCESSES
            what(c, TABLES[no], bool(keeps))
            number_columns(c, info.used)
            if info.full:
                c.flag(
                    "no_room",
                    "known",
                    lib.HWTPY_MEMORY_OTHER,
                    "all rows that there was no room for",
                )
            return c.table(f"samples by {TABLES[no]}", notes_of(info, no))

    def sharing(
        self, sort: str | None = None, limit: int | None = None
    ) -> Table:
        """List cache lines that several use and at least one writes.

        Those come first of which most went from cache to cache.  It needs
        ``accesses=True``.

        Parameters
        ----------
        sort : str, optional
            As of :meth:`table`.  Default: ``sharing``.
        limit : int, optional
            Only the first rows.

        Returns
        -------
        Table
            As of ``table("line")``; `sharing` is ``false`` where what one
            writes no other touches, ``true`` where others do, or ``mixed``.

        Raises
        ------
        ValueError
            Accesses were not kept.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     table = trace.memory(accesses=True).sharing()
        >>> "sharing" in table.columns
        True
        """
        self._need_accesses()
        table = self.table("line", sort=sort or "sharing")
        shared = table.filter(
            how != "none" for how in table.column("sharing").to_list()
        )
        return shared if limit is None else shared.head(limit)

    # Single rows.

    def _find_row(
        self,
        no: int,
        sort: str | None,
        row: int | str | None,
        address: int | None,
    ) -> range:
        """Numbers of the rows that are meant; the lock is held."""
        n = self._sort(no, sort)
        if address is not None:
            rows, n = self._rows(no, n)
            for i in range(n):
                r = rows[i].row
                if r.address == address and (
                    r.flags & lib.HWTD_MEMORY_ROW_ADDRESS
                ):
                    return range(i, i + 1)
            raise LookupError(f"no row has the address {address:#x}")
        if row is None:
            return range(n)
        if not isinstance(row, str):
            if not 0 <= row < n:
                raise IndexError(f"row {row} is not one of {n}")
            return range(row, row + 1)
        rows, n = self._rows(no, n)
        name = "source_name" if TABLES[no] == "source" else "symbol"
        names = [_native.text(getattr(rows[i].row, name)) for i in range(n)]
        found = [i for i, text in enumerate(names) if text == row]
        if not found:
            raise LookupError(
                f"no row is of {quoted(row)}"
                + _measure.near_names(row, names)
            )
        if len(found) > 1:
            raise LookupError(
                f"{len(found)} rows are of {quoted(row)}: say one of "
                "the numbers " + ", ".join(map(str, found[:10]))
            )
        return range(found[0], found[0] + 1)

    def histogram(
        self,
        row: int | str | None = None,
        *,
        table: str = "symbol",
        kind: str = "total",
        sort: str | None = None,
        address: int | None = None,
    ) -> Table:
        """Show how latencies of a row are distributed.

        Parameters
        ----------
        row : int or str, optional
            Number of the row in ``table(table, sort)``, or the name of its
            symbol or data source.  Default: all rows in one.
        table : str, optional
            As of :meth:`table`.
        kind : {'total', 'issue', 'translation', 'execution'}
            Which latency.
        sort : str, optional
            As of :meth:`table`.
        address : int, optional
            Address of the row, in place of `row`.

        Returns
        -------
        Table
            Buckets with latencies, lowest first: `n` of them are in
            [`first`, `end`), in cycles.  Those at the limit of their counter
            are in none; :attr:`Table.notes` says how many these are.

        Raises
        ------
        LookupError
            There is no such row, or there are several.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     table = trace.memory().histogram()
        >>> table.columns
        ('first', 'end', 'n')
        """
        no = self._table_no(table)
        which = _measure.choose("kind", kind, LATENCIES)
        with self._handle.lock:
            numbers = self._find_row(no, sort, row, address)
            buckets, saturated = read_buckets(self._handle, no, numbers, which)
        c = Columns(len(buckets))
        for i, (name, unit, meaning) in enumerate(
            (
                ("first", "cycles", "least latency"),
                ("end", "cycles", "above the greatest"),
                ("n", "", "how many latencies"),
            )
        ):
            c.listed(
                name,
                "u64" if name == "n" else "u32",
                [b[i] for b in buckets],
                unit=unit,
                meaning=meaning,
            )
        notes = (
            [f"{saturated} more were at the limit of their counter, or above"]
            if saturated
            else []
        )
        return c.table(f"{LATENCIES[which]} latencies", notes)

    def svg(
        self,
        row: int | str | None = None,
        *,
        table: str = "symbol",
        kind: str = "total",
        sort: str | None = None,
        address: int | None = None,
    ) -> str:
        """Draw how latencies of a row are distributed.

        Parameters
        ----------
        row, table, kind, sort, address : optional
            As of :meth:`histogram`.

        Returns
        -------
        str
            An ``<svg>`` element, with a logarithmic axis of cycles.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     text = trace.memory().svg()
        >>> text.startswith("<svg ")
        True
        """
        from hwt._distribution import Bucket, distribution_svg, percentiles

        no = self._table_no(table)
        which = _measure.choose("kind", kind, LATENCIES)
        with self._handle.lock:
            numbers = self._find_row(no, sort, row, address)
            found, saturated = read_buckets(self._handle, no, numbers, which)
            title = "all samples"
            if row is not None or address is not None:
                title = row_name(self._handle, no, numbers[0])
        buckets = [Bucket(first, end - 1, n) for first, end, n in found]
        notes = [plural(sum(b.n for b in buckets), "latency", "latencies")]
        if saturated:
            notes.append(f"{saturated} more at the limit of their counter")
        return distribution_svg(
            buckets,
            title=f"{LATENCIES[which]} latency of {title}",
            unit="cycles",
            marks=percentiles(buckets, saturated),
            notes=notes,
        )

    def accesses(
        self,
        row: int | None = None,
        *,
        address: int | None = None,
        sort: str | None = None,
    ) -> Table:
        """List who touched which byte of cache lines; see ``accesses=True``.

        Parameters
        ----------
        row : int, optional
            Number of the line in ``table("line", sort)``.  Default: all.
        address : int, optional
            Address of the line, in place of `row`.
        sort : str, optional
            As of :meth:`table`.

        Returns
        -------
        Table
            `line` and its `sharing`; `offset` (byte of the line), `cpu`,
            `pid`, `tid`, `pc`, `source`, `source_name`, `image`, `symbol`,
            `symbol_offset`, `image_offset`; `loads`, `stores`, `transfers`
            and `latency`, the sum of total latencies in cycles.

        Raises
        ------
        ValueError
            Accesses were not kept.
        LookupError
            There is no such line.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     table = trace.memory(accesses=True).accesses(0)
        >>> len(set(table.to_dict()["line"]))
        1
        """
        self._need_accesses()
        no = self._table_no("line")
        with self._handle.lock:
            numbers = self._find_row(no, sort, row, address)
            rows, n = read_accesses(self._handle, no, numbers)
            info = self._info()
            c = accesses_columns(rows, n)
            return c.table("accesses to cache lines", notes_of(info, no))

    def close(self) -> None:
        """Give up the tables; may be called twice."""
        # What is read of it meanwhile borrows texts.
        with self._handle.lock:
            self._handle.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<hwt.Memory: closed>"
        info = self.info
        tables = ", ".join(f"{name}: {n}" for name, n in info.rows.items())
        return (
            f"<hwt.Memory: {plural(info.samples, 'sample')}, {info.used} "
            f"used; rows of {tables}>"
        )

    def _repr_html_(self) -> str:
        if self._handle.closed:
            from hwt._repr import closed_html

            return closed_html("hwt.Memory")
        first = next(iter(self.info.rows))
        html: str = self.table(first, limit=20)._repr_html_()
        return html


def mem(
    traces: Trace | Iterable[Trace],
    table: str = "symbol",
    sort: str | None = None,
    limit: int | None = None,
    **kw: Any,
) -> Table:
    """Make one table of samples, and nothing else; see :meth:`Memory.table`.

    Parameters
    ----------
    traces : Trace or iterable of Trace
        Where the samples are.
    table, sort, limit : optional
        As of :meth:`Memory.table`; ``sharing`` as well.
    **kw
        As of :meth:`Memory.of`.

    Returns
    -------
    Table
        Of that name.

    Raises
    ------
    ValueError
        There is no such table.

    Examples
    --------
    >>> from hwt.memory import mem
    >>> with hwt.open(spe) as trace:
    ...     table = mem(trace, "source", sort="samples")
    >>> table.columns[:3]
    ('of', 'source', 'source_name')
    """
    with Memory.of(traces, tables=table, **kw) as memory:
        return memory.table(table, sort, limit)
