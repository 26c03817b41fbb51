"""Records that the kernel writes.

Each function returns a record without place and time; the file adds those by
the sample type of an event. Source: include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from . import PerfDataError
from .order import Order, Parts, text
from .sample import Fields, SampleValues

# The low bits of misc: where a sample or a mapping is of.
KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = 1, 2, 3, 4, 5
# Others, which mean another thing in each kind of record.
PROC_MAP_PARSE_TIMEOUT = 1 << 12
MMAP_DATA = COMM_EXEC = FORK_EXEC = SWITCH_OUT = 1 << 13
MMAP_BUILD_ID = EXACT_IP = SWITCH_OUT_PREEMPT = 1 << 14
BUILD_ID_SIZE = 1 << 15

# Flags of AUX records.
TRUNCATED, OVERWRITE, PARTIAL, COLLISION = 1, 2, 4, 8
FORMAT_CORESIGHT, FORMAT_RAW = 0x0000, 0x0100

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_SHARED, MAP_PRIVATE = 1, 2

MAX_RECORD = 0xffff


@dataclass(frozen=True)
class Record:
    """One record: its type, and its fields in any byte order."""

    type: int
    name: str
    parts: Parts = field(default_factory=list)
    misc: int = 0
    # What a reader finds in it, but for place and time.
    fields: Fields = field(default_factory=dict)
    # Whether place and time of an event are at the end.
    where: bool = True
    # Bytes that follow the record and are not counted in its size.
    tail: bytes = b""
    # What depends on the byte order more than by fields.
    encode: Callable[[Order], bytes] | None = None
    sample: SampleValues | None = None
    # A size that the header tells in place of the true one.
    told_size: int | None = None

    def body(self, order: Order) -> bytes:
        """Return the bytes behind the header."""
        if self.encode is not None:
            return self.encode(order)
        return order.pack(self.parts)


def header(order: Order, kind: int, misc: int, size: int) -> bytes:
    """Return struct perf_event_header."""
    if size > MAX_RECORD:
        raise PerfDataError(f"a record of {size} bytes")
    return order.pack([("I", kind), ("H", misc), ("H", size)])


def mmap(pid: int, tid: int, start: int, length: int, offset: int,
         name: str, *, misc: int = USER) -> Record:
    """Return a mapping without what identifies its file."""
    parts: Parts = [("I", pid), ("I", tid), ("Q", start), ("Q", length),
                    ("Q", offset), ("s", text(name))]
    return Record(1, "mmap", parts, misc, {
        "of_pid": pid, "of_tid": tid, "addr": start, "len": length,
        "pgoff": offset, "misc": misc, "name": name})


def mmap2(pid: int, tid: int, start: int, length: int, offset: int,
          name: str, *, major: int = 8, minor: int = 1, inode: int = 0,
          generation: int = 0, build_id: bytes | None = None,
          prot: int = PROT_READ | PROT_EXEC, flags: int = MAP_PRIVATE,
          misc: int = USER) -> Record:
    """Return a mapping; with a build id the file is not told by its inode."""
    fields: Fields = {"of_pid": pid, "of_tid": tid, "addr": start,
                      "len": length, "pgoff": offset}
    parts: Parts = [("I", pid), ("I", tid), ("Q", start), ("Q", length),
                    ("Q", offset)]
    if build_id is None:
        parts += [("I", major), ("I", minor), ("Q", inode), ("Q", generation)]
        fields.update(maj=major, min=minor, ino=inode, gen=generation)
    else:
        misc |= MMAP_BUILD_ID
        parts += [("B", len(build_id)), ("B", 0), ("H", 0),
                  ("s", build_id + bytes(20 - len(build_id)))]
        fields["buildid"] = build_id.hex()
    parts += [("I", prot), ("I", flags), ("s", text(name))]
    fields.update(prot=prot, flags=flags, misc=misc, name=name)
    return Record(10, "mmap2", parts, misc, fields)


def comm(pid: int, tid: int, name: str, *, execs: bool = False) -> Record:
    """Return the name of a thread, given by exec or otherwise."""
    misc = COMM_EXEC if execs else 0
    return Record(3, "comm", [("I", pid), ("I", tid), ("s", text(name))],
                  misc, {"of_pid": pid, "of_tid": tid, "exec": int(execs),
                         "name": name})


def _task(kind: int, name: str, pid: int, ppid: int, tid: int, ptid: int,
          time: int, misc: int) -> Record:
    parts: Parts = [("I", pid), ("I", ppid), ("I", tid), ("I", ptid),
                    ("Q", time)]
    return Record(kind, name, parts, misc,
                  {"of_pid": pid, "ppid": ppid, "of_tid": tid, "ptid": ptid,
                   "of_time": time})


def fork(pid: int, ppid: int, tid: int, ptid: int, time: int, *,
         misc: int = 0) -> Record:
    """Return the start of a process (pid is not ppid) or a thread."""
    return _task(7, "fork", pid, ppid, tid, ptid, time, misc)


def exit(pid: int, ppid: int, tid: int, ptid: int,  # noqa: A001
         time: int) -> Record:
    """Return the end of a thread."""
    return _task(4, "exit", pid, ppid, tid, ptid, time, 0)


def lost(ident: int, count: int) -> Record:
    """Return how many records of an event were lost."""
    return Record(2, "lost", [("Q", ident), ("Q", count)],
                  fields={"of_id": ident, "lost": count})


def lost_samples(count: int) -> Record:
    """Return how many samples were lost."""
    return Record(13, "lost_samples", [("Q", count)], fields={"lost": count})


def throttle(time: int, ident: int, stream: int, *, off: bool = True
             ) -> Record:
    """Return that an event was too fast, or that it may go on."""
    return Record(5 if off else 6, "throttle" if off else "unthrottle",
                  [("Q", time), ("Q", ident), ("Q", stream)],
                  fields={"of_time": time, "of_id": ident,
                          "of_stream": stream})


def read(pid: int, tid: int, value: int, ident: int) -> Record:
    """Return a counter's value at the end of a thread (format ID)."""
    return Record(8, "read", [("I", pid), ("I", tid), ("Q", value),
                              ("Q", ident)],
                  fields={"of_pid": pid, "of_tid": tid, "value": value,
                          "of_id": ident})


