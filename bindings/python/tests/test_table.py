"""Tables: what is gathered in C is what was there, and it stays."""

from __future__ import annotations

import gc
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import hwt
from hwt._native import ffi, lib
from hwt._table import Names, Spec, Table

ROW = "struct hwtd_profile_row"
SEEN = "struct hwtd_profile_seen"
FUNCTION = "struct hwtd_profile_function"
ALL = (1 << 64) - 1


def text_table(*texts: Any) -> Table:
    """A column of texts."""
    return Table._from_rows(len(texts), [Spec("t", "text", texts)])


def c_texts(texts: list[Any]) -> tuple[Any, list[Any]]:
    """Functions in C with these names, bytes or None."""
    rows = ffi.new(f"{FUNCTION}[]", max(len(texts), 1))
    keep = [None if t is None else ffi.new("char[]", t) for t in texts]
    for row, cell in zip(rows, keep):
        row.name = ffi.NULL if cell is None else cell
    return rows, keep


def test_lists_of_each_kind_come_back() -> None:
    columns = {
        "u64": [0, 1, ALL],
        "i64": [-(1 << 63), 0, (1 << 63) - 1],
        "u32": [0, None, (1 << 32) - 1],
        "u8": [255, 0, None],
        "f64": [0.5, None, -1e300],
        "bool": [True, False, None],
        "text": ["", None, "käse\0\n"],
        "name": ["a", None, "a"],
    }
    table = Table._from_rows(
        3, [Spec(f"c_{kind}", kind, v) for kind, v in columns.items()]
    )
    assert table.to_dict() == {f"c_{k}": v for k, v in columns.items()}
    assert len(table) == 3
    assert [f.type for f in table.schema] == [
        "uint64",
        "int64",
        "uint32",
        "uint8",
        "float64",
        "bool",
        "text",
        "text",
    ]
    assert [f.nullable for f in table.schema] == [False] * 2 + [True] * 6
    assert [row.c_u8 for row in table.rows()] == [255, 0, None]


def test_units_and_meanings_are_in_the_schema() -> None:
    table = Table._from_rows(
        0, [Spec("a", "u64", [], "ns", "how long ü"), Spec("b", "text", [])]
    )
    a, b = table.schema
    assert (a.unit, a.meaning) == ("ns", "how long ü")
    assert (b.unit, b.meaning) == (None, "")
    pyarrow = pytest.importorskip("pyarrow")
    field = pyarrow.table(table).schema.field("a")
    assert field.metadata == {
        b"unit": b"ns",
        b"meaning": "how long ü".encode(),
    }


def test_members_are_gathered_where_they_are_known() -> None:
    rows = ffi.new(f"{ROW}[3]")
    for i, row in enumerate(rows):
        row.self.ns = 100 + i
        row.flags = [1, 2, 3][i]
        row.function = [7, lib.HWTD_NO_ID, 0][i]
        row.file = ffi.NULL
    name = ffi.new("char[]", b"x.c")
    rows[1].file = name

    def m(path: str, **how: Any) -> Any:
        return Spec.member(rows, ROW, path, **how)

    table = Table._from_rows(
        3,
        [
            Spec("ns", "u64", m("self.ns")),
            Spec("ones", "u64", m("self.ns", known=("flags", 1))),
            Spec("evens", "u64", m("self.ns", known=("flags", 1, "clear"))),
            Spec("other", "u64", m("self.ns", known=("function", 0, "id"))),
            Spec("filed", "u64", m("self.ns", known=("file", ALL))),
            Spec("nothing", "u64", m("self.ns", known="none")),
            Spec("listed", "u64", m("self.ns", known=[True, False, True])),
            Spec("function", "u32", m("function", known="id")),
            Spec("file", "text", m("file")),
            Spec("two", "bool", m("flags", mask=2)),
            Spec("half", "f64", m("self.ns", scale=0.5)),
        ],
    )
    assert table.to_dict() == {
        "ns": [100, 101, 102],
        "ones": [100, None, 102],
        "evens": [None, 101, None],
        "other": [100, None, 102],
        "filed": [None, 101, None],
        "nothing": [None, None, None],
        "listed": [100, None, 102],
        "function": [7, None, 0],
        "file": [None, "x.c", None],
        "two": [False, True, True],
        "half": [50.0, 50.5, 51.0],
    }


