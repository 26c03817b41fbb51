"""Random recordings of Intel PT with their truth.

A small machine schedules threads on processors; processes fork, execute files,
load and unload code, and end. What happens is written down as perf records it,
and what was executed as the expectation: no decoder is asked.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hwtasm.program import Program

from . import pt, records as r, user
from .case import Case
from .file import Item
from .order import BIG, LITTLE, padded
from .pt import PtRecording
from .records import Record
from .sample import Where

# Files at the same address are never mapped in one process at once.
BASES = (0x401000, 0x501000, 0x7f0000001000)
FILES = 6
BITS = 40


def source(number: int, base: int, chance: random.Random) -> str:
    """Return a file's program: a loop in a loop with a call."""
    name = f"f{number}"
    return f"""
        org {base:#x}
        {name}_main: nop {chance.randrange(1, 10)}
        {name}_loop: dec ecx
        {name}_jne: jne {name}_loop
        {name}_call: call {name}_work
        {name}_back: test eax, eax
        {name}_more: jne {name}_main
        {name}_sys: syscall
        nop {chance.randrange(1, 10)}
        {name}_work: nop {chance.randrange(1, 10)}
        {name}_ret: ret
    """


@dataclass
class File:
    """A file of code and where it is mapped."""

    number: int
    base: int
    program: Program
    path: str


@dataclass
class Process:
    """A process: its code by address, and the names of its threads."""

    pid: int
    files: dict[int, File] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)


@dataclass
class Processor:
    """What one processor recorded, and who runs there."""

    number: int
    records: list[tuple[Record, Where, bool]] = field(default_factory=list)
    trace: bytearray = field(default_factory=bytearray)
    written: int = 0
    thread: tuple[int, int] = (0, 0)
    flow: list[str] = field(default_factory=list)


def bursts(name: str, chance: random.Random) -> tuple[str, list[str]]:
    """Return outcomes of branches, and the runs that they are."""
    bits, runs = "", []
    rounds = chance.randrange(1, 4)
    for number in range(rounds):
        loops = chance.randrange(1, 5)
        bits += "T" * (loops - 1) + "N"
        if loops == 1:
            runs.append(f"b {name}_main 4 64 {name}_call")
        else:
            runs.append(f"b {name}_main 3 64 {name}_jne")
            runs += [f"b {name}_loop 2 64 {name}_jne"] * (loops - 2)
            runs.append(f"b {name}_loop 3 64 {name}_call")
        runs.append(f"b {name}_work 2 64 {name}_ret")
        last = number == rounds - 1
        # The return is compressed.
        bits += "TN" if last else "TT"
        runs.append(f"b {name}_back {3 if last else 2} 64 "
                    f"{name}_{'sys' if last else 'more'}")
    return bits, runs


