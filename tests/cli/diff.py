"""hwtdecode diff: functions, calls, branches and flow of two traces."""

import csv
import io

from runner import LOOP_AT, PSB, PSBEND, Case


def line(ns: int, rest: str) -> str:
    return f"7/8 1.{ns:09d}: 1 branches:u: {rest}\n"


def text(f_ns: int, calls: int, also: str = "") -> str:
    """Calls of f from main, and one of another function."""
    now, out = 1000, ""
    for name in ["f"] * calls + ([also] if also else []):
        at = 0x2000 + 0x100 * ord(name[0])
        out += line(now, f"call 1000 main+0x0 (/a/p) => {at:x} {name}+0x0 "
                         "(/a/p)")
        now += f_ns
        out += line(now, f"return {at + 9:x} {name}+0x9 (/a/p) => 1005 "
                         "main+0x5 (/a/p)")
        now += 10
        out += line(now, "jmp 1009 main+0x9 (/a/p) => 1000 main+0x0 (/a/p)")
        now += 10
    return out


# A loop: nop, nop, jnz back to the first; behind it nop, jmp to the first.
LOOP = b"\x90\x90\x75\xfc\x90\xeb\xf9"


def loop(case: Case, name: str, rounds: int, gap_at: int = -1,
         at: int = LOOP_AT, behind: bool = True) -> list[str]:
    """A trace of that loop; its words for the tool."""
    case.write("loop.bin", LOOP)
    trace = PSB + b"\x7d" + at.to_bytes(6, "little") + b"\x99\x01" + PSBEND
    for i in range(rounds):
        # TNT: taken, but the last; OVF and FUP where packets are lost.
        trace += b"\x06" if i + 1 < rounds else b"\x04"
        if i == gap_at:
            trace += b"\x02\xf3\x7d" + at.to_bytes(6, "little")
    # An interrupt where it goes on, unless the last branch is the end.
    end = at if behind else at + 4
    trace += b"\x3d" + (end & 0xFFFF).to_bytes(2, "little") + b"\x01"
    case.write(name, trace)
    return ["--tech=pt", f"--image=loop.bin@{at:#x}"]


def test_functions_of_text_are_compared(case: Case) -> None:
    case.write("a", text(30, 3, "g").encode())
    case.write("b", text(30, 5, "h").encode())
    run = case.run("diff", "--by=calls", "a", "b").want(0)
    lines = run.out.splitlines()
    assert [row.split() for row in lines[3:]] == [
        ["Functions,", "by", "calls"],
        ["A", "B", "change", "function"],
        ["3", "5", "+2", "+66.7%", "f", "p"],
        ["1", "0", "-1", "gone", "g", "p"],
        ["0", "1", "+1", "new", "h", "p"]], lines
    run = case.run("diff", "--by=time", "--top=1", "a", "b").want(0)
    assert run.out.splitlines()[-2].split() == [
        "90", "150", "+60", "+66.7%", "f", "p"]
    assert run.out.splitlines()[-1] == "and 3 more"


def test_small_changes_are_left_out(case: Case) -> None:
    case.write("a", text(30, 100, "g").encode())
    case.write("b", text(30, 101, "h").encode())
    words = ["diff", "--by=calls", "--exit-code", "--no-header"]
    run = case.run(*words, "a", "b").want(1)
    assert len(run.out.splitlines()) == 3
    run = case.run(*words, "--threshold=2", "a", "b").want(0)
    assert run.out.splitlines() == [
        "nothing changed", "3 changes are below the threshold"]
    case.run(*words, "a", "a").want(0)
    case.run("diff", "--threshold=x", "a", "b").want(
        2, err_has="'x' is no percentage")


def test_shares_are_compared(case: Case) -> None:
    # All of B is twice as much: nothing but g and h changed.
    case.write("a", (text(30, 10) + text(30, 1, "g")).encode())
    case.write("b", (text(30, 21) + text(30, 1)).encode())
    run = case.run("diff", "--by=calls", "--normalize", "--format=jsonl",
                   "a", "b").want(0)
    rows = {row.get("function"): row for row in run.objects()}
    # 12 and 13 calls (main is one of them) stand for 23 and 24.
    assert rows["g"]["only"] == "a" and rows["g"]["change"] == -1
    assert rows["f"]["calls"] == [11, 22]


