"""Differences of two traces: functions, calls between them, and branches.

A :class:`Diff` compares sums.  Where two traces first went different ways,
:mod:`hwt.divergence` tells.
"""

from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping
from hwt import _measure, _native
from hwt._filters import settled
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns
from hwt._table import Table
from hwt._words import plural, quoted
from hwt.divergence import (
    Divergence,
    Divergences,
    DivergencesInfo,
    FlowBlock,
    divergences,
)

if TYPE_CHECKING:
    from hwt.profile import Profile
    from hwt.trace import Trace
__all__ = [
    "Diff",
    "DiffInfo",
    "DiffSide",
    "Divergence",
    "Divergences",
    "DivergencesInfo",
    "FlowBlock",
    "divergences",
]
#: Of a number or pointer: it is not 0.
_ANY = (1 << 64) - 1
_SIDES = ("a", "b")


@dataclass(frozen=True)
class DiffSide:
    """One of the two that were compared.

    Attributes
    ----------
    total : int
        What is measured, of all.
    only : int
        Functions that the other has not.
    bytes, gap_bytes, gaps : int
        Raw bytes of trace, those in gaps, and gaps.
    """

    total: int
    only: int
    bytes: int
    gap_bytes: int
    gaps: int


@dataclass(frozen=True)
class DiffInfo:
    """What was compared.

    Attributes
    ----------
    by : str
        What changes are measured by.
    normalized : bool
        The second counts as much as the first in all.
    functions, edges, branches : int
        Rows of each table.
    a, b : DiffSide
        The first and the second.
    same_images, assumed_images, different_images : int
        Images that both have: with equal build-ids; of which nothing tells,
        and that are taken to be equal; and those that differ.
    """

    by: str
    normalized: bool
    functions: int
    edges: int
    branches: int
    a: DiffSide
    b: DiffSide
    same_images: int
    assumed_images: int
    different_images: int


