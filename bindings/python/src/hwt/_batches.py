"""Passes of plans, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hwt._native import Progress, reporter
from hwt._passes import Pass, Stats
from hwt._stream import Batch, Field, Schema, batches_capsule

if TYPE_CHECKING:
    from hwt.events import Events


class Batches:
    """A pass over rows, batch by batch.

    It is what `Events.batches` gives, an iterator.  Several threads may share
    one: each batch goes to one of them.  Damage of the trace is rows, as ever; what fails is raised once the
    batches before it were handed out.

    Parameters
    ----------
    owner : Events
        The plan.
    opened : Pass
        What it opened.
    progress : True or callable, optional
        See `Events.batches`.

    Examples
    --------
    >>> with hwt.open(pt).events().batches(rows=1000) as batches:
    ...     sizes = [len(batch) for batch in batches]
    >>> sizes[0]
    1000
    """

    def __init__(
        self, owner: Events, opened: Pass, progress: Progress
    ) -> None:
        self._owner = owner
        self._pass = opened
        self._tell = reporter(progress)
        self._rows = 0
        self._seen: dict[str, Any] = {}
        self._complete = False

    @property
    def schema(self) -> list[Field]:
        """What its columns are."""
        return list(self._pass.stream.schema.fields)

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Batch:
        stream = self._pass.stream
        # Who finds the end has to know of all rows that others got.
        with stream.lock:
            batch = stream.next()
            if batch is None:
                self._end()
                raise StopIteration
            self._rows += len(batch)
            if self._tell is not None:
                self._tell(self._look().get("bytes") or 0, self._pass.total)
            return batch

    def _look(self) -> dict[str, Any]:
        """What the cursors have seen, as long as they are there."""
        if not self._pass.stream.closed:
            self._seen = self._pass.see()
        return self._seen

    def _end(self) -> None:
        stream = self._pass.stream
        if not stream.ended or self._complete:
            return
        self._look()
        self._complete = True
        self._owner._remember(self._stats())
        # Threads and memory of the decoder are of no use any more.
        stream.close()
        if self._tell is not None:
            self._tell(self._pass.total, self._pass.total)

    def _stats(self) -> Stats:
        return Stats(rows=self._rows, complete=self._complete, **self._seen)

    def stats(self) -> Stats:
        """What this pass has seen so far.

        Returns
        -------
        Stats
            Counts of what was decoded, which may be more than was handed out.

        Examples
        --------
        >>> batches = hwt.open(pt).events().batches(rows=10)
        >>> _ = next(batches)
        >>> batches.stats().rows
        10
        """
        with self._pass.stream.lock:
            self._look()
            return self._stats()

    def close(self) -> None:
        """Give the pass up; a thread that waits for a batch gets no more."""
        stream = self._pass.stream
        stream.stop()
        with stream.lock:
            self._look()
            stream.close()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "ended" if self._pass.stream.closed else "open"
        return f"<hwt.Batches of {self._owner.what}: {state}>"


class Collected:
    """All batches of a plan, for consumers of streams."""

    def __init__(self, schema: Schema, batches: list[Batch]) -> None:
        self._schema = schema
        self._batches = batches

    def __arrow_c_schema__(self) -> Any:
        return self._schema.capsule()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return batches_capsule(self._schema, self._batches)
