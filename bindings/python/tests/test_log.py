"""Log lines of the library reach the logger ``hwt``, whoever writes them."""

from __future__ import annotations

import logging
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest

from hwt import _log, _native
from hwt._native import ffi, lib


class Lines(logging.Handler):
    """What arrives."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: List[Tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.levelno, record.getMessage()))


@pytest.fixture
def lines() -> Iterator[List[Tuple[int, str]]]:
    """Lines of the logger during a test."""
    _log.drain()
    logger = logging.getLogger("hwt")
    handler = Lines()
    before = logger.level
    logger.addHandler(handler)
    yield handler.lines
    logger.removeHandler(handler)
    logger.setLevel(before)
    _log.drain()


def write(level: int, message: bytes, area: bytes = b"test") -> None:
    """As the library does."""
    record = _native.new("struct hwtd_log_record")
    kept = [ffi.new("char[]", text) for text in (area, message)]
    record.level = level
    record.area, record.message = kept
    lib.hwtpy_log_sink()(_log.RING, record)


def perf_data_without_trace(path: Path) -> Path:
    """A file that perf could have made: one event of software, no rows."""
    attribute = struct.pack("<IIQQQQ", 1, 64, 9, 1, 0, 0) + bytes(24)
    size = 104
    sections = (size, 80, size, 80, size + 80, 0, 0, 0, 0, 0, 0)
    path.write_bytes(
        b"PERFILE2"
        + struct.pack("<11Q", *sections)
        + bytes(8)
        + attribute
        + bytes(16)
    )
    return path


def test_a_warning_of_the_library_arrives(
    tmp_path: Path, lines: List[Tuple[int, str]]
) -> None:
    path = perf_data_without_trace(tmp_path / "perf.data")
    out = ffi.new("struct hwtd_trace **")
    err = _native.error()
    _native.check(
        lib.hwtd_trace_open(
            _native.context().c,
            _native.path_bytes(path),
            ffi.NULL,
            out,
            err,
        ),
        err,
    )
    lib.hwtd_trace_close(out[0])
    assert len(lines) == 1
    level, message = lines[0]
    assert level == logging.WARNING
    assert message.startswith("perf: no trace is in it")


def test_levels_are_those_of_the_logger(lines: List[Tuple[int, str]]) -> None:
    logger = logging.getLogger("hwt")
    for wanted in (
        logging.ERROR,
        logging.WARNING,
        logging.INFO,
        logging.DEBUG,
    ):
        logger.setLevel(wanted)
        _log.drain()
        for level in (1, 2, 3, 4):
            write(level, b"%d of %d" % (level, wanted))
        _log.drain()
    names = [logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG]
    assert lines == [
        (names[level], f"test: {level + 1} of {wanted}")
        for wanted in names
        for level in range(names.index(wanted) + 1)
    ]


def test_what_is_disabled_is_not_made(lines: List[Tuple[int, str]]) -> None:
    logging.disable(logging.CRITICAL)
    try:
        _log.drain()
        write(1, b"not wanted")
        assert not lib.hwtpy_log_waits(_log.RING)
    finally:
        logging.disable(logging.NOTSET)
    _log.drain()
    assert lines == []


def test_what_does_not_fit_is_counted(lines: List[Tuple[int, str]]) -> None:
    for i in range(300):
        write(2, b"%d" % i)
    _log.drain()
    assert [message for _, message in lines] == [
        *(f"test: {i}" for i in range(256)),
        "44 lines of the log were lost",
    ]
    write(2, b"again")
    _log.drain()
    assert lines[-1] == (logging.WARNING, "test: again")


def test_text_is_cut_and_bytes_are_told(lines: List[Tuple[int, str]]) -> None:
    write(2, b"\xff" + b"m" * 1000, b"a" * 100)
    write(2, b"%s %d {}")
    _log.drain()
    assert lines[0][1] == "a" * 31 + ": \\xff" + "m" * 474
    assert lines[1][1] == "test: %s %d {}"


def test_lines_of_many_threads_all_arrive(
    lines: List[Tuple[int, str]],
) -> None:
    def work(name: int) -> None:
        for i in range(20):
            write(2, b"%d %d" % (name, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _log.drain()
    for name in range(10):
        own = [m for _, m in lines if m.startswith(f"test: {name} ")]
        assert own == [f"test: {name} {i}" for i in range(20)]


def test_a_handler_may_call_the_library() -> None:
    class Calling(logging.Handler):
        n = 0

        def emit(self, record: logging.LogRecord) -> None:
            self.n += 1
            _native.check(0)

    logger = logging.getLogger("hwt")
    handler = Calling()
    logger.addHandler(handler)
    try:
        for i in range(100):
            write(2, b"%d" % i)
        _native.check(0)
    finally:
        logger.removeHandler(handler)
    assert handler.n == 100


AT_THE_END = """
import threading
from hwt import _log, _native
from hwt._native import ffi, lib
record = _native.new("struct hwtd_log_record")
area = message = ffi.new("char[]", b"x")
record.level = 2
record.area, record.message = area, message
sink = lib.hwtpy_log_sink()
started = threading.Event()
def work():
    while True:
        sink(_log.RING, record)
        started.set()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
started.wait()
kept = _native.Context()
kept.itself = kept
"""


def test_lines_while_python_ends_do_no_harm() -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", AT_THE_END],
            check=False,
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
def test_the_child_of_a_fork_has_a_log_of_its_own() -> None:
    script = (
        "import os, logging, sys\n"
        "logging.basicConfig(stream=sys.stdout, format='%(message)s')\n"
        "from hwt import _log, _native\n"
        "from hwt._native import ffi, lib\n"
        "r = _native.new('struct hwtd_log_record')\n"
        "kept = [ffi.new('char[]', t) for t in (b'a', b'parent', b'child')]\n"
        "r.level, r.area, r.message = 2, kept[0], kept[1]\n"
        "lib.hwtpy_log_sink()(_log.RING, r)\n"
        "child = os.fork() == 0\n"
        "if child:\n"
        "    r.message = kept[2]\n"
        "    lib.hwtpy_log_sink()(_log.RING, r)\n"
        "else:\n"
        "    os.wait()\n"
        "_native.check(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split("\n") == ["a: child", "a: parent", ""]
