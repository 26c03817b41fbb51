"""Small Intel PT programs that are traps for decoders."""

from __future__ import annotations

from .case import Case, Fail, Skip
from .flow import (compare_runs, compare_segments, parse_insns,
                   require_no_loss)
from .tools import LIMIT, Tools, pt_options

# What libipt, 2.0.5 and newer, gets wrong whatever is around it.
LIBIPT_WRONG = {
    "retpoline": "a return that takes a TIP leaves the return stack alone",
    "defret": "a TNT bit is taken for a return with an empty return stack",
    "pebs": "PEBS packets are unknown opcodes",
}

# Seconds for a trace of some bytes.
TIMEOUT = 60


def compare_expect(case: Case, tools: Tools, trace: str) -> str:
    """Check the limits that `expect` in case.json sets."""
    expect = case.section("expect")
    gaps = case.temporary / "gaps"
    numbers = case.temporary / "hash"
    most = int(expect.get("max_instructions", 1 << 20))
    done = tools.decode(
        case, trace, pt_options(case) +
        ["--gaps", str(gaps), "--hash", str(numbers), "--limit", str(most)],
        TIMEOUT)
    insns = int(numbers.read_text().split()[-3])
    if done.returncode == LIMIT or insns > most:
        raise Fail(f"{insns} instructions or more, at most {most} expected")
    reasons = [line.split()[0] for line in gaps.read_text().splitlines()]
    if len(reasons) < int(expect.get("gaps_at_least", 0)):
        raise Fail(f"{len(reasons)} gaps, at least "
                   f"{expect['gaps_at_least']} expected")
    reason = expect.get("gap_reason")
    if reason is not None and reason not in reasons:
        raise Fail(f"no gap of reason {reason}, but {reasons}")
    return f"ends after {insns} instructions, gaps: {' '.join(reasons)}"


def run(case: Case, tools: Tools) -> str:
    """Decode and compare one probe."""
    if tools.engine_in_use == "libipt" and case.short in LIBIPT_WRONG:
        raise Skip(f"libipt: {LIBIPT_WRONG[case.short]}")
    trace = next((name for name in case.section("files")
                  if name.endswith(".pt")), None)
    if trace is None:
        raise Fail("no .pt file")
    said = []
    if case.section("expect"):
        said.append(compare_expect(case, tools, trace))
    if case.has("expected/flow.txt"):
        runs = case.temporary / "runs"
        insns = case.temporary / "insns"
        gaps = case.temporary / "gaps"
        done = tools.decode(
            case, trace, pt_options(case) +
            ["--runs", str(runs), "--insns", str(insns),
             "--gaps", str(gaps), "--limit", str(1 << 20)], TIMEOUT)
        if done.returncode == LIMIT:
            raise Fail("the decode does not end")
        expected = case.lines("expected/flow.txt")
        if any(line.startswith("x") for line in expected):
            extra = compare_segments(expected, parse_insns(insns.read_text()))
            said.append(f"flow with {extra} extra instructions")
        else:
            count = compare_runs(expected, runs.read_text().splitlines())
            require_no_loss(gaps.read_text().splitlines())
            said.append(f"{count} runs")
    if not said:
        raise Skip("nothing to compare with")
    return ", ".join(said)
