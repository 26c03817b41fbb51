"""hwtdecode flame, and export of profiles: formats, choices, comparisons."""

import gzip
import json
import xml.etree.ElementTree as ET

from runner import BRANCHES, Case

# f takes 40 ns, 10 of them in g; then a gap of 100; a name that is hostile.
TEXT = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (/bin/p) => 2000 f+0x0 (/bin/p)
7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (/bin/p) => 3000 g+0x0 (q)
7/8 1.000000120: 1 branches:u: return 3008 g+0x8 (q) => 2009 f+0x9 (/bin/p)
7/8 1.000000140: 1 branches:u: return 200c f+0xc (/bin/p) => 1005 main+0x5 (/bin/p)
 instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 code 7: Overflow packet
7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1010 main+0x10 (/bin/p)
7/8 1.000000260: 1 branches:u: jmp 1014 main+0x14 (/bin/p) => 4000 ev;il\x1b<&"+0x0 (/bin/p)
7/9 1.000000300: 1 branches:u: call 4004 ev;il\x1b<&"+0x4 (/bin/p) => 3000 g+0x0 (q)
7/9 1.000000370: 1 branches:u: return 3008 g+0x8 (q) => 4009 ev;il\x1b<&"+0x9 (/bin/p)
"""
# The same without the gap, and f takes 80 ns.
BEFORE = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (/bin/p) => 2000 f+0x0 (/bin/p)
7/8 1.000000180: 1 branches:u: return 200c f+0xc (/bin/p) => 1005 main+0x5 (/bin/p)
7/8 1.000000200: 1 branches:u: call 1005 main+0x5 (/bin/p) => 5000 h+0x0 (/bin/p)
7/8 1.000000220: 1 branches:u: return 5008 h+0x8 (/bin/p) => 100a main+0xa (/bin/p)
"""
GAP = "a: 1 gap of 0 bytes: what ran there was not seen"
NAME = 'ev;il\x1b<&"'


def write(case: Case) -> None:
    case.write("a", TEXT.encode())
    case.write("b", BEFORE.encode())


def read(case: Case, name: str) -> bytes:
    return (case.folder / name).read_bytes()


def test_tree_is_text_for_people(case: Case) -> None:
    write(case)
    run = case.run("flame", "a", "--min-percent=0").want(0, err_has=GAP)
    lines = run.out.splitlines()
    assert lines[0].split() == ["total", "self", "time_ns", "stack"]
    # 20 of main itself, 100 of the gap, 40 of f; 70 of g on the other thread.
    assert lines[1:] == [
        " 100.00%    0.00%              230  all",
        "  69.57%    8.70%              160    main",
        "  43.48%   43.48%              100      [gap]",
        "  17.39%   13.04%               40      f",
        "   4.35%    4.35%               10        g",
        '  30.43%    0.00%               70    ev;il\\x1b<&"',
        "  30.43%   30.43%               70      g",
        "",
        "1 gap of 0 bytes of trace, 43.48% of the time",
    ], lines
    run = case.run("flame", "a", "--no-header", "--min-percent=20").want(
        0, err_has=GAP)
    assert [line.split(None, 3)[3] for line in run.out.splitlines()] == [
        "all", "main", "[gap]", "[smaller] (2 frames)",
        'ev;il\\x1b<&"', "g"], run.out


def test_folded_lines(case: Case) -> None:
    write(case)
    run = case.run("flame", "a", "--format=folded").want(0, err_has=GAP)
    assert run.out == (
        'ev\\x3bil\\x1b<&";g 70\n'
        "main 20\n"
        "main;[gap] 100\n"
        "main;f 30\n"
        "main;f;g 10\n")
    case.run("flame", "a", "--by-thread", "-o", "x.folded").want(
        0, out="", err_has=GAP)
    text = read(case, "x.folded").decode()
    assert text.splitlines()[0] == "7/8;main 20", text
    assert text.splitlines()[-1] == '7/9;ev\\x3bil\\x1b<&";g 70', text
    run = case.run("flame", "a", "--format=folded", "--invert").want(
        0, err_has=GAP)
    assert "g;f;main 10\n" in run.out and "[gap];main 100\n" in run.out
    run = case.run("flame", "a", "--format=folded", "--value=calls").want(
        0, err_has=GAP)
    # Found running are main and what was jumped to.
    assert "main;f;g 1\n" in run.out and "[gap]" not in run.out, run.out


