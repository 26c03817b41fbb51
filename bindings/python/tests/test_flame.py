"""Flames: the bytes of the tool, and pictures that names cannot break."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import hwt
from hwt.errors import InvalidError, StateError
from hwt.flame import Flame
from hwt.profile import Profile
from test_profile import key_of, needs_tool, of_text, tool_lines

TOOL = os.environ.get("HWTDECODE_TOOL", "")


def tool_bytes(path: Path, *args: str) -> bytes:
    """What the tool writes of a flame."""
    return subprocess.run(
        [TOOL, "flame", *args, str(path)], capture_output=True, check=True
    ).stdout


@needs_tool
@pytest.mark.parametrize("value", [None, "time", "insns", "calls"])
@pytest.mark.parametrize("how", [{}, {"invert": True}, {"by_thread": True}])
def test_pictures_and_lines_are_those_of_the_tool(
    value: Any, how: dict[str, Any], trace_pt: Any, pt: Path
) -> None:
    args = [f"--{name.replace('_', '-')}" for name in how]
    if value is not None:
        args += ["--value", value]
    flame = trace_pt.flame(value=value, **how)
    assert flame.svg().encode() == tool_bytes(pt, "--format", "svg", *args)
    assert flame.folded().encode() == tool_bytes(
        pt, "--format", "folded", *args
    )


@needs_tool
def test_options_of_pictures_are_those_of_the_tool(
    trace_pt: Any, pt: Path
) -> None:
    flame = trace_pt.flame(
        title="<other>", by_name=True, max_depth=4, min_percent=2.5
    )
    args = "--title <other> --by-name --max-depth 4 --min-percent 2.5".split()
    assert flame.svg(icicle=True, min_width=1.5).encode() == tool_bytes(
        pt, "--format", "svg", "--icicle", "--min-width", "1.5", *args
    )
    assert any("too small" in note for note in flame.notes)
    assert any("too deep" in note for note in flame.notes)


@needs_tool
@pytest.mark.parametrize("absolute", [False, True])
def test_comparisons_are_those_of_the_tool(absolute: bool, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(pt) as now, hwt.open(before) as then:
        flame = now.flame(diff=then, absolute=absolute)
        same = now.flame().diff(then.flame(), absolute=absolute)
    args = ["--diff", str(before)] + ["--absolute"] * absolute
    assert flame.compared
    for one in (flame, same):
        assert one.svg().encode() == tool_bytes(pt, "--format", "svg", *args)
        assert one.folded().encode() == tool_bytes(
            pt, "--format", "folded", *args
        )


@needs_tool
@pytest.mark.parametrize("compared", [False, True])
def test_nodes_are_those_of_the_tool(compared: bool, pt: Path) -> None:
    before = pt.with_name("pt_before.hwt")
    with hwt.open(pt) as now, hwt.open(before) as then:
        flame = now.flame(diff=then if compared else None)
    args = ["--diff", str(before)] if compared else []
    told = tool_lines(pt, None, "flame", *args)
    wanted = [row for row in told if row["type"] == "flame_frame"]
    mine = [row._asdict() for row in flame.nodes().rows()]
    columns = tuple(mine[0])
    assert [key_of(row, columns) for row in mine] == [
        key_of(row, columns) for row in wanted
    ]
    assert mine[0]["value"] == flame.total == told[-1]["total"]
    assert (mine[0]["before"] is not None) == compared


def test_files_are_there_when_all_is_written(
    trace_pt: Any, tmp_path: Path
) -> None:
    flame = trace_pt.flame()
    path = tmp_path / "a.svg"
    assert flame.save(path) == (str(path),)
    assert path.read_text() == flame.svg()
    flame.save(tmp_path / "a.folded")
    assert (tmp_path / "a.folded").read_text() == flame.folded()
    flame.save(tmp_path / "a.speedscope.json")
    assert b"speedscope" in (tmp_path / "a.speedscope.json").read_bytes()
    flame.save(str(tmp_path / "b"), "folded")
    assert (tmp_path / "b").read_text() == flame.folded()
    assert len(list(tmp_path.iterdir())) == 4
    with pytest.raises(InvalidError, match="tells no format"):
        flame.save(tmp_path / "c.png")
    with pytest.raises(InvalidError, match="did you mean 'svg'"):
        flame.save(tmp_path / "c", "svgz")
    with pytest.raises(OSError):
        flame.save(tmp_path / "none" / "c.svg")
    assert len(list(tmp_path.iterdir())) == 4


class _Page(HTMLParser):
    """Elements and attributes of a page, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