class Diff:
    """What changed from one trace, or profile, to another.

    :meth:`hwt.Trace.diff` makes one of two traces, :meth:`Diff.of` one of
    profiles as well.  It needs neither afterwards.

    Examples
    --------
    >>> with hwt.open(pt) as trace:
    ...     diff = trace.diff(trace)
    >>> diff.info.a.total == diff.info.b.total > 0
    True
    >>> set(diff.functions().to_dict()["change"])
    {0.0}
    """

    def __init__(
        self,
        handle: _native.Handle,
        normalized: bool,
        known: tuple[_Known, _Known],
    ) -> None:
        self._handle = handle
        self._normalized = normalized
        self._known = known

    @classmethod
    def of(
        cls,
        a: Trace | Profile,
        b: Trace | Profile,
        by: str = "insns",
        *,
        normalize: bool = False,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Diff:
        """Compare two traces, or two profiles.

        Functions are the same one if their names and the last names of their
        images are, so that builds can be compared; branches are compared in
        images of equal builds only.

        Parameters
        ----------
        a, b : Trace or Profile
            The first, and the second one.  A profile needs what `by` measures.
        by : {'insns', 'calls', 'time', 'total-time', 'cycles'}
            What changes are measured by: instructions of functions themselves
            and how often they were entered, which counts of code tell; or
            time without and with what they called, and cycles, which need the
            calls to be followed.
        normalize : bool, default False
            The second counts as much as the first in all: changes are those of
            shares.
        jobs : int, optional
            Threads that decode.  Default: all CPUs.
        progress : bool or callable, optional
            True: text on stderr if that is a terminal; or a function of bytes
            done and bytes in all.
        **filters
            What of both traces counts: ``cpu``, ``tid``, ``pid``, ``stream``,
            ``time``, ``address``, ``engine``, ``strict``, as of
            :meth:`hwt.Trace.events`.

        Returns
        -------
        Diff
            Of the second less the first.

        Raises
        ------
        ValueError
            There is no measure of that name, or a trace tells nothing of it.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     diff = trace.diff(trace, by="calls")
        >>> diff.info.by
        'calls'
        """
        from hwt.trace import Trace

        names = _measure.names_by(lib.hwtd_diff_by_name, lib.HWTD_DIFF_BYS)
        no = _measure.choose("by", by, names)
        traces = [one for one in (a, b) if isinstance(one, Trace)]
        filters = settled(filters)
        meter = _measure.Meter(progress, _measure.bytes_of(traces))
        profiles: list[tuple[_native.Handle, bool]] = []
        try:
            for side, one in zip(_SIDES, (a, b)):
                if isinstance(one, Trace):
                    with _native.in_file(one._path):
                        made = _profile_of(
                            one, names[no], meter, jobs, filters
                        )
                    profiles.append((made, True))
                else:
                    if jobs is not None or filters:
                        raise TypeError(
                            f"{side}: what is in a profile was chosen when it "
                            "was made"
                        )
                    profiles.append((_profile_handle(side, one), False))
                _check_measure(profiles[-1][0], names[no], side)
            return cls._of_profiles(
                profiles[0][0], profiles[1][0], no, normalize
            )
        finally:
            for handle, is_ours in profiles:
                if is_ours:
                    handle.close()

    @classmethod
    def _of_profiles(
        cls, a: _native.Handle, b: _native.Handle, by: int, normalize: bool
    ) -> Diff:
        err = _native.error()
        how = _native.new("struct hwtd_diff_options")
        how.by = by
        how.flags = lib.HWTD_DIFF_NORMALIZE if normalize else 0
        out = _native.slot("struct hwtd_diff", "hwtd_diff_destroy")
        context = _native.context()
        with _measure.locked(a, b):
            _native.check(
                lib.hwtd_diff_create(context.c, a.c, b.c, how, out, err), err
            )
            known = _known_of(a), _known_of(b)
        return cls(
            _native.Handle.of(
                out,
                "hwtd_diff_destroy",
                keeps=(context,),
                name="difference",
            ),
            normalize,
            known,
        )

    @property
    def info(self) -> DiffInfo:
        """What was compared, and how much of it was lost."""
        with self._handle.lock:
            return self._info()

    def _info(self) -> DiffInfo:
        c = _native.new("struct hwtd_diff_info")
        _native.check(lib.hwtd_diff_info(self._handle.c, c))
        a, b = (
            DiffSide(
                total=c.total[i],
                only=c.n_only[i],
                bytes=c.bytes[i],
                gap_bytes=c.gap_bytes[i],
                gaps=c.gaps[i],
            )
            for i in range(2)
        )
        return DiffInfo(
            by=_native.text(lib.hwtd_diff_by_name(c.by)),
            normalized=self._normalized,
            functions=c.n_functions,
            edges=c.n_edges,
            branches=c.n_branches,
            a=a,
            b=b,
            same_images=c.same_images,
            assumed_images=c.assumed_images,
            different_images=c.different_images,
        )

    @property
    def notes(self) -> list[str]:
        """What the differences depend on: loss of both, images that differ.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     trace.diff(trace).info.a.gaps
        0
        """
        with self._handle.lock:
            return self._notes()

    def _notes(self) -> list[str]:
        info = self._info()
        notes = []
        for name, side in zip(_SIDES, (info.a, info.b)):
            if side.gaps or side.gap_bytes:
                notes.append(
                    f"{name}: not seen: {plural(side.gaps, 'gap')} of "
                    f"{side.gap_bytes} of {side.bytes} bytes"
                )
        if info.assumed_images:
            notes.append(
                f"{plural(info.assumed_images, 'image')} taken to be the same: "
                "no build-id tells"
            )
        if info.different_images:
            notes.append(
                f"{plural(info.different_images, 'image')} of different "
                "builds: their branches are not compared"
            )
        return notes

    # Tables.

    def _columns(self, what: str, n: int, read: Any) -> Columns:
        ctype = f"struct hwtd_diff_{what}"
        rows, n = _measure.read_rows(
            ctype,
            n,
            lambda at, out, size, cap, got: _native.check(
                read(self._handle.c, at, out, size, cap, got)
            ),
        )
        c = Columns(n, ctype, rows)
        return c

    @staticmethod
    def _changes(c: Columns) -> None:
        c.number("change", "f64", "change", meaning="second less first")
        only = {lib.HWTD_DIFF_ONLY_A: "a", lib.HWTD_DIFF_ONLY_B: "b"}
        both = lib.HWTD_DIFF_ONLY_A | lib.HWTD_DIFF_ONLY_B
        c.listed(
            "only",
            "name",
            [only.get(row.flags & both) for row in c.rows[0 : c.n]],
            meaning="it is in this one only; null: in both",
        )

    def _pair(
        self, c: Columns, name: str, path: str, meaning: str, unit: str = ""
    ) -> None:
        """Columns of both; what a side does not tell is not known."""
        for i, side in enumerate(_SIDES):
            known = getattr(self._known[i], _TOLD_BY[name])
            c.number(
                f"{side}_{name}",
                "u64",
                f"{path}[{i}]",
                unit=unit,
                known=None if known else [False] * c.n,
                meaning=f"{side}: {meaning}",
            )

    def functions(self, *, changed: bool = False) -> Table:
        """List functions: those that changed most first.

        Parameters
        ----------
        changed : bool, default False
            Only those that changed.

        Returns
        -------
        Table
            `function`, `image`, `file_off` (of its first byte in the file, of
            what has no name), `change` (second less first), `only` (``a`` or
            ``b``); and of both, ``a_`` and ``b_``: `insns` and `entered` by
            counts of code, `calls`, `self_insns`, `self_ns`, `total_ns` and
            `self_cycles` by calls.  What was not measured is null.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.diff(trace).functions()
        >>> "take_order" in table.to_dict()["function"]
        True
        """
        with self._handle.lock:
            c = self._columns(
                "function", self._info().functions, lib.hwtd_diff_functions
            )
            c.text("function", "name", "name as people write it")
            c.text("image", "image", "path or name of its image")
            no_function = lib.HWTD_DIFF_NO_FUNCTION
            c.listed(
                "file_off",
                "u64",
                [
                    (
                        None
                        if row.name != ffi.NULL or row.flags & no_function
                        else row.file_off
                    )
                    for row in c.rows[0 : c.n]
                ],
                unit="bytes",
                meaning="its first byte in the file, of what has no name",
            )
            self._changes(c)
            for name, unit, meaning in (
                ("insns", "", "instructions, by counts of code"),
                ("entered", "", "how often it was entered, likewise"),
                ("calls", "", "how often it was called"),
                ("self_insns", "", "instructions in itself, by calls"),
                ("self_ns", "ns", "time in itself"),
                ("total_ns", "ns", "time with what it called"),
                ("self_cycles", "cycles", "cycles in itself"),
            ):
                self._pair(c, name, name, meaning, unit)
            title = f"functions, by {self._info().by}"
            return _changed(c.table(title, self._notes()), changed)

    def edges(self, *, changed: bool = False) -> Table:
        """List calls between functions: those that changed most first.

        Parameters
        ----------
        changed : bool, default False
            Only those that changed.

        Returns
        -------
        Table
            `from_function`, `from_image`, `from_off`, `to_function`,
            `to_image`, `to_off` (offsets: of the first byte in the file, of
            what has no name), `change`, `only`; and of both `branches` by
            counts of code, `calls` by calls.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.diff(trace).edges()
        >>> "take_order" in table.to_dict()["from_function"]
        True
        """
        with self._handle.lock:
            c = self._columns("edge", self._info().edges, lib.hwtd_diff_edges)
            for end in ("from", "to"):
                what = "that calls" if end == "from" else "that is called"
                c.text(f"{end}_function", end, f"function {what}")
                c.text(f"{end}_image", f"{end}_image", "its image")
                c.number(
                    f"{end}_off",
                    "u64",
                    f"{end}_off",
                    unit="bytes",
                    known=(end, _ANY, "clear"),
                    meaning="its first byte in the file, of what has no name",
                )
            self._changes(c)
            self._pair(c, "branches", "branches", "by counts of code")
            self._pair(c, "calls", "calls", "by calls")
            return _changed(
                c.table("calls between functions", self._notes()), changed
            )

    def branches(self, *, changed: bool = False) -> Table:
        """List branches by where they lead: those that changed most first.

        Parameters
        ----------
        changed : bool, default False
            Only those that changed.

        Returns
        -------
        Table
            `image`, `from_off`, `to_image`, `to_off`: the instruction and
            where it leads, in the files; `function`, `to_function`, `branch`
            (its kind), `change`, `only`, and the `count` of both.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.diff(trace).branches()
        >>> "conditional" in table.to_dict()["branch"]
        True
        """
        with self._handle.lock:
            c = self._columns(
                "branch", self._info().branches, lib.hwtd_diff_branches
            )
            c.text("image", "image", "image of the branch")
            c.number(
                "from_off",
                "u64",
                "from_off",
                unit="bytes",
                meaning="the instruction in the file of that",
            )
            c.text("to_image", "to_image", "image that it leads to")
            c.number(
                "to_off",
                "u64",
                "to_off",
                unit="bytes",
                meaning="where it leads in the file of that",
            )
            c.text("function", "function", "function of the branch")
            c.text("to_function", "to_function", "function that it leads to")
            c.named(
                "branch", "branch", _measure.branch_names(), "kind of branch"
            )
            self._changes(c)
            self._pair(c, "count", "count", "how often")
            return _changed(c.table("branches", self._notes()), changed)

    def close(self) -> None:
        """Give up the differences; may be called twice."""
        # What is read of it meanwhile borrows texts.
        with self._handle.lock:
            self._handle.close()

    def __enter__(self) -> Diff:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<hwt.Diff: closed>"
        info = self.info
        return (
            f"<hwt.Diff by {info.by}: {info.a.total} and {info.b.total} in "
            f"all; {plural(info.functions, 'function')}, "
            f"{plural(info.edges, 'edge')}, "
            f"{plural(info.branches, 'branch', 'branches')}>"
        )

    def _repr_html_(self) -> str:
        if self._handle.closed:
            from hwt._repr import closed_html

            return closed_html("hwt.Diff")
        text: str = self.functions(changed=True)._repr_html_()
        return text


@dataclass(frozen=True)
class _Known:
    """What a profile tells of."""

    runs: bool
    calls: bool
    times: bool
    cycles: bool


# Columns of both sides, and what tells them.
_TOLD_BY = {
    "insns": "runs",
    "entered": "runs",
    "branches": "runs",
    "count": "runs",
    "calls": "calls",
    "self_insns": "calls",
    "self_ns": "times",
    "total_ns": "times",
    "self_cycles": "cycles",
}


def _known_of(profile: _native.Handle) -> _Known:
    info = _native.new("struct hwtd_profile_info")
    _native.check(lib.hwtd_profile_info(profile.c, info))
    calls = info.seen[lib.HWTD_PROFILE_CALLS].added != 0
    return _Known(
        runs=info.seen[lib.HWTD_PROFILE_RUNS].added != 0,
        calls=calls,
        times=calls and info.total.ns + info.total.gap_ns != 0,
        cycles=calls and info.total.cycles != 0,
    )


def _changed(table: Table, wanted: bool) -> Table:
    if not wanted:
        return table
    return table.filter(v != 0 for v in table.column("change").to_list())


def _profile_handle(side: str, one: Any) -> _native.Handle:
    from hwt.profile import Profile

    if not isinstance(one, Profile):
        raise TypeError(f"{side}: {quoted(one)} is no trace, and no profile")
    handle: _native.Handle = one._handle
    return handle


def _profile_of(
    trace: Trace,
    by: str,
    meter: _measure.Meter,
    jobs: int | None,
    filters: Mapping[str, Any],
) -> _native.Handle:
    """Make a profile of what `by` needs, and of nothing else."""
    err = _native.error()
    out = _native.slot("struct hwtd_profile", "hwtd_profile_destroy")
    context = _native.context()
    _native.check(lib.hwtd_profile_create(context.c, ffi.NULL, out, err), err)
    profile = _native.Handle.of(
        out, "hwtd_profile_destroy", keeps=(context,)
    )
    try:
        if by in ("insns", "calls"):
            with _measure.open_runs(trace, jobs, filters) as runs:
                _measure.run(
                    lambda: _native.check(
                        lib.hwtd_profile_add_runs(
                            profile.c, runs.c, ffi.NULL, err
                        ),
                        err,
                    ),
                    meter,
                    lambda: _measure.runs_bytes(runs),
                )
        else:
            flags = lib.HWTD_CALLS_ENTERS | lib.HWTD_CALLS_GAPS
            with _measure.open_calls(trace, flags, jobs, filters) as calls:
                _measure.run(
                    lambda: _native.check(
                        lib.hwtd_profile_add_calls(profile.c, calls.c, err),
                        err,
                    ),
                    meter,
                    lambda: _measure.calls_bytes(calls),
                )
        meter.part_done(_measure.bytes_of([trace]))
    except BaseException:
        profile.close()
        raise
    return profile


def _check_measure(profile: _native.Handle, by: str, side: str) -> None:
    """Of calls without time all would be as it was, or gone."""
    if by in ("insns", "calls"):
        return
    info = _native.new("struct hwtd_profile_info")
    _native.check(lib.hwtd_profile_info(profile.c, info))
    known = info.total.cycles if by == "cycles" else info.total.ns
    if info.total.calls and not known:
        what = "cycles" if by == "cycles" else "times"
        raise _measure.invalid(
            f"{side}: of its calls no {what} are known; say by='insns' or "
            "by='calls'"
        )