def test_rows_for_programs(case: Case) -> None:
    write(case)
    rows = case.run("flame", "a", "--format=jsonl").want(
        0, err_has=GAP).objects()
    assert [r.get("name") for r in rows] == [
        "all", "main", "[gap]", "f", "g", NAME, "g", None]
    assert [r["kind"] for r in rows[:-1]] == [
        "all", "function", "gap"] + ["function"] * 4
    assert rows[3] == {
        "schema": 1, "type": "flame_frame", "id": 3, "parent": 1, "depth": 2,
        "kind": "function", "name": "f", "image": "/bin/p", "value": 40,
        "self": 30}, rows[3]
    assert rows[-1]["type"] == "flame_summary"
    assert (rows[-1]["total"], rows[-1]["in_gaps"], rows[-1]["gaps"]) == (
        230, 100, 1)
    table = case.run("flame", "a", "--format=csv").want(
        0, err_has=GAP).table()
    assert [(r["id"], r["parent"], r["value"]) for r in table[:3]] == [
        ("0", "", "230"), ("1", "0", "160"), ("2", "1", "100")], table
    assert table[3]["before"] == ""


def test_comparison(case: Case) -> None:
    write(case)
    run = case.run("flame", "a", "--diff", "b", "--format=folded",
                   "--absolute").want(0, err_has=GAP)
    assert run.out == (
        'ev\\x3bil\\x1b<&";g 0 70\n'
        "main 20 20\n"
        "main;[gap] 0 100\n"
        "main;f 80 30\n"
        "main;f;g 0 10\n"
        "main;h 20 0\n"), run.out
    # As shares: 120 ns before are 230.
    run = case.run("flame", "a", "--diff", "b", "--format=jsonl").want(
        0, err_has=GAP)
    rows = {r["name"]: r for r in run.objects() if "name" in r}
    assert (rows["f"]["value"], rows["f"]["before"]) == (40, 153)
    assert (rows["h"]["value"], rows["h"]["before"]) == (0, 38)
    run = case.run("flame", "a", "--diff", "b").want(0, err_has=GAP)
    assert "  17.39%   66.52%  -49.13%               40      f" in run.out
    case.run("flame", "a", "--diff", "missing").want(1, err_has="missing")
    case.run("flame", "a", "--absolute").want(2, err_has="--absolute")


def test_picture_is_xml_with_all_names(case: Case) -> None:
    write(case)
    case.run("flame", "a", "-o", "x.svg").want(0, out="", err_has=GAP)
    root = ET.fromstring(read(case, "x.svg"))
    svg = "{http://www.w3.org/2000/svg}"
    frames = [g for g in root.iter(svg + "g") if g.get("class") == "hw-f"]
    tips = [g.find(svg + "title").text.split("\n") for g in frames]
    assert [t[0] for t in tips] == [
        "all", "main", "[gap]", "f", "g", NAME.replace("\x1b", "\ufffd"), "g"]
    assert tips[3][1:] == ["40 ns, 17.39 %", "/bin/p"]
    # Frames are as wide as what they weigh, and lie in those that called.
    boxes = [g.find(svg + "rect") for g in frames]
    width = [float(b.get("width")) for b in boxes]
    assert abs(width[3] - 1180 * 40 / 230) < 0.001, width
    assert float(boxes[3].get("y")) == float(boxes[1].get("y")) - 16
    text = "".join(root.itertext())
    assert "Not seen: 1 gap of 0 bytes of trace, 43.48 % of the time" in text
    # Handlers are in the one script, which makes no markup.
    assert len(list(root.iter(svg + "script"))) == 1
    for element in root.iter():
        assert not [a for a in element.attrib
                    if a.startswith("on") or "href" in a], element.attrib
    assert "innerHTML" not in text and "eval" not in text
    case.run("flame", "a", "--icicle", "--format=svg", "--title=T&T",
             "-o", "y").want(0, out="", err_has=GAP)
    root = ET.fromstring(read(case, "y"))
    assert root.find(svg + "title").text == "T&T"
    first, second = [g.find(svg + "rect") for g in root.iter(svg + "g")
                     if g.get("class") == "hw-f"][:2]
    assert float(second.get("y")) == float(first.get("y")) + 16


