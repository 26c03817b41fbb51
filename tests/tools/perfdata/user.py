"""Records that perf itself writes: types from 64 on.

Source: Linux, tools/lib/perf/include/perf/event.h.
"""

from __future__ import annotations

from . import PerfDataError
from .attr import Event
from .order import Order, Part, Parts, padded, text
from .records import BUILD_ID_SIZE, MAX_RECORD, USER, Record
from .sample import Fields

# All ones: no processor, no thread.
NONE = -1


def _user(kind: int, name: str, parts: Parts, fields: Fields | None = None,
          misc: int = 0, tail: bytes = b"") -> Record:
    return Record(kind, name, parts, misc, fields or {}, where=False,
                  tail=tail)


def attr(event: Event) -> Record:
    """Return an event's attributes and ids, as a pipe has them."""
    def encode(order: Order) -> bytes:
        return event.attr.encode(order) + b"".join(
            order.u64(ident) for ident in event.ids)
    return Record(64, "attr", fields={"ids": len(event.ids)}, where=False,
                  encode=encode)


def event_type(ident: int, name: str) -> Record:
    """Return the name of an event, as perf before 3.1 wrote it."""
    return _user(65, "event_type",
                 [("Q", ident), ("s", text(name, 64)[:64])])


def tracing_data(data: bytes) -> Record:
    """Return descriptions of tracepoints, which follow the record."""
    data = padded(data, 8)
    return _user(66, "tracing_data", [("I", len(data))],
                 {"size": len(data)}, tail=data)


def build_id_parts(pid: int, build_id: bytes, name: str, *,
                   sized: bool = True) -> Parts:
    """Return what a record of a build id and that feature have."""
    ident = build_id.ljust(20, b"\0")
    tail: Parts = [("B", len(build_id) if sized else 0), ("B", 0), ("H", 0)]
    return [("i", pid), ("s", ident), *tail, ("s", text(name, 64))]


def build_id(pid: int, ident: bytes, name: str, *, misc: int = USER,
             sized: bool = True) -> Record:
    """Return the build id of a file; unsized ones have always 20 bytes."""
    return _user(67, "build_id", build_id_parts(pid, ident, name,
                                                sized=sized),
                 {"of_pid": pid, "buildid": ident.hex(), "name": name},
                 misc | (BUILD_ID_SIZE if sized else 0))


def finished_round() -> Record:
    """Return that nothing behind it is older than the round before it."""
    return _user(68, "finished_round", [])


def finished_init() -> Record:
    """Return that what perf made up itself has ended."""
    return _user(82, "finished_init", [])


def id_index(events: list[Event], *, machines: bool = False) -> Record:
    """Return the index, processor and thread of each id."""
    entries: list[tuple[int, int, int, int]] = []
    for event in events:
        for number, ident in enumerate(event.ids):
            cpu = event.cpus[number] if event.cpus else NONE
            tid = event.tids[number] if event.tids else NONE
            entries.append((ident, number, cpu, tid))
    parts: Parts = [("Q", len(entries))]
    parts += [("Q", word) for entry in entries for word in entry]
    if machines:
        parts += [("Q", word) for _ in entries for word in (0, NONE)]
    return _user(69, "id_index", parts, {"count": len(entries)})


def auxtrace_info(kind: int, words: list[int | bytes]) -> Record:
    """Return what is told of the trace; texts are filled up to 8 bytes."""
    parts: Parts = [("I", kind), ("I", 0)]
    parts += [("Q", word) if isinstance(word, int)
              else ("s", padded(word, 8)) for word in words]
    return _user(70, "auxtrace_info", parts, {"aux_type": kind})


def auxtrace(data: bytes, *, offset: int = 0, reference: int = 0,
             idx: int = 0, tid: int = NONE, cpu: int = NONE,
             size: int | None = None) -> Record:
    """Return trace, which follows the record."""
    told = len(data) if size is None else size
    parts: Parts = [("Q", told), ("Q", offset), ("Q", reference), ("I", idx),
                    ("I", tid), ("I", cpu), ("I", 0)]
    return _user(71, "auxtrace", parts,
                 {"aux_offset": offset, "aux_size": told, "idx": idx,
                  "of_tid": tid, "of_cpu": cpu}, tail=data)


def auxtrace_error(message: str, *, kind: int = 1, code: int = 0,
                   cpu: int = NONE, pid: int = NONE, tid: int = NONE,
                   ip: int = 0, time: int | None = None,
                   machine: tuple[int, int] | None = None) -> Record:
    """Return an error of perf's decoder.

    Times came with form 1, virtual machines with form 2.
    """
    form = 0 if time is None else 1 if machine is None else 2
    parts: Parts = [("I", kind), ("I", code), ("I", cpu), ("I", pid),
                    ("I", tid), ("I", form), ("Q", ip)]
    if time is not None:
        parts.append(("Q", time))
    parts.append(("s", message.encode().ljust(64, b"\0")[:64]))
    if machine is not None:
        parts += [("I", machine[0]), ("I", machine[1])]
    return _user(72, "auxtrace_error", parts,
                 {"code": code, "of_pid": pid, "of_tid": tid, "of_cpu": cpu,
                  "addr": ip, "name": message})


