"""A small Arm assembler, A64, A32 and T32: just what branch traces need.

Sources: Arm Architecture Reference Manual for A-profile (DDI 0487), chapters
"A64 Base Instruction Descriptions", "T32 and A32 Base Instruction Set
Instruction Descriptions", and TME in its supplement (DDI 0617).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import AsmError
from .program import (CALL, COND, FAR, INDIRECT, JUMP, PLAIN, RETURN, STOP,
                      Insn)
from .values import evaluate, fits, little, number

A64, A32, T32 = "a64", "a32", "t32"
MODES = {A64: A64, A32: A32, T32: T32}
DEFAULT_MODE = A64

CONDITIONS = {name: code for code, names in enumerate(
    ("eq", "ne", "cs hs", "cc lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge",
     "lt", "gt", "le")) for name in names.split()}
ALWAYS = 14

# Instructions of fixed words: (class, word).
FIXED_A64 = {
    "nop": (PLAIN, 0xd503201f), "wfe": (PLAIN, 0xd503205f),
    "wfi": (PLAIN, 0xd503207f), "isb": (PLAIN, 0xd5033fdf),
    "dsb": (PLAIN, 0xd5033f9f), "dmb": (PLAIN, 0xd5033fbf),
    "ret": (RETURN, 0xd65f03c0), "eret": (FAR, 0xd69f03e0),
    "tcommit": (PLAIN, 0xd503307f), "udf": (STOP, 0x00000000),
}
# Number in bits 20 to 5.
NUMBER_A64 = {
    "svc": (FAR, 0xd4000001), "hvc": (FAR, 0xd4000002),
    "smc": (FAR, 0xd4000003), "brk": (STOP, 0xd4200000),
    "tcancel": (STOP, 0xd4600000),
}
# Register in bits 9 to 5.
REGISTER_A64 = {
    "br": (INDIRECT, 0xd61f0000), "blr": (INDIRECT, 0xd63f0000),
    "ret": (RETURN, 0xd65f0000),
}
FIXED_A32 = {"nop": (PLAIN, 0xe320f000), "isb": (PLAIN, 0xf57ff06f),
             "mov pc, lr": (RETURN, 0xe1a0f00e)}
FIXED_T32 = {"nop": (PLAIN, 0xbf00), "isb": (PLAIN, 0xf3bf8f6f),
             "nop.w": (PLAIN, 0xf3af8000), "pop {pc}": (RETURN, 0xbd00)}

_A32_REGISTERS = {**{f"r{i}": i for i in range(16)},
                  "sp": 13, "lr": 14, "pc": 15}
# Masks of IT for one to four instructions, by "t" and "e" of condition 0.
_IT = re.compile(r"it([te]{0,3})")


def _register(text: str) -> tuple[int, int]:
    """Return number and size bit of an A64 register."""
    match = re.fullmatch(r"([xw])(\d+|zr)", text)
    if match is None:
        raise AsmError(f"no such register: {text}")
    index = 31 if match.group(2) == "zr" else int(match.group(2))
    if index > 31:
        raise AsmError(f"no such register: {text}")
    return index, int(match.group(1) == "x")


def _field(distance: int, unit: int, bits: int) -> int:
    """Return a distance as a signed field that counts units."""
    if distance % unit or not fits(distance // unit, bits):
        raise AsmError(f"the distance {distance} does not fit")
    return distance // unit & ((1 << bits) - 1)


class Encoder:
    """Encodes one instruction text at an address."""

    def __init__(self, mode: str, address: int,
                 labels: Mapping[str, int] | None) -> None:
        self.mode = mode
        self.address = address
        self.labels = labels

    def encode(self, text: str) -> Insn:
        """Return the instruction that a line of text stands for."""
        text = " ".join(text.split())
        name, _, rest = text.partition(" ")
        operands = [word.strip() for word in rest.split(",") if word.strip()]
        if name == "insn":
            return self._insn(PLAIN, bytes.fromhex(rest))
        if self.mode == A64:
            return self._a64(text, name, operands)
        if self.mode == A32:
            return self._a32(text, name, operands)
        return self._t32(text, name, operands)

    def _insn(self, kind: str, data: bytes, target: int | None = None) -> Insn:
        return Insn(self.address, data, kind, target)

    def _word(self, kind: str, word: int, target: int | None = None) -> Insn:
        return self._insn(kind, little(word, 4), target)

    def _half(self, kind: str, half: int, target: int | None = None) -> Insn:
        return self._insn(kind, little(half, 2), target)

    def _wide(self, kind: str, word: int, target: int | None = None) -> Insn:
        """Two halfwords of T32, the upper one first."""
        return self._insn(kind, little(word >> 16, 2) + little(word, 2),
                          target)

    def _target(self, text: str, base: int, unit: int, bits: int
                ) -> tuple[int, int]:
        """Return a target and the field that says it."""
        target = evaluate(text, self.labels)
        if self.labels is None:
            return target, 0
        return target, _field(target - base, unit, bits)

    def _a64(self, text: str, name: str, operands: list[str]) -> Insn:
        if text in FIXED_A64:
            return self._word(*FIXED_A64[text])
        if name in NUMBER_A64:
            kind, word = NUMBER_A64[name]
            return self._word(kind, word | number(operands[0]) << 5)
        if name in REGISTER_A64:
            kind, word = REGISTER_A64[name]
            return self._word(kind, word | _register(operands[0])[0] << 5)
        if name in ("b", "bl"):
            target, field = self._target(operands[0], self.address, 4, 26)
            return self._word(CALL if name == "bl" else JUMP,
                              (0x94000000 if name == "bl" else 0x14000000)
                              | field, target)
        if name.startswith("b."):
            target, field = self._target(operands[0], self.address, 4, 19)
            return self._word(COND, 0x54000000 | field << 5
                              | CONDITIONS[name[2:]], target)
        if name in ("cbz", "cbnz"):
            index, wide = _register(operands[0])
            target, field = self._target(operands[1], self.address, 4, 19)
            return self._word(COND, 0x34000000 | wide << 31
                              | int(name == "cbnz") << 24 | field << 5
                              | index, target)
        if name in ("tbz", "tbnz"):
            index, _ = _register(operands[0])
            bit = number(operands[1])
            target, field = self._target(operands[2], self.address, 4, 14)
            return self._word(COND, 0x36000000 | bit >> 5 << 31
                              | int(name == "tbnz") << 24 | (bit & 31) << 19
                              | field << 5 | index, target)
        if name == "tstart":
            return self._word(PLAIN, 0xd5233060 | _register(operands[0])[0])
        if name == "mov":
            index, wide = _register(operands[0])
            return self._word(PLAIN, 0x52800000 | wide << 31
                              | evaluate(operands[1], None) << 5 | index)
        raise AsmError(f"no such instruction: {text}")

    def _a32(self, text: str, name: str, operands: list[str]) -> Insn:
        if text in FIXED_A32:
            return self._word(*FIXED_A32[text])
        match = re.fullmatch(r"(blx|bx|bl|b|svc)(\w\w)?", name)
        if match is None or (match.group(2) or "eq") not in CONDITIONS:
            raise AsmError(f"no such instruction: {text}")
        name, suffix = match.groups()
        cond = CONDITIONS[suffix] if suffix else ALWAYS
        if name == "svc":
            return self._word(FAR, cond << 28 | 0x0f000000
                              | number(operands[0]))
        if operands[0] in _A32_REGISTERS:
            index = _A32_REGISTERS[operands[0]]
            if name == "bx":
                return self._word(RETURN if index == 14 else INDIRECT,
                                  cond << 28 | 0x012fff10 | index)
            return self._word(INDIRECT, cond << 28 | 0x012fff30 | index)
        if name == "blx":
            target, field = self._target(operands[0], self.address + 8, 2, 25)
            return self._word(CALL, 0xfa000000 | (field & 1) << 24
                              | field >> 1, target)
        target, field = self._target(operands[0], self.address + 8, 4, 24)
        kind = CALL if name == "bl" else JUMP
        return self._word(COND if suffix else kind, cond << 28
                          | (0x0b000000 if name == "bl" else 0x0a000000)
                          | field, target)

    def _t32(self, text: str, name: str, operands: list[str]) -> Insn:
        if text in FIXED_T32:
            kind, word = FIXED_T32[text]
            return (self._half if word < 0x10000 else self._wide)(kind, word)
        if name == "svc":
            return self._half(FAR, 0xdf00 | number(operands[0]))
        match = _IT.fullmatch(name)
        if match is not None:
            return self._it(match.group(1), CONDITIONS[operands[0]])
        if name in ("bx", "blx") and operands[0] in _A32_REGISTERS:
            index = _A32_REGISTERS[operands[0]]
            kind = RETURN if name == "bx" and index == 14 else INDIRECT
            return self._half(kind, (0x4700 if name == "bx" else 0x4780)
                              | index << 3)
        if name in ("bl", "blx", "b.w"):
            return self._t32_far(name, operands[0])
        if name in ("cbz", "cbnz"):
            target = evaluate(operands[1], self.labels)
            field = 0 if self.labels is None else _field(
                target - self.address - 4, 2, 7)
            if field >> 6:
                raise AsmError("cbz goes forward only")
            return self._half(COND, 0xb100 | int(name == "cbnz") << 11
                              | field >> 5 << 9 | (field & 31) << 3
                              | _A32_REGISTERS[operands[0]], target)
        if name == "b":
            target, field = self._target(operands[0], self.address + 4, 2, 11)
            return self._half(JUMP, 0xe000 | field, target)
        if name[:1] == "b" and name[1:] in CONDITIONS:
            target, field = self._target(operands[0], self.address + 4, 2, 8)
            return self._half(COND, 0xd000 | CONDITIONS[name[1:]] << 8
                              | field, target)
        raise AsmError(f"no such instruction: {text}")

    def _it(self, rest: str, cond: int) -> Insn:
        """IT: its mask has the low bit of each condition, then a one."""
        mask = 0
        for letter in rest:
            mask = mask << 1 | (cond & 1 if letter == "t" else 1 - (cond & 1))
        mask = (mask << 1 | 1) << (3 - len(rest))
        return self._half(PLAIN, 0xbf00 | cond << 4 | mask)

    def _t32_far(self, name: str, operand: str) -> Insn:
        base = self.address + 4
        if name == "blx":
            base &= ~3
        target, field = self._target(operand, base, 2, 24)
        sign = field >> 23
        j1 = (field >> 22 & 1) ^ sign ^ 1
        j2 = (field >> 21 & 1) ^ sign ^ 1
        word = (0xf0000000 | sign << 26 | (field >> 11 & 0x3ff) << 16
                | j1 << 13 | j2 << 11 | (field & 0x7ff))
        word |= {"bl": 0xd000, "blx": 0xc000, "b.w": 0x9000}[name]
        return self._wide(JUMP if name == "b.w" else CALL, word, target)


def address_size(mode: int | str) -> int:
    """Return the bytes of a pointer."""
    return 8 if mode == A64 else 4


def assemble(text: str, mode: int | str, address: int,
             labels: Mapping[str, int] | None) -> Insn:
    """Return the instruction that a line of text stands for."""
    return Encoder(str(mode), address, labels).encode(text)