def test_calls_between_functions(case: Case) -> None:
    case.write("a", text(30, 3, "g").encode())
    case.write("b", text(30, 5).encode())
    run = case.run("diff", "--show=edges", "--by=calls", "--format=csv",
                   "a", "b").want(0)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [(r["from"], r["to"], r["a_calls"], r["b_calls"], r["only"])
            for r in rows] == [("main", "f", "3", "5", ""),
                               ("main", "g", "1", "0", "a")]
    run = case.run("diff", "--show=functions,edges", "--by=calls", "a",
                   "b").want(0)
    assert "main -> g" in run.out


def test_text_has_no_flow(case: Case) -> None:
    case.write("a", text(30, 3).encode())
    case.run("diff", "--show=flow", "a", "a").want(
        2, err_has="text has no flow")
    case.run("diff", "--show=x", "a", "a").want(2, err_has="'x' is no list")
    case.run("diff", "--show=edges", "--kernel", "a", "a").want(
        2, err_has="are of flow")
    case.run("diff", "--format=csv", "a", "a").want(
        2, err_has="rows of one kind")
    case.run("diff", "-", "-").want(2, err_has="both are standard input")
    case.run("diff", "a").want(2)


def test_flow_that_parts_is_told(case: Case) -> None:
    words = loop(case, "a", 6)
    loop(case, "b", 3)
    run = case.run("diff", "--show=flow", "--exit-code", *words, "a",
                   "b").want(1)
    lines = run.out.splitlines()
    assert lines[1] == ("Thread stream 0 of A and stream 0 of B: 3 equal "
                        "blocks, then different ones"), lines
    place = f"{LOOP_AT:#x} (loop.bin+0x0)"
    assert lines[2:6] == ["  both executed:", f"    {place}", f"    {place}",
                          f"    {place}  [conditional at its end, "
                          f"{LOOP_AT + 4:#x}]"]
    assert lines[6].startswith("  A (byte ") and place in lines[7]
    at = next(i for i, row in enumerate(lines) if row.startswith("  B ("))
    assert lines[at + 1] == f"    {LOOP_AT + 4:#x} (loop.bin+0x4)"
    assert "Taken to be the same, since no build-id tells: loop.bin" in lines
    run = case.run("diff", "--show=flow", "--exit-code", *words, "a",
                   "a").want(0)
    assert "7 blocks are the same" in run.out


def test_a_last_branch_that_goes_elsewhere_is_told(case: Case) -> None:
    words = loop(case, "a", 6)
    loop(case, "b", 3, behind=False)
    run = case.run("diff", "--show=flow", *words, "a", "b").want(0)
    assert "3 equal blocks, then different ones" in run.out
    assert "  B ends here" in run.out
    # Where both went the same way, one just ends.
    loop(case, "a", 3)
    run = case.run("diff", "--show=flow", *words, "a", "b").want(0)
    assert "3 equal blocks, then one ends" in run.out


def test_flow_in_json_and_csv(case: Case) -> None:
    words = loop(case, "a", 6)
    loop(case, "b", 3)
    run = case.run("diff", "--show=flow", "--blocks=2", "--format=jsonl",
                   *words, "a", "b").want(0)
    row, thread, image = run.objects()
    assert (row["type"], row["kind"], row["same"]) == ("divergence", "flow", 3)
    assert len(row["common"]) == 2
    assert row["common"][1]["branch"] == "conditional"
    assert row["a"][0]["address"] == f"{LOOP_AT:#x}"
    assert row["a"][0]["insns_before"] == 9
    assert not row["behind_gap"] and not row["at_start"]
    assert (thread["type"], thread["stream"]) == ("diff_thread", [0, 0])
    assert thread["tid"] == [None, None] and thread["same"] == 3
    assert (image["type"], image["state"]) == ("diff_image", "assumed")
    run = case.run("diff", "--show=flow", "--format=csv", *words, "a",
                   "b").want(0)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert len(rows) == 1 and rows[0]["a_to"] == f"{LOOP_AT:#x}"
    assert rows[0]["a_from"] == rows[0]["b_from"] == f"{LOOP_AT:#x}"


