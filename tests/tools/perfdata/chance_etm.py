"""Random recordings of CoreSight with their truth.

Tracing stops when a thread leaves its processor: each time that it runs is a
capture of its own, with a record. What is mapped does not change.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from . import etm, records as r, user
from .auxinfo import TraceUnit, ete, etmv4
from .case import Case
from .etm import CONFIGR, IDR0, EtmRecording
from .order import BIG, LITTLE

FILES = 4
BASES = (0x401000, 0x501000)
NO_ID = 0x8000007f


@dataclass
class File:
    """A file of code: the number of its first NOPs, and of a function's."""

    name: str
    front: int
    work: int

    def source(self, base: int) -> str:
        """Return the program."""
        name = self.name
        return f"""
            org {base:#x}
            {name}_main: nop
            """ + "nop\n" * (self.front - 1) + f"""
            {name}_loop: nop
            {name}_jump: cbnz x0, {name}_loop
            {name}_call: bl {name}_work
            {name}_back: cbnz x1, {name}_main
            {name}_next: b {name}_main
            {name}_work: nop
            """ + "nop\n" * (self.work - 1) + f"""
            {name}_ret: ret
        """


@dataclass
class Core:
    """A processor: its trace unit's ID, and what is not written yet."""

    number: int
    trace_id: int
    pieces: list[bytes] = field(default_factory=list)
    times: list[tuple[int, int, int]] = field(default_factory=list)
    flow: list[str] = field(default_factory=list)
    written: int = 0


def atoms(letters: str, chance: random.Random) -> list[str]:
    """Return packets of atoms, of 1 to 3 each."""
    out = []
    while letters:
        count = chance.randrange(1, 4)
        out.append("atom " + letters[:count])
        letters = letters[count:]
    return out


class EtmMachine:
    """Lets threads run, and writes that down."""

    def __init__(self, case: Case, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.case = case
        count = chance.randrange(1, 5)
        # perf 6.1 takes raw buffers for those of the first processor.
        self.raw = count == 1 and chance.random() < 0.5
        self.version = chance.choice((0, 1, 1, 2))
        if self.raw:
            self.version = 1
        self.cores = [Core(number, 0x10 + 2 * number)
                      for number in range(count)]
        self.rec = EtmRecording(
            case, [self.unit(core) for core in self.cores],
            version=self.version,
            order=BIG if chance.random() < 0.25 else LITTLE)
        if self.version == 2:
            case.params["perf"] = "skip: perf 6.1 knows versions 0 and 1"
        self.time = 1000
        self.threads: dict[tuple[int, int], File] = {}

    def unit(self, core: Core) -> TraceUnit:
        """Return what the file tells of a trace unit."""
        ident = NO_ID if self.version == 2 else core.trace_id
        if self.raw:
            return ete(core.number, ident, configr=CONFIGR, idr0=IDR0)
        return etmv4(core.number, ident, configr=CONFIGR, idr0=IDR0,
                     ts_source=self.chance.choice((None, 1))
                     if self.version else None)

    def begin(self) -> None:
        """Add processes with threads that were there before."""
        self.rec.start()
        for number in range(FILES):
            file = File(f"f{number}", self.chance.randrange(1, 5),
                        self.chance.randrange(1, 5))
            program = self.case.program(
                file.source(BASES[number % len(BASES)]), "arm")
            path = f"/opt/{file.name}"
            self.case.elf(path, program, isa="arm")
            pid = 100 * (number + 1)
            self.rec.process(pid, file.name, program, path)
            self.threads[pid, pid] = file
            for tid in range(pid + 1, pid + self.chance.randrange(1, 4)):
                self.rec.file.add(r.comm(pid, tid, file.name))
                self.threads[pid, tid] = file
        if self.version == 2:
            minor = self.chance.randrange(2)
            for core in self.cores:
                # Sinks of their own, or one without a number.
                self.rec.at(etm.hw_id(core.trace_id, minor=minor,
                                      sink=minor * (7 + core.number)), 900,
                            100, cpu=core.number, event=self.rec.etm)

    def rounds(self, name: str, file: File) -> tuple[list[str], list[str]]:
        """Return packets, and the runs that they are."""
        packets, runs, letters = [], [], ""
        count = self.chance.randrange(1, 4)
        for number in range(count):
            loops = self.chance.randrange(1, 5)
            letters += "E" * (loops - 1) + "N" + "EE"
            if loops == 1:
                runs.append(f"b {name}_main {file.front + 3} a64 {name}_call")
            else:
                runs.append(f"b {name}_main {file.front + 2} a64 {name}_jump")
                runs += [f"b {name}_loop 2 a64 {name}_jump"] * (loops - 2)
                runs.append(f"b {name}_loop 3 a64 {name}_call")
            runs.append(f"b {name}_work {file.work + 1} a64 {name}_ret")
            packets += [*atoms(letters, self.chance),
                        f"addr long64 {name}_back"]
            letters = "N" if number == count - 1 else "E"
            runs.append(f"b {name}_back 1 a64 {name}_back")
        return [*packets, *atoms(letters, self.chance)], runs

    def run(self, core: Core) -> None:
        """Let a thread run on a processor until it leaves."""
        pid, tid = self.chance.choice(list(self.threads))
        file = self.threads[pid, tid]
        packets, runs = self.rounds(file.name, file)
        self.time += self.chance.randrange(200, 400)
        begun = self.time
        self.time += self.chance.randrange(200, 400)
        # perf 6.1 shows nothing of less than four frames.
        text = ["async", "tinfo", f"ts {begun}", "on",
                f"addr.ctx long64 {file.name}_main el=0 ns sf cid={tid}",
                *packets, f"ts {self.time}", "async", "tinfo",
                f"ts {self.time + 1}"]
        stream = self.rec.stream("\n".join(text))
        core.pieces.append(
            bytes(stream.data) if self.raw else self.rec.frames(
                {core.trace_id: stream}, f"{core.trace_id} start end"))
        core.times.append((self.time + 10, pid, tid))
        core.flow += ["s", f"t {pid} {tid} comm={file.name}", *runs]

    def flush(self) -> None:
        """Write what processors have, one after the other."""
        order = list(self.cores)
        self.chance.shuffle(order)
        for core in order:
            if not core.pieces:
                continue
            data = b"".join(core.pieces)
            for piece, (time, pid, tid) in zip(core.pieces, core.times,
                                               strict=True):
                self.rec.aux(piece, cpu=core.number, time=time,
                             flags=r.FORMAT_RAW if self.raw else 0,
                             whose=(pid, tid))
            self.rec.buffer(data, offset=core.written, cpu=core.number)
            core.written += len(data)
            core.pieces, core.times = [], []
        self.rec.file.add(user.finished_round())

    def play(self, steps: int) -> None:
        """Let things happen, and write them."""
        self.begin()
        for _ in range(steps):
            self.run(self.chance.choice(self.cores))
            if self.chance.random() < 0.2:
                self.flush()
        self.flush()
        for core in self.cores:
            if core.flow:
                self.case.expect("\n".join([f"q {core.number} "
                                            f"cpu={core.number}",
                                            *core.flow]))
        self.rec.finish()


def random_etm(seed: int, steps: int = 120) -> Case:
    """Return the case of a seed: always the same one."""
    case = Case(f"random-etm-{seed}", about="A random recording of CoreSight.",
                source="the model in chance_etm.py")
    EtmMachine(case, seed).play(steps // 4)
    return case
