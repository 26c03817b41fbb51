"""A program: instructions, data and labels, of whichever instruction set.

Sizes never depend on distances, so one pass sizes and the next one encodes.
Every instruction is kept with its class; the expectation checks use that to
know what may follow it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from . import AsmError
from .values import evaluate, little, number

# What may follow an instruction.
PLAIN = "plain"  # the next one
JUMP = "jump"  # its target
CALL = "call"  # its target, and a return later
COND = "cond"  # its target or the next one
INDIRECT = "indirect"  # a TIP says
RETURN = "return"  # a TIP or a TNT bit says
FAR = "far"  # a TIP says, or tracing ends
STOP = "stop"  # nothing: executing it is a fault


@dataclass(frozen=True)
class Insn:
    """One assembled instruction."""

    address: int
    data: bytes
    kind: str
    target: int | None = None

    @property
    def end(self) -> int:
        """Return the address behind the instruction."""
        return self.address + len(self.data)


class Isa(Protocol):
    """What a module of an instruction set has."""

    MODES: Mapping[str, int | str]
    DEFAULT_MODE: int | str

    def address_size(self, mode: int | str) -> int:
        """Return the bytes of a pointer."""

    def assemble(self, text: str, mode: int | str, address: int,
                 labels: Mapping[str, int] | None) -> Insn:
        """Return the instruction that a line of text stands for."""


class Program:
    """Program pieces: instructions, data bytes and labels by address."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.insns: dict[int, Insn] = {}
        self.labels: dict[str, int] = {}
        self.pieces: list[tuple[int, bytearray]] = []
        self.modes: dict[int, int | str] = {}

    def assemble(self, lines: list[tuple[int, str]]) -> None:
        """Assemble numbered lines; raise AsmError with the line number."""
        for final in (False, True):
            labels = self.labels if final else None
            self.insns, self.pieces, self.modes = {}, [], {}
            self._pass(lines, labels)

    def _pass(self, lines: list[tuple[int, str]],
              labels: Mapping[str, int] | None) -> None:
        mode: int | str = self.isa.DEFAULT_MODE
        here: int | None = None
        for line_no, text in lines:
            try:
                mode, here = self._line(text, mode, here, labels)
            except AsmError as error:
                raise AsmError(str(error), line_no) from None
            except (KeyError, IndexError, ValueError) as error:
                raise AsmError(f"cannot assemble {text!r}: {error}",
                               line_no) from None
        self._check_overlap()

    def _line(self, text: str, mode: int | str, here: int | None,
              labels: Mapping[str, int] | None
              ) -> tuple[int | str, int | None]:
        match = re.match(r"([A-Za-z_.][\w.]*):\s*", text)
        if match is not None:
            name = match.group(1)
            if here is None:
                raise AsmError("a label before the first org")
            if labels is None:
                if name in self.labels:
                    raise AsmError(f"label {name} is there twice")
                self.labels[name] = here
            text = text[match.end():]
        if not text:
            return mode, here
        word, _, rest = text.partition(" ")
        if word == "bits":
            if rest not in self.isa.MODES:
                raise AsmError("bits is " + ", ".join(self.isa.MODES))
            return self.isa.MODES[rest], here
        if word == "org":
            here = evaluate(rest, labels)
            self.pieces.append((here, bytearray()))
            return mode, here
        if here is None:
            raise AsmError("an instruction before the first org")
        if word == "data":
            data = b"".join(little(number(byte), 1)
                            for byte in rest.replace(",", " ").split())
        elif word == "address":
            data = little(evaluate(rest, labels), self.isa.address_size(mode))
        else:
            insn = self.isa.assemble(text, mode, here, labels)
            self.insns[here] = insn
            self.modes[here] = mode
            data = insn.data
        self.pieces[-1][1].extend(data)
        return mode, here + len(data)

    def _check_overlap(self) -> None:
        ranges = sorted((at, at + len(data)) for at, data in self.pieces)
        for (_, end), (start, _) in pairwise(ranges):
            if start < end:
                raise AsmError(f"two pieces of code share {start:#x}")

    def read(self, start: int, end: int) -> bytes:
        """Return the assembled bytes of [start, end)."""
        out = bytearray()
        at = start
        while at < end:
            for base, data in self.pieces:
                if base <= at < base + len(data):
                    part = data[at - base:end - base]
                    out += part
                    at += len(part)
                    break
            else:
                raise AsmError(f"no code at {at:#x}")
        return bytes(out)
