"""Plans: what of a trace is wanted, decoded only when it is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Literal, Mapping, overload

from hwt import errors
from hwt._batches import Batches, Collected
from hwt._columns import concatenate, needed, no_values, to_pandas
from hwt._filters import check_names, filters_to_c, names_of, settled
from hwt._native import Progress, StrPath, lib
from hwt._part import Part, replaceable
from hwt._passes import WHATS, Pass, Source, Stats, has_samples
from hwt._rows import RowBatches
from hwt._stream import Batch, Column, Field, Schema
from hwt._words import quoted

if TYPE_CHECKING:
    from hwt._table import Table

__all__ = [
    "Batch",
    "Batches",
    "Column",
    "Events",
    "Field",
    "RowBatches",
    "Stats",
    "calls_of_text",
    "plan",
]

#: Rows of a batch, and of one whose rows become objects.
_ROWS = 65536
_FEW_ROWS = 4096


class Events:
    """What rows of a trace are wanted: a plan, not the rows.

    A plan is immutable, decodes nothing, and can be run any number of times;
    each pass decodes afresh.  Rows come in the order of time, then stream,
    then place.  Damage raises nothing: what could not be decoded is rows of
    kind "gap", and in `stats`.

    What reads Arrow reads a plan, too: ``pyarrow.table(plan)``,
    ``polars.DataFrame(plan)``, ``duckdb.sql("from plan")``.

    Parameters
    ----------
    source : Source
        Where rows come from.
    what : str
        What they are of.
    filters : mapping
        Filters, options and ``columns``.

    Attributes
    ----------
    what : str
        "events", "insns", "samples", "packets", "records" or "calls".

    Examples
    --------
    >>> trace = hwt.open(pt)
    >>> plan = trace.events(kinds=["block"], columns=["ip", "insns"])
    >>> plan
    <hwt.Events plan of events: kinds=['block']; columns ip, insns>
    >>> batch = next(plan.batches())
    >>> int(batch["insns"].sum()) > 0
    True
    """

    def __init__(
        self, source: Source, what: str, filters: Mapping[str, Any]
    ) -> None:
        of = WHATS[what]
        check_names(filters, (*of.filters, "columns"))
        self.what = what
        self._source = source
        self._filters = settled(
            {k: v for k, v in filters.items() if v is not None}
        )
        columns = self._filters.pop("columns", None)
        self._chosen: tuple[str, ...] | None = None
        self._default: tuple[str, ...] | None = None
        self._all: Schema | None = None
        self._schema: Schema | None = None
        self._stats: Stats | None = None
        self._head: Table | None = None
        # What is wrong is said now, and not in the first pass.
        of.check(self._filters)
        if columns is not None:
            self._chosen = tuple(names_of("columns", columns))
            self._columns()

    # What is planned.

    @property
    def filters(self) -> dict[str, Any]:
        """Filters and options of the plan; a copy."""
        return settled(self._filters)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; nothing is decoded for them."""
        return self._columns().names

    @property
    def schema(self) -> list[Field]:
        """What the columns are; nothing is decoded for them.

        Returns
        -------
        list of Field
            In the order of `columns`.

        Examples
        --------
        >>> field = hwt.open(pt).events(columns="time_ns").schema[0]
        >>> field.type, field.unit, field.nullable
        ('uint64', 'ns', True)
        """
        return list(self._columns().fields)

    def _open(
        self, rows: int, names: tuple[str, ...] | None, **filters: Any
    ) -> Pass:
        made = Pass(rows, names, self._source.path)
        options = {**self._filters, **filters}
        try:
            WHATS[self.what].open(self._source, options, made)
        except BaseException:
            made.stream.close()
            raise
        return made

    def _all_columns(self) -> Schema:
        if self._all is None:
            made = self._open(0, None)
            self._all = made.stream.schema
            made.stream.close()
        return self._all

    def _wanted(self) -> tuple[str, ...]:
        """Columns that were chosen, or those that can have values."""
        if self._chosen is not None:
            return self._chosen
        if self._default is None:
            hidden = WHATS[self.what].hidden
            if self.what in ("events", "insns"):
                if not has_samples(self._source):
                    hidden = (*hidden, "sample_")
            self._default = tuple(
                name
                for name in self._all_columns().names
                if not name.startswith(hidden)
            )
        return self._default

    def _columns(self) -> Schema:
        if self._schema is None:
            made = self._open(0, self._wanted())
            self._schema = made.stream.schema
            made.stream.close()
        return self._schema

    def where(self, **filters: Any) -> Events:
        """The same with other filters.

        Parameters
        ----------
        **filters
            As of the method that made the plan.  They replace those of the
            same name; None takes one away.

        Returns
        -------
        Events
            A new plan.

        Raises
        ------
        TypeError, ValueError
            A filter that is not there, or a value that it cannot have.

        Examples
        --------
        >>> plan = hwt.open(pt).events(kinds="block")
        >>> plan.where(kinds=None).count() >= plan.count()
        True
        """
        merged = dict(self._filters)
        if self._chosen is not None:
            merged["columns"] = self._chosen
        merged.update(filters)
        return Events(self._source, self.what, merged)

    def select(self, *columns: str) -> Events:
        """The same with these columns only, in this order.

        Parameters
        ----------
        *columns : str
            Names.

        Returns
        -------
        Events
            A new plan.

        Examples
        --------
        >>> hwt.open(pt).events().select("insns", "ip").columns
        ('insns', 'ip')
        """
        return self.where(columns=columns)

    # Passes.

    @overload
    def batches(
        self,
        rows: int = ...,
        progress: Progress = ...,
        layout: Literal["columns"] = ...,
    ) -> Batches: ...

    @overload
    def batches(
        self,
        rows: int = ...,
        progress: Progress = ...,
        *,
        layout: Literal["rows"],
    ) -> RowBatches: ...

    def batches(
        self,
        rows: int = _ROWS,
        progress: Progress = None,
        layout: str = "columns",
    ) -> Batches | RowBatches:
        """Decode, batch by batch.

        Parameters
        ----------
        rows : int
            Rows of each batch but the last.
        progress : True or callable, optional
            Called with (bytes done, bytes in all) after each batch; True: it
            is written to a terminal.
        layout : {"columns", "rows"}
            "rows", of events and instructions only: each batch is a structured
            array of NumPy of the rows as the library has them, ``struct
            hwtd_event``; columns are not chosen, and details are not there.

        Returns
        -------
        Batches or RowBatches
            An iterator of `Batch`, or of arrays.  Memory is that of one batch,
            and what the decoder needs.

        Raises
        ------
        StrictError
            With ``strict=True``, from the iterator: the trace has a gap.

        Examples
        --------
        >>> plan = hwt.open(pt).events(columns=["insns"])
        >>> sum(int(batch["insns"].sum()) for batch in plan.batches()) > 0
        True
        """
        if not 1 <= rows <= lib.HWTD_EXPORT_MAX_ROWS:
            raise ValueError(
                f"rows={rows} is not in [1, {lib.HWTD_EXPORT_MAX_ROWS}]"
            )
        if layout == "columns":
            return Batches(self, self._open(rows, self._wanted()), progress)
        level = WHATS[self.what].level
        if layout != "rows" or level is None:
            raise ValueError(f"{self.what} have no layout {quoted(layout)}")
        return RowBatches(self._source, self._filters, level, rows, progress)

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples; what is unknown is None."""
        with self.batches(_FEW_ROWS) as batches:
            for batch in batches:
                yield from batch.rows()

    def head(self, n: int = 10) -> Table:
        """The first rows, and no more of the trace than they take.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        hwt.Table
            What the rows lack is in its notes.

        Examples
        --------
        >>> plan = hwt.open(pt).events(kinds="block", columns=["ip", "insns"])
        >>> len(plan.head(3))
        3
        """
        from hwt import _table

        if n < 0:
            raise ValueError(f"n={n} is below 0")
        # More threads would decode what nobody asks for.
        filters = {"jobs": 1} if "jobs" in WHATS[self.what].filters else {}
        rows = min(max(n, 1), _ROWS)
        made = self._open(rows, self._wanted(), **filters)
        taken: list[Batch] = []
        left = n
        with Batches(self, made, None) as batches:
            for batch in batches:
                taken.append(batch.slice(0, left))
                left -= len(taken[-1])
                if left <= 0:
                    break
            notes = [
                note
                for note in batches.stats().notes
                if not note.startswith("the pass")
            ]
        table = _table.Table._from_rows(
            sum(map(len, taken)),
            [
                _table.Spec(
                    field.name,
                    _KINDS[field.type],
                    [
                        value
                        for one in taken
                        for value in one.column(field.name).to_list()
                    ],
                    unit=field.unit or "",
                    meaning=field.meaning,
                )
                for field in self.schema
            ],
            title=f"the first {self.what}",
            notes=notes,
        )
        self._head = table
        return table

    def count(self) -> int:
        """How many rows there are; it takes a pass, once.

        Returns
        -------
        int
            Rows.

        Examples
        --------
        >>> hwt.open(pt).events(kinds="gap").count()
        0
        """
        return self._pass_stats().rows

    def stats(self) -> Stats:
        """What there is, and what is lost: of the last whole pass, or of one.

        Returns
        -------
        Stats
            Counts of bytes, rows and gaps.

        Examples
        --------
        >>> hwt.open(pt).events().stats().gaps
        {}
        """
        return self._pass_stats()

    def _pass_stats(self) -> Stats:
        if self._stats is None:
            made = self._open(_ROWS, (self._cheapest(),))
            for _batch in Batches(self, made, None):
                pass
        assert self._stats is not None
        return self._stats

    def _cheapest(self) -> str:
        """The column that costs least to have: rows alone are wanted."""
        order = ("uint8", "uint32", "uint64")
        fields = [f for f in self._all_columns().fields if f.type in order]
        cheapest = min(
            fields, key=lambda f: (f.nullable, order.index(f.type))
        )
        return cheapest.name

    def _remember(self, stats: Stats) -> None:
        self._stats = stats

    def _collect(self, progress: Progress = None) -> Collected:
        """All batches; unlike a consumer of capsules it can be interrupted."""
        return Collected(
            self._columns(), list(self.batches(progress=progress))
        )

    def to_numpy(self, progress: Progress = None) -> dict[str, Any]:
        """All rows as NumPy arrays.

        Parameters
        ----------
        progress : True or callable, optional
            See `batches`.

        Returns
        -------
        dict of str to numpy.ndarray
            By column.  What is unknown is masked, and None in text.

        Examples
        --------
        >>> arrays = hwt.open(pt).events(columns=["insns"]).to_numpy()
        >>> arrays["insns"].dtype.name
        'uint32'
        """
        taken = [b.to_numpy() for b in self.batches(progress=progress)]
        if not taken:
            return no_values(self._columns())
        return {
            name: concatenate([one[name] for one in taken])
            for name in self.columns
        }

    def to_arrow(self, progress: Progress = None) -> Any:
        """All rows as a ``pyarrow.Table``, without a copy.

        Parameters
        ----------
        progress : True or callable, optional
            See `batches`.

        Returns
        -------
        pyarrow.Table
            To read more than there is memory for, take
            ``pyarrow.RecordBatchReader.from_stream(plan)``.

        Examples
        --------
        >>> hwt.open(pt).events(columns=["ip"]).to_arrow().column_names
        ['ip']
        """
        arrow = needed("pyarrow")
        return arrow.table(self._collect(progress))

    def to_pandas(self, progress: Progress = None) -> Any:
        """All rows as a ``pandas.DataFrame``.

        Parameters
        ----------
        progress : True or callable, optional
            See `batches`.

        Returns
        -------
        pandas.DataFrame
            Columns whose values may be unknown have pandas' nullable types, so
            that addresses stay whole; names are categories.

        Examples
        --------
        >>> frame = hwt.open(pt).events(columns=["ip", "insns"]).to_pandas()
        >>> [str(one) for one in frame.dtypes]
        ['UInt64', 'uint32']
        """
        needed("pandas", "pyarrow")
        return to_pandas(self.to_arrow(progress))

    def to_polars(self, progress: Progress = None) -> Any:
        """All rows as a ``polars.DataFrame``.

        Parameters
        ----------
        progress : True or callable, optional
            See `batches`.

        Returns
        -------
        polars.DataFrame
            Of the same memory, as far as polars can.

        Examples
        --------
        >>> hwt.open(pt).events(columns=["ip"]).to_polars().columns
        ['ip']
        """
        polars = needed("polars")
        return polars.DataFrame(self._collect(progress))

    def to_parquet(
        self,
        path: StrPath,
        *,
        rows: int = 4 * _ROWS,
        progress: Progress = None,
        **options: Any,
    ) -> int:
        """Write all rows into a Parquet file, in bounded memory.

        Parameters
        ----------
        path : str or os.PathLike
            The file; it is there when it is whole, and else as it was.
        rows : int
            Rows of each row group.
        progress : True or callable, optional
            See `batches`.
        **options
            Of ``pyarrow.parquet.ParquetWriter``.

        Returns
        -------
        int
            Rows that were written.

        Examples
        --------
        >>> plan = hwt.open(pt).events(columns=["ip", "kind"])
        >>> plan.to_parquet("events.parquet")  # doctest: +SKIP
        52515
        """
        arrow = needed("pyarrow")
        parquet = needed("pyarrow.parquet")
        final = replaceable(path)
        if final is None:
            raise errors.InvalidError(
                f"{os.fspath(path)}: is not a regular file; name a file to "
                "write",
                lib.HWTD_E_INVALID,
            )
        n = 0
        with Part(final) as part:
            with parquet.ParquetWriter(
                part.name, arrow.schema(self), **options
            ) as writer, self.batches(rows, progress) as batches:
                for batch in batches:
                    writer.write_batch(arrow.record_batch(batch))
                    n += len(batch)
            part.commit()
        return n

    # For consumers of Arrow.

    def __arrow_c_schema__(self) -> Any:
        """Its schema as a capsule; nothing is decoded."""
        return self._columns().capsule()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A new pass as a capsule for any library that reads Arrow.

        Ctrl-C while a library reads it in the main thread ends the pass, and
        the library reports an error of its own: "interrupted".  In threads of
        its own signals cannot be seen: DuckDB looks for them when it comes
        back from the stream, or at once after ``set threads = 1``.

        Parameters
        ----------
        requested_schema : capsule, optional
            Not heeded, as Arrow allows: consumers cast.
        """
        return self._open(_ROWS, self._wanted()).stream.capsule()

    # How it looks.

    def __repr__(self) -> str:
        said = [f"{name}={quoted(value)}" for name, value in self._filters.items()]
        text = f"<hwt.Events plan of {self.what}: "
        text += ", ".join(said) if said else "all"
        if self._chosen is not None:
            text += f"; columns {', '.join(self._chosen)}"
        return text + ">"

    def _repr_html_(self) -> str:
        from hwt import _repr

        return str(_repr.plan_html(self))


