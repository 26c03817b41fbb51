"""Profiles: the numbers of the tool, and nothing half-added."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Optional

import pytest

import hwt
from hwt._native import check, context, error, ffi, lib, new
from hwt.errors import InvalidError, NotFoundError, StateError
from hwt.profile import Profile

TOOL = os.environ.get("HWTDECODE_TOOL", "")

needs_tool = pytest.mark.skipif(
    not os.path.exists(TOOL), reason="no HWTDECODE_TOOL"
)

# Of the example: what nm(1) says of its functions, and what it was run with.
ORDERS = 1500

#: Traces and the folder that their files are in, below fixtures/.
FIXTURES = [
    "threads-share-the-maps-of-their-process",
    "thread-that-migrates-is-followed-by-time",
    "file-that-is-not-there-is-a-gap",
    "code-that-a-poke-adds-has-a-symbol",
]

# Numbers of rows of the tool: those of calls, those of counts.
OF_CALLS = (
    "calls",
    "self_insns",
    "total_insns",
    "self_cycles",
    "total_cycles",
    "self_ns",
    "total_ns",
    "self_gap_ns",
    "gap_ns",
    "off_ns",
    "gaps",
    "gap_bytes",
)
OF_COUNTS = ("insns", "entered", "count")
WHO = (
    "function",
    "linkage_name",
    "inlined",
    "function_offset",
    "function_address",
    "without",
    "image",
    "offset",
    "bytes",
    "pid",
    "tid",
    "stream",
    "thread",
    "cpu",
)


def tool_lines(path: Path, root: Optional[Path], *args: str) -> list[Any]:
    """What the tool prints of a trace."""
    command = [TOOL, *args, "--format", "jsonl", str(path)]
    if root is not None:
        command += ["--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Hex digits as numbers."""
    return {
        key: (
            int(value, 16)
            if key.endswith(("offset", "address")) and isinstance(value, str)
            else value
        )
        for key, value in row.items()
    }


def key_of(row: dict[str, Any], who: tuple[str, ...]) -> Any:
    return tuple(row.get(name) or None for name in who)


def by_key(
    rows: Any, who: tuple[str, ...], numbers: tuple[str, ...]
) -> dict[Any, Any]:
    """Numbers of rows that have any, by what they are of."""
    out: dict[Any, Any] = {}
    for row in rows:
        sums = {k: row[k] for k in numbers if row.get(k) is not None}
        if any(sums.values()):
            key = key_of(row, who)
            assert key not in out
            out[key] = sums
    return out


def traces(pt: Path, repo: Path) -> Any:
    yield pt, None
    yield pt.with_name("pt_before.hwt"), None
    for name in FIXTURES:
        folder = repo / "fixtures" / "perf-data" / name
        root = folder / "root"
        yield folder / "perf.data", root if root.is_dir() else None


def opened(path: Path, root: Optional[Path]) -> Any:
    return hwt.open(path, root=root) if root else hwt.open(path)


@needs_tool
@pytest.mark.parametrize(
    "by", ["function", "line", "inline", "image", "thread", "block", "cpu"]
)
def test_reports_have_the_numbers_of_the_tool(
    by: str, pt: Path, repo: Path
) -> None:
    who = WHO
    if by == "line":
        # Of other tables the tool does not say it.
        who += ("file", "line")
    if by == "block":
        who = ("function", "image", "offset", "bytes")
    for path, root in traces(pt, repo):
        with opened(path, root) as trace:
            # With lines blocks end where lines do.
            profile = trace.profile(
                lines=by in ("line", "inline"), by_thread=by == "thread"
            )
        mine = [row._asdict() for row in profile.report(by).rows()]
        lines = tool_lines(path, root, "report", "--by", by)
        rows = [plain(o) for o in lines if o["type"] == "report_row"]
        counts = by_key(rows, who, OF_COUNTS)
        assert counts and by_key(mine, who, OF_COUNTS) == counts
        if by in ("line", "inline", "block", "cpu"):
            shares = {key_of(o, who): o["self_percent"] for o in rows}
            assert {
                key_of(o, who): o["self_percent"] for o in mine
            } == pytest.approx(shares, rel=1e-5)
            continue
        lines = tool_lines(path, root, "report", "--calls", "--by", by)
        rows = [plain(o) for o in lines if o["type"] == "report_row"]
        calls = by_key(rows, who, OF_CALLS)
        got = by_key(mine, who, OF_CALLS)
        assert calls and got == calls
        shares = {
            key_of(o, who): (o["self_percent"], o["total_percent"])
            for o in rows
        }
        for row in mine:
            wanted = shares.get(key_of(row, who), (0, 0))
            assert (
                row["self_percent"],
                row["total_percent"],
            ) == pytest.approx(wanted, rel=1e-5)


