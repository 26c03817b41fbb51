"""Coverage: which functions, lines, branches and edges ran, and which did not.

A :class:`Coverage` is a sum that needs its traces no more: several traces, or
parts of one, are added up, and the sums of others merged.

What there is to be seen comes from the debug information of the images that
ran.  Code that ran only in a gap counts as code that never ran: what was lost
stands in :attr:`Coverage.notes`.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from hwt import _coverage_tables as tables
from hwt import _measure, _native
from hwt._coverage_tables import CoverageInfo, Share
from hwt._export_files import Target, ToWriter, Writer, target_of
from hwt._filters import settled
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns, Loss
from hwt._table import Table
from hwt._words import plural, quoted
from hwt.exports import format_options, write_export

if TYPE_CHECKING:
    from hwt.config import Search
    from hwt.trace import Trace

__all__ = ["Coverage", "CoverageInfo", "Share"]


class Coverage:
    """What of the code of programs ran, added up over traces.

    :meth:`hwt.Trace.coverage` makes one of a trace, :meth:`Coverage.of` one of
    several.

    Parameters
    ----------
    images : iterable of str, optional
        Only images of which one of these is the path, its end behind a
        ``/``, or the build-id in hex digits.
    sources : iterable of str, optional
        Only source files whose path begins with one of these; what has no
        source file is left out then.
    excludes : iterable of str, optional
        No source files whose path matches one of these; ``*`` is any text.
    path_map : mapping or iterable of (str, str), optional
        The first whose key a path of a source file begins with replaces that.
        Done before `sources` and `excludes`.
    search : Search, optional
        Where files with debug information are looked for, as of
        :class:`hwt.config.Search`.  Default: where the trace looked.
    lines : bool, default True
        Without, functions are those of symbols, and there are no lines: they
        are what takes time.
    debug_files : bool, default True
        Whether files of debug information are looked for beside those of
        code.
    raw_names : bool, default False
        Names of functions as the files have them.

    Examples
    --------
    >>> with hwt.open(pt) as trace:
    ...     cov = Coverage().add(trace)
    >>> cov.info.traces
    1
    >>> cov.info.lines.hit <= cov.info.lines.total
    True
    """

    def __init__(
        self,
        *,
        images: Iterable[str] = (),
        sources: Iterable[str] = (),
        excludes: Iterable[str] = (),
        path_map: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        search: Search | None = None,
        lines: bool = True,
        debug_files: bool = True,
        raw_names: bool = False,
    ) -> None:
        keep: list[Any] = []
        options = _native.new("struct hwtd_coverage_options")
        options.flags = (
            (0 if lines else lib.HWTD_COVERAGE_NO_LINES)
            | (0 if debug_files else lib.HWTD_COVERAGE_NO_DEBUG_FILES)
            | (lib.HWTD_COVERAGE_RAW_NAMES if raw_names else 0)
        )
        options.images, options.n_images = _measure.text_array(images, keep)
        options.sources, options.n_sources = _measure.text_array(sources, keep)
        options.excludes, options.n_excludes = _measure.text_array(
            excludes, keep
        )
        options.maps, options.n_maps = _path_maps(path_map, keep)
        options.search = ffi.NULL if search is None else search._to_c(keep)
        self._options = options
        self._keep = keep
        self._handle = self._create()
        self._sums = tables.Sums(self._handle)

    def _create(self) -> _native.Handle:
        err = _native.error()
        out = _native.slot("struct hwtd_coverage", "hwtd_coverage_close")
        context = _native.context()
        with context.lock:
            _native.check(
                lib.hwtd_coverage_create(context.c, self._options, out, err),
                err,
            )
        return _native.Handle.of(
            out, "hwtd_coverage_close", (context,), "coverage"
        )

    @classmethod
    def of(
        cls,
        traces: Trace | Iterable[Trace],
        *,
        jobs: int | None = None,
        progress: Any = None,
        images: Iterable[str] = (),
        sources: Iterable[str] = (),
        excludes: Iterable[str] = (),
        path_map: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        search: Search | None = None,
        lines: bool = True,
        debug_files: bool = True,
        raw_names: bool = False,
        **filters: Any,
    ) -> Coverage:
        """Add up what ran in one trace or in several.

        Parameters
        ----------
        traces : Trace or iterable of Trace
            They may be closed afterwards.
        jobs : int, optional
            Threads that decode.  Default: all CPUs.
        progress : bool or callable, optional
            True: text on stderr if that is a terminal; or a function of bytes
            done and bytes in all.
        images, sources, excludes, path_map, search, lines, debug_files, \
