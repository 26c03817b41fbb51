"""Rows as the library has them: structs, one behind the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from hwt._columns import numpy_module
from hwt._filters import filters_to_c
from hwt._native import (
    Handle,
    Progress,
    error,
    failure,
    ffi,
    lib,
    new,
    reporter,
)
from hwt._passes import Source, Stats, stats_of_events

if TYPE_CHECKING:
    import numpy

_untyped: Any = ffi

#: Memory that is about to be filled is not filled with zeros before.
_memory = _untyped.new_allocator(should_clear_after_alloc=False)


def _dtype(np: Any) -> Any:
    """Fields of ``struct hwtd_event`` for NumPy."""
    ctype: Any = ffi.typeof("struct hwtd_event")
    return np.dtype(
        {
            "names": [name for name, _ in ctype.fields],
            "formats": [f"u{ffi.sizeof(f.type)}" for _, f in ctype.fields],
            "offsets": [f.offset for _, f in ctype.fields],
            "itemsize": ffi.sizeof(ctype),
        }
    )


class RowBatches:
    """A pass over events, as arrays of ``struct hwtd_event``.

    An iterator of NumPy's structured arrays, of shape [rows], which cannot be
    written.  Nothing is turned into columns: what is known of a row is in bits
    of its `flags`, kinds and branches are numbers, and details of gaps and the
    like are not there.

    Parameters
    ----------
    source : Source
        Where rows come from.
    filters : mapping
        Filters of the plan.
    level : int
        An ``HWTD_LEVEL_*``.
    rows : int
        Rows of each array but the last.
    progress : True or callable, optional
        See `Events.batches`.

    Examples
    --------
    >>> plan = hwt.open(pt).insns()
    >>> rows = next(plan.batches(rows=100, layout="rows"))
    >>> rows.shape, rows.dtype.names[:3]
    ((100,), ('time_ns', 'ip', 'target'))
    """

    def __init__(
        self,
        source: Source,
        filters: Mapping[str, Any],
        level: int,
        rows: int,
        progress: Progress,
    ) -> None:
        self._np = numpy_module()
        self._type = _dtype(self._np)
        self._tell = reporter(progress)
        self._total = source.bytes()
        self._file = None if source.path is None else str(source.path)
        options, keep = filters_to_c(filters, level=level)
        cursor = source.open(
            lib.hwtd_events_open,
            "struct hwtd_events",
            options,
            "hwtd_events_close",
        )
        del keep
        self._cursor = Handle.of(cursor, "hwtd_events_close", name="pass")
        self._size = rows
        self._rows = 0
        self._seen: dict[str, Any] = {}
        self._rc = lib.HWTD_OK
        self._err = error()

    def __iter__(self) -> RowBatches:
        return self

    def __next__(self) -> numpy.ndarray[Any, Any]:
        with self._cursor.lock:
            if self._cursor.closed:
                raise StopIteration
            memory = _memory("struct hwtd_event[]", self._size)
            n = self._fill(memory)
            if n == 0:
                self._end()
            self._rows += n
            if self._tell is not None:
                self._tell(self._look().get("bytes", 0), self._total)
        view = memoryview(ffi.buffer(memory)).toreadonly()
        made: numpy.ndarray[Any, Any] = self._np.frombuffer(view, self._type)
        return made[:n]

    def _fill(self, memory: Any) -> int:
        """Read as many as there is room for; signals are seen in between."""
        batch = new("struct hwtd_batch")
        batch.stride = ffi.sizeof("struct hwtd_event")
        n = 0
        while n < self._size and self._rc == lib.HWTD_OK:
            batch.events = memory + n
            batch.cap = self._size - n
            self._rc = lib.hwtd_events_read(self._cursor.c, batch, self._err)
            if self._rc == lib.HWTD_OK:
                n += batch.n
        return n

    def _end(self) -> None:
        if self._rc < 0:
            raise failure(self._rc, self._err, self._file)
        self._look()
        self._cursor.close()
        if self._tell is not None:
            self._tell(self._total, self._total)
        raise StopIteration

    def _look(self) -> dict[str, Any]:
        if not self._cursor.closed:
            self._seen = stats_of_events(self._cursor.c)
        return self._seen

    def stats(self) -> Stats:
        """What this pass has seen so far.

        Returns
        -------
        Stats
            Counts of what was decoded.

        Examples
        --------
        >>> rows = hwt.open(pt).insns().batches(rows=100, layout="rows")
        >>> len(next(rows)) == rows.stats().rows
        True
        """
        with self._cursor.lock:
            self._look()
            return Stats(
                rows=self._rows,
                complete=self._rc == lib.HWTD_END,
                **self._seen,
            )

    def close(self) -> None:
        """Give the pass up."""
        with self._cursor.lock:
            self._look()
            self._cursor.close()

    def __enter__(self) -> RowBatches:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

