"""Tests of traces: what a decode gave, compared with what is stored.

An expectation is the text that ``hwtdecode check --expect FILE --update``
writes, see hwtdecode(1), "EXPECTATIONS": both read what the other wrote.  With
pytest::

    pytest_plugins = ["hwt.testing"]  # In conftest.py.

    def test_my_program_traces_as_it_did(hwt_expect):
        with hwt.open("run.hwt") as trace:
            hwt_expect(trace, "run.expect")

``pytest --hwt-update`` stores what was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

from hwt import config
from hwt._filters import filters_to_c, settled
from hwt._native import (
    Handle,
    check,
    error,
    ffi,
    in_file,
    lib,
    new,
    reporter,
    slot,
    text,
)
from hwt._part import Part, replaceable
from hwt._words import quoted
from hwt.facts import Stream
from hwt.trace import Trace

__all__ = [
    "Difference",
    "ExpectationError",
    "ExpectationFileError",
    "account",
    "assert_no_loss",
    "compare",
    "expect",
    "read_expectation",
    "write_expectation",
]

PathLike = Union[str, "os.PathLike[str]"]
Progress = Union[None, bool, Callable[[int, int], object]]
Expectation = Mapping[str, str]

FIRST_LINE = "hwtdecode-expectation 1"
_HASH_START = 1469598103934665603
# As the tool has them.
_MOST_LINE = 510
_MOST_LINES = 1_000_000
# Streams that one cursor reads.
_STREAMS = 256


class ExpectationError(AssertionError):
    """A decode is not what is expected.

    Attributes
    ----------
    differences : tuple of Difference
        Every one of them.
    """

    def __init__(
        self, message: str, differences: Iterable[Difference] = ()
    ) -> None:
        super().__init__(message)
        self.differences = tuple(differences)


class ExpectationFileError(ValueError):
    """A file is no expectation; the message says where."""


@dataclass(frozen=True)
class Difference:
    """A key whose values differ.

    Attributes
    ----------
    key : str
        For instance ``"stream.0.insns"``.
    expected, found : str or None
        None: nothing of that name.
    """

    key: str
    expected: Optional[str]
    found: Optional[str]

    def __str__(self) -> str:
        """As the tool prints it."""
        expected = "nothing" if self.expected is None else self.expected
        found = "nothing" if self.found is None else self.found
        return f"{self.key}: expected {expected}, found {found}"


class _Counts:
    """What one stream gave."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.stats = new("struct hwtd_stats")
        self.hash = _HASH_START

    def lines(self) -> Iterator[tuple[str, str]]:
        s, head = self.stats, f"stream.{self.stream.id}."
        yield head + "tech", self.stream.tech
        yield head + "bytes", str(s.bytes)
        yield head + "gap-bytes", str(s.gap_bytes)
        yield head + "insns", str(s.insns)
        yield head + "blocks", str(s.blocks)
        yield head + "ip-hash", f"{self.hash:#018x}"
        for i in range(lib.HWTD_EV_KINDS):
            # Code is counted above, whatever the level.
            if s.kinds[i] and i not in (lib.HWTD_EV_BLOCK, lib.HWTD_EV_INSN):
                name = text(lib.hwtd_event_kind_name(i))
                yield head + f"rows.{name}", str(s.kinds[i])
        for i in range(lib.HWTD_GAP_REASONS):
            if s.gaps[i] or s.gap_bytes_by_reason[i]:
                name = text(lib.hwtd_gap_reason_name(i))
                yield head + f"gaps.{name}.count", str(s.gaps[i])
                yield (
                    head + f"gaps.{name}.bytes",
                    str(s.gap_bytes_by_reason[i]),
                )


def _count_sink(counts: _Counts, streams: Iterable[Stream]) -> None:
    """Count what is in a sink and in no stream of its sources."""
    sink, s = counts.stream, counts.stats
    if sink.frames is None:
        return
    known = {
        stream.coresight.trace_id
        for stream in streams
        if stream.sink == sink.id and stream.coresight is not None
    }
    missing = [
        n
        for i, n in sink.frames.id_bytes.items()
        if lib.HWTD_CS_FIRST_ID <= i <= lib.HWTD_CS_LAST_ID and i not in known
    ]
    lost = sink.frames.lost_bytes + sink.frames.untold_bytes
    s.gaps[lib.HWTD_GAP_UNSUPPORTED] = len(missing)
    s.gap_bytes_by_reason[lib.HWTD_GAP_UNSUPPORTED] = sum(missing)
    s.gaps[lib.HWTD_GAP_UNSYNCED] = 1 if lost else 0
    s.gap_bytes_by_reason[lib.HWTD_GAP_UNSYNCED] = lost
    s.kinds[lib.HWTD_EV_GAP] = len(missing) + (1 if lost else 0)
    s.bytes = s.gap_bytes = sum(missing) + lost


