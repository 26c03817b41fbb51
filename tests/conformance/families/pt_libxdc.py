"""Intel PT captures of real processors with the decodes of two libraries."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from pathlib import Path

from . import rows
from .case import Case, Fail, Malformed, Skip
from .flow import (compare_hash, compare_runs, compare_segments, parse_insns,
                   require_no_loss)
from .packets import check_packets
from .tools import Tools, pt_options

# Outside or disabled, in libxdc_edges.txt.
OUTSIDE = (1 << 64) - 1

# Bytes of code in which an asynchronous event can still mislead libxdc.
NEAR = 0x100

# Streams are decoded in segments of about this many bytes; the first enable
# of a segment cannot know where tracing had ended.
SEGMENT = 1 << 20

Edges = dict[tuple[int, int], int]

_TSX = {"00": "commit", "10": "begin", "01": "abort", "11": "abort"}


def translate(lines: Sequence[str]) -> list[rows.Row]:
    """Turn the reference's events into rows of our form."""
    result = []
    for line in lines:
        words = line.split()
        fields = dict(word.split("=", 1) for word in words[3:] if "=" in word)
        flags = frozenset(word for word in words[3:] if "=" not in word)
        event = words[2]
        address = fields.get("ip", "-")
        new: dict[str, str] = {}
        if event == "enabled":
            kind, new = "enable", {"ip": address}
        elif event == "disabled":
            kind, new = "disable", {"target": address}
        elif event == "async_disabled":
            kind, new = "disable", {"reason": "async", "ip": fields["at"],
                                    "target": address}
        elif event == "async_branch":
            kind, new = "async", {"ip": fields["from"],
                                  "target": fields["to"]}
        elif event in ("paging", "async_paging"):
            kind, new = "context", {"cr3": fields["cr3"], "nr": fields["nr"]}
        elif event in ("vmcs", "async_vmcs"):
            kind, new = "context", {"vmcs": fields["base"]}
        elif event == "overflow":
            kind, new = "gap", {"reason": "overflow", "ip": address}
        elif event == "exec_mode":
            kind, new = "mode", {"mode": fields["mode"]}
        elif event == "tsx":
            kind, new = "mode", {"tsx": _TSX[fields["spec"] +
                                             fields["abort"]]}
        elif event == "cbr":
            kind, new = "frequency", {"ratio": fields["ratio"]}
        else:
            kind, new = event, fields
        result.append(rows.Row(int(words[0]), kind,
                               {k: v for k, v in new.items() if v != "-"},
                               flags))
    return result


def compare_events(expected: Sequence[str], ours: Sequence[str],
                   n_bytes: int) -> int:
    """Compare events other than status: place, kind and addresses."""
    want, want_facts = rows.split(translate(expected))
    have, have_facts = rows.split(rows.parse(ours))
    want = [row for row in want if not row.status]
    have = [row for row in have if not row.status and row.kind != "time"]
    forgotten = 0
    for a, b in zip(want, have, strict=False):
        same = (a.before == b.before and a.kind == b.kind and
                all(b.fields.get(k) == v for k, v in a.fields.items()))
        if not same:
            raise Fail(f"events: '{b}', expected '{a}'")
        forgotten += "resumed" in a.words and "resumed" not in b.words
    if len(want) != len(have):
        spare = have[len(want):] or want[len(have):]
        raise Fail(f"events: {len(have)}, expected {len(want)}; "
                   f"first without a partner is '{spare[0]}'")
    if forgotten > n_bytes // SEGMENT:
        raise Fail(f"events: {forgotten} enables do not say 'resumed'")
    count = len(want)
    for name, facts in want_facts.items():
        news = have_facts.get(name, [])
        for fact, our in zip(facts, news, strict=False):
            if fact.value != our.value or (
                    name != "ratio" and not fact.status and
                    fact.before != our.before):
                raise Fail(f"events: '{our}', expected '{fact}'")
        if len(facts) != len(news):
            raise Fail(f"events: {name} changes {len(news)} times, expected "
                       f"{len(facts)}")
        count += len(facts)
    return count


def _read_edges(lines: Sequence[str]) -> Edges:
    edges = {}
    for line in lines:
        try:
            start, end, count = line.split()
            edges[int(start, 16), int(end, 16)] = int(count)
        except ValueError:
            raise Malformed(f"edges: cannot read {line!r}") from None
    return edges


