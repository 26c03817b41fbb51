"""ETMv4 of real programs with exact truth, one source for each thread."""

from __future__ import annotations

import re

from .case import Case, Fail, Malformed, Skip
from .pt_gen import drop_images, write_maps
from .tools import Tools, image_options

_SUMMARY = re.compile(r"truth: (\d+) of (\d+) records, (\d+) instructions, "
                      r"\d+ extra, (\d+) times, max time error \d+ ticks, "
                      r"(\d+) complaints")

_PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete"}
_ARCHS = {"ARCH_V7": "v7", "ARCH_V8": "v8", "ARCH_AA64": "v8.3"}
# TRCCONFIGR.TS
TIMESTAMPS = 1 << 11


def coresight_options(case: Case) -> list[str]:
    """Return the options for the sources of a case."""
    etm = case.section("etm")
    registers = dict(etm["regs"])
    ids = registers.pop("TRCTRACEIDR")
    frames = etm["source"] != "single"
    said = ["framing=memory"] if frames else []
    said += [f"protocol={_PROTOCOLS[str(etm['protocol'])]}",
             f"arch={_ARCHS[str(etm['arch_ver'])]}",
             f"profile={str(etm['core_profile']).lower()}"]
    said += [f"{name}={value}" for name, value in registers.items()
             if re.fullmatch(r"TRCIDR\d+|TRCCONFIGR|TRCDEVARCH", name)]
    said += [f"TRCTRACEIDR={value}"
             for value in (ids if isinstance(ids, list) else [ids])]
    return [word for text in said for word in ("--coresight", text)]


def check_stream(case: Case, tools: Tools, trace: str, stream: str,
                 options: list[str]) -> tuple[int, int, int]:
    """Check one source; records, instructions, times."""
    done = tools.decode(case, trace, [
        *options, "--truth", str(case.path(f"expected/{stream}.truth.txt"))])
    summary = _SUMMARY.search(done.stdout)
    if done.returncode != 0 or summary is None:
        said = [line for line in done.stdout.splitlines()
                if not line.startswith("stats:")]
        raise Fail(f"stream {stream}: " + "; ".join(said[:2] + said[-1:]))
    checked, of, number, timed, complaints = map(int, summary.groups())
    if checked != of or complaints or \
            number != int(case.section("counts")[stream]["insns"]):
        raise Fail(f"stream {stream}: {summary.group(0)}")
    return checked, number, timed


def run(case: Case, tools: Tools) -> str:
    """Check every truth record of every source, raw or from its sink."""
    if tools.engine not in (None, "opencsd"):
        raise Skip(f"the engine {tools.engine} is not for CoreSight")
    counts = case.section("counts")
    tools.within(sum(int(item["insns"]) for item in counts.values()))
    frames = case.section("etm")["source"] != "single"
    trace = "etr.bin" if frames else "0.etm"
    if not case.has(trace):
        raise Malformed(f"no {trace}")
    stamps = int(str(case.section("etm")["regs"]["TRCCONFIGR"]), 0) & \
        TIMESTAMPS
    # Times are compared in ticks: one tick is one nanosecond.
    options = coresight_options(case) + image_options(case) + [
        "--clock", "1:1", "--time", "stamps" if stamps else "none"]
    records = insns = times = mapped = 0
    for stream in sorted(counts):
        at = ["--stream", str(int(stream) + 1)] if frames else []
        checked, number, timed = check_stream(case, tools, trace, stream,
                                              options + at)
        maps = write_maps(case, int(stream))
        if maps is not None:
            try:
                check_stream(case, tools, trace, stream,
                             drop_images(options) + at + ["--maps", str(maps)])
            except Fail as fail:
                raise Fail(f"with maps: {fail}") from None
            mapped += number
        records += checked
        insns += number
        times += timed
    text = f"{records} truth records, {insns} instructions"
    if frames:
        text += f", {len(counts)} sources in frames"
    if mapped:
        text += ", also through records"
    if times:
        text += f", {times} times exact"
    return text
