"""Exports: the bytes of the tool, wherever they go."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any, Callable

import pytest

import hwt
from hwt.errors import InvalidError, NotFoundError
from hwt.exports import formats
from test_profile import FIXTURES, needs_tool

TOOL = os.environ.get("HWTDECODE_TOOL", "")
NAMES = [format.name for format in formats()]
OF_CALLS = [format.name for format in formats() if format.source == "calls"]


def tool_file(path: Path, out: Path, name: str, *args: str) -> bytes:
    """What the tool writes of a trace."""
    command = [TOOL, "export", "--to", name, "-o", str(out), str(path), *args]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


def exported(trace: Any, name: str, **how: Any) -> bytes:
    """What is written to a file object."""
    file = io.BytesIO()
    info = trace.export(file, name, **how)
    assert info.format == name
    assert info.bytes == len(file.getvalue())
    assert (info.files, info.paths) == (1, ())
    return file.getvalue()


def test_formats_are_those_of_the_library() -> None:
    known = {format.name: format for format in formats()}
    assert len(known) == len(formats()) == 15
    assert known["perfetto"].source == "calls"
    assert known["pprof"].source == "profile"
    assert known["lcov"].source == "coverage"
    assert known["bolt"].source == "runs"
    assert known["perf-script"].source == "events"
    assert known["folded"].viewer_bytes is None
    assert all(format.suffixes and format.viewer for format in formats())


@needs_tool
@pytest.mark.parametrize("name", NAMES)
def test_every_format_has_the_bytes_of_the_tool(
    name: str, trace_pt: Any, pt: Path, tmp_path: Path
) -> None:
    wanted = tool_file(pt, tmp_path / "tool", name)
    assert len(wanted) > 500
    assert exported(trace_pt, name) == wanted
    out = tmp_path / "mine"
    info = trace_pt.export(out, name)
    assert out.read_bytes() == wanted
    assert info.paths == (str(out),)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "tool"]


@needs_tool
@pytest.mark.parametrize(
    "name", ["folded", "perfetto", "pprof", "perf-script"]
)
def test_traces_of_others_have_the_bytes_of_the_tool(
    name: str, repo: Path, tmp_path: Path
) -> None:
    for i, case in enumerate(FIXTURES):
        folder = repo / "fixtures" / "perf-data" / case
        root = folder / "root"
        args = ["--root", str(root)] if root.is_dir() else []
        wanted = tool_file(
            folder / "perf.data", tmp_path / f"{i}", name, *args
        )
        how = {"root": root} if root.is_dir() else {}
        with hwt.open(folder / "perf.data", **how) as trace:
            file = io.BytesIO()
            info = trace.export(file, name)
            assert file.getvalue() == wanted
            lost = trace.profile(sources="runs").loss.gaps
        assert bool(info.notes) == bool(lost)


@needs_tool
@pytest.mark.parametrize(
    "name, how, args",
    [
        ("perfetto", {"details": True}, "--details"),
        ("perfetto", {"counters": True}, "--counters"),
        ("chrome", {"min_ns": 500}, "--min-duration 500"),
        ("chrome", {"resolution_ns": 900}, "--resolution 900"),
        ("firefox", {"max_depth": 3}, "--max-depth 3"),
        ("speedscope", {"value": "insns"}, "--value insns"),
        ("speedscope", {"title": 'a"b'}, '--title a"b'),
        ("speedscope", {"interpolate": False}, "--no-interpolation"),
        ("folded", {"gzip": True}, "--gzip"),
        ("folded", {"value": "calls"}, "--value calls"),
        ("pprof", {"code": True}, "--code"),
        ("callgrind", {"code": True}, "--code"),
        ("bolt", {"program": "orders"}, "--program orders"),
        ("autofdo", {"program": 0}, "--program orders"),
        ("lcov", {"sources": "/nowhere"}, "--source /nowhere"),
        ("lcov", {"excludes": ["*table*"]}, "--exclude *table*"),
        ("lcov", {"images": ["orders"]}, "--only-image orders"),
        ("lcov", {"maps": {"/": "/x/"}}, "--map /=/x/"),
        ("perf-script", {"max_depth": 8}, "--max-depth 8"),
        ("perfetto", {"tid": 1001}, "--tid 1001"),
        (
            "folded",
            {"time": (0, 333_333_390_000)},
            "--time 0-333333390000",
        ),
    ],
)
def test_options_are_those_of_the_tool(
    name: str,
    how: dict[str, Any],
    args: str,
    trace_pt: Any,
    pt: Path,
    tmp_path: Path,
) -> None:
    wanted = tool_file(pt, tmp_path / "tool", name, *args.split())
    assert exported(trace_pt, name, **how) == wanted


@needs_tool
def test_files_that_are_split_are_those_of_the_tool(
    trace_pt: Any, pt: Path, tmp_path: Path
) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "mine").mkdir()
    tool_file(
        pt,
        tmp_path / "tool" / "pt.pftrace",
        "perfetto",
        "--split-size",
        "100K",
    )
    wanted = {p.name: p.read_bytes() for p in (tmp_path / "tool").iterdir()}
    assert len(wanted) > 2
    # A folder: the file is called like the trace.
    info = trace_pt.export(
        tmp_path / "mine", "perfetto", split_bytes=100 * 1024
    )
    got = {p.name: p.read_bytes() for p in (tmp_path / "mine").iterdir()}
    assert got == wanted
    assert sorted(os.path.basename(p) for p in info.paths) == sorted(wanted)
    assert info.files == len(wanted)
    assert info.bytes == sum(map(len, wanted.values()))


@pytest.mark.parametrize(
    "file, name",
    [
        ("a.pftrace", "perfetto"),
        ("a.folded", "folded"),
        ("a.svg", "flame-svg"),
        ("a.pb.gz", "pprof"),
        ("a.pftrace.gz", "perfetto"),
        ("a.speedscope.json", "speedscope"),
        ("a.info", "lcov"),
    ],
)
def test_names_of_files_tell_formats(
    file: str, name: str, trace_pt: Any, tmp_path: Path
) -> None:
    from hwt.exports import export_trace

    info = export_trace(trace_pt, tmp_path / file)
    assert info.format == name
    packed = (tmp_path / file).read_bytes()[:2] == b"\x1f\x8b"
    assert packed == file.endswith(".gz")


class Stop(Exception):
    pass


class Failing:
    """A file that takes some bytes, then raises."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, data: bytes) -> int:
        assert isinstance(data, bytes)
        self.room -= len(data)
        if self.room < 0:
            raise Stop
        return len(data)


