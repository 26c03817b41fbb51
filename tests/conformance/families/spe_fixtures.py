"""The repository's own small cases of Arm SPE: samples, gaps and packets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .case import Case, Fail, Malformed
from .spe import parse_line, run_tool
from .tools import Tools

TRACE = "trace.spe"

Sample = dict[str, Any]

# Compared where a case says them: they depend on more than the record.
OPTIONAL = frozenset(("event_names", "source_name", "time_ns"))

# Everything that is told of a record; a case states all of it.
FIELDS = frozenset((
    "first", "record_bytes", "ip", "pc_el", "pc_security", "branch_target",
    "branch_target_el", "branch_target_security", "prev_target",
    "prev_target_el", "prev_target_security", "va", "va_tag", "pa", "pa_tag",
    "pa_checked", "pa_security", "lat_total", "lat_issue", "lat_xlat",
    "op_class", "op", "op_raw", "vector_bits", "events", "source",
    "context_el1", "context_el2", "count", "packets",
    "store", "conditional", "floating_point", "simd", "predicated",
    "gather_scatter", "atomic", "exclusive", "acquire_release", "gcs_common",
    "indirect", "gcs", "link", "return", "no_link_return",
    "damaged", "duplicate", "truncated", "headless", "more_extras",
    "total_saturated", "issue_saturated", "xlat_saturated", "count_back"))


def options(case: Case) -> list[str]:
    """Return the options for what is known of the CPU, and for buffers."""
    params = case.section("params")
    out = []
    for key, value in params.get("spe", {}).items():
        name = key if key == "clock" else f"spe-{key.replace('_', '-')}"
        out.append(f"--{name}={value}")
    buffers = params.get("buffers", [])
    if buffers:
        out.append("--split-at=" + ",".join(map(str, buffers)))
    return out


def differences(want: Sample, have: Sample) -> list[str]:
    """Return the keys in which a sample is not as expected."""
    keys = (FIELDS & (want.keys() | have.keys())) | (OPTIONAL & want.keys())
    return [key for key in sorted(keys) if want.get(key) != have.get(key)]


def compare_samples(want: Sequence[Sample], have: Sequence[Sample]) -> int:
    """Compare all samples; return how many."""
    for expected, ours in zip(want, have, strict=False):
        if not expected.keys() <= FIELDS | OPTIONAL:
            raise Malformed(f"samples.jsonl: {expected}")
        for key in differences(expected, ours):
            raise Fail(f"samples: {key} of the one at {ours['first']} is "
                       f"{ours.get(key)}, expected {expected.get(key)}")
    if len(want) != len(have):
        raise Fail(f"samples: {len(have)}, expected {len(want)}")
    return len(want)


def compare_gaps(want: Sequence[str], have: Sequence[Sample]) -> int:
    """Compare reason and place of all gaps; return how many."""
    ours = [f"{gap['reason']} {gap['first']:x} {gap['end']:x}"
            for gap in have]
    if ours != list(want):
        raise Fail(f"gaps: {ours}, expected {list(want)}")
    return len(ours)


def compare_packets(case: Case, tools: Tools, said: Sequence[str]) -> int:
    """Packets cover all bytes; where they are stated, they are those."""
    path = case.path(TRACE)
    rows = [json.loads(line) for line in run_tool(
        tools, "packets", str(path), ["--format=jsonl", *said])]
    at = 0
    for row in rows:
        if row["offset"] != at:
            raise Fail(f"packets: one at {row['offset']}, expected at {at}")
        at += row["bytes"]
    if at != path.stat().st_size:
        raise Fail(f"packets: {at} bytes of {path.stat().st_size}")
    if not case.has("expected/packets.txt"):
        return len(rows)
    # How much padding is one packet is a matter of the listing.
    ours = [f"{row['offset']:x} {row['bytes']} "
            f"{row['kind'].removeprefix('spe.')}"
            for row in rows if row["kind"] != "spe.pad"]
    want = [line for line in case.lines("expected/packets.txt")
            if not line.endswith(" pad")]
    for expected, line in zip(want, ours, strict=False):
        if expected != line:
            raise Fail(f"packets: {line!r}, expected {expected!r}")
    if len(want) != len(ours):
        raise Fail(f"packets: {len(ours)}, expected {len(want)}")
    return len(rows)


def compare_listing(case: Case, tools: Tools, said: Sequence[str]) -> int:
    """Compare the words that perf lists; return how many lines."""
    lines = [line for line in run_tool(
        tools, "packets", str(case.path(TRACE)), ["--style=perf", *said])
        if not line.startswith(". ...")]
    ours = [parse_line(line)[2].strip() for line in lines]
    want = list(case.lines("expected/listing.txt"))
    if ours != want:
        raise Fail(f"listing: {ours}, expected {want}")
    return len(ours)


def run(case: Case, tools: Tools) -> str:
    """Decode and compare one fixture."""
    if not case.has(TRACE) or not case.has("expected/samples.jsonl"):
        raise Malformed(f"no {TRACE} or no expected/samples.jsonl")
    said = options(case)
    rows = [json.loads(line) for line in run_tool(
        tools, "events", str(case.path(TRACE)), ["--format=jsonl", *said])]
    other = [row["kind"] for row in rows
             if row["kind"] not in ("sample", "gap")]
    if other:
        raise Fail(f"events: {other[0]} is no sample or gap")
    count = compare_samples(
        [json.loads(line) for line in case.lines("expected/samples.jsonl")],
        [row for row in rows if row["kind"] == "sample"])
    gaps = compare_gaps(case.lines("expected/gaps.txt"),
                        [row for row in rows if row["kind"] == "gap"])
    packets = compare_packets(case, tools, said)
    text = f"{count} samples, {gaps} gaps, {packets} packets"
    if case.has("expected/listing.txt"):
        text += f", {compare_listing(case, tools, said)} lines"
    return text
