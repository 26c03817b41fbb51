"""What each trace ID has in the frames of a sink, as listings show it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .case import Fail, Malformed
from .ppl import Source

_DATA = re.compile(r"Frame Data; Index *\d+; *ID_DATA\[(0x\w+|\?+)\]; (.*)")
_OTHER = re.compile(r"Frame Data;")
_MORE = re.compile(r"(?:[0-9a-f]{2} )*[0-9a-f]{2} ?")
_BASIS, _PRIME = 0xcbf29ce484222325, 0x100000001b3


def data_by_id(lines: Iterable[str]) -> dict[int, bytearray]:
    """Return the bytes of each ID, in order; those before the first not."""
    data: dict[int, bytearray] = {}
    into: bytearray | None = None
    for line in lines:
        match = _DATA.match(line)
        if match is not None and match[1].startswith("0x"):
            into = data.setdefault(int(match[1], 16), bytearray())
            into += bytes.fromhex(match[2])
        elif match is not None or _OTHER.match(line):
            into = None
        elif into is not None and _MORE.fullmatch(line):
            into += bytes.fromhex(line)
        else:
            into = None
    return data


def fnv(data: bytes) -> int:
    """Return the FNV-1a hash of bytes."""
    value = _BASIS
    for byte in data:
        value = (value ^ byte) * _PRIME & (1 << 64) - 1
    return value


def compare_frames(lines: Iterable[str], sources: Iterable[Source]) -> str:
    """Check that our sources have the bytes of their IDs; say how many."""
    data = data_by_id(lines)
    if not data:
        raise Malformed("no frames in the listing")
    count = 0
    for source in sources:
        if source.sink == 0:
            continue
        want = bytes(data.get(int(source.trace_id, 16), b""))
        if source.size != len(want) or source.data != fnv(want):
            raise Fail(f"{source.name}: {source.size} bytes in frames, "
                       f"expected {len(want)}, or others")
        count += len(want)
    return f"{count} bytes of sources"