@pytest.mark.parametrize("room", [0, 1000, 100_000])
def test_what_a_writer_raises_comes_out(room: int, trace_pt: Any) -> None:
    with pytest.raises(Stop):
        trace_pt.export(Failing(room), "perfetto")


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are handed over in the middle of steps, as of large ones."""
    monkeypatch.setattr("hwt.exports._FULL_BYTES", 3000)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("name", ["firefox", "chrome", "lcov"])
def test_large_steps_are_handed_over_in_parts(
    name: str, trace_pt: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    class Sized(io.BytesIO):
        def write(self, data: Any) -> int:
            sizes.append(len(data))
            return super().write(data)

    file = Sized()
    trace_pt.export(file, name)
    assert max(sizes) < 70_000
    monkeypatch.undo()
    assert exported(trace_pt, name) == file.getvalue()


@pytest.mark.usefixtures("small_steps")
def test_what_a_writer_raises_in_a_step_comes_out(
    trace_pt: Any, tmp_path: Path
) -> None:
    for room in (0, 5000, 200_000):
        with pytest.raises(Stop):
            trace_pt.export(Failing(room), "firefox")
    with pytest.raises(OSError):
        trace_pt.export("/dev/full", "firefox")

    class Interrupted:
        def write(self, data: bytes) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trace_pt.export(Interrupted(), "firefox")

    class Closing:
        def write(self, data: bytes) -> None:
            trace_pt.close()

    trace_pt.export(Closing(), "firefox")


class Slow(io.RawIOBase):
    """Takes few bytes at a time, as a pipe may."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data[:777]
        return min(len(data), 777)


