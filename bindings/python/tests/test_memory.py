"""Tables of samples say what the tool says."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Dict, List

import pytest

import hwt
from hand_traces import EVIL, elf, sample, samples_trace, saved
from hwt.memory import Memory, mem
from tool_rows import assert_same, cell_is, csv_rows, imported, json_rows

TABLES = (
    "symbol",
    "insn",
    "address",
    "page",
    "line",
    "source",
    "cpu",
    "thread",
    "branch",
    "path",
)
COUNTS = (
    "samples loads stores atomics branches others taken mispredicted "
    "not_retired exceptions l1_accesses l1_misses l2_accesses l2_misses "
    "llc_accesses llc_misses tlb_accesses tlb_misses misaligned remote "
    "transfers modified"
).split()
N1 = 0x413FD0C1


def zero_is_unknown(mine: object, cell: str, n: str) -> bool:
    """What has no latency has none, where the tool has 0."""
    return cell_is(mine, cell) if int(n) else (mine is None and cell == "0")


def assert_rows(table: Any, rows: List[Dict[str, str]], by: str) -> None:
    assert len(table) == len(rows)
    columns = table.to_dict()
    numbers = [name for name in rows[0] if name.startswith(("at_", "missed_"))]
    for i, row in enumerate(rows):
        mine = {name: values[i] for name, values in columns.items()}
        for name in [*COUNTS, *numbers]:
            assert mine[name] == int(row[name]), name
        assert (mine["weight"] or 0) == int(row["weight"])
        for kind in ("total", "issue", "translation", "execution"):
            n, at_limit = (
                int(row[f"{kind}_{what}"]) for what in ("n", "saturated")
            )
            for what in ("n", "sum", "saturated", "saturated_sum", "at_least"):
                name = f"{kind}_{what}"
                assert mine[name] == int(row[name]), name
            for what in ("min", "max"):
                name = f"{kind}_{what}"
                assert zero_is_unknown(mine[name], row[name], str(n)), name
            for what in ("p50", "p90", "p99", "longest"):
                name = f"{kind}_{what}"
                assert zero_is_unknown(
                    mine[name], row[name], str(n + at_limit)
                ), name
            mean = mine[f"{kind}_mean"]
            if n == 0:
                assert mean is None
            else:
                assert mean == int(row[f"{kind}_sum"]) / n
        assert_what(mine, row, by)


def assert_what(mine: Dict[str, Any], row: Dict[str, str], by: str) -> None:
    """What the row is of."""
    renamed = {"address": "from"} if by in ("branch", "path") else {}
    for name in (
        "prev_target to is_taken address of source cpu pid tid image symbol "
        "symbol_address symbol_offset sharing users writers cpus"
    ).split():
        if name in mine:
            cell = row[renamed.get(name, name)]
            assert cell_is(mine[name], cell), (name, mine[name], cell)
        elif name != "cpus" or "sharing" in mine:
            assert row[name] == "", name
    if by == "source":
        assert (mine["source_name"] or "none") == (
            row["source_name"] or mine["source_name"]
        )


def assert_as_tool(memory: Memory, path: Path, *words: object) -> None:
    for by in TABLES:
        rows = csv_rows("mem", f"--by={by}", *words, path)
        if rows:
            assert_rows(memory.table(by), rows, by)
        else:
            assert len(memory.table(by)) == 0
        info = json_rows("mem", f"--by={by}", *words, path)[0]
        assert info["type"] == "mem_info"
        assert memory.info.rows[by] == info["rows"]
    mine = memory.info
    for name in (
        "samples used damaged truncated duplicate headless without_pc "
        "without_symbol without_origin saturated unweighted accesses_lost "
        "cpu_unknown branch_bias"
    ).split():
        assert getattr(mine, name) == info[name], name
    for name in ("interval_min", "interval_max", "collisions"):
        assert getattr(mine, name) == info.get(name), name
    assert mine.buffers == info.get("buffers")
    assert mine.buffers_cut_short == info.get("buffers_cut_short")
    assert mine.loss.bytes == info["bytes"]
    assert mine.loss.gap_bytes == info["gap_bytes"]
    assert mine.full == info["table_full"]
    if mine.midr is not None:
        assert mine.midr == int(info["midr"], 16)


def test_all_tables_are_those_of_the_tool(trace_spe: Any, spe: Path) -> None:
    memory = trace_spe.memory()
    assert memory.info.used == 3000
    assert_as_tool(memory, spe)
    for sort in ("samples", "max", "mean", "l1-misses", "transfers", "key"):
        rows = csv_rows("mem", f"--sort={sort}", "--by=insn", spe)
        assert_rows(memory.table("insn", sort=sort), rows, "insn")
    few = csv_rows("mem", "--top=3", spe)
    assert_rows(memory.table(limit=3), few, "symbol")


def test_fixtures_are_read_as_the_tool_does(
    repo: Path, tmp_path: Path
) -> None:
    for name in (
        "spe-good/all-fields-of-a-slot-are-read",
        "spe-good/sources-of-neoverse-cores-have-names",
        "spe-good/latencies-of-12-bits-end-at-4095",
        "spe-bad/changed-byte-costs-one-record",
        "spe-bad/record-of-a-model-is-cut-off",
    ):
        folder = repo / "fixtures" / name
        for raw in sorted(folder.glob("*.spe")):
            path = imported(
                tmp_path,
                f"{folder.name}-{raw.stem}.hwt",
                "--tech=spe",
                f"--spe-cpu={N1:#x}",
                raw,
            )
            with hwt.open(path) as trace:
                assert_as_tool(trace.memory(), path)
    path = (
        repo
        / "fixtures/perf-data/spe-buffers-tell-collisions-and-losses"
        / "perf.data"
    )
    with hwt.open(path) as trace:
        memory = trace.memory()
        assert_as_tool(memory, path)
    assert memory.info.collisions is not None
    assert any(note.startswith("collisions: in") for note in memory.notes)


def test_lines_that_threads_share(trace_spe: Any, spe: Path) -> None:
    memory = trace_spe.memory(accesses=True)
    rows = json_rows("mem", "--by=sharing", spe)[1:]
    lines = [row for row in rows if row["type"] == "mem"]
    table = memory.sharing()
    assert lines and len(table) == len(lines)
    for mine, its in zip(table.rows(), lines):
        assert mine.address == int(its["address"], 16)
        for name in ("sharing", "users", "writers", "cpus", "transfers"):
            assert getattr(mine, name) == its[name]
    assert table.to_dict() == mem(trace_spe, "sharing").to_dict()
    special = {
        "source_name": lambda mine, its: (
            mine.source_name or "none"
            if mine.source is None
            else mine.source_name
        )
        == (its["source_name"] or None),
    }
    assert_same(
        memory.accesses(),
        csv_rows("mem", "--by=line", "--accesses", spe),
        special=special,
    )
    first = memory.accesses(0, sort="sharing")
    assert set(first.to_dict()["line"]) == {table.to_dict()["address"][0]}
    at = table.to_dict()["address"][0]
    assert memory.accesses(address=at).to_dict() == first.to_dict()


def test_histograms_are_those_of_the_tool(trace_spe: Any, spe: Path) -> None:
    memory = trace_spe.memory()
    rows = json_rows("mem", "--histogram", spe)[1:]
    sums: Dict[Any, int] = {}
    for i, row in enumerate(rows):
        for kind in ("total", "issue", "translation", "execution"):
            got = memory.histogram(i, kind=kind)
            buckets = [list(b) for b in got.rows()]
            assert buckets == row[f"{kind}_histogram"]
        for first, end, n in row["total_histogram"]:
            sums[first, end] = sums.get((first, end), 0) + n
        name = row["symbol"]
        assert memory.histogram(name).to_dict() == (
            memory.histogram(i).to_dict()
        )
    whole = [tuple(b) for b in memory.histogram().rows()]
    assert whole == [(*key, n) for key, n in sorted(sums.items())]


def test_latencies_at_their_limit_are_in_no_mean(tmp_path: Path) -> None:
    samples = [sample(total=t) for t in (10, 20, 30, 4095, 4095)]
    trace = samples_trace([samples], midr=N1, interval=4096)
    memory = trace.memory()
    row = next(memory.table("cpu").rows())
    assert row.samples == 5 and row.weight == 5 * 4096
    assert (row.total_n, row.total_mean, row.total_max) == (3, 20.0, 30)
    assert row.total_saturated == 2 and row.total_longest == 4095
    assert (row.total_p50, row.total_p99) == (30, 4095)
    # p90, p99 and the longest.
    assert row.total_at_least == 0b1110
    table = memory.histogram()
    assert sum(table.to_dict()["n"]) == 3
    assert table.notes == (
        "2 more were at the limit of their counter, or above",
    )
    assert any(
        note.startswith("latencies: 2 samples are at the limit")
        for note in memory.notes
    )
    svg = memory.svg()
    assert "3 latencies; 2 more at the limit" in svg
    # The others are above all that is drawn.
    assert "p50" in svg and "p99" not in svg
    assert_as_tool(memory, saved(trace, tmp_path / "a.hwt"))


def test_bias_and_interval_are_said() -> None:
    known = samples_trace([[sample()]], midr=N1, interval=4096).memory()
    assert any("erratum 1694299" in note for note in known.notes)
    assert any(note.startswith("interval: 4096;") for note in known.notes)
    blind = samples_trace([[sample()]]).memory()
    text = "\n".join(blind.notes)
    assert "erratum" not in text and "CPU: not known" in text
    assert "samples have no weight" in text
    assert blind.table().to_dict()["weight"] == [None]
    told = samples_trace([[sample()]]).memory(midr=N1, interval=100)
    assert told.table().to_dict()["weight"] == [100]
    assert told.info.midr == N1 and not told.info.cpu_unknown


def test_samples_that_are_damaged_are_in_no_table(tmp_path: Path) -> None:
    trace = samples_trace([[sample(), sample()[:30]]], midr=N1)
    memory = trace.memory()
    assert (memory.info.samples, memory.info.used) == (2, 1)
    assert memory.info.truncated == 1
    assert "1 cut off" in memory.notes[0]
    assert memory.loss.gap_bytes == 30
    assert any(
        note.startswith("not seen: 1 gap of 30 of") for note in memory.notes
    )
    assert_as_tool(memory, saved(trace, tmp_path / "a.hwt"))


def test_traces_are_merged_as_one(trace_spe: Any, spe: Path) -> None:
    twice = Memory.of([trace_spe, trace_spe])
    added = trace_spe.memory().add(trace_spe)
    merged = trace_spe.memory().merge(trace_spe.memory())
    for table in TABLES:
        rows = csv_rows("mem", f"--by={table}", spe, spe)
        for memory in (twice, added, merged):
            if rows:
                assert_rows(memory.table(table), rows, table)
    for memory in (twice, added, merged):
        assert memory.info.samples == 6000
        assert memory.loss.bytes == 2 * trace_spe.info.n_bytes
    # What only one has stays as it is.
    some = trace_spe.memory(tables="cpu")
    some.merge(trace_spe.memory(tables=["cpu", "source"]))
    assert sorted(some.info.rows) == ["cpu", "source"]
    assert sum(some.table("cpu").to_dict()["samples"]) == 6000


def test_filters_choose_samples(trace_spe: Any, spe: Path) -> None:
    for given, words in (
        ({"cpu": 1}, ["--cpu=1"]),
        ({"stream": 0}, ["--stream=0"]),
    ):
        assert_as_tool(trace_spe.memory(**given), spe, *words)
    whole = trace_spe.memory(tables="cpu").info.samples
    assert whole == 3000
    assert trace_spe.memory(address=(0, 0x210280)).info.samples < whole


def test_a_full_table_says_so(trace_spe: Any) -> None:
    memory = trace_spe.memory(tables=["address", "insn"], max_rows=10)
    table = memory.table("address")
    assert len(table) <= 11 and memory.info.full
    others = [row for row in table.rows() if row.no_room]
    assert len(others) == 1 and others[0].address is None
    assert sum(table.to_dict()["samples"]) == sum(
        trace_spe.mem("address").to_dict()["samples"]
    )
    assert any(note.startswith("rows: ") for note in table.notes)
    assert "no_room" not in trace_spe.mem("address").columns


def test_pictures_are_svg_with_safe_text(tmp_path: Path) -> None:
    path = tmp_path / "x.elf"
    path.write_bytes(elf([(EVIL, 0, 64)], b"\x1f\x20\x03\xd5" * 16))
    trace = samples_trace(
        [[sample(pc=0x401000 + 4 * (i % 4), total=i) for i in range(1, 40)]],
        midr=N1,
    )
    memory = trace.memory()
    for svg in (
        memory.svg(),
        memory.svg(0),
        memory.svg(0, table="cpu"),
        memory.svg(0, table="line", kind="issue"),
    ):
        root = ElementTree.fromstring(svg)
        assert root.tag.endswith("svg")
    assert "<b>" not in svg and "\x1b" not in svg


def test_misuse_is_told(trace_spe: Any, trace_pt: Any) -> None:
    memory = trace_spe.memory(tables=["cpu", "line"])
    for use, kind, text in (
        (lambda: memory.table("cpus_"), ValueError, "near it are 'cpu"),
        (lambda: memory.table("page"), ValueError, "was not asked for"),
        (lambda: memory.table("cpu", sort="meen"), ValueError, "'mean'"),
        (lambda: memory.table("cpu", limit=-1), ValueError, "limit"),
        (lambda: memory.sharing(), ValueError, "accesses=True"),
        (lambda: memory.accesses(), ValueError, "accesses=True"),
        (lambda: memory.table("line", "sharing"), ValueError, "accesses"),
        (lambda: memory.histogram(9, table="cpu"), IndexError, "of 2"),
        (lambda: memory.histogram("x", table="cpu"), LookupError, "'x'"),
        (
            lambda: memory.histogram(kind="totl", table="cpu"),
            ValueError,
            "'total'",
        ),
        (lambda: memory.accesses(address=1), ValueError, "accesses=True"),
        (
            lambda: memory.histogram(table="line", address=1),
            LookupError,
            "0x1",
        ),
        (lambda: memory.merge(memory), hwt.InvalidError, ""),
        (lambda: memory.merge(3), TypeError, "no Memory"),
        (
            lambda: memory.merge(trace_spe.memory(line_bytes=128)),
            hwt.InvalidError,
            "",
        ),
        (lambda: trace_spe.memory(tables="sybol"), ValueError, "'symbol'"),
        (lambda: trace_spe.memory(tables=[]), ValueError, "tables"),
        (lambda: trace_spe.memory(line_bytes=3), hwt.InvalidError, ""),
        (lambda: trace_spe.memory(max_rows=0), ValueError, "max_rows"),
        (
            lambda: trace_spe.memory(line_bytes=1 << 40),
            (ValueError, OverflowError),
            "",
        ),
        (lambda: Memory.of([]), ValueError, "none"),
        (lambda: mem(trace_spe, "sharin"), ValueError, "'sharing'"),
    ):
        with pytest.raises(kind, match=text or None):
            use()
    # No samples are no fault.
    empty = trace_pt.memory()
    assert empty.info.samples == 0 and len(empty.table()) == 0
    assert "no values" in empty.svg()
    memory.close()
    assert repr(memory) == "<hwt.Memory: closed>"
    for use in (
        lambda: memory.info,
        lambda: memory.table("cpu"),
        lambda: memory.add(trace_spe),
        lambda: trace_spe.memory().merge(memory),
    ):
        with pytest.raises(hwt.ClosedError):
            use()


def test_it_may_outlive_its_trace(spe: Path) -> None:
    trace = hwt.open(spe)
    memory = trace.memory()
    want = memory.table().to_dict()
    trace.close()
    assert memory.table().to_dict() == want
    assert memory.histogram("find_node")
    with pytest.raises(hwt.ClosedError):
        memory.add(trace)


class Enough(Exception):
    pass


def test_who_breaks_off_has_added_nothing(trace_spe: Any) -> None:
    memory = trace_spe.memory()
    before = memory.info

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        memory.add(trace_spe, progress=stop)
    assert memory.info == before
    seen: List[Any] = []
    memory.add(trace_spe, progress=lambda *now: seen.append(now))
    assert seen[-1] == (trace_spe.info.n_bytes,) * 2
