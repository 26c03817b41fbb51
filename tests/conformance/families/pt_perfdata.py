"""Intel PT inside perf.data: its records, and the packets of each buffer."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .case import Case, Fail, Malformed, Skip
from .cli import rows_of
from .packets import (Row, check_file, compare_packets, cpu_options,
                      read_rows, run_tool)
from .perf_data import check_import, search_options
from .perf_listing import build_ids, messages, perf_records, sample_infos
from .perf_record import Expected, Record, compare_records
from .tools import Tools

# Source: Linux, tools/perf/Documentation/perf.data-file-format.txt.
_HEADER = struct.Struct("<8sQQQQQQ")
_RECORD = struct.Struct("<IHH")
_TYPE_AUXTRACE = 71


def aux_buffers(data: bytes) -> Iterator[bytes]:
    """Yield the bytes of AUXTRACE records, in order."""
    try:
        magic, _, _, _, _, at, size = _HEADER.unpack_from(data)
        if magic != b"PERFILE2":
            raise Malformed("perf.data: another magic number")
        end = at + size
        while at < end:
            kind, _, length = _RECORD.unpack_from(data, at)
            if kind == _TYPE_AUXTRACE:
                n, = struct.unpack_from("<Q", data, at + _RECORD.size)
                yield data[at + length:at + length + n]
                length += n
            elif length < _RECORD.size:
                raise Malformed(f"perf.data: a record of {length} bytes")
            at += length
    except struct.error as error:
        raise Malformed(f"perf.data: {error}") from None


def _mode(row: Row) -> str:
    bits = 64 if row["cs_l"] else 32 if row["cs_d"] else 16
    return f"MODE.Exec IF:{row['interrupts']:d} {bits}"


def _address(name: str) -> Callable[[Row], str]:
    return lambda row: f"{name} {row['payload']}" if row["ip_bytes"] else \
        f"{name} no ip"


# Rows as perf writes them.
_TEXT: dict[str, Callable[[Row], str]] = {
    "psb": lambda r: "PSB",
    "psbend": lambda r: "PSBEND",
    "ovf": lambda r: "OVF",
    "stop": lambda r: "TraceSTOP",
    "tnt.8": lambda r: f"TNT {r['tnt'].replace('1', 'T').replace('0', 'N')} "
                       f"({r['count']})",
    "tip": _address("TIP"),
    "tip.pge": _address("TIP.PGE"),
    "tip.pgd": _address("TIP.PGD"),
    "fup": _address("FUP"),
    "mode.exec": _mode,
    "mode.tsx": lambda r: f"MODE.TSX TXAbort:{r['aborted']:d} "
                          f"InTX:{r['transaction']:d}",
    # perf prints the payload: bit 0 is NR.
    "pip": lambda r: f"PIP 0x{int(r['cr3'], 16) >> 5:x} "
                     f"(NR={r['non_root']:d})",
    "tsc": lambda r: f"TSC 0x{r['tsc']:x}",
    "tma": lambda r: f"TMA CTC 0x{r['ctc']:x} FC 0x{r['fast_counter']:x}",
    "mtc": lambda r: f"MTC 0x{r['ctc']:x}",
    "cyc": lambda r: f"CYC 0x{r['cycles']:x}",
    "cbr": lambda r: f"CBR 0x{r['ratio']:x}",
    "vmcs": lambda r: f"VMCS {r['vmcs']}",
}


def compare_perf(lines: Sequence[str], rows: Iterator[Row]) -> int:
    """Compare offset, name and fields with perf's; padding is left out."""
    number = 0
    for row in rows:
        if row["kind"] in ("pad", "unsynced"):
            continue
        text = _TEXT.get(row["kind"], lambda r: str(r["kind"]))
        ours = f"{row['offset']:x} {text(row)}"
        want = lines[number] if number < len(lines) else "nothing"
        if ours != want:
            raise Fail(f"perf: '{ours}', expected '{want}'")
        number += 1
    if number != len(lines):
        raise Fail(f"perf: {number} packets, expected {len(lines)}")
    return number


def _perf_lists(lines: Sequence[str]) -> list[list[str]]:
    """Split perf's listing at its buffers."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith("buffer "):
            found.append([])
        else:
            found[-1].append(line)
    return found


# Of a record of the kernel, and which field tells that it is such a one.
_TYPES = {15: "switch_cpu_wide", 11: "aux"}


def add_threads(records: Sequence[Record],
                infos: Iterator[tuple[dict[str, int], int]]) -> None:
    """Say of whom switches and buffers are: perf does not, quipper does."""
    found: dict[tuple[str, int, int], list[dict[str, int]]] = {}
    for info, kind in infos:
        if kind in _TYPES:
            found.setdefault((_TYPES[kind], info["sample_time_ns"],
                              info["cpu"]), []).append(info)
    for record in records:
        if record.kind not in _TYPES.values():
            continue
        key = (record.kind, record.number("time"), record.number("cpu"))
        info = found[key].pop(0)
        record.fields.update(pid=info["pid"], tid=info["tid"])


def check_records(case: Case, tools: Tools, trace: Path) -> str:
    """Compare all records with the listing of perf, and with quipper's."""
    records = perf_records(case.lines("expected/perf_records.txt"))
    file = messages(case.lines("expected/quipper.pb_text"))
    add_threads(records, sample_infos(file))
    said = compare_records(Expected(records, build_ids(file)),
                           rows_of(tools, case, "records", trace))
    return f"{said}, {check_import(case, tools, trace, search_options(case))}"


def check_stream(case: Case, tools: Tools, trace: Path, number: int,
                 listed: Sequence[str]) -> str:
    """Compare the packets of one buffer, read from the file as it is."""
    options = ["--format=jsonl", f"--stream={number}"]
    count = compare_packets(
        case.lines(f"expected/aux{number}.packets.txt"),
        read_rows(run_tool(tools, case, trace, options, raw=False), number))
    more = compare_perf(listed, read_rows(
        run_tool(tools, case, trace, options, raw=False), number))
    return f"{count} and {more} by perf from perf.data itself"


def run(case: Case, tools: Tools) -> str:
    """Compare the packets of each AUX buffer."""
    if tools.cli is None:
        raise Skip("no hwtdecode beside hwtdecode-flow")
    lists = _perf_lists(case.lines("expected/perf_packets.txt"))
    buffers = list(aux_buffers(case.path("perf.data").read_bytes()))
    if len(lists) != len(buffers):
        raise Malformed(f"{len(buffers)} buffers, perf lists {len(lists)}")
    cpu = case.section("params").get("cpu")
    said = []
    for number, (data, listed) in enumerate(zip(buffers, lists, strict=True)):
        trace = case.temporary / f"aux{number}.pt"
        trace.write_bytes(data)
        said.append(check_file(case, tools, trace,
                               f"expected/aux{number}.packets.txt", cpu))
        rows = read_rows(run_tool(tools, case, trace, [
            "--format=jsonl", *cpu_options(cpu)]))
        said.append(f"{compare_perf(listed, rows)} by perf")
        said.append(check_stream(case, tools, case.path("perf.data"), number,
                                 listed))
    said.append(check_records(case, tools, case.path("perf.data")))
    return ", ".join(said)
