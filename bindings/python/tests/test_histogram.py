"""Histograms of calls say what the tool says, and are drawn."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

import hwt
from hand_traces import EVIL, calls_trace, saved
from hwt._distribution import Bucket, distribution_svg
from hwt.histogram import Histogram
from tool_rows import assert_same, csv_rows, imported, json_rows

VALUES = (
    "time",
    "running",
    "self",
    "cycles",
    "self-cycles",
    "insns",
    "self-insns",
)
COUNTS = (
    "calls n unseen gapped switched unknown inexact estimated interpolated"
).split()


def mean_is(mine: Any, its: Dict[str, str]) -> bool:
    if mine.mean is None:
        return its["mean"] == ""
    return int(mine.sum // mine.n) == int(its["mean"])


def name_is(mine: Any, its: Dict[str, str]) -> bool:
    """What has no name is told by its place."""
    return mine.function == its["function"] or its["function"] == ""


def place_is(mine: Any, its: Dict[str, str]) -> bool:
    place = mine.address if mine.file_off is None else mine.file_off
    return its["place"] == ("" if place is None else f"{place:#x}")


def to_place_is(mine: Any, its: Dict[str, str]) -> bool:
    place = mine.to_address if mine.to_file_off is None else mine.to_file_off
    return its["to_place"] == ("" if place is None else f"{place:#x}")


SPECIAL = {
    "mean": mean_is,
    "function": name_is,
    "place": place_is,
    "to_place": to_place_is,
}


def assert_as_tool(hist: Histogram, *words: object) -> None:
    for sort in ("sum", "name", "calls", "p99"):
        rows = csv_rows("hist", f"--sort={sort}", *words)
        assert_same(hist.rows(sort), rows, special=SPECIAL)
    rows = json_rows("hist", *words)
    whole, info = rows[-2], rows[-1]
    for i, row in enumerate(rows[:-2]):
        buckets = [list(b) for b in hist.buckets(i).rows()]
        assert buckets == row["buckets"]
        if row["n"]:
            for name, q in (("min", 0), ("p50", 0.5), ("p999", 0.999)):
                assert hist.quantile(i, q) == row[name]
        else:
            assert hist.quantile(i, 0.5) is None
    assert [list(b) for b in hist.buckets().rows()] == whole["buckets"]
    one = next(hist.all.rows())
    for name in COUNTS:
        assert getattr(one, name) == whole[name]
    for name in ("min", "max", "sum", "p50", "p90", "p99", "p999"):
        assert getattr(one, name) == whole.get(name)
    mine = hist.info
    assert (mine.value, mine.rows) == (info["value"], info["rows"])
    assert (mine.insns, mine.limited) == (info["insns"], info["limited"])
    assert mine.restarted == info.get("restarted", 0)
    assert mine.unfinished == info.get("unfinished", 0)
    assert mine.loss.bytes == info["bytes"]
    assert mine.loss.gap_bytes == info["gap_bytes"]
    assert sum(mine.loss.gaps.values()) == info["gaps"]


@pytest.mark.parametrize("value", VALUES)
def test_values_are_those_of_the_tool(
    trace_pt: Any, pt: Path, value: str
) -> None:
    hist = trace_pt.hist(value=value)
    assert hist.info.rows > 10
    assert_as_tool(hist, f"--value={value}", pt)


def test_options_are_those_of_the_tool(trace_pt: Any, pt: Path) -> None:
    for given, words in (
        ({"function": "t*"}, ["--sym=t*"]),
        ({"exact": True}, ["--exact"]),
        ({"interpolate": False}, ["--no-interpolation"]),
        (
            {"function": "take_order", "to": "s*"},
            ["--from=take_order", "--to=s*"],
        ),
        ({"function": "*", "to": "grow"}, ["--from=*", "--to=grow"]),
        ({"tid": 1001}, ["--tid=1001"]),
    ):
        hist = trace_pt.hist(**given)
        assert hist.info.rows > 0
        assert_as_tool(hist, *words, pt)
    between = trace_pt.hist("take_order", to="table_find")
    name = "take_order -> table_find"
    assert between.quantile(name, 1) == between.quantile("take_order", 1)
    assert name in between.svg(name).replace("&gt;", ">")


def test_text_of_branches_has_calls_too(tmp_path: Path) -> None:
    now, lines = 1000, []

    def line(ns: int, rest: str) -> None:
        lines.append(f"7/8 1.{ns:09d}: 1 branches:u: {rest}")

    for ns in [*range(1, 100), 1000000]:
        line(now, "call 1000 main+0x0 (p) => 2000 f+0x0 (p)")
        now += ns
        line(now, "return 2009 f+0x9 (p) => 1005 main+0x5 (p)")
        now += 10
        line(now, "jmp 1009 main+0x9 (p) => 1000 main+0x0 (p)")
        now += 1
    path = tmp_path / "branches.txt"
    path.write_text("\n".join(lines) + "\n")
    hist = Histogram().add_text(path)
    assert_as_tool(hist, path)
    # 1 to 99 ns, and one of a millisecond.
    row = next(hist.rows().rows())
    assert (row.function, row.n, row.sum) == ("f", 100, 4950 + 1000000)
    assert (row.min, row.p50, row.p99, row.max) == (1, 50, 99, 1000000)
    assert hist.quantile("f", 0.9) == 90
    both = Histogram(value="insns").add_text(path)
    assert "of unknown value" in both.notes[0]
    with pytest.raises(hwt.UnrecognizedError):
        hist.add_text(__file__)
    with pytest.raises(OSError):
        hist.add_text(tmp_path / "nothing")


def test_what_was_not_seen_is_said(repo: Path, tmp_path: Path) -> None:
    folder = repo / "fixtures/pt-captured/workload-with-time-and-interrupts"
    raw = tmp_path / "0.pt"
    subprocess.run(["zstd", "-qd", folder / "0.pt.zst", "-o", raw], check=True)
    # Some bytes in the middle become others: a gap.
    data = bytearray(raw.read_bytes())
    data[20000:20020] = bytes([0xFF]) * 20
    raw.write_bytes(data)
    path = imported(
        tmp_path, "a.hwt", "--tech=pt", "--images", folder / "image.txt", raw
    )
    with hwt.open(path) as trace:
        hist = trace.hist(value="insns")
        assert_as_tool(hist, "--value=insns", path)
        assert_as_tool(trace.hist(), path)
    assert hist.loss.gap_bytes > 0 and next(hist.all.rows()).gapped > 0
    assert any(note.startswith("not seen: ") for note in hist.notes)
    assert "with gaps" in hist.notes[0]
    assert "with gaps" in hist.svg()


def test_traces_are_merged_as_one(trace_pt: Any, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(before) as other:
        both = Histogram.of([trace_pt, other])
        added = Histogram().add(other).add(trace_pt)
        merged = trace_pt.hist().merge(other.hist())
    for hist in (both, added, merged):
        assert_as_tool(hist, pt, before)


def test_it_needs_its_trace_no_more(pt: Path) -> None:
    trace = hwt.open(pt)
    hist = trace.hist()
    trace.close()
    assert "take_order" in hist.rows().to_dict()["function"]
    with pytest.raises(hwt.ClosedError):
        hist.add(trace)
    hist.close()
    assert repr(hist) == "<hwt.Histogram: closed>"
    assert "closed" in hist._repr_html_()
    for use in (
        lambda: hist.rows(),
        lambda: hist.svg(),
        lambda: hist.merge(Histogram()),
        lambda: Histogram().merge(hist),
    ):
        with pytest.raises(hwt.ClosedError):
            use()


class Enough(Exception):
    pass


def test_who_breaks_off_has_added_nothing(trace_pt: Any) -> None:
    hist = trace_pt.hist()
    before = hist.rows().to_dict()

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        hist.add(trace_pt, progress=stop)
    assert hist.rows().to_dict() == before
    seen: List[Any] = []
    hist.add(trace_pt, progress=lambda *now: seen.append(now))
    assert seen[-1] == (trace_pt.info.n_bytes,) * 2
    assert sum(hist.rows().to_dict()["calls"]) == 2 * sum(before["calls"])


def test_misuse_is_told(trace_pt: Any) -> None:
    hist = trace_pt.hist()
    for use, kind, text in (
        (lambda: trace_pt.hist(value="tim"), ValueError, "'time'"),
        (lambda: trace_pt.hist(value=3), TypeError, "no name"),
        (lambda: trace_pt.hist(value="between"), ValueError, "`to`"),
        (lambda: trace_pt.hist(to="f"), ValueError, "`function`"),
        (
            lambda: trace_pt.hist("f", to="g", value="time"),
            ValueError,
            "between",
        ),
        (lambda: trace_pt.hist("a\0b"), hwt.InvalidError, "NUL"),
        (lambda: trace_pt.hist(address=(0, 1)), hwt.InvalidError, ""),
        (lambda: trace_pt.hist(kinds="gap"), TypeError, "kinds"),
        (lambda: hist.rows("summ"), ValueError, "'sum'"),
        (lambda: hist.quantile("take_ordr"), LookupError, "'take_order'"),
        (lambda: hist.quantile(1000), IndexError, "1000"),
        (lambda: hist.quantile(-1), IndexError, "-1"),
        (lambda: hist.quantile(q=1.5), ValueError, "1.5"),
        (lambda: hist.quantile(q=float("nan")), ValueError, "nan"),
        (lambda: hist.merge(hist), hwt.InvalidError, "itself"),
        (lambda: hist.merge(None), TypeError, "no Histogram"),
        (
            lambda: hist.merge(trace_pt.hist(value="insns")),
            hwt.InvalidError,
            "'insns'",
        ),
        (
            lambda: hist.merge(trace_pt.hist(exact=True)),
            hwt.InvalidError,
            "exact",
        ),
    ):
        with pytest.raises(kind, match=text or None):
            use()
    # No function of that name is no fault: nothing was called so.
    assert len(trace_pt.hist("nobody").rows()) == 0


def drawn(svg: str) -> Any:
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    assert [e.get("id") for e in root[:2]] == ids and len(set(ids)) == 2
    return root


def bars(root: Any) -> List[Any]:
    return root.findall("{http://www.w3.org/2000/svg}rect")


def test_pictures_hold_all_values(trace_pt: Any) -> None:
    hist = trace_pt.hist()
    for name in ("take_order", "table_init", "sort", None):
        root = drawn(hist.svg(name))
        rects = bars(root)
        tips = [rect[0].text for rect in rects]
        total = sum(int(tip.split(": ")[1].split(" ")[0]) for tip in tips)
        row = (
            hist.all
            if name is None
            else hist.rows().filter(lambda r: r.function == name)
        )
        assert total == row.to_dict()["n"][0]
        assert 1 <= len(rects) <= 80
        for rect in rects:
            x, y, w, h = (
                float(rect.get(k)) for k in ("x", "y", "width", "height")
            )
            assert 0 <= x and x + w <= 721 and y >= 0 and y + h <= 281
            assert w > 0 and h > 0
    assert "no values" in hist.svg("_start")
    html = hist._repr_html_()
    assert html.startswith("<svg ") and "<table" in html


def test_pictures_name_the_functions_that_they_are_of(trace_pt: Any) -> None:
    def title(hist: Histogram, function: Optional[str] = None) -> str:
        told = str(drawn(hist.svg(function))[0].text)
        assert hist.buckets(function).title == told
        return told

    assert title(trace_pt.hist("take_order")) == "time of take_order"
    every = trace_pt.hist(value="insns")
    assert title(every, "take_order") == "insns of take_order"
    # take_order, total, table_find, table_init, table_insert of orders.c.
    assert title(trace_pt.hist("t*")) == "time of 5 functions"
    pairs = trace_pt.hist("take_order", to="table_find")
    assert title(pairs) == "take_order -> table_find"
    pairs = trace_pt.hist("t*", to="slot")
    # table_find and table_insert call it.
    assert title(pairs) == "2 pairs of functions"
    assert title(trace_pt.hist("nobody")) == "time of 0 functions"


def test_pictures_of_extreme_values_are_still_pictures() -> None:
    most = 2**64 - 1
    for buckets in (
        [Bucket(0, 0, 1)],
        [Bucket(most, most, 1)],
        [Bucket(0, 0, most), Bucket(1 << 63, most, 1)],
        [Bucket(i, i, i + 1) for i in range(4097)],
        [Bucket(1 << i, (1 << i) + 1, 3) for i in range(1, 64)],
    ):
        svg = distribution_svg(
            buckets,
            title="x" * 1000,
            unit="ns",
            marks=[("p50", buckets[0].first), ("p99", most)],
        )
        root = drawn(svg)
        assert 1 <= len(bars(root)) <= 80
        assert len(svg) < 60000
        total = sum(
            int(rect[0].text.split(": ")[1].split(" ")[0])
            for rect in bars(root)
        )
        assert total == sum(b.n for b in buckets)


def test_names_that_nobody_wants_are_only_names(tmp_path: Path) -> None:
    long = b"z" * 4095
    trace = calls_trace([True, False, True], (long, EVIL))
    hist = trace.hist(value="insns")
    # Both ways of the callee: three instructions, or four.
    name = EVIL.decode("utf-8", "backslashreplace")
    assert [tuple(b) for b in hist.buckets(name).rows()] == [
        (3, 3, 2),
        (4, 4, 1),
    ]
    for svg in (hist.svg(name), hist.svg(long.decode()), hist.svg()):
        drawn(svg)
        assert "<b>" not in svg and "\x1b" not in svg
        assert "\u202e" not in svg and len(svg) < 20000
    assert "&lt;b&gt;" in hist.svg(name) and "\\u202e" in hist.svg(name)
    path = saved(trace, tmp_path / "a.hwt")
    assert len(csv_rows("hist", "--value=insns", path)) == len(hist.rows())
    # The whole name, byte for byte, is what chooses.
    only = trace.hist(
        EVIL.replace(b"\\", b"\\\\").decode("utf-8", "surrogateescape")
    )
    assert only.info.rows == 1
