"""Intel PT inside perf.data: packets of each AUX buffer by libipt and perf."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from .case import Case, Fail, Malformed, Skip
from .packets import Row, check_file, cpu_options, read_rows, run_tool
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
    return ", ".join(said)
