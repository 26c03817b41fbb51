"""The repository's own small Intel PT cases: flow, gaps and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import rows
from .case import Case, Fail, Malformed, Skip
from .flow import compare_runs, compare_segments, parse_insns
from .pt_probes import TIMEOUT, compare_expect
from .tools import LIMIT, Tools, pt_options

# Rows that may be missing from an expectation.
OPTIONAL = ("time", "record")

# Rows that a decoder may place anywhere between the flow packets around them.
LOOSE_POWER = ("entry", "exit")


def _loose(row: rows.Row) -> bool:
    return (row.kind == "time" or
            row.kind == "marker" and row.fields.get("source") == "mnt" or
            row.kind == "power" and row.fields.get("what") in LOOSE_POWER)


def compare_gaps(expected: Sequence[str], ours: Sequence[str]) -> int:
    """Reasons and order are strict; ranges must overlap or touch."""
    want = [line.split() for line in expected]
    have = [line.split() for line in ours]
    for (reason, first, end), (our_reason, our_first, our_end) in zip(
            want, have, strict=False):
        if reason != our_reason:
            raise Fail(f"gaps: {our_reason} [{our_first}, {our_end}), "
                       f"expected {reason} [{first}, {end})")
        if (int(our_first, 16) > int(end, 16) or
                int(our_end, 16) < int(first, 16)):
            raise Fail(f"gaps: {reason} covers [{our_first}, {our_end}), "
                       f"expected [{first}, {end})")
    if len(want) != len(have):
        spare = have[len(want):] or want[len(have):]
        raise Fail(f"gaps: {len(have)}, expected {len(want)}: "
                   + "; ".join(" ".join(gap) for gap in spare))
    return len(want)


def _agrees(want: rows.Row, have: rows.Row, strict: bool) -> bool:
    """Say whether our row tells all that the expected one does."""
    if strict and not _loose(want) and want.before != have.before:
        return False
    if not strict and have.before < want.before:
        return False
    return (want.kind == have.kind and
            all(have.fields.get(key) == value
                for key, value in want.fields.items()))


def _compare_happen(want: list[rows.Row], have: list[rows.Row],
                    first_error: int | None) -> None:
    left = list(have)
    for row in want:
        strict = first_error is None or row.before < first_error
        match = next((i for i, ours in enumerate(left)
                      if _agrees(row, ours, strict)), None)
        if match is None:
            near = [str(ours) for ours in left if ours.kind == row.kind]
            raise Fail(f"rows: no row is '{row}'; "
                       f"{row.kind} rows are {near[:3]}")
        del left[match]
    spare = [row for row in left if row.kind not in OPTIONAL and
             (first_error is None or row.before < first_error)]
    if spare:
        raise Fail(f"rows: '{spare[0]}' is not expected")


def _compare_order(want: list[rows.Row], have: list[rows.Row]) -> None:
    """Rows that happen at different instructions keep their order."""
    for ours in (have, want):
        counts = [row.before for row in ours if not _loose(row)]
        if counts != sorted(counts):
            raise Fail("rows: not in order")


def compare_facts(want: dict[str, list[rows.Fact]],
                  have: dict[str, list[rows.Fact]],
                  first_error: int | None) -> None:
    for name, facts in want.items():
        ours = list(have.get(name, []))
        for fact in facts:
            strict = name != "ratio" and (first_error is None or
                                          fact.before < first_error)
            at = next((i for i, other in enumerate(ours)
                       if fact.value == other.value and
                       (not strict or fact.before == other.before)), None)
            if at is None:
                raise Fail(f"rows: '{fact}' is not told; ours are "
                           f"{[str(other) for other in ours][:4]}")
            ours = ours[at + 1:] if first_error is not None else \
                ours[:at] + ours[at + 1:]
        if first_error is None and ours:
            raise Fail(f"rows: '{ours[0]}' is not expected")


def compare_rows(expected: Sequence[str], ours: Sequence[str],
                 first_error: int | None) -> int:
    """Compare rows.txt; behind the first error counts may be higher."""
    want, want_facts = rows.split(rows.parse(expected))
    have, have_facts = rows.split(rows.parse(ours))
    # A sync restates: what it says of being on or off does not happen there.
    have = [row for row in have if not row.status and
            row.fields.get("source") != "event"]
    _compare_order(want, have)
    _compare_happen(want, have, first_error)
    compare_facts(want_facts, have_facts, first_error)
    kinds = Counter(row.kind for row in want)
    return sum(kinds.values()) + sum(map(len, want_facts.values()))


def find_first_error(flow: Sequence[str]) -> int | None:
    """Return the instructions before the first x of flow.txt."""
    before = 0
    for line in flow:
        words = line.split()
        if words[0] == "x":
            return before
        if words[0] == "b":
            before += int(words[2])
    return None


def run(case: Case, tools: Tools) -> str:
    """Decode and compare one fixture."""
    params = case.section("params")
    note = str(params.get("libipt", ""))
    if tools.engine_in_use == "libipt" and note.startswith("skip:"):
        raise Skip(f"libipt: {note[5:].strip()}")
    if not case.has("trace.pt") or not case.has("expected/flow.txt"):
        raise Malformed("no trace.pt or no expected/flow.txt")
    said = []
    if case.section("expect"):
        said.append(compare_expect(case, tools, "trace.pt"))
    out = {name: case.temporary / name
           for name in ("runs", "insns", "gaps", "events")}
    options = pt_options(case)
    for name, path in out.items():
        options += [f"--{name}", str(path)]
    done = tools.decode(case, "trace.pt", options + ["--limit", str(1 << 20)],
                        TIMEOUT)
    if done.returncode == LIMIT:
        raise Fail("the decode does not end")
    ours = {name: path.read_text() for name, path in out.items()}
    flow = case.lines("expected/flow.txt")
    first_error = find_first_error(flow)
    if first_error is None:
        count = compare_runs(flow, ours["runs"].splitlines())
        said.append(f"{count} runs")
    else:
        extra = compare_segments(flow, parse_insns(ours["insns"]))
        said.append(f"flow with {extra} extra instructions")
    if case.has("expected/gaps.txt"):
        count = compare_gaps(case.lines("expected/gaps.txt"),
                             ours["gaps"].splitlines())
        said.append(f"{count} gaps")
    if case.has("expected/rows.txt"):
        count = compare_rows(case.lines("expected/rows.txt"),
                             ours["events"].splitlines(), first_error)
        said.append(f"{count} rows")
    return ", ".join(said)
