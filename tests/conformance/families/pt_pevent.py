"""Records of perf beside Intel PT: the sideband of the tests of libipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .case import Case, Fail, Malformed
from .cli import rows_of
from .packets import Row, read_rows, run_tool
from .perf_listing import ptdump_records
from .perf_record import Expected, compare_records
from .tools import Tools


def _option(args: Sequence[str], name: str) -> str:
    if args.count(name) != 1:
        raise Malformed(f"{name} of {list(args)}")
    return args[args.index(name) + 1]


def _options(case: Case, args: Sequence[str]) -> list[str]:
    """Return our options for those of ptdump."""
    sample_type = int(_option(args, "--pevent:sample-type"), 0)
    file = case.path(_option(args, "--pevent:primary"))
    options = [f"--perf-records={file},sample-type={sample_type:#x}"]
    shift, mult, zero = (int(_option(args, f"--pevent:time-{name}"), 0)
                         for name in ("shift", "mult", "zero"))
    # perf_event_mmap_page: ns = zero + (counts * mult >> shift).
    return [*options, f"--clock={1 << shift}/{mult}@0={zero}"]


def check_run(case: Case, tools: Tools, entry: Mapping[str, Any], trace: str
              ) -> str:
    """Compare the records of one listing of ptdump."""
    args = [str(arg) for arg in entry["args"]]
    options = _options(case, args)
    records = ptdump_records(
        case.lines(entry["expected"]),
        int(_option(args, "--pevent:sample-type"), 0))
    if not records:
        raise Malformed("ptdump.exp: no records")
    rows = rows_of(tools, case, "records", case.path(trace),
                   ["--tech=pt", *options])
    # Places in the ring are not those of a trace that is raw.
    said = compare_records(Expected(records), rows, offsets=False)
    check_packets(case, tools, case.lines(entry["expected"]), trace, options)
    return said


def check_packets(case: Case, tools: Tools, lines: Sequence[str], trace: str,
                  options: Sequence[str]) -> None:
    """Packets are those of the listing, whatever lies beside them."""
    want = [(int(words[0], 16), words[1]) for words in map(str.split, lines)
            if len(words) > 1 and len(words[0]) == 16 and
            not any(word.startswith("PERF_RECORD") for word in words)]
    rows: list[Row] = list(read_rows(run_tool(
        tools, case, case.path(trace), ["--format=jsonl", *options])))
    have = [(row["offset"], row["kind"]) for row in rows]
    if have != want:
        raise Fail(f"packets: {have}, expected {want}")
