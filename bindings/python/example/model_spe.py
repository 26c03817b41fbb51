"""Makes up what Arm SPE would sample of the example program.

    python3 model_spe.py DISASSEMBLY SYMBOLS OUTPUT.0 OUTPUT.1

No Arm machine is needed: how often instructions run, how long accesses take
and what answers them are numbers of this file, with a fixed seed.  The bytes
are laid out as a Neoverse N1 writes them.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/tools"))

from hwtasm import spe  # noqa: E402

SAMPLES = 1500
PROCESS = 2002
# A timer of 25 MHz, which has run for 80 s.
FIRST_COUNT = 25_000_000 * 80
INTERVAL = 1024
CYCLES_PER_COUNT = 3000 / 25

# Of 100 operations, how many are of the loop of each function.
SHARES = {
    "sum_values": 38,
    "find_node": 22,
    "fill_buckets": 28,
    "count": 7,
    "serve": 5,
}
# An instruction outside of the loops of its function.
OUTSIDE = 0.02

# Data sources of Neoverse N1: number, least and most cycles, mean of a tail.
L1D, L2, PEER_CORE, SYSTEM_CACHE, DRAM = 0, 8, 9, 11, 14
LATENCY = {
    L1D: (4, 7, 0.5),
    L2: (11, 18, 4),
    PEER_CORE: (55, 90, 30),
    SYSTEM_CACHE: (38, 60, 12),
    DRAM: (130, 220, 80),
}

# What answers the accesses of a function, and how often its page is walked.
ANSWERS: dict[str, tuple[dict[int, float], float]] = {
    "sum_values": ({L1D: 88, L2: 10, SYSTEM_CACHE: 2}, 0.002),
    "find_node": ({L1D: 12, L2: 18, SYSTEM_CACHE: 30, DRAM: 40}, 0.22),
    "fill_buckets": ({L1D: 55, L2: 43, SYSTEM_CACHE: 2}, 0.03),
    "count": ({L1D: 30, PEER_CORE: 70}, 0.0),
    "serve": ({L1D: 100}, 0.0),
}

BRANCHES = {
    "b": [],
    "bl": [],
    "ret": ["indirect"],
    "cbz": ["cond"],
    "cbnz": ["cond"],
    "tbz": ["cond"],
    "tbnz": ["cond"],
}


class Insn(NamedTuple):
    """An instruction of the program."""

    address: int
    function: str
    name: str
    operands: str
    weight: float

    @property
    def target(self) -> int | None:
        """Where a direct branch goes."""
        found = re.search(r"0x([0-9a-f]+)", self.operands)
        return int(found[1], 16) if found else None


def read_program(text: str) -> list[Insn]:
    """Read a disassembly; what lies in a loop runs often."""
    insns, function = [], ""
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        body = re.match(
            r"\s*([0-9a-f]+):\s+(?:[0-9a-f]{2} ){4}\s*" r"(\S+)\s*([^<]*)",
            line,
        )
        if head:
            function = head[1]
        elif body and function in SHARES:
            insns.append(
                Insn(
                    int(body[1], 16),
                    function,
                    body[2],
                    body[3].strip(),
                    OUTSIDE,
                )
            )
    loops = [
        (insn.target, insn.address)
        for insn in insns
        if insn.name.split(".")[0] in BRANCHES
        and insn.name != "bl"
        and insn.target is not None
        and insn.target < insn.address
    ]
    found = []
    for insn in insns:
        often = insn.function == "count" or any(
            first <= insn.address <= last for first, last in loops
        )
        found.append(insn._replace(weight=1.0 if often else OUTSIDE))
    return [
        insn._replace(
            weight=insn.weight
            * SHARES[insn.function]
            / sum(
                other.weight
                for other in found
                if other.function == insn.function
            )
        )
        for insn in found
    ]


class Machine:
    """A CPU that runs the program, one sample after the other."""

    def __init__(
        self,
        cpu: int,
        insns: Sequence[Insn],
        symbols: dict[str, int],
        frames: dict[int, int],
    ) -> None:
        self.cpu = cpu
        self.insns = insns
        self.symbols = symbols
        self.frames = frames
        self.random = random.Random(1000 + cpu)
        self.at = 0
        self.time = float(FIRST_COUNT + 11 * cpu)

    def data(self, insn: Insn) -> int:
        """Where an access goes."""
        if "sp" in insn.operands:
            return (
                0xFFFF_FF00_0000
                + (self.cpu << 20)
                + 8 * (self.random.randrange(8))
            )
        if insn.function == "sum_values":
            self.at = (self.at + 8 * INTERVAL // 4) % (8 * 65536)
            return self.symbols["values"] + self.at
        if insn.function == "find_node":
            return (
                self.symbols["nodes"]
                + 64 * self.random.randrange(65536)
                + (8 if "#8" in insn.operands else 0)
            )
        if insn.function == "fill_buckets":
            return self.symbols["buckets"] + 8 * self.random.randrange(16384)
        return self.symbols["counters"] + 8 * self.cpu

    def physical(self, address: int) -> int:
        """The frames of pages are where the system put them."""
        page = address >> 12
        if page not in self.frames:
            self.frames[page] = 0x80000 + self.random.randrange(0x40000)
        return self.frames[page] << 12 | address & 0xFFF

    def access(self, insn: Insn, load: bool) -> tuple[list[bytes], int, int]:
        """Packets of an access; its cycles, and its events."""
        answers, walked = ANSWERS[insn.function]
        if "sp" in insn.operands:
            answers, walked = ANSWERS["serve"]
        source = self.random.choices(list(answers), list(answers.values()))[0]
        least, most, tail = LATENCY[source]
        cycles = self.random.randint(least, most) + int(
            self.random.expovariate(1 / tail)
        )
        walk = self.random.random() < walked
        translation = self.random.randint(20, 90) if walk else 1
        where = self.data(insn)
        bits = {"retired", "l1d-access", "tlb-access"}
        bits |= {"l1d-refill"} if source != L1D else set()
        bits |= {"tlb-walk"} if walk else set()
        bits |= {"llc-access"} if source in (SYSTEM_CACHE, DRAM) else set()
        bits |= {"llc-miss"} if source == DRAM else set()
        atomic = insn.name.startswith("ldadd")
        packets = [
            spe.operation_of(
                [
                    "load" if load else "store",
                    *(["extended", "atomic"] if atomic else ["general"]),
                ]
            ),
            spe.virtual(where),
            spe.physical(self.physical(where)),
            spe.counter(spe.XLAT, translation),
        ]
        if load:
            packets.append(spe.source(source))
        return (
            packets,
            cycles + translation,
            sum(1 << spe.EVENT_BITS[name] for name in bits),
        )

    def branch(self, insn: Insn) -> tuple[list[bytes], int, int]:
        """Packets of a branch; its cycles, and its events."""
        flags = BRANCHES.get(insn.name, ["cond"])
        bits = {"retired"}
        backward = insn.target is not None and insn.target < insn.address
        taken = "cond" not in flags or self.random.random() < (
            0.97 if backward else 0.05
        )
        wrong = "cond" in flags and self.random.random() < (
            0.06 if insn.function == "find_node" else 0.01
        )
        bits |= set() if taken else {"not-taken"}
        bits |= {"mispredicted"} if wrong else set()
        packets = [spe.operation_of(["branch", *flags])]
        target = insn.target
        if "indirect" in flags:
            target = self.random.choice(
                [
                    other.address + 4
                    for other in self.insns
                    if other.name == "bl"
                ]
            )
        if taken and target is not None:
            packets.append(spe.instruction(spe.TARGET, target))
        return (
            packets,
            self.random.randint(2, 4) + (14 if wrong else 0),
            sum(1 << spe.EVENT_BITS[name] for name in bits),
        )

    def sample(self) -> bytes:
        """One record."""
        insn = self.random.choices(
            self.insns, [insn.weight for insn in self.insns]
        )[0]
        if insn.name.startswith(("ld", "st")):
            packets, cycles, bits = self.access(
                insn, insn.name.startswith("ld")
            )
        elif insn.name.split(".")[0] in BRANCHES:
            packets, cycles, bits = self.branch(insn)
        else:
            packets = [spe.operation_of(["other"])]
            cycles, bits = (
                self.random.randint(1, 3),
                1 << spe.EVENT_BITS["retired"],
            )
        issue = self.random.randint(2, 12)
        packets += [
            spe.instruction(spe.PC, insn.address),
            spe.counter(spe.ISSUE, issue),
            spe.counter(spe.TOTAL, issue + cycles),
            spe.context(0, PROCESS),
            spe.events(bits),
        ]
        self.time += (
            INTERVAL * self.random.uniform(0.6, 1.8) / CYCLES_PER_COUNT
        )
        end = spe.timestamp(int(self.time))
        return b"".join(spe.record("neoverse", packets, end))


def main(argv: Sequence[str]) -> int:
    """Write the bytes of both CPUs."""
    disassembly, names, *outputs = argv
    insns = read_program(Path(disassembly).read_text(encoding="utf-8"))
    symbols = {}
    for line in Path(names).read_text(encoding="utf-8").splitlines():
        address, _, name = line.split()
        symbols[name] = int(address, 16)
    frames: dict[int, int] = {}
    for cpu, output in enumerate(outputs):
        machine = Machine(cpu, insns, symbols, frames)
        Path(output).write_bytes(
            b"".join(machine.sample() for _ in range(SAMPLES))
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
