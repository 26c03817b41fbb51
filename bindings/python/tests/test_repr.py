"""Objects in a notebook: bounded, escaped, without decoding, closed or not."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NoReturn

import pytest

import hwt
from hwt import _repr
from hwt._table import Spec, Table
from hwt.events import Events

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "a;b\nc\rd\te",
    "nul\0byte",
    "invalid \udcff\udc80 UTF-8",
    "right \u202eto left\u200f\u2066",
    "\u2028line\u2029",
    "&lt;b&gt; &amp;",
    "]]><!--",
    "x" * 65536,
    "<b>" * 20000,
]
TAGS = frozenset(
    "div p strong code small br table thead tbody tr th td bdi details "
    "summary".split()
)
ATTRIBUTES = frozenset(("style", "title"))


class Page(HTMLParser):
    """Elements of a page, the text of its cells, and what is wrong with it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.cells: list[str] = []
        self.text = ""
        self.titles: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.wrong.append(f"<{tag} {name}={value!r}>")
            elif name == "title":
                self.titles.append(value)
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data
        if any(tag in self.open for tag in ("td", "th")):
            self.cells[-1] += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}-->")


def page(text: str) -> Page:
    """A page that can do nothing."""
    read = Page(text)
    assert not read.wrong
    return read


def table_of(*specs: Spec, **how: Any) -> Table:
    return Table._from_rows(len(specs[0].values), specs, **how)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_wherever_they_stand(name: str) -> None:
    table = table_of(
        Spec(name[:60], "text", [name, None], "unit" + name[:60], name),
        Spec("n", "u64", [1, None], name[:60], name),
        title=name,
        notes=[name, name],
    )
    html = table._repr_html_()
    read = page(html)
    assert len(html) < 20_000
    assert SCRIPT not in html
    for text in [read.text, *read.titles]:
        hidden = [c for c in text if c != "\n" and not _seen(c)]
        assert not hidden
    html.encode("utf-8")


def _seen(c: str) -> bool:
    return c.isprintable() or c == " "


def test_text_that_is_harmless_is_told_as_it_is() -> None:
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    names = ["std::vector<int>::push_back(int&&)", f"Grüße {hebrew}"]
    read = page(table_of(Spec("function", "text", names))._repr_html_())
    assert read.cells[1:] == names


def test_what_cannot_be_seen_is_told_by_its_number() -> None:
    assert _repr.plain("a\0b") == "a\\x00b"
    assert _repr.plain("a\u202eb") == "a\\u202eb"
    assert _repr.plain("a\udcffb") == "a\\udcffb"
    assert _repr.plain("\U000e0001") == "\\U000e0001"


@pytest.mark.parametrize("n", [79, 80, 81, 65536])
def test_text_is_cut_off_at_80_characters(n: int) -> None:
    cut = _repr.plain("x" * n)
    assert len(cut) == min(n, 80)
    assert cut.endswith("\u2026") == (n > 80)
    # Nor are there more of them when each is told by its number.
    assert len(_repr.plain("\0" * n)) <= 80


def test_a_table_shows_20_rows_and_counts_all() -> None:
    rows = table_of(Spec("n", "u64", list(range(1234))))
    read = page(rows._repr_html_())
    assert read.cells == ["n"] + [str(n) for n in range(20)]
    assert "1,234 rows" in read.text


def test_a_table_shows_12_columns_and_names_others() -> None:
    specs = [Spec(f"c{i}", "u64", [i]) for i in range(40)]
    read = page(table_of(*specs)._repr_html_())
    assert read.cells == [f"c{i}" for i in range(12)] + [
        str(i) for i in range(12)
    ]
    assert "more columns: c12, c13" in read.text
    assert "and 8 more" in read.text


def test_a_table_is_no_wider_than_a_page() -> None:
    specs = [Spec(f"c{i}", "text", ["x" * 50]) for i in range(4)]
    read = page(table_of(*specs)._repr_html_())
    assert read.tags.count("td") == 2
    assert "more columns: c2, c3" in read.text
    # One that is too wide by itself is there.
    read = page(table_of(Spec("c", "text", ["x" * 999]))._repr_html_())
    assert read.tags.count("td") == 1