@needs_tool
def test_order_is_that_of_the_tool(pt: Path) -> None:
    with hwt.open(pt) as trace:
        names = trace.report().column("function").to_list()
        lines = trace.report("line").column("line").to_list()
    rows = tool_lines(pt, None, "report", "--calls")[:-1]
    assert names == [row.get("function") for row in rows]
    rows = tool_lines(pt, None, "report", "--by", "line")[:-1]
    assert lines == [row.get("line") for row in rows]


@needs_tool
def test_losses_are_those_of_the_tool(pt: Path, repo: Path) -> None:
    lossy = 0
    for path, root in traces(pt, repo):
        with opened(path, root) as trace:
            profile = trace.profile()
        told = tool_lines(path, root, "report", "--calls")[-1]
        loss, info = profile.loss, profile.info
        assert loss.source == "calls"
        for name in ("bytes", "insns", "gap_bytes", "file_gap_bytes", "gaps"):
            assert getattr(loss, name) == told[name]
        for name in ("timed_calls", "estimated_calls", "interpolated_calls"):
            assert getattr(loss, name) == told.get(name, 0)
        inexact = loss.estimated_calls + loss.interpolated_calls
        assert info.total.calls == told["calls"]
        assert info.idle_ns == told.get("idle_ns", 0)
        lossy += bool(loss.gaps)
        assert bool(loss.gaps or inexact) == bool(profile.notes)
        assert profile.report().notes == profile.notes
        assert ("interpolated" in " ".join(profile.notes)) == bool(
            loss.interpolated_calls
        )
        for reason, n in loss.gaps.items():
            assert f"{n} {reason}" in profile.notes[0]
    assert lossy == 1


@needs_tool
@pytest.mark.parametrize("side", ["callers", "callees"])
def test_relatives_are_those_of_the_tool(side: str, pt: Path) -> None:
    with hwt.open(pt) as trace:
        profile = trace.profile()
    ends = ("caller", "caller_image", "callee", "callee_image", "type")
    compared = 0
    for name in ("sort", "print", "orders_main"):
        mine = [row._asdict() for row in getattr(profile, side)(name).rows()]
        for args, number in ((("--calls",), "calls"), ((), "branches")):
            told = tool_lines(pt, None, "report", f"--{side}", name, *args)
            wanted = {}
            for row in told:
                if row["type"] == "report_relative":
                    row["type"] = row.pop("call")
                    wanted[key_of(row, ends)] = row
            got = {key_of(row, ends): row for row in mine if row[number]}
            assert got.keys() == wanted.keys()
            compared += len(wanted)
            for key, row in wanted.items():
                assert got[key][number] == row["calls"]
                if number == "calls":
                    for sums in ("insns", "ns", "gap_ns", "gap_bytes"):
                        assert got[key][sums] == row[sums]
    assert compared > 8


def test_a_profile_tells_what_the_program_did(trace_pt: Any) -> None:
    profile = trace_pt.profile()
    rows = {row.function: row for row in profile.report().rows()}
    # orders.c takes so many orders, one after the other.
    assert rows["take_order"].calls == rows["take_order"].entered == ORDERS
    assert rows["orders_main"].calls == 1
    assert rows["take_order"].file.endswith("orders.c")
    nodes = list(profile.nodes().rows())
    assert [row.node for row in nodes] == list(range(profile.info.nodes))
    assert nodes[0].parent is None and nodes[0].without == "[no call]"
    for row in nodes[1:]:
        assert row.parent < row.node
        assert row.depth == nodes[row.parent].depth + 1
    total = profile.info.total
    assert sum(row.self_insns for row in nodes) == total.insns
    assert sum(row.self_ns for row in nodes) == total.ns
    blocks = list(profile.blocks().rows())
    assert sum(b.count * b.insns for b in blocks) == total.insns
    edges = list(profile.edges().rows())
    entered = sum(
        e.count for e in edges if e.to_function == "take_order" and e.to_start
    )
    assert entered == ORDERS