def test_wrong_use_is_told(case: Case) -> None:
    write(case)
    for words, part in (
        (("--icicle",), "--icicle: only pictures"),
        (("--min-width=2",), "--min-width: only pictures"),
        (("--min-width=x", "--format=svg"), "'x' is no width"),
        (("--min-percent=x",), "'x' is no percentage"),
        (("--diff=",), "'' is no file"),
        (("--format=speedscope", "--diff=b"), "speedscope shows no"),
        (("--format=png",), "--format"),
        (("--value=x",), "--value"),
        (("--time=1-2",), "of text all rows are read"),
    ):
        case.run("flame", "a", *words).want(2, err_has=part)
    case.run("flame", "a", "--value=cycles").want(
        1, err_has="a: nothing in it has cycles")
    case.run("flame").want(2)
    case.run("flame", "a", "-o", "a").want(2, err_has="a")
    case.run("flame", "missing").want(1, err_has="missing")


def test_trace_is_decoded_with_its_options(case: Case) -> None:
    path, words = case.trace(BRANCHES)
    run = case.run("flame", path, *words, "--format=jsonl").want(0)
    rows = run.objects()
    # No time, so instructions weigh: all there are.
    events = case.run("insns", path, *words, "--format=jsonl").want(0).objects()
    n = sum(e["kind"] == "insn" for e in events)
    assert rows[-1]["value"] == "insns" and rows[-1]["total"] == n > 0
    case.run("flame", path, *words, "--value=time").want(
        1, err_has="nothing in it has a time")


def test_export_knows_formats_of_profiles(case: Case) -> None:
    write(case)
    listed = case.run("export", "--to=help").want(0).out
    for name in ("folded", "pprof", "callgrind", "speedscope-sampled",
                 "flame-svg"):
        assert f"\n{name} " in listed, listed
    case.run("export", "a", "-o", "x.pb.gz").want(0, out="", err_has=GAP)
    raw = gzip.decompress(read(case, "x.pb.gz"))
    assert b"nanoseconds" in raw and b"main" in raw
    case.run("export", "a", "--to=callgrind", "-o", "x").want(
        0, out="", err_has=GAP)
    assert read(case, "x").startswith(b"# callgrind format\n")
    case.run("export", "a", "--to=speedscope-sampled", "-o", "y").want(
        0, out="", err_has=GAP)
    profiles = json.loads(read(case, "y"))["profiles"]
    assert [(p["name"], p["endValue"]) for p in profiles] == [
        ("7/8", 160), ("7/9", 70)], profiles
    case.run("export", "a", "-o", "z.svg").want(0, out="", err_has=GAP)
    ET.fromstring(read(case, "z.svg"))


def test_export_of_code_needs_no_stacks(case: Case) -> None:
    write(case)
    path, words = case.trace(BRANCHES)
    run = case.run("export", "--code", "--to=callgrind", path, *words).want(0)
    insns = case.run("insns", path, *words, "--format=jsonl").want(
        0).objects()
    n = sum(e["kind"] == "insn" for e in insns)
    costs = [line.split() for line in run.out.splitlines()
             if line.startswith("0x")]
    assert sum(int(words[2]) for words in costs) == n > 0
    case.run("export", "--code", "--to=folded", path, *words).want(
        2, err_has="--code: this format is made of stacks")
    case.run("export", "--code", "--to=chrome", path, *words).want(
        2, err_has="--code: this format is made of something else")
    case.run("export", "--code", "--to=pprof", "-o", "x", "a").want(
        4, err_has="a")