def _walk(
    trace: Trace,
    some: list[_Counts],
    hashed: bool,
    filters: Mapping[str, Any],
    tell: Callable[[int], object],
) -> None:
    """Decode one stream after the other: each is counted for itself."""
    kinds = ["gap", "insn"] if hashed else ["gap"]
    level = lib.HWTD_LEVEL_INSN if hashed else lib.HWTD_LEVEL_BLOCK
    options, keep = filters_to_c(
        {**filters, "kinds": kinds, "stream": [c.stream.id for c in some]},
        level=level,
    )
    out, err = slot("struct hwtd_events", "hwtd_events_close"), error()
    with trace._handle.lock:
        check(lib.hwtd_events_open(trace._handle.c, options, out, err), err)
    del keep
    with Handle.of(out, "hwtd_events_close", name="cursor") as cursor:
        rows = ffi.new("struct hwtd_event[]", 16384)
        batch = new("struct hwtd_batch")
        batch.events, batch.cap = rows, len(rows)
        batch.stride = ffi.sizeof("struct hwtd_event")
        for counts in some:
            check(
                lib.hwtd_events_seek_offset(
                    cursor.c, counts.stream.id, 0, err
                ),
                err,
            )
            while (
                check(lib.hwtd_events_read(cursor.c, batch, err), err)
                == lib.HWTD_OK
            ):
                if hashed:
                    counts.hash = lib.hwtpy_ip_hash(counts.hash, batch)
                lib.hwtd_events_stats(cursor.c, counts.stats)
                tell(counts.stats.bytes)
            check(lib.hwtd_events_stats(cursor.c, counts.stats))


def _counts(
    trace: Trace,
    hashed: bool,
    progress: Progress,
    filters: Mapping[str, Any],
) -> list[_Counts]:
    for name in ("kinds", "columns"):
        if name in filters:
            raise TypeError(f"{name}: an account is of all rows")
    chosen = {
        name: _ids(name, filters.get(name)) for name in ("stream", "cpu")
    }
    rest = settled({k: v for k, v in filters.items() if k not in chosen})
    streams = trace.streams
    found = [
        _Counts(stream)
        for stream in streams
        if (chosen["stream"] is None or stream.id in chosen["stream"])
        and (chosen["cpu"] is None or stream.cpu in chosen["cpu"])
    ]
    for counts in found:
        if counts.stream.framing != "none":
            _count_sink(counts, streams)
    full = [c for c in found if c.stream.framing == "none"]
    show = reporter(progress)
    total = trace.info.n_bytes
    for at in range(0, len(full), _STREAMS):
        done = sum(c.stats.bytes for c in full[:at])
        some = full[at : at + _STREAMS]

        def tell(_: int, done: int = done, some: Any = some) -> None:
            if show is not None:
                show(done + sum(c.stats.bytes for c in some), total)

        with in_file(trace._path):
            _walk(trace, some, hashed, rest, tell)
    return found


def _ids(name: str, value: Any) -> Optional[set[int]]:
    if value is None:
        return None
    if isinstance(value, Iterable):
        return {config.number(name, one, 32) for one in value}
    return {config.number(name, value, 32)}


def account(
    trace: Trace, *, progress: Progress = None, **filters: Any
) -> dict[str, str]:
    """Decode a trace and count what each stream gave, as it is stored.

    Parameters
    ----------
    trace : Trace
        Open.
    progress : optional
        None, True for a text at a terminal, or a callable of bytes that are
        done and all bytes.
    **filters
        ``stream``, ``cpu``, ``engine``, ``jobs`` and so on, see
        `hwt.Trace.events`. Use the same each time.

    Returns
    -------
    dict of str to str
        Values by keys, in the order of files.

    Examples
    --------
    >>> from hwt.testing import account
    >>> with hwt.open(pt) as trace:
    ...     found = account(trace)
    >>> found["stream.0.insns"], found["stream.0.gap-bytes"]
    ('278757', '0')
    """
    counts = _counts(trace, True, progress, filters)
    found = {"streams": str(len(counts))}
    for one in counts:
        found.update(one.lines())
    return found