def sample(values: SampleValues | None = None, *, misc: int = USER
           ) -> Record:
    """Return a sample; its fields are those of its event's sample type."""
    return Record(9, "sample", [], misc, sample=values or SampleValues())


def aux(offset: int, size: int, flags: int = 0) -> Record:
    """Return that there is new trace in the AUX area."""
    return Record(11, "aux", [("Q", offset), ("Q", size), ("Q", flags)],
                  fields={"aux_offset": offset, "aux_size": size,
                          "aux_flags": flags})


def itrace_start(pid: int, tid: int) -> Record:
    """Return that a thread ran when the trace began."""
    return Record(12, "itrace_start", [("I", pid), ("I", tid)],
                  fields={"of_pid": pid, "of_tid": tid})


def switch(*, out: bool, preempt: bool = False) -> Record:
    """Return a switch of the thread that the place is of."""
    misc = (SWITCH_OUT if out else 0) | (SWITCH_OUT_PREEMPT if preempt else 0)
    return Record(14, "switch", [], misc,
                  {"out": int(out), "preempt": int(preempt)})


def switch_cpu_wide(pid: int, tid: int, *, out: bool, preempt: bool = False
                    ) -> Record:
    """Return a switch; pid and tid are of the next or the previous one."""
    misc = (SWITCH_OUT if out else 0) | (SWITCH_OUT_PREEMPT if preempt else 0)
    return Record(15, "switch_cpu_wide", [("I", pid), ("I", tid)], misc,
                  {"out": int(out), "preempt": int(preempt),
                   "other_pid": pid, "other_tid": tid})


def namespaces(pid: int, tid: int, links: list[tuple[int, int]]) -> Record:
    """Return device and inode of each namespace of a process."""
    parts: Parts = [("I", pid), ("I", tid), ("Q", len(links))]
    parts += [("Q", word) for link in links for word in link]
    return Record(16, "namespaces", parts,
                  fields={"of_pid": pid, "of_tid": tid, "count": len(links)})


def ksymbol(addr: int, length: int, name: str, *, kind: int = 1,
            unregister: bool = False) -> Record:
    """Return that kernel code came or went: 1 is BPF, 2 out of line code."""
    flags = int(unregister)
    return Record(17, "ksymbol", [("Q", addr), ("I", length), ("H", kind),
                                  ("H", flags), ("s", text(name))],
                  fields={"addr": addr, "len": length, "ksym": kind,
                          "flags": flags, "name": name})


def bpf_event(kind: int, ident: int, tag: bytes) -> Record:
    """Return that a BPF program was loaded (1) or unloaded (2)."""
    return Record(18, "bpf_event", [("H", kind), ("H", 0), ("I", ident),
                                    ("s", tag.ljust(8, b"\0")[:8])],
                  fields={"bpf": kind, "of_id": ident, "tag": tag.hex()})


def cgroup(ident: int, path: str) -> Record:
    """Return the path of a control group."""
    return Record(19, "cgroup", [("Q", ident), ("s", text(path))],
                  fields={"of_id": ident, "name": path})


def text_poke(addr: int, old: bytes, new: bytes) -> Record:
    """Return that the kernel changed its own code."""
    data = old + new
    fill = bytes(-(len(data) + 4) % 8)
    return Record(20, "text_poke", [("Q", addr), ("H", len(old)),
                                    ("H", len(new)), ("s", data + fill)],
                  fields={"addr": addr, "old": old.hex(), "new": new.hex()},
                  misc=KERNEL)


def aux_output_hw_id(value: int) -> Record:
    """Return the hardware's ID of an event, of whatever form."""
    return Record(21, "aux_output_hw_id", [("Q", value)],
                  fields={"hw_id": value})


def unknown(kind: int, body: bytes, *, where: bool = False, misc: int = 0
            ) -> Record:
    """Return a record of any type."""
    return Record(kind, "unknown", [("s", body)], misc, {"type": kind},
                  where=where)