def _misbound(differ: Edges, reference: Edges, touched: set[int]) -> Edges:
    """Drop edges that an asynchronous event, disable or enable explains.

    libxdc takes such an event, and the address in a PSB, for the outcome of
    the branch that it waits at: one edge more to there, one less to where the
    branch went; and it walks on in memory from an instruction that did not
    execute.
    """
    left = dict(differ)
    explained: set[int] = set()
    while True:
        places = sorted(touched)

        def near(address: int, places: list[int] = places) -> bool:
            at = bisect.bisect_right(places, address) - 1
            return at >= 0 and address - places[at] < NEAR

        found = {
            edge for edge, ours in left.items()
            if edge[0] in touched or edge[1] in touched or
            edge[0] in explained or
            (reference.get(edge, 0) > ours and near(edge[0]))}
        if not found:
            return left
        for edge in found:
            explained.add(edge[0])
            if left.pop(edge) < reference.get(edge, 0):
                touched.add(edge[1])


def compare_edges(reference_lines: Sequence[str], our_lines: Sequence[str],
                  event_lines: Sequence[str]) -> int:
    """Compare edges with libxdc's; return how many are equal."""
    reference = _read_edges(reference_lines)
    ours = _read_edges([line[2:] for line in our_lines
                        if line.startswith("e ")])
    touched = {int(line[2:], 16) for line in our_lines
               if line.startswith("t ")}
    touched.add(OUTSIDE)
    for line in event_lines:
        touched.update(int(word, 16) for word in
                       re.findall(r"\b(?:ip|at)=([0-9a-f]+)", line))
    differ = {edge: ours.get(edge, 0) for edge in reference.keys() |
              ours.keys() if reference.get(edge, 0) != ours.get(edge, 0)}
    left = _misbound(differ, reference, touched)
    if left:
        (start, end), count = min(left.items())
        raise Fail(f"edges: {len(left)} differ, first {start:x} to {end:x}: "
                   f"{count} times, libxdc says "
                   f"{reference.get((start, end), 0)}")
    # One event moves one count from an edge to another.
    moved = sum(abs(count - reference.get(edge, 0))
                for edge, count in differ.items() if OUTSIDE not in edge)
    places = sum(line.startswith("t ") for line in our_lines)
    if moved > places + len(event_lines):
        raise Fail(f"edges: counts differ by {moved}, more than events can "
                   "explain")
    return len(ours) - len(differ.keys() & ours.keys())


def run(case: Case, tools: Tools) -> str:
    """Decode and compare one capture."""
    packets = ""
    if case.has("expected/packets.txt"):
        packets = check_packets(case, tools, "trace.pt",
                                "expected/packets.txt",
                                case.section("params").get("cpu"))
    if not case.has("expected/flow.txt"):
        if tools.cli is None or not packets:
            raise Skip("packets only")
        return packets
    counts = case.section("counts")
    tools.within(int(counts.get("insns", 0)))
    errors = int(counts.get("errors", 0))
    wanted = ["runs", "hash", "edges", "events", "gaps"]
    wanted += ["insns"] * bool(errors)
    out: dict[str, Path] = {name: case.temporary / name for name in wanted}
    options = pt_options(case)
    for name, path in out.items():
        options += [f"--{name}", str(path)]
    tools.decode(case, "trace.pt", options)
    ours = {name: path.read_text().splitlines() for name, path in out.items()}
    flow = case.lines("expected/flow.txt")
    said = [packets] if packets else []
    if errors:
        insns = parse_insns(out["insns"].read_text())
        extra = compare_segments(flow, insns)
        said.append(f"flow with {extra} extra instructions")
    else:
        said.append(f"{compare_runs(flow, ours['runs'])} runs")
        require_no_loss(ours["gaps"])
        if case.has("expected/hash.txt"):
            count = compare_hash(case.lines("expected/hash.txt"),
                                 ours["hash"])
            said.append(f"{count} hashes")
    events = case.lines("expected/events.txt") \
        if case.has("expected/events.txt") else []
    if events and not errors:
        count = compare_events(events, ours["events"],
                               case.path("trace.pt").stat().st_size)
        said.append(f"{count} events")
    if case.has("expected/libxdc_edges.txt") and not errors:
        count = compare_edges(case.lines("expected/libxdc_edges.txt"),
                              ours["edges"], events)
        said.append(f"{count} edges")
    return ", ".join(said)
