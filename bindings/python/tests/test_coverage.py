"""Coverage says what the tool says, and keeps what was added."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any, Dict

import pytest

import hwt
from hand_traces import EVIL, calls_trace, saved
from hwt.coverage import Coverage
from tool_rows import assert_same, csv_rows, json_rows, tool

RENAMED = {
    "edge": {"from": "from_off", "to": "to_off"},
}
BYS = ("file", "function", "line", "branch", "edge", "image", "range")


def table_of(cov: Coverage, by: str) -> Any:
    if by == "range":
        return cov.not_reached()
    return getattr(cov, {"branch": "branches"}.get(by, f"{by}s"))()


def assert_as_tool(cov: Coverage, *words: object) -> None:
    for by in BYS:
        rows = csv_rows("coverage", f"--by={by}", *words)
        assert_same(
            table_of(cov, by),
            rows,
            RENAMED.get(by),
            # The tool has 0 for a line that is not known.
            {"line": lambda mine, its: (mine.line or 0) == int(its["line"])},
        )
    total = json_rows("coverage", *words)[-1]
    info = cov.info
    for what in (
        "lines",
        "functions",
        "branches",
        "edges",
        "bare_functions",
        "bare_branches",
    ):
        assert getattr(info, what) == (total[f"{what}_hit"], total[what])
    for name in (
        "traces",
        "insns",
        "code_bytes",
        "bare_bytes",
        "lost_insns",
        "images_missing",
        "images_without_lines",
        "images_damaged",
    ):
        assert getattr(info, name) == total[name], name
    assert info.n_images == total["images"]
    for name in ("bytes", "gap_bytes", "file_gap_bytes"):
        assert getattr(info.loss, name) == total[name], name
    assert info.loss.gaps == {k: v["n"] for k, v in total["gaps"].items()}
    assert info.gap_bytes_by_reason == {
        k: v["bytes"] for k, v in total["gaps"].items()
    }
    assert cov.lcov() == tool("coverage", "--format=lcov", *words)


def test_all_tables_are_those_of_the_tool(trace_pt: Any, pt: Path) -> None:
    cov = trace_pt.coverage()
    assert cov.info.lines.total > cov.info.lines.hit > 0
    assert cov.info.n_edges > 0 and len(cov.not_reached()) > 0
    assert_as_tool(cov, pt)


def test_only_what_was_not_reached(trace_pt: Any, pt: Path) -> None:
    cov = trace_pt.coverage()
    for by in ("file", "function", "line", "branch", "edge"):
        rows = csv_rows("coverage", f"--by={by}", "--uncovered", pt)
        table = cov.not_reached(by)
        assert 0 < len(table) < len(table_of(cov, by))
        assert_same(table, rows, RENAMED.get(by))


def test_gaps_and_missing_files_are_said(repo: Path, tmp_path: Path) -> None:
    folder = repo / "fixtures/perf-data"
    path = folder / "file-that-is-not-there-is-a-gap" / "perf.data"
    with hwt.open(path) as trace:
        cov = trace.coverage()
    assert_as_tool(cov, path)
    assert cov.loss.gaps["no-code"] > 0
    assert cov.notes[0].startswith("not seen: ")
    assert any(note.startswith("no code: ") for note in cov.notes)
    assert cov.lines().notes == tuple(cov.notes)


def test_code_without_lines_is_told_by_place(
    repo: Path, tmp_path: Path
) -> None:
    trace = calls_trace([True, True, False])
    path = saved(trace, tmp_path / "a.hwt")
    cov = trace.coverage()
    assert_as_tool(cov, path)
    # Two calls jumped over the nop, one did not.
    rows = list(cov.branches().rows())
    assert [(r.taken, r.not_taken, r.file) for r in rows] == [(2, 1, None)]
    counts = cov.functions().to_dict()
    assert dict(zip(counts["function"], counts["count"])) == {
        "main": 3,
        "callee": 3,
    }


def test_traces_are_added_and_merged(trace_pt: Any, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(before) as other:
        both = Coverage.of([trace_pt, other])
        added = Coverage().add(other).add(trace_pt)
        merged = trace_pt.coverage().merge(other.coverage())
    for cov in (both, added, merged):
        assert cov.info.traces == 2
        assert_as_tool(cov, pt, before)


def test_options_choose_what_the_tool_chooses(trace_pt: Any, pt: Path) -> None:
    files = trace_pt.coverage().files().to_dict()["file"]
    folder = files[0].rsplit("/", 1)[0]
    for given, words in (
        ({"sources": [files[0]]}, ["--source", files[0]]),
        ({"excludes": "*.h"}, ["--exclude", "*.h"]),
        ({"images": ["orders"]}, ["--only-image", "orders"]),
        ({"images": ["nothing"]}, ["--only-image", "nothing"]),
        (
            {"path_map": {folder: "src"}, "sources": ["src/"]},
            ["--map", f"{folder}=src", "--source", "src/"],
        ),
    ):
        assert_as_tool(trace_pt.coverage(**given), *words, pt)
    bare = trace_pt.coverage(lines=False)
    assert bare.info.n_lines == 0 and bare.info.bare_functions.hit > 0


def test_what_only_one_run_reached(trace_pt: Any, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(before) as other:
        a, b = trace_pt.coverage(), other.coverage()
    table = a.compare(b)
    counts = [
        {
            (row["file"], int(row["line"])): int(row["count"])
            for row in csv_rows("coverage", "--by=line", path)
        }
        for path in (pt, before)
    ]
    want = {
        key
        for key in {*counts[0], *counts[1]}
        if bool(counts[0].get(key)) != bool(counts[1].get(key))
    }
    assert want
    assert {(r.file, r.line) for r in table.rows()} == want
    for row in table.rows():
        key = row.file, row.line
        assert row.a_count == counts[0].get(key)
        assert row.b_count == counts[1].get(key)
        assert row.only == ("a" if row.a_count else "b")
    # One fee took the place of another.
    functions = list(a.compare(b, "functions").rows())
    assert [(r.function, r.only) for r in functions] == [
        ("express_fee", "b"),
        ("normal_fee", "a"),
    ]
    ways = a.compare(b, "branches")
    assert set(ways.to_dict()["way"]) == {"taken", "not taken"}
    assert len(a.compare(a)) == len(b.compare(b, "branch")) == 0


def test_source_stands_beside_its_counts(
    trace_pt: Any, tmp_path: Path
) -> None:
    cov = trace_pt.coverage()
    file = cov.files().to_dict()["file"][0]
    counts = {
        row.line: row.count for row in cov.lines().rows() if row.file == file
    }
    last = max(counts)
    text = [f"line {i}" for i in range(1, last + 3)]
    place = tmp_path / "source.c"
    place.write_bytes("\r\n".join(text).encode() + b"\r\n\xff")
    table = cov.source(file.rsplit("/", 1)[-1], place)
    rows = list(table.rows())
    assert [r.text for r in rows] == [*text, "\\xff"]
    assert [r.count for r in rows] == [
        counts.get(i) for i in range(1, last + 4)
    ]
    place.write_text("short\n")
    assert "of another version" in cov.source(file, place).notes[0]
    with pytest.raises(LookupError, match="orders.c"):
        cov.source("order.c")
    with pytest.raises(OSError):
        cov.source(file, tmp_path / "nothing")
    # What a trace calls a source file may be anything.
    with pytest.raises(OSError, match="no regular file"):
        cov.source(file, "/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        cov.source(file, tmp_path / "pipe")


def test_a_saved_file_is_whole_or_not_there(
    trace_pt: Any, pt: Path, tmp_path: Path
) -> None:
    cov = trace_pt.coverage()
    path = tmp_path / "a.info"
    path.write_text("before")
    cov.save(path)
    assert path.read_text() == tool("coverage", "--format=lcov", pt)
    link = tmp_path / "link"
    link.symlink_to(path)
    cov.save(link)
    assert link.is_symlink()
    with pytest.raises(OSError):
        cov.save(tmp_path / "nowhere" / "a.info")
    cov.close()
    with pytest.raises(hwt.ClosedError):
        cov.save(path)
    assert path.read_text().startswith("TN:")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.info", "link"]


class Enough(Exception):
    pass


def test_who_breaks_off_has_added_nothing(trace_pt: Any) -> None:
    cov = trace_pt.coverage()
    before = cov.info

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        cov.add(trace_pt, progress=stop)
    assert cov.info == before
    assert cov.add(trace_pt).info.insns == 2 * before.insns


def test_progress_goes_from_nothing_to_all(trace_pt: Any) -> None:
    seen = []
    Coverage.of(
        [trace_pt, trace_pt], progress=lambda *now: seen.append(now), jobs=1
    )
    total = 2 * trace_pt.info.n_bytes
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)


def test_it_needs_its_trace_no_more(pt: Path) -> None:
    trace = hwt.open(pt)
    cov = trace.coverage()
    table = cov.functions()
    lines = cov.info.lines
    trace.close()
    assert cov.info.lines == lines
    assert len(cov.functions()) == len(table)
    with pytest.raises(hwt.ClosedError):
        cov.add(trace)
    cov.close()
    cov.close()
    assert repr(cov) == "<hwt.Coverage: closed>"
    assert "closed" in cov._repr_html_()
    # Tables have copies.
    assert "take_order" in table.to_dict()["function"]
    for use in (
        lambda: cov.info,
        lambda: cov.lines(),
        lambda: cov.lcov(),
        lambda: cov.merge(Coverage()),
        lambda: Coverage().merge(cov),
    ):
        with pytest.raises(hwt.ClosedError):
            use()


def test_misuse_is_told(trace_pt: Any) -> None:
    cov = Coverage()
    with pytest.raises(hwt.InvalidError):
        cov.merge(cov)
    with pytest.raises(TypeError, match="no Coverage"):
        cov.merge(trace_pt)
    with pytest.raises(TypeError, match="hwt.open"):
        cov.add("a.hwt")
    with pytest.raises(TypeError, match="no trace"):
        Coverage.of([trace_pt, 3])
    with pytest.raises(ValueError, match="near it are 'range'"):
        cov.not_reached("ranje")
    with pytest.raises(ValueError, match="path_map"):
        Coverage(path_map={"": "x"})
    with pytest.raises(hwt.InvalidError, match="NUL"):
        Coverage(sources=["a\0b"])
    with pytest.raises(TypeError, match="kinds"):
        trace_pt.coverage(kinds="block")
    with pytest.raises(TypeError, match="tidd"):
        trace_pt.coverage(tidd=3)
    # What failed left nothing behind.
    assert cov.info.traces == 0 and len(cov.lines()) == 0


def test_names_that_nobody_wants_are_only_names(tmp_path: Path) -> None:
    path = str(tmp_path / 'ev"il<b>\n.elf')
    trace = calls_trace([True], (EVIL, EVIL + b"2"), path)
    cov = trace.coverage()
    names = cov.functions().to_dict()
    assert len(names["function"]) == 2
    for name in names["function"]:
        assert name.startswith('evil\x1b[2J"<b>') and "\\xff" in name
    assert names["image"] == [path] * 2
    assert cov.compare(Coverage(), "function").to_dict()["function"] == (
        names["function"]
    )
    repr(cov.functions())
    assert cov.lcov() == ""


def test_threads_may_add_and_read_at_once(trace_pt: Any) -> None:
    cov = Coverage()
    faults = []

    def work() -> None:
        try:
            for _ in range(3):
                cov.add(trace_pt, jobs=1)
                cov.functions()
                cov.lines(uncovered=True)
                assert cov.info.traces > 0
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert cov.info.traces == 12
    one = trace_pt.coverage().lines().to_dict()["count"]
    assert cov.lines().to_dict()["count"] == [12 * n for n in one]
