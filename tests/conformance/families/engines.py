"""Comparing the rows of two engines, whatever is expected of a case.

Compared are instructions and events with all that they say but times and
offsets, gaps by reason and place, and what holds (mode, page tables ...) as
long as nothing was lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import pt_lldb, pt_perfdata
from .case import Case, Fail, Skip
from .tools import DIFFERS, Tools, decode_file, pt_options

# Cases with more instructions take an option.
MAX_INSNS = 10_000_000

# Seconds for one decode with both engines.
TIMEOUT = 600

_SUMMARY = re.compile(r"compared: (\d+) instructions, (\d+) differ")

Decode = tuple[str, Path, list[str]]


def _insns_of(counts: Mapping[str, Any]) -> int:
    """Return the instructions that a case counts, over all its streams."""
    return int(counts.get("insns", 0)) + sum(
        _insns_of(value) for value in counts.values()
        if isinstance(value, dict))


def _cpus_of(case: Case) -> list[str]:
    """Return the processors that a case without code names; "" is none."""
    cpus = {str(cpu) for entry in case.data.get("runs", [])
            for cpu in entry.get("cpus") or []}
    return sorted(cpus) or [""]


def decodes(case: Case) -> Iterator[Decode]:
    """Yield a label, a trace and options for each decode of a case."""
    if case.family == "pt-lldb":
        yield "bundle", pt_lldb._find_bundle(case), ["--open"]
        return
    if case.family == "pt-perfdata":
        data = case.path("perf.data").read_bytes()
        for number, buffer in enumerate(pt_perfdata.aux_buffers(data)):
            path = case.temporary / f"aux{number}.pt"
            path.write_bytes(buffer)
            yield f"aux{number}", path, []
        return
    traces = sorted(name for name in case.section("files")
                    if name.endswith(".pt"))
    for trace in traces:
        if case.has("image.txt") or case.section("params").get("image"):
            yield trace, case.path(trace), pt_options(case)
            continue
        for cpu in _cpus_of(case):
            label = f"{trace} on {cpu}" if cpu else trace
            yield label, case.path(trace), ["--cpu", cpu] if cpu else []


def run(case: Case, tools: Tools, engines: Sequence[str]
        ) -> tuple[str, list[str]]:
    """Decode with both; return what was compared, and what differs."""
    tools.within(_insns_of(case.section("counts")))
    found, insns, number = [], 0, 0
    for label, path, options in decodes(case):
        done = decode_file(tools, path, [*options, "--compare",
                                         ",".join(engines)], TIMEOUT, label)
        lines = done.stdout.splitlines()
        summaries = [said for said in map(_SUMMARY.fullmatch, lines) if said]
        differ = [line for line in lines if not _SUMMARY.fullmatch(line)]
        if not summaries or (done.returncode == DIFFERS) != bool(differ) or \
                sum(int(said[2]) for said in summaries) != len(differ):
            raise Fail(f"{label}: cannot read what the flow tool says")
        insns += sum(int(said[1]) for said in summaries)
        found += [f"{label}: {line}" for line in differ]
        number += 1
    if not number:
        raise Skip("no trace")
    return f"{number} decodes, {insns} instructions", found