def read_expectation(path: PathLike) -> dict[str, str]:
    """Read a stored expectation.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `write_expectation`, or the tool, has written.

    Returns
    -------
    dict of str to str
        Values by keys.

    Raises
    ------
    OSError
        It cannot be read.
    ExpectationFileError
        It is no expectation; says in which line.

    Examples
    --------
    >>> import os, tempfile
    >>> from hwt.testing import read_expectation, write_expectation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.expect")
    ...     write_expectation(path, {"streams": "1"})
    ...     read_expectation(path)
    {'streams': '1'}
    """
    name = os.fspath(path)
    found: dict[str, str] = {}
    number = 0
    with open(name, "rb") as file:
        while True:
            raw = file.readline(_MOST_LINE + 2)
            if not raw:
                break
            number += 1
            long = len(raw.rstrip(b"\n")) > _MOST_LINE
            if long or number > _MOST_LINES:
                raise ExpectationFileError(f"{name}: line {number}: too long")
            if b"\0" in raw:
                raise ExpectationFileError(f"{name}: line {number}: a NUL")
            line = raw.decode("utf-8", "backslashreplace")
            line = line.partition("\n")[0].partition("\r")[0]
            if number == 1:
                if line != FIRST_LINE:
                    raise ExpectationFileError(
                        f"{name}: line 1: not '{FIRST_LINE}'"
                    )
                continue
            if not line or line.startswith("#"):
                continue
            key, blank, value = line.partition(" ")
            if not key or not blank or not value:
                raise ExpectationFileError(
                    f"{name}: line {number}: not 'key value'"
                )
            if key in found:
                raise ExpectationFileError(
                    f"{name}: '{key}' stands there twice"
                )
            found[key] = value
    if number == 0:
        raise ExpectationFileError(f"{name}: empty")
    return found


def write_expectation(path: PathLike, found: Expectation) -> None:
    """Store what was found.

    Parameters
    ----------
    path : str or os.PathLike
        A new or empty file, or an expectation, which is replaced.
    found : mapping of str to str
        What `account` returned.

    Raises
    ------
    ExpectationFileError
        The file is something else: it stays as it is.
    OSError
        It cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from hwt.testing import account, write_expectation
    >>> with hwt.open(pt) as trace, tempfile.TemporaryDirectory() as folder:
    ...     write_expectation(os.path.join(folder, "x"), account(trace))
    """
    name = replaceable(path)
    if name is None:
        raise ExpectationFileError(
            f"{os.fspath(path)}: is no file, and is not replaced"
        )
    try:
        with open(name, "rb") as file:
            head = file.read(len(FIRST_LINE))
        if head and not head.startswith(FIRST_LINE[:-1].encode()):
            raise ExpectationFileError(
                f"{name}: is no expectation, and is not replaced"
            )
    except FileNotFoundError:
        pass
    lines = [FIRST_LINE, *(_line(key, value) for key, value in found.items())]
    data = "".join(f"{line}\n" for line in lines).encode()
    with Part(name) as part:
        with part.open() as out:
            out.write(data)
        part.commit()


def _line(key: str, value: str) -> str:
    """A line that is read as this key and this value again."""
    line = f"{key} {value}"
    if (
        not value
        or not key
        or " " in key
        or key.startswith("#")
        or any(end in line for end in "\n\r\0")
        or len(line.encode()) > _MOST_LINE
    ):
        raise ValueError(
            f"{quoted(key)}, {quoted(value)}: no key and value of a line"
        )
    return line


def compare(expected: Expectation, found: Expectation) -> list[Difference]:
    """List how two accounts differ.

    Parameters
    ----------
    expected, found : mapping of str to str
        As `account` and `read_expectation` return them.

    Returns
    -------
    list of Difference
        First by the order of `expected`, then what only `found` has.

    Examples
    --------
    >>> from hwt.testing import compare
    >>> print(*compare({"streams": "1"}, {"streams": "2"}))
    streams: expected 1, found 2
    """
    differences = [
        Difference(key, value, found.get(key))
        for key, value in expected.items()
        if found.get(key) != value
    ]
    differences += [
        Difference(key, None, value)
        for key, value in found.items()
        if key not in expected
    ]
    return differences