@pytest.mark.parametrize(
    "by", ["function", "line", "inline", "image", "thread", "block", "cpu"]
)
def test_a_report_alone_is_that_of_a_profile(by: str, trace_pt: Any) -> None:
    from hwt.profile import report

    for how in ({}, {"by_thread": True}):
        table = report(trace_pt, by, **how)
        wanted = trace_pt.profile(**how).report(by)
        assert table.to_dict() == wanted.to_dict()
        assert table.title == wanted.title
    with pytest.raises(InvalidError, match="did you mean"):
        report(trace_pt, by + "s")


def test_parts_add_up_to_the_whole(pt: Path) -> None:
    with hwt.open(pt) as trace:
        whole = Profile.of(trace)
        twice = Profile().add(trace).add(trace)
        merged = Profile.of(trace).merge(whole)
    assert twice.info == merged.info
    assert twice.report().to_dict() == merged.report().to_dict()
    one, two = whole.info, twice.info
    assert two.total.insns == 2 * one.total.insns
    assert two.functions == one.functions
    assert two.seen["runs"].traces == 2
    # What was merged is as it was, and does not need the other one.
    assert whole.info == one
    whole.close()
    assert merged.info == two


def test_time_cut_in_two_is_the_whole_in_counts(pt: Path) -> None:
    with hwt.open(pt) as trace:
        rows = trace.events(columns=["time_ns"]).head(100000)
        times = [t for t in rows.column("time_ns").to_list() if t is not None]
        cut = (min(times) + max(times)) // 2
        whole = Profile.of(trace, sources="events")
        parts = Profile()
        parts.add(trace, sources="events", time=(0, cut))
        parts.add(trace, time=(cut, 1 << 62))
    assert parts.sources == ("events",)
    assert (
        parts.report("cpu").to_dict()["insns"]
        == whole.report("cpu").to_dict()["insns"]
    )


def test_tables_outlive_the_profile_and_the_trace(pt: Path) -> None:
    trace = hwt.open(pt)
    profile = trace.profile()
    table = profile.report()
    wanted = table.to_dict()
    trace.close()
    profile.close()
    del trace, profile
    gc.collect()
    assert table.to_dict() == wanted