HOSTILE = [
    b"</title><script>alert(1)</script>",
    b"\"'><img/src=x/onerror=alert(2)>",
    b"]]></style></svg><script>alert(3)</script>",
    b"\xff\xfe\x01&amp;",
]


def test_names_run_nothing_in_a_page(tmp_path: Path) -> None:
    profile = of_text(tmp_path, HOSTILE, by_thread=True)
    flame = Flame(profile, value="calls", title="<script>alert(0)</script>")
    page = flame._repr_html_() + flame._repr_html_()
    seen = _Page(page)
    assert seen.tags == {"div", "svg", "title", "rect", "text", "g"}
    assert not {a for a in seen.attributes if a.startswith("on")}
    assert not seen.attributes & {"id", "href", "xlink:href", "src"}
    words = "".join(seen.texts)
    for name in HOSTILE[:3]:
        assert name.decode() in words
    # The file has one script, which is its own, and is XML.
    svg = flame.svg()
    assert svg.count("<script") == 1
    assert len(list(ElementTree.fromstring(svg).iter())) > 20


def test_a_picture_in_a_page_is_whole(trace_pt: Any) -> None:
    flame = trace_pt.flame()
    page = flame._repr_html_()
    assert page.startswith("<div") and page.endswith("</div>")
    for name in ("take_order", "sort", "orders_main"):
        assert name in page
    ElementTree.fromstring(page)
    assert flame._repr_html_() is page


def test_a_picture_in_a_page_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [b"%d_" % i + b"n" * 900 for i in range(600)]
    profile = of_text(tmp_path, names, by_thread=False)
    flame = Flame(profile, value="calls")
    full = flame.svg()
    assert len(full) > 500_000
    assert len(flame._repr_html_()) < 410_000
    monkeypatch.setattr("hwt.flame._HTML_BYTES", 1000)
    small = Flame(profile, value="calls")._repr_html_()
    assert "too large" in small and "&lt;hwt.Flame" in small


def test_misuse_is_refused(trace_pt: Any) -> None:
    profile = trace_pt.profile()
    with pytest.raises(InvalidError, match="by_thread"):
        profile.flame(by_thread=True)
    with pytest.raises(InvalidError, match="did you mean 'insns'"):
        profile.flame(value="insn")
    with pytest.raises(InvalidError, match="nothing in the trace has it"):
        profile.flame(value="cycles")
    with pytest.raises(InvalidError, match="nothing is compared"):
        profile.flame(absolute=True)
    with pytest.raises(InvalidError, match="min_percent"):
        profile.flame(min_percent=101)
    with pytest.raises(InvalidError, match="needs calls"):
        trace_pt.profile(sources="runs").flame()
    with pytest.raises(TypeError, match="did you mean 'invert'"):
        trace_pt.flame(inverted=True)
    with pytest.raises(TypeError, match="max_depth"):
        profile.flame(max_depth="7")
    with pytest.raises(InvalidError, match="itself"):
        profile.flame(diff=profile)
    flame = profile.flame()
    with pytest.raises(InvalidError, match="min_width"):
        flame.svg(min_width=-1)
    with pytest.raises(InvalidError, match="min_width"):
        flame.svg(min_width=float("nan"))
    with pytest.raises(InvalidError, match="no comparisons"):
        flame.diff(trace_pt).save("x", "speedscope")
    flame.close()
    flame.close()
    assert repr(flame) == "<hwt.Flame: closed>"
    assert flame._repr_html_() == "&lt;hwt.Flame: closed&gt;"
    for use in (flame.svg, flame.nodes, flame.folded):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_a_flame_is_of_what_was_there(trace_pt: Any) -> None:
    profile = trace_pt.profile()
    flame = profile.flame()
    wanted, folded = flame.svg(), flame.folded()
    profile.add(trace_pt)
    assert flame.svg() == wanted
    with pytest.raises(StateError, match="make a new flame"):
        flame.folded()
    assert profile.flame().total == 2 * flame.total
    profile.close()
    del profile
    gc.collect()
    assert flame.svg() == wanted and folded


def test_an_empty_profile_is_an_empty_flame() -> None:
    flame = Profile().flame()
    assert flame.total == 0 and len(flame.nodes()) == 1
    assert flame.notes == ()
    assert re.search("<svg", flame._repr_html_())
