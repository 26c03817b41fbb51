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

pytest.importorskip("numpy")

#: The example so many times, one behind the other: seconds of decoding.
TIMES = 1000

PROGRAM = """
import sys
import hwt

builder = hwt.Builder.open(sys.argv[1])
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


def interrupt(path: Any, body: str, jobs: int, imports: str = "") -> Any:
    """What it says of SIGINT in a decode, and after how many seconds."""
    program = textwrap.dedent(PROGRAM).format(
        times=TIMES, body=body, jobs=jobs, imports=imports
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
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
    path: Any, says: str, body: str, jobs: int, imports: str = ""
) -> None:
    """The machine may be busy once, but not three times."""
    times = []
    for _ in range(3):
        said, took = interrupt(path, body, jobs, imports)
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
    imports = (
        "import signal\n"
        "def stop(*_): raise TimeoutError('of the handler')\n"
        "signal.signal(signal.SIGINT, stop)"
    )
    soon(
        pt,
        "TimeoutError of the handler",
        "for batch in nothing.batches(): pass",
        1,
        imports,
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
