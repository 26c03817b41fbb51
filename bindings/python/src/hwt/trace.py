"""Traces: raw bytes, records, images, and what can be made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

from hwt import config, facts, gaps, images
from hwt._native import (
    Handle,
    check,
    check_found,
    error,
    ffi,
    in_file,
    lib,
    new,
    path_bytes,
)
from hwt.facts import (
    Damage,
    ExecContext,
    Items,
    Process,
    Record,
    Stream,
    Thread,
    TraceInfo,
)
from hwt.gaps import Gap
from hwt.images import ImageInfo, MappedRange, Section, Symbol

if TYPE_CHECKING:
    from hwt._table import Table
    from hwt.coverage import Coverage
    from hwt.diff import Diff
    from hwt.divergence import Divergences
    from hwt.events import Events
    from hwt.exports import ExportInfo
    from hwt.flame import Flame
    from hwt.histogram import Histogram
    from hwt.memory import Memory
    from hwt.profile import Profile

__all__ = ["Trace"]

PathLike = Union[str, "os.PathLike[str]"]
Numbers = Union[None, int, Iterable[int]]
At = Union[None, str, int, tuple[int, int]]
Progress = Union[None, bool, Callable[[int, int], object]]

# What one call of C reads at the most.
_READ = 64 << 20


class Trace:
    """A trace: streams of raw bytes, with records and images beside them.

    It is made by `hwt.open` or by `hwt.Builder`, never changes, and may be
    used by several threads.  Nothing is decoded before a method is asked for
    what needs it.  Damage is no error: what could not be decoded is a gap, see
    `gaps`.

    Attributes
    ----------
    info : TraceInfo
        Counts, origin, files.
    streams : sequence of Stream
        Raw bytes, and how they were recorded.
    cpus : tuple of int
        CPUs that streams and records speak of, in their order.
    threads : sequence of Thread
        Threads that streams and records speak of, by process and id.
    processes : sequence of Process
        Processes that records speak of, by pid.
    images : sequence of ImageInfo
        Files and memory that hold code, and whether they are there.
    sections : sequence of Section
        What ``section`` in rows stands for.
    damage : sequence of Damage
        Damaged parts of the file.
    clock : str or None
        What ``time_ns`` counts; None: that is not known.

    Examples
    --------
    >>> with hwt.open(pt) as trace:
    ...     trace.info.n_bytes, [t.name for t in trace.threads]
    (22746, ['orders'])
    """

    def __init__(self, handle: Handle, path: Optional[str] = None) -> None:
        if not isinstance(handle, Handle):
            raise TypeError("hwt.open() and hwt.Builder make traces")
        self._handle = handle
        self._path = path
        self._facts: dict[str, Any] = {}
        self._symbolizers: dict[Any, images.Symbolizer] = {}

    # Its life.

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._handle.closed

    def close(self) -> None:
        """Give the trace up; again does nothing.

        Plans and tables that were made of it keep what they have, but what
        would have to read it raises `hwt.ClosedError`.
        """
        with self._handle.lock:
            for symbolizer in self._symbolizers.values():
                symbolizer.close()
            self._symbolizers.clear()
            self._handle.close()

    def __enter__(self) -> Trace:
        """Return the trace; it is closed at the end of ``with``."""
        self._handle.c  # noqa: B018
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """One line; decodes nothing."""
        name = "" if self._path is None else f" {self._path!r}"
        if self.closed:
            return f"<hwt.Trace{name}: closed>"
        info = self.info
        techs = sorted({stream.tech for stream in self.streams})
        some = "stream" if info.n_streams == 1 else "streams"
        return (
            f"<hwt.Trace{name}: {info.n_streams} {some}"
            f"{' of ' if techs else ''}{', '.join(techs)}, "
            f"{info.n_bytes:,} bytes, {info.n_records:,} records>"
        )

    def _repr_html_(self) -> str:
        from hwt import _repr

        return str(_repr.trace_html(self))

    # Facts.  Read once, since a trace does not change.

    def _fact(self, name: str, read: Callable[[Any], Any]) -> Any:
        with self._handle.lock:
            c = self._handle.c
            if name not in self._facts:
                self._facts[name] = read(c)
            return self._facts[name]

    @property
    def info(self) -> TraceInfo:
        """Counts, origin, files."""
        found: TraceInfo = self._fact("info", facts.trace_info)
        return found

    @property
    def streams(self) -> Items[Stream]:
        """Raw bytes, and how they were recorded."""
        found: Items[Stream] = self._fact(
            "streams", lambda c: Items(facts.streams(c))
        )
        return found

    def _owners(self) -> facts.Owners:
        def read(_: Any) -> facts.Owners:
            owners = facts.Owners(self.streams)
            owners.scan(self._handle)
            return owners

        found: facts.Owners = self._fact("owners", read)
        return found

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPUs that streams and records speak of, in their order."""
        return tuple(sorted(self._owners().cpus))

    @property
    def threads(self) -> Items[Thread]:
        """Threads that streams and records speak of, by process and id."""
        return Items(self._owners().threads())

    @property
    def processes(self) -> Items[Process]:
        """Processes that records speak of, by pid."""
        found: Items[Process] = self._fact(
            "processes", lambda c: Items(facts.processes(c))
        )
        return found

    @property
    def images(self) -> Items[ImageInfo]:
        """Files and memory that hold code, and whether they are there."""
        found: Items[ImageInfo] = self._fact(
            "images", lambda c: Items(images.image_infos(c))
        )
        return found

    @property
    def sections(self) -> Items[Section]:
        """What ``section`` in rows stands for."""
        found: Items[Section] = self._fact(
            "sections", lambda c: Items(images.sections(c))
        )
        return found

    @property
    def damage(self) -> Items[Damage]:
        """Damaged parts of the file."""
        found: Items[Damage] = self._fact(
            "damage", lambda c: Items(facts.damages(c))
        )
        return found

    @property
    def clock(self) -> Optional[str]:
        """What ``time_ns`` counts; None: that is not known."""
        return self.info.clock or None

    def record(self, number: int) -> Record:
        """Look up a record by its number.

        Parameters
        ----------
        number : int
            From 0, in the order in which they were added; what ``value`` in
            rows of kind ``"record"`` says.

        Returns
        -------
        Record
            With None where nothing is known.

        Raises
        ------
        hwt.NotFoundError
            There is no such record.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.record(1).name
        'orders'
        """
        c = new("struct hwtd_record")
        number = config.number("number", number, 64)
        with self._handle.lock:
            trace = self._handle.c
            code = lib.hwtd_trace_record(trace, number, c)
            check_found(code, f"record {number}")
            return Record._of_c(c)

    def exec_context(self, number: int) -> ExecContext:
        """Look up who executed.

        Contexts get their ids while rows are decoded.

        Parameters
        ----------
        number : int
            What ``context`` in rows says.

        Returns
        -------
        ExecContext
            Process, thread, CPU, exception level and so on.

        Raises
        ------
        hwt.NotFoundError
            There is no such context.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     (row,) = trace.events(kinds="block").head(1).rows()
        ...     trace.exec_context(row.context).tid
        1001
        """
        number = config.number("number", number, 32)
        with self._handle.lock:
            return facts.exec_context(self._handle.c, number)

    # Bytes.

    def read_bytes(
        self, stream: int, off: int = 0, n: Optional[int] = None
    ) -> bytes:
        """Copy raw bytes of a stream.

        Parameters
        ----------
        stream : int
            Id of the stream.
        off : int
            First byte.
        n : int, optional
            Bytes wanted; None: all up to the end of the stream.

        Returns
        -------
        bytes
            Fewer than `n` at the end of the stream.

        Raises
        ------
        hwt.NotFoundError
            There is no such stream.
        hwt.CorruptTraceError
            The bytes lie in a damaged part of the file.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.read_bytes(0, 0, 4).hex()
        '02820282'
        """
        stream = config.number("stream", stream, 32)
        off = config.number("off", off, 64)
        left = None if n is None else config.number("n", n, 64)
        c = new("struct hwtd_stream_desc")
        with self._handle.lock:
            code = lib.hwtd_trace_stream(self._handle.c, stream, c)
            check_found(code, f"stream {stream}")
        there = max(c.n_bytes - off, 0)
        left = there if left is None else min(left, there)
        found = []
        got, err = ffi.new("size_t *"), error()
        while left > 0:
            some = bytearray(min(left, _READ))
            with self._handle.lock:
                check(
                    lib.hwtd_trace_read_bytes(
                        self._handle.c,
                        stream,
                        off,
                        ffi.from_buffer(some),
                        len(some),
                        got,
                        err,
                    ),
                    err,
                    file=self._path,
                )
            if got[0] == 0:
                break
            found.append(bytes(memoryview(some)[: got[0]]))
            off += got[0]
            left -= got[0]
        return found[0] if len(found) == 1 else b"".join(found)

    def read_code(self, section: int, address: int, n: int) -> bytes:
        """Copy bytes of code.

        Parameters
        ----------
        section : int
            What ``section`` in rows says.
        address : int
            Virtual address of the first byte.
        n : int
            Bytes wanted.

        Returns
        -------
        bytes
            Fewer than `n` at the end of the section.

        Raises
        ------
        hwt.NotFoundError
            There is no such section, or it has no such address.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.read_code(0, 0x400144, 2).hex()
        '31ed'
        """
        section = config.number("section", section, 32)
        address = config.number("address", address, 64)
        n = config.number("n", n, 64)
        c, got = new("struct hwtd_section"), ffi.new("size_t *")
        with self._handle.lock:
            code = lib.hwtd_trace_section(self._handle.c, section, c)
            check_found(code, f"section {section}")
            some = bytearray(min(n, c.length))
            code = lib.hwtd_trace_read_code(
                self._handle.c,
                section,
                address,
                ffi.from_buffer(some),
                len(some),
                got,
            )
            check_found(code, f"address {address:#x} in section {section}")
        return bytes(memoryview(some)[: got[0]])

    # Address spaces.

    def maps(
        self,
        pid: Numbers = None,
        at: At = None,
        *,
        vmid: Optional[int] = None,
    ) -> Items[MappedRange]:
        """List what was mapped where.

        Parameters
        ----------
        pid : int or iterable of int, optional
            Processes; None: all, and first what holds for all of them.
        at : optional
            The moment: ``"start"``, ``"end"`` (the same as None), a time in
            ns, or ``(stream, offset)``.

        vmid : int, optional
            The virtual machine that the processes run in; None: the host, or
            without `pid` the host and all machines.

        Returns
        -------
        sequence of MappedRange
            By process and address.  Stock hwt(4) records have neither times
            nor exact places, so that several can be possible: the newest is
            told.

        Raises
        ------
        hwt.NotFoundError
            There is no such stream as `at` says.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     [hex(m.address) for m in trace.maps(pid=1001)]
        ['0x400000']
        """
        spaces: list[tuple[Optional[int], Optional[int]]]
        if isinstance(pid, Iterable):
            spaces = [(one, vmid) for one in pid]
        elif pid is not None:
            spaces = [(pid, vmid)]
        else:
            machines = self._fact(
                "machines", lambda c: tuple(images.machines(c))
            )
            spaces = [(None, None), *((None, one) for one in machines)]
            spaces += [(p.pid, p.vmid) for p in self.processes]
            if vmid is not None:
                spaces = [space for space in spaces if space[1] == vmid]
        found: list[MappedRange] = []
        for one, machine in spaces:
            found += images.mapped_ranges(self, one, machine, at)
        return Items(found)

    def lookup(
        self,
        address: int,
        pid: Optional[int] = None,
        at: At = None,
    ) -> Optional[MappedRange]:
        """Look up what lies at an address of a process at a moment.

        Parameters
        ----------
        address : int
            Virtual address.
        pid : int, optional
            Process; None: the only one that records speak of, or else the
            kernel and what holds for all.
        at : optional
            See `maps`.

        Returns
        -------
        MappedRange or None
            None: nothing is mapped there.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.lookup(0x400200).path, trace.lookup(0)
        ('orders', None)
        """
        return images.lookup(self, address, pid, at)

    @overload
    def symbolize(
        self,
        addresses: int,
        *,
        section: Numbers = None,
        image: Numbers = None,
        context: Numbers = None,
        pid: Numbers = None,
        time: Numbers = None,
        lines: bool = True,
        raw_names: bool = False,
        search: Optional[config.Search] = None,
    ) -> Symbol: ...

    @overload
    def symbolize(
        self,
        addresses: Iterable[int],
        *,
        section: Numbers = None,
        image: Numbers = None,
        context: Numbers = None,
        pid: Numbers = None,
        time: Numbers = None,
        lines: bool = True,
        raw_names: bool = False,
        search: Optional[config.Search] = None,
    ) -> list[Symbol]: ...

    def symbolize(
        self,
        addresses: Union[int, Iterable[int]],
        *,
        section: Numbers = None,
        image: Numbers = None,
        context: Numbers = None,
        pid: Numbers = None,
        time: Numbers = None,
        lines: bool = True,
        raw_names: bool = False,
        search: Optional[config.Search] = None,
    ) -> Union[Symbol, list[Symbol]]:
        """Name code: function, file and line, and what was inlined there.

        Parameters
        ----------
        addresses : int or sequence of int
            Virtual addresses, for instance a column ``ip``: NumPy arrays of
            64-bit numbers are not copied.  Each has to be known.
        section, image, context, pid, time : int or sequence of int, optional
            Where the addresses are: ids as rows have them, for all or for
            each. With `image` addresses are offsets in its file.  Without a
            section or an image, or where a masked array has none, it is what
            was mapped there, in that process, at that time.
        lines : bool
            Files, lines and inlined functions, which take time.
        raw_names : bool
            Whether `Symbol.text` is the name as the file has it.
        search : Search, optional
            Where files with symbols are looked for; None: where the trace
            looked.

        Returns
        -------
        Symbol or list of Symbol
            In the order of the addresses; one for one address.  What is not
            known is None there, also because a file is missing or damaged.

        Raises
        ------
        hwt.NotFoundError
            There is no such section, image or context.
        ValueError
            A number is out of range, masked, or arrays differ in length.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     print(trace.symbolize(0x400144))
        ...     for frame in trace.symbolize(0x40051f).frames:
        ...         print(frame.function, frame.file, frame.line)
        _start
        hash /src/orders/table.h 27
        slot /src/orders/table.c 31
        """
        if search is not None:
            config.wanted("search", search, config.Search)
        key = (bool(lines), bool(raw_names), search)
        with self._handle.lock:
            self._handle.c  # noqa: B018
            if key not in self._symbolizers:
                self._symbolizers[key] = images.Symbolizer(self, *key)
            symbolizer = self._symbolizers[key]
        given = {
            lib.HWTD_WHERE_SECTION: ("section", section),
            lib.HWTD_WHERE_IMAGE: ("image", image),
            lib.HWTD_WHERE_CONTEXT: ("context", context),
            lib.HWTD_WHERE_PID: ("pid", pid),
            lib.HWTD_WHERE_TIME: ("time", time),
        }
        given = {
            flag: item for flag, item in given.items() if item[1] is not None
        }
        if images.is_number(addresses) or not isinstance(addresses, Iterable):
            one = config.number("addresses", addresses, 64)
            return symbolizer.ask((one,), given)[0]
        return symbolizer.ask(addresses, given)

    # Loss.

    def gaps(self, *, progress: Progress = None, **filters: Any) -> Items[Gap]:
        """Decode the trace and list what could not be decoded, and why.

        Parameters
        ----------
        progress : optional
            None, True for a text at a terminal, or a callable of bytes that
            are done and all bytes.
        **filters
            See `events`; ``kinds`` cannot be given.

        Returns
        -------
        sequence of Gap
            Each with `Gap.reason`, `Gap.meaning` and `Gap.advice`.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     len(trace.gaps())
        0
        """
        if "kinds" in filters:
            raise TypeError("kinds: all gaps are of kind 'gap'")
        with in_file(self._path):
            return Items(gaps.read_gaps(self, filters, progress))

    def save(
        self,
        path: PathLike,
        *,
        images: bool = True,
        any_file: bool = False,
        level: int = 3,
        compress: bool = True,
        chunk_bytes: int = 0,
    ) -> None:
        """Write the trace to a ``.hwt`` file.

        The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; replaced if it is there.
        images : bool
            Whether the code of all images is written, too, so that the trace
            decodes on any machine.
        any_file : bool
            Whether bytes of files that are no programs may be written: who
            made a trace chose their names, and who gets the file gets the
            bytes.
        level : int
            Of zstd, 1 to 19.
        compress : bool
            False: store without compression.
        chunk_bytes : int
            Raw bytes in one chunk, up to 16 MiB; 0: 1 MiB.

        Raises
        ------
        hwt.TraceIOError
            The file cannot be written; ``errno`` says why.
        hwt.StateError
            It needs `any_file`.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with hwt.open(pt) as trace:
        ...         trace.save(os.path.join(folder, "copy.hwt"), level=19)
        """
        options = new("struct hwtd_save_options")
        if compress:
            options.level = config.number("level", level, 31)
        else:
            options.level = -1
        if images:
            options.flags |= lib.HWTD_SAVE_IMAGES
        if any_file:
            options.flags |= lib.HWTD_SAVE_ANY_FILE
        options.chunk_bytes = config.number("chunk_bytes", chunk_bytes, 32)
        err, name = error(), path_bytes(path)
        with self._handle.lock:
            check(
                lib.hwtd_trace_save(self._handle.c, name, options, err),
                err,
                file=os.fsdecode(path),
            )

    # Rows.

    def events(self, **filters: Any) -> Events:
        """Plan the rows of a decode: blocks of code, interrupts, gaps.

        Nothing is decoded before the plan is asked for rows, and each pass
        decodes afresh.

        Parameters
        ----------
        **filters
            ``cpu``, ``tid``, ``pid``, ``stream``: an id or several.  ``time``:
            ``(begin, end)`` in ns, half-open, or several.  ``address``: the
            same of addresses.  ``kinds``: names of kinds, ``columns``: names
            of columns.  ``jobs``: threads that decode, by default all CPUs.
            ``engine``: which decoder.  ``strict``: the first gap raises.

        Returns
        -------
        Events
            In the order of time, stream, offset.

        Raises
        ------
        ValueError
            A filter, name or range that cannot be.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     plan = trace.events(kinds="block")
        """
        from hwt.events import plan

        return plan(self, "events", filters)

    def insns(self, **filters: Any) -> Events:
        """Plan rows of single instructions instead of blocks.

        Parameters
        ----------
        **filters
            See `events`.

        Returns
        -------
        Events
            A row for each instruction, and the other rows of `events`.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.insns(kinds="insn").count()
        278757
        """
        from hwt.events import plan

        return plan(self, "insns", filters)

    def packets(self, **filters: Any) -> Events:
        """Plan rows of raw packets.

        Parameters
        ----------
        **filters
            See `events`.

        Returns
        -------
        Events
            A row for each packet: its place, its bytes and its fields.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     [row.kind for row in trace.packets().head(3).rows()]
        ['psb', 'tsc', 'tma']
        """
        from hwt.events import plan

        return plan(self, "packets", filters)

    def samples(self, **filters: Any) -> Events:
        """Plan rows of samples of Arm SPE.

        Parameters
        ----------
        **filters
            See `events`.

        Returns
        -------
        Events
            A row for each sample, with latencies in cycles.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     trace.samples(cpu=0).count()
        1500
        """
        from hwt.events import plan

        return plan(self, "samples", filters)

    def records(self, **filters: Any) -> Events:
        """Plan rows of records: what programs, threads and mappings did.

        Parameters
        ----------
        **filters
            See `events`.

        Returns
        -------
        Events
            A row for each record, in the order in which they were added.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     [row.kind for row in trace.records()]
        ['exec', 'thread-name', 'mmap']
        """
        from hwt.events import plan

        return plan(self, "records", filters)

    def calls(self, **filters: Any) -> Events:
        """Plan rows of calls of functions, with their times.

        Parameters
        ----------
        **filters
            See `events`.

        Returns
        -------
        Events
            A row for each call that ended, or was open at the end.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     plan = trace.calls(columns=["function", "ns"])
        ...     for row in plan.head(2).rows():
        ...         print(row.function, row.ns)
        number 24
        table_init 3
        """
        from hwt.events import plan

        return plan(self, "calls", filters)

    # Sums.

    def profile(
        self,
        *,
        by_thread: bool = False,
        lines: bool = True,
        jobs: Optional[int] = None,
        progress: Progress = None,
        **filters: Any,
    ) -> Profile:
        """Add up what was executed: how often, and how long calls took.

        Parameters
        ----------
        by_thread : bool
            The tree of stacks has a root for each thread.
        lines : bool
            Files, lines and inlined functions, too.
        jobs : int, optional
            Threads that decode; None: as many as there are CPUs.
        progress : optional
            None, True for a text at a terminal, or a callable of bytes that
            are done and all bytes.
        **filters
            See `events`.

        Returns
        -------
        Profile
            All reports of one decode.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     profile = trace.profile()
        >>> profile.report("line").column("file").to_list()[0]
        '/src/orders/table.c'
        """
        from hwt.profile import Profile

        return Profile.of(
            self,
            by_thread=by_thread,
            lines=lines,
            jobs=jobs,
            progress=progress,
            **filters,
        )

    def report(self, by: str = "function", **kw: Any) -> Table:
        """Report what executed most.

        Parameters
        ----------
        by : str
            What rows are of: ``"function"``, ``"line"`` and so on; see
            `hwt.profile.Profile.report`.
        **kw
            See `profile`.

        Returns
        -------
        hwt.Table
            The largest first; its notes say what is not seen.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     [row.function for row in trace.report().head(2).rows()]
        ['slot', 'sort']
        """
        return self.profile(**kw).report(by)

    def flame(self, **kw: Any) -> Flame:
        """Make a flame graph of calls.

        Parameters
        ----------
        **kw
            See `hwt.flame.Flame.of`.

        Returns
        -------
        hwt.flame.Flame
            It shows itself in notebooks, and writes SVG and folded stacks.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.flame()
        <hwt.Flame: 124064 ns in 47 frames; nothing lost>
        """
        from hwt.flame import Flame

        return Flame.of(self, **kw)

    def export(
        self, file: Any, format: Optional[str] = None, **kw: Any
    ) -> ExportInfo:
        """Write the trace in a format of another tool.

        Parameters
        ----------
        file : path or file object
            Where to.
        format : str, optional
            Its name, for instance ``"perfetto"``; None: by the name of the
            file. See `hwt.exports`.
        **kw
            Options of that format, and filters as of `events`.

        Returns
        -------
        hwt.exports.ExportInfo
            What was written, and what was not seen.

        Examples
        --------
        >>> import io
        >>> file = io.BytesIO()
        >>> with hwt.open(pt) as trace:
        ...     trace.export(file, "perfetto").rows
        10302
        """
        from hwt.exports import export_trace

        return export_trace(self, file, format, **kw)

    def coverage(self, **kw: Any) -> Coverage:
        """Find which lines, functions and branches ran.

        Parameters
        ----------
        **kw
            See `hwt.coverage.Coverage.of`.

        Returns
        -------
        hwt.coverage.Coverage
            Tables, annotated sources, files for other tools.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.coverage().info.functions.hit
        20
        """
        from hwt.coverage import Coverage

        return Coverage.of(self, **kw)

    def memory(self, **kw: Any) -> Memory:
        """Add up samples of Arm SPE: latencies, misses, shared lines.

        Parameters
        ----------
        **kw
            See `hwt.memory.Memory.of`.

        Returns
        -------
        hwt.memory.Memory
            All tables of one decode.

        Examples
        --------
        >>> with hwt.open(spe) as trace, trace.memory() as memory:
        ...     memory.info.samples
        3000
        """
        from hwt.memory import Memory

        return Memory.of(self, **kw)

    def mem(self, table: str = "symbol", **kw: Any) -> Table:
        """Report samples of Arm SPE as one table.

        Parameters
        ----------
        table : str
            What rows are of: ``"symbol"``, ``"source"``, ``"sharing"`` and so
            on; see `hwt.memory.Memory.table`.
        **kw
            ``sort``, ``limit``, and see `memory`.

        Returns
        -------
        hwt.Table
            Latencies are in cycles; its notes say what is not seen.

        Examples
        --------
        >>> with hwt.open(spe) as trace:
        ...     trace.mem().column("symbol").to_list()[0]
        'find_node'
        """
        from hwt.memory import mem

        return mem(self, table, **kw)

    def hist(self, function: Optional[str] = None, **kw: Any) -> Histogram:
        """Find how times of calls, or other values, are distributed.

        Parameters
        ----------
        function : str, optional
            Only calls of this function; None: each function for itself.
        **kw
            See `hwt.histogram.Histogram.of`.

        Returns
        -------
        hwt.histogram.Histogram
            It shows itself in notebooks.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.hist("grow")
        <hwt.Histogram: 1 function; time: 6 calls, 6 in full, 6 interpolated>
        """
        from hwt.histogram import Histogram

        return Histogram.of(self, function, **kw)

    def diff(self, other: Trace, by: str = "insns", **kw: Any) -> Diff:
        """Compare with another trace: which functions changed most.

        Parameters
        ----------
        other : Trace
            The later one.
        by : str
            What is compared, for instance ``"insns"``.
        **kw
            See `hwt.diff.Diff.of`.

        Returns
        -------
        hwt.diff.Diff
            Changes, the largest first.

        Examples
        --------
        >>> before = hwt.open(hwt.example("pt_before"))
        >>> with before, hwt.open(pt) as now:
        ...     before.diff(now).functions().column("function").to_list()[0]
        'slot'
        """
        from hwt.diff import Diff

        return Diff.of(self, other, by, **kw)

    def divergences(self, other: Trace, **kw: Any) -> Divergences:
        """Find where threads of two traces first went different ways.

        Parameters
        ----------
        other : Trace
            The later one.
        **kw
            See `hwt.diff.divergences`.

        Returns
        -------
        hwt.divergence.Divergences
            Pairs of threads, and what both did then.

        Examples
        --------
        >>> before = hwt.open(hwt.example("pt_before"))
        >>> with before, hwt.open(pt) as now:
        ...     len(before.divergences(now).threads())
        1
        """
        from hwt.diff import divergences

        return divergences(self, other, **kw)
