"""Text of perf-script(1): stacks of calls as magic-trace makes them.

Expected are the lines of the test of magic-trace: BEGIN and END of each call,
with the time since the first event.  Calls are compared by name and order, and
so are times, as magic-trace spreads them: of calls that begin at one time, each
has an equal share of the time up to the next one.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from .case import Case, Fail, Malformed, Skip
from .tools import TIMEOUT, Tools

LINE = re.compile(r"-> +(?:([0-9.]+)(ns|us|ms|s) )?(BEGIN|END  ) (.*)")
UNITS = {"ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000}
INFERRED = " [inferred start time]"


@dataclass
class Edge:
    """Where a call begins or ends."""

    begins: bool
    name: str
    # ns since the first event; None: the text does not say.
    time: int | None
    # Half a unit of the last digit of the text.
    slack: int = 0
    late: bool = False


def expected_edges(lines: list[str]) -> list[Edge]:
    """Read the lines of magic-trace, with late ones where they belong."""
    edges: list[Edge] = []
    start, last = 0, 0
    hoisted = 0
    for line in lines:
        match = LINE.fullmatch(line.rstrip())
        if match is None:
            continue
        number, unit, what, name = match.groups()
        time, slack = None, 0
        if number is not None:
            value = Decimal(number) * UNITS[unit]
            time = int(value)
            # Three digits behind the point are written.
            slack = 0 if unit == "ns" else UNITS[unit] // 1000
        begins = what == "BEGIN"
        late = name.endswith(INFERRED)
        edge = Edge(begins, name.removesuffix(INFERRED), time, slack, late)
        if name.startswith("[decode error"):
            if begins:
                edges.append(edge)
            continue
        # Those of the start are told when all else was.
        if begins and time is not None and \
                (late or time + slack < last or (hoisted and time == first)):
            first = time
            edges.insert(start + hoisted, edge)
            hoisted += 1
            continue
        edges.append(edge)
        if time is not None:
            last = max(last, time)
        depth = sum(1 if e.begins else -1 for e in edges[start:]
                    if not e.name.startswith("[decode error"))
        # All ended: what follows has a start of its own.
        if not begins and depth == 0 and hoisted:
            start, hoisted = len(edges), 0
    return edges


def run_calls(case: Case, tools: Tools) -> list[dict[str, Any]]:
    """Run `hwtdecode calls` on the text of a case."""
    if tools.cli is None:
        raise Skip("the hwtdecode tool was not built")
    path: Path = case.path("input.perf")
    done = subprocess.run(
        [str(tools.cli), "calls", "--text", "--enters", "--no-interpolation",
         "--format=jsonl", str(path)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=TIMEOUT, check=False)
    if done.returncode != 0 or done.stderr:
        raise Fail(f"calls: exit {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def name_of(row: dict[str, Any]) -> str:
    """Name a call as magic-trace does."""
    if row.get("function") is not None:
        return str(row["function"])
    if row.get("untraced"):
        return "[syscall]" if row["began_by"] == "syscall" else "[untraced]"
    address = int(row.get("address", "0"), 16)
    sign = "-" if address >> 63 else ""
    address = (1 << 64) - address if address >> 63 else address
    return f"[unknown @ {sign}{address:#x} ({row.get('image', '')})]"


def our_edges(rows: list[dict[str, Any]], base: int) -> list[Edge]:
    """Begins and ends of calls, times as the text has them."""
    edges: list[Edge] = []
    hoisted = 0
    for row in rows:
        if row["type"] == "call_enter":
            edge = Edge(True, name_of(row), row["begin_ns"] - base)
            if row["began_by"] == "found" and row.get("began_before"):
                edge.late = True
                edges.insert(0, edge)
                hoisted += 1
            else:
                edges.append(edge)
        elif row["type"] == "call":
            edges.append(Edge(False, name_of(row), row["end_ns"] - base))
    return edges


def spread(edges: list[Edge]) -> None:
    """Give begins of one time equal shares of the time up to the next."""
    moving = [edge for edge in edges if not edge.late]
    first = 0
    while first < len(moving):
        time = moving[first].time
        end = first
        while end < len(moving) and moving[end].time == time:
            end += 1
        begins = sum(edge.begins for edge in moving[first:end])
        assert time is not None
        left = (moving[end].time or 0) - time if end < len(moving) else 0
        at = time
        for edge in moving[first:end]:
            edge.time = at
            if edge.begins:
                share = left // begins
                at, left, begins = at + share, left - share, begins - 1
        first = end


def show(edge: Edge) -> str:
    """Say an edge in words."""
    when = "" if edge.time is None else f" at {edge.time}"
    return f"{'begin' if edge.begins else 'end'} of {edge.name}{when}"


def differences(ours: list[Edge], want: list[Edge]) -> list[str]:
    """Say in which edges both differ, those of one place together."""
    matcher = difflib.SequenceMatcher(
        None, [(e.begins, e.name) for e in ours],
        [(e.begins, e.name) for e in want], autojunk=False)
    found = []
    for what, i, i_end, k, k_end in matcher.get_opcodes():
        if what != "equal":
            a = ", ".join(map(show, ours[i:i_end])) or "nothing"
            b = ", ".join(map(show, want[k:k_end])) or "nothing"
            found.append(f"{a}, expected {b}")
            continue
        for one, other in zip(ours[i:i_end], want[k:k_end]):
            # When calls began before the trace is not known to anybody.
            if one.late or one.time is None or other.time is None:
                continue
            if abs(one.time - other.time) > other.slack:
                found.append(f"{show(one)}, expected at {other.time}")
    return found


def first_time(case: Case) -> int:
    """Time of the first event of the text."""
    for line in case.lines("input.perf"):
        match = re.search(r" (\d+)\.(\d{9}):", line)
        if match:
            return int(match.group(1)) * 1000000000 + int(match.group(2))
    raise Malformed("input.perf has no time")


def run(case: Case, tools: Tools) -> str:
    """Compare the calls of a case."""
    rows = run_calls(case, tools)
    want = expected_edges(case.lines("expected/spans.txt"))
    ours = our_edges(rows, first_time(case))
    spread(ours)
    found = differences(ours, want)
    if found:
        # The sum stands for all of them, so that no other one goes unseen.
        digest = hashlib.sha256("; ".join(found).encode()).hexdigest()[:12]
        raise Fail(f"calls: {len(found)} differ, sum {digest}: " +
                   "; ".join(found[:4]))
    return f"{len(want) // 2} calls"
