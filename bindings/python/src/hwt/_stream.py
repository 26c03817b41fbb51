"""Batches of columns, and streams of them."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from typing import Any, Callable, ContextManager, Iterator, Sequence

from hwt import errors
from hwt._columns import (
    Column,
    Field,
    Schema,
    c_text,
    check_memory,
    check_pointer,
    make_capsule,
    needed,
    row_type,
    to_pandas,
)
from hwt._native import Handle, check_process, ffi, lib

__all__ = [
    "Batch",
    "Column",
    "Field",
    "Schema",
    "Stream",
    "capsule",
    "needed",
    "row_type",
]


class Batch:
    """Rows as columns, in memory that C filled.

    A batch is immutable.  It can be handed out any number of times: consumers
    and views share its memory, which is given back when all of them are gone.

    Parameters
    ----------
    schema : Schema
        What its columns are.
    c_array : cdata
        ``struct ArrowArray *`` of them; empty afterwards.

    Examples
    --------
    >>> batch = next(hwt.open(pt).events().batches())
    >>> len(batch) > 0
    True
    >>> batch["stream_off"].flags.writeable
    False
    """

    __slots__ = ("_schema", "_c", "__weakref__")

    def __init__(self, schema: Schema, c_array: Any) -> None:
        """Take over what `c_array` (``struct ArrowArray *``) has."""
        if not isinstance(schema, Schema):
            raise TypeError(f"a schema is wanted, not {schema!r:.80}")
        check_pointer(c_array, "struct ArrowArray *")
        shared = lib.hwtpy_array_take(c_array)
        check_memory(shared == ffi.NULL)
        self._schema = schema
        self._c = ffi.gc(shared, lib.hwtpy_array_drop)

    @classmethod
    def of_arrays(cls, schema: Any, array: Any) -> Batch:
        """Take over a schema and an array of C.

        Parameters
        ----------
        schema : Schema or cdata
            ``struct ArrowSchema *`` of a struct of columns; empty afterwards.
        array : cdata
            ``struct ArrowArray *`` of that schema; empty afterwards.

        Returns
        -------
        Batch
            It gives their memory back when nobody has it any more.

        Examples
        --------
        >>> from hwt._native import ffi, lib  # doctest: +SKIP
        >>> hwt.events.Batch.of_arrays(schema, array)  # doctest: +SKIP
        """
        if not isinstance(schema, Schema):
            schema = Schema(schema)
        return cls(schema, array)

    @property
    def c(self) -> Any:
        """The shared array, ``struct hwtpy_array *``."""
        return self._c

    @property
    def _array(self) -> Any:
        return lib.hwtpy_array_get(self._c)

    def __len__(self) -> int:
        return int(self._array.length)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""
        return self._schema.names

    @property
    def schema(self) -> list[Field]:
        """What its columns are."""
        return list(self._schema.fields)

    def keys(self) -> tuple[str, ...]:
        """Names of its columns, so that ``dict(batch)`` has all of them.

        Returns
        -------
        tuple of str
            The same as `columns`.
        """
        return self._schema.names

    def column(self, name: str) -> Column:
        """A column with all that is known of it.

        Parameters
        ----------
        name : str
            One of `columns`.

        Returns
        -------
        Column
            It keeps the memory of the batch.

        Raises
        ------
        KeyError
            There is none of this name.

        Examples
        --------
        >>> batch = next(hwt.open(pt).events().batches())
        >>> batch.column("time_ns").unit
        'ns'
        """
        schema = self._schema
        i = schema.index(name)
        return Column(
            schema.fields[i],
            self._c,
            self._array.children[i],
            schema.formats[i],
            schema.dictionaries[i],
        )

    def __getitem__(self, name: str) -> Any:
        """Values of a column, see `Column.to_numpy`."""
        return self.column(name).to_numpy()

    def __contains__(self, name: object) -> bool:
        return name in self._schema.names

    def __repr__(self) -> str:
        names = ", ".join(self.columns[:8])
        if len(self.columns) > 8:
            names += f" and {len(self.columns) - 8} more"
        return f"<hwt.Batch of {len(self)} rows: {names}>"

    def rows(self) -> Iterator[Any]:
        """Rows as named tuples; what is unknown is None.

        Returns
        -------
        iterator of named tuples
            Fields are named as columns; `async` is ``async_``.

        Examples
        --------
        >>> plan = hwt.open(pt).events(kinds="block", columns=["insns"])
        >>> next(next(plan.batches()).rows())
        Row(insns=4)
        """
        make = self._schema.row._make
        lists = [self.column(name).to_list() for name in self.columns]
        return map(make, zip(*lists))

    def slice(self, first: int = 0, n: int | None = None) -> Batch:
        """Some of its rows, without a copy.

        Parameters
        ----------
        first : int
            The first one, from 0.
        n : int, optional
            How many, or as many as there are.

        Returns
        -------
        Batch
            Of the same memory.

        Examples
        --------
        >>> batch = next(hwt.open(pt).events().batches())
        >>> batch.slice(5, 3)["stream_off"].tolist() == (
        ...     batch["stream_off"][5:8].tolist()
        ... )
        True
        """
        first = min(max(first, 0), len(self))
        left = len(self) - first
        n = left if n is None else min(max(n, 0), left)
        out = ffi.gc(lib.hwtpy_new_array(), lib.hwtpy_free_array)
        check_memory(out == ffi.NULL)
        check_memory(lib.hwtpy_array_export(self._c, first, n, out))
        return Batch(self._schema, out)

    def to_numpy(self) -> dict[str, Any]:
        """All columns as NumPy arrays, see `Column.to_numpy`.

        Returns
        -------
        dict of str to numpy.ndarray
            By column.
        """
        return {name: self[name] for name in self.columns}

    def to_arrow(self) -> Any:
        """All columns for pyarrow.

        Returns
        -------
        pyarrow.RecordBatch
            Of the same memory.
        """
        return needed("pyarrow").record_batch(self)

    def to_pandas(self) -> Any:
        """All columns for pandas.

        Returns
        -------
        pandas.DataFrame
            As of `Events.to_pandas`.
        """
        arrow = needed("pyarrow")
        return to_pandas(arrow.Table.from_batches([self.to_arrow()]))

    def to_polars(self) -> Any:
        """All columns for polars.

        Returns
        -------
        polars.DataFrame
            Of the same memory, as far as polars can.
        """
        return needed("polars").DataFrame(self)

    def __arrow_c_schema__(self) -> Any:
        """Its schema, as a capsule for any library that reads Arrow."""
        return self._schema.capsule()

    def __arrow_c_array__(
        self, requested_schema: Any = None
    ) -> tuple[Any, Any]:
        """Itself, as capsules, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            Not heeded, as Arrow allows: consumers cast.
        """
        schema = self._schema.capsule()
        out = lib.hwtpy_new_array()
        check_memory(out == ffi.NULL)
        if lib.hwtpy_array_export(self._c, 0, len(self), out) != 0:
            lib.hwtpy_free_array(out)
            raise MemoryError
        return schema, make_capsule("array", out, lib.hwtpy_free_array)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Itself as a stream of one array, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            Not heeded, as Arrow allows: consumers cast.
        """
        return batches_capsule(self._schema, [self])


