"""Elements of CoreSight sources: listings of OpenCSD's lister, and ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .case import Malformed

_ELEMENT = re.compile(r"Idx:\d+; ID:([0-9a-f]+); OCSD_GEN_TRC_ELEM_(.*)")
_STREAM = re.compile(r"# stream (\d+) ([0-9a-f]+) (\d+) (\d+) (\d+) (.*)")


@dataclass
class Source:
    """Elements of one stream that we decode."""

    stream: int
    trace_id: str
    # Number of the stream of its sink plus 1, or 0.
    sink: int
    size: int
    name: str
    elements: list[str] = field(default_factory=list)
    # Why it was not decoded.
    refused: str = ""
    # FNV-1a of its bytes.
    data: int = 0


@dataclass
class Listing:
    """What hwtdecode-elements wrote."""

    version: str = ""
    sources: list[Source] = field(default_factory=list)
    # Names of sinks, by stream.
    sinks: dict[int, str] = field(default_factory=dict)


def normal(element: str) -> str:
    """Return an element without what depends on the version of the lister."""
    element = re.sub(r"; Memspace \[[^]]*\] ?", "", element)
    element = re.sub(r"\b0x0+(?=[0-9a-f])", "0x", element)
    return " ".join(re.sub(r"([\[\]();,])", r" \1 ", element).split())


def parse_listing(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield trace ID and element of each line that tells of one."""
    for line in lines:
        match = _ELEMENT.match(line)
        if match:
            yield match[1], normal(match[2])


def sessions(lines: Iterable[str]) -> list[str]:
    """Return the buffers that a listing is of, in order."""
    first, others = [], []
    for line in lines:
        using = re.match(r"Using (\S+) as trace source", line)
        if using:
            first.append(using[1])
        part = re.search(r"Multi Session decode: .*; Source name = (\S+)\.$",
                         line)
        if part:
            others.append(part[1])
    return others or first


def gave_up(lines: Iterable[str]) -> bool:
    """Say whether the lister stopped before the end of its bytes."""
    return any("Data Path fatal error" in line for line in lines)


def parse_ours(lines: Iterable[str]) -> Listing:
    """Read what hwtdecode-elements wrote."""
    listing = Listing()
    by_stream: dict[str, Source] = {}
    for line in lines:
        first, _, rest = line.partition(" ")
        if line.startswith("# data "):
            stream, value = rest.split()[1:]
            by_stream[stream].data = int(value, 16)
        elif first == "#":
            match = _STREAM.match(line)
            if match is None:
                listing.version = rest.partition(" ")[2]
                continue
            stream, trace_id, framing, sink, size, name = match.groups()
            if int(framing) != 0:
                listing.sinks[int(stream)] = name
            else:
                source = Source(int(stream), trace_id, int(sink), int(size),
                                name)
                listing.sources.append(source)
                by_stream[stream] = source
        elif first == "!":
            stream, _, why = rest.partition(" ")
            by_stream[stream].refused = why
        else:
            try:
                by_stream[first].elements.append(
                    normal(rest.partition(" ")[2]))
            except KeyError:
                raise Malformed(f"elements: cannot read {line!r}") from None
    return listing


def range_line(trace_id: str, element: str) -> str | None:
    """Return a range as lines of ranges.txt have it; None: it is none."""
    if not element.startswith("INSTR_RANGE"):
        return None
    match = re.match(r"INSTR_RANGE \( exec range=0x(\w+): \[ 0x(\w+) \] num_i "
                     r"\( (\d+) \) last_sz \( \d+ \) \( ISA=(\w+) \) (\w)",
                     element)
    if match is None:
        raise Malformed(f"elements: cannot read {element!r}")
    start, end, count, isa, taken = match.groups()
    return f"{trace_id} {start} {count} {isa} {end} {taken}"
