"""hwtdecode hist: distributions of calls, in all formats."""

import csv
import fcntl
import io
import os
import pty
import struct
import subprocess
import termios

from runner import OVERFLOW, Case


def line(ns: int, rest: str, tid: int = 8) -> str:
    return f"7/{tid} 1.{ns:09d}: 1 branches:u: {rest}\n"


def calls(lengths: list[int], tid: int = 8) -> str:
    """Calls of f from main, each of its own length."""
    now, text = 1000, ""
    for ns in lengths:
        text += line(now, "call 1000 main+0x0 (p) => 2000 f+0x0 (p)", tid)
        now += ns
        text += line(now, "return 2009 f+0x9 (p) => 1005 main+0x5 (p)", tid)
        now += 10
        text += line(now, "jmp 1009 main+0x9 (p) => 1000 main+0x0 (p)", tid)
        now += 1
    return text


# 100 calls: 1 to 99 ns, and one of a millisecond.
HUNDRED = calls([*range(1, 100), 1000000])

GAP = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
 instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 code 7: Overflow packet
7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 2004 f+0x4 (p)
7/8 1.000000260: 1 branches:u: return 2009 f+0x9 (p) => 1005 main+0x5 (p)
7/8 1.000000270: 1 branches:u: call 1005 main+0x5 (p) => 3000 evil\x1b[2J"<b>+0x0 (p)
7/8 1.000000290: 1 branches:u: return 3009 evil\x1b[2J"<b>+0x9 (p) => 100a main+0xa (p)
"""


def test_percentiles_are_those_of_the_calls(case: Case) -> None:
    case.write("a", HUNDRED.encode())
    lines = case.run("hist", "a").want(0).out.splitlines()
    assert lines[0] == ("# time: 101 calls, 100 in full, 1 without begin or "
                        "end"), lines
    assert lines[1].split() == ["calls", "in", "full", "min", "mean", "p50",
                                "p90", "p99", "p99.9", "max", "function"]
    # The sum is 4950 and a million.
    assert lines[2].split() == ["100", "100", "1ns", "10.04us", "50ns", "90ns",
                                "99ns", "1000.00us", "1000.00us", "f"], lines
    assert lines[3].split() == ["1", "0", *"-------", "main"]
    run = case.run("hist", "--no-header", "--top=1", "a").want(0)
    assert len(run.out.splitlines()) == 1


def test_bars_are_as_wide_as_the_terminal(case: Case) -> None:
    case.write("a", calls([1, 2, 2, 3, 3, 3, 3]).encode())
    run = case.run("hist", "--sym=f", "a").want(0)
    assert [row.split() for row in run.out.splitlines()[-3:]] == [
        ["1ns", "-", "1ns", "1", "14.3%", "#" * 7],
        ["2ns", "-", "2ns", "2", "28.6%", "#" * 15],
        ["3ns", "-", "3ns", "4", "57.1%", "#" * 29]], run.out
    assert max(len(row) for row in run.out.splitlines()) <= 80
    assert "\x1b" not in run.out
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 9, 120, 0, 0))
    words = [str(case.tool), "hist", "--sym=f", "a"]
    with subprocess.Popen(words, cwd=case.folder, env=case.environment(),
                          stdout=follower) as tool:
        os.close(follower)
        text = b""
        while True:
            try:
                more = os.read(leader, 4096)
            except OSError:
                break
            if not more:
                break
            text += more
        assert tool.wait() == 0
    os.close(leader)
    assert b"#" * 69 in text and b"#" * 70 not in text, text


def test_lines_of_bars_have_room_for_all(case: Case) -> None:
    case.write("a", HUNDRED.encode())
    run = case.run("hist", "--bars", "--top=1", "a").want(0)
    rows = [row.split() for row in run.out.splitlines()
            if " - " in row]
    # From 1 to 2^20, by powers of two; all calls are in one.
    assert rows[0][:4] == ["1ns", "-", "1ns", "1"], rows
    assert rows[1][:4] == ["2ns", "-", "3ns", "2"]
    assert rows[-1][:4] == ["524.28us", "-", "1048.57us", "1"]
    assert sum(int(row[3]) for row in rows) == 100
    assert len(rows) == 20


def test_json_lines_have_buckets(case: Case) -> None:
    case.write("a", HUNDRED.encode())
    run = case.run("hist", "--format=jsonl", "a").want(0)
    f, main, every, info = run.objects()
    assert (f["type"], f["function"], f["address"]) == ("hist", "f", "0x2000")
    assert [b for b in f["buckets"][:99]] == [[n, n, 1] for n in range(1, 100)]
    first, last, n = f["buckets"][99]
    assert n == 1 and first <= 1000000 <= last and last - first < first / 128
    assert (f["min"], f["max"], f["sum"]) == (1, 1000000, 1004950)
    assert main["unseen"] == 1 and "p50" not in main
    assert every["type"] == "hist_all" and every["calls"] == 101
    assert info["type"] == "hist_info" and info["rows"] == 2
    assert info["bytes"] == len(HUNDRED)


def test_csv_has_rows_or_buckets(case: Case) -> None:
    case.write("a", calls([5, 5, 9]).encode())
    run = case.run("hist", "--format=csv", "a").want(0)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert rows[0]["function"] == "f" and rows[0]["p50"] == "5"
    assert rows[1]["function"] == "main" and rows[1]["p50"] == ""
    run = case.run("hist", "--format=csv", "--buckets", "a").want(0)
    assert run.out.splitlines() == [
        "function,image,place,first,last,n",
        "f,p,0x2000,5,5,2", "f,p,0x2000,9,9,1"]
    case.run("hist", "--buckets", "a").want(2, err_has="--buckets is of CSV")
    case.run("hist", "--bars", "--format=csv", "a").want(
        2, err_has="--bars are of text")


def test_what_has_gaps_is_counted_apart(case: Case) -> None:
    case.write("a", GAP.encode())
    run = case.run("hist", "a").want(0)
    lines = run.out.splitlines()
    assert lines[0] == ("# time: 3 calls, 1 in full, 1 without begin or end, "
                        "1 with gaps"), lines
    assert lines[1] == "# gaps: 1, 0 of " + str(len(GAP)) + " bytes"
    assert "evil\\x1b[2J" in run.out and "\x1b" not in run.out
    run = case.run("hist", "--format=jsonl", "a").want(0)
    rows = {row.get("function"): row for row in run.objects()}
    assert rows["f"]["gapped"] == 1 and rows["f"]["n"] == 0
    assert rows['evil\x1b[2J"<b>']["max"] == 20
    case.run("hist", "--max-loss=0", "a").want(3, err_has="--max-loss")


def test_files_are_added_together(case: Case) -> None:
    case.write("a", calls([5, 7]).encode())
    case.write("b", calls([9], tid=9).encode())
    run = case.run("hist", "--format=jsonl", "--sym=f", "a", "b").want(0)
    assert run.objects()[0]["buckets"] == [[5, 5, 1], [7, 7, 1], [9, 9, 1]]


def test_time_between_two_functions(case: Case) -> None:
    case.write("a", (
        line(100, "call 1000 main+0x0 (p) => 2000 f+0x0 (p)")
        + line(130, "call 2004 f+0x4 (p) => 3000 g+0x0 (q)")).encode())
    run = case.run("hist", "--from=f", "--to=g", "--format=jsonl",
                   "a").want(0)
    row, _, info = run.objects()
    assert (row["function"], row["to_function"]) == ("f", "g")
    assert (row["to_image"], row["to_address"]) == ("q", "0x3000")
    assert row["buckets"] == [[30, 30, 1]]
    assert info["unfinished"] == 0
    assert "f -> g" in case.run("hist", "--from=f", "--to=g", "a").want(0).out
    run = case.run("hist", "--from=f", "--to=g", "--format=csv", "a").want(0)
    assert run.out.splitlines()[1].startswith("f,p,0x2000,g,q,0x3000,1,1,0")
    case.run("hist", "--from=g", "--to=f", "a").want(
        0, err_has="no call of 'g' came before one of 'f'")
    case.run("hist", "--from=f", "a").want(2, err_has="belong together")
    case.run("hist", "--from=f", "--to=g", "--sym=f", "a").want(
        2, err_has="leave out --sym")


def test_names_that_nothing_has_are_said(case: Case) -> None:
    case.write("a", calls([5]).encode())
    case.run("hist", "--sym=g", "a").want(
        0, err_has="no function that was called is 'g'")
    case.run("hist", "--sym=", "a").want(2, err_has="'' is no name")
    case.run("hist", "--value=x", "a").want(2, err_has="--value")
    run = case.run("hist", "--sym=?", "--format=jsonl", "a").want(0)
    assert run.objects()[0]["function"] == "f"


def test_instructions_of_a_trace_with_a_gap(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["--pt-cpu=6/94/3", "--clock=1/1", *code, "--format=jsonl", trace]
    rows = case.run("hist", "--value=insns", *words).want(0).objects()
    assert rows[-1]["gaps"] >= 1
    rows = [row for row in rows if row["type"] == "hist"]
    assert rows
    # Each call is in the distribution or in one of the other sums.
    for row in rows:
        assert row["calls"] == (row["n"] + row["unseen"] + row["gapped"]
                                + row["switched"] + row["unknown"]
                                + row["inexact"])


def test_tables_without_a_place_for_it_warn_of_loss(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["--value=insns", *code, trace]
    what = f"warning: {trace}: 0 of 42 bytes (0.00%) in 1 gap gave nothing"
    case.run("hist", *words).want(0, err="", out_has="# gaps: 1, 0 of 42")
    case.run("hist", "--format=jsonl", *words).want(0, err="")
    case.run("hist", "--format=csv", *words).want(0, err_has=what)
    case.run("hist", "--no-header", *words).want(0, err_has=what)