def batches_capsule(schema: Schema, batches: Sequence[Batch]) -> Any:
    """Batches that are there as a capsule "arrow_array_stream"; no copy."""
    arrays = ffi.new("struct hwtpy_array *[]", [one.c for one in batches])
    out = lib.hwtpy_new_stream()
    check_memory(out == ffi.NULL)
    if lib.hwtpy_arrays_stream(schema.c, arrays, len(arrays), out) != 0:
        lib.hwtpy_free_stream(out)
        raise MemoryError
    return make_capsule("stream", out, lib.hwtpy_free_stream)


class Stream:
    """A pass over rows: arrays of C one after the other.

    Any thread may ask for the next one; they take turns.

    Parameters
    ----------
    fail : callable
        Makes an exception of what failed: called with errno, text, and the
        stream of C that it was.
    """

    def __init__(self, fail: Callable[[int, str, Any], BaseException]) -> None:
        main = threading.main_thread().ident or 0
        made = lib.hwtpy_pass_create(main)
        check_memory(made == ffi.NULL)
        self._handle = Handle(
            made, lib.hwtpy_pass_destroy, name="pass over rows"
        )
        self._pid = os.getpid()
        self._fail = fail
        self._schema: Schema | None = None
        #: There is nothing left.
        self.ended = False
        self._stopped = False

    @property
    def lock(self) -> ContextManager[None]:
        """Held while C works; who has it has the pass, as of `Handle`."""
        return self._handle.lock

    def add(self) -> Any:
        """Room for a stream that C shall fill: ``struct ArrowArrayStream *``.

        It has to be filled before the next call.
        """
        room = lib.hwtpy_pass_add(self._handle.c)
        check_memory(room == ffi.NULL)
        return room

    def answer(self, options: Any) -> None:
        """Let an export with these options come back from time to time."""
        options.poll = ffi.addressof(lib, "hwtpy_pass_poll")
        options.poll_arg = self._handle.c

    @property
    def schema(self) -> Schema:
        """Columns of its arrays; nothing is decoded for them."""
        with self.lock:
            if self._schema is None:
                out = ffi.gc(lib.hwtpy_new_schema(), lib.hwtpy_free_schema)
                check_memory(out == ffi.NULL)
                held = self._opened()
                try:
                    rc = lib.hwtpy_pass_schema(held, out)
                    if rc != 0:
                        raise self._failure(rc, held)
                finally:
                    # Not any longer in a traceback that somebody keeps.
                    del held
                self._schema = Schema(out)
            return self._schema

    def _opened(self) -> Any:
        held = self._handle.c
        check_process(self._pid, "pass over rows")
        return held

    def _failure(self, rc: int, held: Any) -> BaseException:
        words = c_text(lib.hwtpy_pass_error(held))
        return self._fail(rc, words, lib.hwtpy_pass_stream(held))

    @property
    def closed(self) -> bool:
        """Whether it was given up, or cannot be read in this process."""
        return self._handle.closed or self._pid != os.getpid()

    def next(self) -> Batch | None:
        """The next rows, or None.

        Signals are seen while C decodes, and what their handlers raise comes
        out of here.
        """
        out = ffi.gc(lib.hwtpy_new_array(), lib.hwtpy_free_array)
        check_memory(out == ffi.NULL)
        with self.lock:
            if self.ended:
                return None
            try:
                schema = self.schema
                held = self._opened()
            except errors.ClosedError:
                return None
            try:
                rc = errno.EINTR
                # Between two calls Python runs what signals have to.
                while rc == errno.EINTR:
                    if self._stopped:
                        return None
                    rc = lib.hwtpy_pass_next(held, out)
                if rc != 0:
                    raise self._failure(rc, held)
            finally:
                del held
            if out.release == ffi.NULL:
                self.ended = True
                return None
            return Batch(schema, out)

    def stop(self) -> None:
        """A thread that waits for rows gets none, and soon."""
        self._stopped = True
        with contextlib.suppress(errors.ClosedError):
            lib.hwtpy_pass_stop(self._handle.c)

    def close(self) -> None:
        """Give it up, as soon as nobody has it locked."""
        self.stop()
        with self.lock:
            self._handle.close()

    def capsule(self) -> Any:
        """All of it as a capsule "arrow_array_stream"; it is closed here."""
        with self.lock:
            held = self._opened()
            out = lib.hwtpy_new_stream()
            check_memory(out == ffi.NULL)
            # From here on the stream of the capsule gives it up.
            ffi.gc(held, None)
            lib.hwtpy_pass_export(held, out)
            self._handle.close()
            return make_capsule("stream", out, lib.hwtpy_free_stream)


def capsule(stream: Any) -> Any:
    """What is left of a stream, as a capsule "arrow_array_stream".

    Parameters
    ----------
    stream : Stream or cdata
        A pass, or ``struct ArrowArrayStream *``; empty afterwards.
    """
    if isinstance(stream, Stream):
        return stream.capsule()
    out = lib.hwtpy_new_stream()
    check_memory(out == ffi.NULL)
    out[0] = stream[0]
    stream.release = ffi.NULL
    return make_capsule("stream", out, lib.hwtpy_free_stream)
