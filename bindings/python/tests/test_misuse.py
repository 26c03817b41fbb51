"""Misuse ends in exceptions, never in a crash: run it with a sanitizer, too."""

from __future__ import annotations

import copy
import ctypes
import gc
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import hwt
from hwt import config, images, testing
from hwt._batches import Collected
from hwt._columns import Schema
from hwt._stream import Batch
from hwt.facts import Record

MAIN = 0x400144

# Not of Exception: nothing takes it for a failure.


class Stop(BaseException):
    pass


def test_symbols_of_a_trace_that_another_thread_closes_can_be_read():
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(8):
            trace = hwt.open(hwt.example("pt"))
            ended = []

            def ask(trace=trace, ended=ended):
                with pytest.raises(hwt.ClosedError):
                    while True:
                        trace.symbolize(range(MAIN, MAIN + 500))
                ended.append(True)

            threads = [threading.Thread(target=ask) for _ in range(2)]
            for one in threads:
                one.start()
            time.sleep(0.01)
            trace.close()
            for one in threads:
                one.join()
            assert len(ended) == 2
    finally:
        sys.setswitchinterval(switch)


def test_what_closes_a_trace_in_the_middle_of_a_call_leaves_it_whole(
    trace_pt, monkeypatch
):
    made = images._symbol

    def close_first(address, c):
        trace_pt.close()
        gc.collect()
        return made(address, c)

    monkeypatch.setattr(images, "_symbol", close_first)
    (symbol,) = trace_pt.symbolize([MAIN])
    assert symbol.name == "_start"
    assert trace_pt.closed


@pytest.fixture
def interrupts():
    """Raise Stop somewhere within so many seconds."""

    def stop(signum, frame):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda most: signal.setitimer(
        signal.ITIMER_REAL, random.random() ** 2 * most + 1e-6
    )
    signal.signal(signal.SIGALRM, before)


def test_interrupts_free_nothing_twice_and_leave_no_lock(interrupts, capfd):
    # Modules that are imported in part are nobody's here.
    pytest.importorskip("numpy")
    traces = [hwt.open(hwt.example(name)) for name in ("pt", "spe")]
    jobs = [
        lambda t: t.events(columns=["ip"], jobs=2).head(5),
        lambda t: t.events().columns,
        lambda t: next(t.events(jobs=2).batches(rows=100, layout="rows")),
        lambda t: t.events(jobs=2).__arrow_c_stream__(),
        lambda t: t.symbolize(range(MAIN, MAIN + 50)),
        lambda t: t.calls().columns,
        lambda t: t.hist(),
    ]
    random.seed(5)
    n = 0
    for job in jobs:
        job(traces[0])
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        # There is one for each time that it is asked for.
        try:
            try:
                interrupts(0.02)
                random.choice(jobs)(random.choice(traces))
            except hwt.HwtError:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            n += 1
    assert n > 0
    done = []

    def use():
        for trace in traces:
            trace.symbolize([MAIN])
            done.append(trace.events().count())

    other = threading.Thread(target=use, daemon=True)
    other.start()
    other.join(60)
    assert done == [52503, 3000]
    # What was raised in the middle of closing is not lost.
    assert "ignored" not in capfd.readouterr().err


