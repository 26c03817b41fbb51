"""A small x86 assembler: just what branch traces need.

Sizes never depend on distances: a jump is short unless `near` is written.
So one pass sizes and the next one encodes.  Every instruction is kept with
its class; the expectation checks use that to know what may follow it.

Source: Intel SDM vol. 2, opcode maps and instruction pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import AsmError
from .program import (CALL, COND, FAR, INDIRECT, JUMP, PLAIN, RETURN, STOP,
                      Insn)
from .values import evaluate, fits, little, number

CONDITIONS = {
    "o": 0, "no": 1, "b": 2, "c": 2, "ae": 3, "nc": 3, "nb": 3, "e": 4,
    "z": 4, "ne": 5, "nz": 5, "be": 6, "na": 6, "a": 7, "nbe": 7, "s": 8,
    "ns": 9, "p": 10, "pe": 10, "np": 11, "po": 11, "l": 12, "nge": 12,
    "ge": 13, "nl": 13, "le": 14, "ng": 14, "g": 15, "nle": 15,
}

_REG64 = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15"
_REG32 = ("eax ecx edx ebx esp ebp esi edi "
          "r8d r9d r10d r11d r12d r13d r14d r15d")
_REG16 = "ax cx dx bx sp bp si di"
REGISTERS = {
    name: (size, index)
    for size, names in ((64, _REG64), (32, _REG32), (16, _REG16))
    for index, name in enumerate(names.split())
}

# Instructions of fixed bytes: (class, bytes).
FIXED = {
    "retf": (FAR, "cb"), "iret": (FAR, "cf"), "int3": (FAR, "cc"),
    "int1": (FAR, "f1"), "syscall": (FAR, "0f05"), "sysret": (FAR, "0f07"),
    "sysenter": (FAR, "0f34"), "sysexit": (FAR, "0f35"),
    "ret": (RETURN, "c3"), "ud2": (STOP, "0f0b"), "hlt": (PLAIN, "f4"),
    "pause": (PLAIN, "f390"), "lfence": (PLAIN, "0faee8"),
    "mfence": (PLAIN, "0faef0"), "cpuid": (PLAIN, "0fa2"),
    "rdtsc": (PLAIN, "0f31"), "wrmsr": (PLAIN, "0f30"),
    "xend": (PLAIN, "0f01d5"), "xtest": (PLAIN, "0f01d6"),
    "mwait": (PLAIN, "0f01c9"), "monitor": (PLAIN, "0f01c8"),
    "vmcall": (FAR, "0f01c1"), "vmlaunch": (FAR, "0f01c2"),
    "vmresume": (FAR, "0f01c3"), "rsm": (FAR, "0faa"),
    "cli": (PLAIN, "fa"), "sti": (PLAIN, "fb"), "cmc": (PLAIN, "f5"),
    "leave": (PLAIN, "c9"), "rep movsb": (PLAIN, "f3a4"),
    "endbr64": (PLAIN, "f30f1efa"),
}

# Recommended multi-byte NOPs, by length.
NOPS = {
    1: "90", 2: "6690", 3: "0f1f00", 4: "0f1f4000", 5: "0f1f440000",
    6: "660f1f440000", 7: "0f1f8000000000", 8: "0f1f840000000000",
    9: "660f1f840000000000",
}


@dataclass(frozen=True)
class Memory:
    """A memory operand: base and displacement, or an address."""

    base: str | None
    value: str


def _memory(text: str) -> Memory:
    match = re.fullmatch(r"\[\s*(\w+)?\s*([+-].*|[\w.]+)?\s*\]", text)
    if match is None:
        raise AsmError(f"cannot read the operand {text!r}")
    base, rest = match.groups()
    if base is not None and base not in REGISTERS:
        return Memory(None, text[1:-1].strip())
    return Memory(base, rest or "")


def _modrm(reg: int, operand: str, bits: int, next_ip: int,
           labels: Mapping[str, int] | None) -> tuple[int, bytes]:
    """Return REX bits and the ModRM bytes of a register/memory operand."""
    rex = 4 if reg & 8 else 0
    if operand in REGISTERS:
        rm = REGISTERS[operand][1]
        return rex | (rm >> 3), bytes([0xc0 | (reg & 7) << 3 | rm & 7])
    memory = _memory(operand)
    if bits == 16:
        if memory.base is not None:
            raise AsmError("16-bit memory operands are plain addresses")
        value = evaluate(memory.value, labels)
        return rex, bytes([(reg & 7) << 3 | 6]) + little(value, 2)
    if memory.base is None:
        value = evaluate(memory.value, labels)
        if bits == 64:
            value -= next_ip
        return rex, bytes([(reg & 7) << 3 | 5]) + little(value, 4)
    base = REGISTERS[memory.base][1]
    rex |= base >> 3
    disp = evaluate(memory.value, labels) if memory.value else 0
    sib = b"\x24" if base & 7 == 4 else b""
    if disp == 0 and base & 7 != 5:
        mod, tail = 0, b""
    elif fits(disp, 8):
        mod, tail = 1, little(disp, 1)
    else:
        mod, tail = 2, little(disp, 4)
    return rex, bytes([mod << 6 | (reg & 7) << 3 | base & 7]) + sib + tail


class Encoder:
    """Encodes one instruction text at an address."""

    def __init__(self, bits: int, address: int,
                 labels: Mapping[str, int] | None) -> None:
        self.bits = bits
        self.address = address
        self.labels = labels

    def encode(self, text: str) -> Insn:
        """Return the instruction that a line of text stands for."""
        text = " ".join(text.split())
        if text in FIXED:
            kind, code = FIXED[text]
            return self._insn(bytes.fromhex(code), kind)
        name, _, rest = text.partition(" ")
        operands = [part.strip() for part in rest.split(",")] if rest else []
        method: Callable[[list[str]], Insn] | None = getattr(
            self, "_op_" + name, None)
        if method is not None:
            return method(operands)
        if name[0] == "j" and name[1:] in CONDITIONS:
            return self._jcc(CONDITIONS[name[1:]], operands)
        raise AsmError(f"no such instruction here: {text!r}")

    def _insn(self, data: bytes, kind: str, target: int | None = None) -> Insn:
        return Insn(self.address, data, kind, target)

    def _value(self, text: str) -> int:
        return evaluate(text, self.labels)

    def _relative(self, code: bytes, width: int, text: str, kind: str) -> Insn:
        """Encode a branch with a displacement of `width` bytes."""
        target = self._value(text)
        end = self.address + len(code) + width
        distance = target - end
        if self.labels is None:
            distance = 0
        elif not fits(distance, 8 * width):
            raise AsmError(f"{text} is too far away")
        return self._insn(code + little(distance, width), kind, target)

    def _rel_width(self) -> int:
        return 2 if self.bits == 16 else 4

    def _rm(self, code: bytes, reg: int, operand: str, kind: str, *,
            wide: bool = False, prefix: bytes = b"",
            tail: bytes = b"") -> Insn:
        """Encode an instruction with a ModRM operand."""
        data = b""
        for _ in range(2):
            # The second round knows the length, so RIP-relative is right.
            rex, body = _modrm(reg, operand, self.bits,
                               self.address + len(data), self.labels)
            rex |= 8 if wide else 0
            lead = bytes([0x40 | rex]) if rex and self.bits == 64 else b""
            data = prefix + lead + code + body + tail
        return self._insn(data, kind)

    def _op_nop(self, operands: list[str]) -> Insn:
        size = number(operands[0]) if operands else 1
        if size not in NOPS:
            raise AsmError(f"no NOP of {size} bytes")
        return self._insn(bytes.fromhex(NOPS[size]), PLAIN)

    def _op_db(self, operands: list[str]) -> Insn:
        data = b"".join(little(number(word), 1)
                        for part in operands for word in part.split())
        return self._insn(data, PLAIN)

    def _op_jmp(self, operands: list[str]) -> Insn:
        where = operands[0]
        if where.startswith("far "):
            return self._far(5, b"\xea", where[4:])
        if where.startswith("near "):
            return self._relative(b"\xe9", self._rel_width(), where[5:], JUMP)
        if where in REGISTERS or where.startswith("["):
            return self._rm(b"\xff", 4, where, INDIRECT)
        return self._relative(b"\xeb", 1, where, JUMP)

    def _op_call(self, operands: list[str]) -> Insn:
        where = operands[0]
        if where.startswith("far "):
            return self._far(3, b"\x9a", where[4:])
        if where in REGISTERS or where.startswith("["):
            return self._rm(b"\xff", 2, where, INDIRECT)
        return self._relative(b"\xe8", self._rel_width(), where, CALL)

    def _far(self, reg: int, direct: bytes, where: str) -> Insn:
        """Encode a far jump or call: `[memory]` or `selector:offset`."""
        if where.startswith("["):
            return self._rm(b"\xff", reg, where, FAR)
        selector, colon, offset = where.partition(":")
        if not colon or self.bits == 64:
            raise AsmError("a direct far branch is selector:offset, not in "
                           "64-bit code")
        data = direct + little(self._value(offset), self._rel_width())
        return self._insn(data + little(number(selector), 2), FAR)

    def _jcc(self, condition: int, operands: list[str]) -> Insn:
        where = operands[0]
        if where.startswith("near "):
            code = bytes([0x0f, 0x80 | condition])
            return self._relative(code, self._rel_width(), where[5:], COND)
        return self._relative(bytes([0x70 | condition]), 1, where, COND)

    def _op_loop(self, operands: list[str]) -> Insn:
        return self._relative(b"\xe2", 1, operands[0], COND)

    def _op_jrcxz(self, operands: list[str]) -> Insn:
        return self._relative(b"\xe3", 1, operands[0], COND)

    def _op_ret(self, operands: list[str]) -> Insn:
        return self._insn(b"\xc2" + little(number(operands[0]), 2), RETURN)

    def _op_retf(self, operands: list[str]) -> Insn:
        return self._insn(b"\xca" + little(number(operands[0]), 2), FAR)

    def _op_iretq(self, operands: list[str]) -> Insn:
        return self._insn(b"\x48\xcf", FAR)

    def _op_sysretq(self, operands: list[str]) -> Insn:
        return self._insn(b"\x48\x0f\x07", FAR)

    def _op_int(self, operands: list[str]) -> Insn:
        return self._insn(b"\xcd" + little(number(operands[0]), 1), FAR)

    def _op_xbegin(self, operands: list[str]) -> Insn:
        # The target is where an abort goes, which a TIP says.
        insn = self._relative(b"\xc7\xf8", self._rel_width(), operands[0],
                              PLAIN)
        return self._insn(insn.data, PLAIN)

    def _op_xabort(self, operands: list[str]) -> Insn:
        return self._insn(b"\xc6\xf8" + little(number(operands[0]), 1), PLAIN)

    def _op_ptwrite(self, operands: list[str]) -> Insn:
        wide = REGISTERS.get(operands[0], (0, 0))[0] == 64
        return self._rm(b"\x0f\xae", 4, operands[0], PLAIN, wide=wide,
                        prefix=b"\xf3")

    def _op_push(self, operands: list[str]) -> Insn:
        return self._push_pop(0x50, operands[0])

    def _op_pop(self, operands: list[str]) -> Insn:
        return self._push_pop(0x58, operands[0])

    def _push_pop(self, code: int, name: str) -> Insn:
        size, index = REGISTERS[name]
        if size != self.bits:
            raise AsmError(f"push and pop take {self.bits}-bit registers")
        lead = b"\x41" if index & 8 else b""
        return self._insn(lead + bytes([code | index & 7]), PLAIN)

    def _op_inc(self, operands: list[str]) -> Insn:
        return self._unary(0, operands[0])

    def _op_dec(self, operands: list[str]) -> Insn:
        return self._unary(1, operands[0])

    def _unary(self, reg: int, name: str) -> Insn:
        prefix, wide = self._size_prefix(name)
        return self._rm(b"\xff", reg, name, PLAIN, wide=wide, prefix=prefix)

    def _size_prefix(self, name: str) -> tuple[bytes, bool]:
        size = REGISTERS[name][0]
        if size == 64 and self.bits != 64:
            raise AsmError(f"{name} needs 64-bit code")
        prefix = b"\x66" if (size == 16) != (self.bits == 16) else b""
        return prefix, size == 64

    def _op_xor(self, operands: list[str]) -> Insn:
        return self._two(0x31, operands)

    def _op_test(self, operands: list[str]) -> Insn:
        return self._two(0x85, operands)

    def _two(self, code: int, operands: list[str]) -> Insn:
        left, right = operands
        prefix, wide = self._size_prefix(right)
        return self._rm(bytes([code]), REGISTERS[right][1], left, PLAIN,
                        wide=wide, prefix=prefix)

    def _op_mov(self, operands: list[str]) -> Insn:
        left, right = operands
        for code, control, other in ((0x22, left, right), (0x20, right, left)):
            if re.fullmatch(r"cr[0-8]", control):
                kind = FAR if (code, control) == (0x22, "cr3") else PLAIN
                rex, body = _modrm(int(control[2]), other, self.bits, 0, {})
                lead = bytes([0x40 | rex]) if rex else b""
                return self._insn(lead + bytes([0x0f, code]) + body, kind)
        if right in REGISTERS:
            return self._two(0x89, operands)
        prefix, wide = self._size_prefix(left)
        if right.startswith("["):
            return self._rm(b"\x8b", REGISTERS[left][1], right, PLAIN,
                            wide=wide, prefix=prefix)
        width = 2 if REGISTERS[left][0] == 16 else 4
        value = little(self._value(right), width)
        if wide:
            return self._rm(b"\xc7", 0, left, PLAIN, wide=True, tail=value)
        index = REGISTERS[left][1]
        lead = b"\x41" if index & 8 else b""
        return self._insn(prefix + lead + bytes([0xb8 | index & 7]) + value,
                          PLAIN)


MODES = {"16": 16, "32": 32, "64": 64}
DEFAULT_MODE = 64


def address_size(mode: int | str) -> int:
    """Return the bytes of a pointer."""
    return int(mode) // 8


def assemble(text: str, mode: int | str, address: int,
             labels: Mapping[str, int] | None) -> Insn:
    """Return the instruction that a line of text stands for."""
    return Encoder(int(mode), address, labels).encode(text)
