"""What a program executed, by single step: counts that profiles have to tell.

Nothing here is of the library: addresses come from the capture tool, lengths of
instructions and names of functions from LLVM's tools.
"""

from __future__ import annotations

import bisect
import re
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


def run(*command: object, **more: object) -> str:
    """Run a tool; what it prints, or a failure with all it said."""
    how = {"stderr": subprocess.PIPE, **more}
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, timeout=120,
                          **how)  # type: ignore[call-overload]
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return str(done.stdout)


def read_ips(path: Path) -> list[int]:
    """Addresses of executed instructions, as the capture tool writes them."""
    ips, value, shift, last = [], 0, 0, 0
    for byte in path.read_bytes():
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte & 0x80:
            continue
        last = (last + (value >> 1 ^ -(value & 1))) & 0xFFFFFFFFFFFFFFFF
        ips.append(last)
        value = shift = 0
    return ips


@dataclass
class Segment:
    """A PT_LOAD."""

    flags: int
    offset: int
    vaddr: int
    bytes: int


def segments(path: Path) -> list[Segment]:
    """The loaded segments of a 64-bit little-endian ELF file."""
    data = path.read_bytes()
    at, = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    found = []
    for i in range(n):
        kind, flags, offset, vaddr, _, length = struct.unpack_from(
            "<IIQQQQ", data, at + i * size)
        if kind == 1:
            found.append(Segment(flags, offset, vaddr, length))
    return found


class Program:
    """A program, what its file says, and what it executed."""

    def __init__(self, path: Path, capture: Path, objdump: str,
                 nm: str) -> None:
        self.path = path
        self.segments = segments(path)
        self.lengths: dict[int, int] = {}
        # Instructions that always go elsewhere, be it to the next one.
        self.transfers: set[int] = set()
        self._read_code(run(objdump, "-d", path))
        self.functions = self._functions(run(nm, "-S", "--defined-only",
                                             path))
        self.starts = [start for start, _, _ in self.functions]
        self.bias = self._bias((capture / "maps.txt").read_text())
        self.trace = capture / "0.pt"
        self.maps = capture / "maps.txt"
        self.all = [ip - self.bias for ip in
                    read_ips(capture / "expected/0.ips")]
        # Addresses of the file; None: elsewhere.
        self.ips = [ip if ip in self.lengths else None for ip in self.all]
        self.counts = Counter(ip for ip in self.ips if ip is not None)

    def _read_code(self, text: str) -> None:
        for line in text.splitlines():
            match = re.match(r" *([0-9a-f]+):((?: [0-9a-f]{2})+)\s+(\S*)",
                             line)
            if not match:
                continue
            self.lengths[int(match[1], 16)] = len(match[2].split())
            if re.match(r"(jmp|call|ret)", match[3]):
                self.transfers.add(int(match[1], 16))

    @staticmethod
    def _functions(text: str) -> list[tuple[int, int, str]]:
        found = []
        for line in text.splitlines():
            match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)", line)
            if match:
                found.append((int(match[1], 16), int(match[2], 16),
                              match[3]))
        return sorted(found)

    def _bias(self, maps: str) -> int:
        code = next(s for s in self.segments if s.flags & 1)
        for line in maps.splitlines():
            match = re.match(r'mmap "(.*)" addr=(0x[0-9a-f]+) len=\S+ '
                             r'off=(0x[0-9a-f]+)', line)
            if match and match[1] == str(self.path):
                return (int(match[2], 16) - int(match[3], 16) + code.offset -
                        code.vaddr)
        raise AssertionError("the program was not mapped")

    def function(self, address: int) -> str | None:
        """The name of the function that has an address."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0:
            return None
        start, size, name = self.functions[i]
        return name if address < start + size else None

    def bytes_by_function(self) -> Counter[str]:
        """Executed bytes of code."""
        sums: Counter[str] = Counter()
        for ip, count in self.counts.items():
            sums[str(self.function(ip))] += count * self.lengths[ip]
        return sums

    def taken(self) -> list[tuple[int, int | None, int | None]]:
        """Transfers that are not to the next instruction, or leave the program.

        A number, where from, and where to; system calls are none, since the
        program goes on behind them.
        """
        found = []
        for i, (a, b) in enumerate(zip(self.ips, self.ips[1:])):
            if a is None and b is None:
                continue
            if (a is None or b is None or a in self.transfers or
                    a + self.lengths[a] != b):
                found.append((i, a, b))
        return found

    def heads_by_function(self) -> Counter[str]:
        """How often branches, of anybody, led to the first instruction."""
        entry = {start: name for start, _, name in self.functions}
        sums: Counter[str] = Counter()
        for _, _, b in self.taken():
            if b in entry:
                sums[entry[b]] += 1
        return sums

    def calls(self, caller: str) -> Counter[str]:
        """Branches from a function to the begin of functions."""
        entry = {start: name for start, _, name in self.functions}
        sums: Counter[str] = Counter()
        for _, a, b in self.taken():
            if a is not None and b in entry and self.function(a) == caller:
                sums[entry[b]] += 1
        return sums