def test_members_of_arrays_and_of_other_structs_are_reached() -> None:
    seen = ffi.new(f"{SEEN}[2]")
    seen[0].gaps[3] = 5
    seen[1].gaps[3] = 6
    functions = ffi.new(f"{FUNCTION}[2]")
    functions[0].line, functions[1].line = 10, 0
    rows = ffi.new(f"{ROW}[4]")
    for row, number in zip(rows, (1, 0, lib.HWTD_NO_ID, 2)):
        row.function = number
    at = Spec.member(rows, ROW, "function")
    table = Table._from_rows(
        2, [Spec("gaps", "u64", Spec.member(seen, SEEN, "gaps[3]"))]
    )
    assert table.column("gaps").to_list() == [5, 6]
    line = Spec.member(
        functions, FUNCTION, "line", known=("line", ALL), at=at, count=2
    )
    # 2 is past the last, NO_ID is none, and line 0 is not known.
    assert Table._from_rows(4, [Spec("line", "u32", line)]).to_dict() == {
        "line": [None, 10, None, None]
    }


@pytest.mark.parametrize(
    "path", ["nothing", "self.nothing", "self", "line[0]", "build_id"]
)
def test_members_that_are_not_there_are_refused(path: str) -> None:
    rows = ffi.new(f"{ROW}[1]")
    with pytest.raises(ValueError, match="struct hwtd_profile_row"):
        Table._from_rows(1, [Spec("x", "u64", Spec.member(rows, ROW, path))])


def test_bytes_that_are_no_text_are_told_as_python_tells_them() -> None:
    chance = random.Random(11)
    texts = [
        bytes(chance.choice(pool) for _ in range(chance.randrange(12)))
        for pool in (
            range(1, 256),
            [0xE0, 0xED, 0xF0, 0xF4, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0x41],
            [0xC0, 0xC1, 0xC2, 0xDF, 0xF5, 0xFF, 0x80, 0xBF, 0x7F],
        )
        for _ in range(700)
    ]
    texts += [
        s.encode() for s in ("", "ü", "\u0800", "\ud7ff\ue000", "\U0010ffff")
    ]
    rows, keep = c_texts([*texts, None])
    n = len(texts) + 1
    wanted = [t.decode("utf-8", "backslashreplace") for t in texts] + [None]
    table = Table._from_rows(
        n,
        [
            Spec("text", "text", Spec.member(rows, FUNCTION, "name")),
            Spec("name", "name", Names.member(rows, FUNCTION, "name", n)),
        ],
    )
    del rows, keep
    gc.collect()
    assert table.column("text").to_list() == wanted
    assert table.column("name").to_list() == wanted
    names = table.column("name").names
    assert len(names) == len(set(names)) == len({*wanted} - {None})


def test_hostile_names_of_64_kib_are_whole() -> None:
    texts = [b"\xff" * 65536, b'";<script>\n' * 6000, b"a" * 65536]
    rows, keep = c_texts(texts)
    table = Table._from_rows(
        3, [Spec("t", "text", Spec.member(rows, FUNCTION, "name"))]
    )
    assert table.column("t").to_list() == [
        "\\xff" * 65536,
        '";<script>\n' * 6000,
        "a" * 65536,
    ]
    shown = repr(table)
    assert len(shown) < 2000 and "\\n" in shown
    assert shown.count("\n") == 4
    assert keep


def test_what_tables_were_made_of_can_be_gone() -> None:
    rows, keep = c_texts([b"one", b"two"])
    table = Table._from_rows(
        2, [Spec("t", "text", Spec.member(rows, FUNCTION, "name"))]
    )
    ffi.memmove(keep[0], b"XXX", 3)
    rows[1].name = ffi.NULL
    assert table.column("t").to_list() == ["one", "two"]


def test_others_read_a_table_that_is_gone() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = Table._from_rows(
        3,
        [
            Spec("n", "u64", [3, 1, 2]),
            Spec("who", "name", ["b", None, "b"]),
            Spec("yes", "bool", [True, None, False]),
        ],
    )
    addresses = table.column("n").addresses()
    arrow = pyarrow.table(table)
    del table
    gc.collect()
    arrow.validate(full=True)
    assert arrow.to_pydict() == {
        "n": [3, 1, 2],
        "who": ["b", None, "b"],
        "yes": [True, None, False],
    }
    # It is the same memory.
    assert arrow.column("n").chunk(0).buffers()[1].address == addresses[1]