#: Kinds of columns of a table, by types of fields.
_KINDS = {
    "uint64": "u64",
    "int64": "i64",
    "uint32": "u32",
    "int32": "i64",
    "uint16": "u32",
    "int16": "i64",
    "uint8": "u8",
    "int8": "i64",
    "float32": "f64",
    "float64": "f64",
    "bool": "bool",
    "text": "text",
}


def _filters_to_c(
    filters: Mapping[str, Any], *, level: int = 0
) -> tuple[Any, list[Any]]:
    """Options of the library, and what has to be kept; for all analyses."""
    return filters_to_c(filters, level=level)


def plan(trace: Any, what: str, filters: Mapping[str, Any]) -> Events:
    """Plan rows of a trace.

    Parameters
    ----------
    trace : Trace
        It may be closed while a pass runs, but not before one begins.
    what : str
        See `Events.what`.
    filters : mapping
        Filters, options and ``columns``; those that are None say nothing.

    Returns
    -------
    Events
        The plan.

    Raises
    ------
    TypeError, ValueError
        A filter that is not there, or a value that it cannot have.

    Examples
    --------
    >>> hwt.events.plan(hwt.open(pt), "insns", {"cpu": 0})
    <hwt.Events plan of insns: cpu=0>
    """
    return Events(Source(trace), what, filters)


def calls_of_text(path: StrPath, **options: Any) -> Events:
    """Plan the calls in a text of branches, as perf-script(1) writes it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    **options
        ``enters``, ``gaps``, ``interpolate``, ``max_depth``, ``max_stacks``
        and ``columns``: see `Trace.calls`.

    Returns
    -------
    Events
        A plan of calls.

    Raises
    ------
    UnrecognizedError
        No line at the start of the file is one of a branch.
    TraceIOError
        The file cannot be read.

    Examples
    --------
    >>> plan = hwt.calls_of_text("branches.txt")  # doctest: +SKIP
    >>> plan.head(3)  # doctest: +SKIP
    """
    made = Events(Source(path=path), "calls", options)
    made.schema
    return made
