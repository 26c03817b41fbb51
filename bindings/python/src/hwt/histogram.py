"""Histograms: how values of calls are distributed, by function.

How long calls took, how many instructions or cycles they were, or how long it
took from one function to another one.  A distribution has only what was seen
in full: calls of which the begin or end was not seen, or with a gap in them,
are counted apart.
"""

from __future__ import annotations
import os
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Mapping,
    NamedTuple,
    Sequence,
)
from hwt import _measure, _native
from hwt._filters import settled
from hwt._histogram_rows import (
    ANY,
    counts_of,
    label_of,
    name_columns,
    name_of,
    place_columns,
)
from hwt._hwtdecode import ffi, lib
from hwt._distribution import Bucket, distribution_svg
from hwt._measure import Columns, Loss
from hwt._table import Table
from hwt._words import plural, quoted

if TYPE_CHECKING:
    from hwt.trace import Trace
__all__ = ["Bucket", "Histogram", "HistogramInfo"]
_TIMES = ("time", "running", "self", "between")
_UNITS = {
    **{name: "ns" for name in _TIMES},
    "cycles": "cycles",
    "self-cycles": "cycles",
    "insns": "instructions",
    "self-insns": "instructions",
}
_MILLION = 1_000_000


@dataclass(frozen=True)
class HistogramInfo:
    """What a histogram is made of.

    Attributes
    ----------
    value : str
        What is measured.
    unit : str
        Of the values: ``ns``, ``cycles`` or ``instructions``.
    rows : int
        Functions, or ways between two.
    restarted, unfinished : int
        Of ``between``: begins that another begin came behind before an end,
        and those that nothing came behind.
    insns : int
        Instructions that were executed.
    limited : int
        Calls that ended because too many were open.
    loss : Loss
        What of the traces gave nothing.
    """

    value: str
    unit: str
    rows: int
    restarted: int
    unfinished: int
    insns: int
    limited: int
    loss: Loss


