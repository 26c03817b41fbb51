"""Failures of the library are exceptions that say what they know."""

from __future__ import annotations

import errno
import io
import pickle
from pathlib import Path
from typing import Any, Callable

import pytest

import hwt
from hwt import _native, testing


def codes() -> "dict[str, int]":
    return {
        name: getattr(_native.lib, name)
        for name in dir(_native.lib)
        if name.startswith("HWTD_E_")
    }


def test_each_code_has_an_exception() -> None:
    found = codes()
    with pytest.raises(KeyboardInterrupt):
        _native.check(found.pop("HWTD_E_CANCELED"))
    assert len(found) == 11
    kinds = set()
    for code in found.values():
        with pytest.raises((hwt.HwtError, MemoryError)) as caught:
            _native.check(code)
        kinds.add(type(caught.value))
        assert str(caught.value)
    assert len(kinds) == 11
    assert MemoryError in kinds
    assert hwt.HwtError not in kinds


@pytest.mark.parametrize("code", ["ENOENT", "EACCES", "EISDIR", "EEXIST"])
def test_what_is_wrong_with_a_file_has_a_public_name(code: str) -> None:
    kind = hwt.errors.io_error(getattr(errno, code))
    assert kind.__name__ in hwt.errors.__all__
    assert type(OSError(getattr(errno, code), "")) in kind.__bases__


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (hwt.InvalidError, ValueError),
        (hwt.TraceIOError, OSError),
        (hwt.NotFoundError, LookupError),
        (hwt.CorruptTraceError, ValueError),
        (hwt.UnrecognizedError, ValueError),
        (hwt.UnsupportedError, NotImplementedError),
        (hwt.StateError, RuntimeError),
        (hwt.ClosedError, ValueError),
    ],
)
def test_an_exception_is_the_builtin_too(kind: type, builtin: type) -> None:
    assert issubclass(kind, builtin)
    assert issubclass(kind, hwt.HwtError)


def test_no_failure_is_handed_through() -> None:
    for code in (0, 1, 2):
        assert _native.check(code) == code


def test_an_error_struct_tells_the_place() -> None:
    err = _native.error()
    err.code = _native.lib.HWTD_E_CORRUPT
    err.offset = 0x123
    err.addr = 0x4000
    err.message = b"a \xff byte"
    with pytest.raises(hwt.CorruptTraceError) as caught:
        _native.check(err.code, err, file="x.hwt")
    error = caught.value
    assert (error.offset, error.address, error.file) == (
        0x123,
        0x4000,
        "x.hwt",
    )
    assert error.message == "x.hwt: a \\xff byte"


def test_what_has_no_place_says_none() -> None:
    err = _native.error()
    err.code = _native.lib.HWTD_E_STATE
    err.offset = 2**64 - 1
    err.addr = 2**64 - 1
    with pytest.raises(hwt.StateError) as caught:
        _native.check(err.code, err)
    error = caught.value
    assert (error.offset, error.address, error.file) == (None, None, None)


@pytest.mark.parametrize("name", [n for n in dir(hwt) if n.endswith("Error")])
def test_exceptions_are_pickled(name: str) -> None:
    kind = getattr(hwt, name)
    error = kind("what", -20, 1, 2, "f", 13)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == "what"


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(hwt.InvalidError, match="NUL"):
        _native.path_bytes("a\0b")


def test_a_closed_handle_says_so() -> None:
    context = _native.Context()
    context.close()
    context.close()
    assert context.closed
    with pytest.raises(hwt.ClosedError, match="context is closed"):
        _ = context.c


@pytest.fixture
def with_a_gap(tmp_path: Path) -> Path:
    """The example, and 40 bytes that are no packet."""
    path = tmp_path / "gap.hwt"
    builder = hwt.Builder.open(hwt.example("pt"))
    builder.add_bytes(0, b"\xff" * 40)
    with builder.seal() as trace:
        trace.save(path)
    return path


@pytest.mark.parametrize(
    ("use", "counted"),
    [
        (lambda t: t.events(strict=True).count(), False),
        (lambda t: list(t.insns(strict=True)), False),
        (lambda t: t.calls(strict=True).count(), False),
        (lambda t: t.gaps(strict=True), False),
        (lambda t: t.profile(strict=True), False),
        (lambda t: t.flame(strict=True), False),
        (lambda t: t.export(io.BytesIO(), "folded", strict=True), False),
        (lambda t: t.hist(strict=True), False),
        (lambda t: t.mem(strict=True), False),
        (lambda t: t.diff(t, "time", strict=True), False),
        (lambda t: testing.account(t, strict=True), False),
        (lambda t: t.coverage(strict=True), True),
        (lambda t: t.diff(t, strict=True), True),
    ],
)
def test_what_is_strict_tells_the_file_and_where_its_gap_is(
    with_a_gap: Path, use: Callable[[Any], object], counted: bool
) -> None:
    with hwt.open(with_a_gap) as trace:
        with pytest.raises(hwt.StrictError) as caught:
            use(trace)
    error = caught.value
    assert error.code == _native.lib.HWTD_E_CORRUPT
    # Counting is done in pieces, in any order.
    assert error.offset == (None if counted else 22746)
    assert error.file == error.filename == str(with_a_gap)
    assert str(error).startswith(f"{with_a_gap}: the trace has a gap")
    assert str(error).count(str(with_a_gap)) == 1
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_file_that_cannot_be_made_is_told_by_its_own_name(
    trace_pt: Any, tmp_path: Path
) -> None:
    path = tmp_path / "nowhere" / "file"
    for write in (
        lambda: trace_pt.export(path, "folded"),
        lambda: testing.write_expectation(path, {"streams": "1"}),
    ):
        with pytest.raises(FileNotFoundError) as caught:
            write()
        assert caught.value.filename == str(path)
        assert "part" not in str(caught.value)


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda t: t.record(77), "record 77"),
        (lambda t: t.exec_context(77), "context 77"),
        (lambda t: t.read_bytes(7), "stream 7"),
        (lambda t: t.read_code(7, 0, 1), "section 7"),
        (lambda t: t.read_code(0, 16, 1), "address 0x10 in section 0"),
    ],
)
def test_what_is_not_there_is_named(
    trace_pt: Any, use: Callable[[Any], object], what: str
) -> None:
    with pytest.raises(hwt.NotFoundError) as caught:
        use(trace_pt)
    assert str(caught.value) == f"there is no {what}"
    assert caught.value.code == _native.lib.HWTD_E_NOT_FOUND
