"""CoreSight packets: `hwtdecode packets` against listings of OpenCSD."""

from __future__ import annotations

import json
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from .case import Fail, Skip
from .ppl import Source
from .tools import TIMEOUT

_LINE = re.compile(r"Idx:(\d+); ID:(\w+); \[([^\]]*)\];\s*(\w+) ?:")
# Of a DSTREAM.
BLOCK, FOOTER = 512, 8
_UNSYNCED = ("NOTSYNC", "I_NOT_SYNC", "ITM_NOTSYNC")


@dataclass
class Packet:
    """One packet: offset in the sink or stream, bytes, name."""

    offset: int
    data: bytes
    name: str
    # Half a byte of it is in the byte before.
    half: bool = False

    def __str__(self) -> str:
        return f"{self.name} at {self.offset} [{self.data.hex(' ')}]"


def join_unsynced(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Make one packet of neighbours without synchronisation.

    How many they are depends on how bytes are fed.
    """
    last: Packet | None = None
    for packet in packets:
        if packet.name in _UNSYNCED:
            if last is None:
                last = Packet(packet.offset, b"", packet.name)
            last.data += packet.data
            continue
        # STM synchronises in the middle of a byte: both have it.
        if last is not None and (last.offset, len(last.data)) != \
                (packet.offset, 1):
            yield last
        last = None
        yield packet
    if last is not None:
        yield last


def parse_packets(lines: Iterable[str]) -> dict[str, list[Packet]]:
    """Return the packets of each trace ID of a listing."""
    found: dict[str, list[Packet]] = {}
    for line in lines:
        # A message may stand before it.
        match = _LINE.search(line)
        if match:
            data = bytes(int(byte, 16) for byte in match[3].split())
            found.setdefault(match[2], []).append(
                Packet(int(match[1]), data, match[4]))
    return {key: list(join_unsynced(value)) for key, value in found.items()}


def is_itm(lines: Iterable[str]) -> bool:
    """Tell whether all packets of a listing are of ITM."""
    names = {packet.name for packets in parse_packets(lines).values()
             for packet in packets}
    return bool(names) and all(name.startswith("ITM_") for name in names)


def without_footers(cli: Path, folder: Path, source: Source,
                    packets: Iterable[Packet]) -> None:
    """Make offsets those of the lister, which counts no footers."""
    frames = [frame.offset for frame in packets_of(cli, folder,
                                                   source.sink - 1)
              if frame.name == "FRAME"]
    for packet in packets:
        frame = frames[bisect_right(frames, packet.offset) - 1]
        packet.offset -= frame // BLOCK * FOOTER


def packets_of(cli: Path, folder: Path, stream: int,
               size: int | None = None) -> list[Packet]:
    """Return what `hwtdecode packets` shows of one stream.

    Rows have to be one behind the other, up to the `size` of the stream.
    """
    try:
        done = subprocess.run(
            [str(cli), "packets", "--format", "jsonl", "--raw",
             "--max-loss", "100", "--stream", str(stream), str(folder)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Fail(f"still decoding after {TIMEOUT:g} s") from None
    if done.returncode not in (0, 1):
        said = done.stderr.strip().splitlines()
        raise Fail(said[-1] if said else f"exit code {done.returncode}")
    found, end = [], 0
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row.get("type") != "packet":
            continue
        if row["offset"] != end:
            raise Fail(f"a row is at {row['offset']}, not at {end}")
        end += row["bytes"]
        if row["kind"] == "lost":
            continue
        found.append(Packet(
            row.get("sink_offset", row["offset"]), bytes.fromhex(row["raw"]),
            row.get("name", row["kind"]), row.get("half", False)))
    if size is not None and end != size:
        raise Fail(f"rows have {end} bytes of {size}")
    return list(join_unsynced(found))


def same(want: Packet, have: Packet) -> bool:
    """Compare two packets."""
    if (want.offset, want.name) != (have.offset, have.name):
        # A packet that is all in half a byte has no place of its own.
        return have.half and not have.data and want.name == have.name
    if want.name in _UNSYNCED:
        # The library lists bytes that the trace does not have, too.
        return True
    if want.name.startswith("ITM_GTS"):
        # Their bytes are listed as the library altered them.
        return len(want.data) == len(have.data)
    if want.name == "ASYNC" and have.data[-1:] != b"\x80":
        return abs(len(want.data) - len(have.data)) <= 1
    return want.data[1 if have.half else 0:] == have.data


def compare_lists(want: Sequence[Packet], have: Sequence[Packet],
                  head: bool) -> int:
    """Compare the packets of one source; return how many."""
    if head:
        have = have[:len(want)]
    for number, (a, b) in enumerate(zip_longest(want, have), 1):
        if a is None or b is None or not same(a, b):
            raise Fail(f"packet {number} is {b}, expected {a}")
    return len(want)


def compare_packets(cli: Path | None, folder: Path,
                    sources: Sequence[Source], lines: Iterable[str],
                    head: bool, in_blocks: bool = False) -> int:
    """Compare the packets of a snapshot with a listing of it; how many.

    Sources of which the listing has packets have an ID each, or 0 if there are
    no frames.  `in_blocks`: the listing does not count the footers of DSTREAM
    blocks.
    """
    if cli is None or not cli.is_file():
        raise Skip("the hwtdecode tool was not built")
    wanted = parse_packets(lines)
    count = 0
    have: dict[str, list[Packet]] = {}
    for source in sources:
        trace_id = source.trace_id
        if not source.sink and "0" in wanted:
            trace_id = "0"
        if source.size:
            found = packets_of(cli, folder, source.stream, source.size)
            if in_blocks and source.sink:
                without_footers(cli, folder, source, found)
            have.setdefault(trace_id, []).extend(found)
    for trace_id in sorted({*wanted, *have}):
        if head and trace_id not in wanted:
            continue
        try:
            count += compare_lists(wanted.get(trace_id, []),
                                   have.get(trace_id, []), head)
        except Fail as fail:
            raise Fail(f"trace ID {trace_id}: {fail}") from None
    return count
