"""A small zstd encoder: the same bytes whatever libraries are there.

One frame without an end, as perf writes it; each piece is flushed, and later
pieces refer to earlier ones. A block has at most one repeat, so that every
table of the format is of one symbol. Source: RFC 8878.
"""

from __future__ import annotations

from .order import LITTLE

_MAGIC = 0xfd2fb528
_WINDOW_LOG = 17
_MIN_MATCH = 8
_MAX_LITERALS = 65535
_MAX_MATCH = 65538
_BLOCK = 1 << 16

_RAW, _COMPRESSED = 0, 2

# First value and extra bits of codes: literals from 16, repeats from 32.
_LITERALS = ((16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3),
             (40, 3), (48, 4), (64, 6), (128, 7), (256, 8), (512, 9),
             (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14),
             (32768, 15), (65536, 16))
_MATCHES = ((35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3),
            (59, 3), (67, 4), (83, 4), (99, 5), (131, 7), (259, 8), (515, 9),
            (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14),
            (32771, 15), (65539, 16))


def _code(value: int, plain: int, table: tuple[tuple[int, int], ...],
          base: int) -> tuple[int, int, int]:
    """Return code, extra bits and their count of a length."""
    if value - base < plain:
        return value - base, 0, 0
    number = max(i for i, (first, _) in enumerate(table) if first <= value)
    first, bits = table[number]
    return plain + number, value - first, bits


def _block(kind: int, body: bytes) -> bytes:
    return (len(body) << 3 | kind << 1).to_bytes(3, "little") + body


def _sequence(literals: bytes, length: int, distance: int) -> bytes:
    """Return a block: literals, then a repeat of what was before."""
    out = (len(literals) << 4 | 3 << 2).to_bytes(3, "little") + literals
    ll_code, ll_extra, ll_bits = _code(len(literals), 16, _LITERALS, 0)
    ml_code, ml_extra, ml_bits = _code(length, 32, _MATCHES, 3)
    # The first three offsets stand for those of before.
    of_code = (distance + 3).bit_length() - 1
    # One sequence, each table of one symbol: offset, repeat, literals.
    out += bytes([1, 0x54, ll_code, of_code, ml_code])
    bits = 1
    for extra, count in ((distance + 3 - (1 << of_code), of_code),
                         (ml_extra, ml_bits), (ll_extra, ll_bits)):
        bits = bits << count | extra
    out += bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return _block(_COMPRESSED, out)


class Stream:
    """One continuous stream."""

    def __init__(self) -> None:
        self.history = bytearray()
        self.places: dict[bytes, int] = {}
        self.begun = False

    def add(self, data: bytes) -> bytes:
        """Return what the stream has more, all of ``data`` in it."""
        out = bytearray()
        if not self.begun:
            out += LITTLE.u32(_MAGIC) + bytes([0, (_WINDOW_LOG - 10) << 3])
            self.begun = True
        start = len(self.history)
        self.history += data
        at = first = start
        while at < len(self.history):
            length, distance = self._match(at)
            if length:
                out += _sequence(bytes(self.history[first:at]), length,
                                 distance)
                for place in range(at, at + length):
                    self._note(place)
                at = first = at + length
                continue
            self._note(at)
            at += 1
            if at - first == _MAX_LITERALS:
                out += _block(_RAW, bytes(self.history[first:at]))
                first = at
        if first < at:
            out += _block(_RAW, bytes(self.history[first:at]))
        return bytes(out)

    def _note(self, at: int) -> None:
        if at + _MIN_MATCH <= len(self.history):
            self.places[bytes(self.history[at:at + _MIN_MATCH])] = at

    def _match(self, at: int) -> tuple[int, int]:
        found = self.places.get(bytes(self.history[at:at + _MIN_MATCH]))
        if found is None or at - found > 1 << _WINDOW_LOG:
            return 0, 0
        length = _MIN_MATCH
        most = min(len(self.history) - at, _BLOCK)
        while length < most and (self.history[found + length]
                                 == self.history[at + length]):
            length += 1
        return length, at - found
