"""CoreSight snapshots: elements and rows against listings of OpenCSD."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from . import cs_packets, ds5
from .case import Case, Fail, Skip
from .cs_frames import compare_frames
from .ppl import (Listing, Source, gave_up, parse_listing, parse_ours,
                  range_line, sessions)
from .tools import TIMEOUT, Tools, decode_file

ELEMENTS_NAME = "hwtdecode-elements"
DEBIAN = "expected/debian-1.3.3/"
# Lines between two hashes of a listing that is not shipped.
CHECKPOINT = 65536

# Options of the lister that are not of the trace, or that we always have.
_PLAIN = {"-ss_dir", "-decode", "-no_time_print", "-multi_session",
          "-dstream_format", "-src_name"}
_INIT = "NO_SYNC ( [ init-decoder ] )"
_RESET = "NO_SYNC ( [ reset-decoder ] )"
_ONLY_EOT = "EO_TRACE ( [ end-of-trace ] )"


def snapshot(case: Case) -> Path:
    """Lay the files of a case out as the snapshot that they are."""
    folder = case.temporary / "snapshot"
    for name in case.section("files"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(case.path(name), path)
    return folder


def elements_of(tools: Tools, folder: Path) -> Listing:
    """Decode a snapshot and return the elements of its sources."""
    tool = tools.flow.parent / ELEMENTS_NAME
    if not tool.is_file():
        raise Skip(f"no {ELEMENTS_NAME} beside {tools.flow.name}")
    try:
        done = subprocess.run(
            [str(tool), str(folder)], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace",
            timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Fail(f"still decoding after {TIMEOUT:g} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Fail(said[-1] if said else f"exit code {done.returncode}")
    return parse_ours(done.stdout.splitlines())


def why_not(run: Mapping[str, Any]) -> str | None:
    """Say why a run of the lister is not compared; None: it is."""
    if run.get("env"):
        return "limits of the library set by " + ", ".join(run["env"])
    others = [arg for arg in run["args"]
              if arg.startswith("-") and arg not in _PLAIN]
    if "-decode" not in run["args"]:
        return "no elements in it"
    if others:
        return f"made with {' '.join(others)}"
    return None


def buffers_of(case: Case) -> dict[str, str]:
    """Return the buffer of each source that the snapshot names."""
    section, found = "", {}
    for line in case.lines("trace.ini"):
        line = re.sub("[;#].*", "", line).strip()
        if line.startswith("["):
            section = line.strip("[]").lower()
        elif section == "source_buffers" and "=" in line:
            source, _, buffers = line.partition("=")
            found[source.strip()] = buffers.split(",")[0].strip()
    return found


def chosen(case: Case, ours: Listing, lines: Sequence[str]) -> list[Source]:
    """Return the sources that a listing is of, in order."""
    buffers = buffers_of(case)
    found = []
    for name in sessions(lines):
        of_name = [
            source for source in ours.sources
            if (ours.sinks[source.sink - 1] if source.sink else
                buffers.get(source.name, name)) == name]
        # Without frames there can be only one.
        found += of_name if of_name and of_name[0].sink else of_name[:1]
    return found


def by_id(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Return the elements of each trace ID."""
    found: dict[str, list[str]] = {}
    for source in sources:
        # Nothing was traced: the lister tells the end, we have no bytes.
        more = source.elements if source.size else [_ONLY_EOT]
        # Our decoders are reset before they begin, the lister's before the
        # next buffer.
        if source.trace_id not in found and more[:1] == [_RESET]:
            more = [_INIT, *more[1:]]
        found.setdefault(source.trace_id, []).extend(more)
    return found