def expect(
    trace: Trace,
    path: PathLike,
    *,
    update: bool = False,
    progress: Progress = None,
    **filters: Any,
) -> None:
    """Assert that a trace decodes to what is stored.

    Loss that is expected is no failure; see `assert_no_loss`.

    Parameters
    ----------
    trace : Trace
        Open.
    path : str or os.PathLike
        The stored expectation.
    update : bool
        Store what was found instead.
    progress : optional
        None, True for a text at a terminal, or a callable of bytes that are
        done and all bytes.
    **filters
        See `account`.

    Raises
    ------
    ExpectationError
        Something differs; the message lists it.
    ExpectationFileError, OSError
        There is no expectation.

    Examples
    --------
    >>> import os, tempfile
    >>> from hwt.testing import expect
    >>> with hwt.open(pt) as trace, tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.expect")
    ...     expect(trace, path, update=True)
    ...     expect(trace, path)
    """
    __tracebackhide__ = True
    # What cannot be read is told before anything is decoded.
    expected = None if update else read_expectation(path)
    found = account(trace, progress=progress, **filters)
    if expected is None:
        write_expectation(path, found)
        return
    differences = compare(expected, found)
    if differences:
        n = len(differences)
        raise ExpectationError(
            f"{trace._path or 'trace'}: {n} "
            f"{'value differs' if n == 1 else 'values differ'} from what is "
            f"expected in {os.fspath(path)}:\n  "
            + "\n  ".join(map(str, differences)),
            differences,
        )


def assert_no_loss(
    trace: Trace, *, progress: Progress = None, **filters: Any
) -> None:
    """Assert that every byte of a trace was decoded, and none is missing.

    Parameters
    ----------
    trace : Trace
        Open.
    progress : optional
        None, True for a text at a terminal, or a callable of bytes that are
        done and all bytes.
    **filters
        See `account`.

    Raises
    ------
    ExpectationError
        There is a gap, or the file is damaged; the message lists gaps by
        reason, and what helps.

    Examples
    --------
    >>> from hwt.testing import assert_no_loss
    >>> with hwt.open(pt) as trace:
    ...     assert_no_loss(trace)
    """
    from hwt.gaps import EXPLANATIONS

    __tracebackhide__ = True
    lines = []
    for one in _counts(trace, False, progress, filters):
        for i in range(lib.HWTD_GAP_REASONS):
            n, lost = one.stats.gaps[i], one.stats.gap_bytes_by_reason[i]
            if not n and not lost:
                continue
            reason = text(lib.hwtd_gap_reason_name(i))
            lines.append(
                f"stream {one.stream.id}: {n} "
                f"{'gap' if n == 1 else 'gaps'} of {lost} bytes: {reason}. "
                + " ".join(EXPLANATIONS[reason])
            )
    # Whole chunks of a file can be lost without a stream to tell of.
    lines += [
        f"damage at {d.file_off:#x} of the file: {d.text}"
        for d in trace.damage
    ]
    if lines:
        raise ExpectationError(
            f"{trace._path or 'trace'}: not every byte was decoded:\n  "
            + "\n  ".join(lines)
        )


# What pytest finds where conftest.py names this module in pytest_plugins.


def pytest_addoption(parser: Any) -> None:
    """Add ``--hwt-update``."""
    parser.getgroup("hwt").addoption(
        "--hwt-update",
        action="store_true",
        default=False,
        help="store what traces decode to as what is expected",
    )


def _fixture() -> Any:
    try:
        import pytest
    except ImportError:
        return None

    @pytest.fixture
    def hwt_expect(request: Any) -> Callable[..., None]:
        """Compare a trace with an expectation beside the test: `expect`."""
        folder = Path(str(request.path)).parent
        update = bool(request.config.getoption("--hwt-update", False))

        def compare_with(trace: Trace, path: PathLike, **options: Any) -> None:
            __tracebackhide__ = True
            expect(trace, folder / path, update=update, **options)

        return compare_with

    return hwt_expect


hwt_expect = _fixture()
