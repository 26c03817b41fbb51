"""STM and ITM packet encoders: one text line, one packet.

Sources: MIPI System Trace Protocol 2 as in Arm System Trace Macrocell
Programmers' Model Architecture (IHI 0054), "STPv2 packets"; Armv7-M
Architecture Reference Manual (DDI 0403), appendix "Debug ITM and DWT Packet
Protocol".
"""

from __future__ import annotations

from collections.abc import Mapping

from . import AsmError
from .source import (ByteStream, Packet, groups_of_7, parse_fields, parse_hex,
                     split_name)
from .values import evaluate, little, number

# Opcodes of data by size in bits: alone, marked, with time, with both.
STM_DATA = {
    4: ("c", "fd", "fc", "d"), 8: ("4", "f8", "f4", "8"),
    16: ("5", "f9", "f5", "9"), 32: ("6", "fa", "f6", "a"),
    64: ("7", "fb", "f7", "b"),
}
# Opcodes with a payload of so many bits.
STM_PLAIN = {
    "m8": ("1", 8), "merr": ("2", 8), "c8": ("3", 8), "m16": ("f1", 16),
    "gerr": ("f2", 8), "c16": ("f3", 16), "trig": ("f06", 8),
    "freq": ("f08", 32), "version": ("f00", 4),
}
STM_TIMED = {"trig": "f07"}
# Number of halves of a byte in a time stamp, by its first half.
STM_STAMP = {**{n: n for n in range(13)}, 14: 0xd, 16: 0xe}


class StmStream:
    """Collects packets of halves of bytes, the low half first."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        self.labels = labels
        self.marks: dict[str, int] = {}
        self.packets: list[Packet] = []
        self.halves: list[int] = []
        # Time stamps are in Gray code, after version 4.
        self.gray = False

    @property
    def data(self) -> bytearray:
        """Return all bytes; a half is filled up with NULL."""
        halves = [*self.halves, *[0] * (len(self.halves) % 2)]
        return bytearray(low | high << 4 for low, high
                         in zip(halves[::2], halves[1::2], strict=True))

    def add(self, text: str) -> None:
        """Encode one line: `[name:] packet operands`."""
        name, text = split_name(text)
        at = len(self.halves) // 2
        if name:
            if name in self.marks:
                raise AsmError(f"packet name {name} is there twice")
            self.marks[name] = at
        if not text:
            return
        digits = self._digits(text)
        self.halves += [int(digit, 16) for digit in digits]
        # Shown as they are sent, not as bytes.
        shown = digits + "0" * (len(digits) % 2)
        self.packets.append(Packet(at, bytes.fromhex(shown), text))

    def finish(self) -> bytes:
        """Return all bytes."""
        return bytes(self.data)

    def _stamp(self, words: list[str]) -> str:
        """`ts=VALUE [halves=N]`, in as few halves as can be.

        In Gray code VALUE is the whole time, of which N halves are sent.
        """
        field = parse_fields(words, "ts halves", self.labels)
        value = field["ts"]
        count = field.get("halves", -(-value.bit_length() // 4))
        while count not in STM_STAMP:
            count += 1
        if self.gray:
            value = (value ^ value >> 1) & ((1 << 4 * count) - 1)
        return f"{STM_STAMP[count]:x}" + (f"{value:0{count}x}" if count
                                          else "")

    def _digits(self, text: str) -> str:
        name, *words = text.split()
        stamp = [word for word in words
                 if word.startswith(("ts=", "halves="))]
        words = [word for word in words if word not in stamp]
        if name == "async":
            return "f" * 21 + "0"
        if name == "null":
            return "f01" + self._stamp(stamp) if stamp else "0"
        if name == "flag":
            return "e" + self._stamp(stamp) if stamp else "fe"
        if name == "raw":
            return "".join(words)
        if name in STM_PLAIN:
            opcode, bits = STM_PLAIN[name]
            if name == "version":
                self.gray = evaluate(words[0], self.labels) == 4
            tail = ""
            if stamp:
                opcode, tail = STM_TIMED[name], self._stamp(stamp)
            return opcode + self._payload(words[0], bits) + tail
        if name[:1] == "d" and name[1:].isdigit() and \
                int(name[1:]) in STM_DATA:
            bits = int(name[1:])
            marked = words[1:] == ["m"]
            if words[1:] not in ([], ["m"]):
                raise AsmError("data is `dN VALUE [m] [ts=N]`")
            opcode = STM_DATA[bits][marked | bool(stamp) << 1]
            return (opcode + self._payload(words[0], bits)
                    + (self._stamp(stamp) if stamp else ""))
        raise AsmError(f"no such packet: {name}")

    def _payload(self, text: str, bits: int) -> str:
        value = evaluate(text, self.labels)
        if value >> bits:
            raise AsmError(f"{value:#x} has more than {bits} bits")
        return f"{value:0{bits // 4}x}"


ITM_SIZES = {1: 1, 2: 2, 4: 3}


class ItmStream(ByteStream):
    """Collects ITM and DWT packets."""

    def _p_sync(self, words: list[str]) -> bytes:
        """With more zeros than needed, if told."""
        return bytes(number(words[0]) if words else 5) + b"\x80"

    def _p_overflow(self, words: list[str]) -> bytes:
        return b"\x70"

    def _data(self, words: list[str], hardware: int) -> bytes:
        source, size, value = (evaluate(word, self.labels) for word in words)
        if source >> 5 or size not in ITM_SIZES:
            raise AsmError("it is `SOURCE 1|2|4 VALUE`")
        return (bytes([source << 3 | hardware << 2 | ITM_SIZES[size]])
                + little(value, size))

    def _p_swit(self, words: list[str]) -> bytes:
        return self._data(words, 0)

    def _p_dwt(self, words: list[str]) -> bytes:
        return self._data(words, 1)

    def _p_page(self, words: list[str]) -> bytes:
        page = number(words[0])
        if page >> 3:
            raise AsmError("a page is 0 to 7")
        return bytes([0x08 | page << 4])

    def _p_local(self, words: list[str]) -> bytes:
        """`local COUNT [tc=N]`; 1 to 6 in one byte if it is in time."""
        field = parse_fields(words[1:], "tc", self.labels)
        count = number(words[0])
        if not field and 0 < count < 7:
            return bytes([count << 4])
        return bytes([0xc0 | field.get("tc", 0) << 4]) + groups_of_7(count, 4)

    def _p_global1(self, words: list[str]) -> bytes:
        """`global1 LOW [wrap] [change]`: bits 25 to 0."""
        field = parse_fields(words[1:], "wrap change", self.labels)
        value = evaluate(words[0], self.labels)
        if not field and value >> 21 == 0:
            return b"\x94" + groups_of_7(value, 3)
        if value >> 26:
            raise AsmError("global1 has 26 bits")
        value |= field.get("change", 0) << 26 | field.get("wrap", 0) << 27
        return b"\x94" + groups_of_7(value, 4, 4)

    def _p_global2(self, words: list[str]) -> bytes:
        """Bits from 26 on: 22 of them, or 38."""
        value = evaluate(words[0], self.labels)
        return b"\xb4" + groups_of_7(value, 6, 4 if value >> 22 == 0 else 6)
