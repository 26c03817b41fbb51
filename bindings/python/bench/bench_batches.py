"""What rows cost in Python, beside the loop in C over the same rows.

``bench_batches.py TRACE LOOP`` alternates passes of this process and of LOOP
(``bench_loop.c``), so that both see the same machine, and prints one JSON line
for each way to read: the least time of each, and their ratio.  Where a trace
is to come from that is long enough: ``--save FILE`` writes the example that is
shipped, as often as ``--times`` says.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import numpy as np

import hwt

COLUMNS = ("kind", "insns")
#: HWTD_EV_INSN.
INSN = 2


def of_columns(trace: Any, most: int, jobs: int, rows: int) -> tuple:
    """Instructions, and rows that are one, by columns."""
    n = insns = code = 0
    plan = trace.insns(columns=COLUMNS, jobs=jobs)
    with plan.batches(rows=rows) as batches:
        for batch in batches:
            insns += int(batch["insns"].sum(dtype=np.uint64))
            code += int(np.count_nonzero(batch.column("kind").codes == INSN))
            n += len(batch)
            if n >= most:
                break
    return n, insns, code


def of_rows(trace: Any, most: int, jobs: int, rows: int) -> tuple:
    """The same of rows as the library has them."""
    n = insns = code = 0
    plan = trace.insns(jobs=jobs)
    with plan.batches(rows=rows, layout="rows") as batches:
        for batch in batches:
            insns += int(batch["insns"].sum(dtype=np.uint64))
            code += int(np.count_nonzero(batch["kind"] == INSN))
            n += len(batch)
            if n >= most:
                break
    return n, insns, code


def timed(function: Callable[[], tuple]) -> dict:
    """Times of a pass."""
    wall, cpu = time.perf_counter(), time.process_time()
    n, insns, code = function()
    return {
        "rows": n,
        "insns": insns,
        "code": code,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
    }


def compare(args: argparse.Namespace, trace: Any) -> None:
    """Batches beside the loop, pass by pass."""
    ways = [
        (name, rows, function)
        for name, function in (("columns", of_columns), ("rows", of_rows))
        for rows in args.batch
    ]
    for jobs in args.jobs:
        with subprocess.Popen(
            [args.loop, args.trace, str(args.rows), str(jobs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as loop:
            assert loop.stdin is not None and loop.stdout is not None
            found: dict = {}
            for _ in range(args.rounds):
                loop.stdin.write("\n")
                loop.stdin.flush()
                in_c = json.loads(loop.stdout.readline())
                found.setdefault("c", []).append(in_c)
                for name, rows, function in ways:
                    found.setdefault((name, rows), []).append(
                        timed(lambda: function(trace, args.rows, jobs, rows))
                    )
            loop.stdin.close()
        for name, rows, _ in ways:
            for one in found[name, rows] + found["c"]:
                # All rows of the trace but a few are single instructions.
                assert one["code"] == one["insns"], one
            line = {"layout": name, "batch": rows, "jobs": jobs}
            for what in ("wall", "cpu"):
                ours = min(
                    one[what] / one["rows"] for one in found[name, rows]
                )
                theirs = min(one[what] / one["rows"] for one in found["c"])
                line[what + "_ns"] = round(ours * 1e9, 2)
                line[what + "_ns_c"] = round(theirs * 1e9, 2)
                line[what + "_ratio"] = round(ours / theirs, 3)
            print(json.dumps(line), flush=True)


def speed_up(trace: Any, most: int) -> None:
    """Passes of threads at the same time, beside one after the other."""
    times = {}
    for threads in (1, 2):
        start = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(
                pool.map(
                    lambda _: of_columns(trace, most, 1, 65536), range(4)
                )
            )
        times[threads] = time.perf_counter() - start
    print(
        json.dumps(
            {
                "measure": "threads",
                "one": round(times[1], 3),
                "two": round(times[2], 3),
                "speed_up": round(times[1] / times[2], 2),
            }
        ),
        flush=True,
    )


def stream(trace: Any, most: int) -> None:
    """Memory while a consumer of Arrow reads a long stream."""
    import pyarrow as pa

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    n = 0
    # A trace that is too short is read again.
    for _ in itertools.count():
        plan = trace.insns()
        columns = len(plan.columns)
        for batch in pa.RecordBatchReader.from_stream(plan):
            n += batch.num_rows
            if n >= most:
                break
        if n >= most:
            break
    print(
        json.dumps(
            {
                "measure": "stream",
                "rows": n,
                "columns": columns,
                "seconds": round(time.perf_counter() - start, 2),
                "rss_before_mib": before >> 10,
                "rss_most_mib": resource.getrusage(
                    resource.RUSAGE_SELF
                ).ru_maxrss
                >> 10,
            }
        ),
        flush=True,
    )


def save(path: str, times: int) -> None:
    """A long trace: the example, again and again."""
    with hwt.open(hwt.example("pt")) as trace:
        raw = trace.read_bytes(0, 0, trace.info.n_bytes)
    builder = hwt.Builder.open(hwt.example("pt"))
    builder.add_bytes(0, raw * (times - 1))
    with builder.seal() as trace:
        trace.save(path, images=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    parser.add_argument("loop", nargs="?")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, nargs="+", default=[65536])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--stream", type=int, metavar="ROWS")
    parser.add_argument("--threads", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--times", type=int, default=100)
    args = parser.parse_args()
    if args.save:
        save(args.trace, args.times)
    with hwt.open(args.trace) as trace:
        if args.loop:
            compare(args, trace)
        if args.threads:
            speed_up(trace, args.rows)
        if args.stream:
            stream(trace, args.stream)


if __name__ == "__main__":
    main()
