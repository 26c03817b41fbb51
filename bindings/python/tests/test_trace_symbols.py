"""Names of code, compared with what binutils say."""

from __future__ import annotations

import array
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import hwt
import pytest

PROGRAM = """
__attribute__((always_inline)) static inline int twice(int n)
{
	volatile int k = n;

	return (k * 2);
}

__attribute__((noinline)) int middle(int n)
{
	volatile int m = n;

	return (twice(m) + 1);
}

int main(int argc, char *argv[])
{
	(void)argv;
	return (middle(argc) + middle(argc + 1));
}
"""
BASE = 0x5550_0000_0000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared object with lines, and one function inlined."""
    for tool in ("cc", "addr2line", "nm"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run(
        ["cc", "-g", "-O1", "-shared", "-fPIC", "-o", "p.so", "p.c"],
        cwd=folder,
        check=True,
    )
    return folder / "p.so"


def functions(program: Path) -> dict[str, tuple[int, int]]:
    """Address and size of functions, by nm."""
    lines = subprocess.run(
        ["nm", "-S", program], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found = {}
    for line in lines:
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            found[words[3]] = (int(words[0], 16), int(words[1], 16))
    return found


def addr2line(
    program: Path, addresses: list[int]
) -> list[list[tuple[str, str, int]]]:
    """Function, file and line of each frame."""
    out = subprocess.run(
        ["addr2line", "-a", "-f", "-i", "-e", program]
        + [f"{address:#x}" for address in addresses],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found: list[list[tuple[str, str, int]]] = []
    i = 0
    while i < len(out):
        if out[i].startswith("0x"):
            found.append([])
            i += 1
            continue
        place = out[i + 1].split(" (")[0]
        file, _, line = place.rpartition(":")
        found[-1].append((out[i], file, int(line) if line.isdigit() else 0))
        i += 2
    return found


@pytest.fixture
def trace(program: Path) -> Any:
    """A process with the object at BASE."""
    with hwt.Builder() as builder:
        builder.module_load(str(program), BASE, pid=9, tid=9)
        with builder.seal() as made:
            yield made


def test_functions_files_lines_and_inlined_ones_are_those_of_addr2line(
    trace: Any, program: Path
) -> None:
    known = functions(program)
    addresses = []
    for name in ("middle", "main"):
        start, size = known[name]
        addresses += range(start, start + size)
    wanted = addr2line(program, addresses)
    found = trace.symbolize([BASE + a for a in addresses], pid=9)
    assert len(found) == len(addresses)
    inlined = 0
    for address, symbol, frames in zip(addresses, found, wanted):
        assert [
            (f.function, f.file, f.line or 0) for f in symbol.frames
        ] == frames
        inlined += symbol.frames[0].inlined
        name = next(
            n for n, (a, size) in known.items() if a <= address < a + size
        )
        assert symbol.name == symbol.text == name
        assert symbol.offset == address - known[name][0]
        assert symbol.size == known[name][1]
        assert symbol.address == BASE + address
        assert symbol.image_name == str(program)
        assert not symbol.stub and not symbol.ambiguous
        assert symbol.fault is None
    assert 0 < inlined < len(found)


def test_shapes_of_addresses_give_the_same(trace: Any, program: Path) -> None:
    start, size = functions(program)["middle"]
    numbers = [BASE + start + i for i in range(size)] + [0, 1, BASE]
    wanted = trace.symbolize(numbers)
    assert trace.symbolize(tuple(numbers)) == wanted
    assert trace.symbolize(iter(numbers)) == wanted
    assert trace.symbolize(array.array("Q", numbers)) == wanted
    assert [trace.symbolize(n) for n in numbers] == wanted
    np = pytest.importorskip("numpy")
    for dtype in (np.uint64, np.int64):
        assert trace.symbolize(np.array(numbers, dtype)) == wanted
    spaced = np.array([n for n in numbers for _ in range(2)], np.uint64)[::2]
    assert trace.symbolize(spaced) == wanted
    assert trace.symbolize(np.uint64(numbers[0])) == wanted[0]
    assert trace.symbolize([]) == []
    masked = np.ma.MaskedArray(np.array(numbers, "u8"), mask=False)
    assert trace.symbolize(masked) == wanted
    ids = np.ma.MaskedArray(np.zeros(len(numbers), "u4"), mask=True)
    assert trace.symbolize(numbers, section=ids) == wanted
    masked[0] = np.ma.masked
    with pytest.raises(ValueError, match="some are not known"):
        trace.symbolize(masked)
    with pytest.raises(ValueError, match="some are not known"):
        trace.symbolize(numbers, time=masked)
    with pytest.raises(TypeError, match="Search is wanted"):
        trace.symbolize(numbers, search="x")
    assert trace.symbolize(np.array([], np.uint64)) == []


def test_many_addresses_are_named_in_their_order(
    trace: Any, program: Path
) -> None:
    start, size = functions(program)["middle"]
    numbers = [BASE + start + i for i in range(size)]
    one = dict(zip(numbers, trace.symbolize(numbers)))
    chosen = random.Random(1).choices(numbers, k=20_000)
    assert trace.symbolize(chosen) == [one[n] for n in chosen]


def test_what_is_not_known_is_none(trace: Any) -> None:
    symbol = trace.symbolize(0x10)
    assert (symbol.name, symbol.text, symbol.image) == (None, None, None)
    assert (symbol.function, symbol.file, symbol.line) == (None, None, None)
    assert symbol.frames == ()
    assert str(symbol) == "0x10"


def test_lines_can_be_left_out(trace: Any, program: Path) -> None:
    start, _ = functions(program)["middle"]
    symbol = trace.symbolize(BASE + start, lines=False)
    assert symbol.function == "middle"
    assert symbol.frames == () and symbol.file is None
    assert str(symbol) == "middle"
    with_lines = trace.symbolize(BASE + start + 1)
    assert str(with_lines).startswith("middle+0x1 at ")
    assert str(with_lines).endswith(f"p.c:{with_lines.line}")


def test_places_are_told_by_section_image_process_or_context(
    trace_pt: Any,
) -> None:
    # nm of the program: T _start.
    start = 0x400144
    assert trace_pt.symbolize(start, section=0).name == "_start"
    # Its first segment is the file from its begin on.
    assert trace_pt.symbolize(start - 0x400000, image=0).name == "_start"
    assert trace_pt.symbolize(start, pid=1001).name == "_start"
    assert trace_pt.symbolize(start, pid=4).name is None
    row = next(iter(trace_pt.events(kinds="block")))
    assert trace_pt.symbolize(row.ip, context=row.context).name == "_start"
    found = trace_pt.symbolize([start, 0], section=[0, 0xFFFFFFFF])
    assert [s.name for s in found] == ["_start", None]
    assert trace_pt.symbolize(start, pid=1001, time=5).name == "_start"


def test_rows_can_be_named_by_their_columns(trace_pt: Any) -> None:
    np = pytest.importorskip("numpy")
    columns = trace_pt.events(
        kinds="block", columns=["ip", "section"]
    ).to_numpy()
    found = trace_pt.symbolize(
        np.asarray(columns["ip"]), section=np.asarray(columns["section"])
    )
    # ptcapture counted the instructions; blocks are those of the tool.
    assert len(found) == 52465
    assert {s.image_name for s in found} == {"orders"}
    assert found[0].name == "_start"
    assert {"sort", "slot", "grow", "total"} <= {s.name for s in found}


@pytest.mark.parametrize(
    ("addresses", "options", "kind"),
    [
        (-1, {}, ValueError),
        (1 << 64, {}, ValueError),
        ([-1], {}, ValueError),
        ([1 << 64], {}, ValueError),
        ("0x10", {}, TypeError),
        (b"12345678", {}, TypeError),
        ([1.5], {}, TypeError),
        (["a"], {}, TypeError),
        (None, {}, TypeError),
        ([None], {}, TypeError),
        (0, {"section": 77}, hwt.NotFoundError),
        (0, {"image": 77}, hwt.NotFoundError),
        (0, {"context": 77}, hwt.NotFoundError),
        (0, {"section": 0, "image": 0}, hwt.InvalidError),
        (0, {"pid": -1}, ValueError),
        (0, {"pid": 1 << 32}, ValueError),
        (0, {"pid": "x"}, TypeError),
        ([0], {"section": [1 << 32]}, ValueError),
        ([0, 1], {"section": [0]}, ValueError),
        (0, {"time": 1 << 64}, ValueError),
        (0, {"nonsense": 1}, TypeError),
    ],
)
def test_what_is_no_address_raises(
    trace_pt: Any, addresses: Any, options: Any, kind: type
) -> None:
    with pytest.raises(kind):
        trace_pt.symbolize(addresses, **options)


def test_arrays_of_two_dimensions_are_refused(trace_pt: Any) -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="one dimension"):
        trace_pt.symbolize(np.zeros((2, 2), np.uint64))
    with pytest.raises((TypeError, ValueError)):
        trace_pt.symbolize(np.zeros(2, np.float64))


def test_stubs_and_raw_names_are_told(tmp_path: Path) -> None:
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    (tmp_path / "n.cc").write_text(
        "namespace shop { __attribute__((noinline)) int price(int n)"
        " { return n + 1; } }\n"
    )
    subprocess.run(
        ["c++", "-shared", "-fPIC", "-o", "n.so", "n.cc"],
        cwd=tmp_path,
        check=True,
    )
    address, _ = functions(tmp_path / "n.so")["_ZN4shop5priceEi"]
    with hwt.Builder() as builder:
        builder.module_load(str(tmp_path / "n.so"), 0x10000, pid=1)
        trace = builder.seal()
    symbol = trace.symbolize(0x10000 + address)
    assert symbol.text == "shop::price(int)"
    assert symbol.name == "_ZN4shop5priceEi"
    raw = trace.symbolize(0x10000 + address, raw_names=True)
    assert raw.text == "_ZN4shop5priceEi"
