"""Intel PT of real programs with exact truth, one stream for each thread."""

from __future__ import annotations

import re

from .case import Case, Fail, Malformed
from .tools import Tools, pt_options

# Ticks that a time may be off where cycles are traced.
CYC_TICKS = 512

_SUMMARY = re.compile(r"truth: (\d+) of (\d+) records, (\d+) instructions, "
                      r"\d+ extra, (\d+) times, max time error (\d+) ticks")


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
    records = insns = times = worst = addresses = 0
    for stream in streams:
        check = ["--truth", str(case.path(f"expected/{stream}.truth.txt"))]
        if case.has(f"expected/{stream}.ips"):
            check += ["--sequence", str(case.path(f"expected/{stream}.ips"))]
            addresses += int(counts[stream]["insns"])
        done = tools.decode(case, f"{stream}.pt", options + check)
        summary = _SUMMARY.search(done.stdout)
        if done.returncode != 0 or summary is None:
            said = [line for line in done.stdout.splitlines()
                    if not line.startswith("stats:")]
            raise Fail(f"stream {stream}: " + "; ".join(said[:2] + said[-1:]))
        checked, of, number, timed, error = map(int, summary.groups())
        if checked != of or number != int(counts[stream]["insns"]):
            raise Fail(f"stream {stream}: {summary.group(0)}")
        records += checked
        insns += number
        times += timed
        worst = max(worst, error)
    text = f"{records} truth records, {insns} instructions"
    if addresses:
        text += ", all addresses"
    if times:
        text += f", {times} times, at most {worst} ticks off"
    return text
