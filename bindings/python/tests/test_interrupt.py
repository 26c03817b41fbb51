"""Ctrl-C ends a decode at once, whoever asked for it."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest

import hwt

pytest.importorskip("numpy")

#: The example so many times, one behind the other: seconds of decoding.
TIMES = 1000
#: Bytes of a file that is nearly all hole: seconds of reading.
HOLE = 40 << 30

#: What a program may do in the place of Python's KeyboardInterrupt.
OWN_HANDLER = """
import signal
def stop(*_): raise TimeoutError("of the handler")
signal.signal(signal.SIGINT, stop)
"""

PROGRAM = """
import sys
import hwt

builder = hwt.Builder.open(sys.argv[1])
hole = sys.argv[2:]
with hwt.open(sys.argv[1]) as trace:
    raw = trace.read_bytes(0, 0, trace.info.n_bytes)
builder.add_bytes(0, raw * {times})
trace = builder.seal()
rows = trace.insns(columns=["ip", "insns", "time_ns"], jobs={jobs})
nothing = rows.where(tid=1)
{imports}
print("begun", flush=True)
try:
    {body}
except BaseException as error:
    print(type(error).__name__, error, flush=True)
else:
    print("came to its end", flush=True)
"""


def interrupt(
    path: Any, body: str, jobs: int, imports: str = "", hole: Any = ()
) -> Any:
    """What it says of SIGINT in a decode, and after how many seconds."""
    program = textwrap.dedent(PROGRAM).format(
        times=TIMES, body=body, jobs=jobs, imports=imports
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path), *map(str, hole)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            time.sleep(0.3)
            sent = time.monotonic()
            child.send_signal(signal.SIGINT)
            said = child.stdout.readline()
            took = time.monotonic() - sent
        finally:
            child.kill()
    return said, took


def soon(
    path: Any,
    says: str,
    body: str,
    jobs: int = 1,
    imports: str = "",
    hole: Any = (),
) -> None:
    """The machine may be busy once, but not three times."""
    times = []
    for _ in range(3):
        said, took = interrupt(path, body, jobs, imports, hole)
        assert said.startswith(says), said
        times.append(took)
        if took < 0.2:
            return
    assert statistics.median(times) < 0.2, times


@pytest.mark.parametrize(
    "body, jobs",
    [
        ("for batch in rows.batches(): pass", 1),
        ("for batch in rows.batches(rows=1 << 24): pass", 1),
        ("for batch in nothing.batches(): pass", 2),
        ("for row in rows: pass", 1),
        ("nothing.count()", 1),
    ],
)
def test_iterating_ends_with_keyboard_interrupt(pt, body, jobs):
    soon(pt, "KeyboardInterrupt", body, jobs)


def test_tables_end_with_keyboard_interrupt(pt):
    pytest.importorskip("pyarrow")
    soon(pt, "KeyboardInterrupt", "rows.to_arrow()", 1)


def test_what_a_handler_raises_comes_out(pt):
    soon(
        pt,
        "TimeoutError of the handler",
        "for batch in nothing.batches(): pass",
        imports=OWN_HANDLER,
    )


@pytest.mark.parametrize("plan", ["rows", "nothing"])
def test_a_consumer_in_the_main_thread_is_told(pt, plan):
    pytest.importorskip("pyarrow")
    soon(
        pt,
        "OSError interrupted",
        f"pa.table({plan})",
        1,
        # What it imports itself is there before.
        "import pyarrow as pa; pa.table(trace.records())",
    )


def test_polars_in_the_main_thread_is_told(pt):
    pytest.importorskip("polars")
    said, took = interrupt(
        pt,
        "pl.DataFrame(nothing)",
        1,
        "import polars as pl; pl.DataFrame(trace.records())",
    )
    assert "interrupted" in said and took < 2


@pytest.fixture
def damaged(tmp_path, pt):
    """A ``.hwt`` file with a hole that is searched for seconds."""
    path = tmp_path / "damaged.hwt"
    with open(path, "wb") as file:
        file.write(pt.read_bytes()[:4000])
        file.truncate(HOLE)
    return path


@pytest.fixture
def raw(tmp_path):
    """Packets of Intel PT, as long."""
    path = tmp_path / "raw.pt"
    with open(path, "wb") as file:
        file.write(b"\x02\x82" * 8 + b"\x02\x23")
        file.truncate(HOLE)
    return path


def test_opening_ends_with_keyboard_interrupt(pt, damaged):
    soon(pt, "KeyboardInterrupt", "hwt.open(hole[0])", hole=[damaged])


def test_opening_ends_with_what_a_handler_raises(pt, damaged):
    soon(
        pt,
        "TimeoutError of the handler",
        "hwt.open(hole[0])",
        imports=OWN_HANDLER,
        hole=[damaged],
    )


def test_saving_ends_with_keyboard_interrupt(pt, raw, tmp_path):
    soon(
        pt,
        "KeyboardInterrupt",
        "trace.save(hole[1])",
        imports="trace = hwt.open(hole[0], tech='intel-pt')",
        hole=[raw, tmp_path / "saved.hwt"],
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["raw.pt"]


def test_searching_a_rare_packet_ends_with_keyboard_interrupt(pt, raw):
    soon(
        pt,
        "KeyboardInterrupt",
        "trace.packets(kinds=['ptw']).count()",
        imports="trace = hwt.open(hole[0], tech='intel-pt')",
        hole=[raw],
    )


@pytest.fixture
def every_10_ms():
    """Run a function in the handler of a signal, again and again."""
    before = signal.getsignal(signal.SIGALRM)

    def begin(function):
        signal.signal(signal.SIGALRM, lambda *_: function())
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)

    yield begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_handler_may_use_what_the_call_does_not(
    pt, raw, tmp_path, every_10_ms
):
    calls = []
    with hwt.open(raw, tech="intel-pt") as trace, hwt.open(pt) as other:

        def handler():
            calls.append(len(other.read_bytes(0, 0, 16)))
            if len(calls) == 10:
                raise TimeoutError("seen enough")

        every_10_ms(handler)
        with pytest.raises(TimeoutError, match="seen enough"):
            trace.save(tmp_path / "saved.hwt")
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert calls == [16] * 10
        assert len(trace.read_bytes(0, 0, 16)) == 16


def test_a_handler_is_refused_what_the_call_uses(raw, tmp_path, every_10_ms):
    with hwt.Builder.open(raw, tech="intel-pt") as builder:
        trace = builder.seal()
    every_10_ms(lambda: trace.read_bytes(0, 0, 16))
    with pytest.raises(hwt.StateError, match="the signal came into"):
        trace.save(tmp_path / "saved.hwt")
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(trace.read_bytes(0, 0, 16)) == 16
    trace.close()
