"""Plans decode what was asked for, as often as it is asked for."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import hwt
from hwt.events import Events, calls_of_text
from hwt.histogram import Histogram

np = pytest.importorskip("numpy")

WHATS = ["events", "insns", "samples", "packets", "records", "calls"]


def plan(trace: Any, what: str, **filters: Any) -> Events:
    made = getattr(trace, what)(**filters)
    assert isinstance(made, Events)
    return made


@pytest.fixture
def damaged(pt):
    """The example, 40 bytes that are no packet, and its first bytes again."""
    with hwt.open(pt) as trace:
        n = trace.info.n_bytes
        raw = trace.read_bytes(0, 0, n)
    builder = hwt.Builder.open(pt)
    builder.add_bytes(0, b"\xff" * 40)
    builder.add_bytes(0, raw)
    with builder.seal() as trace:
        yield trace, n


# Rows.


@pytest.mark.parametrize("what", WHATS)
def test_all_ways_to_read_have_the_same_rows(trace_pt, trace_spe, what):
    trace = trace_spe if what == "samples" else trace_pt
    rows = plan(trace, what)
    if what == "insns":
        rows = rows.select("ip", "kind", "branch", "taken", "async")
    taken = list(rows)
    assert len(taken) == rows.count() > 0
    for size in (1, 1000, 65536):
        if size == 1 and len(taken) > 1000:
            continue
        batches = list(rows.batches(rows=size))
        assert [len(one) for one in batches[:-1]] == [size] * (
            len(batches) - 1
        )
        assert [row for one in batches for row in one.rows()] == taken
    arrays = rows.to_numpy()
    assert tuple(arrays) == rows.columns
    for name, values in arrays.items():
        field = name if name != "async" else "async_"
        assert values.tolist() == [getattr(row, field) for row in taken]


def test_rows_are_what_the_program_did(trace_pt):
    """The example says how it was made: calls of functions, by name."""
    calls = plan(trace_pt, "calls", columns=["function", "insns"])
    blocks = plan(trace_pt, "events", kinds="block", columns=["insns"])
    insns = plan(trace_pt, "insns", kinds="insn", columns=["ip"])
    assert sum(row.insns for row in blocks) == insns.count()
    names = {row.function for row in calls}
    assert {"run", "orders_main", "number", "table_init"} <= names


def test_a_plan_is_run_any_number_of_times(trace_pt):
    rows = plan(trace_pt, "events", columns=["ip"])
    first, second = rows.batches(rows=100), rows.batches(rows=100)
    for a, b in zip(first, second):
        assert a["ip"].tolist() == b["ip"].tolist()
    assert rows.count() == rows.count()


def test_where_and_select_make_new_plans(trace_pt):
    rows = plan(trace_pt, "events", kinds=["block"], columns=["ip"])
    more = rows.where(kinds=None)
    assert rows.filters == {"kinds": ["block"]} and more.filters == {}
    assert more.columns == ("ip",) and more.count() > rows.count()
    assert more.select("kind", "ip").columns == ("kind", "ip")
    rows.filters["kinds"] = "gap"
    assert rows.filters == {"kinds": ["block"]}


def test_columns_come_in_the_order_that_is_asked_for(trace_pt):
    names = ("insns", "kind", "time_ns")
    rows = plan(trace_pt, "events", columns=names)
    assert rows.columns == names
    assert next(iter(rows))._fields == names
    assert [f.name for f in rows.schema] == list(names)


def test_columns_without_values_are_left_out_unless_named(
    trace_pt, trace_spe
):
    assert not [
        name
        for name in plan(trace_pt, "events").columns
        if name.startswith("sample_")
    ]
    assert "sample_pa" in plan(trace_spe, "events").columns
    assert "gap_text" not in plan(trace_spe, "samples").columns
    named = plan(trace_pt, "events", columns=["sample_pa", "ip"])
    assert named.columns == ("sample_pa", "ip")


def test_filters_choose_rows(trace_pt):
    all_rows = list(plan(trace_pt, "events", kinds="block"))
    low = min(row.ip for row in all_rows)
    here = plan(
        trace_pt, "events", kinds="block", address=(low, low + 1)
    )
    assert here.count() == sum(
        row.ip <= low < row.ip + row.bytes for row in all_rows
    )
    times = sorted(row.time_ns for row in all_rows)
    middle = times[len(times) // 2]
    for window, want in (
        ((None, middle), [t for t in times if t < middle]),
        ((middle, None), [t for t in times if t >= middle]),
        ([(0, times[0] + 1), (middle, middle + 1)],
         [t for t in times if t <= times[0] or t == middle]),
    ):
        rows = plan(trace_pt, "events", kinds="block", time=window)
        assert sorted(row.time_ns for row in rows) == want
    tids = {row.tid for row in all_rows}
    assert (
        sum(plan(trace_pt, "events", kinds="block", tid=t).count()
            for t in tids)
        == len(all_rows)
    )
    assert plan(trace_pt, "events", tid=sorted(tids)).count() > 0
    assert plan(trace_pt, "events", tid=np.uint32(12345)).count() == 0


def test_packets_of_a_kind_and_a_range(trace_pt):
    rows = list(plan(trace_pt, "packets"))
    tips = plan(trace_pt, "packets", kinds="tip")
    assert tips.count() == sum(row.kind == "tip" for row in rows) > 0
    part = plan(trace_pt, "packets", offset=(100, 200), sync=False)
    inside = [row.stream_off for row in part]
    assert inside and 100 <= min(inside) and max(inside) < 200
    assert plan(trace_pt, "packets", stream=0).count() == len(rows)
    assert plan(trace_pt, "packets", stream=[0, 0]).count() == 2 * len(rows)


def test_calls_have_begins_if_they_are_asked_for(trace_pt):
    ends = plan(trace_pt, "calls", columns=["kind"])
    both = plan(trace_pt, "calls", columns=["kind"], enters=True)
    assert {row.kind for row in ends} == {"leave"}
    assert both.count() == 2 * ends.count()


def test_calls_of_a_text_are_a_plan(tmp_path):
    path = tmp_path / "branches.txt"
    path.write_text(
        "7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p)"
        " => 2000 leaf+0x0 (p)\n"
        "7/8 1.000000110: 1 branches:u: return 2008 leaf+0x8 (p)"
        " => 1005 main+0x5 (p)\n"
    )
    rows = calls_of_text(path, columns=["function", "tid", "ns"])
    assert ("leaf", 8, 10) in [tuple(row) for row in rows]
    with pytest.raises(TypeError, match="no filter 'kinds'"):
        calls_of_text(path, kinds="gap")
    with pytest.raises(hwt.TraceIOError):
        calls_of_text(tmp_path / "nothing")
    path.write_text("nothing of the kind\n")
    with pytest.raises(hwt.UnrecognizedError):
        calls_of_text(path)


# What is refused.


@pytest.mark.parametrize(
    "filters, error, says",
    [
        ({"cpus": 1}, TypeError, "did you mean 'cpu'"),
        ({"cpu": -1}, ValueError, "cpu=-1 is not in"),
        ({"cpu": True}, TypeError, "no number"),
        ({"cpu": "0"}, TypeError, "no whole number"),
        ({"cpu": 1.5}, TypeError, "no whole number"),
        ({"tid": []}, ValueError, "leave it out"),
        ({"tid": [1, 1 << 32]}, ValueError, "not in"),
        ({"time": 5}, TypeError, "no pair"),
        ({"time": (5,)}, TypeError, "no pair"),
        ({"time": (5, 5)}, ValueError, "is empty"),
        ({"time": [(1, 2), (3, 2)]}, ValueError, "is empty"),
        ({"time": "ab"}, TypeError, "no pair"),
        ({"address": (0, 1 << 65)}, ValueError, "not in"),
        ({"kinds": "gup"}, ValueError, "did you mean 'gap'"),
        ({"kinds": [1]}, TypeError, "no name"),
        ({"kinds": []}, ValueError, "leave it out"),
        ({"kinds": 7}, TypeError, "no name"),
        ({"engine": "a\0b"}, TypeError, "no name"),
        ({"jobs": -1}, ValueError, "not in"),
        ({"columns": ["ipp"]}, hwt.InvalidError, "is it ip"),
        ({"columns": ["ip", "ip"]}, hwt.InvalidError, "named twice"),
        ({"columns": []}, ValueError, "leave it out"),
    ],
)
def test_what_a_plan_cannot_have_is_refused_at_once(
    trace_pt, filters, error, says
):
    with pytest.raises(error, match=says):
        trace_pt.events(**filters)


def test_what_the_trace_does_not_have_is_refused_by_a_pass(trace_pt):
    with pytest.raises(hwt.NotFoundError, match="stream 77"):
        trace_pt.events(stream=77).batches()
    with pytest.raises(hwt.NotFoundError, match="engine"):
        trace_pt.events(engine="none").count()
    with pytest.raises(ValueError, match="rows=0"):
        trace_pt.events().batches(rows=0)
    with pytest.raises(ValueError, match="below 0"):
        trace_pt.events().head(-1)


def test_a_closed_trace_begins_no_pass_and_ends_those_that_run(pt):
    trace = hwt.open(pt)
    rows = trace.events(columns=["ip"])
    want = rows.count()
    batches = rows.batches(rows=1000)
    n = len(next(batches))
    trace.close()
    assert n + sum(len(one) for one in batches) == want
    with pytest.raises(hwt.ClosedError):
        rows.batches()
    assert "plan of events" in repr(rows)


# Heads, counts, losses.


def test_a_head_is_the_first_rows(trace_pt):
    rows = plan(trace_pt, "events", columns=["ip", "kind", "taken"])
    head = rows.head(7)
    want = [tuple(row) for _, row in zip(range(7), rows)]
    assert [tuple(row) for row in head.rows()] == want
    assert len(rows.head(0)) == 0
    few = plan(trace_pt, "records")
    assert len(few.head(1000)) == few.count()


def test_counts_are_of_a_whole_pass(trace_pt):
    rows = plan(trace_pt, "events")
    batches = rows.batches(rows=100)
    next(batches)
    part = batches.stats()
    assert part.rows == 100 and not part.complete
    assert part.notes == ["the pass did not come to its end"]
    whole = rows.stats()
    assert whole.complete and whole.bytes == trace_pt.info.n_bytes
    assert whole.lost_bytes == 0 and whole.notes == []
    assert sum(whole.kinds.values()) == sum(
        rows.where(kinds=[kind]).count() for kind in whole.kinds
    )


def test_damage_is_rows_and_told(damaged):
    trace, n = damaged
    rows = plan(
        trace, "events", columns=["kind", "gap_first", "gap_end"]
    )
    gaps = [row for row in rows if row.kind == "gap"]
    assert [row.gap_first for row in gaps] == [n]
    stats = rows.stats()
    assert sum(stats.gaps.values()) == 1
    assert stats.lost_bytes == gaps[0].gap_end - n >= 40
    assert "1 gap of reason" in stats.notes[0]
    assert rows.head(3).notes == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_strict_pass_has_the_good_rows_and_then_says_where(damaged, jobs):
    trace, n = damaged
    rows = plan(trace, "events", columns=["stream_off"], jobs=jobs)
    good = [
        row
        for row in rows.where(columns=["kind", "stream_off"])
    ]
    want = next(i for i, row in enumerate(good) if row.kind == "gap")
    batches = rows.where(strict=True).batches(rows=1000)
    taken = 0
    with pytest.raises(hwt.CorruptTraceError) as caught:
        for batch in batches:
            taken += len(batch)
    assert want <= taken <= want + 1
    assert caught.value.offset == n
    assert caught.value.code == -20
    # It stays so.
    with pytest.raises(hwt.CorruptTraceError):
        next(batches)
    assert not batches.stats().complete


def test_progress_is_told_in_bytes(trace_pt):
    told: list = []
    n = trace_pt.info.n_bytes
    rows = plan(trace_pt, "insns", columns=["ip"])
    for _ in rows.batches(
        rows=20000, progress=lambda *bytes_: told.append(bytes_)
    ):
        pass
    assert {total for _, total in told} == {n}
    done = [one for one, _ in told]
    assert done == sorted(done) and done[-1] == n and len(told) > 3


# Passes that are given up, and threads.


def test_a_pass_that_is_closed_has_no_more_rows(trace_pt):
    batches = plan(trace_pt, "insns").batches(rows=100)
    next(batches)
    batches.close()
    batches.close()
    with pytest.raises(StopIteration):
        next(batches)
    assert batches.stats().rows == 100
    with plan(trace_pt, "insns").batches(rows=100) as batches:
        next(batches)
    assert list(batches) == []


def test_threads_run_plans_of_one_trace_at_the_same_time(trace_pt):
    rows = plan(trace_pt, "insns", columns=["ip"])
    want = [b["ip"].tobytes() for b in rows.batches(rows=5000)]

    def run(i: int) -> bool:
        mine = rows.where(jobs=1 + i % 2)
        return [b["ip"].tobytes() for b in mine.batches(rows=5000)] == want

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [True] * 8


def test_threads_share_the_batches_of_a_pass(trace_pt):
    rows = plan(trace_pt, "insns", columns=["stream_off"])
    want = rows.count()
    batches = rows.batches(rows=100)
    with ThreadPoolExecutor(4) as pool:
        counts = pool.map(
            lambda _: sum(len(b) for b in batches), range(4)
        )
        assert sum(counts) == want
    assert batches.stats().rows == want


def test_a_pass_can_be_closed_while_another_thread_is_in_it(trace_pt):
    for _ in range(20):
        batches = plan(trace_pt, "insns", jobs=2).batches(rows=1000)
        begun = threading.Event()

        def eat() -> None:
            for _batch in batches:
                begun.set()

        thread = threading.Thread(target=eat)
        thread.start()
        begun.wait(10)
        batches.close()
        thread.join(10)
        assert not thread.is_alive()


def test_passes_that_are_forgotten_are_closed(trace_pt):
    for _ in range(50):
        batches = plan(trace_pt, "insns", jobs=2).batches(rows=100)
        next(batches)
    del batches
    gc.collect()


# How plans look.


def test_a_plan_says_what_it_is_of(trace_pt):
    assert repr(plan(trace_pt, "events")) == "<hwt.Events plan of events: all>"
    assert (
        repr(plan(trace_pt, "insns", cpu=0, columns=["ip", "insns"]))
        == "<hwt.Events plan of insns: cpu=0; columns ip, insns>"
    )


# Rows as structs.


@pytest.mark.parametrize("what", ["events", "insns"])
def test_rows_of_structs_are_those_of_columns(trace_pt, what):
    rows = plan(trace_pt, what)
    names = ("ip", "stream_off", "insns", "bytes", "stream", "context")
    batches = rows.batches(rows=3000, layout="rows")
    structs = list(batches)
    assert [len(one) for one in structs[:-1]] == [3000] * (len(structs) - 1)
    assert batches.stats() == rows.stats()
    whole = np.concatenate(structs)
    assert whole.itemsize == 64
    arrays = rows.select(*names, "kind").to_numpy()
    for name in names:
        known = ~np.ma.getmaskarray(arrays[name])
        assert (whole[name][known] == arrays[name][known]).all()
    blocks = {"events": 1, "insns": 2}[what]
    code = {"events": "block", "insns": "insn"}[what]
    assert ((whole["kind"] == blocks) == (arrays["kind"] == code)).all()


def test_structs_cannot_be_written_and_outlive_the_pass(trace_pt):
    with plan(trace_pt, "events").batches(rows=10, layout="rows") as batches:
        first = next(batches)
    with pytest.raises(ValueError):
        first["ip"][0] = 1
    want = next(plan(trace_pt, "events").batches(rows=10, layout="rows"))
    gc.collect()
    assert (first == want).all()
    assert list(batches) == []


def test_a_strict_pass_of_structs_says_where(damaged):
    trace, n = damaged
    taken = 0
    with pytest.raises(hwt.CorruptTraceError) as caught:
        for batch in plan(trace, "events", strict=True).batches(
            rows=1000, layout="rows"
        ):
            taken += len(batch)
    assert taken > 50000 and caught.value.offset == n


def test_layouts_that_are_not_there_are_refused(trace_pt):
    with pytest.raises(ValueError, match="calls have no layout 'rows'"):
        plan(trace_pt, "calls").batches(layout="rows")
    with pytest.raises(ValueError, match="no layout 'words'"):
        plan(trace_pt, "events").batches(layout="words")


def test_the_benchmark_reads_what_it_says(trace_pt, repo):
    import runpy

    bench = runpy.run_path(
        str(repo / "bindings/python/bench/bench_batches.py")
    )
    insns = plan(trace_pt, "insns", kinds="insn").count()
    n = plan(trace_pt, "insns").count()
    for name in ("of_columns", "of_rows"):
        assert bench[name](trace_pt, n, 1, 5000) == (n, insns, insns)


@pytest.mark.parametrize(
    ("filters", "n"),
    [
        ({"tid": iter([1001])}, 52503),
        ({"time": iter([iter((0, 1 << 62))])}, 52503),
        ({"time": np.array([[0, 1 << 62]])}, 52503),
        ({"time": np.array([0, 1 << 62], "u8")}, 52503),
        ({"stream": np.array(0)}, 52503),
        ({"kinds": (kind for kind in ["enable", "disable"])}, None),
        ({"kinds": np.array(["enable", "disable"])}, None),
    ],
)
def test_values_of_filters_can_be_read_once_and_the_plan_often(
    trace_pt, filters, n
):
    made = trace_pt.events(**filters)
    first = made.to_numpy()["stream_off"]
    if n is not None:
        assert len(first) == n
    assert len(first) == made.count() == len(list(made.where()))


def test_a_plan_does_not_change_with_the_values_of_its_filters(trace_pt):
    tids = [1001]
    made = trace_pt.events(tid=tids)
    tids.append(5)
    made.filters["tid"].append(7)
    assert made.filters == {"tid": [1001]}


def test_streams_of_packets_are_chosen_as_those_of_events(trace_pt):
    n = trace_pt.packets().count()
    for stream in (0, [0], np.array([0]), (number for number in [0])):
        made = trace_pt.packets(stream=stream)
        assert made.count() == len(list(made)) == n
    for wrong in ([], -1, 1 << 32):
        with pytest.raises(ValueError, match="stream"):
            trace_pt.packets(stream=wrong)


def test_comparisons_read_values_of_filters_for_both_traces(pt):
    with hwt.open(pt) as trace:
        made = trace.diff(trace, time=iter([(0, 1 << 62)]))
        assert made.info.by == "insns"
        pairs = trace.divergences(trace, tid=iter([1001]))
        assert len(pairs.threads()) == len(pairs.threads()) == 1
        twice = Histogram.of([trace, trace], tid=iter([1001]))
        assert len(twice.rows()) > 0
