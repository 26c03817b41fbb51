"""Random recordings of Arm SPE with their truth: whose sample is when."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from . import records as r, spe, user
from .auxinfo import ArmSpe, SpeUnit
from .case import Case
from .file import Item
from .order import BIG, LITTLE
from .spe import AMPEREONE, NEOVERSE_N1, SpeRecording

NAMES = {NEOVERSE_N1: "l2", AMPEREONE: "l1d"}
COUNTER_BITS = 44


@dataclass
class Core:
    """A processor: who runs there, and what is not written yet."""

    number: int
    midr: int
    thread: tuple[int, int] = (0, 0)
    records: list[tuple[int, tuple[int, int], r.Record]] = field(
        default_factory=list)
    text: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


class SpeMachine:
    """Schedules threads, takes samples of them and writes them down."""

    def __init__(self, case: Case, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        # Version 2 tells what each processor is.
        self.second = chance.random() < 0.3
        midrs = (NEOVERSE_N1, AMPEREONE)
        one = chance.choice(midrs)
        self.cores = [Core(number, chance.choice(midrs) if self.second
                           else one)
                      for number in range(chance.randrange(1, 5))]
        self.contexts = chance.random() < 0.5
        self.short = chance.random() < 0.3
        # It was 0 once more already.
        self.count = (1 << COUNTER_BITS if self.short else 0) + 1000
        conversion = user.time_conv(
            spe.SHIFT, spe.MULT, spe.ZERO, cap_short=self.short,
            cycles=self.count if self.short else 0,
            mask=(1 << COUNTER_BITS) - 1 if self.short else 0,
            old=not self.short and chance.random() < 0.3)
        self.rec = SpeRecording(
            case, cpus=len(self.cores), midr=one, conversion=conversion,
            order=BIG if chance.random() < 0.3 else LITTLE,
            info=ArmSpe(units=tuple(
                SpeUnit(core.number, core.midr) for core in self.cores)
                if self.second else ()))
        if self.second:
            case.params["perf"] = "list: perf 6.1 knows version 1"
        elif self.short and not self.contexts:
            case.params["perf"] = ("list: perf 6.1 puts short counts in order "
                                   "as they are, before all switches")
        self.threads: list[tuple[int, int]] = []
        self.samples = 0

    def begin(self) -> None:
        """Add processes with threads that were there before."""
        self.rec.start()
        for pid in (100, 200, 300):
            tids = [pid + number
                    for number in range(1, self.chance.randrange(3, 5))]
            self.rec.process(pid, f"app{pid}", *tids)
            self.threads += [(pid, tid) for tid in (pid, *tids)]

    def switch(self, core: Core) -> None:
        """Let another thread run on a processor."""
        busy = {other.thread for other in self.cores}
        into = self.chance.choice([one for one in self.threads
                                   if one not in busy])
        self.count += self.chance.randrange(1, 50)
        out = core.thread
        core.records += [
            (self.count, out, r.switch_cpu_wide(*into, out=True)),
            (self.count, into, r.switch_cpu_wide(*out, out=False))]
        core.thread = into

    def sample(self, core: Core) -> None:
        """Take a sample of the thread of a processor."""
        self.count += self.chance.randrange(1, 50)
        self.samples += 1
        name = f"r{self.samples}"
        pid, tid = core.thread
        ip = 0x400000 + 4 * self.chance.randrange(1000)
        told = self.count % (1 << COUNTER_BITS)
        text = [f"{name}: record neoverse", f"pc {ip:#x}"]
        said = f"sample {name} 64 ip={ip:#x} pc_el=0 pc_security=ns"
        if self.contexts:
            text.append(f"context el1 {tid}")
            said += f" context_el1={tid:#x}"
        if self.chance.random() < 0.5:
            va, source = 8 * self.chance.randrange(1, 9999), 8
            text += ["op load general", f"va {va:#x}", f"source {source}"]
            said += (f" op_class=memory op=general op_raw=0 va={va:#x} "
                     f"va_tag=0 source={source} "
                     f"source_name={NAMES[core.midr]}")
        else:
            text.append("op other")
            said += " op_class=other op=other op_raw=0"
        text.append(f"timestamp {told}")
        core.text += text
        core.expected += [f"t {pid} {tid}", said + f" count={told} "
                          f"time_ns={spe.ns(self.count)}"]

    def flush(self) -> None:
        """Write what processors have, one after the other."""
        order = list(self.cores)
        self.chance.shuffle(order)
        self.count += 1
        items: list[Item] = []
        for core in order:
            for count, (pid, tid), record in core.records:
                items.append(self.rec.at(record, count, pid, tid,
                                         cpu=core.number))
            core.records = []
            if not core.text:
                continue
            stream = self.rec.buffer(
                "\n".join(core.text), cpu=core.number, count=self.count,
                flags=r.COLLISION if self.chance.random() < 0.2 else 0)
            self.rec.expect(stream, "\n".join(core.expected), q=core.number,
                            cpu=core.number)
            core.text, core.expected = [], []
        self.rec.file.add(user.finished_round())

    def play(self, steps: int) -> None:
        """Let things happen, and write them."""
        self.begin()
        for _ in range(steps):
            core = self.chance.choice(self.cores)
            if core.thread == (0, 0) or self.chance.random() < 0.2:
                self.switch(core)
            else:
                self.sample(core)
            if self.chance.random() < 0.05:
                self.flush()
        self.flush()
        # Buffer by buffer, whatever the order in the file.
        self.rec.case.samples.sort(key=lambda one: int(str(one["q"])))
        self.rec.finish()


def random_spe(seed: int, steps: int = 120) -> Case:
    """Return the case of a seed: always the same one."""
    case = Case(f"random-spe-{seed}", about="A random recording of Arm SPE.",
                source="the model in chance_spe.py")
    SpeMachine(case, seed).play(steps)
    return case