def test_columns_of_which_nothing_is_known_are_named() -> None:
    table = table_of(
        Spec("n", "u64", [1, 2]), Spec("cycles", "u64", [None, None])
    )
    read = page(table._repr_html_())
    assert read.cells == ["n", "1", "2"]
    assert "not known here: cycles" in read.text


def test_values_are_told_as_people_read_them() -> None:
    table = table_of(
        Spec("ip", "u64", [0xFFFF8000, 0], unit="address"),
        Spec("pid", "u32", [12345, 1]),
        Spec("insns", "u64", [1234567, 1]),
        Spec("mean", "f64", [1234.567, 0.0], unit="ns"),
        Spec("hit", "bool", [True, False]),
        Spec("self_ns", "u64", [5, None], unit="ns"),
    )
    read = page(table._repr_html_())
    assert read.cells[:6] == ["ip", "pid", "insns", "meanns", "hit", "self_ns"]
    assert read.cells[6:12] == [
        "0xffff8000",
        "12345",
        "1,234,567",
        "1,234.57",
        "yes",
        "5",
    ]
    assert read.cells[12:] == ["0x0", "1", "1", "0.00", "no", "\u2013"]


def test_a_table_of_no_rows_has_its_columns() -> None:
    read = page(table_of(Spec("n", "u64", []))._repr_html_())
    assert read.cells == ["n"]
    assert "0 rows" in read.text


def test_notes_are_few() -> None:
    notes = [f"note {i}" for i in range(99)]
    table = table_of(Spec("n", "u64", [1]), notes=notes)
    read = page(table._repr_html_())
    assert "note 9" in read.text
    assert "note 10" not in read.text
    assert "89 notes" in read.text


def test_a_trace_tells_what_its_file_says(pt: Path) -> None:
    with hwt.open(pt) as trace:
        read = page(trace._repr_html_())
    assert "pt.hwt" in read.text
    assert "1 stream, " in read.text
    assert "intel-pt" in read.cells


def test_neither_traces_nor_plans_decode_to_be_shown(
    pt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decodes(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("decodes")

    with hwt.open(pt) as trace:
        plan = trace.events()
        for name in ("batches", "head", "stats", "count", "__iter__"):
            monkeypatch.setattr(Events, name, decodes)
        trace._repr_html_()
        read = page(plan._repr_html_())
    assert "not decoded" in read.text
    assert "time_ns" in read.text


def test_a_plan_tells_filters_and_rows_that_were_seen(pt: Path) -> None:
    with hwt.open(pt) as trace:
        plan = trace.events(kinds="block", columns=["ip", "insns"])
        before = page(plan._repr_html_())
        plan.head(3)
        after = page(plan._repr_html_())
    assert "block" in before.cells
    assert "ip, insns" in before.cells
    assert len(after.cells) > len(before.cells)
    assert "3 rows" in after.text


def test_filters_of_many_values_are_cut_off(pt: Path) -> None:
    with hwt.open(pt) as trace:
        html = trace.events(tid=range(100_000))._repr_html_()
    page(html)
    assert len(html) < 20_000


def test_a_path_is_text(pt: Path, tmp_path: Path) -> None:
    place = tmp_path / '<img src=x onerror="alert(1)">\n\u202e.hwt'
    place.write_bytes(pt.read_bytes())
    trace = hwt.open(place)
    read = page(trace._repr_html_())
    assert "<img src=x onerror=" in read.text
    trace.close()
    assert "<img src=x onerror=" in page(trace._repr_html_()).text


def test_what_is_closed_says_so(pt: Path) -> None:
    trace = hwt.open(pt)
    plan = trace.events()
    trace.close()
    assert "closed" in page(trace._repr_html_()).text
    assert "closed" in repr(trace)
    assert "closed" in page(plan._repr_html_()).text


def test_pages_set_no_colours(pt: Path) -> None:
    with hwt.open(pt) as trace:
        shown: list[Any] = [trace, trace.events(), trace.report()]
        html = "".join(one._repr_html_() for one in shown)
    # Those of the page around are kept, be it light or dark.
    assert "color" not in html
    assert "background" not in html