def test_misuse_is_refused(trace_pt: Any, pt: Path) -> None:
    profile = trace_pt.profile(lines=False)
    with pytest.raises(InvalidError, match="did you mean 'function'"):
        profile.report("functio")
    with pytest.raises(InvalidError, match="lines=False"):
        profile.report("line")
    with pytest.raises(NotFoundError, match="did you mean 'take_order'"):
        profile.callers("take_ordr")
    with pytest.raises(TypeError, match="no name"):
        profile.callers(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="itself"):
        profile.merge(profile)
    for other in (
        trace_pt.profile(),
        trace_pt.profile(lines=False, by_thread=True),
        trace_pt.profile(lines=False, sources="calls"),
        trace_pt.profile(lines=False, edges=False),
    ):
        with pytest.raises(InvalidError, match="different options"):
            profile.merge(other)
    with pytest.raises(InvalidError, match="needs runs"):
        trace_pt.profile(sources="calls").report("block")
    with pytest.raises(InvalidError, match="needs calls"):
        trace_pt.profile(sources=["runs"]).nodes()
    with pytest.raises(InvalidError, match="edges=False"):
        trace_pt.profile(edges=False).edges()
    with pytest.raises(ValueError, match="did you mean 'calls'"):
        trace_pt.profile(sources="call")
    with pytest.raises(TypeError, match="cpus"):
        trace_pt.profile(cpus=1)
    with pytest.raises(TypeError, match="kinds"):
        trace_pt.profile(kinds="block")
    with pytest.raises(ValueError, match="closed"):
        closed = hwt.open(pt)
        closed.close()
        Profile.of(closed)
    profile.close()
    profile.close()
    assert repr(profile) == "<hwt.Profile: closed>"
    for use in (
        profile.report,
        profile.nodes,
        lambda: profile.info,
        lambda: profile.callers("x"),
        lambda: profile.add(trace_pt),
        lambda: Profile().merge(profile),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_an_empty_profile_has_nothing() -> None:
    profile = Profile()
    assert repr(profile) == "<hwt.Profile: empty>"
    assert profile.notes == ("nothing was added",)
    assert len(profile.report()) == 0
    assert len(profile.nodes()) == len(profile.blocks()) == 0


def test_an_address_range_leaves_out_calls(trace_pt: Any) -> None:
    profile = trace_pt.profile(address=(0x400000, 0x500000))
    assert profile.sources == ("runs", "events")
    row = next(profile.report().rows())
    assert row.calls is None and row.self_ns is None and row.insns > 0
    with pytest.raises(InvalidError):
        trace_pt.profile(address=(0, 5), sources="calls")


def test_progress_tells_bytes_of_all_passes(trace_pt: Any) -> None:
    told: list[Any] = []
    trace_pt.profile(progress=lambda *a: told.append(a))
    total = 3 * trace_pt.info.n_bytes
    assert told[-1] == (total, total)
    assert {t[1] for t in told} == {total}
    assert [t[0] for t in told] == sorted(t[0] for t in told)


class Stop(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_what_is_broken_off_leaves_nothing(steps: int, pt: Path) -> None:
    with hwt.open(pt) as trace:
        kept = Profile.of(trace)
        before = kept.info
        left = steps

        def progress(*_: int) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Stop

        with pytest.raises(Stop):
            kept.add(trace, progress=progress)
        assert kept.info == before
        left = steps
        with pytest.raises(Stop):
            Profile.of(trace, progress=progress)
    gc.collect()


def test_control_c_stops_a_profile(pt: Path) -> None:
    """Sent to this process while it adds the trace over and over."""
    with hwt.open(pt) as trace:
        profile = Profile()
        timer = threading.Timer(
            0.2, lambda: os.kill(os.getpid(), signal.SIGINT)
        )
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            began = time.monotonic()
            while time.monotonic() - began < 20:
                profile.add(trace)
        assert time.monotonic() - began < 5
        timer.join()
        assert (
            profile.info.total.calls % Profile.of(trace).info.total.calls == 0
        )


def test_threads_use_one_profile(trace_pt: Any) -> None:
    profile = trace_pt.profile()
    wanted = profile.report().to_dict()
    failed: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(5):
                assert profile.report().to_dict() == wanted
                profile.blocks()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for one in threads:
        one.start()
    profile.callers("sort")
    for one in threads:
        one.join()
    assert not failed


def test_nothing_is_added_while_it_is_exported(trace_pt: Any) -> None:
    profile = trace_pt.profile()
    with profile._exported():
        with pytest.raises(StateError, match="being exported"):
            profile.add(trace_pt)
        assert len(profile.report()) > 0
    profile.add(trace_pt)


def of_text(tmp_path: Path, names: list[bytes], *, by_thread: bool) -> Profile:
    """A profile of calls of functions with these names, each in the other."""
    lines = [
        b"7/8 1.000000000: 1 branches:u: tr strt 0 [unknown] ([unknown]) "
        b"=> 1000 m+0x0 (p)"
    ]
    at = b"1000 m+0x0 (p)"
    for i, name in enumerate(names):
        to = b"%x %s+0x0 (p)" % (0x2000 + i * 4096, name)
        lines.append(
            b"7/8 1.%09d: 1 branches:u: call %s => %s" % (i + 1, at, to)
        )
        at = to
    file = tmp_path / "branches.txt"
    file.write_bytes(b"\n".join(lines) + b"\n")
    options = new("struct hwtd_calls_options")
    options.flags = lib.HWTD_CALLS_ENTERS | lib.HWTD_CALLS_GAPS
    out, err = ffi.new("struct hwtd_calls **"), error()
    check(
        lib.hwtd_calls_open_text(
            context().c, os.fsencode(file), options, out, err
        ),
        err,
    )
    profile = Profile(by_thread=by_thread)
    while True:
        code = lib.hwtd_profile_add_calls(profile._handle.c, out[0], err)
        if check(code, err) == lib.HWTD_END:
            break
    lib.hwtd_calls_close(out[0])
    profile.sources = ("calls",)
    return profile


def test_names_of_functions_may_be_anything(tmp_path: Path) -> None:
    names = [
        b"<script>alert(1)</script>",
        b"a;b\"c'd&e",
        b"\xff\xfe",
        b"n" * 3000,
    ]
    profile = of_text(tmp_path, names, by_thread=False)
    got = set(profile.report().column("function").to_list())
    wanted = {n.decode("utf-8", "backslashreplace") for n in names}
    assert wanted <= got
    table = profile.callers(names[0].decode())
    assert table.column("caller").to_list() == ["m"]
    assert "\n" not in repr(profile)
    assert len(repr(profile.nodes())) < 5000
