"""Exports to the Firefox Profiler: its own command tells the same sums."""

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
import firefox_cli
from runner import Case

GAP_NAME = "[not traced"


def load(path: Path) -> dict[str, Any]:
    """A profile whose tables are whole; numbers of ms stay text."""
    profile = json.loads(
        path.read_bytes().decode(), parse_float=str, parse_int=int
    )
    assert profile["meta"]["preprocessedProfileVersion"] == 56
    for thread in profile["threads"]:
        check_thread(profile, thread)
    return dict(profile)


def check_thread(profile: dict[str, Any], thread: dict[str, Any]) -> None:
    strings = len(profile["shared"]["stringArray"])
    for table in (
        "samples",
        "markers",
        "stackTable",
        "frameTable",
        "funcTable",
        "resourceTable",
        "nativeSymbols",
    ):
        columns = thread[table]
        for key, column in columns.items():
            if isinstance(column, list):
                assert len(column) == columns["length"], (table, key)
    stacks = thread["stackTable"]
    for i in range(stacks["length"]):
        prefix = stacks["prefix"][i]
        assert prefix is None or 0 <= prefix < i
        assert 0 <= stacks["frame"][i] < thread["frameTable"]["length"]
    for i in range(thread["funcTable"]["length"]):
        assert 0 <= thread["funcTable"]["name"][i] < strings
        resource = thread["funcTable"]["resource"][i]
        assert -1 <= resource < thread["resourceTable"]["length"]
    for lib in thread["resourceTable"]["lib"]:
        assert 0 <= lib < len(profile["libs"])
    times = [ns(time) for time in thread["samples"]["time"]]
    assert times == sorted(times)
    ends = [
        begin + ns(weight)
        for begin, weight in zip(times, thread["samples"]["weight"])
    ]
    # Samples take all of the time, one behind the other.
    assert all(end == begin for end, begin in zip(ends, times[1:]))


def ns(ms: str | int) -> int:
    """Milliseconds as they are written, exactly."""
    whole, _, rest = str(ms).partition(".")
    return int(whole) * 1000000 + int(rest.ljust(6, "0"))


def sums(
    profile: dict[str, Any], thread: dict[str, Any]
) -> tuple[dict[str, int], dict[str, int]]:
    """Time of functions alone, and with what they called."""
    strings = profile["shared"]["stringArray"]
    stacks, funcs = thread["stackTable"], thread["funcTable"]
    alone: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    samples = thread["samples"]
    for stack, weight in zip(samples["stack"], samples["weight"]):
        path = []
        while stack is not None:
            func = thread["frameTable"]["func"][stacks["frame"][stack]]
            path.append(strings[funcs["name"][func]])
            stack = stacks["prefix"][stack]
        if path:
            alone[path[0]] += ns(weight)
        for name in set(path):
            total[name] += ns(weight)
    return alone, total


def check_sums(
    alone: dict[str, int], want: calls_model.Model, thread: int
) -> None:
    gaps = sum(v for k, v in alone.items() if k.startswith(GAP_NAME))
    assert gaps == want.gap_ns[thread]
    for name, time in want.self_ns[thread].items():
        if name in want.late:
            assert alone.get(name, 0) >= time, name
        else:
            assert alone.get(name, 0) == time, (name, alone.get(name), time)


def total_of(nodes: list[calls_model.Node], into: dict[str, int],
             above: frozenset[str] = frozenset()) -> None:
    """Time with all they called; of what calls itself only the outermost."""
    for node in nodes:
        if node.name not in above and node.begin is not None:
            into[node.name] += node.end - node.begin
        total_of(node.children, into, above | {node.name})


