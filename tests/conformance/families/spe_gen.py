"""Arm SPE of real programs with exact truth, and with damage."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .case import Case, Fail, Malformed
from .spe import read_samples, run_tool
from .spe_aggregates import AGGREGATES, compare_aggregates
from .tools import Tools

# Keys of the truth, and ours; hexadecimal on both sides, or numbers.
HEX = {"pc": "ip", "target": "branch_target", "prev_target": "prev_target",
       "va": "va", "pa": "pa", "events": "events"}
NUMBERS = {"lat_total": "lat_total", "lat_issue": "lat_issue",
           "lat_xlat": "lat_xlat", "source": "source", "ts": "count"}
CONTEXTS = {"ctx_el1": "context_el1", "ctx_el2": "context_el2"}

CLASSES = {"other": 0, "memory": 1, "branch": 2, "reserved": 3}

# Flags of records that are not whole.
BROKEN = ("damaged", "truncated", "duplicate")

Record = dict[str, Any]


def streams(case: Case) -> Iterator[int]:
    """Yield the numbers of the streams of a case."""
    number = 0
    while case.has(f"{number}.spe"):
        yield number
        number += 1
    if number == 0:
        raise Malformed("there is no 0.spe")


def chunks(case: Case, stream: int) -> list[tuple[int, int]]:
    """Return the buffers of a stream: offset and length."""
    out, end = [], 0
    for line in case.lines(f"{stream}.chunks.jsonl"):
        chunk = json.loads(line)
        if chunk["off"] != end:
            raise Malformed(f"{stream}.chunks.jsonl has a hole at {end}")
        out.append((chunk["off"], chunk["len"]))
        end += chunk["len"]
    return out


def split_option(buffers: Sequence[tuple[int, int]]) -> list[str]:
    """Return the option that tells where buffers begin."""
    starts = ",".join(str(start) for start, _ in buffers[1:])
    return [f"--split-at={starts}"] if starts else []


def fields(row: Record) -> Record:
    """Return a sample of ours with the keys of the truth."""
    out: Record = {"off": row["first"], "len": row["record_bytes"]}
    for names, base in ((HEX, 16), (NUMBERS, 10), (CONTEXTS, 16)):
        for key, name in names.items():
            if name in row:
                value = row[name]
                out[key] = int(value, base) if isinstance(value, str) \
                    else value
    if "op_class" in row:
        out["op"] = [CLASSES[row["op_class"]], int(row["op_raw"], 16)]
    if row.get("branch_target") == "0x0" and \
            row["branch_target_security"] == 0:
        out["target_ns"] = 0
    return out


def truth(record: Record) -> Record:
    """Return what bytes of a record of the truth say."""
    out: Record = {"off": record["off"], "len": record["len"]}
    for key in (*HEX, *NUMBERS, *CONTEXTS):
        if key in record:
            value = record[key]
            out[key] = int(value, 16) if isinstance(value, str) else value
    if "op" in record:
        out["op"] = list(record["op"])
    if record.get("target_ns") == 0:
        out["target_ns"] = 0
    return out


def differences(record: Record, row: Record) -> list[str]:
    """Return the keys in which a sample differs from the truth."""
    want, have = truth(record), fields(row)
    changed = record.get("damage", {}).get("packet") \
        if record["state"] == "altered" else None
    # A changed target has its own bits beside the address.
    if changed == "target":
        want.pop("target_ns", None)
        have.pop("target_ns", None)
    return [key for key in sorted(want.keys() | have.keys())
            if key != changed and want.get(key) != have.get(key)]


def compare_records(case: Case, stream: int, rows: list[Record]
                    ) -> Counter[str]:
    """Compare the records of a stream by the rules of their states."""
    by_offset = {row["first"]: row for row in rows}
    seen: Counter[str] = Counter()
    # Bytes of which anything may come.
    loose: list[tuple[int, int]] = []
    records = [json.loads(line) for line in
               case.lines(f"expected/{stream}.records.jsonl")]
    for record in records:
        state, offset = record["state"], record["off"]
        seen[state] += 1
        if state in ("damaged", "collateral"):
            loose.append((offset, offset + record["len"]))
            continue
        if state not in ("ok", "altered"):
            raise Malformed(f"state {state!r}")
        row = by_offset.pop(offset, None)
        if row is None:
            raise Fail(f"stream {stream}: no record at {offset}, which is "
                       f"{state}")
        wrong = differences(record, row)
        if wrong:
            raise Fail(f"stream {stream}: {', '.join(wrong)} of the record "
                       f"at {offset}, which is {state}, is not as expected")
        flags = [flag for flag in BROKEN if row.get(flag)]
        if flags:
            raise Fail(f"stream {stream}: the record at {offset} is {state}, "
                       f"not {flags[0]}")
    exact = 0
    by_record = {record["off"]: record for record in records}
    for offset, row in by_offset.items():
        if not any(start <= offset < end for start, end in loose):
            raise Fail(f"stream {stream}: a record at {offset} is not "
                       "expected")
        record = by_record.get(offset, {})
        # What is behind a lost end is merged with it, or as it was.
        exact += record.get("state") == "collateral" and \
            not differences(record, row)
    if seen["collateral"]:
        seen["exact collateral"] = exact
    return seen


def line_of(row: Record) -> str:
    """Return a sample as checkpoints are made of it."""
    have = fields(row)
    op = have.get("op", [None, None])
    values = [have["off"], have.get("pc"), *op]
    values += [have.get(key) for key in (
        "events", "lat_total", "lat_issue", "target", "va", "pa", "lat_xlat",
        "source", "ctx_el1", "ts")]
    return " ".join("-" if value is None else f"{value:x}"
                    for value in values) + "\n"


def compare_checkpoints(case: Case, tools: Tools, stream: int,
                        options: Sequence[str]) -> int:
    """Compare hashes over all records; return how many records."""
    want = {}
    for line in case.lines(f"expected/{stream}.checkpoints.txt"):
        count, digest = line.split()
        want[int(count)] = digest
    all_so_far, count = hashlib.sha256(), 0
    path = str(case.path(f"{stream}.spe"))
    for row in read_samples(tools, path, options):
        all_so_far.update(line_of(row).encode())
        count += 1
        if count in want and all_so_far.hexdigest() != want.pop(count):
            raise Fail(f"stream {stream}: other records than expected before "
                       f"record {count}")
    if want:
        raise Fail(f"stream {stream}: {count} records, expected {max(want)}")
    return count


def compare_listing(case: Case, tools: Tools, stream: int,
                    buffers: Sequence[tuple[int, int]]) -> int:
    """Compare the listing of each buffer; return how many lines."""
    ours = run_tool(tools, "packets", str(case.path(f"{stream}.spe")),
                    ["--style=perf", *split_option(buffers)])
    names = iter(buffers)
    count = 0
    for expected in case.lines(f"expected/{stream}.packets.txt"):
        if expected.startswith("# chunk "):
            start, length = next(names, (0, 0))
            if expected != f"# chunk {start} {length}":
                raise Malformed(f"{expected!r} is no buffer")
            continue
        line = next(ours, None)
        if line != expected:
            raise Fail(f"stream {stream}: listing: {line!r}, expected "
                       f"{expected!r}")
        count += 1
    for line in ours:
        raise Fail(f"stream {stream}: listing: {line!r} is not expected")
    return count


def run(case: Case, tools: Tools) -> str:
    """Compare all streams."""
    total: Counter[str] = Counter()
    for stream in streams(case):
        buffers = chunks(case, stream)
        options = split_option(buffers)
        if case.has(f"expected/{stream}.checkpoints.txt"):
            total["records"] += compare_checkpoints(case, tools, stream,
                                                    options)
        if case.has(f"expected/{stream}.records.jsonl"):
            rows = list(read_samples(
                tools, str(case.path(f"{stream}.spe")), options))
            total += compare_records(case, stream, rows)
        if case.has(f"expected/{stream}.packets.txt"):
            total["lines of packets"] += compare_listing(case, tools, stream,
                                                         buffers)
    if not total:
        raise Malformed("nothing is expected")
    if case.has(AGGREGATES) and tools.cli is not None:
        total["sums"] += compare_aggregates(tools.cli, case)
    return ", ".join(f"{count} {what}" for what, count in total.items())