def in_child(do):
    """Fork, and say how the child ended; it has 60 seconds."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        code = 1
        try:
            do()
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork()")
def test_a_forked_process_reads_traces_but_no_passes_that_were_open(trace_pt):
    pytest.importorskip("numpy")
    plan = trace_pt.events(columns=["ip"], jobs=2)
    batches = plan.batches(rows=100)
    rows = plan.batches(rows=100, layout="rows")
    capsule = plan.__arrow_c_stream__()
    next(batches)
    next(rows)

    def use():
        nonlocal capsule
        for one in (batches, rows):
            with pytest.raises(hwt.StateError, match="was forked"):
                next(one)
        batches.close()
        batches.stats()
        with pytest.raises(hwt.StateError, match="was forked"):
            rows.close()
        capsule = None
        assert plan.count() == 52503
        assert trace_pt.symbolize([MAIN])[0].name == "_start"
        trace_pt.close()

    def drop():
        nonlocal batches, rows, plan
        batches = rows = plan = None

    assert in_child(use) == 0
    assert in_child(drop) == 0
    assert 100 + sum(map(len, batches)) == 52503
    assert 100 + sum(map(len, rows)) == 52503
    assert capsule is not None


def test_capsules_that_somebody_renamed_are_given_back(trace_pt):
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"used"
    batch = next(trace_pt.events().batches())
    for capsule in (
        trace_pt.events().__arrow_c_stream__(),
        *batch.__arrow_c_array__(),
    ):
        assert rename(capsule, name) == 0
    del capsule
    gc.collect()


@pytest.mark.parametrize("wrong", [b"\1" * 200, [1], "a", 0, None])
def test_batches_are_made_of_pointers_of_their_type_alone(trace_pt, wrong):
    batch = next(trace_pt.events().batches())
    with pytest.raises(TypeError, match="ArrowArray"):
        Batch(batch._schema, wrong)
    with pytest.raises(TypeError, match="ArrowSchema"):
        Schema(wrong)
    with pytest.raises(TypeError, match="schema is wanted"):
        Batch(wrong, batch.c)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_is_no_file_is_not_replaced_by_one(trace_pt, tmp_path):
    pytest.importorskip("pyarrow")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    to_file = tmp_path / "to_file"
    to_file.symlink_to(tmp_path / "file")
    plan = trace_pt.events(columns=["ip"])
    for path in (pipe, link):
        with pytest.raises(hwt.InvalidError, match="not a regular file"):
            plan.to_parquet(path)
        with pytest.raises(testing.ExpectationFileError, match="no file"):
            testing.write_expectation(path, {"a": "b"})
    plan.to_parquet(to_file)
    assert pipe.is_fifo() and link.is_symlink() and to_file.is_symlink()
    assert (tmp_path / "file").read_bytes()[:4] == b"PAR1"
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("of", ["plan", "batches"])
def test_threads_that_share_a_reader_of_arrow_get_each_row_once(trace_pt, of):
    arrow = pytest.importorskip("pyarrow")
    source = plan = trace_pt.insns(columns=["ip"])
    if of == "batches":
        batches = list(plan.batches(rows=100))
        source = Collected(batches[0]._schema, batches)
    reader = arrow.RecordBatchReader.from_stream(source)
    found, threads = [], []

    def read():
        try:
            while True:
                found.append(reader.read_next_batch())
        except StopIteration:
            pass

    for _ in range(4):
        threads.append(threading.Thread(target=read))
        threads[-1].start()
    for one in threads:
        one.join()
    table = arrow.Table.from_batches(found)
    assert table.num_rows == plan.count()
    assert sorted(table["ip"].to_pylist(), key=str) == sorted(
        plan.to_arrow()["ip"].to_pylist(), key=str
    )


CLOSED_BY_A_HANDLER = """
import random, signal, time
import hwt

batches = None

def close(signum, frame):
    if batches is not None:
        batches.close()

signal.signal(signal.SIGALRM, close)
random.seed(3)
plan = hwt.open(hwt.example("pt")).events(columns=["ip"], jobs=2)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    batches = plan.batches(rows=1000)
    signal.setitimer(signal.ITIMER_REAL, random.random() ** 2 * 0.01 + 1e-6)
    next(batches, None)
    batches.stats()
    batches.close()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert batches.stats().rows in (0, 1000)