def compare_elements(wanted: dict[str, list[str]], ours: dict[str, list[str]],
                     head: bool = False) -> int:
    """Compare the elements of each trace ID; return how many."""
    count = 0
    for trace_id in sorted({*wanted, *ours}):
        want = wanted.get(trace_id, [])
        have = ours.get(trace_id, [])
        if trace_id not in wanted and (head or have == [_ONLY_EOT]):
            continue
        if head:
            have = have[:len(want)]
        for number, (a, b) in enumerate(zip_longest(want, have), 1):
            if a != b:
                raise Fail(f"trace ID {trace_id}: element {number} is "
                           f"'{b}', expected '{a}'")
        count += len(want)
    return count


def compare_checkpoints(expected: Sequence[str], ours: Iterable[str]) -> int:
    """Compare hashes over all lines so far; return the lines."""
    digest, count, at = hashlib.sha256(), 0, 0
    for line in ours:
        digest.update(line.encode() + b"\n")
        count += 1
        if count % CHECKPOINT == 0:
            if at == len(expected) or \
                    expected[at] != f"{count} {digest.hexdigest()}":
                raise Fail(f"ranges: another hash after {count}")
            at += 1
    if at < len(expected) and \
            expected[at] != f"{count} {digest.hexdigest()} end":
        raise Fail(f"ranges: another hash after {count}, the last")
    return count


# Rows.

# Memory that was dumped later: the trace executes words of 0 in it, which are
# undefined (so says DS-5 of them, too).  Our rows end there with a gap.
UNDEFINED_CODE = ("coresight-etm/juno_r1_1", "coresight-ete/infrastructure")

