"""Intel PT of real programs with exact truth, one stream for each thread."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from .case import Case, Fail, Malformed
from .tools import Tools, pt_options

# Ticks that a time may be off where cycles are traced.
CYC_TICKS = 512

_SUMMARY = re.compile(r"truth: (\d+) of (\d+) records, (\d+) instructions, "
                      r"\d+ extra, (\d+) times, max time error (\d+) ticks")

_PACKETS = re.compile(r"packet times: (\d+), max (\d+) mean ([0-9.]+) ticks, "
                      r"engine max (\d+) mean ([0-9.]+)")


@dataclass
class PacketTimes:
    """How far times of packets, and of an engine's rows, are from the truth.

    Numbers are in ticks; the means are weighted by the number of times.
    """

    number: int = 0
    worst: int = 0
    total: float = 0
    engine_worst: int = 0
    engine_total: float = 0

    def add(self, said: re.Match[str]) -> None:
        """Take in what the flow tool said of one stream."""
        number = int(said[1])
        self.number += number
        self.worst = max(self.worst, int(said[2]))
        self.total += number * float(said[3])
        self.engine_worst = max(self.engine_worst, int(said[4]))
        self.engine_total += number * float(said[5])

    def text(self, engine: str) -> str:
        """Say how far both are off; fail if packets are farther."""
        text = (f"time: max {self.worst} mean {self.total / self.number:.1f} "
                f"ticks, {engine} max {self.engine_worst} mean "
                f"{self.engine_total / self.number:.1f}")
        if (self.worst > self.engine_worst or
                self.total > self.engine_total) and engine == "libipt":
            raise Fail(f"times of packets are farther off: {text}")
        return text


def time_rule(case: Case, late_mtc: bool) -> str:
    """Return how exact times must be, as an option of the flow tool."""
    params = case.section("params")
    period = 0
    if int(params.get("mtc_freq", -1)) >= 0:
        period = ((1 << int(params["mtc_freq"])) *
                  int(params["cpuid_0x15_ebx"]) //
                  int(params["cpuid_0x15_eax"]))
    if int(params.get("cyc_thresh", -1)) >= 0:
        return f"ticks:{max(CYC_TICKS, period if late_mtc else 0)}"
    if period:
        return f"anchors:{period}"
    return "anchors:0" if params.get("tsc") else "none"


def write_maps(case: Case, stream: int) -> Path | None:
    """Write what was mapped, as the flow tool reads it.

    None: the case has no records, or not all the files that they name.
    """
    if not case.has("maps.jsonl"):
        return None
    out = []
    for line in case.lines("maps.jsonl"):
        try:
            record = json.loads(line)
            address, length = (int(record[name], 16)
                               for name in ("addr", "len"))
            # A stream that had not begun sees it from its start on.
            position = int((record["pos"] + [0] * stream)[stream])
            if record["t"] == "unmap":
                out.append(f"unmap {address:x} {length:x} {position:x}")
                continue
            name, offset = str(record["path"]), int(record["off"], 16)
        except (ValueError, KeyError, IndexError, TypeError):
            raise Malformed(f"maps.jsonl: cannot read {line!r}") from None
        if not case.has(name):
            return None
        out.append(f"map {address:x} {length:x} {offset:x} {position:x} "
                   f"{case.path(name).resolve()}")
    path = case.temporary / f"{stream}.maps"
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    return path


def drop_images(options: list[str]) -> list[str]:
    """Return options without the code that they name."""
    out, rest = [], iter(options)
    for option in rest:
        if option == "--image":
            next(rest)
        else:
            out.append(option)
    return out


def check_stream(case: Case, tools: Tools, stream: str,
                 options: list[str], packets: PacketTimes
                 ) -> tuple[int, int, int, int]:
    """Check one stream; records, instructions, times, greatest error."""
    done = tools.decode(case, f"{stream}.pt", options)
    summary = _SUMMARY.search(done.stdout)
    if done.returncode != 0 or summary is None:
        said = [line for line in done.stdout.splitlines()
                if not line.startswith("stats:")]
        raise Fail(f"stream {stream}: " + "; ".join(said[:2] + said[-1:]))
    checked, of, number, timed, error = map(int, summary.groups())
    said_of_packets = _PACKETS.search(done.stdout)
    if said_of_packets is not None:
        packets.add(said_of_packets)
    counts = case.section("counts")[stream]
    if checked != of or number != int(counts["insns"]):
        raise Fail(f"stream {stream}: {summary.group(0)}")
    return checked, number, timed, error


def run(case: Case, tools: Tools, late_mtc: bool = False) -> str:
    """Check every truth record of every stream."""
    counts = case.section("counts")
    tools.within(sum(int(item["insns"]) for item in counts.values()))
    streams = sorted(name[:-3] for name in case.section("files")
                     if name.endswith(".pt"))
    if not streams:
        raise Malformed("no stream")
    # Times are compared in ticks: one tick is one nanosecond.
    options = pt_options(case) + ["--clock", "1:1",
                                  "--time", time_rule(case, late_mtc)]
    packets = PacketTimes()
    records = insns = times = worst = addresses = mapped = 0
    for stream in streams:
        check = ["--truth", str(case.path(f"expected/{stream}.truth.txt"))]
        if case.has(f"expected/{stream}.ips"):
            check += ["--sequence", str(case.path(f"expected/{stream}.ips"))]
            addresses += int(counts[stream]["insns"])
        checked, number, timed, error = check_stream(
            case, tools, stream, options + check, packets)
        # The same through the address spaces that records make.
        maps = write_maps(case, int(stream))
        if maps is not None:
            mapped += number
            try:
                check_stream(case, tools, stream, drop_images(options) +
                             ["--maps", str(maps)] + check, PacketTimes())
            except Fail as fail:
                raise Fail(f"with maps: {fail}") from None
        records += checked
        insns += number
        times += timed
        worst = max(worst, error)
    text = f"{records} truth records, {insns} instructions"
    if addresses:
        text += ", all addresses"
    if mapped:
        text += ", also through records"
    if times:
        text += f", {times} times, at most {worst} ticks off"
    if packets.number:
        text += ", " + packets.text(tools.engine_in_use)
    return text
