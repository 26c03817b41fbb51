"""CoreSight inside perf.data: packets, ranges, branches, missing buffers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from . import coresight, cs_packets
from .case import Case, Fail, Malformed
from .cli import Row, rows_of, run_cli
from .cs_packets import Packet
from .perf_data import check_import
from .ppl import parse_listing
from .tools import Tools, decode_file

TRACE = "perf.data"
_NOTE = re.compile(r"perf\.data AUXTRACE payload, AUX record offset (\d+) "
                   r"size (\d+) flags (\d+)")
_FOLDER = re.compile(r"snapshot/((cpu\d+)\.chunk\d+\.aux\d+)/trace\.bin")
# Instructions of A64.
_SIZE = 4
# Branches whose target their instruction has.
_DIRECT = ("conditional", "jump", "call")


def chunks(case: Case) -> Iterator[tuple[str, str, int]]:
    """Yield name, processor and place in the ring of each AUX record."""
    for name, entry in case.section("files").items():
        folder = _FOLDER.fullmatch(name)
        if folder is None:
            continue
        note = _NOTE.match(str(entry.get("note", "")))
        if note is None:
            raise Malformed(f"{name}: nothing says where it is from")
        yield folder[1], folder[2], int(note[1])


def compare_packets(case: Case, tools: Tools, streams: Sequence[Row],
                    told: Sequence[tuple[str, str, int]]) -> int:
    """Compare the packets of each processor, chunk after chunk."""
    want: dict[str, dict[str, list[Packet]]] = {}
    for name, cpu, offset in told:
        lines = case.lines(f"expected/{name}.ppl")
        for trace_id, packets in cs_packets.parse_packets(lines).items():
            for packet in packets:
                packet.offset += offset
            want.setdefault(cpu, {}).setdefault(trace_id, []).extend(packets)
    if tools.cli is None:
        raise Malformed("no tool")
    sinks = {stream["stream"]: stream["name"].replace(" ", "")
             for stream in streams if "framing" in stream}
    count = 0
    for stream in streams:
        if "sink" not in stream:
            continue
        cpu, trace_id = sinks[stream["sink"]], f"{stream['trace_id']:x}"
        have = cs_packets.packets_of(tools.cli, case.path(TRACE),
                                     stream["stream"], stream["bytes"])
        expected = want.get(cpu, {}).pop(trace_id, [])
        try:
            count += cs_packets.compare_lists(expected, have, False)
        except Fail as fail:
            raise Fail(f"{cpu}, trace ID {trace_id}: {fail}") from None
    left = [f"{cpu} {trace_id}" for cpu, of_id in want.items()
            for trace_id in of_id]
    if left:
        raise Fail(f"packets: none of {left}")
    return count


def compare_events(case: Case, tools: Tools, streams: Sequence[Row],
                   told: Sequence[tuple[str, str, int]]) -> int:
    """Compare exceptions, returns and missing code with what OpenCSD tells.

    No code is at hand, as it was not when the listings were made.
    """
    count = 0
    for stream in streams:
        if "sink" not in stream:
            continue
        elements = [element for name, cpu, _ in told
                    if cpu == f"cpu{stream['cpu']}"
                    for trace_id, element in parse_listing(
                        case.lines(f"expected/{name}.ppl"))
                    if int(trace_id, 16) == stream["trace_id"]]
        events = case.temporary / "events"
        decode_file(tools, case.path(TRACE), [
            "--open", "--stream", str(stream["stream"]),
            "--events", str(events)])
        count += coresight.compare_rows(
            elements, events.read_text(encoding="utf-8").splitlines())
    return count


def compare_ranges(case: Case, told: Sequence[tuple[str, str, int]],
                   blocks: Sequence[Row]) -> int:
    """Compare blocks with the ranges of code that OpenCSD tells."""
    want = [line for name, _, _ in told
            if case.has(f"expected/{name}.ranges.txt")
            for line in case.lines(f"expected/{name}.ranges.txt")]
    for number, line in enumerate(want):
        _, start, count, _, end, taken = line.split()
        if number == len(blocks):
            raise Fail(f"ranges: none, expected '{line}'")
        block = blocks[number]
        at = int(block["ip"], 16)
        conditional = block["branch"] == "conditional"
        if (f"{at:x}", str(block["insns"]), f"{at + block['bytes']:x}") != \
                (start, count, end) or \
                (conditional and block["taken"] != (taken == "E")):
            raise Fail(f"ranges: {block}, expected '{line}'")
    if len(blocks) != len(want):
        raise Fail(f"ranges: {len(blocks)}, expected {len(want)}")
    return len(want)


class _Profile:
    """Counts as a profile for a compiler has them, of one file."""

    def __init__(self, maps: Sequence[Row]) -> None:
        self._maps = maps
        self.ranges: Counter[str] = Counter()
        self.branches: Counter[str] = Counter()

    def _offset(self, address: int) -> int:
        """Return where an address is in the file; 0: in another one."""
        for row in reversed(self._maps):
            start = int(row["address"], 16)
            if start <= address < start + row["length"]:
                return int(address - start + row["file_offset"])
        return 0

    def add(self, block: Row) -> None:
        """Count one block, and the branch that it ends with."""
        first = int(block["ip"], 16)
        last = first + block["bytes"] - _SIZE
        self.ranges[f"{self._offset(first):x}-{self._offset(last):x}"] += 1
        if block["branch"] == "conditional" and not block["taken"]:
            return
        # It knows no targets of branches by register: those are of ranges.
        to = int(block["target"], 16) if block["branch"] in _DIRECT else 0
        self.branches[f"{self._offset(last):x}->{self._offset(to):x}"] += 1


def read_autofdo(lines: Sequence[str]) -> tuple[Counter[str], Counter[str],
                                                str]:
    """Return ranges and branches with their counts, and the file's name."""
    found: list[Counter[str]] = []
    at = 0
    # Ranges, addresses, branches.
    for _ in range(3):
        count = int(lines[at])
        found.append(Counter({
            key: int(value) for key, _, value in
            (line.partition(":") for line in lines[at + 1:at + 1 + count])}))
        at += count + 1
    name = next((line[3:] for line in lines[at:] if line.startswith("// /")),
                None)
    if name is None or found[1]:
        raise Malformed("autofdo.txt: no file, or addresses")
    return found[0], found[2], name