def test_every_input_has_its_sums(case: Case) -> None:
    for given in drawn.all_with_time(case):
        print(f"      {given.name}")
        want = calls_model.read(case, *given.args)
        drawn.check(given, want)
        run = case.run("export", "-o", "a.firefox.json", *given.args)
        assert run.code == 0, run.err
        profile = load(case.folder / "a.firefox.json")
        assert len(profile["threads"]) == len(want.who)
        for thread, no in zip(profile["threads"], sorted(want.who)):
            alone, total = sums(profile, thread)
            check_sums(alone, want, no)
            row = want.who[no]
            assert thread["tid"] == row.get("tid", (1 << 32) + no)
            markers = thread["markers"]
            found = [
                (ns(begin) + want.first, ns(end) + want.first)
                for begin, end in zip(markers["startTime"], markers["endTime"])
            ]
            assert found == want.gaps[no]
            if len(want.stacks[no]) > 1 or want.late:
                continue
            expected: dict[str, int] = defaultdict(int)
            total_of(want.forests[no], expected)
            for name, time in expected.items():
                assert total.get(name, 0) == time, name


def test_its_own_command_tells_the_same(case: Case) -> None:
    chosen = [
        given
        for given in drawn.all_with_time(case)
        if given.name
        in ("two threads", "stacks", "pie", "non-pie", "simple_gogo", "gap")
    ]
    for given in chosen:
        print(f"      {given.name}")
        case.run("export", "-o", "a.firefox.json", *given.args)
        profile = load(case.folder / "a.firefox.json")
        with firefox_cli.Session(case, "a.firefox.json") as session:
            for i, thread in enumerate(profile["threads"]):
                told = json.loads(
                    session.ask(
                        "thread",
                        "functions",
                        "--json",
                        "--limit=0",
                        "--include-idle",
                        f"--thread=t-{i}",
                    )
                )
                alone, total = sums(profile, thread)
                functions = told["functions"]
                assert len(functions) == len(total)
                for function in functions:
                    name = function["name"]
                    got = round(function["selfSamples"] * 1000000)
                    assert got == alone.get(name, 0), function
                    got = round(function["totalSamples"] * 1000000)
                    assert got == total[name], function
                markers = json.loads(
                    session.ask(
                        "thread", "markers", "--json", f"--thread=t-{i}"
                    )
                )
                length = thread["markers"]["length"]
                assert markers["totalMarkerCount"] == length


def test_its_own_command_reads_hostile_names(case: Case) -> None:
    case.write("a", drawn.HOSTILE)
    case.run("export", "-o", "a.firefox.json", "a")
    with firefox_cli.Session(case, "a.firefox.json") as session:
        told = json.loads(
            session.ask("thread", "functions", "--json", "--limit=0")
        )
    names = {function["name"] for function in told["functions"]}
    assert 'a"b\\c' in names
    assert "x;y</script>\ufffd\ufffd\x01" in names


def test_each_file_of_several_opens_alone(case: Case) -> None:
    for name, text in (
        ("many", drawn.many_calls(3000)),
        ("stacks", drawn.stacks(200)),
    ):
        case.write(name, text)
        want = calls_model.read(case, name)
        out = f"{name}.firefox.json"
        case.run("export", "-o", out, "--split-size=20K", name).want(0)
        files = sorted(case.folder.glob(f"{out}*"))
        assert len(files) > 3
        alone: dict[str, int] = defaultdict(int)
        for file in files:
            profile = load(file)
            for thread in profile["threads"]:
                for function, time in sums(profile, thread)[0].items():
                    alone[function] += time
        check_sums(alone, want, 0)


def test_images_are_libraries(case: Case) -> None:
    case.write("a", drawn.GAP.replace("(q)", "(/usr/lib/q.so)"))
    case.run("export", "-o", "a.firefox.json", "a")
    profile = load(case.folder / "a.firefox.json")
    assert {lib["name"] for lib in profile["libs"]} == {"p", "q.so"}
    assert {lib["path"] for lib in profile["libs"]} == {"p", "/usr/lib/q.so"}


def test_instructions_stand_for_time_where_there_is_none(case: Case) -> None:
    for given in drawn.without_time(case):
        run = case.run("export", "-o", "a.firefox.json", *given.args)
        assert run.code == 0
        assert "there is no time in it" in run.err
        profile = load(case.folder / "a.firefox.json")
        (thread,) = profile["threads"]
        assert "1 ns is 1 instruction" in thread["name"]
        rows = case.run("calls", "--format=jsonl", *given.args).objects()
        executed = max(row.get("insns", 0) for row in rows)
        weights = sum(ns(w) for w in thread["samples"]["weight"])
        assert weights >= executed


consumers.main_of(globals())