class Machine:
    """Schedules, records and writes down."""

    def __init__(self, case: Case, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.case = case
        self.cpus = [Processor(number)
                     for number in range(chance.randrange(1, 5))]
        self.pipe = chance.random() < 0.25
        order = BIG if chance.random() < 0.25 else LITTLE
        size = chance.choice((64, 72, 80, 96, 104, 112, 120, 128))
        # Of such pipes perf 6.1 does not turn the numbers of features, and ids
        # only behind attributes of its own size.
        turned_pipe = self.pipe and order is BIG
        self.rec = PtRecording(
            case, cpus=len(self.cpus), pipe=self.pipe, order=order,
            attr_size=128 if turned_pipe else size)
        if self.pipe:
            case.params["perf"] = "list: perf orders nothing in pipes"
        if turned_pipe:
            self.rec.file.features = None
        # Which records of a switch there are.
        self.told = chance.choice(("both", "both", "outs", "ins"))
        self.packed = chance.random() < 0.3 and not self.pipe
        if self.packed and self.rec.file.features is not None:
            self.rec.file.features.compressed()
        self.tsc = 20000
        self.files = []
        for number in range(FILES):
            base = BASES[number % len(BASES)]
            program = case.program(source(number, base, chance))
            path = f"/opt/file{number}"
            case.elf(path, program)
            self.files.append(File(number, base, program, path))
        self.processes: dict[int, Process] = {}
        self.next_pid = 100

    def tick(self) -> int:
        """Return a later time: whole nanoseconds."""
        self.tsc += 2 * self.chance.randrange(50, 500)
        return self.tsc

    def note(self, cpu: Processor, record: Record,
             whose: tuple[int, int] | None = None, *, aux: bool = False
             ) -> None:
        """Add a record that the kernel makes on a processor now."""
        pid, tid = whose or cpu.thread
        cpu.records.append((record, Where(pt.ns(self.tsc), pid, tid,
                                          cpu.number), aux))

    def begin(self) -> None:
        """Add processes that were there before."""
        self.rec.start()
        for _ in range(self.chance.randrange(1, 4)):
            process = self.new_process()
            file = self.chance.choice(self.files)
            process.files[file.base] = file
            process.names[process.pid] = f"p{process.pid}"
            self.rec.made_up(r.comm(process.pid, process.pid,
                                    f"p{process.pid}"))
            self.rec.made_up(self.mapping(process, file))
        self.rec.file.add(user.finished_init())

    def new_process(self) -> Process:
        """Return a process with a number of its own."""
        process = Process(self.next_pid)
        self.next_pid += self.chance.randrange(1, 4) * 10
        self.processes[process.pid] = process
        return process

    def mapping(self, process: Process, file: File) -> Record:
        """Return a mapping of all of a file, or of its code."""
        if self.chance.random() < 0.5:
            return self.rec.map(process.pid, file.program, file.path)
        return r.mmap2(process.pid, process.pid, file.base - 0x1000, 0x2000,
                       0, file.path)

    def threads(self) -> list[tuple[int, int]]:
        """Return all threads that run nowhere."""
        busy = {cpu.thread for cpu in self.cpus}
        return [(process.pid, tid) for process in self.processes.values()
                for tid in process.names if (process.pid, tid) not in busy]

    def switch(self, cpu: Processor, into: tuple[int, int]) -> None:
        """Let another thread run on a processor."""
        self.tick()
        if self.told != "ins":
            self.note(cpu, r.switch_cpu_wide(
                *into, out=True, preempt=self.chance.random() < 0.3))
        if self.told != "outs":
            self.note(cpu, r.switch_cpu_wide(*cpu.thread, out=False), into)
        cpu.thread = into

    def run(self, cpu: Processor) -> None:
        """Let the thread of a processor execute something."""
        pid, tid = cpu.thread
        process = self.processes[pid]
        if not process.files:
            return
        self.tick()
        name = f"f{self.chance.choice(list(process.files.values())).number}"
        bits, runs = bursts(name, self.chance)
        text = [f"tsc {self.tsc}"]
        synchronised = not cpu.trace or self.chance.random() < 0.2
        if synchronised:
            text = ["psb", *text, "psbend"]
        text += ["mode.exec 64", f"tip.pge 3 {name}_main"]
        while bits:
            count = self.chance.choice((1, 3, 6, BITS))
            kind = "tnt" if count < BITS else "tnt64"
            text.append(f"{kind} {bits[:count]}")
            bits = bits[count:]
        text.append("tip.pgd 0")
        cpu.trace += self.rec.packets("\n".join(text))
        runs[0] += f" time={pt.ns(self.tsc)}"
        cpu.flow += ["s"] if len(cpu.flow) == 0 else []
        cpu.flow += [f"t {pid} {tid} comm={process.names[tid]}", *runs]

    def happen(self, cpu: Processor) -> None:
        """Let the running thread's process change."""
        pid, tid = cpu.thread
        process = self.processes[pid]
        self.tick()
        what = self.chance.choice(("fork", "thread", "exec", "load", "load",
                                   "name", "exit"))
        getattr(self, "_do_" + what)(cpu, process, tid)

    def _do_fork(self, cpu: Processor, process: Process, tid: int) -> None:
        child = self.new_process()
        child.files = dict(process.files)
        child.names[child.pid] = process.names[tid]
        self.note(cpu, r.fork(child.pid, process.pid, child.pid, tid,
                              pt.ns(self.tsc)))

    def _do_thread(self, cpu: Processor, process: Process, tid: int) -> None:
        new = self.next_pid
        self.next_pid += 10
        process.names[new] = process.names[tid]
        self.note(cpu, r.fork(process.pid, process.pid, new, tid,
                              pt.ns(self.tsc)))

    def _do_exec(self, cpu: Processor, process: Process, tid: int) -> None:
        # Other threads end with it.
        if len(process.names) > 1 or tid != process.pid:
            return
        file = self.chance.choice(self.files)
        process.files = {file.base: file}
        process.names[tid] = f"x{self.tsc}"
        self.note(cpu, r.comm(process.pid, tid, process.names[tid],
                              execs=True))
        self.tick()
        self.note(cpu, self.mapping(process, file))

    def _do_load(self, cpu: Processor, process: Process, tid: int) -> None:
        file = self.chance.choice(self.files)
        process.files[file.base] = file
        self.note(cpu, self.mapping(process, file))

    def _do_name(self, cpu: Processor, process: Process, tid: int) -> None:
        process.names[tid] = f"n{self.tsc}"
        self.note(cpu, r.comm(process.pid, tid, process.names[tid]))

    def _do_exit(self, cpu: Processor, process: Process, tid: int) -> None:
        left = self.threads()
        if not left or (tid == process.pid and len(process.names) > 1):
            return
        self.note(cpu, r.exit(process.pid, process.pid, tid, process.pid,
                              pt.ns(self.tsc)))
        self.switch(cpu, self.chance.choice(left))
        del process.names[tid]
        if not process.names:
            del self.processes[process.pid]

    def flush(self) -> None:
        """Write what processors have, one after the other, and end a round.

        A piece of trace ends with a packet, since the kernel stops tracing for
        it; perf fills it up, which does not count in offsets.
        """
        # The kernel tells of a buffer when what is in it was executed.
        self.tick()
        order = list(self.cpus)
        self.chance.shuffle(order)
        add = self.rec.file.add
        items: list[Item] = []
        for cpu in order:
            data = bytes(cpu.trace[cpu.written:])
            size = len(data)
            if size:
                self.note(cpu, r.aux(cpu.written, size), aux=True)
            for record, where, is_aux in cpu.records:
                items.append(add(record, self.rec.pt if is_aux
                                 else self.rec.side, where))
            cpu.records = []
            if size:
                add(user.auxtrace(padded(data, 8), offset=cpu.written,
                                  idx=cpu.number, reference=self.tsc,
                                  cpu=cpu.number))
                cpu.written += size
        if self.packed and items:
            # Trace is not compressed and may stand in front of its records.
            self.rec.file.pack(items, self.chance.randrange(20, 400))
        add(user.finished_round())

    def play(self, steps: int) -> None:
        """Let things happen, and write them."""
        self.begin()
        for _ in range(steps):
            cpu = self.chance.choice(self.cpus)
            left = self.threads()
            if cpu.thread == (0, 0) or (left and self.chance.random() < 0.3):
                if left:
                    self.switch(cpu, self.chance.choice(left))
                continue
            if self.chance.random() < 0.2:
                self.happen(cpu)
            else:
                self.run(cpu)
            if self.chance.random() < 0.05:
                self.flush()
        self.tick()
        self.flush()
        for cpu in self.cpus:
            if cpu.flow:
                self.case.expect("\n".join([f"q {cpu.number} "
                                            f"cpu={cpu.number}", *cpu.flow]))
        self.rec.finish()


def random_case(seed: int, steps: int = 120) -> Case:
    """Return the case of a seed: always the same one."""
    case = Case(f"random-{seed}", about="A random recording of Intel PT.",
                source="the model in chance.py")
    Machine(case, seed).play(steps)
    return case
