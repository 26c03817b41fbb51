"""Objects of the library live as long as somebody needs them."""

from __future__ import annotations

import gc
import os
import signal
import threading
from pathlib import Path
from typing import Any, List, Tuple

import pytest

import hwt
from hwt import _native, _open
from hwt._native import Handle, ffi, lib, run_steps


def made(closed: List[Any], keeps: object = ()) -> Handle:
    return Handle(ffi.new("int *", 7), closed.append, keeps, name="thing")


def test_a_struct_has_its_size_set() -> None:
    stats = _native.new("struct hwtd_stats")
    assert stats.size == ffi.sizeof("struct hwtd_stats") > 8
    assert bytes(ffi.buffer(stats))[8:] == bytes(stats.size - 8)


def test_text_that_is_no_utf8_is_told_as_bytes() -> None:
    assert _native.text(ffi.new("char[]", b"a\xffb")) == "a\\xffb"
    assert _native.text(ffi.new("char[]", "grün".encode())) == "grün"
    assert _native.text(ffi.NULL) == ""
    assert _native.text_or_none(ffi.NULL) is None
    assert _native.text_or_none(ffi.new("char[]", b"")) == ""


def test_a_path_may_be_of_any_bytes() -> None:
    assert _native.path_bytes(Path("/a/b")) == b"/a/b"
    assert _native.path_bytes(os.fsdecode(b"/\xff")) == b"/\xff"
    with pytest.raises(TypeError):
        _native.path_bytes(3)  # type: ignore[arg-type]


def test_an_id_that_is_not_known_is_none() -> None:
    assert _native.optional_id(0) == 0
    assert _native.optional_id(0xFFFFFFFE) == 0xFFFFFFFE
    assert _native.optional_id(0xFFFFFFFF) is None


def test_closing_twice_closes_once() -> None:
    closed: List[Any] = []
    handle = made(closed)
    assert not handle.closed
    assert handle.c[0] == 7
    with handle:
        pass
    handle.close()
    assert handle.closed
    assert len(closed) == 1
    with pytest.raises(hwt.ClosedError, match="the thing is closed"):
        _ = handle.c


def test_a_handle_that_nobody_has_is_closed() -> None:
    closed: List[Any] = []
    made(closed)
    gc.collect()
    assert len(closed) == 1


def test_a_handle_in_a_cycle_is_closed() -> None:
    class Owner:
        handle: Handle

    closed: List[Any] = []
    owner = Owner()
    owner.handle = made(closed, keeps=owner)
    del owner
    gc.collect()
    assert len(closed) == 1


def test_what_a_handle_keeps_is_closed_after_it() -> None:
    order: List[str] = []
    parent = Handle(ffi.new("int *"), lambda c: order.append("parent"))
    child = Handle(
        ffi.new("int *"), lambda c: order.append("child"), keeps=parent
    )
    del parent
    assert order == []
    child.close()
    assert order == ["child", "parent"]


def test_a_call_of_another_thread_ends_before_the_object_is_gone() -> None:
    closed: List[Any] = []
    handle = made(closed)
    inside, go_on = threading.Event(), threading.Event()
    seen: List[int] = []

    def call(pointer: Any) -> None:
        inside.set()
        go_on.wait(10)
        assert closed == []
        seen.append(pointer[0])

    thread = threading.Thread(target=lambda: call(handle.c))
    thread.start()
    inside.wait(10)
    handle.close()
    assert handle.closed
    go_on.set()
    thread.join()
    assert seen == [7]
    assert len(closed) == 1


def test_all_share_one_context() -> None:
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(_native.context()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(context) for context in found}) == 1


def test_a_context_with_a_limit_keeps_to_it() -> None:
    small = _native.context(max_memory=100)
    assert small is not _native.context()
    out = ffi.new("struct hwtd_trace **")
    err = _native.error()
    with pytest.raises(MemoryError, match="no memory for [0-9]+ bytes"):
        _native.check(
            lib.hwtd_trace_create(small.c, ffi.NULL, out, err), err
        )


def test_steps_go_on_until_the_end() -> None:
    codes = [lib.HWTD_OK, lib.HWTD_OK, lib.HWTD_END, lib.HWTD_OK]
    told: List[Tuple[int, int]] = []
    run_steps(
        lambda: codes.pop(0),
        progress=lambda done, total: told.append((done, total)),
        done=lambda: (100 - 10 * len(codes), 100),
    )
    assert codes == [lib.HWTD_OK]
    assert told == [(70, 100), (80, 100), (100, 100)]


def test_only_the_end_says_that_all_is_done() -> None:
    codes = [lib.HWTD_OK, lib.HWTD_END]
    told: List[Tuple[int, int]] = []
    run_steps(
        lambda: codes.pop(0),
        progress=lambda done, total: told.append((done, total)),
        done=lambda: (50, 50),
    )
    assert told == [(49, 50), (50, 50)]


def test_a_progress_that_raises_ends_the_steps() -> None:
    def tell(done: int, total: int) -> None:
        raise RuntimeError("enough")

    steps: List[int] = []

    def step() -> int:
        steps.append(1)
        return int(lib.HWTD_OK)

    with pytest.raises(RuntimeError, match="enough"):
        run_steps(step, progress=tell)
    assert len(steps) == 1


def test_ctrl_c_is_seen_between_steps() -> None:
    steps: List[int] = []

    def step() -> int:
        steps.append(1)
        if len(steps) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return int(lib.HWTD_OK if len(steps) < 10000 else lib.HWTD_END)

    with pytest.raises(KeyboardInterrupt):
        run_steps(step)
    assert len(steps) < 100


def test_progress_without_a_terminal_prints_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _native.reporter(True) is None
    assert _native.reporter(False) is None
    assert _native.reporter(None) is None
    run_steps(lambda: int(lib.HWTD_END), progress=True)
    assert capsys.readouterr() == ("", "")


def test_progress_at_a_terminal_ends_with_a_newline(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show = _native.reporter(True)
    assert show is not None
    show(1, 4)
    show(4, 4)
    assert capsys.readouterr().err == "\r 25.0 %\r100.0 %\n"


def test_what_a_call_opened_is_closed_if_a_handler_raises_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def held() -> int:
        gc.collect()
        now = ffi.new("uint64_t *")
        lib.hwtd_context_memory(_native.context().c, now, ffi.NULL)
        return int(now[0])

    def interrupted(code: int, *_: Any, **__: Any) -> int:
        assert code == lib.HWTD_OK
        raise KeyboardInterrupt

    before = held()
    with hwt.open(hwt.example("pt")):
        assert held() > before
    assert held() == before
    monkeypatch.setattr(_open, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hwt.open(hwt.example("pt"))
    assert held() == before


def test_garbage_is_closed_once_in_any_order() -> None:
    class Ring:
        """What refers to itself, and so is left to the collector."""

    for _ in range(20):
        ring: Any = Ring()
        ring.me = ring
        ring.trace = hwt.open(hwt.example("pt"))
        ring.flame = ring.trace.profile().flame()
        ring.rows = ring.trace.insns().batches(rows=10, layout="rows")
        next(ring.rows)
        del ring
    gc.collect()
