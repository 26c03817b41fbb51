"""Exports to Perfetto, parsed by its own classes; what a viewer sees of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calls_model
import consumers
import drawn
import perfetto_state
from runner import Case


def packets(case: Case, file: str | Path) -> list[dict[str, Any]]:
    return consumers.python("perfetto_packets.py", file, cwd=case.folder)


def export(case: Case, *args: Any) -> perfetto_state.Tracks:
    case.run("export", "-o", "a.pftrace", *args).want(0, err_has=())
    return perfetto_state.read(packets(case, "a.pftrace"))


def seen(
    tracks: perfetto_state.Tracks, late_before: int
) -> dict[int, list[Any]]:
    """Forests by thread's track."""
    forests: dict[int, list[Any]] = {}
    for uuid, events in tracks.events.items():
        name = tracks.described[uuid].get("name", "")
        if name == "not traced":
            continue
        trees = calls_model.nested(
            [(e.what, e.time, e.name) for e in events], late_before
        )
        thread = perfetto_state.thread_of(tracks, uuid)
        forests.setdefault(thread, []).extend(trees)
    return forests


def compare(case: Case, given: drawn.Input) -> None:
    want = calls_model.read(case, *given.args)
    drawn.check(given, want)
    run = case.run("export", "-o", "a.pftrace", *given.args)
    assert run.code == 0, run.err
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    moved = drawn.moved(run.err, want)
    forests = seen(tracks, want.first + moved)
    got = sorted(
        (
            calls_model.forest(trees, moved)
            for trees in forests.values()
            if trees
        ),
        key=repr,
    )
    expected = sorted(
        (
            calls_model.forest(trees)
            for trees in want.forests.values()
            if trees
        ),
        key=repr,
    )
    assert got == expected, (got, expected)
    gaps = sorted(
        (e.what, e.time - moved)
        for uuid, events in tracks.events.items()
        if tracks.described[uuid].get("name") == "not traced"
        for e in events
    )
    wanted = [
        pair
        for found in want.gaps.values()
        for begin, end in found
        for pair in (("B", begin), ("E", end))
    ]
    assert gaps == sorted(wanted)


def test_every_input_is_drawn_as_its_calls_are(case: Case) -> None:
    for given in drawn.all_with_time(case):
        print(f"      {given.name}")
        compare(case, given)


def test_threads_and_processes_have_their_numbers(case: Case) -> None:
    case.write("a", drawn.TWO_THREADS)
    tracks = export(case, "a")
    threads = {
        track["thread"]["tid"]: track["thread"]["pid"]
        for track in tracks.described.values()
        if "thread" in track
    }
    assert threads == {8: 7, 9: 7} or threads == {"8": 7, "9": 7}, threads


def test_time_that_nobody_saw_is_told_at_the_end_of_calls(case: Case) -> None:
    case.write("a", drawn.GAP)
    run = case.run("export", "-o", "a.pftrace", "a")
    assert "1 gap of 0 bytes" in run.err, run.err
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    ends = [
        e
        for events in tracks.events.values()
        for e in events
        if e.what == "E" and "gaps" in e.notes
    ]
    # Of main, which the gap of 100 ns is in.
    assert [e.notes["not traced ns"] for e in ends] == ["100"]
    named = [
        e.name
        for uuid, events in tracks.events.items()
        if tracks.described[uuid]["name"] == "not traced"
        for e in events
    ]
    assert named == ["not traced: unknown", ""], named


def test_details_have_addresses(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "--details", "-o", "a.pftrace", "a")
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    first = [
        e
        for events in tracks.events.values()
        for e in events
        if e.name == "f"
    ]
    assert first[0].notes == {
        "address": str(0x2000),
        "call site": str(0x1000),
    }


