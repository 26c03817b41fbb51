"""Trace bundles of LLDB, decoded through the bundle."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path

from .case import Case, Fail, Malformed
from .flow import (Insn, compare_hash, compare_runs, compare_segments,
                   parse_insns, require_no_loss)
from .packets import check_packets
from .tools import Tools, decode_file

# Header, other thread, own thread, time: PERF_RECORD_SWITCH_CPU_WIDE.
_SWITCH = struct.Struct("<IHHIIIIQ")
_SWITCH_OUT = 0x2000


def _last_process(trace: bytes) -> int:
    """Return the process that is the last to leave the CPU for idling."""
    pid = 0
    for _, misc, _, _, _, own, _, _ in _SWITCH.iter_unpack(trace):
        if misc & _SWITCH_OUT and own:
            pid = own
    return pid


def _make_bundle(case: Case) -> Path:
    """Write the text of a bundle for the files of one CPU."""
    params = case.section("params")
    traces = [name for name in case.section("files")
              if name.endswith(".intelpt_trace")]
    if len(traces) != 1:
        raise Malformed(f"{len(traces)} traces")
    cpu = int(Path(traces[0]).name.partition(".")[0])
    switches = case.path(f"cores/{cpu}.perf_context_switch_trace")
    if switches.stat().st_size % _SWITCH.size:
        raise Malformed(f"{switches.name} has records of another size")
    image, _, _, address = case.lines("image.txt")[0].split()
    bundle = {
        "type": "intel-pt",
        "cpuInfo": {"vendor": "GenuineIntel", **params["cpu"]},
        "tscPerfZeroConversion": params["tsc_conversion"],
        "cpus": [{"id": cpu, "iptTrace": str(case.path(traces[0]).resolve()),
                  "contextSwitchTrace": str(switches.resolve())}],
        "processes": [{
            "pid": _last_process(switches.read_bytes()),
            "threads": [],
            "modules": [{
                "systemPath": image, "loadAddress": int(address, 16),
                "file": str(case.path(f"modules/{image}").resolve()),
            }],
        }],
    }
    path = case.temporary / "trace.json"
    path.write_text(json.dumps(bundle), encoding="utf-8")
    return path


def _find_bundle(case: Case) -> Path:
    """Return the text of the bundle that the case was decoded from."""
    for name in ("trace.json", "multi-file-no-ld.json"):
        if case.has(name):
            return case.path(name)
    return _make_bundle(case)


def _compare_insns(expected: Sequence[str], ours: Sequence[Insn]) -> int:
    """Compare addresses and sizes with insns.txt."""
    want = [line.split() for line in expected if line.startswith("i ")]
    for number, (line, insn) in enumerate(zip(want, ours, strict=False), 1):
        if (int(line[1], 16), int(line[2])) != (insn.address, insn.size):
            raise Fail(f"insns: number {number} is {insn.address:x} "
                       f"{insn.size}, expected {line[1]} {line[2]}")
    if len(want) != len(ours):
        raise Fail(f"insns: {len(ours)}, expected {len(want)}")
    return len(want)


def _check_refusals(case: Case, tools: Tools) -> int:
    """Open the bundles that LLDB refuses; return how many there are."""
    if not case.has("expected/lldb.json"):
        return 0
    refused = {}
    for test in json.loads(case.path("expected/lldb.json").read_text()):
        bundle = test["bundle"].rpartition("/")[2]
        said = " ".join(test["substrings"])
        place = re.search(r"at traceBundle\.(\S+)", said)
        if test["error"] and place:
            refused[bundle] = place.group(1)
        elif test["error"] and "unknown cpu" in said:
            refused[bundle] = "cpuInfo"
    for bundle, place in refused.items():
        try:
            decode_file(tools, case.path(bundle), ["--open"])
        except Fail as fail:
            if place not in str(fail):
                raise Fail(f"{bundle}: '{fail}' does not name {place}") \
                    from None
        else:
            raise Fail(f"{bundle}: opened, but {place} is wrong")
    return len(refused)


def run(case: Case, tools: Tools) -> str:
    """Decode the bundle and compare what executed."""
    counts = case.section("counts")
    prefix = ""
    if "insns" not in counts:
        prefix, counts = next(iter(counts.items()))
        prefix += "."
    tools.within(int(counts["insns"]))
    case.verify()
    out = {name: case.temporary / name
           for name in ("runs", "insns", "hash", "gaps")}
    options = ["--open"]
    for name, path in out.items():
        options += [f"--{name}", str(path)]
    decode_file(tools, _find_bundle(case), options)
    flow = case.lines(f"expected/{prefix}flow.txt")
    insns = parse_insns(out["insns"].read_text())
    said = []
    if int(counts["errors"]):
        extra = compare_segments(flow, insns)
        said.append(f"flow with {extra} extra instructions")
    else:
        extra = 0
        runs = compare_runs(flow, out["runs"].read_text().splitlines())
        # What was in the ring before its first PSB is no packet.
        psb = case.lines(f"expected/{prefix}packets.txt")[0].split()[0]
        require_no_loss([line for line
                         in out["gaps"].read_text().splitlines()
                         if line != f"unsynced 0 {psb}"])
        said.append(f"{runs} runs")
    if extra == 0:
        number = _compare_insns(case.lines(f"expected/{prefix}insns.txt"),
                                insns)
        said.append(f"{number} addresses")
        compare_hash(case.lines(f"expected/{prefix}hash.txt"),
                     out["hash"].read_text().splitlines())
        said.append("hash")
    trace = next(name for name in case.section("files")
                 if name.endswith("trace") and "switch" not in name)
    said.append(check_packets(case, tools, trace,
                              f"expected/{prefix}packets.txt",
                              case.section("params").get("cpu")))
    refusals = _check_refusals(case, tools)
    if refusals:
        said.append(f"{refusals} refusals")
    return ", ".join(said)