def test_a_gap_is_no_difference(case: Case) -> None:
    words = loop(case, "a", 60)
    loop(case, "b", 60, gap_at=20)
    run = case.run("diff", "--show=flow", "--exit-code", *words, "a", "b")
    run.want(0)
    assert "0 and 1 gaps" in run.out, run.out
    case.run("diff", "--show=flow", "--max-loss=0", *words, "a", "b").want(
        3, err_has="b: ")
    case.run("diff", "--max-loss=0", *words, "a", "b").want(
        3, err_has="--max-loss")


def test_branches_of_the_same_code(case: Case) -> None:
    words = loop(case, "a", 6)
    loop(case, "b", 3)
    run = case.run("diff", "--show=branches", "--format=jsonl", *words, "a",
                   "b").want(0)
    info, back = run.objects()
    assert info["assumed_images"] == 1 and info["total"] == [20, 11]
    assert (back["from_off"], back["to_off"]) == ("0x2", "0x0")
    assert back["count"] == [5, 2] and back["branch"] == "conditional"
    run = case.run("diff", "--show=branches", *words, "a", "b").want(0)
    assert "loop.bin+0x2 -> loop.bin+0x0  conditional" in run.out


def test_threads_are_chosen(case: Case) -> None:
    words = loop(case, "a", 6)
    case.run("diff", "--show=flow", "--tid-a=9", *words, "a", "a").want(
        1, err_has="the first trace has no code of thread 9")


def test_text_is_compared_by_calls(case: Case) -> None:
    case.write("a", text(30, 3).encode())
    case.write("b", text(30, 5).encode())
    rows = case.run("diff", "--show=functions", "--format=csv", "a",
                    "b").want(0).table()
    assert [(r["function"], r["a_calls"], r["b_calls"]) for r in rows] == [
        ("f", "3", "5")]
    case.run("diff", "--exit-code", "a", "b").want(
        1, out_has="Functions, by calls")
    for by in ("insns", "cycles"):
        case.run("diff", f"--by={by}", "a", "b").want(
            2, out="", err_has=f"a: text has no {by}")


def test_what_has_no_time_is_not_compared_by_it(case: Case) -> None:
    words = loop(case, "a", 3)
    for by, what in (("time", "times"), ("total-time", "times"),
                     ("cycles", "cycles")):
        case.run("diff", f"--by={by}", *words, "a", "a").want(
            1, out="", err_has=(f"a: of its calls no {what} are known",
                                "--by insns or calls"))


def test_tables_without_a_place_for_it_warn_of_loss(case: Case) -> None:
    words = [*loop(case, "b", 9, gap_at=5), "b", "b"]
    what = "warning: b: "
    case.run("diff", *words).want(0, err="", out_has="; 1 gaps, ")
    for show in ("functions", "flow"):
        run = case.run("diff", f"--show={show}", "--format=csv", *words)
        run.want(0, err_has=what)
        assert run.err.count(" in 1 gap gave nothing") == 2, run.err
    case.run("diff", "--no-header", *words).want(0, err_has=what)


def test_loss_in_text_is_judged_behind_the_table(case: Case) -> None:
    error = (" instruction trace error type 1 time 1.000009000 cpu -1 pid 7 "
             "tid 8 ip 0 code 7: Overflow packet\n")
    case.write("a", (text(30, 3) + error).encode())
    case.write("b", text(30, 5).encode())
    run = case.run("diff", "--max-loss=0", "a", "b").want(
        3, out_has="Functions, by calls", err_has="a: 0% of the bytes")
    assert run.err.count("--max-loss is 0%") == 1, run.err
