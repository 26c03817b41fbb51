"""What the packet encoders share: places of packets, names, operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import AsmError
from .values import evaluate


@dataclass(frozen=True)
class Packet:
    """One encoded packet, its place in the stream and its text."""

    offset: int
    data: bytes
    text: str

    @property
    def end(self) -> int:
        """Return the offset behind the packet."""
        return self.offset + len(self.data)


def split_name(text: str) -> tuple[str, str]:
    """Return the name that a line gives to its packet, and the rest."""
    head, colon, rest = text.partition(":")
    if colon and head.replace("_", "").isalnum() and not head[0].isdigit():
        return head, rest.strip()
    return "", text


def parse_hex(words: list[str]) -> bytes:
    """Return the bytes of a `raw` line."""
    try:
        return bytes.fromhex("".join(words))
    except ValueError:
        raise AsmError("raw takes hexadecimal bytes") from None


def parse_fields(words: list[str], known: str,
                 labels: Mapping[str, int]) -> dict[str, int]:
    """Return name=value operands; flags alone count as 1."""
    out: dict[str, int] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in known.split():
            raise AsmError(f"no such field: {key}")
        out[key] = evaluate(value, labels) if equals else 1
    return out


def groups_of_7(value: int, most: int, size: int = 0) -> bytes:
    """Return 7 bits a byte, low ones first, bit 7 set in all but the last.

    It takes ``size`` bytes, or as few as it can, and at most ``most``.
    """
    least = max(1, (value.bit_length() + 6) // 7)
    size = size or least
    if value < 0 or not least <= size <= most:
        raise AsmError(f"{value} takes {least} to {most} bytes")
    return bytes((value >> 7 * i & 0x7f) | (0x80 if i + 1 < size else 0)
                 for i in range(size))


class ByteStream:
    """Collects packets of whole bytes; subclasses have a `_p_name` each."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        self.labels = labels
        self.marks: dict[str, int] = {}
        self.packets: list[Packet] = []
        self.data = bytearray()

    def add(self, text: str) -> None:
        """Encode one line: `[name:] packet operands`."""
        name, text = split_name(text)
        if name:
            if name in self.marks:
                raise AsmError(f"packet name {name} is there twice")
            self.marks[name] = len(self.data)
        if not text:
            return
        data = self.encode(text)
        self.packets.append(Packet(len(self.data), data, text))
        self.data += data

    def encode(self, text: str) -> bytes:
        """Return the bytes of one packet."""
        name, _, rest = text.strip().partition(" ")
        method: Callable[[list[str]], bytes] | None = getattr(
            self, "_p_" + name.replace(".", "_"), None)
        if method is None:
            raise AsmError(f"no such packet: {name}")
        return method(rest.split())

    def finish(self) -> bytes:
        """Return all bytes."""
        return bytes(self.data)

    def _p_raw(self, words: list[str]) -> bytes:
        return parse_hex(words)
