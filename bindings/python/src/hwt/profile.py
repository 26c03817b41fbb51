"""Profiles: what was executed, added up by function, line, thread, stack."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Tuple,
)

from hwt import _profile_tables as tables
from hwt._native import (
    Handle,
    Progress,
    check,
    context,
    error,
    ffi,
    lib,
    new,
    run_steps,
    slot,
)
from hwt._profile_info import (
    SOURCES,
    Loss,
    ProfileInfo,
    Sums,
    inexact_notes,
    loss_notes,
    loss_of,
    of_hundred,
    sums_of,
)
from hwt._sources import Filling, sources_of, trace_bytes
from hwt._table import Table, _nearest
from hwt._words import plural
from hwt.errors import InvalidError, StateError

if TYPE_CHECKING:
    from hwt.flame import Flame
    from hwt.trace import Trace

__all__ = ["Loss", "Profile", "ProfileInfo", "Sums", "report"]

_BY = {
    "function": lib.HWTD_PROFILE_BY_FUNCTION,
    "line": lib.HWTD_PROFILE_BY_LINE,
    "inline": lib.HWTD_PROFILE_BY_INLINE,
    "image": lib.HWTD_PROFILE_BY_IMAGE,
    "thread": lib.HWTD_PROFILE_BY_THREAD,
    "block": lib.HWTD_PROFILE_BY_ADDRESS,
    "cpu": lib.HWTD_PROFILE_BY_CPU,
}


class Profile:
    """Sums of what was executed: by function, line, image, thread, stack.

    Made by `Trace.profile` or `Profile.of`.  It keeps its own texts, so that
    traces can be closed, and profiles of several traces can be merged.

    A profile is made of up to three passes over a trace, which fields never
    mix: ``calls`` give stacks and time, ``runs`` count code and branches, and
    ``events`` add up threads and CPUs.

    Parameters
    ----------
    lines : bool, optional
        Files, lines and inlined functions, too: they are what takes time.
    by_thread : bool, optional
        The tree of stacks has a root for each thread, else one for all.

    Attributes
    ----------
    lines, by_thread : bool
        As given.
    sources : tuple of str
        What it is made of; empty as long as nothing was added.

    Examples
    --------
    >>> profile = hwt.open(pt).profile()
    >>> profile.info.total.calls > 0
    True
    >>> profile.report(by="image").columns[0]
    'image'
    """

    def __init__(self, *, lines: bool = True, by_thread: bool = False) -> None:
        self.lines = bool(lines)
        self.by_thread = bool(by_thread)
        self.sources: Tuple[str, ...] = ()
        self._limited = 0
        self._edges = True
        self._busy = 0
        #: How often something was added.
        self._changes = 0
        self._lookups_: Optional[tables.Lookups] = None
        self._lock = threading.RLock()
        options = new("struct hwtd_profile_options")
        if self.lines:
            options.flags |= lib.HWTD_PROFILE_LINES
        if self.by_thread:
            options.flags |= lib.HWTD_PROFILE_THREADS
        out = slot("struct hwtd_profile", "hwtd_profile_destroy")
        err = error()
        check(
            lib.hwtd_profile_create(context().c, options, out, err),
            err,
        )
        self._handle = Handle.of(out, "hwtd_profile_destroy")

    # Making one.

    @classmethod
    def of(
        cls,
        trace: Trace,
        *,
        lines: bool = True,
        by_thread: bool = False,
        sources: Optional[Iterable[str]] = None,
        edges: bool = True,
        jobs: Optional[int] = None,
        progress: Progress = None,
        **filters: Any,
    ) -> Profile:
        """Decode a trace and add up what it executed.

        Parameters
        ----------
        trace : Trace
            Open.
        lines : bool, optional
            Files, lines and inlined functions, too.
        by_thread : bool, optional
            The tree of stacks has a root for each thread.
        sources : iterable of str, optional
            Which passes are made: ``calls``, ``runs``, ``events``.  By default
            all; with `address` all but calls, which need all code.
        edges : bool, optional
            Count branches, too.
        jobs : int, optional
            Threads that decode; by default as many as there are CPUs.
        progress : None, bool or callable, optional
            True: text on a terminal.  Or called with the bytes that are done
            and those that there are, of all passes.
        **filters
            ``cpu tid pid stream time address engine strict``, as for
            `Trace.events`.

        Returns
        -------
        Profile
            It does not need the trace any more.

        Raises
        ------
        ValueError
            A filter or a source that there is not, or a closed trace.
        KeyboardInterrupt
            Within a fraction of a second; nothing is left of it.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     profile = hwt.profile.Profile.of(trace, sources=["calls"])
        >>> profile.info.total.calls > 0
        True
        """
        self = cls(lines=lines, by_thread=by_thread)
        try:
            self._fill(trace, sources, edges, jobs, progress, filters)
        except BaseException:
            self.close()
            raise
        return self

    def _fill(
        self,
        trace: Trace,
        sources: Optional[Iterable[str]],
        edges: bool,
        jobs: Optional[int],
        progress: Progress,
        filters: Mapping[str, Any],
    ) -> None:
        """All of a trace; after an exception the profile is of no use."""
        from hwt._filters import filters_to_c

        if filters.get("kinds") is not None:
            raise TypeError("kinds= chooses rows, and a profile has none")
        made = sources_of(sources, filters)
        options, keep = filters_to_c({**filters, "jobs": jobs})
        each = trace_bytes(trace)
        with self._lock:
            filling = Filling(self._handle, trace, made, options, edges)
            run_steps(
                filling.step,
                progress,
                lambda: (filling.bytes(each), each * len(made)),
            )
            self._limited += filling.limited
        del keep
        self.sources = made
        self._edges = edges

    def add(
        self,
        trace: Trace,
        *,
        sources: Optional[Iterable[str]] = None,
        jobs: Optional[int] = None,
        progress: Progress = None,
        **filters: Any,
    ) -> Profile:
        """Add another trace, or another part of one.

        Parameters
        ----------
        trace : Trace
            Open.
        sources : iterable of str, optional
            By default those that the profile has.
        jobs : int, optional
            Threads that decode.
        progress : None, bool or callable, optional
            As for `Profile.of`.
        **filters
            As for `Profile.of`.

        Returns
        -------
        Profile
            This one.

        Raises
        ------
        ValueError
            Other sources than it is made of.

        Notes
        -----
        All of it is added, or, after an exception, nothing.

        Examples
        --------
        >>> profile = hwt.profile.Profile()
        >>> with hwt.open(pt) as trace:
        ...     profile.add(trace).add(trace).info.seen["calls"].traces
        2
        """
        self._handle.c
        other = Profile.of(
            trace,
            lines=self.lines,
            by_thread=self.by_thread,
            sources=sources if sources is not None else self.sources or None,
            edges=self._edges,
            jobs=jobs,
            progress=progress,
            **filters,
        )
        try:
            return self.merge(other)
        finally:
            other.close()

    def merge(self, other: Profile) -> Profile:
        """Add all that another profile has.

        Parameters
        ----------
        other : Profile
            Of the same options and sources; it stays as it is.

        Returns
        -------
        Profile
            This one.

        Raises
        ------
        ValueError
            It is the same one, or one of other options or sources.

        Examples
        --------
        >>> with hwt.open(pt) as one:
        ...     a = one.profile()
        >>> with hwt.open(hwt.example("pt_before")) as two:
        ...     b = two.profile()
        >>> calls = a.info.total.calls + b.info.total.calls
        >>> a.merge(b).info.total.calls == calls
        True
        """
        if other is self:
            raise InvalidError("a profile cannot be merged with itself")
        # That one of them is closed is what is wrong first.
        self._handle.c, other._handle.c
        self._check_like(other)
        first, second = sorted((self, other), key=id)
        with first._lock, second._lock:
            self._check_free()
            err = error()
            c, from_ = self._handle.c, other._handle.c
            self._lookups_ = None
            self._changes += 1
            try:
                check(lib.hwtd_profile_merge(c, from_, err), err)
            except BaseException:
                # Half of it may be there: such sums are those of nothing.
                self.close()
                raise
            self.sources = self.sources or other.sources
            self._edges = other._edges
            self._limited += other._limited
        return self

    def _check_like(self, other: Profile) -> None:
        for name in ("lines", "by_thread", "sources", "_edges"):
            mine, theirs = getattr(self, name), getattr(other, name)
            made_of = name in ("sources", "_edges")
            if made_of and not (self.sources and other.sources):
                continue
            if mine != theirs:
                raise InvalidError(
                    "profiles of different options: "
                    f"{name.lstrip('_')}={mine!r} and {theirs!r}"
                )

    def _check_free(self) -> None:
        if self._busy:
            raise StateError(
                "the profile is being exported; add to it afterwards"
            )

    @contextmanager
    def _read(self) -> Iterator[Any]:
        """The profile in C, for one thread."""
        with self._lock:
            yield self._handle.c

    @contextmanager
    def _exported(self) -> Iterator[Any]:
        """The same; nothing is added to it meanwhile."""
        with self._lock:
            c = self._handle.c
            self._busy += 1
            try:
                yield c
            finally:
                self._busy -= 1

    def close(self) -> None:
        """Give it up; once more does nothing.  Tables of it stay."""
        with self._lock:
            self._lookups_ = None
            self._handle.close()

    @property
    def closed(self) -> bool:
        """It was closed."""
        return bool(self._handle.closed)

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @classmethod
    def _for_report(cls, trace: Trace, by: str, **how: Any) -> Profile:
        """A profile that has what a report needs, and no more."""
        if how.get("sources") is None:
            if by in ("line", "inline", "block", "address"):
                how["sources"] = ("runs",)
            elif by == "cpu" or (by == "thread" and not how.get("by_thread")):
                how["sources"] = ("events",)
            elif how.get("address") is None and by in ("function", "image"):
                how["sources"] = ("calls", "runs")
            how.setdefault("edges", False)
        return cls.of(trace, **how)

    # What is in it.

    def _c_info(self) -> Any:
        info = new("struct hwtd_profile_info")
        with self._read() as c:
            check(lib.hwtd_profile_info(c, info))
        return info

    @property
    def info(self) -> ProfileInfo:
        """How much there is of what, and what was seen.

        Examples
        --------
        >>> info = hwt.open(pt).profile().info
        >>> sorted(info.seen)
        ['calls', 'events', 'runs']
        """
        c = self._c_info()
        seen = {
            name: loss_of(name, c.seen[i]) for i, name in enumerate(SOURCES)
        }
        return ProfileInfo(
            images=c.n_images,
            functions=c.n_functions,
            threads=c.n_threads,
            nodes=c.n_nodes,
            blocks=c.n_blocks,
            edges=c.n_edges,
            total=sums_of(c.total),
            idle_ns=c.idle_ns,
            others=c.others,
            without_function=c.without_function,
            without_line=c.without_line,
            seen=seen,
        )

    @property
    def loss(self) -> Loss:
        """What was not seen: of calls if it has them, else of what it has."""
        seen = self.info.seen
        for name in ("calls", "events", "runs"):
            if seen[name].traces:
                return seen[name]
        return seen["calls"]

    @property
    def notes(self) -> Tuple[str, ...]:
        """What it lacks, in words; empty: nothing."""
        if not self.sources:
            return ("nothing was added",)
        return self._notes_of(self.loss.source)

    def _notes_of(
        self, source: str, *, lines: bool = False
    ) -> Tuple[str, ...]:
        """What a table of this source lacks."""
        info = self.info
        notes = loss_notes(info.seen[source])
        total = info.total
        time = total.ns + total.gap_ns + total.off_ns + info.idle_ns
        if source == "calls" and total.gap_ns:
            notes.append(
                f"not seen: {total.gap_ns} of {time} ns "
                f"({of_hundred(total.gap_ns, time)}) in gaps"
            )
        notes += inexact_notes(info.seen[source])
        if info.others:
            notes.append(
                f"not told apart: {info.others} calls, for want of room"
            )
        if source == "calls" and self._limited:
            notes.append(
                f"{self._limited} calls were ended because too many were open"
            )
        insns = info.seen["runs"].insns
        if source == "runs" and info.without_function:
            notes.append(
                "no function is known of: "
                f"{info.without_function} instructions "
                f"({of_hundred(info.without_function, insns)})"
            )
        if lines and info.without_line:
            notes.append(
                f"no line is known of: {info.without_line} instructions "
                f"({of_hundred(info.without_line, insns)})"
            )
        return tuple(notes)

    def _lookups(self, c: Any) -> tables.Lookups:
        if self._lookups_ is None:
            self._lookups_ = tables.Lookups(c, self._c_info())
        return self._lookups_

    # Tables.

    def report(self, by: str = "function") -> Table:
        """What was executed, by what.

        Parameters
        ----------
        by : str, optional
            ``function``, ``line``, ``inline`` (the innermost function, inlined
            or not), ``image``, ``thread``, ``block``, ``cpu``.

        Returns
        -------
        Table
            A row for each, the one that executed most instructions itself
            first.  Columns ``self_*`` and ``total_*`` are of calls: of itself
            only, and with all it called; ``insns`` and ``entered`` or
            ``count`` are of counts of code, or of rows.  Times are ns.

        Raises
        ------
        ValueError
            There is no such table, or the profile was made without what it
            needs.

        Examples
        --------
        >>> table = hwt.open(pt).profile().report("line")
        >>> table.columns[:3]
        ('file', 'line', 'image')
        """
        if by == "address":
            by = "block"
        if by not in _BY:
            raise InvalidError(_nearest(by, _BY, "report by"))
        return tables.report(self, by, _BY[by])

    def callers(self, function: str) -> Table:
        """Who called a function.

        Parameters
        ----------
        function : str
            Its name, as people write it or as the linker knows it.

        Returns
        -------
        Table
            A row for each pair of functions and way to call: ``calls`` and the
            sums of what was called are of calls, ``branches`` is how often a
            branch led from the one to the other.

        Raises
        ------
        LookupError
            No function of this name was executed.

        Examples
        --------
        >>> table = hwt.open(pt).profile().callers("sort")
        >>> set(table.column("callee").to_list())
        {'sort'}
        """
        return tables.relatives(self, function, lib.HWTD_PROFILE_CALLERS)

    def callees(self, function: str) -> Table:
        """What a function called; as `callers`.

        Parameters
        ----------
        function : str
            Its name.

        Returns
        -------
        Table
            A row for each pair of functions and way to call.

        Raises
        ------
        LookupError
            No function of this name was executed.

        Examples
        --------
        >>> table = hwt.open(pt).profile().callees("sort")
        >>> set(table.column("caller").to_list())
        {'sort'}
        """
        return tables.relatives(self, function, lib.HWTD_PROFILE_CALLEES)

    def nodes(self) -> Table:
        """The tree of stacks.

        Returns
        -------
        Table
            A row for each node, with its number in ``node`` and that of its
            caller, which is less, in ``parent``.

        Raises
        ------
        ValueError
            The profile was made without calls.

        Examples
        --------
        >>> next(hwt.open(pt).profile().nodes().rows()).depth
        0
        """
        self._need("calls", "nodes")
        return tables.nodes(self)

    def blocks(self) -> Table:
        """Code that was executed equally often.

        Returns
        -------
        Table
            By image, generation and offset.  ``count`` is how often each
            instruction was executed, ``insns`` how many there are.

        Raises
        ------
        ValueError
            The profile was made without runs.

        Examples
        --------
        >>> min(hwt.open(pt).profile().blocks().column("count").to_list()) > 0
        True
        """
        self._need("runs", "blocks")
        return tables.blocks(self)

    def edges(self) -> Table:
        """Branches, and how often they were taken.

        Returns
        -------
        Table
            By image and offset of both ends.

        Raises
        ------
        ValueError
            The profile was made without runs, or with ``edges=False``.

        Examples
        --------
        >>> "to_function" in hwt.open(pt).profile().edges()
        True
        """
        self._need("runs", "edges")
        if not self._edges:
            raise InvalidError("edges: the profile was made with edges=False")
        return tables.edges(self)

    def _need(self, source: str, what: str) -> None:
        self._handle.c
        if self.sources and source not in self.sources:
            raise InvalidError(
                f"{what}: that needs {source}; the profile is made of "
                + ", ".join(self.sources)
            )

    def flame(self, **how: Any) -> Flame:
        """A flame graph of the stacks; see `hwt.flame.Flame`.

        Parameters
        ----------
        **how
            As for `Flame`.

        Returns
        -------
        Flame
            It does not need the profile any more, but to write lines.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     flame = trace.profile().flame(value="insns")
        >>> flame.value
        'insns'
        """
        from hwt.flame import Flame

        return Flame(self, **how)

    def __repr__(self) -> str:
        if self.closed:
            return "<hwt.Profile: closed>"
        if not self.sources:
            return "<hwt.Profile: empty>"
        info = self.info
        what = [
            plural(info.functions, "function"),
            plural(info.images, "image"),
            plural(info.threads, "thread"),
        ]
        if "calls" in self.sources:
            what.insert(0, plural(info.total.calls, "call"))
        insns = max(loss.insns for loss in info.seen.values())
        what.append(f"{insns} instructions executed")
        lost = self.notes[0] if self.notes else "nothing lost"
        return f"<hwt.Profile: {', '.join(what)}; {lost}>"


def report(trace: Trace, by: str = "function", **how: Any) -> Table:
    """What a trace executed, by what; only the passes that it takes are made.

    Parameters
    ----------
    trace : Trace
        Open.
    by : str, optional
        As for `Profile.report`.
    **how
        As for `Profile.of`.

    Returns
    -------
    Table
        As `Profile.report` gives it.

    Raises
    ------
    ValueError
        There is no such table, or as `Profile.of`.

    Examples
    --------
    >>> from hwt.profile import report
    >>> report(hwt.open(pt), "cpu").columns
    ('cpu', 'self_percent', 'insns')
    """
    if by not in _BY and by != "address":
        raise InvalidError(_nearest(by, _BY, "report by"))
    with Profile._for_report(trace, by, **how) as profile:
        return profile.report(by)
