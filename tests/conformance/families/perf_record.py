"""What becomes of a record of Linux perf: the record that we make of it.

`Record` is one of a listing by somebody else; `Expected` says which rows of
`hwtdecode records` have to tell it. A row has the keys that are expected, and
no other ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from .case import Fail, Malformed
from .cli import Row

# Records of which no row is made, and where what they say is told instead.
# Other records are all rows; a kind that is in neither list fails.
WITHOUT_ROW: Mapping[str, str] = {
    "sample": "samples of other events; of those that carry trace, a stream",
    "throttle": "an event was too fast; nothing of the trace is lost",
    "unthrottle": "the same, its end",
    "read": "a counter",
    "aux_output_hw_id": "the trace ID of a source, or what counts PEBS",
    "attr": "an event: how records are read",
    "event_type": "the name of an event",
    "event_update": "more on an event",
    "tracing_data": "tracepoints",
    "build_id": "the build-id of mappings that name the file",
    "finished_round": "how far records are in order",
    "finished_init": "the end of what perf made up",
    "id_index": "which event a record is of",
    "auxtrace_info": "streams: technology, registers, clock",
    "auxtrace": "streams: the bytes",
    "auxtrace_error": "an error of perf's decoder",
    "thread_map": "threads that perf was told to record",
    "cpu_map": "processors that perf was told to record",
    "stat_config": "perf stat",
    "stat": "perf stat",
    "stat_round": "perf stat",
    "time_conv": "streams: clock",
    "feature": "the trace: origin, CPU",
    "compressed": "the records in it",
    "compressed2": "the records in it",
    "unknown": "a type that is not known",
}

# Of records that have a row: fields that it keeps, and those that it does not.
# Which event a record is of changes nothing of what it says. The file of a
# mapping has a name and a build-id; who created a thread was told before.
FIELDS: Mapping[str, tuple[str, str]] = {
    "*": ("time cpu pid tid", "id stream"),
    "mmap": ("of_pid of_tid addr len pgoff misc name", ""),
    "mmap2": ("of_pid of_tid addr len pgoff misc name buildid",
              "maj min ino gen prot flags"),
    "comm": ("of_pid of_tid exec name", ""),
    "fork": ("of_pid of_tid ppid", "ptid of_time"),
    "exit": ("of_pid of_tid", "ppid ptid of_time"),
    "lost": ("lost", "of_id"),
    "lost_samples": ("lost", ""),
    "switch": ("out", "preempt"),
    # Who was there before is not told; who comes next is, without its process.
    "switch_cpu_wide": ("out other_pid other_tid", "preempt"),
    "itrace_start": ("of_pid of_tid", ""),
    # Where the bytes are in the ring is told as where they are in the stream.
    "aux": ("aux_size aux_flags", "aux_offset"),
    "ksymbol": ("addr len flags name", "ksym"),
    "text_poke": ("addr old new", ""),
    "cgroup": ("of_id name", ""),
    "namespaces": ("of_pid of_tid count", ""),
    "bpf_event": ("bpf of_id tag", ""),
}

# Bits of misc, and of flags.
_MODE, _KERNEL, _GUEST_KERNEL = 7, 1, 4
_AUX_FLAGS = ("truncated", "overwrite", "partial", "collision")
_NONE = 0xffffffff
_ANONYMOUS = ("//anon", "[heap]", "[stack", "[anon", "anon_inode:",
              "/dev/zero", "/SYSV", "/anon_hugepage", "/memfd:")
# Files that perf makes of jitted code: process and number.
_JITTED = re.compile(r"/jitted-\d+-\d+\.so$")
_CGROUP, _NAMESPACES, _BPF = 19, 16, 18
_BPF_WHAT = {1: "load", 2: "unload"}


@dataclass
class Record:
    """One record as a listing tells it."""

    # Where it stands in the file; None: in what was compressed.
    offset: int | None
    kind: str
    fields: dict[str, Any] = field(default_factory=dict)

    def number(self, key: str) -> int:
        """Return a field that has to be there."""
        try:
            return int(self.fields[key])
        except KeyError:
            raise Malformed(f"a {self.kind} without {key}") from None

    def __str__(self) -> str:
        said = " ".join(f"{key}={value}" for key, value in
                        self.fields.items())
        return f"{self.kind} {said}"


def _is_heard_of(pid: int, rows: Sequence[Row]) -> bool:
    """Say whether rows tell of other threads of a process than the first."""
    for row in rows:
        if row.get("pid") != pid:
            continue
        if row["record_type"] == "fork":
            # From here on it is another process.
            return False
        if row.get("tid") != pid:
            return True
    return False


class Expected:
    """Rows for the records of one file.

    `kernel` is where a copy of the memory of the kernel lies, which is then its
    file.
    """

    def __init__(self, records: Sequence[Record],
                 build_ids: Mapping[str, str] | None = None,
                 kernel: str | None = None) -> None:
        self.without: Counter[str] = Counter()
        self._copy = kernel
        self.rows: list[tuple[Row, Record]] = []
        self._build_ids = dict(build_ids or {})
        for record in records:
            if record.kind == "build_id":
                self._build_ids[record.fields["name"]] = \
                    record.fields["buildid"]
        self._poked: set[int] = set()
        # Bytes of code that records hold so far.
        self._pokes = 0
        for record in records:
            self._add(record)
        self._exits()

    def _add(self, record: Record) -> None:
        make = getattr(self, "_make_" + record.kind, None)
        if make is None:
            if record.kind not in WITHOUT_ROW:
                raise Malformed(f"a record of an unknown kind: {record}")
            self.without[record.kind] += 1
            return
        known = " ".join([*FIELDS["*"], *FIELDS[record.kind]]).split()
        for key in record.fields:
            if key not in known:
                raise Malformed(f"no row may keep {key} of '{record}'")
        for row in make(record):
            self.rows.append((row, record))

    def _exits(self) -> None:
        """The first thread ends its process, if no other one is left."""
        # Python's sort keeps the order of records of one time.
        rows = sorted((row for row, _ in self.rows),
                      key=lambda row: int(row.get("time_ns", 0)))
        for number, row in enumerate(rows):
            if row["record_type"] == "thread-exit" and \
                    row["pid"] == row["tid"] and \
                    not _is_heard_of(row["pid"], rows[number + 1:]):
                row["record_type"] = "exit"

    @staticmethod
    def _place(record: Record) -> Row:
        """Return what the sample id says."""
        row: Row = {}
        for key, ours in (("time", "time_ns"), ("cpu", "cpu"), ("pid", "pid"),
                          ("tid", "tid")):
            value = record.fields.get(key)
            if value is not None and (key == "time" or
                                      value & _NONE != _NONE):
                row[ours] = value
        return row

    def _process(self, record: Record) -> Row:
        """Return the same, of the thread that the record is about."""
        row = self._place(record)
        for key in ("pid", "tid"):
            row.pop(key, None)
            value = record.number("of_" + key)
            if value & _NONE != _NONE:
                row[key] = value & _NONE
        return row

    def _make_mmap(self, record: Record) -> Iterator[Row]:
        name = str(record.fields["name"])
        row = {"record_type": "mmap", **self._process(record),
               "address": f"0x{record.number('addr'):x}",
               "length": record.number("len"),
               "file_offset": record.number("pgoff"), "name": name}
        mode = record.fields.get("misc", 2) & _MODE
        if mode in (_KERNEL, _GUEST_KERNEL):
            self._kernel(row, mode, name)
        elif not name or name.startswith(_ANONYMOUS):
            row["anonymous"] = True
        elif _JITTED.search(name):
            row["jit"] = True
        build_id = record.fields.get("buildid") or \
            self._build_ids.get(name.rpartition("]")[0] + "]"
                                if name.startswith("[kernel") else name)
        if build_id:
            row["build_id"] = build_id
        if row["record_type"] == "kernel" and self._copy is not None:
            # Memory has no build-id.
            row["name"] = self._copy
            row.pop("build_id", None)
        yield row

    _make_mmap2 = _make_mmap

    @staticmethod
    def _kernel(row: Row, mode: int, name: str) -> None:
        pid = row.pop("pid", None)
        row.pop("tid", None)
        row["kernel"] = True
        if mode == _GUEST_KERNEL and pid is not None:
            row["vmid"] = pid
        if name.startswith(("[kernel", "[guest.kernel")):
            row["record_type"] = "kernel"
            at = row.pop("file_offset")
            if "]_text" in name:
                row["value"] = at
            elif "]_stext" in name:
                row["base"] = f"0x{at:x}"
        elif name.startswith("/") and ".ko" in name:
            row["record_type"] = "module-load"
            del row["file_offset"]

    def _make_comm(self, record: Record) -> Iterator[Row]:
        row = self._process(record)
        if record.number("exec"):
            yield {"record_type": "exec", **row}
        yield {"record_type": "thread-name", **row,
               "name": record.fields["name"]}

    def _make_fork(self, record: Record) -> Iterator[Row]:
        row = self._process(record)
        # The sample id is of the parent, and so is its processor.
        row.pop("cpu", None)
        parent = record.number("ppid")
        # What perf made up, at time 0, tells all maps of the child as well.
        if parent == record.number("of_pid") or row.get("time_ns") == 0:
            yield {"record_type": "thread-create", **row}
        else:
            yield {"record_type": "fork", **row, "value": parent}

    def _make_exit(self, record: Record) -> Iterator[Row]:
        yield {"record_type": "thread-exit", **self._process(record)}

    def _make_lost(self, record: Record) -> Iterator[Row]:
        yield {"record_type": "lost", **self._place(record),
               "value": record.number("lost")}

    _make_lost_samples = _make_lost

    def _make_switch(self, record: Record) -> Iterator[Row]:
        row = {"record_type": "switch", **self._place(record)}
        if record.number("out"):
            row["switch_out"] = True
            # Who comes next, if that is told.
            if record.fields.get("other_tid", _NONE) & _NONE != _NONE:
                row["value"] = record.number("other_tid")
        yield row

    def _make_switch_cpu_wide(self, record: Record) -> Iterator[Row]:
        if "tid" in record.fields:
            yield from self._make_switch(record)
        elif record.number("out"):
            # Nothing tells who runs, but who comes next.
            yield {"record_type": "switch", **self._place(record),
                   "pid": record.number("other_pid"),
                   "tid": record.number("other_tid")}
        else:
            self.without["switch_cpu_wide"] += 1

    def _make_itrace_start(self, record: Record) -> Iterator[Row]:
        yield {"record_type": "switch", **self._process(record)}

    def _make_aux(self, record: Record) -> Iterator[Row]:
        flags = record.number("aux_flags")
        row = {"record_type": "buffer", **self._place(record),
               "length": record.number("aux_size"), "value": flags & 15}
        for bit, name in enumerate(_AUX_FLAGS):
            if flags >> bit & 1:
                row[name] = True
        yield row

    def _kernel_code(self, record: Record) -> Row:
        row = self._place(record)
        row.pop("pid", None)
        row.pop("tid", None)
        return {**row, "address": f"0x{record.number('addr'):x}",
                "kernel": True}

    def _make_ksymbol(self, record: Record) -> Iterator[Row]:
        row = {"record_type": "munmap", **self._kernel_code(record),
               "length": record.number("len"), "name": record.fields["name"]}
        if not record.number("flags") & 1:
            row.update(record_type="mmap", file_offset=0, jit=True)
        yield row

    def _make_text_poke(self, record: Record) -> Iterator[Row]:
        address = record.number("addr")
        for key in ("old", "new"):
            size = len(str(record.fields[key])) // 2
            if not size or (key == "old" and ("time" not in record.fields or
                                              address in self._poked)):
                continue
            row = {"record_type": "code", **self._kernel_code(record),
                   "length": size, "file_offset": self._pokes}
            if key == "old":
                # They hold from the start.
                row["time_ns"] = 0
            self._pokes += size
            yield row
        self._poked.add(address)

    def _note(self, record: Record, number: int, text: str) -> Row:
        return {"record_type": "unknown", **self._place(record),
                "value": number, "name": text}

    def _make_cgroup(self, record: Record) -> Iterator[Row]:
        yield self._note(record, _CGROUP, f"cgroup {record.number('of_id')} "
                         f"{record.fields['name']}")

    def _make_namespaces(self, record: Record) -> Iterator[Row]:
        row = self._note(record, _NAMESPACES, "")
        row.update(self._process(record))
        # How many there are is listed; which ones is not.
        row["name"] = record.number("count")
        yield row

    def _make_bpf_event(self, record: Record) -> Iterator[Row]:
        what = _BPF_WHAT.get(record.number("bpf"), "unknown")
        yield self._note(
            record, _BPF, f"bpf program {record.number('of_id')} {what}, "
            f"tag {record.fields['tag']}")


# Keys of a row that the listing of records has nothing of: where it is in the
# list, which stream the buffer is of, which image has the bytes.
_OURS = ("type", "record", "stream", "image")


def differs(want: Row, have: Row) -> str | None:
    """Return the key in which a row is not as expected."""
    have = dict(have)
    if want["record_type"] == "unknown" and isinstance(want["name"], int):
        want = dict(want)
        words = str(have.get("name")).split(" ")
        if words[0] == "namespaces" and len(words) == want["name"] + 1:
            want["name"] = have["name"]
    if want["record_type"] == "buffer":
        # _Offsets compares them.
        have.pop("offset", None)
    keys = (want.keys() | have.keys()) - set(_OURS)
    return next((key for key in sorted(keys)
                 if want.get(key) != have.get(key)), None)


class _Offsets:
    """Where buffers end: in the ring, and in the stream made of them."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._bases: dict[int, int] = {}
        # Where snapshots overlap bytes are left out: no place is told there.
        self._snapshots = {row.get("stream") for row in rows
                           if row.get("overwrite") and row.get("length")}

    def compare(self, record: Record, row: Row) -> None:
        """Both go on by as many bytes."""
        if "stream" not in row:
            raise Fail(f"records: no stream for '{record}'")
        at = record.number("aux_offset")
        base = self._bases.setdefault(row["stream"], at)
        want = None if row["stream"] in self._snapshots else \
            at + record.number("aux_size") - base
        if row.get("offset") != want:
            raise Fail(f"records: the offset of record {row['record']} is "
                       f"{row.get('offset')}, expected {want} ('{record}')")


def compare_records(expected: Expected, rows: Sequence[Row],
                    goes_on: bool = False, offsets: bool = True) -> str:
    """Compare all rows of `records`, in the order of the file.

    Behind damage that is told ours may go on where others stop. Places of
    buffers are compared if the trace is made of them.
    """
    for number, row in enumerate(rows):
        if row.get("type") != "record" or row.get("record") != number:
            raise Fail(f"records: row {number} is {row}")
    places = _Offsets(rows)
    for pair, row in zip_longest(expected.rows, rows):
        if pair is None:
            if goes_on:
                break
            raise Fail(f"records: {row} is not expected")
        want, record = pair
        if row is None:
            raise Fail(f"records: none for '{record}'")
        key = differs(want, row)
        if key is not None:
            raise Fail(f"records: {key} of record {row['record']} is "
                       f"{row.get(key)!r}, expected {want.get(key)!r} "
                       f"('{record}')")
        if record.kind == "aux" and offsets:
            places.compare(record, row)
    text = f"{len(rows)} records"
    if expected.without:
        kinds = ", ".join(f"{count} {kind}" for kind, count in
                          sorted(expected.without.items()))
        text += f" ({kinds} have none)"
    return text