def test_a_writer_may_take_less(trace_pt: Any) -> None:
    slow = Slow()
    info = trace_pt.export(slow, "folded")
    assert len(slow.data) == info.bytes
    assert bytes(slow.data) == exported(trace_pt, "folded")


def test_a_writer_may_use_the_trace(trace_pt: Any) -> None:
    class Using:
        def write(self, data: bytes) -> None:
            assert trace_pt.info.n_streams == 1
            trace_pt.export(io.BytesIO(), "folded")

    trace_pt.export(Using(), "speedscope-sampled")


def test_a_trace_may_be_closed_by_its_writer(pt: Path) -> None:
    trace = hwt.open(pt)

    class Closing:
        def write(self, data: bytes) -> None:
            trace.close()

    # What is open of it stays so; or it says so.
    try:
        trace.export(Closing(), "chrome")
    except ValueError as e:
        assert "closed" in str(e)


def test_nothing_is_left_of_a_file_that_failed(
    trace_pt: Any, tmp_path: Path
) -> None:
    old = tmp_path / "old.pftrace"
    old.write_bytes(b"as it was")
    calls = 0

    def progress(*_: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise Stop

    with pytest.raises(Stop):
        trace_pt.export(old, "perfetto", split_bytes=4096, progress=progress)
    assert old.read_bytes() == b"as it was"
    assert list(tmp_path.iterdir()) == [old]


def test_control_c_stops_an_export(trace_pt: Any, tmp_path: Path) -> None:
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(2000):
            trace_pt.export(tmp_path / "a.json", "chrome")
    timer.join()
    # What was interrupted is in the frames of the exception until it is gone.
    gc.collect()
    assert {p.name for p in tmp_path.iterdir()} <= {"a.json"}


def test_wherever_it_is_interrupted_no_part_of_a_file_is_left(
    trace_pt: Any, tmp_path: Path
) -> None:
    """As a handler of a signal may raise before any line."""
    folder = Path(hwt.__file__).parent
    files = {str(folder / name) for name in ("_part.py", "_export_files.py")}

    def until(ends: Callable[[str], bool]) -> None:
        def trace(frame: Any, event: str, _: object) -> Any:
            code = frame.f_code
            if code.co_filename not in files:
                return None
            if event == "line" and ends(f"{code.co_name}:{frame.f_lineno}"):
                sys.settrace(None)
                raise Stop
            return trace

        sys.settrace(trace)
        try:
            trace_pt.export(tmp_path / "a.json", "chrome", split_bytes=1 << 19)
        finally:
            sys.settrace(None)

    # Each line the first and the second time that it is come by.
    passed: Counter[str] = Counter()
    until(lambda line: passed.update([line]) is not None)
    assert len(list(tmp_path.iterdir())) > 2
    for line, times in passed.items():
        for nth in range(1, min(times, 2) + 1):
            there = iter(range(1, nth + 1))
            with pytest.raises(Stop):
                until(lambda now: now == line and next(there) == nth)
            gc.collect()
            names = {p.name for p in tmp_path.iterdir()}
            assert not [name for name in names if ".part" in name], line


def test_a_pipe_and_a_link_are_written_through(
    trace_pt: Any, tmp_path: Path
) -> None:
    wanted = exported(trace_pt, "folded")
    real = tmp_path / "real.folded"
    link = tmp_path / "link.folded"
    link.symlink_to(real)
    trace_pt.export(link, "folded")
    assert link.is_symlink() and real.read_bytes() == wanted
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    trace_pt.export(pipe, "folded")
    reader.join()
    assert got == [wanted] and pipe.is_fifo()
    trace_pt.export("/dev/null", "folded")
    with pytest.raises(OSError):
        trace_pt.export("/dev/full", "folded")


def test_modes_of_files_are_those_of_other_programs(
    trace_pt: Any, tmp_path: Path
) -> None:
    before = os.umask(0o027)
    try:
        trace_pt.export(tmp_path / "a.folded", "folded")
    finally:
        os.umask(before)
    assert (tmp_path / "a.folded").stat().st_mode & 0o777 == 0o640


def test_misuse_is_refused(trace_pt: Any, pt: Path, tmp_path: Path) -> None:
    out = io.BytesIO()
    with pytest.raises(InvalidError, match="did you mean 'perfetto'"):
        trace_pt.export(out, "perfeto")
    with pytest.raises(InvalidError, match="tells no format"):
        trace_pt.export(tmp_path / "a.xyz", None)
    with pytest.raises(InvalidError, match="format= is needed"):
        trace_pt.export(out, None)
    with pytest.raises(TypeError, match="'wb'"):
        trace_pt.export(io.StringIO(), "folded")
    with pytest.raises(TypeError, match="no path"):
        trace_pt.export(5, "folded")
    with pytest.raises(InvalidError, match="that is the trace itself"):
        trace_pt.export(pt, "folded")
    with pytest.raises(InvalidError, match="further files need a name"):
        trace_pt.export(out, "perfetto", split_bytes=1000)
    with pytest.raises(ValueError, match="NUL"):
        trace_pt.export("a\0b", "folded")
    for name, how in (
        ("folded", {"split_bytes": 5}),
        ("folded", {"min_ns": 5}),
        ("bolt", {"max_depth": 5}),
        ("callgrind", {"max_depth": 5}),
        ("bolt", {"value": "time"}),
        ("perfetto", {"code": True}),
        ("folded", {"code": True}),
        ("perfetto", {"program": 0}),
        ("perfetto", {"images": "x"}),
        ("lcov", {"interpolate": False}),
        ("lcov", {"details": True}),
        ("perfetto", {"value": "calls"}),
    ):
        with pytest.raises(InvalidError, match=f"{list(how)[0]}=:"):
            trace_pt.export(out, name, **how)
    with pytest.raises(InvalidError, match="did you mean 'insns'"):
        trace_pt.export(out, "folded", value="insn")
    with pytest.raises(InvalidError, match="did you mean 'orders'"):
        trace_pt.export(out, "bolt", program="order")
    with pytest.raises(NotFoundError):
        trace_pt.export(out, "bolt", program=77)
    with pytest.raises(InvalidError, match="min_ns"):
        trace_pt.export(out, "perfetto", min_ns=-1)
    with pytest.raises(TypeError, match="min_ns"):
        trace_pt.export(out, "perfetto", min_ns=1.5)
    with pytest.raises(InvalidError, match="title"):
        trace_pt.export(out, "perfetto", title="a\0b")
    with pytest.raises(TypeError, match="cpus"):
        trace_pt.export(out, "perfetto", cpus=1)
    with pytest.raises(TypeError, match="kinds"):
        trace_pt.export(out, "perfetto", kinds="gap")
    with pytest.raises(OSError) as e:
        trace_pt.export(tmp_path / "none" / "a", "folded")
    assert isinstance(e.value, FileNotFoundError)
    closed = hwt.open(pt)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        closed.export(out, "folded")
    assert out.getvalue() == b"" and not list(tmp_path.iterdir())


def test_what_a_reader_has_to_know_is_told(trace_pt: Any) -> None:
    out = io.BytesIO()
    info = trace_pt.export(out, "lcov", sources="/nowhere")
    assert info.rows == 0 and "no code of it has lines" in info.warnings[0]
    info = trace_pt.export(out, "folded", value="cycles")
    assert "it has no cycles" in info.warnings[0]
    info = trace_pt.export(out, "perfetto", min_ns=500)
    assert info.dropped > 0 and info.warnings == ()
    (note,) = trace_pt.export(out, "bolt").notes
    assert note.startswith(
        "profile of orders: 278757 instructions; 0 of other"
    )
