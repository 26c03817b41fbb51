"""Raw packets: reading what `hwtdecode packets` prints, and comparing it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .case import Case, Fail, Malformed, Skip
from .tools import TIMEOUT, Tools

Row = dict[str, Any]

# Kinds of what is no packet.
NOT_NAMED = ("unknown", "unsynced", "truncated", "lost")

# PayloadBytes of PTW by size.
_PTW_SIZES = {4: 0, 8: 1}

# Widths of addresses by IPBytes; 3 is extended by its highest bit.
_IP_BITS = {1: 16, 2: 32, 3: 64, 4: 48, 6: 64}


def run_tool(tools: Tools, case: Case, path: Path, options: Sequence[str],
             raw: bool = True) -> Iterator[str]:
    """Yield the lines that the command prints for a stream, raw or not."""
    trace = path.name
    if tools.cli is None:
        raise Skip("no hwtdecode beside hwtdecode-flow")
    out = case.temporary / "packets"
    command = [str(tools.cli), "packets", *(["--tech=pt"] if raw else []),
               *options, f"--output={out}", str(path)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Fail(f"{trace}: still reading after {TIMEOUT:g} s") from None
    if done.returncode < 0:
        raise Fail(f"{trace}: {tools.cli.name} died of signal "
                   f"{-done.returncode}")
    if done.returncode != 0 or done.stderr:
        said = done.stderr.strip().splitlines()
        raise Fail(f"{trace}: " + (said[0] if said else
                                   f"exit code {done.returncode}"))
    with out.open(encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def cpu_options(cpu: object) -> list[str]:
    """Return the option that names a processor, as a case writes it."""
    if isinstance(cpu, dict):
        cpu = f"{cpu['family']}/{cpu['model']}/{cpu.get('stepping', 0)}"
    return [] if cpu is None else [f"--pt-cpu={cpu}"]


def read_rows(lines: Iterable[str], stream: int = 0) -> Iterator[Row]:
    """Yield rows; fail where they do not cover the stream."""
    at = 0
    ips = _LastIp()
    for line in lines:
        try:
            row = json.loads(line)
            if row["type"] != "packet" or row["stream"] != stream:
                raise Fail(f"packets: not of the stream: {line}")
            if row["offset"] != at:
                raise Fail(f"packets: a row at {row['offset']:x}, "
                           f"expected at {at:x}")
            at += row["bytes"]
            ips.check(row)
        except (ValueError, KeyError, TypeError) as error:
            raise Fail(f"packets: {error!r} in {line!r}") from None
        yield row


class _LastIp:
    """Addresses told once more, by "Last IP" of the Intel SDM.

    Where nothing is known of an address, none may be told.
    """

    def __init__(self) -> None:
        self._ip: int | None = None
        # Unknown bytes may have held an address.
        self._doubtful = False

    def check(self, row: Row) -> None:
        """Compare the address of a row."""
        kind = row["kind"]
        if kind == "psb":
            self._ip, self._doubtful = 0, False
        elif kind in NOT_NAMED:
            self._doubtful = True
        if "ip_bytes" not in row:
            return
        bits = _IP_BITS.get(row["ip_bytes"])
        want = None
        if bits is not None:
            payload = int(row["payload"], 16)
            if row["ip_bytes"] == 3 and payload >> 47:
                payload |= 0xffff << 48
            if bits == 64:
                self._ip, self._doubtful = payload, False
            elif self._ip is not None:
                self._ip = self._ip >> bits << bits | payload
            want = self._ip
        told = int(row["ip"], 16) if "ip" in row else None
        if told != want and not (self._doubtful and told is None):
            raise Fail(f"packets: {kind} at {row['offset']:x} has the ip "
                       f"{row.get('ip')}, expected "
                       f"{None if want is None else hex(want)}")


def _address(row: Row) -> str:
    return (f"{row['kind']} ipc={row['ip_bytes']} "
            f"ip={int(row.get('payload', '0'), 16):x}")


def _outcomes(row: Row) -> str:
    if len(row["tnt"]) != row["count"]:
        raise Fail(f"packets: {row['count']} outcomes in {row['tnt']!r}")
    return f"{row['kind']} n={row['count']} bits={int(row['tnt'] or '0', 2):x}"


# Rows as packets.txt writes them: how numbers are written is in the README of
# the corpus.  What it leaves out (IF, CFE, EVD, TRIG) ptdump.exp tells.
_TEXT: dict[str, Callable[[Row], str]] = {
    "tnt.8": _outcomes,
    "tnt.64": _outcomes,
    "tip": _address,
    "tip.pge": _address,
    "tip.pgd": _address,
    "fup": _address,
    "mode.exec": lambda r: f"mode leaf=0 bits={r['cs_l'] | r['cs_d'] << 1}",
    "mode.tsx": lambda r: f"mode leaf=32 "
                          f"bits={r['transaction'] | r['aborted'] << 1}",
    "pip": lambda r: f"pip cr3={int(r['cr3'], 16):x} nr={r['non_root']:d}",
    "vmcs": lambda r: f"vmcs base={int(r['vmcs'], 16):x}",
    "tsc": lambda r: f"tsc tsc={r['tsc']:x}",
    "tma": lambda r: f"tma ctc={r['ctc']:x} fc={r['fast_counter']:x}",
    "mtc": lambda r: f"mtc ctc={r['ctc']:x}",
    "cyc": lambda r: f"cyc value={r['cycles']:x}",
    "cbr": lambda r: f"cbr ratio={r['ratio']}",
    "mnt": lambda r: f"mnt payload={int(r['payload'], 16):x}",
    "ptw": lambda r: f"ptw plc={_PTW_SIZES[r['payload_size']]} "
                     f"payload={int(r['payload'], 16):x} "
                     f"ip={r['ip_follows']:d}",
    "exstop": lambda r: f"exstop ip={r['ip_follows']:d}",
    "mwait": lambda r: f"mwait hints={r['hints']:x} ext={r['extensions']:x}",
    "pwre": lambda r: f"pwre state={r['state']} sub={r['sub_state']} "
                      f"hw={r['by_hardware']:d}",
    "pwrx": lambda r: f"pwrx last={r['state']} deepest={r['deepest_state']} "
                      f"int={r['wake'] & 1} st={r['wake'] >> 1 & 1} "
                      f"hw={r['wake'] >> 2 & 1}",
}


def render(row: Row) -> str:
    """Return a row as a line of packets.txt."""
    try:
        text = _TEXT.get(row["kind"], lambda r: str(r["kind"]))(row)
    except (KeyError, TypeError, ValueError) as error:
        raise Fail(f"packets: {error!r} in {row}") from None
    return f"{row['offset']:x} {row['bytes']} {text}"


@dataclass
class _Expected:
    """Lines of packets.txt between two errors of the reference."""

    lines: list[str]
    # Where the reference gave up behind them.
    error: int | None


def _split(lines: Iterable[str]) -> tuple[list[_Expected], dict[str, int]]:
    parts = [_Expected([], None)]
    total: dict[str, int] = {}
    for line in lines:
        if line.startswith("x "):
            parts[-1].error = int(line.rpartition("@")[2], 16)
            parts.append(_Expected([], None))
        elif line.startswith("total "):
            total = {key: int(value) for key, value in
                     re.findall(r"(\w+)=(\d+)", line)}
        else:
            parts[-1].lines.append(line)
    if "packets" not in total or \
            total["packets"] != total["pad"] + \
            sum(len(part.lines) for part in parts):
        raise Malformed("packets.txt: the total is another one")
    return parts, total


class _Reader:
    """Rows one after the other, and what was passed over."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self.row: Row | None = None
        self.pads = 0
        self.step()

    def step(self) -> None:
        """Go on to the next row."""
        self.row = next(self._rows, None)

    def next_packet(self) -> Row | None:
        """Count padding; return the row behind it."""
        while self.row is not None and self.row["kind"] == "pad":
            if self.row.get("count") != self.row["bytes"]:
                raise Fail(f"packets: odd padding: {self.row}")
            self.pads += self.row["bytes"]
            self.step()
        return self.row

    def skip_to(self, offset: int) -> None:
        """Pass over rows before an offset."""
        while self.row is not None and self.row["offset"] < offset:
            self.step()


