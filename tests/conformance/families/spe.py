"""Arm SPE packets, as perf lists them, and the records that they are."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

from .case import Case, Fail, Malformed, Skip
from .tools import TIMEOUT, Tools

LINE = re.compile(r"\.  ([0-9a-f]{8}):  ((?:[0-9a-f]{2} )+) *(.*)")


def run_tool(tools: Tools, command: str, path: str,
             options: Sequence[str]) -> Iterator[str]:
    """Run hwtdecode on raw bytes of SPE; yield the lines it prints."""
    if tools.cli is None:
        raise Skip("no hwtdecode beside hwtdecode-flow")
    arguments = [str(tools.cli), command, "--tech=spe", *options, path]
    if command == "events" and tools.decode_jobs > 1:
        arguments.insert(2, f"--jobs={tools.decode_jobs}")
    with subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        yield from (line.rstrip("\n") for line in process.stdout)
        said = process.stderr.read().strip().splitlines()
        if process.wait(TIMEOUT) != 0:
            raise Fail(f"{command}: " + (said[0] if said else
                                         f"exit code {process.returncode}"))


def is_stale(data: str) -> bool:
    """Say whether perf shows words of the packet before for these bytes."""
    if not data.startswith("48 ") or len(data) != 5:
        return False
    value = int(data[3:], 16)
    return value & 0x89 not in (0x08, 0x88) and value & 0xF8 != 0


def parse_line(line: str) -> tuple[int, str, str]:
    """Take one line of ours apart: offset, bytes, words."""
    match = LINE.fullmatch(line)
    if match is None:
        raise Fail(f"listing: cannot read {line!r}")
    return int(match[1], 16), match[2].strip(), match[3]


def compare_listing(case: Case, tools: Tools) -> int:
    """Compare with packets.txt; return how many lines."""
    want = case.lines("expected/packets.txt")
    ours = run_tool(tools, "packets", str(case.path("trace.bin")),
                    ["--style=perf"])
    size = case.path("trace.bin").stat().st_size
    head = next(ours, "")
    if head != f". ... ARM SPE data: size {size:#x} bytes":
        raise Fail(f"listing: it begins with {head!r}")
    for expected in want:
        left, bar, words = expected.partition("| ")
        offset, colon, data = left.partition(":")
        if not bar or not colon:
            raise Malformed(f"packets.txt: cannot read {expected!r}")
        line = next(ours, None)
        if line is None:
            raise Fail(f"listing: nothing, expected {expected!r}")
        have = parse_line(line)
        if have[:2] != (int(offset, 16), data.strip()) or (
                have[2].strip() != words.strip() and not is_stale(have[1])):
            raise Fail(f"listing: {line!r}, expected {expected!r}")
    for line in ours:
        raise Fail(f"listing: {line!r} is not expected")
    return len(want)


def read_samples(tools: Tools, path: str, options: Sequence[str] = ()
                 ) -> Iterator[dict[str, Any]]:
    """Yield the samples of a stream, as `events` has them."""
    for line in run_tool(tools, "events", path, ["--format=jsonl", *options]):
        row = json.loads(line)
        if row["kind"] == "sample":
            yield row


# Events by their names in records.json.
EVENTS = {"retired": 1, "l1d_access": 2, "l1d_refill": 3, "tlb_access": 4,
          "tlb_refill": 5, "not_taken": 6, "mispredicted": 7}

OPERATIONS = {"load gp": {"op_class": "memory", "op": "general",
                          "store": None},
              "branch cond": {"op_class": "branch", "conditional": True,
                              "indirect": None}}


def wanted(record: dict[str, Any]) -> dict[str, Any]:
    """Turn a record of the source's own test into fields of ours."""
    out: dict[str, Any] = {}
    for key, value in record.items():
        if key == "event":
            out["events"] = hex(sum(1 << EVENTS[name] for name in value))
        elif key == "op":
            out.update(OPERATIONS[value])
        elif key == "context":
            out[f"context_el{value['el']}"] = value["id"]
        else:
            name = {"total_lat": "lat_total", "issue_lat": "lat_issue",
                    "xlat_lat": "lat_xlat", "ip_el": "pc_el",
                    "ip_ns": "pc_security", "target": "branch_target",
                    "target_el": "branch_target_el",
                    "target_ns": "branch_target_security",
                    "ts": "count"}.get(key, key)
            out[name] = value
    return out


def compare_records(case: Case, tools: Tools) -> int:
    """Compare with records.json; return how many records."""
    records = json.loads(case.path("expected/records.json").read_text())
    ours = list(read_samples(tools, str(case.path("trace.bin"))))
    if len(ours) != len(records):
        raise Fail(f"records: {len(ours)}, expected {len(records)}")
    for record, row in zip(records, ours, strict=True):
        want = wanted(record)
        for key, value in want.items():
            if row.get(key) != value:
                raise Fail(f"records: {key} of the one at {row['first']} is "
                           f"{row.get(key)}, expected {value}")
        # A packet that the source does not have is none of ours.
        for key in ("va", "pa", "lat_xlat", "branch_target", "source",
                    "prev_target", "context_el1", "context_el2"):
            if key in row and key not in want:
                raise Fail(f"records: {key} of the one at {row['first']} is "
                           f"{row[key]}, expected none")
    return len(records)


def run(case: Case, tools: Tools) -> str:
    """Compare the listing, and the records where there are any."""
    said = [f"{compare_listing(case, tools)} lines of packets"]
    if case.has("expected/records.json"):
        said.append(f"{compare_records(case, tools)} records")
    return ", ".join(said)
