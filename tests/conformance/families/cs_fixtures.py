"""The repository's own small CoreSight cases: flow, gaps, rows and times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import rows
from .case import Case, Fail, Malformed, Skip
from .flow import Insn, compare_runs, compare_segments, parse_insns
from .pt_fixtures import compare_facts, compare_gaps, find_first_error
from .pt_probes import TIMEOUT
from .tools import LIMIT, Tools, image_options

ENGINE = "opencsd"
_PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete", "ETMV3": "etmv3", "PTM": "ptm",
              "STM": "stm", "ITM": "itm"}
_ARCHS = {"ARCH_V7": "v7", "ARCH_V8": "v8", "ARCH_AA64": "v8.3"}
_REGISTERS = re.compile(r"TRCIDR\d+|TRCCONFIGR|TRCDEVARCH|STMTCSR")

# Keys that tell how to compare a row: the time of a time stamp with a marker
# before it is not that of the instruction before.
_OURS = ("marker",)

# Instructions that a decode may show.
LIMIT_INSNS = 1 << 20


def _number(text: object) -> int:
    return int(str(text), 0)


def source_options(sink: Mapping[str, Any]) -> list[str]:
    """Return the options for framing and sources of a case."""
    said = [f"framing={sink['framing']}"]
    for source in sink["sources"]:
        registers = source["regs"]
        said += [f"protocol={_PROTOCOLS[str(source['protocol'])]}",
                 f"arch={_ARCHS[str(source['arch_ver'])]}",
                 f"profile={str(source['core_profile']).lower()}"]
        said += [f"{name}={value}" for name, value in registers.items()
                 if _REGISTERS.fullmatch(name)]
        said.append(f"TRCTRACEIDR={registers['TRCTRACEIDR']}")
    return [word for text in said for word in ("--coresight", text)]


def _match(want: rows.Row, have: rows.Row, strict: bool) -> bool:
    if have.before != want.before and (strict or have.before < want.before):
        return False
    return (want.kind == have.kind and
            all(have.fields.get(key) == value
                for key, value in want.fields.items() if key not in _OURS))


def _compare_happen(want: list[rows.Row], have: list[rows.Row],
                    first_error: int | None) -> None:
    """Rows of a kind keep their order, and there are no others."""
    for kind in dict.fromkeys(row.kind for row in [*want, *have]):
        ours = [row for row in have if row.kind == kind]
        for row in want:
            if row.kind != kind:
                continue
            strict = first_error is None or row.before < first_error
            while ours and not strict and not _match(row, ours[0], strict):
                del ours[0]
            if not ours or not _match(row, ours[0], strict):
                said = ours[0] if ours else "none"
                raise Fail(f"rows: '{row}' is expected, ours is '{said}'")
            del ours[0]
        spare = [row for row in ours
                 if first_error is None or row.before < first_error]
        if spare:
            raise Fail(f"rows: '{spare[0]}' is not expected")


def _compare_times(want: list[rows.Row], insns: Sequence[Insn]) -> int:
    """A time stamp is the time of the instruction before it."""
    times = 0
    for row in want:
        if row.kind != "time" or row.before == 0 or "marker" in row.fields:
            continue
        stamp, time = int(row.fields["tsc"], 16), insns[row.before - 1].time
        if time != stamp:
            raise Fail(f"times: instruction {row.before} has the time "
                       f"{time}, expected {stamp}")
        times += 1
    return times


def compare_rows(expected: Sequence[str], ours: Sequence[str],
                 insns: Sequence[Insn], first_error: int | None) -> str:
    """Compare rows.txt; return what was compared."""
    want, want_facts = rows.split(rows.parse(expected))
    have, have_facts = rows.split(rows.parse(ours))
    have = [row for row in have if not row.status]
    _compare_happen(want, have, first_error)
    compare_facts(want_facts, have_facts, first_error)
    text = f"{len(want) + sum(map(len, want_facts.values()))} rows"
    if first_error is None:
        times = _compare_times(want, insns)
        text += f", {times} times" if times else ""
    return text


def _run_source(case: Case, tools: Tools, trace: str, options: Sequence[str],
                prefix: str) -> str:
    """Decode and compare one source."""
    out = {name: case.temporary / (prefix + name)
           for name in ("runs", "insns", "gaps", "events")}
    wanted = [word for name, path in out.items()
              for word in (f"--{name}", str(path))]
    done = tools.decode(case, trace, [
        *options, "--clock", "1:1", *wanted, "--limit", str(LIMIT_INSNS)],
        TIMEOUT)
    if done.returncode == LIMIT:
        raise Fail("the decode does not end")
    ours = {name: path.read_text() for name, path in out.items()}
    flow = case.lines(f"expected/{prefix}flow.txt")
    insns = parse_insns(ours["insns"])
    first_error = find_first_error(flow)
    if first_error is None:
        said = f"{compare_runs(flow, ours['runs'].splitlines())} runs"
    else:
        said = (f"flow with {compare_segments(flow, insns)} extra "
                "instructions")
    gaps = compare_gaps(case.lines(f"expected/{prefix}gaps.txt"),
                        ours["gaps"].splitlines())
    said += f", {gaps} gaps, " + compare_rows(
        case.lines(f"expected/{prefix}rows.txt"), ours["events"].splitlines(),
        insns, first_error)
    return said


def run(case: Case, tools: Tools) -> str:
    """Decode and compare one fixture, every source of it."""
    params = case.section("params")
    note = str(params.get("opencsd", ""))
    if (tools.engine or ENGINE) == ENGINE and note.startswith("skip:"):
        raise Skip(f"opencsd: {note[5:].strip()}")
    sink = params["coresight"]
    frames = sink["framing"] != "none"
    trace = "sink.bin" if frames else "trace.etm"
    if not case.has(trace):
        raise Malformed(f"no {trace}")
    options = source_options(sink) + image_options(case)
    if not frames:
        return _run_source(case, tools, trace, options, "")
    said = []
    for number, source in enumerate(sink["sources"], 1):
        name = f"{_number(source['regs']['TRCTRACEIDR']):x}"
        try:
            said.append(f"{name}: " + _run_source(
                case, tools, trace, [*options, "--stream", str(number)],
                name + "."))
        except Fail as fail:
            raise Fail(f"source {name}: {fail}") from None
    return "; ".join(said)