def compare_packets(lines: Sequence[str], rows: Iterator[Row]) -> int:
    """Compare every field with packets.txt; return how many packets."""
    parts, total = _split(lines)
    reader = _Reader(rows)
    if reader.row is not None and reader.row["kind"] == "unsynced":
        reader.step()
    for number, part in enumerate(parts):
        for line in part.lines:
            row = reader.next_packet()
            ours = None if row is None else render(row)
            if ours != line:
                raise Fail(f"packets: '{ours}', expected '{line}'")
            reader.step()
        row = reader.next_packet()
        if part.error is None:
            # What the end cuts off the reference does not tell.
            if row is not None and row["kind"] == "truncated":
                reader.step()
                row = reader.row
            if row is not None:
                raise Fail(f"packets: '{render(row)}' is not expected")
            continue
        if row is None or row["offset"] != part.error or \
                row["kind"] not in NOT_NAMED:
            raise Fail(f"packets: '{None if row is None else render(row)}', "
                       f"expected unknown bytes at {part.error:x}")
        # A decoder that goes on before the next PSB is right too.
        following = parts[number + 1].lines
        reader.skip_to(int(following[0].split()[0], 16) if following
                       else 1 << 64)
    if reader.pads != total["pad"]:
        raise Fail(f"packets: {reader.pads} bytes of padding, expected "
                   f"{total['pad']}")
    return total["packets"]


def check_packets(case: Case, tools: Tools, trace: str, listing: str,
                  cpu: object) -> str:
    """Compare the packets of a raw stream of the case with a listing."""
    if tools.cli is None:
        return "packets not compared: no hwtdecode beside hwtdecode-flow"
    return check_file(case, tools, case.path(trace), listing, cpu)


def check_file(case: Case, tools: Tools, path: Path, listing: str,
               cpu: object) -> str:
    """Compare the packets of a raw stream with a listing."""
    options = ["--format=jsonl", *cpu_options(cpu)]
    rows = read_rows(run_tool(tools, case, path, options))
    return f"{compare_packets(case.lines(listing), rows)} packets"
