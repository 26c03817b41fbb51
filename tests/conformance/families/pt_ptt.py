"""Hand-written packets of the tests of libipt: packets.txt and ptdump.exp."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import pt_pevent
from .case import Case, Fail, Malformed, Skip
from .packets import check_packets, cpu_options, run_tool
from .tools import Tools

# Columns of ptdump that are not the payload: time, and what it tracks.
_TIME = re.compile(r"(?:tsc|tcal|fcr) \S+|\?")
_TRACKED = re.compile(r"(cr3|vmcs|ip) ([0-9a-f?]{16})")

Line = tuple[int, str, str]


def parse_ptdump(lines: Iterable[str]) -> list[Line]:
    """Return offset, name and the rest; the name is empty at an error."""
    found: list[Line] = []
    for line in lines:
        if line.startswith("["):
            error = re.match(r"\[([0-9a-f]+): error decoding packet", line)
            if error:
                found.append((int(error.group(1), 16), "", ""))
            continue
        words = line.split()
        if not words:
            continue
        try:
            found.append((int(words[0], 16), words[1], " ".join(words[2:])))
        except (ValueError, IndexError):
            raise Malformed(f"ptdump.exp: cannot read {line!r}") from None
    return found


def parse_text(lines: Iterable[str]) -> Iterator[tuple[int, str, str, str]]:
    """Yield offset, name, fields and address of the tool's rows.

    Each byte of padding is a row of its own, as ptdump has it.
    """
    column = None
    for line in lines:
        if column is None:
            column = line.index("packet")
            continue
        try:
            offset = int(line.split()[1], 16)
        except (ValueError, IndexError):
            raise Fail(f"packets: cannot read {line!r}") from None
        name, _, fields = line[column:].partition(" ")
        fields = re.sub(r"\s+reserved bits$|\s+guessed", "", fields)
        fields, _, address = fields.partition("  ip 0x")
        fields = " ".join(fields.split())
        if name == "pad":
            times = re.fullmatch(r"(\d+) times", fields)
            for i in range(int(times.group(1)) if times else 1):
                yield offset + i, name, "", ""
            continue
        yield offset, name, fields, address


def _other_columns(rest: str, fields: str, address: str) -> bool:
    """Say whether this is what ptdump tells besides the payload."""
    tracked = _TRACKED.fullmatch(rest)
    if tracked is None:
        return not rest or _TIME.fullmatch(rest) is not None
    ours = address if tracked.group(1) == "ip" else fields.partition(",")[0]
    return "?" in tracked.group(2) or \
        int(tracked.group(2), 16) == int(ours or "0", 16)


def compare_ptdump(lines: Iterable[str], ours: Iterable[str]) -> int:
    """Compare offset, name and payload; return how many lines."""
    want = parse_ptdump(lines)
    rows = list(parse_text(ours))
    if rows and rows[0][1] == "unsynced":
        del rows[0]
    at = 0
    for number, (offset, name, rest) in enumerate(want):
        if at == len(rows):
            raise Fail(f"ptdump: nothing at {offset:x}, expected "
                       f"'{name} {rest}'")
        our_offset, our_name, fields, address = rows[at]
        told = f"{our_offset:x} {our_name} {fields}"
        if name in ("", "<invalid>"):
            if our_offset != offset or our_name not in ("unknown",
                                                        "truncated"):
                raise Fail(f"ptdump: '{told}', expected unknown bytes at "
                           f"{offset:x}")
            at += 1
            # Up to the next PSB other decoders may tell more.
            while name == "" and at < len(rows) and (
                    number + 1 == len(want) or
                    rows[at][0] < want[number + 1][0]):
                at += 1
            continue
        payload = rest[:len(fields)] if rest.startswith(fields) else rest
        other = rest[len(payload):].strip()
        if (our_offset, our_name, fields) != (offset, name, payload) or \
                not _other_columns(other, fields, address):
            raise Fail(f"ptdump: '{told}', expected '{offset:x} {name} "
                       f"{rest}'")
        at += 1
    if at != len(rows):
        raise Fail(f"ptdump: '{rows[at][0]:x} {rows[at][1]}' is not expected")
    return len(want)


def _run_options(run: Mapping[str, Any]) -> list[str]:
    """Return our options for those of ptdump that change what is listed."""
    args = [str(arg) for arg in run["args"]]
    options = ["--no-sync"] * ("--no-sync" in args)
    if "--cpu" in args:
        options += cpu_options(args[args.index("--cpu") + 1])
    return options


def _trace_of(case: Case) -> str:
    traces = [name for name in case.section("files") if name.endswith(".pt")]
    if len(traces) != 1:
        raise Malformed(f"{len(traces)} traces")
    return traces[0]


def _cpus_of(section: Mapping[str, Any]) -> Sequence[object]:
    return list(section.get("cpus") or [None])


def run(case: Case, tools: Tools) -> str:
    """Compare the packets of one trace with both listings."""
    if tools.cli is None:
        raise Skip("no hwtdecode beside hwtdecode-flow")
    trace = _trace_of(case)
    if not case.has("expected/packets.txt"):
        return "; ".join(pt_pevent.check_run(case, tools, entry, trace)
                         for entry in case.data["runs"]
                         if entry["tool"] == "ptdump")
    path = case.path(trace)
    runs, count = 0, 0
    for entry in case.data.get("runs", []):
        if entry["tool"] != "ptdump":
            continue
        for cpu in _cpus_of(entry):
            options = _run_options(entry) + cpu_options(cpu)
            count += compare_ptdump(case.lines(entry["expected"]),
                                    run_tool(tools, case, path, options))
            runs += 1
    cpu = _cpus_of(case.section("params"))[0]
    said = check_packets(case, tools, trace, "expected/packets.txt", cpu)
    return f"{said}, {count} lines of {runs} ptdump runs"
