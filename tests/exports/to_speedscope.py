"""Exports to speedscope: its JSON schema, and the sums that it shows."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calls_model
import consumers
import drawn
from runner import Case


def load(case: Case, *names: str) -> list[dict[str, Any]]:
    """Files that its schema allows, and whose profiles nest."""
    out = consumers.node("speedscope_schema.js", *names, cwd=case.folder)
    assert out == "valid\n", out
    return [
        json.loads((case.folder / name).read_bytes().decode())
        for name in names
    ]


def check_profile(file: dict[str, Any], profile: dict[str, Any]) -> None:
    """What speedscope asks of begins and ends beyond its schema."""
    frames = len(file["shared"]["frames"])
    stack: list[int] = []
    at = profile["startValue"]
    for event in profile["events"]:
        assert event["at"] >= at
        at = event["at"]
        assert 0 <= event["frame"] < frames
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack
    assert at <= profile["endValue"]


def events(file: dict[str, Any], profile: dict[str, Any]) -> list[Any]:
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    return [
        ("B" if e["type"] == "O" else "E", e["at"], frames[e["frame"]])
        for e in profile["events"]
    ]


def self_ns(file: dict[str, Any], profile: dict[str, Any]) -> dict[str, int]:
    """Time of each frame alone, as speedscope adds it up."""
    sums: dict[str, int] = defaultdict(int)
    stack: list[str] = []
    at = 0
    for what, time, name in events(file, profile):
        if stack:
            sums[stack[-1]] += time - at
        at = time
        if what == "B":
            stack.append(name)
        else:
            stack.pop()
    return sums


def check_sums(
    got: dict[str, int], want: calls_model.Model, thread: int
) -> None:
    """As the rows tell it; of calls that were found late it may be more."""
    gaps = sum(v for k, v in got.items() if k.startswith("[not traced"))
    assert gaps == want.gap_ns[thread], (got, dict(want.gap_ns))
    for name, ns in want.self_ns[thread].items():
        if name in want.late:
            assert got.get(name, 0) >= ns, name
        else:
            assert got.get(name, 0) == ns, (name, got.get(name), ns)


def test_every_input_has_its_sums(case: Case) -> None:
    for given in drawn.all_with_time(case):
        print(f"      {given.name}")
        want = calls_model.read(case, *given.args)
        drawn.check(given, want)
        run = case.run("export", "-o", "a.speedscope.json", *given.args)
        assert run.code == 0, run.err
        (file,) = load(case, "a.speedscope.json")
        assert len(file["profiles"]) == len(want.who)
        for profile, thread in zip(file["profiles"], sorted(want.who)):
            check_profile(file, profile)
            assert profile["unit"] == "nanoseconds"
            check_sums(self_ns(file, profile), want, thread)


def test_calls_of_one_stack_nest_as_they_do(case: Case) -> None:
    for given in drawn.all_with_time(case):
        want = calls_model.read(case, *given.args)
        if max(len(stacks) for stacks in want.stacks.values()) > 1:
            continue
        case.run("export", "-o", "a.speedscope.json", *given.args)
        (file,) = load(case, "a.speedscope.json")
        for profile, thread in zip(file["profiles"], sorted(want.who)):
            without = [
                event
                for event in events(file, profile)
                if not event[2].startswith("[not traced")
            ]
            got = calls_model.nested(without)
            # Those that were found late begin where all does.
            expected = [
                begun(node, profile["startValue"], want.first)
                for node in want.forests[thread]
            ]
            assert calls_model.forest(got) == calls_model.forest(expected)


def begun(node: calls_model.Node, start: int, base: int) -> calls_model.Node:
    return calls_model.Node(
        node.name,
        start if node.begin is None else node.begin - base,
        node.end - base,
        [begun(child, start, base) for child in node.children],
    )


def test_callers_found_late_are_around_all(case: Case) -> None:
    case.write("a", drawn.LATE)
    case.run(
        "export", "--no-interpolation", "-o", "a.speedscope.json", "a"
    ).want(0)
    (file,) = load(case, "a.speedscope.json")
    (profile,) = file["profiles"]
    assert events(file, profile) == [
        ("B", 0, "a"),
        ("B", 0, "b"),
        ("B", 0, "c"),
        ("B", 0, "d"),
        ("E", 0, "d"),
        ("E", 6, "c"),
        ("E", 6, "b"),
        ("B", 17, "d"),
        ("E", 18, "d"),
        ("E", 18, "a"),
    ]


def test_a_gap_is_a_frame_on_top(case: Case) -> None:
    case.write("a", drawn.GAP)
    case.run("export", "-o", "a.speedscope.json", "--min-duration=1ms", "a")
    (file,) = load(case, "a.speedscope.json")
    (profile,) = file["profiles"]
    # Whatever is left out, a gap is not, nor what it is in.
    assert events(file, profile) == [
        ("B", 0, "main"),
        ("B", 50, "[not traced: unknown]"),
        ("E", 150, "[not traced: unknown]"),
        ("E", 160, "main"),
    ], events(file, profile)


def test_short_calls_keep_their_sum(case: Case) -> None:
    case.write("a", drawn.short_calls())
    case.run("export", "-o", "a.speedscope.json", "--resolution=20", "a")
    (file,) = load(case, "a.speedscope.json")
    (profile,) = file["profiles"]
    check_profile(file, profile)
    sums = self_ns(file, profile)
    # 5 + 6 + 7 and 3 + 4; 30 and 9 stand alone.
    assert sums["[short calls]"] == 25
    assert sums["f"] == 39
    assert sums["main"] == 220 - 25 - 39


def test_short_calls_of_several_stacks_keep_their_sum(case: Case) -> None:
    case.write("a", drawn.stacks(20))
    want = calls_model.read(case, "a")
    case.run("export", "-o", "a.speedscope.json", "--resolution=15", "a")
    (file,) = load(case, "a.speedscope.json")
    (profile,) = file["profiles"]
    check_profile(file, profile)
    sums = self_ns(file, profile)
    # work() and save() are short; swap() lasts until its stack runs again.
    short = sum(
        sums.get(name, 0) for name in ("work", "save", "[short calls]")
    )
    alone = want.self_ns[0]
    assert short == alone["work"] + alone["save"], (sums, dict(alone))
    for name in ("co", "swap"):
        assert sums[name] == alone[name], (name, sums)


def test_each_file_of_several_opens_alone(case: Case) -> None:
    for name, text, size in (
        ("many", drawn.many_calls(3000), "20K"),
        ("stacks", drawn.stacks(200), "20K"),
        ("stacks2", drawn.stacks(200), "23K"),
        ("stacks3", drawn.stacks(200), "26K"),
    ):
        case.write(name, text)
        want = calls_model.read(case, name)
        out = f"{name}.speedscope.json"
        case.run("export", "-o", out, f"--split-size={size}", name).want(0)
        names = [out]
        while (case.folder / f"{out}.{len(names) + 1}").exists():
            names.append(f"{out}.{len(names) + 1}")
        assert len(names) > 3
        total: dict[str, int] = defaultdict(int)
        for file in load(case, *names):
            for profile in file["profiles"]:
                check_profile(file, profile)
                for frame, time in self_ns(file, profile).items():
                    total[frame] += time
        check_sums(total, want, 0)


def test_late_times_stay_exact(case: Case) -> None:
    case.write("a", drawn.GAP.replace(" 1.0", " 1700000001.0"))
    case.run("export", "-o", "a.speedscope.json", "a")
    (file,) = load(case, "a.speedscope.json")
    assert file["profiles"][0]["startValue"] == 0
    assert file["profiles"][0]["endValue"] == 160


def test_instructions_have_no_unit(case: Case) -> None:
    for given in drawn.without_time(case):
        run = case.run("export", "-o", "a.speedscope.json", *given.args)
        assert run.code == 0
        (file,) = load(case, "a.speedscope.json")
        (profile,) = file["profiles"]
        check_profile(file, profile)
        assert profile["unit"] == "none"
        rows = case.run("calls", "--format=jsonl", *given.args).objects()
        want: dict[str, int] = defaultdict(int)
        for row in rows:
            if row["type"] == "call":
                want[calls_model.name_of(row)] += row["self_insns"]
        got = self_ns(file, profile)
        late = {
            calls_model.name_of(r) for r in rows if r.get("began_before")
        }
        for name, insns in want.items():
            if name in late:
                assert got.get(name, 0) >= insns
            else:
                assert got.get(name, 0) == insns, name


consumers.main_of(globals())
