"""Byte orders, and the bytes of fields in them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from . import PerfDataError

# One field: a letter of `struct` and its value, or "s" and bytes.
Part = tuple[str, int | float | bytes]
Parts = list[Part]

_MASKS = {"B": 0xff, "H": 0xffff, "I": 0xffffffff, "Q": (1 << 64) - 1}


@dataclass(frozen=True)
class Order:
    """A byte order."""

    name: str
    prefix: str

    def pack(self, parts: Parts) -> bytes:
        """Return fields one after the other, without any gap.

        Negative numbers are those of the same width.
        """
        out = bytearray()
        for kind, value in parts:
            if kind == "s":
                if not isinstance(value, bytes):
                    raise PerfDataError("an `s` field is bytes")
                out += value
            elif kind in _MASKS:
                if not isinstance(value, int) or value > _MASKS[kind]:
                    raise PerfDataError(f"{value!r} does not fit `{kind}`")
                out += struct.pack(self.prefix + kind, value & _MASKS[kind])
            else:
                out += struct.pack(self.prefix + kind, value)
        return bytes(out)

    def u16(self, value: int) -> bytes:
        """Return 2 bytes."""
        return self.pack([("H", value)])

    def u32(self, value: int) -> bytes:
        """Return 4 bytes."""
        return self.pack([("I", value)])

    def u64(self, value: int) -> bytes:
        """Return 8 bytes."""
        return self.pack([("Q", value)])


LITTLE = Order("little", "<")
BIG = Order("big", ">")


def padded(data: bytes, multiple: int) -> bytes:
    """Return bytes with zeroes up to a multiple."""
    return data + bytes(-len(data) % multiple)


def text(name: str, multiple: int = 8) -> bytes:
    """Return a string with its end, filled up to a multiple."""
    return padded(name.encode() + b"\0", multiple)