def test_each_file_of_several_opens_alone(case: Case) -> None:
    case.write("a", drawn.many_calls(3000))
    want = calls_model.read(case, "a")
    case.run("export", "-o", "a.pftrace", "--split-size=20K", "a").want(0)
    files = sorted(case.folder.glob("a.pftrace*"))
    assert len(files) > 3, files
    whole = 0
    total = 0
    for i in range(len(files)):
        name = "a.pftrace" if i == 0 else f"a.pftrace.{i + 1}"
        assert (case.folder / name).stat().st_size < 40000
        tracks = perfetto_state.read(packets(case, name))
        forests = seen(tracks, 0)
        whole += sum(
            1
            for events in tracks.events.values()
            for e in events
            if e.what == "B" and e.notes.get("began") != "in the file before"
        )
        total += sum(len(trees) for trees in forests.values())
    assert whole == want.calls
    assert total >= len(files)


def test_names_are_sent_again_in_each_epoch(case: Case) -> None:
    case.write("a", drawn.many_calls(75000))
    case.run("export", "--details", "-o", "a.pftrace", "a").want(0)
    data = (case.folder / "a.pftrace").read_bytes()
    assert len(data) > 4 << 20
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    assert tracks.epochs >= 2
    assert sum(len(e) for e in tracks.events.values()) == 2 * 75002


def test_packed_files_are_read(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "-o", "a.pftrace", "a")
    case.run("export", "-o", "b.pftrace.gz", "a")
    assert (case.folder / "b.pftrace.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert packets(case, "a.pftrace") == packets(case, "b.pftrace.gz")


def test_short_calls_become_one(case: Case) -> None:
    # f takes 40 ns, in it g 10 ns; then main goes on.
    case.write("a", drawn.short_calls())
    run = case.run("export", "-o", "a.pftrace", "--resolution=20", "a")
    assert run.code == 0
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    (events,) = tracks.events.values()
    assert [(e.what, e.name, e.time) for e in events] == drawn.SHORT_WANT
    briefs = [e for e in events if "calls" in e.notes]
    assert [e.notes["calls"] for e in briefs] == ["3", "2"]


def test_short_and_deep_calls_are_left_out(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "-o", "a.pftrace", "--min-duration=40", "a")
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    names = {e.name for events in tracks.events.values() for e in events}
    assert "f" in names and "g" not in names and "main" in names
    case.run("export", "-o", "a.pftrace", "--max-depth=1", "a")
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    names = {e.name for events in tracks.events.values() for e in events}
    assert "f" not in names and "g" not in names and "main" in names


def test_instructions_stand_for_time_where_there_is_none(case: Case) -> None:
    for given in drawn.without_time(case):
        run = case.run("export", "-o", "a.pftrace", *given.args)
        assert run.code == 0
        assert "there is no time in it" in run.err, run.err
        tracks = perfetto_state.read(packets(case, "a.pftrace"))
        assert any(
            "1 ns is 1 instruction" in track.get("name", "")
            for track in tracks.described.values()
        )
        wanted = case.run("calls", "--format=jsonl", *given.args).objects()
        calls = [row for row in wanted if row["type"] == "call"]
        ends = [
            e
            for events in tracks.events.values()
            for e in events
            if e.what == "E"
        ]
        assert len([r for r in calls]) <= len(ends)
        for uuid, events in tracks.events.items():
            for root in calls_model.nested(
                [(e.what, e.time, e.name) for e in events]
            ):
                # Of what was not found late it is what it executed.
                found = [
                    row
                    for row in calls
                    if calls_model.name_of(row) == root.name
                    and row["insns"] == root.end - (root.begin or 0)
                ]
                assert found or given.late, (root, given.name)


def test_curves_have_what_was_executed(case: Case) -> None:
    given = drawn.captured(case)
    run = case.run("export", "--counters", "-o", "a.pftrace", *given.args)
    assert run.code == 0
    tracks = perfetto_state.read(packets(case, "a.pftrace"))
    (points,) = tracks.counters.values()
    assert len(points) > 10
    times = [time for time, _ in points]
    assert times == sorted(times)
    # Executed in all, by windows of their length.
    rows = case.run("calls", "--format=jsonl", *given.args).objects()
    executed = max(row.get("insns", 0) for row in rows)
    curve = sum(
        value * (after - before) / 1000
        for (before, value), (after, _) in zip(points, points[1:])
    )
    assert 0.9 * executed < curve < 1.01 * executed, (curve, executed)


consumers.main_of(globals())
