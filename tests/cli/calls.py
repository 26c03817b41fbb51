"""hwtdecode calls: calls of traces and of text, in all formats."""

import csv
import io
import subprocess
from collections import Counter

from runner import BRANCHES, OVERFLOW, PSB, PSBEND, Case

# A call that takes 40 ns, one of 10 in it, and a gap.
TEXT = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (q)
7/8 1.000000120: 1 branches:u: return 3008 g+0x8 (q) => 2009 f+0x9 (p)
7/8 1.000000140: 1 branches:u: return 200c f+0xc (p) => 1005 main+0x5 (p)
 instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 code 7: Overflow packet
7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1010 main+0x10 (p)
7/8 1.000000260: 1 branches:u: jmp 1014 main+0x14 (p) => 4000 evil\x1b[2J+0x0 (p)
"""


def test_text_is_indented(case: Case) -> None:
    case.write("a", TEXT.encode())
    lines = case.run("calls", "a").want(0).out.splitlines()
    assert [line[line.index("7/8") + 5:] for line in lines] == [
        "main {  (began before)",
        "  f {",
        "    g  10ns",
        "  } f  40ns self 30ns",
        "  [gap of 100ns and 0 bytes]",
        "} main  160ns self 20ns  (end: tail, 1 gap of 100ns, began before)",
        "evil\\x1b[2J  0ns  (tail, end: open)",
    ], lines
    assert lines[1].startswith("1.000000100 ")


def test_calls_of_unknown_length_are_not_left_out_silently(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    run = case.run("calls", *code, trace).want(0)
    assert run.out.strip() != "" and "known" not in run.err
    case.run("calls", "--min-duration=1ns", *code, trace).want(
        0, err_has="--min-duration leaves them out")


def test_calls_are_chosen(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("calls", "--min-duration=40ns", "a").want(0)
    assert " g " not in run.out and "} main" in run.out
    assert "f  40ns" in run.out
    run = case.run("calls", "--min-duration=41", "a").want(0)
    assert " f " not in run.out
    run = case.run("calls", "--max-depth=2", "a").want(0)
    assert " g " not in run.out and " f  40ns" in run.out
    run = case.run("calls", "--trigger=f", "a").want(0)
    assert "main" not in run.out and "gap" not in run.out
    assert "7/8  f {" in run.out and "7/8    g  10ns" in run.out
    run = case.run("calls", "--limit=1", "a").want(0)
    assert run.out.splitlines()[-1].endswith("g  10ns")
    case.run("calls", "--min-duration=x", "a").want(
        2, err_has="--min-duration: 'x' is no length of time")
    case.run("calls", "--max-depth=0", "a").want(2, err_has="--max-depth")


def test_json_lines_have_begins_and_ends(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("calls", "--format=jsonl", "--enters", "a").want(0)
    rows = run.objects()
    assert [(r["type"], r.get("function")) for r in rows] == [
        ("call_enter", "main"), ("call_enter", "f"), ("call_enter", "g"),
        ("call", "g"), ("call", "f"), ("call_gap", None), ("call", "main"),
        ("call_enter", "evil\x1b[2J"), ("call", "evil\x1b[2J"),
        ("call_info", None)], rows
    g, main = rows[3], rows[6]
    assert (g["begin_ns"], g["end_ns"]) == (1000000110, 1000000120)
    assert (g["pid"], g["tid"], g["depth"], g["id"]) == (7, 8, 2, 2)
    assert (g["began_by"], g["ended_by"]) == ("call", "return")
    assert (g["address"], g["call_site"]) == ("0x3000", "0x2004")
    assert main["gap_ns"] == main["self_gap_ns"] == 100
    assert main["self_ns"] == 20 and main["began_before"]
    # All time of the thread is of one call, or in the gap.
    ends = [r for r in rows if r["type"] == "call"]
    assert sum(r["self_ns"] + r["self_gap_ns"] for r in ends) == 160
    assert rows[9]["calls"] == 4


def test_csv(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("calls", "--format=csv", "a").want(0, err_has="1 gap")
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["function"] for row in rows][:3] == ["g", "f", "main"]
    assert rows[1]["self_ns"] == "30" and rows[1]["depth"] == "1"
    assert rows[2]["began_by"] == "found"


def test_csv_has_what_json_lines_have(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("calls", "--format=jsonl", "a").want(0)
    want = [row for row in run.objects() if row["type"] == "call"]
    run = case.run("calls", "--format=csv", "a").want(0, err_has="1 gap")
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert len(rows) == len(want) == 4
    for row, keys in zip(rows, want):
        assert None not in row, "more cells than names"
        for key, value in keys.items():
            # What is true or false are bits of the column flags.
            if key not in {"schema", "type"} and value is not True:
                cell = row[key].encode().decode("unicode_escape")
                assert cell == str(value), (key, row, keys)


def test_no_output_replaces_the_text(case: Case) -> None:
    path = case.write("a", TEXT.encode())
    (case.folder / "link").symlink_to("a")
    for name in ("a", "./a", "link"):
        case.run("calls", "a", "-o", name).want(
            2, out="", err_has=f"{name}: is both input and output")
        assert path.read_bytes() == TEXT.encode()
    case.shell('"$T" calls --text - -o a <a').want(
        2, out="", err_has="a: is both input and output")
    assert path.read_bytes() == TEXT.encode()


def test_memory_for_text_has_a_limit(case: Case) -> None:
    # Each thread takes some.
    line = TEXT.splitlines()[0] + "\n"
    case.write("a", "".join(line.replace("7/8", f"7/{n}")
                            for n in range(20000)).encode())
    case.run("calls", "--functions", "a").want(0)
    case.run("calls", "--functions", "--max-memory=16M", "a").want(
        1, out="", err_has="--max-memory")


def test_threads_that_take_turns_have_their_own_calls(case: Case) -> None:
    # Each is in main, calls f, and returns; every third one stays in f.
    lines = []
    for step, branch in enumerate((
            "call 1000 main+0x0 (p) => 2000 f+0x0 (p)",
            "return 2008 f+0x8 (p) => 1005 main+0x5 (p)")):
        lines += [f"1/{tid} 1.{step}{tid:05}: 1 branches:u: {branch}\n"
                  for tid in range(1, 3000) if step == 0 or tid % 3 != 0]
    case.write("a", "".join(lines).encode())
    run = case.run("calls", "--format=csv", "a").want(0)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert len(rows) == 2 * 2999
    ended = {(int(row["tid"]), row["function"]): row["ended_by"]
             for row in rows}
    for tid in range(1, 3000):
        assert ended[tid, "main"] == "open"
        assert ended[tid, "f"] == ("open" if tid % 3 == 0 else "return")
    text = case.run("calls", "a").want(0).out.splitlines()
    assert sum(" main {" in line for line in text) == 2999
    assert sum("   f  " in line for line in text) == 2999


def test_a_trigger_that_is_never_called_is_told(case: Case) -> None:
    case.write("a", TEXT.encode())
    case.run("calls", "--trigger=nobody", "a").want(
        0, out="", err_has="a: no call of 'nobody' was seen")
    case.run("calls", "--trigger=f", "a").want(0, err="")
    # It was called, but not for so long.
    case.run("calls", "--trigger=f", "--min-duration=1s", "a").want(
        0, out="", err="")


def test_the_table_of_functions_is_of_all_calls(case: Case) -> None:
    case.write("a", TEXT.encode())
    for option in ("--trigger=f", "--min-duration=1", "--max-depth=1"):
        case.run("calls", "--functions", option, "a").want(
            2, out="", err_has="--functions is a table of all calls")


def test_tables_say_what_they_lack(case: Case) -> None:
    case.write("a", TEXT.encode())
    told = "a: what ran in 1 gap (0 bytes) is not known"
    for words in (["--functions"], ["--format=csv"],
                  ["--functions", "--format=csv"]):
        case.run("calls", *words, "a").want(0, err_has=told)
    # Those have the gap among their rows, or in call_info.
    for words in ([], ["--format=jsonl"]):
        case.run("calls", *words, "a").want(0, err="")


def test_functions(case: Case) -> None:
    case.write("a", TEXT.encode())
    run = case.run("calls", "--functions", "--format=jsonl", "a").want(0)
    rows = {r["function"]: r for r in run.objects()[:-1]}
    assert rows["f"]["p50_ns"] == 40 and rows["f"]["all_self_ns"] == 30
    assert rows["main"]["calls"] == 1 and rows["main"]["whole"] == 0
    run = case.run("calls", "--functions", "a").want(0, err_has="1 gap")
    assert run.out.splitlines()[1].split()[-1] == "f"
    run = case.run("calls", "--functions", "--format=csv", "a").want(
        0, err_has="1 gap")
    assert run.out.splitlines()[1].startswith("f,0x2000,1,1,40,30,30,")


def test_text_from_standard_input_is_said(case: Case) -> None:
    path = case.write("a", TEXT.encode())
    words = [str(case.tool), "calls", "-"]
    with path.open("rb") as text:
        run = subprocess.run([*words, "--text"], stdin=text,
                             capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "} f  40ns" in run.stdout
    with path.open("rb") as text:
        run = subprocess.run(words, stdin=text, capture_output=True,
                             text=True, check=False)
    assert run.returncode == 4


def test_lines_that_are_none_are_counted(case: Case) -> None:
    case.write("a", (TEXT + "what is this\n").encode())
    case.run("calls", "a").want(
        0, err_has="1 line is none that perf-script(1) writes: line 8")
    case.write("b", (TEXT + "what\nis this\n").encode())
    case.run("calls", "b").want(
        0, err_has="2 lines are none that perf-script(1) writes, the first "
                   "is line 8")
    case.write("b", b"what is this\n")
    case.run("calls", "--text", "b").want(
        4, err_has="no line of perf-script(1) is at its start")
    case.run("calls", "--text", "none").want(1, err_has="none")
    case.run("calls", "--cpu=1", "a").want(2, err_has="all rows are read")


def test_times_are_chosen(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["--pt-cpu=6/94/3", "--clock=1/1", *code, "--format=jsonl", trace]
    case.run("calls", "--time=1s-", *words).want(0)
    every = case.run("calls", *words).want(0).objects()
    assert [row["type"] for row in every].count("call_gap") >= 1


def naive_calls(events: list[dict]) -> Counter[str]:
    """Count calls by what they lead to, with a stack of return addresses."""
    found: Counter[str] = Counter()
    stack: list[tuple[int, str]] = []
    for row in events:
        if row.get("kind") != "block" or "target" not in row:
            continue
        if row.get("branch") in ("call", "indirect-call"):
            stack.append((int(row["ip"], 16) + row["bytes"], row["target"]))
        elif row.get("branch") == "return":
            back, callee = stack.pop()
            assert back == int(row["target"], 16)
            found[callee] += 1
    return found


def test_calls_are_those_of_the_branches(case: Case) -> None:
    # The same program, recorded in three ways.
    for how in ("without-any-compression", "with-time-and-interrupts",
                "with-compressed-returns-and-addresses"):
        folder = case.fixtures / f"pt-captured/workload-{how}"
        packed = subprocess.run(["zstd", "-qdc", folder / "0.pt.zst"],
                                capture_output=True, check=True)
        case.write("0.pt", packed.stdout)
        words = ["--tech=pt", "--images", str(folder / "image.txt"),
                 "--format=jsonl", "0.pt"]
        want = naive_calls(case.run("events", *words).want(0).objects())
        assert sum(want.values()) == 9563
        rows = [row for row in case.run("calls", *words).want(0).objects()
                if row["type"] == "call"]
        # A tail call is a part of the call that it ends with.
        assert sum(row["ended_by"] == "return" for row in rows) == 9563
        got = Counter(row["address"] for row in rows
                      if row["began_by"] == "call" and
                      row["ended_by"] != "open")
        assert got == want, got - want
        assert sum(row["self_insns"] for row in rows) == 187967
        asynchronous = [row for row in rows
                        if row["began_by"] == "interrupt"]
        assert len(asynchronous) == (20 if "interrupts" in how else 0)
        assert not [row for row in rows if row["stack"] != 0 or
                    row["ended_by"] == "unwound"]


def tsc(ticks: int) -> bytes:
    return b"\x19" + ticks.to_bytes(7, "little")


def cyc(cycles: int) -> bytes:
    """Encode a cycle count that takes three bytes."""
    return bytes(((cycles & 31) << 3 | 7, (cycles >> 5 & 127) << 1 | 1,
                  cycles >> 12 << 1))


def test_what_was_lost_takes_no_time_of_a_function(case: Case) -> None:
    # 3 ticks and 3 cycles in each ns.  The packet of cycles comes out with that of
    # the overflow, 1000 ns behind the last branch.
    fup = b"\x7d" + (0x1000).to_bytes(6, "little")
    at = b"\x7d" + (0x1006).to_bytes(6, "little")
    begin = PSB + tsc(3_000_000) + b"\x02\x03\x1e\x00" + fup + b"\x99\x01"
    not_taken = b"\x04"
    case.write("code", b"\x75\x00" * 8 + b"\x90")
    case.write("a.pt", begin + PSBEND + cyc(300) + not_taken * 2 + cyc(3000)
               + b"\x02\xf3" + at + tsc(3_003_300) + not_taken + cyc(600) + not_taken)
    trace = ["--tech=pt", "--pt-nom-freq=30", "--pt-cpuid-15h=2/250", "--pt-mtc-freq=3",
             "--image=code@0x1000", "a.pt"]
    run = case.run("calls", "--format=jsonl", *trace).want(0)
    calls = [r for r in run.objects() if r["type"] == "call"]
    gaps = [r for r in run.objects() if r["type"] == "call_gap"]
    # Parts of a ns are lost where ticks become time.
    assert len(gaps) == 1, gaps
    assert abs(gaps[0]["begin_ns"] - 1_000_100) <= 1, gaps
    assert abs(gaps[0]["end_ns"] - 1_001_100) <= 1, gaps
    assert abs(sum(r["gap_ns"] for r in calls) - 1000) <= 1, calls
    assert abs(sum(r["self_ns"] for r in calls) - 200) <= 1, calls


def test_a_trace_has_its_instructions(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    run = case.run("calls", *code, "--format=jsonl", trace).want(0)
    calls = [r for r in run.objects() if r["type"] == "call"]
    events = case.run("events", *code, "--format=jsonl", trace).want(0)
    insns = sum(r.get("insns", 0) for r in events.objects())
    assert sum(r["self_insns"] for r in calls) == insns > 0
    for jobs in "2", "4":
        other = case.run("calls", *code, "--format=jsonl", "-j", jobs, trace)
        assert other.want(0).out == run.out
    case.run("calls", *code, "--address=0x1000", trace).want(
        2, err_has="--address")
    case.write("nothing", b"")
    case.run("calls", "nothing").want(4, err_has="nothing")