def test_pandas_polars_and_numpy_get_the_same() -> None:
    numpy = pytest.importorskip("numpy")
    table = Table._from_rows(
        3, [Spec("n", "u64", [1, None, 3]), Spec("t", "name", ["x", "y", "x"])]
    )
    assert table["n"].mask.tolist() == [False, True, False]
    assert table.to_numpy()["t"].tolist() == ["x", "y", "x"]
    assert not Table._from_rows(1, [Spec("n", "u64", [1])])["n"].flags.writeable
    pytest.importorskip("pandas")
    assert table.to_pandas()["t"].tolist() == ["x", "y", "x"]
    pytest.importorskip("polars")
    assert table.to_polars()["n"].to_list() == [1, None, 3]
    assert numpy


def test_what_is_missing_is_named_as_pip_has_it(
    trace_pt: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table, calls = trace_pt.report(), trace_pt.calls()
    for module in ("numpy", "pandas", "polars", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    for use, names in (
        (table.to_pandas, "pandas pyarrow"),
        (calls.to_pandas, "pandas pyarrow"),
        (table.to_polars, "polars"),
        (table.to_arrow, "pyarrow"),
        (lambda: calls.to_parquet(tmp_path / "a.parquet"), "pyarrow"),
        (lambda: next(calls.batches())["ns"], "numpy"),
    ):
        with pytest.raises(ImportError, match=f": pip install {names}$"):
            use()


def test_sorting_keeps_equal_rows_in_order_and_puts_unknown_last() -> None:
    table = Table._from_rows(
        5,
        [
            Spec("n", "u64", [1, None, 2, 1, None]),
            Spec("t", "text", list("abcde")),
            Spec("w", "name", ["x", "y", "x", "z", None]),
            Spec("b", "bool", [True, None, False, True, True]),
        ],
        title="some",
        notes=["lost 1"],
    )
    assert table.sort("n").column("t").to_list() == list("cadbe")
    up = table.sort("n", descending=False)
    assert up.column("t").to_list() == list("adcbe")
    assert up.column("w").to_list() == ["x", "z", "x", "y", None]
    assert up.column("b").to_list() == [True, True, False, None, True]
    assert (up.title, up.notes) == ("some", ("lost 1",))
    two = table.sort(["w", "t"])
    assert two.column("t").to_list() == list("dbcae")
    assert table.column("t").to_list() == list("abcde")


def test_heads_and_filters_are_tables() -> None:
    table = Table._from_rows(3, [Spec("n", "u64", [1, 2, 3])])
    assert table.head(2).column("n").to_list() == [1, 2]
    assert len(table.head(0)) == 0 and len(table.head(99)) == 3
    assert table.filter(lambda row: row.n != 2).to_dict() == {"n": [1, 3]}
    assert table.filter([0, 1, 0]).to_dict() == {"n": [2]}
    with pytest.raises(ValueError, match="2 truths for 3 rows"):
        table.filter([True, False])
    with pytest.raises(ValueError, match="-1"):
        table.head(-1)


def test_wrong_names_are_told_the_nearest() -> None:
    table = Table._from_rows(1, [Spec("self_ns", "u64", [1])])
    for wrong in (lambda: table["self_nz"], lambda: table.sort("self_nz")):
        with pytest.raises(KeyError, match="did you mean 'self_ns'"):
            wrong()
    assert "self_ns" in table and "x" not in table
    with pytest.raises(ValueError, match="two columns"):
        Table._from_rows(1, [Spec("a", "u64", [1]), Spec("a", "u8", [1])])
    with pytest.raises(ValueError, match="2 values for 1 rows"):
        Table._from_rows(1, [Spec("a", "u64", [1, 2])])
    with pytest.raises(ValueError, match="no kind"):
        Table._from_rows(1, [Spec("a", "u65", [1])])


def test_what_is_shown_is_bounded() -> None:
    specs = [Spec(f"column_{i:03}", "u64", range(500)) for i in range(100)]
    specs.append(Spec("t", "text", ["\x1b[31m\u202e" + "x" * 999] * 500))
    specs.append(Spec("never", "u8", [None] * 500))
    shown = repr(Table._from_rows(500, specs, title="many", notes=["a\nb"]))
    lines = shown.splitlines()
    assert lines[0] == "<hwt.Table: many: 500 rows>"
    assert len(lines) == 1 + 1 + 20 + 1 + 1 + 1 + 1
    assert "... 480 more rows" in lines
    assert "not known here: never" in lines
    assert lines[-1] == "a\\nb"
    assert max(len(line) for line in lines[:22]) <= 120
    assert "\x1b" not in shown and "\u202e" not in shown
    assert repr(Table._from_rows(0, [])) == "<hwt.Table: 0 rows>"


def test_numbers_are_lined_up() -> None:
    table = Table._from_rows(
        2,
        [
            Spec("name", "text", ["a", None]),
            Spec("n", "u64", [5, 12345]),
            Spec("offset", "u64", [255, 16]),
        ],
    )
    assert repr(table).splitlines()[1:] == [
        "name      n  offset",
        "a         5    0xff",
        "-     12345    0x10",
    ]


def test_texts_beyond_two_gibibytes_are_a_limit() -> None:
    table = text_table("x" * 65536)
    with pytest.raises(hwt.errors.LimitError, match="column t"):
        table._take([0] * 32769)
    # In a list of names they stand once.
    named = Table._from_rows(1, [Spec("t", "name", ["x" * 65536])])
    assert len(named._take([0] * 32769)) == 32769


def test_rows_that_are_not_there_are_not_taken() -> None:
    with pytest.raises(ValueError, match="row 1 of a table of 1"):
        text_table("x")._take([1])


def test_no_memory_is_an_exception() -> None:
    """In a process that may have little more than it has."""
    code = """
import resource
from hwt._table import Spec, Table
rows = bytes(1 << 20)
table = Table._from_rows(1 << 20, [Spec("n", "u8", rows)])
with open("/proc/self/statm") as f:
    size = int(f.read().split()[0]) * resource.getpagesize()
order = list(range(1 << 20))
resource.setrlimit(resource.RLIMIT_AS, (size + (72 << 20), -1))
kept = [table]
try:
    while True:
        kept.append(kept[-1]._take(order))
except MemoryError:
    n = len(kept)
    kept.clear()
    assert n > 1
    print("none left")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("none left\n", 0), done.stderr


def test_every_allocation_may_fail(repo: Path, tmp_path: Path) -> None:
    cc = shutil.which(os.environ.get("CC", "cc").split()[-1])
    if cc is None:
        pytest.skip("no compiler")
    binding = repo / "bindings" / "python"
    program = tmp_path / "allocations"
    subprocess.run(
        [
            cc,
            "-std=c11",
            f"-I{binding / 'ffi'}",
            f"-I{repo / 'include'}",
            str(binding / "tests" / "table_allocations.c"),
            "-o",
            str(program),
        ],
        check=True,
    )
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("0 after ")


def test_threads_share_a_table() -> None:
    table = Table._from_rows(
        1000,
        [Spec("n", "u64", range(1000)), Spec("t", "name", ["a", "b"] * 500)],
    )
    failed: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(20):
                assert table.sort("n").column("n").to_list()[0] == 999
                assert len(table.filter([True] * 1000)) == 1000
                assert table.__arrow_c_stream__() is not None
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed


def test_text_of_bytes_that_are_no_unicode_can_be_given() -> None:
    # What os.fsdecode() makes of a name of a file.
    table = text_table("a\udcffb", "\ud800")
    assert table.column("t").to_list() == ["a\\xffb", "\\xed\\xa0\\x80"]


def test_tables_have_a_public_name_that_costs_no_import(trace_pt):
    assert isinstance(trace_pt.report(), hwt.Table)
    assert hwt.Table is Table and "Table" in hwt.__all__
    code = (
        "import sys, hwt; assert 'hwt._table' not in sys.modules; "
        "assert hwt.Table.__name__ == 'Table'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'Tabel'"):
        hwt.Tabel
    with pytest.raises(TypeError, match="made by methods"):
        hwt.Table()
