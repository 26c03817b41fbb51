"""CoreSight formatter: bytes of several sources in frames of 16.

Source: CoreSight Architecture Specification (IHI 0029), "Trace Formatter".
"""

from __future__ import annotations

from collections.abc import Mapping

from . import AsmError
from .source import parse_hex
from .values import evaluate, number

FRAME = 16
FSYNC = b"\xff\xff\xff\x7f"
HSYNC = b"\xff\x7f"
DSTREAM_TRACE, DSTREAM_FOOTER = 504, 8


class Formatter:
    """Packs bytes of sources into frames, with what a sink adds."""

    def __init__(self, sources: Mapping[int, bytes],
                 marks: Mapping[int, Mapping[str, int]]) -> None:
        self.sources = sources
        self.marks = marks
        self.current = 0
        self.waiting: list[tuple[int, int]] = []
        self.out = bytearray()
        # Halfwords behind which the next frame has an HSYNC.
        self.hsyncs: list[int] = []

    def add(self, text: str) -> None:
        """Do what one line says."""
        name, *words = text.split()
        method = getattr(self, "_do_" + name, None)
        if method is not None:
            method(words)
            return
        source = number(name)
        if source not in self.sources or len(words) != 2:
            raise AsmError("bytes are `ID first end`")
        first, end = (evaluate(word, self.marks[source]) for word in words)
        self.waiting += [(source, byte)
                         for byte in self.sources[source][first:end]]

    def finish(self, framing: str) -> bytes:
        """Return what the sink holds."""
        self._do_flush([])
        if framing != "dstream":
            return bytes(self.out)
        blocks = bytearray()
        for at in range(0, len(self.out), DSTREAM_TRACE):
            part = self.out[at:at + DSTREAM_TRACE]
            # The last block is filled up with what synchronises.
            part += (FSYNC * (DSTREAM_TRACE // 4))[:DSTREAM_TRACE - len(part)]
            blocks += part + bytes(DSTREAM_FOOTER)
        return bytes(blocks)

    def _do_flush(self, words: list[str]) -> None:
        """Fill the last frame up with ID 0."""
        while self.waiting:
            self._frame()

    def _do_fsync(self, words: list[str]) -> None:
        self._do_flush([])
        self.out += FSYNC * (number(words[0]) if words else 1)

    def _do_barrier(self, words: list[str]) -> None:
        """A frame of nothing but FSYNC."""
        self._do_fsync(["4"])
        self.current = 0

    def _do_hsync(self, words: list[str]) -> None:
        """Behind so many halfwords of the next frame."""
        self.hsyncs = [number(word) for word in words]

    def _do_raw(self, words: list[str]) -> None:
        self._do_flush([])
        self.out += parse_hex(words)

    def _do_drop(self, words: list[str]) -> None:
        """Take bytes away at the start."""
        self._do_flush([])
        del self.out[:number(words[0])]

    def _do_cut(self, words: list[str]) -> None:
        """Take bytes away at the end."""
        self._do_flush([])
        del self.out[len(self.out) - number(words[0]):]

    def _do_turn(self, words: list[str]) -> None:
        """Put bytes of the start behind the end, as a ring holds them."""
        self._do_flush([])
        count = number(words[0])
        self.out = self.out[count:] + self.out[:count]

    def _next(self, at: int = 0) -> tuple[int, int]:
        return self.waiting[at] if at < len(self.waiting) else (0, 0)

    def _take(self) -> int:
        return self.waiting.pop(0)[1] if self.waiting else 0

    def _frame(self) -> None:
        frame = bytearray()
        flags = 0
        for pair in range(FRAME // 2):
            last = pair == FRAME // 2 - 1
            if self._next()[0] != self.current:
                # The ID holds from the next byte on.
                self.current = self._next()[0]
                frame.append(self.current << 1 | 1)
            elif not last and self._next(1)[0] != self.current:
                # It holds from the byte behind the next one on.
                frame.append(self._next(1)[0] << 1 | 1)
                flags |= 1 << pair
                frame.append(self._take())
                self.current = self._next()[0]
                continue
            else:
                byte = self._take()
                frame.append(byte & 0xfe)
                flags |= (byte & 1) << pair
            if not last:
                frame.append(self._take())
        frame.append(flags)
        self._put(bytes(frame))

    def _put(self, frame: bytes) -> None:
        for half in range(FRAME // 2):
            self.out += frame[2 * half:2 * half + 2]
            if half + 1 in self.hsyncs:
                self.out += HSYNC
        self.hsyncs = []
