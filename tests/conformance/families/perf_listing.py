"""Listings of the records of perf.data, and what else others say of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .case import Malformed
from .perf_record import Record

# Fields of records.txt that are hexadecimal, or no numbers.
_HEX = {"addr", "pgoff", "len", "misc", "aux_flags", "hw_id", "mask", "prot",
        "flags"}
_TEXT = {"name", "buildid", "tag", "old", "new"}
_ESCAPE = re.compile(r"\\(.)")


def fixture_records(lines: Iterable[str]) -> list[Record]:
    """Read records.txt of a case of `perf-data`, in the order of the file."""
    out = []
    for line in lines:
        at, kind, *words = line.split(" ")
        fields: dict[str, Any] = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise Malformed(f"records.txt: cannot read {line!r}")
            if key in _TEXT:
                fields[key] = _ESCAPE.sub(
                    lambda match: " " if match[1] == "s" else match[1], value)
            else:
                fields[key] = int(value, 16 if key in _HEX else 10)
        out.append(Record(None if at == "-" else int(at, 16), kind, fields))
    return out


# The listing of perf.

_LINE = re.compile(r"(\d+) (\d+) 0x([0-9a-f]+) \[0x[0-9a-f]+\]: "
                   r"PERF_RECORD_(\w+)(.*)")
_REST = {
    "MMAP": r" (-?\d+)/(\d+): \[0x(\w+)\(0x(\w+)\) @ (?:0x)?(\w+)\]: \S+ (.*)",
    "MMAP2": r" (-?\d+)/(\d+): \[0x(\w+)\(0x(\w+)\) @ (?:0x)?(\w+) \w+:\w+ \d+"
             r" \d+\]: \S+ (.*)",
    "COMM": r"( exec)?: (.*):(-?\d+)/(-?\d+)",
    "EXIT": r"\((\d+):(\d+)\):\((\d+):(\d+)\)",
    "SWITCH_CPU_WIDE": r" (OUT|IN) +(?:next|prev) pid/tid: +(\d+)/(\d+) *",
    "ITRACE_START": r" pid: (\d+) tid: (\d+)",
    "AUX": r" offset: (\w+) size: 0x(\w+) flags: (?:0x)?(\w+) \[.*\]",
}


def _perf_fields(kind: str, line: str, rest: str) -> dict[str, Any]:
    if kind not in _REST:
        return {}
    match = re.fullmatch(_REST[kind], rest)
    if match is None:
        raise Malformed(f"perf_records.txt: cannot read {line!r}")
    words = match.groups()
    if kind in ("MMAP", "MMAP2"):
        # perf names no mode; what it maps of the kernel is of no process.
        return {"of_pid": int(words[0]), "of_tid": int(words[1]),
                "addr": int(words[2], 16), "len": int(words[3], 16),
                "pgoff": int(words[4], 16), "name": words[5],
                "misc": 1 if words[0] == "-1" else 2}
    if kind == "COMM":
        return {"exec": int(bool(words[0])), "name": words[1],
                "of_pid": int(words[2]), "of_tid": int(words[3])}
    if kind == "EXIT":
        return {"of_pid": int(words[0]), "of_tid": int(words[1])}
    if kind == "ITRACE_START":
        return {"of_pid": int(words[0]), "of_tid": int(words[1])}
    if kind == "AUX":
        return {"aux_offset": int(words[0], 16), "aux_size": int(words[1], 16),
                "aux_flags": int(words[2], 16)}
    return {"out": int(words[0] == "OUT"), "other_pid": int(words[1]),
            "other_tid": int(words[2])}


def perf_records(lines: Iterable[str]) -> list[Record]:
    """Read the record lines of `perf report -D`, in the order of the file.

    perf sorts by time, and does not tell of whom a record is.
    """
    out = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            raise Malformed(f"perf_records.txt: cannot read {line!r}")
        cpu, time, offset, name, rest = match.groups()
        fields = {"time": int(time), "cpu": int(cpu),
                  **_perf_fields(name, line, rest)}
        out.append(Record(int(offset, 16), name.lower(), fields))
    return sorted(out, key=lambda record: record.offset or 0)


# What quipper says, as text of protocol buffers.

Message = dict[str, list[Any]]
_TOKEN = re.compile(r' *(?:(\w+) \{|(\w+): (.*)|(\}))')
_SCALARS = {"true": True, "false": False}


def messages(lines: Iterable[str]) -> Message:
    """Read a message: fields by name, each a list."""
    out: Message = {}
    stack = [out]
    for line in lines:
        match = _TOKEN.fullmatch(line)
        if match is None:
            raise Malformed(f"quipper: cannot read {line[:60]!r}")
        opens, key, value, closes = match.groups()
        if opens:
            inner: Message = {}
            stack[-1].setdefault(opens, []).append(inner)
            stack.append(inner)
        elif closes:
            stack.pop()
        else:
            stack[-1].setdefault(key, []).append(_scalar(value))
    if len(stack) != 1:
        raise Malformed("quipper: it ends in a message")
    return out


def _scalar(text: str) -> Any:
    if text.startswith('"'):
        # Its escapes are those of C, which are Python's as well.
        return ast.literal_eval("b" + text)
    if text in _SCALARS:
        return _SCALARS[text]
    try:
        return int(text)
    except ValueError:
        return text


def sample_infos(file: Message) -> Iterator[tuple[dict[str, int], int]]:
    """Yield of whom each record is, and its type."""
    for event in file["events"]:
        header = event["header"][0]
        for parts in event.values():
            if isinstance(parts[0], dict) and "sample_info" in parts[0]:
                info = parts[0]["sample_info"][0]
                yield ({key: values[0] for key, values in info.items()},
                       header["type"][0])


def build_ids(file: Message) -> dict[str, str]:
    """Return the build-ids of the header by the name of the file."""
    return {entry["filename"][0].decode(): entry["build_id_hash"][0].hex()
            for entry in file.get("build_ids", [])}


# ptdump of libipt.

_DUMP = re.compile(r"([0-9a-f]{16}) +(?:[0-9a-f]{16} +)?"
                   r"PERF_RECORD_([A-Z_0-9]+)(?:\.([A-Z]+))?\b *(.*)")
# Bits of the sample type, in the order in which ptdump prints what they are.
_SAMPLE = ((1 << 1, "thread"), (1 << 2, "time"), (1 << 6, "id"),
           (1 << 7, "cpu"), (1 << 9, "stream"), (1 << 16, "identifier"))
_COMPACT = {
    "MMAP": "of_pid/of_tid addr len pgoff name",
    "LOST": "of_id lost",
    "COMM": "of_pid/of_tid name",
    "EXIT": "of_pid/of_tid ppid/ptid of_time",
    "FORK": "of_pid/of_tid ppid/ptid of_time",
    "AUX": "aux_offset aux_size aux_flags",
    "ITRACE_START": "of_pid/of_tid",
    "LOST_SAMPLES": "lost",
    "SWITCH": "",
    "SWITCH_CPU_WIDE": "other_pid/other_tid",
}
_VERBOSE = {"filename": "name", "comm": "name", "aux offset": "aux_offset",
            "aux size": "aux_size", "flags": "aux_flags", "stream id":
            "stream", "prev pid": "other_pid", "prev tid": "other_tid",
            "next pid": "other_pid", "next tid": "other_tid"}


def _dump_value(key: str, text: str) -> Any:
    # All numbers are hexadecimal, without 0x.
    return text if key == "name" else int(text, 16)


def _compact(kind: str, said: str, sample_type: int) -> dict[str, Any]:
    body, _, trailer = said.partition("{")
    fields: dict[str, Any] = {}
    for keys, value in zip(_COMPACT[kind].split(),
                           body.strip().split(", "), strict=True) \
            if _COMPACT[kind] else ():
        for key, part in zip(keys.split("/"), value.split("/", 1)
                             if "/" in keys else [value], strict=True):
            fields[key] = _dump_value(key, part.strip())
    words = trailer.strip(" }").split()
    for bit, name in _SAMPLE:
        if not sample_type & bit:
            continue
        word = words.pop(0)
        if name == "thread":
            pid, _, tid = word.partition("/")
            fields.update(pid=int(pid, 16), tid=int(tid, 16))
        elif name == "cpu":
            fields[name] = int(word.removeprefix("cpu-"), 16)
        elif name != "identifier":
            fields[name] = _dump_value(name, word)
    if words:
        raise Malformed(f"ptdump.exp: more than the sample type: {said!r}")
    return fields


def _verbose(kind: str, lines: list[str]) -> dict[str, Any]:
    """Read ` name: value`; the second pid is that of the sample id."""
    fields: dict[str, Any] = {}
    own = {key for word in _COMPACT[kind].split() for key in word.split("/")}
    for line in lines:
        name, _, text = line.strip().partition(": ")
        key = _VERBOSE.get(name, name)
        if "of_" + key in own and "of_" + key not in fields:
            key = "of_" + key
        if key != "identifier":
            fields[key] = _dump_value(key, text)
    return fields


def ptdump_records(lines: Iterable[str], sample_type: int) -> list[Record]:
    """Read the records that ptdump lists between packets."""
    out: list[Record] = []
    more: list[str] = []
    named: list[str | None] = []
    for line in [*lines, "end"]:
        if line.startswith(" "):
            more.append(line)
            continue
        if more:
            out[-1].fields.update(_verbose(out[-1].kind.upper(), more))
            more = []
        match = _DUMP.fullmatch(line)
        if match is None:
            if "PERF_RECORD" in line:
                raise Malformed(f"ptdump.exp: cannot read {line!r}")
            continue
        offset, kind, what, said = match.groups()
        if kind not in _COMPACT:
            raise Malformed(f"ptdump.exp: no such record: {line!r}")
        fields = _compact(kind, said, sample_type) if "{" in said else {}
        if kind == "COMM":
            fields["exec"] = int(what == "EXEC")
        elif kind.startswith("SWITCH"):
            fields["out"] = int(what == "OUT")
        out.append(Record(int(offset, 16), kind.lower(), fields))
        named.append(what)
    for record, what in zip(out, named, strict=True):
        if record.kind == "aux" and \
                (what == "TRUNCATED") != bool(record.number("aux_flags") & 1):
            raise Malformed(f"ptdump.exp: another name of '{record}'")
    return out