"""


def test_a_handler_may_close_what_is_being_read_or_closed():
    subprocess.run(
        [sys.executable, "-c", CLOSED_BY_A_HANDLER], check=True, timeout=60
    )


def test_a_pass_that_was_copied_is_closed_with_its_last_copy(trace_pt):
    stream = trace_pt.events(columns=["ip"]).batches(rows=100)._pass.stream
    other = copy.copy(stream)
    stream.close()
    del stream
    gc.collect()
    assert other.next() is None


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    "use",
    [
        lambda t: hwt.open(LONG),
        lambda t: hwt.open(LONG + "\0"),
        lambda t: hwt.open(hwt.example(), tech=LONG),
        lambda t: hwt.example(LONG),
        lambda t: hwt.Builder(origin=LONG + "\0"),
        lambda t: Record(LONG),
        lambda t: Record("mmap", name=LONG + "\0"),
        lambda t: config.PtConfig(cpu_model=1 << 100_000),
        lambda t: t.events(kinds=LONG),
        lambda t: t.events(kinds=[LONG.encode()]),
        lambda t: t.events(columns=LONG),
        lambda t: t.events(cpu=LONG),
        lambda t: t.events(cpu=1 << 100_000),
        lambda t: t.events(time=LONG),
        lambda t: t.events(time=[(1, 2, LONG)]),
        lambda t: t.events(engine=LONG).count(),
        lambda t: t.events(engine=LONG + "\0"),
        lambda t: t.events(**{LONG: 1}),
        lambda t: t.events().batches(layout=LONG),
        lambda t: next(t.records().batches()).column(LONG),
        lambda t: t.records().head().column(LONG),
        lambda t: t.report(LONG),
        lambda t: t.profile(sources=LONG),
        lambda t: t.mem(LONG),
        lambda t: t.diff(t, LONG),
        lambda t: t.diff(LONG),
        lambda t: t.flame(value=LONG),
        lambda t: t.coverage(images=LONG + "\0"),
        lambda t: t.maps(at=LONG),
        lambda t: t.save(LONG),
        lambda t: t.export(io.BytesIO(), LONG),
        lambda t: t.export(LONG),
        lambda t: t.export(LONG.encode(), "folded"),
        lambda t: t.export(io.BytesIO(), "folded", value=LONG),
        lambda t: t.export(io.BytesIO(), "folded", title=LONG + "\0"),
        lambda t: t.export(io.BytesIO(), "autofdo", program=LONG),
        lambda t: t.export(io.BytesIO(), "lcov", maps={LONG.encode(): ""}),
    ],
)
def test_messages_do_not_repeat_all_of_what_is_long(trace_pt, use):
    begun = time.monotonic()
    with pytest.raises((hwt.HwtError, ValueError, TypeError, KeyError)) as one:
        use(trace_pt)
    assert 10 < len(str(one.value)) < 2000
    assert time.monotonic() - begun < 2


def test_a_plan_with_many_values_is_shown_in_one_short_line(trace_pt):
    plan = trace_pt.events(cpu=range(100_000))
    assert len(repr(plan)) < 200


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda t: hwt.Trace("run.hwt"), "hwt.open"),
        (lambda t: t.gaps(progress="x"), "progress"),
        (lambda t: t.events().batches(progress=1), "progress"),
        (lambda t: t.events(columns="ip\0x"), "NUL"),
        (lambda t: config.Clock(base_ns=1 << 63), "base_ns"),
        (lambda t: config.Clock(base_ns=-(1 << 63) - 1), "base_ns"),
        (lambda t: t.memory(line_bytes=1 << 40), "line_bytes"),
        (lambda t: t.memory(max_rows=0), "max_rows"),
        (lambda t: t.memory(midr=-1), "midr"),
        (lambda t: t.memory(interval=1.5), "interval"),
    ],
)
def test_what_cannot_be_is_refused_at_once_and_named(trace_pt, use, what):
    with pytest.raises((ValueError, TypeError), match=what):
        use(trace_pt)


def test_a_path_of_bytes_is_that_path(trace_pt, tmp_path):
    class Path:
        def __fspath__(self):
            return os.fsencode(hwt.example("pt"))

    for path in (os.fsencode(hwt.example("pt")), Path()):
        with hwt.open(path) as trace:
            assert f"Trace '{hwt.example('pt')}'" in repr(trace)
            assert trace.export(tmp_path, "folded").rows > 0
    assert [path.name for path in tmp_path.iterdir()] == ["pt.folded"]
    with pytest.raises(FileNotFoundError) as one:
        hwt.open(b"/nowhere/\xff")
    assert str(one.value).startswith(r"/nowhere/\xff: ")
    assert str(one.value).count("xff") == 1


def test_numbers_of_numpy_are_numbers(trace_pt):
    np = pytest.importorskip("numpy")
    one = np.uint8(1)
    assert trace_pt.export(io.BytesIO(), "perfetto", min_ns=one).rows > 0
    info = trace_pt.export(io.BytesIO(), "autofdo", program=np.int64(0))
    assert info.rows > 0
    builder = hwt.Builder()
    builder.add_code(0x1000, b"\xc3" * 3)
    builder.code(0x2000, np.int64(0), pid=7, len=one)
    with builder.seal() as trace:
        assert [i.n_bytes for i in trace.images] == [3]
        assert trace.record(0).image == 0


def test_what_a_trace_is_made_of_is_bytes():
    np = pytest.importorskip("numpy")
    builder = hwt.Builder()
    with pytest.raises(TypeError, match="objects of Python"):
        builder.add_stream("spe", np.array([object()]))
    with pytest.raises(ValueError, match="do not adjoin"):
        builder.add_stream("spe", np.asfortranarray(np.ones((2, 2), "u1")))
    assert builder.seal().streams == ()


def test_files_in_the_making_are_of_one_writer(trace_pt, tmp_path):
    arrow = pytest.importorskip("pyarrow.parquet")
    plan = trace_pt.events(columns=["ip"])
    path = tmp_path / "rows"
    failed = []

    def write(do):
        try:
            for _ in range(3):
                do(path)
        except BaseException as error:
            failed.append(error)

    for do in (
        plan.to_parquet,
        lambda path: trace_pt.export(path, "perfetto"),
        lambda path: testing.write_expectation(tmp_path / "x", {"a": "b"}),
    ):
        threads = [threading.Thread(target=write, args=(do,)) for _ in "abcd"]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        if do == plan.to_parquet:
            assert arrow.read_table(path).num_rows == 52503
    assert failed == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["rows", "x"]


def test_a_title_names_no_folder(trace_pt, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    flame = trace_pt.flame(title="../../outside")
    (name,) = flame.save(folder, "folded")
    assert os.path.dirname(name) == os.path.realpath(folder)


def test_progress_that_stops_an_iteration_loses_no_rows(trace_pt, tmp_path):
    pytest.importorskip("pyarrow")

    def stop(done, total):
        raise StopIteration

    plan = trace_pt.events(columns=["ip"])
    for use in (
        lambda: plan.to_numpy(progress=stop),
        lambda: plan.to_parquet(tmp_path / "rows", progress=stop),
        lambda: list(plan.batches(progress=stop)),
        lambda: list(plan.batches(progress=stop, layout="rows")),
        lambda: trace_pt.profile(progress=stop),
    ):
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            use()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["coverage", "memory"])
def test_what_is_closed_is_told_by_its_name(trace_spe, what):
    made = getattr(trace_spe, what)()
    made.close()
    with pytest.raises(hwt.ClosedError, match=f"the {what} is closed"):
        made.info


def test_progress_needs_no_console(trace_pt, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert trace_pt.profile(progress=True).report().columns


def test_names_of_a_trace_move_no_cursor_where_they_are_printed():
    evil = "\x1b[31m\u202e\r"
    builder = hwt.Builder()
    builder.code(0x1000, b"\xc3" * 4, name=evil, pid=7)
    builder.thread_name(evil, pid=7, tid=7)
    with builder.seal() as trace:
        symbol = trace.symbolize(0x1001, pid=7)
        with pytest.raises(hwt.InvalidError) as error:
            trace.export(io.BytesIO(), "autofdo", program="x")
        shown = [str(symbol), repr(trace.threads), str(error.value)]
    assert symbol.text == evil
    for text in shown:
        assert r"\x1b[31m\u202e\r" in text
        assert text.replace("\n", "").isprintable()
