"""Exports in Chrome's format: the JSON, and what viewers make of it."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calls_model
import consumers
import drawn
import firefox_cli
from runner import Case


def load(path: Path) -> dict[str, Any]:
    """Strict JSON; numbers as they are written."""

    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    trace = json.loads(
        path.read_bytes().decode(), parse_float=Decimal, parse_constant=refuse
    )
    assert trace["displayTimeUnit"] == "ns"
    return dict(trace)


def ns(event: dict[str, Any]) -> int:
    """The time of an event, exactly, and as a double is what it is, too."""
    exact = Decimal(event["ts"]) * 1000
    assert exact == int(exact)
    assert round(float(event["ts"]) * 1000) == exact, event
    return int(exact)


def tracks(trace: dict[str, Any]) -> dict[tuple[int, int], list[Any]]:
    """B and E by track, as viewers order them: by time, else as they come."""
    named = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in trace["traceEvents"]
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    found: dict[tuple[int, int], list[Any]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] in "BE":
            key = (event["pid"], event["tid"])
            assert key in named, "not named before"
            found.setdefault(key, []).append(event)
    for events in found.values():
        events.sort(key=ns)
    return found


def forests(trace: dict[str, Any], late_before: int) -> list[Any]:
    found = []
    for events in tracks(trace).values():
        if any(e.get("cat") == "gap" for e in events):
            continue
        found += calls_model.nested(
            [(e["ph"], ns(e), e.get("name", "")) for e in events], late_before
        )
    return found


def test_every_input_is_drawn_as_its_calls_are(case: Case) -> None:
    for given in drawn.all_with_time(case):
        print(f"      {given.name}")
        want = calls_model.read(case, *given.args)
        run = case.run("export", "-o", "a.chrome.json", *given.args)
        assert run.code == 0, run.err
        moved = drawn.moved(run.err, want)
        trace = load(case.folder / "a.chrome.json")
        got = calls_model.forest(
            forests(trace, want.first + moved), moved
        )
        wanted = [node for trees in want.forests.values() for node in trees]
        assert got == calls_model.forest(wanted)
        gaps = [
            ns(e) - moved
            for events in tracks(trace).values()
            if any(e.get("cat") == "gap" for e in events)
            for e in events
        ]
        assert sorted(gaps) == sorted(
            time
            for found in want.gaps.values()
            for pair in found
            for time in pair
        )


def test_late_times_stay_exact(case: Case) -> None:
    # 1.7e18 ns, as clocks of the day tell them.
    case.write("a", drawn.GAP.replace(" 1.0", " 1700000001.0"))
    case.run("export", "-o", "a.chrome.json", "a")
    trace = load(case.folder / "a.chrome.json")
    (calls,) = [
        events
        for events in tracks(trace).values()
        if not any(e.get("cat") == "gap" for e in events)
    ]
    first = ns(calls[0])
    assert first < 1 << 30
    assert [ns(e) - first for e in calls] == [0, 0, 10, 20, 40, 160, 160, 160]


def test_notes_are_arguments(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "--details", "--title=T", "-o", "a.chrome.json", "a")
    trace = load(case.folder / "a.chrome.json")
    assert trace["otherData"]["title"] == "T"
    events = trace["traceEvents"]
    (f,) = [e for e in events if e["ph"] == "B" and e["name"] == "f"]
    assert f["args"] == {"address": "0x2000", "call site": "0x1000"}
    (gap,) = [e for e in events if e.get("cat") == "gap"]
    assert gap["name"] == "not traced: unknown"
    ends = [e for e in events if e.get("args", {}).get("not traced ns")]
    assert [e["args"]["not traced ns"] for e in ends] == [100]


def test_short_calls_become_one(case: Case) -> None:
    case.write("a", drawn.short_calls())
    case.run("export", "-o", "a.chrome.json", "--resolution=20", "a")
    (events,) = tracks(load(case.folder / "a.chrome.json")).values()
    assert [
        (e["ph"], e["name"] if e["ph"] == "B" else "", ns(e)) for e in events
    ] == drawn.SHORT_WANT


def test_each_file_of_several_opens_alone(case: Case) -> None:
    case.write("a", drawn.many_calls(3000))
    want = calls_model.read(case, "a")
    case.run(
        "export", "-o", "a.json", "--to=chrome", "--split-size=50K", "a"
    ).want(0)
    files = sorted(case.folder.glob("a.json*"))
    assert len(files) > 3
    begun = 0
    for file in files:
        assert file.stat().st_size < 60000
        trace = load(file)
        assert forests(trace, 0)
        begun += sum(
            1
            for e in trace["traceEvents"]
            if e["ph"] == "B"
            and e.get("args", {}).get("began") != "in the file before"
        )
    assert begun == want.calls


def test_curves_are_counters(case: Case) -> None:
    given = drawn.captured(case)
    case.run("export", "--counters", "-o", "a.chrome.json", *given.args)
    trace = load(case.folder / "a.chrome.json")
    points = [e for e in trace["traceEvents"] if e["ph"] == "C"]
    assert len(points) > 10
    assert all(e["args"]["instructions"] > 0 for e in points)


def test_the_firefox_profiler_reads_it(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "-o", "a.chrome.json", "a")
    with firefox_cli.Session(case, "a.chrome.json") as session:
        text = session.ask("thread", "list")
    # Threads are told by their names; events became markers.
    assert "thread 8" in text, text


consumers.main_of(globals())
