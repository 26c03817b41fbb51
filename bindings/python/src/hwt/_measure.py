"""What coverage, histograms, tables of samples and differences share."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from hwt import _native, errors
from hwt._filters import filters_to_c
from hwt._hwtdecode import ffi, lib

from hwt._table import Names, Spec, Table
from hwt._words import near, plural, quoted

if TYPE_CHECKING:
    from hwt.trace import Trace

#: Rows that one call into the library reads: far below what somebody waits for.
ROWS = 65536

#: How long before a time reading starts: a seek would leave out a gap that
#: began before it.
LOOK_BACK_NS = 10_000_000


def _one_of(names: Iterable[str]) -> str:
    return f"it is one of {', '.join(names)}"


def near_names(name: str, names: Iterable[str]) -> str:
    """Say which names come near one that is not there."""
    found = near(name, names, 3)
    return f"; near it are {', '.join(map(repr, found))}" if found else ""


def choose(
    what: str,
    value: object,
    names: Sequence[str],
    aliases: Mapping[str, str] | None = None,
) -> int:
    """Find the number of a name; of a wrong one tell what comes near."""
    known = aliases or {}
    if not isinstance(value, str):
        raise TypeError(f"{what}: {quoted(value)} is no name; {_one_of(names)}")
    name = value.replace("_", "-").lower()
    name = known.get(name, name)
    if name in names:
        return names.index(name)
    raise ValueError(
        f"{what}: {quoted(value)} is not known"
        + (near_names(name, [*names, *known]) or f"; {_one_of(names)}")
    )


def invalid(message: str) -> errors.InvalidError:
    """Refuse something that the library would refuse, too."""
    return errors.InvalidError(message, lib.HWTD_E_INVALID)


def names_by(name_of: Callable[[int], Any], n: int) -> list[str]:
    """List what the library calls the numbers of an enumeration."""
    return [_native.text(name_of(i)) for i in range(n)]


def is_trace(one: object) -> bool:
    """Tell whether it is one."""
    from hwt.trace import Trace

    return isinstance(one, Trace)


def traces_of(traces: object) -> list[Trace]:
    """Make a list of one trace or of several."""
    from hwt.trace import Trace

    if isinstance(traces, Trace):
        return [traces]
    if isinstance(traces, (str, bytes, os.PathLike)):
        raise TypeError(
            f"{quoted(traces)} is no trace; hwt.open() makes one of it"
        )
    try:
        found: list[Any] = list(traces)  # type: ignore[call-overload]
    except TypeError:
        found = [traces]
    for trace in found:
        if not isinstance(trace, Trace):
            raise TypeError(f"{quoted(trace)} is no trace; hwt.open() makes one")
    return found


# Text for C.


def text_array(
    texts: Iterable[str | os.PathLike[str]], keep: list[Any]
) -> Any:
    """Make an array of C strings, which lives as long as `keep`."""
    if isinstance(texts, (str, bytes, os.PathLike)):
        texts = [os.fspath(texts)]
    found = [ffi.new("char[]", _native.path_bytes(text)) for text in texts]
    array = ffi.new("char *[]", found or [ffi.NULL])
    keep += [*found, array]
    return array, len(found)


# What was lost.


@dataclass(frozen=True)
class Loss:
    """What of a trace gave nothing, so that nobody knows what ran there.

    Attributes
    ----------
    bytes : int
        Raw bytes of trace that were decoded.
    gap_bytes : int
        Those of them in gaps.
    file_gap_bytes : int
        Bytes of trace files that are damaged.
    gaps : mapping of str to int
        Gaps by reason; an overflow loses no bytes that could be counted.
    """

    bytes: int = 0
    gap_bytes: int = 0
    file_gap_bytes: int = 0
    gaps: Mapping[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """One line if there is a gap, else nothing."""
        n = sum(self.gaps.values())
        if n == 0 and self.gap_bytes + self.file_gap_bytes == 0:
            return []
        reasons = ", ".join(f"{name}: {k}" for name, k in self.gaps.items())
        damage = (
            f", and {self.file_gap_bytes} bytes of damaged files"
            if self.file_gap_bytes
            else ""
        )
        return [
            f"not seen: {plural(n, 'gap')} of {self.gap_bytes} of "
            f"{self.bytes} bytes{damage}" + (f" ({reasons})" if n else "")
        ]

    def __add__(self, other: Loss) -> Loss:
        gaps = dict(self.gaps)
        for name, n in other.gaps.items():
            gaps[name] = gaps.get(name, 0) + n
        return Loss(
            self.bytes + other.bytes,
            self.gap_bytes + other.gap_bytes,
            self.file_gap_bytes + other.file_gap_bytes,
            gaps,
        )


def gaps_of(numbers: Any) -> dict[str, int]:
    """Name the reasons of gaps of which there are any."""
    return {
        _native.text(lib.hwtd_gap_reason_name(i)): int(numbers[i])
        for i in range(lib.HWTD_GAP_REASONS)
        if numbers[i]
    }


def loss_of(info: Any) -> Loss:
    """Take what was lost out of a struct of the library."""
    return Loss(
        info.bytes, info.gap_bytes, info.file_gap_bytes, gaps_of(info.gaps)
    )


# Reading.


class Meter:
    """Tells `progress` how far a job of several parts is."""

    def __init__(self, progress: Any, total: int) -> None:
        self._show = _native.reporter(progress)
        self._total = total
        self._before = 0

    def at(self, done: int) -> None:
        if self._show is not None:
            self._show(min(self._before + done, self._total), self._total)

    def part_done(self, n_bytes: int) -> None:
        self._before += n_bytes
        self.at(0)


def run(
    step: Callable[[], int], meter: Meter, done: Callable[[], int]
) -> None:
    """Call `step` until HWTD_END, and tell how far it is."""

    def one() -> int:
        code = step()
        meter.at(done())
        return code

    _native.run_steps(one)


def read_rows(
    ctype: str, n: int, read: Callable[[int, Any, int, int, Any], int]
) -> tuple[Any, int]:
    """Read up to `n` rows of a table; signals are seen in between."""
    rows = ffi.new(f"{ctype}[]", max(n, 1))
    size = ffi.sizeof(ctype)
    got = ffi.new("size_t *")
    at = 0
    while at < n:
        code = read(at, rows + at, size, min(n - at, ROWS), got)
        if code == lib.HWTD_END:
            break
        at += int(got[0])
    return rows, at


def bytes_of(traces: Iterable[Trace]) -> int:
    """Raw bytes that traces have, for progress."""
    return sum(trace.info.n_bytes for trace in traces)


@contextlib.contextmanager
def locked(*handles: _native.Handle) -> Iterator[None]:
    """Hold several objects, always in the same order: nobody waits for ever."""
    with contextlib.ExitStack() as stack:
        for handle in sorted({id(h): h for h in handles}.items()):
            stack.enter_context(handle[1].lock)
        yield


def options_of(jobs: int | None, filters: Mapping[str, Any]) -> Any:
    """Options of a cursor, with what keeps them alive."""
    for name in ("kinds", "columns"):
        if name in filters:
            raise TypeError(f"{name}: rows are not chosen by it here")
    return filters_to_c({**filters, "jobs": jobs})


def open_runs(
    trace: Trace, jobs: int | None, filters: Mapping[str, Any]
) -> _native.Handle:
    """Begin to count the code of a trace, with its edges."""
    events, keep = options_of(jobs, filters)
    how = _native.new("struct hwtd_runs_options")
    how.flags = lib.HWTD_RUNS_EDGES
    how.events = events
    out = _native.slot("struct hwtd_runs", "hwtd_runs_close")
    err = _native.error()
    with trace._handle.lock:
        _native.check(lib.hwtd_runs_open(trace._handle.c, how, out, err), err)
    del keep
    return _native.Handle.of(out, "hwtd_runs_close", keeps=(trace._handle,))


def runs_bytes(runs: _native.Handle) -> int:
    """Bytes of trace of which code was counted."""
    info = _native.new("struct hwtd_runs_info")
    _native.check(lib.hwtd_runs_info(runs.c, info))
    return int(info.bytes)


def open_calls(
    trace: Trace,
    flags: int,
    jobs: int | None,
    filters: Mapping[str, Any],
) -> _native.Handle:
    """Begin to follow the calls of a trace."""
    events, keep = options_of(jobs, filters)
    how = _native.new("struct hwtd_calls_options")
    how.flags = flags
    how.events = events
    out = _native.slot("struct hwtd_calls", "hwtd_calls_close")
    err = _native.error()
    with trace._handle.lock:
        _native.check(lib.hwtd_calls_open(trace._handle.c, how, out, err), err)
    del keep
    return _native.Handle.of(out, "hwtd_calls_close", keeps=(trace._handle,))


def open_text(path: str | os.PathLike[str], how: Any) -> _native.Handle:
    """Begin to follow the calls in a text."""
    context = _native.context()
    out = _native.slot("struct hwtd_calls", "hwtd_calls_close")
    err = _native.error()
    _native.check(
        lib.hwtd_calls_open_text(
            context.c, _native.path_bytes(path), how, out, err
        ),
        err,
        file=os.fspath(path),
    )
    return _native.Handle.of(out, "hwtd_calls_close", keeps=(context,))


def calls_bytes(calls: _native.Handle) -> int:
    """Bytes of trace of which calls were followed."""
    info = _native.new("struct hwtd_calls_info")
    _native.check(lib.hwtd_calls_info(calls.c, info))
    return int(info.bytes)


# Columns.


class Columns:
    """The columns of a table of `n` rows, mostly members of structs in C."""

    def __init__(self, n: int, ctype: str = "", rows: Any = None) -> None:
        self.n = n
        self.rows = rows
        self._ctype = ctype
        self._specs: list[Spec] = []

    def _add(
        self, name: str, kind: str, values: Any, unit: str, meaning: str
    ) -> None:
        self._specs.append(Spec(name, kind, values, unit, meaning))

    def number(
        self,
        name: str,
        kind: str,
        path: str,
        *,
        unit: str = "",
        meaning: str = "",
        known: Any = None,
        scale: float = 0.0,
    ) -> None:
        values = Spec.member(
            self.rows, self._ctype, path, known=known, scale=scale
        )
        self._add(name, kind, values, unit, meaning)

    def text(self, name: str, path: str, meaning: str = "") -> None:
        values = Spec.member(self.rows, self._ctype, path)
        self._add(name, "text", values, "", meaning)

    def named(
        self,
        name: str,
        path: str,
        names: Names,
        meaning: str = "",
        known: Any = None,
    ) -> None:
        values = Spec.member(
            self.rows, self._ctype, path, names=names, known=known
        )
        self._add(name, "name", values, "", meaning)

    def flag(
        self,
        name: str,
        path: str,
        mask: int,
        meaning: str = "",
        known: Any = None,
    ) -> None:
        values = Spec.member(
            self.rows, self._ctype, path, mask=mask, known=known
        )
        self._add(name, "bool", values, "", meaning)

    def listed(
        self,
        name: str,
        kind: str,
        values: Sequence[Any],
        *,
        unit: str = "",
        meaning: str = "",
    ) -> None:
        self._add(name, kind, values, unit, meaning)

    def table(self, title: str, notes: Iterable[str] = ()) -> Table:
        """Gather them: the table holds copies."""
        return Table._from_rows(self.n, self._specs, title=title, notes=notes)


def branch_names() -> Names:
    """Names of an hwtd_branch."""
    names: list[str] = []
    while True:
        name = _native.text(lib.hwtd_branch_name(len(names)))
        if name == "unknown":
            return Names(names)
        names.append(name)
