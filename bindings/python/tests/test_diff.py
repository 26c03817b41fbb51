"""Differences of two traces say what the tool says."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest

import hwt
from hand_traces import EVIL, calls_trace, saved
from hwt.diff import Diff, Divergences
from tool_rows import csv_rows, imported, json_rows, tool

PAIRS = {
    "functions": (
        "insns entered calls self_insns self_ns total_ns self_cycles".split()
    ),
    "edges": ["branches", "calls"],
    "branches": ["count"],
}
TEXTS = {
    "functions": {"function": "function", "image": "image"},
    "edges": {
        "from": "from_function",
        "from_image": "from_image",
        "to": "to_function",
        "to_image": "to_image",
    },
    "branches": {
        "image": "image",
        "to_image": "to_image",
        "function": "function",
        "to_function": "to_function",
        "branch": "branch",
    },
}


def assert_table(diff: Diff, part: str, rows: List[Dict[str, str]]) -> None:
    """The tool prints what changed only."""
    table = getattr(diff, part)(changed=True)
    assert len(table) == len(rows)
    for mine, its in zip(table.rows(), rows):
        for name, member in TEXTS[part].items():
            assert (getattr(mine, member) or "") == its[name]
        assert (mine.only or "") == its["only"]
        assert f"{mine.change:.3f}" == its["change"]
        for name in PAIRS[part]:
            for side in "ab":
                # What was not measured is 0 there.
                value = getattr(mine, f"{side}_{name}")
                assert (value or 0) == int(its[f"{side}_{name}"]), name
        if part == "branches":
            assert mine.from_off == int(its["from_off"], 16)
            assert mine.to_off == int(its["to_off"], 16)
    everything = getattr(diff, part)()
    assert [r for r in everything.rows() if r.change] == list(table.rows())


def assert_as_tool(diff: Diff, *words: object) -> None:
    for part in PAIRS:
        rows = csv_rows("diff", f"--show={part}", *words)
        assert_table(diff, part, rows)
    info = json_rows("diff", "--show=functions,edges,branches", *words)[0]
    mine = diff.info
    for name in (
        "by normalized functions edges branches same_images assumed_images "
        "different_images"
    ).split():
        assert getattr(mine, name) == info[name], name
    for name in ("only", "total", "bytes", "gap_bytes", "gaps"):
        got = [getattr(mine.a, name), getattr(mine.b, name)]
        assert got == info[name], name


@pytest.mark.parametrize("by", ["insns", "calls", "time", "total-time"])
def test_tables_are_those_of_the_tool(
    trace_pt: Any, pt: Path, by: str
) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(before) as other:
        diff = other.diff(trace_pt, by=by)
        even = other.diff(trace_pt, by=by, normalize=True)
    assert diff.info.functions > 10
    assert_as_tool(diff, f"--by={by}", before, pt)
    assert_as_tool(even, f"--by={by}", "--normalize", before, pt)
    row = next(diff.functions().rows())
    follows = by not in ("insns", "calls")
    # What was not measured is not known, and not 0.
    assert (row.a_insns is None) == (row.b_entered is None) == follows
    assert (row.a_calls is None) == (row.b_self_ns is None) == (not follows)


def test_profiles_are_compared_as_traces_are(trace_pt: Any, pt: Path) -> None:
    with hwt.open(pt.with_name("pt_before.hwt")) as other:
        a, b = other.profile(), trace_pt.profile()
        for by in ("insns", "time"):
            mine = Diff.of(a, b, by)
            its = other.diff(trace_pt, by=by)
            assert mine.info.a.total == its.info.a.total
            for part in ("functions", "edges"):
                ends = ("from_function", "to_function")
                if part == "functions":
                    ends = ("function", "image")

                def key(row: Any) -> Any:
                    return tuple(getattr(row, name) for name in ends)

                found = {
                    key(row): row.change
                    for row in getattr(mine, part)(changed=True).rows()
                }
                for row in getattr(its, part)(changed=True).rows():
                    # What has no name is told otherwise by calls.
                    if None not in key(row):
                        assert found[key(row)] == row.change
        # It is of both kinds.
        row = next(mine.functions().rows())
        assert row.a_insns is not None and row.a_calls is not None
        with pytest.raises(TypeError, match="was chosen when"):
            Diff.of(a, b, tid=3)
    with pytest.raises(hwt.InvalidError, match="no cycles are known"):
        Diff.of(a, b, "cycles")


def test_a_trace_does_not_differ_from_itself(trace_pt: Any) -> None:
    diff = trace_pt.diff(trace_pt)
    assert set(diff.functions().to_dict()["change"]) == {0.0}
    for part in PAIRS:
        assert len(getattr(diff, part)(changed=True)) == 0
    assert diff.info.a == diff.info.b
    assert list(trace_pt.divergences(trace_pt)) == []


def test_what_was_lost_is_said(repo: Path, tmp_path: Path) -> None:
    folder = repo / "fixtures/pt-captured/workload-with-time-and-interrupts"
    raw = tmp_path / "0.pt"
    subprocess.run(["zstd", "-qd", folder / "0.pt.zst", "-o", raw], check=True)
    words = ["--tech=pt", "--images", folder / "image.txt", raw]
    whole = imported(tmp_path, "whole.hwt", *words)
    data = bytearray(raw.read_bytes())
    data[20000:20020] = bytes([0xFF]) * 20
    raw.write_bytes(data)
    cut = imported(tmp_path, "cut.hwt", *words)
    with hwt.open(whole) as a, hwt.open(cut) as b:
        diff = a.diff(b)
        assert_as_tool(diff, whole, cut)
        plan = a.divergences(b, rows=5)
        assert_flow_as_tool(plan, "--divergences=5", whole, cut)
    assert diff.info.b.gaps == 1 and diff.info.a.gaps == 0
    assert diff.notes[0].startswith("b: not seen: 1 gap of ")
    assert any(n.startswith("b: not seen: 1 gap") for n in plan.notes)
    assert plan.threads().to_dict()["b_gaps"] == [1]
    assert plan.threads().to_dict()["a_passed"][0] > 0


def block_of(block: Any) -> Dict[str, Any]:
    """As the tool writes it."""
    out = {
        "address": f"{block.address:#x}",
        "file_off": f"{block.file_off:#x}",
        "bytes": block.bytes,
        "insns": block.insns,
        "insns_before": block.insns_before,
        "branch": block.branch,
        "stream": block.stream,
        "offset": block.stream_off,
    }
    for name in (
        "time_ns symbol symbol_offset image file line time_estimated"
    ).split():
        value = getattr(block, name)
        if value is not None and value is not False:
            out[name] = value
    return out


def assert_flow_as_tool(plan: Divergences, *words: object) -> None:
    rows = json_rows("diff", "--show=flow", *words)
    found = [row for row in rows if row["type"] == "divergence"]
    got = list(plan)
    assert len(got) == len(found)
    for mine, its in zip(got, found):
        for name in (
            "kind pair same behind_gap ambiguous code_differs at_start"
        ).split():
            assert getattr(mine, name) == its[name], name
        assert mine.ended == its.get("ended")
        for name in ("common", "a", "b"):
            assert [block_of(b) for b in getattr(mine, name)] == its[name]
    threads = [row for row in rows if row["type"] == "diff_thread"]
    table = plan.threads()
    assert len(table) == len(threads)
    for mine, its in zip(table.rows(), threads):
        for name in "pair same same_insns divergences done lost more".split():
            assert getattr(mine, name) == its[name], name
        for name in (
            "pid tid stream insns other passed foreign_insns gaps gap_bytes"
        ).split():
            got_pair = [getattr(mine, f"{side}_{name}") for side in "ab"]
            assert got_pair == its[name], name
        for side in "ab":
            name = f"{side}_name"
            assert getattr(mine, name) == its.get(name)
    images = {
        row.image: (row.state, [row.a_insns, row.b_insns])
        for row in plan.images().rows()
    }
    for row in rows:
        if row["type"] == "diff_image":
            assert images[row["image"]] == (row["state"], row["insns"])
    lines = csv_rows("diff", "--show=flow", *words)
    for mine, its in zip(plan.table().rows(), lines):
        for side in "ab":
            for end in ("from", "to"):
                name = f"{side}_{end}"
                value = getattr(mine, name)
                assert its[name] == ("" if value is None else f"{value:#x}")
                for more in ("ns", "symbol"):
                    value = getattr(mine, f"{name}_{more}")
                    assert its[f"{name}_{more}"] == str(
                        "" if value is None else value
                    )


def test_flow_is_that_of_the_tool(trace_pt: Any, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(before) as other:
        for given, words in (
            ({}, []),
            ({"rows": 3, "blocks": 2}, ["--divergences=3", "--blocks=2"]),
            ({"kernel": True}, ["--kernel"]),
            ({"window": 64}, ["--window=64"]),
            ({"tid_a": 1001, "tid_b": 1001}, ["--tid-a=1001", "--tid-b=1001"]),
        ):
            plan = other.divergences(trace_pt, **given)
            assert_flow_as_tool(plan, *words, before, pt)
            assert plan.info.rows["flow"] == len(plan.table()) > 0
        bare = other.divergences(trace_pt, symbols=False)
        first = next(iter(bare))
    assert first.a[0].symbol is None and first.a[0].insns > 0
    assert pickle.loads(pickle.dumps(first)) == first


def test_the_branch_that_parts_two_runs_is_told() -> None:
    a = calls_trace([True, True, False, True])
    b = calls_trace([True, True, True, True])
    (row,) = a.divergences(b)
    assert (row.kind, row.ended, row.behind_gap) == ("flow", None, False)
    # The third time: to the nop, and over it.
    assert row.common[-1].symbol == "callee"
    assert row.common[-1].branch == "conditional"
    assert row.a[0].address - row.b[0].address == -1
    assert (row.a[0].insns, row.b[0].insns) == (2, 1)
    # Blocks: call, callee up to its branch; return, jump between.
    counts = a.diff(b).branches(changed=True).to_dict()
    assert sorted(zip(counts["a_count"], counts["b_count"])) == [
        (1, 0),
        (3, 4),
    ]


def test_iterating_may_be_left_and_begun_again(
    trace_pt: Any, pt: Path
) -> None:
    with hwt.open(pt.with_name("pt_before.hwt")) as other:
        plan = other.divergences(trace_pt, rows=100)
        assert "not compared" in repr(plan)
        first = next(iter(plan))
        whole = list(plan)
        assert whole[0] == first and len(whole) > 1
        assert "pair" in repr(plan)
        seen: List[Any] = []
        list(
            other.divergences(trace_pt, progress=lambda *now: seen.append(now))
        )
        assert seen == sorted(seen) and len(seen) > 0
        late = other.divergences(trace_pt)
    # What was compared stays; what was not needs both.
    assert list(plan) == whole
    with pytest.raises(hwt.ClosedError):
        list(late)


def test_traces_may_be_closed(pt: Path) -> None:
    a, b = hwt.open(pt), hwt.open(pt)
    diff = a.diff(b)
    a.close()
    b.close()
    assert "take_order" in diff.functions().to_dict()["function"]
    table = diff.edges()
    diff.close()
    assert "take_order" in table.to_dict()["to_function"]
    assert repr(diff) == "<hwt.Diff: closed>"
    assert "closed" in diff._repr_html_()
    for use in (
        lambda: diff.info,
        lambda: diff.functions(),
        lambda: a.diff(b),
    ):
        with pytest.raises(hwt.ClosedError):
            use()


class Enough(Exception):
    pass


def test_it_can_be_broken_off(trace_pt: Any) -> None:
    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        trace_pt.diff(trace_pt, progress=stop)
    with pytest.raises(Enough):
        list(trace_pt.divergences(trace_pt, progress=stop))
    seen: List[Any] = []
    trace_pt.diff(trace_pt, progress=lambda *now: seen.append(now))
    assert seen[-1] == (2 * trace_pt.info.n_bytes,) * 2


def test_misuse_is_told(trace_pt: Any, trace_spe: Any) -> None:
    for use, kind, text in (
        (lambda: trace_pt.diff(trace_pt, by="inss"), ValueError, "'insns'"),
        (lambda: trace_pt.diff(3), TypeError, "no trace"),
        (lambda: trace_pt.divergences(3), TypeError, "no trace"),
        (lambda: trace_pt.divergences(trace_pt, rows=0), ValueError, "rows"),
        (
            lambda: trace_pt.divergences(trace_pt, window=1 << 32),
            ValueError,
            "window",
        ),
        (
            lambda: trace_pt.divergences(trace_pt, tid_a=-1),
            ValueError,
            "tid_a",
        ),
        (
            lambda: trace_pt.divergences(trace_pt, kinds="gap"),
            TypeError,
            "kinds",
        ),
        (
            lambda: list(trace_pt.divergences(trace_pt, tid_a=5)),
            LookupError,
            "",
        ),
        (
            lambda: trace_pt.diff(trace_pt, by="cycles"),
            hwt.InvalidError,
            "no cycles are known",
        ),
    ):
        with pytest.raises(kind, match=text or None):
            use()


def test_names_that_nobody_wants_are_only_names(tmp_path: Path) -> None:
    path = str(tmp_path / 'ev"il<b>\n.elf')
    a = calls_trace([True] * 3, (EVIL, EVIL + b"2"), path)
    b = calls_trace([False] * 5, (EVIL, EVIL + b"2"), path)
    diff = a.diff(b)
    name = EVIL.decode("utf-8", "backslashreplace")
    assert set(diff.functions().to_dict()["function"]) == {name, name + "2"}
    for html in (diff._repr_html_(), repr(diff.functions())):
        assert "\x1b" not in html and "\u202e" not in html
    assert "<b>" not in diff._repr_html_()
    plan = a.divergences(b)
    (row,) = plan
    assert row.common[-1].symbol == name + "2"
    assert row.common[-1].image == path
    assert "<b>" not in plan._repr_html_()