def _instructions(path: Path) -> Iterator[tuple[int, int]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            address, size, _ = line.split()
            yield int(address, 16), int(size)


def bad_code(lines: Iterable[str]) -> Iterator[int]:
    """Yield the addresses of rows that say that there is no instruction."""
    for line in lines:
        match = re.search(r" gap reason=bad-code .*\baddr=(\w+)", line)
        if match:
            yield int(match[1], 16)


def compare_instructions(elements: Iterable[str], path: Path,
                         undefined: Iterator[int]) -> int:
    """Compare the addresses of all instructions with those of ranges.

    A range may end early at the next address of `undefined`.
    """
    rows = _instructions(path)
    count = 0
    stop = next(undefined, None)
    for element in elements:
        line = range_line("", element)
        if line is None:
            continue
        start, number, _, end, _ = line.split()
        address = int(start, 16)
        for _ in range(int(number)):
            if address == stop:
                stop, address = next(undefined, None), int(end, 16)
                break
            row = next(rows, None)
            if row is None or row[0] != address:
                raise Fail(f"rows: instruction {count + 1} is "
                           f"{'missing' if row is None else hex(row[0])}, "
                           f"expected {address:#x}")
            address += row[1]
            count += 1
        if address != int(end, 16):
            raise Fail(f"rows: instruction {count} ends at {address:#x}, "
                       f"expected {end}")
    row = next(rows, None)
    if row is not None:
        raise Fail(f"rows: {row[0]:#x} executes, nothing is expected")
    if stop is not None:
        raise Fail(f"rows: gap at {stop:#x}, code is expected")
    return count


def _said(pattern: str, element: str) -> tuple[str, ...]:
    match = re.search(pattern, element)
    return match.groups() if match else ()


def rows_of_elements(elements: Iterable[str]) -> dict[str, list[str]]:
    """Return what elements other than code have to be told by rows of."""
    want: dict[str, list[str]] = {"exception": [], "return": [], "time": [],
                                  "marker": [], "no-code": []}
    for element in elements:
        kind = element.partition(" ")[0]
        if kind == "EXCEPTION":
            number = _said(r"excep num \( 0x0*(\w+) \)", element)
            address = _said(r"pref ret addr:0x(\w+)", element)
            if "data marker" not in element:
                want["exception"].append(" ".join(address + number))
        elif kind == "EXCEPTION_RET":
            want["return"].append("")
        elif kind == "TIMESTAMP" or (kind == "SWTRACE" and "TS=" in element):
            stamp = _said(r"TS=0x(\w+)", element)[0]
            if int(stamp, 16) != 0:
                want["time"].append(stamp)
        elif kind == "ADDR_NACC":
            want["no-code"].append(_said(r"0x(\w+)", element)[0])
        if kind == "ITMTRACE":
            # Local timestamps are no rows.
            data = _said(r"Data: 0x(\w+)", element)
            stamp = _said(r"TS_GLOBAL \( TS: 0x(\w+)", element)
            want["marker"] += [f"itm {int(word, 16):x}" for word in data]
            want["time"] += [f"{int(word, 16):x}" for word in stamp]
        if kind == "SWTRACE":
            payload = _said(r"\) 0x(\w+) ;", element)
            want["marker"].append(f"stm {int(''.join(payload) or '0', 16):x}")
        elif kind == "EVENT":
            number = _said(r"Numbered:(\d+)", element)
            want["marker"].append(f"event {int(''.join(number) or '0'):x}")
        elif kind == "INSTRUMENTATION":
            value = _said(r"; 0x(\w+)", element)[0]
            want["marker"].append(f"instrumentation {int(value, 16):x}")
    return want


def rows_of_events(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return the same of what hwtdecode-flow --events writes."""
    have: dict[str, list[str]] = {"exception": [], "return": [], "time": [],
                                  "marker": [], "no-code": []}
    for line in lines:
        words = line.split()[1:]
        fields = dict(word.split("=", 1) for word in words if "=" in word)
        if words[0] == "async" and fields.get("reason") == "iret":
            have["return"].append("")
        elif words[0] == "async":
            address = [fields["ip"]] if "ip" in fields else []
            have["exception"].append(" ".join([*address, fields["vector"]]))
        elif words[0] == "time":
            have["time"].append(fields["tsc"])
        elif words[0] == "marker":
            have["marker"].append(f"{fields['source']} {fields['payload']}")
        elif words[0] == "gap" and fields["reason"] in ("no-code",
                                                        "ambiguous-mapping"):
            have["no-code"].append(fields["addr"])
    return have


def compare_rows(elements: Sequence[str], events: Iterable[str]) -> int:
    """Check that each element other than code has its row; how many."""
    want, have = rows_of_elements(elements), rows_of_events(events)
    for kind, expected in want.items():
        for number, (a, b) in enumerate(zip_longest(expected, have[kind]), 1):
            if a != b:
                raise Fail(f"rows: {kind} {number} is '{b}', expected '{a}'")
    return sum(map(len, want.values()))


def check_rows(case: Case, tools: Tools, folder: Path, source: Source
               ) -> tuple[int, int, Path]:
    """Check the rows of one source; instructions, other rows, and addresses."""
    insns = case.temporary / f"{source.stream}.insns"
    events = case.temporary / f"{source.stream}.events"
    decode_file(tools, folder,
                ["--open", "--stream", str(source.stream),
                 "--insns", str(insns), "--events", str(events)],
                name=source.name)
    try:
        told = events.read_text(encoding="utf-8").splitlines()
        undefined = bad_code(told) if case.name in UNDEFINED_CODE else iter(())
        count = compare_instructions(source.elements, insns, undefined)
        others = compare_rows(source.elements, told)
    except Fail as fail:
        raise Fail(f"{source.name}: {fail}") from None
    return count, others, insns


# Cases.

class Refused(Skip):
    """The lister of the library's version does not decode it."""


def expectation(case: Case, run: Mapping[str, Any], version: str) -> str:
    """Return the listing that a version of the library has to give."""
    name = str(run.get("expected_head") or run["expected"])
    if not version.startswith("1.3."):
        return name
    debian = DEBIAN + name.removeprefix("expected/")
    if case.has(debian):
        if not any(True for _ in parse_listing(case.lines(debian))):
            raise Refused(f"OpenCSD {version} refuses it")
        return debian
    said = run.get("debian")
    main = case.data["runs"][0].get("debian", {})
    if not isinstance(said, dict) and not main.get("same", True):
        raise Skip(f"OpenCSD {version} gives another result, which is not "
                   "listed")
    return name


def check_packets(case: Case, run: Mapping[str, Any], ours: Listing,
                  tools: Tools) -> str:
    """Compare the packets of one run of the lister."""
    if "-decode" not in run["args"]:
        lines = list(case.lines(str(run["expected"])))
        text = compare_frames(lines, chosen(case, ours, lines))
        return f"{run['name']}: {text}"
    try:
        lines = list(case.lines(expectation(case, run, ours.version)))
    except Refused:
        # The lister does not know ITM, or the core; of packets, we do.
        lines = list(case.lines(str(run["expected"])))
    head = "expected_head" in run or gave_up(lines)
    sources = chosen(case, ours, lines)
    if cs_packets.is_itm(lines):
        # hwtdecode-elements has no words for them: rows are compared with these.
        for source in sources:
            source.elements = [element for _, element in parse_listing(lines)]
    count = cs_packets.compare_packets(
        tools.cli, case.temporary / "snapshot", sources, lines, head,
        "-dstream_format" in run["args"])
    return f"{run['name']}: {count} packets"


def check_run(case: Case, run: Mapping[str, Any], ours: Listing) -> str:
    """Compare the elements of one run of the lister."""
    reason = why_not(run)
    if reason is not None:
        raise Skip(reason)
    name = expectation(case, run, ours.version)
    lines = case.lines(name)
    sources = chosen(case, ours, lines)
    for source in sources:
        if source.refused and source.size:
            raise Skip(f"{source.name}: {source.refused}")
    wanted: dict[str, list[str]] = {}
    for trace_id, element in parse_listing(lines):
        wanted.setdefault(trace_id, []).append(element)
    found = by_id(sources)
    head = "expected_head" in run or gave_up(lines)
    text = f"{compare_elements(wanted, found, head)} elements"
    if gave_up(lines):
        text += " up to where the lister gives up"
    ranges = f"expected/{run['name']}.ranges.checkpoints.txt"
    if case.has(ranges):
        ours_of_it = (
            line for trace_id in found for element in found[trace_id]
            if (line := range_line(trace_id, element)) is not None)
        count = compare_checkpoints(case.lines(ranges), ours_of_it)
        text += f" of its head, {count} ranges"
    if name.startswith(DEBIAN):
        text += f" as OpenCSD {ours.version} (limited by the library)"
    return text


def run(case: Case, tools: Tools) -> str:
    """Compare elements with each listing, and rows with the elements."""
    if tools.engine not in (None, "opencsd"):
        raise Skip(f"the engine {tools.engine} is not for CoreSight")
    folder = snapshot(case)
    ours = elements_of(tools, folder)
    said, left, compared = [], [], False
    for item in case.data["runs"]:
        try:
            said.append(check_packets(case, item, ours, tools))
            compared = True
        except Skip as skip:
            left.append(f"{item['name']}: packets: {skip}")
        except Fail as fail:
            raise Fail(f"{item['name']}: packets: {fail}") from None
        try:
            said.append(f"{item['name']}: {check_run(case, item, ours)}")
            compared = True
        except Skip as skip:
            left.append(f"{item['name']}: {skip}")
        except Fail as fail:
            raise Fail(f"{item['name']}: {fail}") from None
    if not compared:
        raise Skip("; ".join(left))
    insns = others = 0
    addresses: dict[str, Path] = {}
    for source in ours.sources:
        if source.refused or not source.size:
            continue
        count, more, path = check_rows(case, tools, folder, source)
        insns, others = insns + count, others + more
        addresses.setdefault(source.trace_id, path)
    said.append(f"{insns} instructions and {others} other rows")
    said += ds5.check(case, addresses)
    text = "; ".join(said)
    return text + (f" (left out: {'; '.join(left)})" if left else "")
