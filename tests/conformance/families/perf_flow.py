"""The flow of fixtures of perf.data: who executed what on which processor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .case import Fail, Malformed
from .cli import Row

_ISAS = {"16": "x86-16", "32": "x86-32", "64": "x86-64"}


@dataclass
class Part:
    """One line: a run of instructions, a loss, or that tracing was off."""

    line: str
    what: str
    fields: dict[str, Any] = field(default_factory=dict)
    thread: tuple[int, int] | None = None
    comm: str | None = None
    # Of the last instruction: the thread that comes while tracing goes on.
    next_thread: tuple[int, int] | None = None


@dataclass
class Queue:
    """What is expected of one buffer: of a processor, or of a thread."""

    cpu: int | None
    tid: int | None
    parts: list[Part] = field(default_factory=list)

    def __str__(self) -> str:
        return f"thread {self.tid}" if self.cpu is None else f"cpu {self.cpu}"

    def holds(self, stream: Row) -> bool:
        """Say whether a stream is in this buffer, or a source of its sink."""
        if self.cpu is None:
            return bool(stream.get("tid") == self.tid)
        return bool(stream.get("cpu") == self.cpu)


def read_flow(lines: Iterable[str]) -> list[Queue]:
    """Read flow.txt."""
    queues: list[Queue] = []
    thread: tuple[int, int] | None = None
    comm: str | None = None
    for line in lines:
        what, *words = line.split()
        keys = dict(word.split("=", 1) for word in words if "=" in word)
        try:
            if what == "q":
                queues.append(Queue(*(
                    None if keys[key] == "-" else int(keys[key])
                    for key in ("cpu", "tid"))))
                thread = comm = None
            elif what == "t":
                thread = (int(words[0]), int(words[1]))
                comm = keys.get("comm")
                if "on" in keys:
                    queues[-1].parts[-1].next_thread = thread
                    queues[-1].parts.append(Part(line, what))
            elif what == "b":
                queues[-1].parts.append(Part(line, what, {
                    "first": int(words[0], 16), "count": int(words[1]),
                    "isa": _ISAS.get(words[2], words[2]),
                    "last": int(words[3], 16),
                    "time": int(keys["time"]) if "time" in keys else None,
                }, thread, comm))
            elif what == "x":
                queues[-1].parts.append(Part(line, what, {
                    "reason": words[0],
                    "time": int(keys["time"]) if "time" in keys else None,
                    "addr": f"0x{keys['addr']}" if "addr" in keys else None}))
            elif what == "d":
                queues[-1].parts.append(Part(line, what))
            elif what != "s":
                raise ValueError
        except (ValueError, KeyError, IndexError):
            raise Malformed(f"flow.txt: cannot read {line!r}") from None
    return queues


def comm_at(records: Sequence[Row], tid: int, time: int | None) -> set[str]:
    """Return the name that a thread has at a time.

    Until it has its own it has that of the thread that created it, of which only
    the process is told: any name of a thread there may be it.
    """
    names: dict[int, set[str]] = {}
    threads: dict[int, set[int]] = {}
    for record in sorted(records, key=lambda row: int(row.get("time_ns", 0))):
        kind = record["record_type"]
        if time is not None and record.get("time_ns", 0) > time:
            break
        if kind == "thread-name":
            names[record["tid"]] = {str(record["name"])}
        elif kind in ("fork", "thread-create"):
            parent = record.get("value", record["pid"])
            names[record["tid"]] = set().union(
                *(names.get(other, set()) for other in threads.get(parent, ())
                  if other != record["tid"]))
        else:
            continue
        threads.setdefault(record["pid"], set()).add(record["tid"])
    return names.get(tid, set())


class _Reader:
    """Rows of one buffer, one after the other."""

    def __init__(self, queue: Queue, rows: Sequence[Row],
                 records: Sequence[Row]) -> None:
        self._queue = queue
        self._rows = rows
        self._records = records
        self._at = 0

    def _fail(self, part: Part, said: str) -> None:
        raise Fail(f"flow: {self._queue}: {said}, expected "
                   f"'{part.line}'")

    def _between(self, part: Part) -> list[Row]:
        """Return rows up to the next instruction; gaps need be expected."""
        rows = []
        while self._at < len(self._rows) and \
                self._rows[self._at]["kind"] != "insn":
            rows.append(self._rows[self._at])
            self._at += 1
        gaps = [row for row in rows if row["kind"] == "gap"]
        if gaps:
            self._fail(part, f"a gap {gaps[0]['reason']} at "
                       f"{gaps[0]['offset']}")
        return rows

    def run(self, part: Part) -> int:
        """Compare a run of instructions."""
        self._between(part)
        for number in range(part.fields["count"]):
            if number:
                self._between(part)
            if self._at == len(self._rows):
                self._fail(part, f"nothing after {number} of it")
            row = self._rows[self._at]
            self._at += 1
            address = int(row["ip"], 16)
            if number == 0:
                self._start(part, row)
                at = part.fields["first"]
            if address != at or row["isa"] != part.fields["isa"]:
                self._fail(part, f"{row['ip']} {row['isa']} executes in "
                           f"place of {at:#x}")
            # A branch is told by the packet behind it: it may be the next's.
            last_one = number + 1 == part.fields["count"]
            if (row.get("pid"), row.get("tid")) not in (
                    part.thread,
                    part.next_thread if last_one else part.thread):
                self._fail(part, f"{row['ip']} executes in "
                           f"{row.get('pid')}/{row.get('tid')}, not in "
                           f"{part.thread}")
            last, at = address, address + row["bytes"]
        if last != part.fields["last"]:
            self._fail(part, f"it ends at {last:#x}")
        return int(part.fields["count"])

    def _start(self, part: Part, row: Row) -> None:
        time = part.fields["time"]
        if time is not None and row.get("time_ns") != time:
            self._fail(part, f"its time is {row.get('time_ns')}")
        if part.comm is None or part.thread is None:
            return
        names = comm_at(self._records, part.thread[1], row.get("time_ns"))
        if part.comm not in [name.replace("\\", "\\\\").replace(" ", "\\s")
                             for name in names]:
            self._fail(part, f"the thread's name is {names}, not "
                       f"{part.comm!r}")

    def off(self, part: Part) -> None:
        """Tracing has to be off, and on again."""
        kinds = [row["kind"] for row in self._between(part)]
        if "enable" not in kinds:
            self._fail(part, f"rows are {kinds}")

    def on(self, part: Part) -> None:
        """Tracing goes on while another thread comes."""
        kinds = [row["kind"] for row in self._between(part)]
        if "enable" in kinds or "disable" in kinds:
            self._fail(part, f"rows are {kinds}")

    def loss(self, part: Part) -> None:
        """Compare one loss.

        What it cuts off of a packet may be a gap of its own in front of it.
        """
        while self._at < len(self._rows) and \
                self._rows[self._at]["kind"] not in ("gap", "insn"):
            self._at += 1
        row = self._next_gap()
        if row is None:
            self._fail(part, "no gap")
            return
        more = self._next_gap() if self._touches(row) else None
        row = more or row
        if row["reason"] != part.fields["reason"]:
            self._fail(part, f"the gap is {row['reason']} ("
                       f"{row.get('text', '')})")
        for key, ours in (("time", "time_ns"), ("addr", "address")):
            want = part.fields[key]
            if want is not None and row.get(ours) != want:
                self._fail(part, f"{ours} of the gap is {row.get(ours)}")

    def _next_gap(self) -> Row | None:
        if self._at == len(self._rows) or \
                self._rows[self._at]["kind"] != "gap":
            return None
        self._at += 1
        return self._rows[self._at - 1]

    def _touches(self, row: Row) -> bool:
        if self._at == len(self._rows) or row["reason"] != "truncated":
            return False
        after = self._rows[self._at]
        return bool(after["kind"] == "gap" and
                    after["stream"] == row["stream"] and
                    after["first"] == row["end"])

    def end(self, damaged: bool, goes_on: bool) -> None:
        """Nothing more may come, unless behind damage that was told."""
        for row in self._rows[self._at:]:
            if row["kind"] == "gap" and (not damaged or
                                         row["reason"] != "file-damaged"):
                raise Fail(f"flow: {self._queue}: a gap {row['reason']} at "
                           f"{row['offset']} is not expected")
            if row["kind"] == "insn" and not goes_on:
                raise Fail(f"flow: {self._queue}: {row['ip']} executes, "
                           "nothing more is expected")


def compare_flow(queues: Sequence[Queue], rows: Sequence[Row],
                 streams: Sequence[Row], records: Sequence[Row],
                 damaged: bool) -> str:
    """Compare all buffers; say what was compared.

    A file that is damaged may lack trace at its end; where it says so of
    itself, we may read more than others.
    """
    by_stream = {stream["stream"]: queue for stream in streams
                 for queue in queues if queue.holds(stream)}
    by_queue: dict[int, list[Row]] = {}
    goes_on = False
    for row in rows:
        if "stream" not in row:
            if not damaged:
                raise Fail(f"flow: of the file itself: {row.get('text')}")
            goes_on = True
        elif row["stream"] in by_stream:
            by_queue.setdefault(id(by_stream[row["stream"]]), []).append(row)
        else:
            raise Fail(f"flow: stream {row['stream']} is in no buffer: "
                       f"{row['kind']} {row.get('text', '')}")
    insns = losses = runs = 0
    for queue in queues:
        reader = _Reader(queue, by_queue.get(id(queue), []), records)
        for part in queue.parts:
            if part.what == "b":
                insns += reader.run(part)
                runs += 1
            elif part.what == "x":
                reader.loss(part)
                losses += 1
            elif part.what == "t":
                reader.on(part)
            else:
                reader.off(part)
        reader.end(damaged, goes_on)
    return f"{runs} runs ({insns} instructions), {losses} losses"


def compare_threads(lines: Sequence[str], rows: Sequence[Row]) -> int:
    """Compare `thread` lines of order.txt: where each piece of it ran."""
    pieces: dict[tuple[int, int], list[str]] = {}
    last: Row | None = None
    for row in rows:
        if row["kind"] != "insn":
            if row["kind"] == "enable":
                last = None
            continue
        if last is None or (last["stream"], last.get("tid")) != (
                row["stream"], row.get("tid")):
            key = (row["pid"], row["tid"])
            pieces.setdefault(key, []).append(
                f"{row['time_ns']} cpu={row['cpu']}")
        last = row
    want: dict[tuple[int, int], list[str]] = {}
    for line in lines:
        _, pid, tid, where = line.split(" ", 3)
        want.setdefault((int(pid), int(tid)), []).append(where)
    if pieces != want:
        raise Fail(f"order: threads ran {pieces}, expected {want}")
    return len(lines)