class Histogram:
    """Distributions of values of calls, by function.

    :meth:`hwt.Trace.hist` makes one of a trace, :meth:`Histogram.of` one of
    several.  It needs them no more.

    Parameters
    ----------
    function : str, optional
        Only functions of this name; ``*`` is any text, ``?`` any byte.  What
        has no name is ``0x`` with its address, or one of ``[syscall]``,
        ``[interrupt]``, ``[exception]``, ``[untraced]``, ``[unknown]``.
    value : str, optional
        ``time`` from begin to end, ``running`` (the time that its thread ran),
        ``self`` (without what it called), in ns; ``cycles``, ``self-cycles``,
        ``insns``, ``self-insns``.  Default: ``time``.
    to : str, optional
        Measure ``between``: ns from where a call of `function` began to where
        one of this function began next, on the same thread.
    exact : bool, default False
        Leave out times that are not those of timing packets.

    Examples
    --------
    >>> with hwt.open(pt) as trace:
    ...     hist = trace.hist()
    >>> hist.info.unit
    'ns'
    >>> hist.rows().columns[0]
    'function'
    """

    def __init__(
        self,
        function: str | None = None,
        *,
        value: str | None = None,
        to: str | None = None,
        exact: bool = False,
    ) -> None:
        names = _measure.names_by(
            lib.hwtd_histogram_value_name, lib.HWTD_HISTOGRAM_VALUES
        )
        if to is not None and value not in (None, "between"):
            raise ValueError(
                f"value: {quoted(value)} is of one function; with `to` the time "
                "between two is measured"
            )
        if value == "between" and to is None:
            raise ValueError("value: 'between' needs `to`, where it ends")
        if to is not None and function is None:
            raise ValueError("to: `function` is missing, where it begins")
        keep: list[Any] = []
        options = _native.new("struct hwtd_histogram_options")
        if value is not None:
            options.value = 1 + _measure.choose("value", value, names[1:])
        options.flags = lib.HWTD_HISTOGRAM_EXACT if exact else 0
        for name, text in (("function", function), ("to", to)):
            if text is not None:
                keep.append(ffi.new("char[]", _native.path_bytes(text)))
                setattr(options, name, keep[-1])
        self._options = options
        self._keep = keep
        self._wanted = (function, to)
        self._handle = self._create()
        self._value = self._info().value

    def _create(self) -> _native.Handle:
        err = _native.error()
        out = _native.slot("struct hwtd_histogram", "hwtd_histogram_destroy")
        context = _native.context()
        _native.check(
            lib.hwtd_histogram_create(context.c, self._options, out, err), err
        )
        return _native.Handle.of(
            out, "hwtd_histogram_destroy",
            keeps=(context,),
            name="histogram",
        )

    @classmethod
    def of(
        cls,
        traces: Trace | Iterable[Trace],
        function: str | None = None,
        *,
        value: str | None = None,
        to: str | None = None,
        exact: bool = False,
        interpolate: bool = True,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Histogram:
        """Measure the calls of one trace or of several.

        Parameters
        ----------
        traces : Trace or iterable of Trace
            They may be closed afterwards.
        function, value, to, exact : optional
            As of :class:`Histogram`.
        interpolate : bool, default True
            Between two times of the hardware time passes by instructions;
            else a time is that of the last timing packet.
        jobs : int, optional
            Threads that decode.  Default: all CPUs.
        progress : bool or callable, optional
            True: text on stderr if that is a terminal; or a function of bytes
            done and bytes in all.
        **filters
            Which calls: ``cpu``, ``tid``, ``pid``, ``stream``, ``time``,
            ``engine``, ``strict``, as of :meth:`hwt.Trace.events`.

        Returns
        -------
        Histogram
            Of all of them.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     hist = trace.hist("take_order", value="insns")
        >>> hist.rows().to_dict()["function"]
        ['take_order']
        """
        made = cls(function, value=value, to=to, exact=exact)
        found = _measure.traces_of(traces)
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        for trace in found:
            made._add(trace, meter, interpolate, jobs, filters)
        return made

    def add(
        self,
        trace: Trace,
        *,
        interpolate: bool = True,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Histogram:
        """Add the calls of a trace; all of them, or none if that fails.

        Parameters
        ----------
        trace : Trace
            It may be closed afterwards.
        interpolate, jobs, progress : optional
            As of :meth:`of`.
        **filters
            As of :meth:`of`.

        Returns
        -------
        Histogram
            This one.

        Examples
        --------
        >>> hist = hwt.histogram.Histogram("take_order")
        >>> with hwt.open(pt) as trace:
        ...     hist.add(trace).rows().to_dict()["calls"]
        [1500]
        """
        found = _measure.traces_of(trace)
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(found))
        for one in found:
            self._add(one, meter, interpolate, jobs, filters)
        return self

    def _add(
        self,
        trace: Trace,
        meter: _measure.Meter,
        interpolate: bool,
        jobs: int | None,
        filters: Mapping[str, Any],
    ) -> None:
        flags = self._call_flags(interpolate)
        with _native.in_file(trace._path), _measure.open_calls(
            trace, flags, jobs, filters
        ) as calls:
            self._add_calls(calls, meter, _measure.bytes_of([trace]))

    def add_text(
        self,
        path: str | os.PathLike[str],
        *,
        interpolate: bool = True,
        progress: Any = None,
    ) -> Histogram:
        """Add the calls in a text of branches, as perf-script(1) writes it.

        Parameters
        ----------
        path : path
            Of the file.
        interpolate : bool, default True
            As of :meth:`of`.
        progress : bool or callable, optional
            As of :meth:`of`.

        Returns
        -------
        Histogram
            This one.

        Raises
        ------
        UnrecognizedError
            No line at the start of the file is one of these.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> line = "7/8 1.{:09d}: 1 branches:u: {}"
        >>> text = [
        ...     line.format(10, "call 100 main+0x0 (p) => 200 f+0x0 (p)"),
        ...     line.format(35, "return 209 f+0x9 (p) => 105 main+0x5 (p)"),
        ... ]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "branches.txt")
        ...     _ = file.write_text("\\n".join(text) + "\\n")
        ...     hist = hwt.histogram.Histogram("f").add_text(file)
        >>> hist.rows().to_dict()["max"]
        [25]
        """
        size = os.stat(path).st_size
        meter = _measure.Meter(progress, size)
        how = _native.new("struct hwtd_calls_options")
        how.flags = self._call_flags(interpolate)
        with _measure.open_text(path, how) as calls:
            self._add_calls(calls, meter, size)
        return self

    def _call_flags(self, interpolate: bool) -> int:
        """Which rows of calls are needed, and how their times are made."""
        self._handle.c  # A closed one is told before hours of work.
        flags = 0 if interpolate else lib.HWTD_CALLS_NO_INTERPOLATION
        if self._value == "between":
            flags |= lib.HWTD_CALLS_ENTERS | lib.HWTD_CALLS_GAPS
        return flags

    def _add_calls(
        self, calls: _native.Handle, meter: _measure.Meter, size: int
    ) -> None:
        """Count into one of its own: who breaks off has changed nothing."""
        err = _native.error()
        with self._create() as part:
            _measure.run(
                lambda: _native.check(
                    lib.hwtd_histogram_add_calls(part.c, calls.c, err), err
                ),
                meter,
                lambda: _measure.calls_bytes(calls),
            )
            meter.part_done(size)
            self._merge(part)

    def merge(self, other: Histogram) -> Histogram:
        """Add what another histogram has.

        Merged in any order and grouping they tell the same.

        Parameters
        ----------
        other : Histogram
            Of the same value, and `exact` as well; it is not changed.

        Returns
        -------
        Histogram
            This one.

        Raises
        ------
        InvalidError
            Both are the same, or they differ in what they measure.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     hist = trace.hist("take_order")
        ...     hist.merge(trace.hist("take_order")).rows().to_dict()["calls"]
        [3000]
        """
        if not isinstance(other, Histogram):
            raise TypeError(f"{quoted(other)} is no Histogram")
        if other is self:
            raise _measure.invalid("a histogram cannot be merged with itself")
        for mine, its, what in (
            (self._value, other._value, "value"),
            (self._options.flags, other._options.flags, "exact"),
        ):
            if mine != its:
                raise _measure.invalid(
                    f"histograms of {what} {its!r} and {mine!r} cannot be "
                    "merged"
                )
        self._merge(other._handle)
        return self

    def _merge(self, other: _native.Handle) -> None:
        err = _native.error()
        with _measure.locked(self._handle, other):
            _native.check(
                lib.hwtd_histogram_merge(self._handle.c, other.c, err), err
            )

    @property
    def info(self) -> HistogramInfo:
        """What was measured, and what was lost."""
        with self._handle.lock:
            return self._info()

    def _info(self) -> HistogramInfo:
        c = _native.new("struct hwtd_histogram_info")
        _native.check(lib.hwtd_histogram_info(self._handle.c, c))
        value = _native.text(lib.hwtd_histogram_value_name(c.value))
        return HistogramInfo(
            value=value,
            unit=_UNITS.get(value, ""),
            rows=c.n_rows,
            restarted=c.restarted,
            unfinished=c.unfinished,
            insns=c.insns,
            limited=c.limited,
            loss=_measure.loss_of(c),
        )

    @property
    def loss(self) -> Loss:
        """What of the traces gave nothing."""
        return self.info.loss

    @property
    def notes(self) -> list[str]:
        """How many calls are in no distribution and why, a line each.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     notes = trace.hist().notes
        >>> "calls" in notes[0] and "in full" in notes[0]
        True
        """
        with self._handle.lock:
            return self._notes()

    def _notes(self) -> list[str]:
        info = self._info()
        rows, _ = self._read(lib.HWTD_HISTOGRAM_ALL, 1)
        notes = [f"{info.value}: {counts_of(rows[0])}"]
        if info.restarted + info.unfinished:
            notes.append(
                f"begins without an end: {info.restarted} before another "
                f"begin, {info.unfinished} before the end"
            )
        if info.limited:
            notes.append(
                f"{plural(info.limited, 'call')} ended because too many were "
                "open"
            )
        return notes + info.loss.notes

    # Rows.

    def _read(self, first: int, n: int) -> tuple[Any, int]:
        """Rows as they are sorted; the lock is held."""

        def read(at: int, out: Any, size: int, cap: int, got: Any) -> int:
            return _native.check(
                lib.hwtd_histogram_rows(
                    self._handle.c, first + at, out, size, cap, got
                )
            )

        return _measure.read_rows("struct hwtd_histogram_row", n, read)

    def _sorted(self, sort: str) -> tuple[Any, int]:
        names = _measure.names_by(
            lib.hwtd_histogram_sort_name, lib.HWTD_HISTOGRAM_SORTS
        )
        err = _native.error()
        _native.check(
            lib.hwtd_histogram_sort(
                self._handle.c, _measure.choose("sort", sort, names), err
            ),
            err,
        )
        return self._read(0, self._info().rows)

    def rows(self, sort: str = "sum") -> Table:
        """List the functions, with how their values are distributed.

        Parameters
        ----------
        sort : {'sum', 'calls', 'mean', 'max', 'p50', 'p99', 'name'}
            Greatest first; or by name.

        Returns
        -------
        Table
            `function` (as people write it, or what stands for it), `image`,
            of ``between`` also `to_function` and `to_image`; `calls`, and `n`,
            how many of them are in the distribution; of these `min`, `mean`,
            `p50`, `p90`, `p99`, `p999`, `max` and `sum`, null without any;
            how many calls are not in it because they are `unseen`, `gapped`,
            `switched`, `unknown` or `inexact`, and how many that are, are
            `estimated` or `interpolated`; and `file_off` or `address`: where
            the function begins.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.hist().rows("calls")
        >>> calls = table.to_dict()["calls"]
        >>> calls == sorted(calls, reverse=True)
        True
        """
        with self._handle.lock:
            rows, n = self._sorted(sort)
            return self._table(rows, n, "calls by function")

    @property
    def all(self) -> Table:
        """One row, of all functions in one."""
        with self._handle.lock:
            rows, n = self._read(lib.HWTD_HISTOGRAM_ALL, 1)
            return self._table(rows, n, "all calls")

    def _table(self, rows: Any, n: int, title: str) -> Table:
        info = self._info()
        c = Columns(n, "struct hwtd_histogram_row", rows)
        is_all = title == "all calls"
        ends = (False, True) if info.value == "between" else (False,)
        for to in ends:
            name_columns(c, to, is_all)
        c.number("calls", "u64", "calls", meaning="calls that have ended")
        c.number("n", "u64", "n", meaning="those in the distribution")
        for name, meaning in (
            ("min", "least"),
            ("mean", "mean"),
            ("p50", "median"),
            ("p90", "90 of 100 are not above"),
            ("p99", "99 of 100 are not above"),
            ("p999", "99.9 of 100 are not above"),
            ("max", "greatest"),
            ("sum", "sum"),
        ):
            if name == "mean":
                c.listed(
                    name,
                    "f64",
                    [row.sum / row.n if row.n else None for row in rows[0:n]],
                    unit=info.unit,
                    meaning=meaning,
                )
                continue
            c.number(
                name,
                "u64",
                name,
                unit=info.unit,
                meaning=meaning,
                known=("n", ANY),
            )
        for name, meaning in (
            ("unseen", "begin or end was not seen"),
            ("gapped", "there was a gap in them"),
            ("switched", "other stacks of the thread ran meanwhile"),
            ("unknown", "their value is not known"),
            ("inexact", "left out: not of timing packets"),
            ("estimated", "of those seen in full: of an earlier packet"),
            ("interpolated", "of those seen in full: between two packets"),
        ):
            c.number(name, "u64", name, meaning=meaning)
        for to in ends:
            place_columns(c, to)
        return c.table(f"{info.value} of {title}", self._notes())

    def _find(self, function: str | int | None) -> tuple[int, Any]:
        """Number and struct of a row; the lock is held."""
        if function is None:
            rows, _ = self._read(lib.HWTD_HISTOGRAM_ALL, 1)
            return lib.HWTD_HISTOGRAM_ALL, rows
        rows, n = self._sorted("sum")
        if not isinstance(function, str):
            if not 0 <= function < n:
                raise IndexError(f"row {function} is not one of {n}")
            # What `rows` points to goes with them.
            return function, ffi.new(
                "struct hwtd_histogram_row *", rows[function]
            )
        names = [label_of(rows[i], self._value) for i in range(n)]
        found = [i for i in range(n) if names[i] == function]
        if not found and self._value == "between":
            found = [
                i for i in range(n) if name_of(rows[i], False) == function
            ]
        if not found:
            raise LookupError(
                f"no function that was called is "
                f"{quoted(function)}"
                + _measure.near_names(function, names)
            )
        if len(found) > 1:
            raise LookupError(
                f"{len(found)} rows are of {quoted(function)}: "
                "say one of the "
                f"numbers {', '.join(map(str, found[:10]))}"
            )
        one = ffi.new("struct hwtd_histogram_row *", rows[found[0]])
        return found[0], one

    def quantile(
        self, function: str | int | None = None, q: float = 0.5
    ) -> int | None:
        """Tell the least value that a share of all is not above.

        Parameters
        ----------
        function : str or int, optional
            Name of a function, or number of its row in :meth:`rows`; of
            ``between``: ``"f -> g"``.  Default: all in one.
        q : float
            From 0 to 1, for instance 0.99.

        Returns
        -------
        int or None
            Exact up to 4096, at most 1/128 too low above; None: there are no
            values.

        Raises
        ------
        LookupError
            There is no such function, or several.
        ValueError
            `q` is no share.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     hist = trace.hist(value="insns")
        >>> hist.quantile("take_order", 1) > 0
        True
        """
        if not 0 <= q <= 1:
            raise ValueError(f"q: {q} is not from 0 to 1")
        out = ffi.new("uint64_t *")
        with self._handle.lock:
            no, row = self._find(function)
            if row[0].n == 0:
                return None
            _native.check(
                lib.hwtd_histogram_quantile(
                    self._handle.c, no, round(q * _MILLION), out
                )
            )
        return int(out[0])

    def _buckets(self, no: int, n: int) -> list[Bucket]:
        def read(at: int, out: Any, size: int, cap: int, got: Any) -> int:
            return _native.check(
                lib.hwtd_histogram_buckets(
                    self._handle.c, no, at, out, size, cap, got
                )
            )

        rows, n = _measure.read_rows("struct hwtd_histogram_bucket", n, read)
        return [Bucket(b.first, b.last, b.n) for b in rows[0:n]]

    def buckets(self, function: str | int | None = None) -> Table:
        """List the values of a function, those near each other in one row.

        Parameters
        ----------
        function : str or int, optional
            As of :meth:`quantile`.

        Returns
        -------
        Table
            `first`, `last` (which is one of them) and `n`, lowest first.  Up
            to 4096 each value is a row, above 128 are as many as it doubles.

        Raises
        ------
        LookupError
            There is no such function, or several.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.hist().buckets()
        >>> table.columns
        ('first', 'last', 'n')
        """
        with self._handle.lock:
            no, row = self._find(function)
            buckets = self._buckets(no, row[0].n_buckets)
            what = self._what(function, row)
            note = counts_of(row[0])
            unit = self._info().unit
        c = Columns(len(buckets))
        c.listed(
            "first",
            "u64",
            [b.first for b in buckets],
            unit=unit,
            meaning="least value",
        )
        c.listed(
            "last",
            "u64",
            [b.last for b in buckets],
            unit=unit,
            meaning="greatest value",
        )
        c.listed("n", "u64", [b.n for b in buckets], meaning="how many values")
        return c.table(what, [note])

    def _what(self, function: str | int | None, row: Any) -> str:
        rows, n = (row, 1) if function is not None else self._sorted("sum")
        if n == 1:
            name = label_of(rows[0], self._value)
        else:
            name = plural(n, "function")
        if self._value != "between":
            return f"{self._value} of {name}"
        return name if n == 1 else plural(n, "pair") + " of functions"

    def svg(self, function: str | int | None = None) -> str:
        """Draw how values are distributed, with a logarithmic axis.

        Parameters
        ----------
        function : str or int, optional
            As of :meth:`quantile`.

        Returns
        -------
        str
            An ``<svg>`` element: for HTML, or a file of its own.  Texts and
            axes have the colour of the text around it, so that it can be read
            on light and on dark ground.

        Raises
        ------
        LookupError
            There is no such function, or several.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     text = trace.hist().svg("take_order")
        >>> text.startswith("<svg ") and text.endswith("</svg>")
        True
        """
        with self._handle.lock:
            no, row = self._find(function)
            r = row[0]
            buckets = self._buckets(no, r.n_buckets)
            what = self._what(function, row)
            notes = [counts_of(r)]
            unit = self._info().unit
            marks = [
                (name, getattr(r, name))
                for name in ("p50", "p90", "p99")
                if r.n
            ]
        return distribution_svg(
            buckets, title=what, unit=unit, marks=marks, notes=notes
        )

    def close(self) -> None:
        """Give up the values; may be called twice."""
        # What is read of it meanwhile borrows texts.
        with self._handle.lock:
            self._handle.close()

    def __enter__(self) -> Histogram:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<hwt.Histogram: closed>"
        info = self.info
        return (
            f"<hwt.Histogram: {plural(info.rows, 'function')}; "
            f"{self.notes[0]}>"
        )

    def _repr_html_(self) -> str:
        if self._handle.closed:
            from hwt._repr import closed_html

            return closed_html("hwt.Histogram")
        table: str = self.rows()._repr_html_()
        return f"{self.svg()}{table}"
