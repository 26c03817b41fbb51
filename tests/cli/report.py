"""hwtdecode report: sums of what was executed, in all formats."""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
from collections import Counter
from pathlib import Path

from runner import LOOP_INSNS, MISSING, OVERFLOW, Case

# f takes 40 ns, 10 of them in g; main 20 and a gap of 100.
TEXT = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (q)
7/8 1.000000120: 1 branches:u: return 3008 g+0x8 (q) => 2009 f+0x9 (p)
7/8 1.000000140: 1 branches:u: return 200c f+0xc (p) => 1005 main+0x5 (p)
 instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 code 7: Overflow packet
7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1010 main+0x10 (p)
7/8 1.000000260: 1 branches:u: jmp 1014 main+0x14 (p) => 4000 evil\x1b[2J,"x"+0x0 (p)
"""

# What the fixture says of its program: a_main calls a_work, which goes on in
# a_ret, which returns to a_back, twice; then a_sys makes a system call.
PROGRAM = "perf-data/features-tell-of-the-machine"


def program(case: Case) -> list[str | Path]:
    folder = case.fixtures / PROGRAM
    return ["--root", folder / "root", folder / "perf.data"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_functions_of_a_program(case: Case) -> None:
    run = case.run("report", *program(case)).want(0)
    assert run.out == (
        "   self          insns      entered  function\n"
        " 30.77%              4            2  a_main  [first]\n"
        " 30.77%              4            2  a_back  [first]\n"
        " 15.38%              2            2  a_work  [first]\n"
        " 15.38%              2            2  a_ret  [first]\n"
        "  7.69%              1            1  a_sys  [first]\n"
        "not seen: nothing of 37 bytes\n"
    ), run.out


def test_blocks_images_threads_and_cpus_of_a_program(case: Case) -> None:
    words = program(case)
    run = case.run("report", "--by=block", "--top=2", *words).want(0)
    assert run.out.splitlines() == [
        "   self          insns        count  block",
        " 30.77%              4            2  0x1000+6  a_main  [first]",
        " 30.77%              4            2  0x1006+4  a_back  [first]",
        "3 more rows: --top 0 shows all",
        "not seen: nothing of 37 bytes",
    ], run.out
    run = case.run("report", "--by=image", "--no-header", *words).want(0)
    assert run.out.splitlines()[0] == "100.00%             13  /opt/first"
    run = case.run("report", "--by=thread", "--no-header", *words).want(0)
    assert run.out.splitlines()[0] == "100.00%             13  100/100  first"
    run = case.run("report", "--by=cpu", "--no-header", *words).want(0)
    assert run.out.splitlines()[0] == "100.00%             13  0"


def test_callers_and_callees_of_a_program(case: Case) -> None:
    words = program(case)
    run = case.run("report", "--callers=a_work", *words).want(0)
    assert run.out.splitlines()[1] == (
        "           2  call      a_main  [first] -> a_work  [first]")
    run = case.run("report", "--callees=a_main", "--calls", "--format=jsonl",
                   *words).want(0)
    rows = run.objects()
    assert [(r["callee"], r["call"], r["calls"], r["insns"])
            for r in rows if "callee" in r] == [("a_work", "call", 2, 4)]
    assert rows[-1]["type"] == "report_info"
    run = case.run("report", "--callers=a_wrk", *words)
    run.want(1, err_has="no function 'a_wrk' was executed")
    assert "--sort name" in run.err


def test_rows_are_sorted_and_chosen(case: Case) -> None:
    words = program(case)
    run = case.run("report", "--sort=name", "--format=csv", *words).want(0)
    assert [r["function"] for r in rows_of(run.out)] == [
        "a_back", "a_main", "a_ret", "a_sys", "a_work"]
    run = case.run("report", "--percent-limit=15.4", "--format=csv", *words)
    assert [r["function"] for r in rows_of(run.want(0).out)] == [
        "a_main", "a_back"]
    run = case.run("report", "--sort=entered", "--top=4", *words).want(0)
    assert "a_sys" not in run.out
    case.run("report", "--percent-limit=x", *words).want(
        2, err_has="'x' is no percentage")
    case.run("report", "--sort=most", *words).want(2, err_has="--sort")


def test_options_that_go_not_together_are_refused(case: Case) -> None:
    words = program(case)
    for options, what in (
        (("--by=line", "--calls"), "--by line"),
        (("--by=block", "--sort=time"), "--by block"),
        (("--by=cpu", "--inclusive"), "--by cpu"),
        (("--callers=f", "--callees=g"), "--callers and --callees"),
        (("--callers=f", "--by=image"), "--by image"),
        (("--sort=entered", "--calls"), "--sort entered"),
        (("--callers=",), "--callers: ''"),
    ):
        case.run("report", *options, *words).want(2, err_has=what)
    case.write("a", TEXT.encode())
    case.run("report", "--cpu=1", "a").want(2, err_has="all rows are read")
    case.run("report", "--by=line", "a").want(2, err_has="needs code")
    case.run("report", "--sort=entered", "a").want(2, err_has="needs code")


def test_functions_of_text(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("report", "a").want(0)
    head = "   self   total        calls        self_ns       total_ns"
    assert run.out.splitlines() == [
        head + "       gap_ns  function",
        " 50.00%  66.67%            1             30             40"
        "            0  f  [p]",
        " 33.33% 100.00%            1             20             60"
        "          100  main  [p]",
        " 16.67%  16.67%            1             10             10"
        "            0  g  [q]",
        "  0.00%   0.00%            1              0              0"
        "            0  evil\\x1b[2J,\"x\"  [p]",
        f"not seen: 0 of {len(TEXT)} bytes (0.00%) in 1 gap: 1 unknown",
        "not seen: 100 of 160 ns (62.50%) in gaps; 0 ns (0.00%) not running",
        # evil does not end.
        "estimated: begin or end of 1 of 4 calls (25.00%), the time of the "
        "packet before",
    ], run.out
    run = case.run("report", "--inclusive", "--format=csv", "a").want(
        0, err_has="in 1 gap gave nothing")
    rows = rows_of(run.out)
    assert [r["function"] for r in rows] == [
        "main", "f", "g", 'evil\\x1b[2J,"x"']
    assert rows[0]["gap_ns"] == "100" and rows[0]["self_insns"] == ""
    run = case.run("report", "--by=image", "--format=jsonl", "a").want(0)
    p, q, info = run.objects()
    assert (p["image"], p["self_ns"], p["total_ns"]) == ("p", 50, 60)
    assert (q["image"], q["self_ns"], q["total_ns"]) == ("q", 10, 10)
    assert (info["ns"], info["gap_ns"], info["gaps"]) == (
        60, 100, {"unknown": 1})
    run = case.run("report", "--by=thread", "--format=jsonl", "a").want(0)
    assert (run.objects()[0]["pid"], run.objects()[0]["tid"]) == (7, 8)
    run = case.run("report", "--callers=f", "a").want(0)
    assert run.out.splitlines()[1].endswith("call      main  [p] -> f  [p]")


def test_text_from_standard_input_is_said(case: Case) -> None:
    path = case.write("a", TEXT.encode())
    with path.open("rb") as text:
        run = subprocess.run([str(case.tool), "report", "--text", "-"],
                             stdin=text, capture_output=True, text=True,
                             check=False)
    assert run.returncode == 0 and "  f  [p]\n" in run.stdout
    case.write("b", (TEXT + "what\nis this\n").encode())
    case.run("report", "b").want(
        0, err_has="2 of 9 lines are none that perf-script(1) writes, the "
                   "first is line 8")


def test_files_are_added_up(case: Case) -> None:
    case.write("a", TEXT.encode())
    one = case.run("report", "--format=jsonl", "a").want(0).objects()
    two = case.run("report", "--format=jsonl", "a", "a").want(0).objects()
    for a, b in zip(one, two, strict=True):
        for key in ("calls", "self_ns", "total_ns", "gap_ns", "gaps"):
            if key in a and isinstance(a[key], int):
                assert b[key] == 2 * a[key], (a, b)
        assert a.get("self_percent") == b.get("self_percent")
    case.run("report", "a", "none").want(1, err_has="none")


def executed(packed: bytes) -> Counter[int]:
    """How often each address was executed; see fixtures/README.md."""
    counts: Counter[int] = Counter()
    value = shift = ip = 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte & 0x80:
            continue
        ip += -(value + 1 >> 1) if value & 1 else value >> 1
        counts[ip] += 1
        value = shift = 0
    return counts


def test_blocks_are_what_a_program_did(case: Case) -> None:
    # It was single-stepped: the addresses are not those of a decoder.
    folder = (case.fixtures / "pt-captured"
              / "workload-with-time-and-interrupts")
    truth = executed(subprocess.run(
        ["zstd", "-dc", folder / "expected/0.ips.zst"], check=True,
        capture_output=True).stdout)
    trace = case.folder / "0.pt"
    subprocess.run(["zstd", "-qd", folder / "0.pt.zst", "-o", trace],
                   check=True)
    words = ["--images", folder / "image.txt", "--format=csv", trace]
    for jobs in "12":
        run = case.run("report", "--by=block", f"--jobs={jobs}", *words)
        blocks = rows_of(run.want(0).out)
        assert sum(int(b["insns"]) for b in blocks) == sum(truth.values())
        seen = 0
        for block in blocks:
            first = 0x401000 + int(block["offset"], 16)
            inside = [ip for ip in range(first, first + int(block["bytes"]))
                      if ip in truth]
            assert {truth[ip] for ip in inside} == {int(block["entered"])}
            seen += len(inside)
        assert seen == len(truth)
    run = case.run("report", *words).want(0)
    assert rows_of(run.out)[0]["insns"] == str(sum(truth.values()))


def test_what_was_not_seen_is_told(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["--pt-cpu=6/94/3", *code, trace]
    run = case.run("report", *words).want(0)
    assert "in 1 gap: 1 overflow\n" in run.out
    run = case.run("report", "--format=jsonl", *words).want(0)
    assert run.objects()[-1]["gaps"] == {"overflow": 1}
    case.run("report", "--max-loss=0", *words).want(
        3, err_has="--max-loss is 0%")
    trace, code = case.trace(MISSING)
    for more in ((), ("--calls",), ("--by=thread",)):
        run = case.run("report", *more, *code, trace).want(0)
        assert " no-code" in run.out and "not seen: " in run.out
    case.run("report", "--strict", *code, trace).want(1)


def test_how_well_times_are_known_is_told(case: Case) -> None:
    top = case.fixtures.parent
    trace = top / "bindings" / "python" / "src" / "hwt" / "_example" / "pt.hwt"
    timed, ways = 0, Counter[str]()
    calls = case.run("calls", "--format=jsonl", trace).want(0).objects()
    for row in calls:
        if row["type"] != "call" or row.get("ns") is None:
            continue
        timed += 1
        for way in ("estimated", "interpolated"):
            if row.get(f"begin_{way}") or row.get(f"end_{way}"):
                ways[way] += 1
                break
    assert timed > ways["interpolated"] > ways["estimated"] > 0
    by_calls = ["report", "--calls", trace]
    info = case.run(*by_calls, "--format=jsonl").want(0).objects()[-1]
    assert info["timed_calls"] == timed
    assert info["interpolated_calls"] == ways["interpolated"]
    assert info["estimated_calls"] == ways["estimated"]
    case.run(*by_calls).want(
        0,
        out_has=tuple(
            f"{way}: begin or end of {ways[way]} of {timed} calls "
            f"({100 * ways[way] / timed:.2f}%), "
            for way in ("estimated", "interpolated")
        ),
    )
    # Where no calls are followed there are none.
    assert "begin or end of" not in case.run("report", trace).want(0).out


def test_code_without_symbols_is_unknown(case: Case) -> None:
    trace, code = case.long_trace(2)
    run = case.run("report", *code, trace).want(0)
    # The loop, and the instruction that it leaves to is not executed.
    assert "[unknown]  [loop.bin]\n" in run.out
    assert "no function is known of: " in run.out
    rows = rows_of(case.run("report", "--by=block", "--format=csv", *code,
                            trace).want(0).out)
    assert sum(int(r["insns"]) for r in rows) // LOOP_INSNS == 2


def test_lines_and_inlined_functions(case: Case) -> None:
    if platform.machine() != "x86_64":
        return
    trace, _ = case.long_trace(1)
    source = case.write(
        "loop.c",
        b"static inline __attribute__((always_inline)) void\n"
        b"twice(void)\n{\n"
        b'\t__asm__ volatile("nop");\n'
        b'\t__asm__ volatile("nop");\n'
        b"}\n"
        b"void _start(void)\n{\n"
        b'\t__asm__ volatile("1:");\n'
        b"\ttwice();\n"
        b'\t__asm__ volatile("jne 1b; nop");\n}\n',
    )
    binary = case.folder / "program"
    subprocess.run(
        [
            *("cc", "-O1", "-g", "-static", "-nostdlib", "-fno-pie"),
            *("-no-pie", "-fcf-protection=none", "-fomit-frame-pointer"),
            *("-Wl,--build-id=none", "-Wl,-Ttext=0x401000"),
            *("-o", binary, source),
        ],
        check=True,
    )
    at = binary.read_bytes().index(b"\x90\x90\x75\xfc\x90")
    words = ["--image", f"{binary}:{at}:5@0x401000", "--format=csv", trace]
    run = case.run("report", *words).want(0)
    (whole,) = rows_of(run.out)
    assert whole["function"] == "_start"
    n = int(whole["insns"])
    rows = rows_of(case.run("report", "--by=line", *words).want(0).out)
    lines = {int(r["line"]): int(r["insns"]) for r in rows}
    # As many of each nop as of the jump, but for the first and last round.
    assert set(lines) == {4, 5, 11} and sum(lines.values()) == n
    assert max(lines.values()) - min(lines.values()) <= 2
    assert {r["file"] for r in rows} == {str(source)}
    rows = rows_of(case.run("report", "--by=inline", *words).want(0).out)
    inlined = {r["function"]: (r["inlined"], int(r["insns"])) for r in rows}
    assert inlined == {"twice": ("1", lines[4] + lines[5]),
                       "_start": ("0", lines[11])}


def test_a_reader_that_went_away_is_no_failure(case: Case) -> None:
    read, write = os.pipe()
    os.close(read)
    words = [str(w) for w in program(case)]
    run = subprocess.run([str(case.tool), "report", *words], stdout=write,
                         stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert run.returncode in (0, -13) and run.stderr == b""


def test_text_that_is_read_is_not_replaced(case: Case) -> None:
    case.write("a", TEXT.encode())
    case.write("b", TEXT.encode())
    for output in ("a", "./b"):
        case.run("report", "a", "b", "-o", output).want(
            2, out="", err_has=f"{output}: is both input and output")
    assert (case.folder / "b").read_bytes() == TEXT.encode()


def test_counts_of_code_and_calls_of_text_are_not_mixed(case: Case) -> None:
    case.write("a", TEXT.encode())
    words = program(case)
    for files in ((*words, "a"), ("a", *words)):
        case.run("report", *files).want(
            2, out="", err_has="text tells calls, and of traces code is")
    rows = rows_of(case.run("report", "--calls", "--format=csv", *words,
                            "a").want(0, err_has="in 1 gap").out)
    # Both have what they have alone.
    assert sum(int(r["self_insns"]) for r in rows) == 13
    assert {r["function"]: r["total_ns"] for r in rows}["f"] == "40"


def test_of_several_files_no_single_one_is_blamed(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.run("report", "--format=csv", "--max-loss=0", *code, trace,
             trace).want(3, err_has=(
                 "warning: all of them: 0 of 84 bytes (0.00%) in 2 gaps",
                 "hwtdecode: all of them: "))