raw_names : optional
            As of :class:`Coverage`.
        **filters
            What of the traces counts: ``cpu``, ``tid``, ``pid``, ``stream``,
            ``time``, ``address``, ``engine``, ``strict``, as of
            :meth:`hwt.Trace.events`.

        Returns
        -------
        Coverage
            Of all of them.

        Raises
        ------
        CorruptTraceError
            ``strict`` was asked for, and a trace has a gap.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     cov = trace.coverage()
        >>> cov.info.functions.hit > 1
        True
        """
        made = cls(
            images=images,
            sources=sources,
            excludes=excludes,
            path_map=path_map,
            search=search,
            lines=lines,
            debug_files=debug_files,
            raw_names=raw_names,
        )
        found = _measure.traces_of(traces)
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        for trace in found:
            made._add(trace, meter, jobs, filters)
        return made

    def add(
        self,
        trace: Trace,
        *,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Coverage:
        """Add what ran in a trace; all of it, or nothing if that fails.

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
        Coverage
            This one.

        Examples
        --------
        >>> cov = Coverage()
        >>> with hwt.open(pt) as trace:
        ...     cov = cov.add(trace).add(trace)
        >>> cov.info.traces
        2
        """
        found = _measure.traces_of(trace)
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        for one in found:
            self._add(one, meter, jobs, filters)
        return self

    def _add(
        self,
        trace: Trace,
        meter: _measure.Meter,
        jobs: int | None,
        filters: Any,
    ) -> None:
        """Count into a sum of its own: who breaks off has changed nothing."""
        self._handle.c  # Closed ones are told before hours of work.
        err = _native.error()
        with _native.in_file(
            trace._path
        ), self._create() as part, _measure.open_runs(
            trace, jobs, filters
        ) as runs:

            def step() -> int:
                return _native.check(
                    lib.hwtd_coverage_add_runs(part.c, runs.c, err), err
                )

            _measure.run(step, meter, lambda: _measure.runs_bytes(runs))
            meter.part_done(_measure.bytes_of([trace]))
            self._merge(part)

    def merge(self, other: Coverage) -> Coverage:
        """Add all that another coverage has.

        Merged in any order and grouping, parts tell the same as the whole.

        Parameters
        ----------
        other : Coverage
            It is not changed.  Not this one.

        Returns
        -------
        Coverage
            This one.

        Raises
        ------
        InvalidError
            Both are the same.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     cov = trace.coverage(cpu=0).merge(trace.coverage())
        >>> cov.info.traces
        2
        """
        if not isinstance(other, Coverage):
            raise TypeError(f"{quoted(other)} is no Coverage")
        self._merge(other._handle)
        return self

    def _merge(self, other: _native.Handle) -> None:
        err = _native.error()
        with _measure.locked(self._handle, other):
            _native.check(
                lib.hwtd_coverage_merge(self._handle.c, other.c, err), err
            )

    @property
    def info(self) -> CoverageInfo:
        """The sums, and what was not seen."""
        with self._handle.lock:
            return tables.info_of(self._sums.c_info())

    @property
    def loss(self) -> Loss:
        """What of the traces gave nothing."""
        return self.info.loss

    @property
    def notes(self) -> list[str]:
        """What the numbers depend on, a line each: loss, images without code.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.coverage().loss.gap_bytes
        0
        """
        with self._handle.lock:
            return self._sums.notes()

    # Tables.

    def summary(self) -> Table:
        """Sum up: how many there are of each, and how many were reached.

        Returns
        -------
        Table
            A row for lines, functions, branches and edges, and for functions
            and branches without a source file, with columns `what`, `hit`,
            `total` and `percent` (null of none).

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().summary()
        >>> [row.what for row in table.rows()]
        ['lines', 'functions', 'branches', 'edges', 'bare functions', \
'bare branches']
        """
        with self._handle.lock:
            info, notes = (
                tables.info_of(self._sums.c_info()),
                self._sums.notes(),
            )
        shares = {
            "lines": info.lines,
            "functions": info.functions,
            "branches": info.branches,
            "edges": info.edges,
            "bare functions": info.bare_functions,
            "bare branches": info.bare_branches,
        }
        columns = Columns(len(shares))
        columns.listed("what", "text", list(shares), meaning="what is counted")
        columns.listed(
            "hit",
            "u64",
            [s.hit for s in shares.values()],
            meaning="how many were reached",
        )
        columns.listed(
            "total",
            "u64",
            [s.total for s in shares.values()],
            meaning="how many there are",
        )
        columns.listed(
            "percent",
            "f64",
            [s.percent for s in shares.values()],
            unit="%",
            meaning="reached of all",
        )
        return columns.table("coverage", notes)

    def functions(self, *, uncovered: bool = False) -> Table:
        """List functions: by file, line and name, those without a file last.

        Parameters
        ----------
        uncovered : bool, default False
            Only those that were not reached.

        Returns
        -------
        Table
            `function`, `linkage_name`, `file`, `line`, `image`, `file_off`
            (where it begins in the file of the image; null if it was inlined
            everywhere), `count` (how often it was entered), `hit`, `inlined`.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().functions()
        >>> "take_order" in table.to_dict()["function"]
        True
        """
        return tables.functions(self._sums, uncovered)

    def lines(self, *, uncovered: bool = False) -> Table:
        """List lines with code: by file and line.

        Parameters
        ----------
        uncovered : bool, default False
            Only those that were not reached.

        Returns
        -------
        Table
            `file`, `line` and `count`: how often it was executed.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().lines()
        >>> table.columns
        ('file', 'line', 'count')
        """
        return tables.lines(self._sums, uncovered)

    def branches(self, *, uncovered: bool = False) -> Table:
        """List conditional branches: by file, line, image and place.

        Parameters
        ----------
        uncovered : bool, default False
            Only those of which a way was not gone.

        Returns
        -------
        Table
            `file`, `line`, `image`, `file_off` (of the instruction in the
            file of the image), `reached`, `taken` and `not_taken`: how often
            it jumped, and went on behind itself.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().branches()
        >>> len(table) > 0
        True
        """
        return tables.branches(self._sums, uncovered)

    def edges(self, *, uncovered: bool = False) -> Table:
        """List ways from branches of all kinds to what was executed next.

        Parameters
        ----------
        uncovered : bool, default False
            Only those that the code has and that were not gone.

        Returns
        -------
        Table
            `from_image`, `from_off`, `to_image` (null: `to_off` is a virtual
            address), `to_off`, `branch` (its kind), `count`, and `known`: the
            code says that it can be, so that it is in the share.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().edges()
        >>> "call" in table.to_dict()["branch"]
        True
        """
        return tables.edges(self._sums, uncovered)

    def files(self, *, uncovered: bool = False) -> Table:
        """List source files with code: by path.

        Parameters
        ----------
        uncovered : bool, default False
            Only those with lines that were not reached.

        Returns
        -------
        Table
            `file`, and how many of its `lines`, `functions` and `branches`
            (ways, two of each) there are and, in `lines_hit` and so on, were
            reached.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().files()
        >>> len(table) >= 1
        True
        """
        return tables.files(self._sums, uncovered)

    def images(self) -> Table:
        """List images that ran, or whose code was missing: by name.

        Returns
        -------
        Table
            `image`, `build_id`, `missing` (its code was not there),
            `has_lines`, shares as of :meth:`files`, also of `edges`,
            `code_bytes`, `bare_bytes`, and `fault`: what of its files could
            not be read.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().images()
        >>> any(table.to_dict()["has_lines"])
        True
        """
        return tables.images(self._sums)

    def not_reached(self, by: str = "range") -> Table:
        """List what did not run.

        Parameters
        ----------
        by : {'range', 'line', 'function', 'branch', 'edge', 'file'}
            ``range``: stretches of lines of a file, of which none with code
            was reached.  Else rows of the table of that name.

        Returns
        -------
        Table
            Of ranges `file`, `first` and `last` line, and `lines`: how many
            of these have code.

        Raises
        ------
        ValueError
            There is no table of that name.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.coverage().not_reached()
        >>> table.columns
        ('file', 'first', 'last', 'lines')
        """
        names = ("range", "line", "function", "branch", "edge", "file")
        aliases = {f"{name}s": name for name in names}
        aliases["branches"] = "branch"
        found = names[_measure.choose("by", by, names, aliases)]
        if found != "range":
            method = {"branch": self.branches}.get(
                found, getattr(self, f"{found}s", None)
            )
            assert method is not None
            table: Table = method(uncovered=True)
            return table
        with self._handle.lock:
            rows, n = self._sums.rows("line")
            paths = self._sums.texts("file", "path")
            ranges = tables.ranges_of(rows, n)
            c = Columns(len(ranges))
            c.listed(
                "file",
                "text",
                [paths[r[0]] for r in ranges],
                meaning="source file",
            )
            for i, (name, meaning) in enumerate(
                (
                    ("first", "first line"),
                    ("last", "last line"),
                    ("lines", "lines with code"),
                ),
                1,
            ):
                c.listed(name, "u32", [r[i] for r in ranges], meaning=meaning)
            return c.table("lines that were not reached", self._sums.notes())

    def compare(self, other: Coverage, by: str = "line") -> Table:
        """List what ran in one of two coverages only.

        Parameters
        ----------
        other : Coverage
            That of another run, of the same build most likely.
        by : {'line', 'function', 'branch'}
            What is compared: lines by file and number, functions by name,
            file and image, branches by place in their image.

        Returns
        -------
        Table
            What it is, `only` (``a``: it ran in this one, ``b``: in the
            other), and counts of both; null where the other has no such code.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     cov = trace.coverage()
        >>> len(cov.compare(cov))
        0
        """
        if not isinstance(other, Coverage):
            raise TypeError(f"{quoted(other)} is no Coverage")
        names = ("line", "function", "branch")
        aliases = {f"{name}s": name for name in names}
        aliases["branches"] = "branch"
        found = names[_measure.choose("by", by, names, aliases)]
        keys = tables.KEYS[found]
        a, b = self._sums.counts(found), other._sums.counts(found)
        rows = [
            (key, a.get(key), b.get(key))
            for key in sorted(
                {*a, *b}, key=lambda key: [(x is None, x) for x in key]
            )
            if bool(a.get(key)) != bool(b.get(key))
        ]
        c = Columns(len(rows))
        for i, (name, kind, meaning) in enumerate(keys):
            c.listed(name, kind, [row[0][i] for row in rows], meaning=meaning)
        c.listed(
            "only",
            "text",
            ["a" if row[1] else "b" for row in rows],
            meaning="where it ran: here, or in the other one",
        )
        c.listed(
            "a_count", "u64", [row[1] for row in rows], meaning="count here"
        )
        c.listed(
            "b_count",
            "u64",
            [row[2] for row in rows],
            meaning="count in the other one",
        )
        notes = [f"a: {note}" for note in self.notes]
        notes += [f"b: {note}" for note in other.notes]
        plural_of = {"branch": "branches"}.get(found, f"{found}s")
        return c.table(f"{plural_of} that only one reached", notes)

    def lcov(self) -> str:
        r"""Write what has a source file as lcov(1) has it, for genhtml(1).

        Returns
        -------
        str
            Bytes that are no UTF-8 are ``\xNN``.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     text = trace.coverage().lcov()
        >>> text.count("end_of_record") >= 1
        True
        """
        file = io.BytesIO()
        self._write_lcov(ToWriter(file))
        return file.getvalue().decode("utf-8", "backslashreplace")

    def _write_lcov(self, target: Target) -> None:
        options, _ = format_options(lib.HWTD_FORMAT_LCOV)
        with self._handle.lock:
            handle = self._handle.c
            write_export(
                lambda *out: lib.hwtd_export_open_coverage(handle, *out),
                options,
                target,
            )

    def save(self, file: str | os.PathLike[str] | Writer) -> None:
        """Write a file of :meth:`lcov`.

        Parameters
        ----------
        file : path or binary file
            A file that is there is replaced when all is written; in a folder
            it is ``coverage.info``.

        Raises
        ------
        OSError
            It cannot be written; a file that was there is as it was.

        Examples
        --------
        >>> import io
        >>> with hwt.open(pt) as trace, io.BytesIO() as file:
        ...     trace.coverage().save(file)
        ...     file.getvalue()[:3]
        b'TN:'
        """
        self._handle.c  # A closed one leaves the file alone.
        target = target_of(file, [], "coverage.info")
        try:
            self._write_lcov(target)
            target.done()
        except BaseException:
            target.give_up()
            raise

    def source(
        self, file: str, path: str | os.PathLike[str] | None = None
    ) -> Table:
        """Show a source file with how often its lines were executed.

        Parameters
        ----------
        file : str
            A path of :meth:`files`, or its end behind a ``/``.
        path : path, optional
            Where the file is now.  Default: where the compiler had it.

        Returns
        -------
        Table
            `line`, `count` (null: the line has no code) and `text`.

        Raises
        ------
        LookupError
            There is no such file, or several end so.
        OSError
            It cannot be read; say `path`.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with hwt.open(pt) as trace:
        ...     cov = trace.coverage()
        >>> file = cov.files().to_dict()["file"][0]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     place = pathlib.Path(folder) / "source.c"
        ...     _ = place.write_text("int x;\\n")
        ...     table = cov.source(file, place)
        >>> table.columns
        ('line', 'count', 'text')
        """
        with self._handle.lock:
            rows, n = self._sums.rows("file")
            paths = [_native.text(rows[i].path) for i in range(n)]
            no = tables.find_file(file, paths)
            first, n_lines = rows[no].first_line, rows[no].n_lines
            raw = bytes(ffi.string(rows[no].path))
            all_lines, _ = self._sums.rows("line")
            counts = {
                all_lines[i].line: int(all_lines[i].count)
                for i in range(first, first + n_lines)
            }
            notes = self._sums.notes()
        lines = tables.read_source(raw if path is None else path)
        beyond = [line for line in counts if line > len(lines)]
        if beyond:
            notes.insert(
                0,
                f"{plural(len(beyond), 'line')} with code lie behind the end "
                "of the file: it is of another version",
            )
        c = Columns(len(lines))
        numbers = range(1, len(lines) + 1)
        c.listed("line", "u32", list(numbers), meaning="number of the line")
        c.listed(
            "count",
            "u64",
            [counts.get(line) for line in numbers],
            meaning="how often it was executed; null: no code",
        )
        c.listed("text", "text", lines, meaning="what stands there")
        return c.table(paths[no], notes)

    def close(self) -> None:
        """Give up the sums; may be called twice."""
        # What is read of it meanwhile borrows texts.
        with self._handle.lock:
            self._handle.close()

    def __enter__(self) -> Coverage:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<hwt.Coverage: closed>"
        info = self.info
        return (
            f"<hwt.Coverage: {_of(info.lines, 'lines')}, "
            f"{_of(info.functions, 'functions')}, "
            f"{_of(info.branches, 'branches')}; "
            f"{plural(info.traces, 'trace')}>"
        )

    def _repr_html_(self) -> str:
        if self._handle.closed:
            from hwt._repr import closed_html

            return closed_html("hwt.Coverage")
        html: str = self.summary()._repr_html_()
        return html


def _of(share: Share, what: str) -> str:
    percent = share.percent
    tail = "" if percent is None else f" ({percent:.1f}%)"
    return f"{share.hit} of {share.total} {what}{tail}"


def _path_maps(
    path_map: Mapping[str, str] | Iterable[tuple[str, str]], keep: list[Any]
) -> tuple[Any, int]:
    pairs = list(
        path_map.items() if isinstance(path_map, Mapping) else path_map
    )
    maps = ffi.new("struct hwtd_path_map[]", max(len(pairs), 1))
    for i, (old, new) in enumerate(pairs):
        if not old:
            raise ValueError("path_map: '' is the begin of every path")
        texts = [ffi.new("char[]", _native.path_bytes(t)) for t in (old, new)]
        maps[i].old_prefix, maps[i].new_prefix = texts
        keep += texts
    keep.append(maps)
    return maps, len(pairs)