def compare_autofdo(case: Case, records: Sequence[Row],
                    blocks: Sequence[Row]) -> str:
    """Compare how often ranges and branches were executed."""
    ranges, branches, name = read_autofdo(case.lines("expected/autofdo.txt"))
    profile = _Profile([row for row in records if row.get("name") == name and
                        row["record_type"] == "mmap"])
    for block in blocks:
        profile.add(block)
    for what, want, have in (("ranges", ranges, profile.ranges),
                             ("branches", branches, profile.branches)):
        if want != have:
            raise Fail(f"autofdo: {what}: {sorted((have - want).items())} "
                       f"more, {sorted((want - have).items())} less")
    return f"{len(ranges)} ranges and {len(branches)} branches of simpleperf"


def check_missing(case: Case, tools: Tools, streams: Sequence[Row],
                  records: Sequence[Row]) -> str:
    """Each buffer of which nothing is there is one loss of all its bytes."""
    sizes: Counter[int] = Counter()
    for row in records:
        if row["record_type"] == "buffer":
            sizes[row["stream"]] += row["length"]
    rows = rows_of(tools, case, "events", case.path(TRACE),
                   ["--module-dir", case.folder])
    if [row["kind"] for row in rows] != ["gap"] * len(sizes):
        raise Fail(f"events: {rows}")
    cpus = {stream["stream"]: stream["cpu"] for stream in streams}
    for row in rows:
        if row["reason"] != "file-damaged" or row["first"] != 0 or \
                row["end"] != sizes.pop(row["stream"], 0) or \
                row["cpu"] != cpus[row["stream"]] or \
                f"{row['end']} bytes of trace are not in" not in row["text"]:
            raise Fail(f"events: {row}")
    # Losses are no failure, unless `check` is asked.
    run_cli(tools, case, "check", case.path(TRACE), code=3)
    return f"{len(rows)} buffers that are missing"


def _sections(case: Case, tools: Tools, trace: Path,
              options: Sequence[str | Path]) -> Mapping[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in rows_of(tools, case, "info", trace,
                       [*options, "--time-span"]):
        rows.setdefault(row["type"], []).append(row)
    return rows


def run(case: Case, tools: Tools) -> str:
    """Compare one file of simpleperf."""
    trace = case.path(TRACE)
    options: list[str | Path] = ["--no-original-paths", "--module-dir",
                                 case.folder]
    streams = _sections(case, tools, trace, options)["stream"]
    records = rows_of(tools, case, "records", trace)
    told = list(chunks(case))
    said = []
    if not told:
        said.append(check_missing(case, tools, streams, records))
    else:
        said.append(f"{compare_packets(case, tools, streams, told)} packets")
    blocks = rows_of(tools, case, "events", trace,
                     [*options, "--kind=block"])
    if case.has("expected/autofdo.txt"):
        said.append(f"{compare_ranges(case, told, blocks)} ranges")
        said.append(compare_autofdo(case, records, blocks))
    elif told:
        said.append(f"{compare_events(case, tools, streams, told)} rows "
                    "other than code")
    said.append(check_import(case, tools, trace, options))
    return ", ".join(said)