def thread_map(threads: list[tuple[int, str]]) -> Record:
    """Return the threads that were recorded, with their names."""
    parts: Parts = [("Q", len(threads))]
    for tid, name in threads:
        parts += [("Q", tid), ("s", name.encode().ljust(16, b"\0")[:16])]
    return _user(73, "thread_map", parts, {"count": len(threads)})


def cpu_map_parts(cpus: list[int], form: str = "cpus") -> Parts:
    """Return a set of processors: a list, a mask, or a range."""
    out: Parts
    if form == "cpus":
        out = [("H", 0), ("H", len(cpus)), *(("H", cpu) for cpu in cpus)]
        size = 4 + 2 * len(cpus)
    elif form in ("mask32", "mask64"):
        width = 32 if form == "mask32" else 64
        count = max(cpus) // width + 1
        out = [("H", 1), ("H", count), ("H", width // 8)]
        # Words of 8 bytes begin behind 4 bytes that say nothing.
        out += [] if width == 32 else [("I", 0)]
        kind = "I" if width == 32 else "Q"
        out += [(kind, sum(1 << cpu % width for cpu in cpus
                           if cpu // width == word))
                for word in range(count)]
        size = 6 + (0 if width == 32 else 4) + width // 8 * count
    elif form == "range":
        out = [("H", 2), ("B", 0), ("B", 0), ("H", min(cpus)),
               ("H", max(cpus))]
        size = 8
    else:
        raise PerfDataError(f"no such form of processors: {form}")
    return [*out, ("s", bytes(-size % 8))]


def cpu_map(cpus: list[int], form: str = "cpus") -> Record:
    """Return the processors that were recorded."""
    return _user(74, "cpu_map", cpu_map_parts(cpus, form),
                 {"count": len(cpus)})


def stat_config(entries: dict[int, int]) -> Record:
    """Return settings of `perf stat`: mode, interval, scale."""
    parts: Parts = [("Q", len(entries))]
    parts += [("Q", word) for entry in entries.items() for word in entry]
    return _user(75, "stat_config", parts, {"count": len(entries)})


def stat(ident: int, cpu: int, thread: int, value: int, enabled: int = 0,
         running: int = 0) -> Record:
    """Return one count."""
    return _user(76, "stat", [("Q", ident), ("I", cpu), ("I", thread),
                              ("Q", value), ("Q", enabled), ("Q", running)],
                 {"of_id": ident, "of_cpu": cpu, "value": value})


def stat_round(time: int, *, final: bool = True) -> Record:
    """Return the end of one round of counts."""
    return _user(77, "stat_round", [("Q", int(final)), ("Q", time)],
                 {"of_time": time})


def event_update(ident: int, what: str, value: str | float | list[int]
                 ) -> Record:
    """Return more on an event: its unit, scale, name or cpus."""
    kind = ("unit", "scale", "name", "cpus").index(what)
    more: Parts
    if isinstance(value, str):
        more = [("s", text(value))]
    elif isinstance(value, float):
        more = [("d", value)]
    else:
        more = cpu_map_parts(value)
    return _user(78, "event_update", [("Q", kind), ("Q", ident), *more],
                 {"of_id": ident})


def time_conv(shift: int, mult: int, zero: int, *, cycles: int = 0,
              mask: int = 0, cap_zero: bool = True, cap_short: bool = False,
              old: bool = False) -> Record:
    """Return how the counter of the hardware becomes time.

    The old form ends behind ``zero``.
    """
    parts: Parts = [("Q", shift), ("Q", mult), ("Q", zero)]
    fields: Fields = {"shift": shift, "mult": mult, "zero": zero}
    if not old:
        parts += [("Q", cycles), ("Q", mask), ("B", int(cap_zero)),
                  ("B", int(cap_short)), ("s", bytes(6))]
        fields.update(cycles=cycles, mask=mask, cap_zero=int(cap_zero),
                      cap_short=int(cap_short))
    return _user(79, "time_conv", parts, fields)


def feature(number: int, data: bytes) -> Record:
    """Return a feature of the header, as a pipe has it."""
    parts: list[Part] = [("Q", number), ("s", data)]
    if len(data) + 16 > MAX_RECORD:
        raise PerfDataError(f"feature {number} is too long for a record")
    return _user(80, "feature", parts, {"feature": number})


def compressed(data: bytes, *, second: bool = False) -> Record:
    """Return a part of the compressed stream, in the old or the new form."""
    if second:
        return _user(83, "compressed2", [("Q", len(data)),
                                         ("s", padded(data, 8))],
                     {"size": len(data)})
    return _user(81, "compressed", [("s", data)], {"size": len(data)})
