"""hwtdecode events and insns: rows in each format, filters, limits."""

import platform
import re
import subprocess
from pathlib import Path

from runner import (
    BRANCHES,
    LOOP_AT,
    LOOP_INSNS,
    LOOP_TAKEN,
    MISSING,
    OVERFLOW,
    PSB,
    PSBEND,
    SHORT,
    Case,
)

EVENT_KEYS = {
    "schema",
    "kind",
    "time_ns",
    "time_estimated",
    "stream",
    "offset",
    "cpu",
    "pid",
    "tid",
    "ip",
    "target",
    "insns",
    "bytes",
    "branch",
    "taken",
    "isa",
    "section",
    "resumed",
    "async",
    "stopped",
    "speculative",
    "status",
}
GAP_KEYS = {
    "reason",
    "first",
    "end",
    "address",
    "ip_before",
    "ip_after",
    "time_before_ns",
    "time_after_ns",
    "file_first",
    "file_end",
    "earlier_file",
    "text",
}
OTHER_KEYS = {
    "source",
    "payload",
    "payload_size",
    "multiple",
    "what",
    "hints",
    "extensions",
    "state",
    "sub_state",
    "deepest_state",
    "by_hardware",
    "wake",
    "type",
    "number",
    "fault_address",
    "return_address",
    "cr3",
    "vmcs",
    "guest",
    "level",
    "transaction",
    "aborted",
    "interrupts",
    "count",
    "cycles",
    "ratio",
    "value",
    "record",
    "record_type",
    "name",
    "length",
    "file_offset",
    "base",
    "image",
    "build_id",
    "kernel",
    "anonymous",
    "jit",
    "switch_out",
    "code",
    "master",
    "channel",
    "port",
    "discriminator",
    "trigger",
    "marked",
    "no_channel",
    "global_error",
    "master_error",
    "frequency",
    "hardware",
    "contextidr",
    "vmid",
    "security",
}
CSV_HEADER = (
    "kind,time_ns,time_estimated,stream,cpu,pid,tid,offset,ip,target,insns,"
    "bytes,branch,taken,isa,image,detail"
)


def test_text_has_aligned_columns(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    lines = case.run("events", *code, trace).want(0).out.splitlines()
    assert lines[0].split() == [
        "time",
        "stream",
        "cpu",
        "kind",
        "ip",
        "target",
        "detail",
    ]
    for name in ("kind", "ip"):
        column = lines[0].index(f" {name} ") + 1
        for line in lines[1:]:
            assert line[column] != " " and line[column - 1] == " ", line
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in "".join(lines)


def test_no_header(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for form in ("text", "csv"):
        words = ["events", *code, f"--format={form}", trace]
        whole = case.run(*words).want(0).out
        assert (
            case.run(*words, "--no-header").want(0).out
            == whole.split("\n", 1)[1]
        )


def test_keys_of_all_fixtures_are_documented(case: Case) -> None:
    seen = set()
    for family in ("pt-good", "pt-bad"):
        for folder in sorted((case.fixtures / family).iterdir()):
            for command in ("events", "insns"):
                run = case.run(
                    command,
                    "--tech=pt",
                    "--format=jsonl",
                    "--images",
                    folder / "image.txt",
                    folder / "trace.pt",
                )
                if (folder / "trace.pt").stat().st_size == 0:
                    continue
                for row in run.want(0).objects():
                    seen |= set(row)
    assert seen <= EVENT_KEYS | GAP_KEYS | OTHER_KEYS, (
        seen - EVENT_KEYS - GAP_KEYS - OTHER_KEYS
    )
    assert {"reason", "branch", "payload", "ratio", "cr3"} <= seen


def test_csv_of_all_fixtures_is_a_table(case: Case) -> None:
    for folder in sorted((case.fixtures / "pt-good").iterdir()):
        if (folder / "trace.pt").stat().st_size == 0:
            continue
        words: list[str | Path] = [
            "--format=csv",
            "--images",
            folder / "image.txt",
            folder / "trace.pt",
        ]
        run = case.run("events", *words).want(0)
        assert run.out.splitlines()[0] == CSV_HEADER
        run.table()
        run = case.run("insns", "--bytes", "--disasm", *words).want(0)
        assert run.out.splitlines()[0] == CSV_HEADER + ",code,text"
        run.table()


def test_formats_say_the_same(case: Case) -> None:
    trace, code = case.trace(SHORT)
    rows = case.run("events", *code, "--format=jsonl", trace).want(0).objects()
    table = case.run("events", *code, "--format=csv", trace).want(0).table()
    text = (
        case.run("events", *code, "--no-header", trace)
        .want(0)
        .out.splitlines()
    )
    assert len(rows) == len(table) == len(text) > 2
    for row, fields, line in zip(rows, table, text):
        words = line.split()
        assert row["kind"] == fields["kind"] == words[3]
        assert row.get("ip", "") == fields["ip"]
        assert row.get("ip", "-") == words[4]
        assert row.get("target", "") == fields["target"]
        assert str(row.get("insns", "")) == fields["insns"]
        assert str(row["offset"]) == fields["offset"]


def test_blocks_add_up_to_instructions(case: Case) -> None:
    trace, code = case.trace(SHORT)
    blocks = (
        case.run("events", *code, "--kind=block", "--format=jsonl", trace)
        .want(0)
        .objects()
    )
    insns = (
        case.run("insns", *code, "--kind=insn", "--format=jsonl", trace)
        .want(0)
        .objects()
    )
    assert sum(row["insns"] for row in blocks) == len(insns)
    assert sum(row["bytes"] for row in blocks) == sum(
        row["bytes"] for row in insns
    )
    assert blocks[0]["ip"] == insns[0]["ip"]


def test_disassembly_and_code_bytes(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    data = (trace.parent / "code.bin").read_bytes()
    rows = (
        case.run(
            "insns",
            "--bytes",
            "--disasm",
            "--kind=insn",
            *code,
            "--format=jsonl",
            trace,
        )
        .want(0)
        .objects()
    )
    for row in rows:
        start = int(row["ip"], 16) - 0x100000
        assert row["code"] == data[start : start + row["bytes"]].hex()
        assert row["text"]
    text = case.run("insns", "--bytes", "--disasm", *code, trace).want(0).out
    assert rows[0]["text"] in text
    assert (
        " ".join(
            rows[0]["code"][i : i + 2]
            for i in range(0, len(rows[0]["code"]), 2)
        )
        in text
    )


def test_symbols_of_addresses(case: Case) -> None:
    # What the fixture says of its program: a_main calls a_work.
    folder = case.fixtures / "perf-data/features-tell-of-the-machine"
    words = ["insns", "--symbols", "--root", folder / "root"]
    trace = folder / "perf.data"
    rows = case.run(*words, "--format=jsonl", trace).want(0).objects()
    calls = [row for row in rows if row.get("branch") == "call"]
    assert (calls[0]["ip"], calls[0]["target"]) == ("0x401001", "0x40100e")
    assert (calls[0]["symbol"], calls[0]["symbol_offset"]) == ("a_main", 1)
    assert calls[0]["target_symbol"] == "a_work"
    assert calls[0]["target_offset"] == 0
    # Nothing is told without being asked for.
    plain = case.run(
        "insns", "--root", folder / "root", "--format=jsonl", trace
    )
    assert all("symbol" not in row for row in plain.want(0).objects())
    text = case.run(*words, trace).want(0).out
    assert "call taken  a_main+0x1 -> a_work\n" in text
    lines = case.run(*words, "--format=csv", trace).want(0).out.splitlines()
    assert lines[0].endswith(
        ",symbol,symbol_offset,target_symbol,target_offset"
    )
    assert any(line.endswith(",a_main,1,a_work,0") for line in lines)
    assert len({line.count(",") for line in lines if '"' not in line}) == 1


def test_lines_of_addresses(case: Case) -> None:
    if platform.machine() != "x86_64":
        return
    trace, _ = case.long_trace(1)
    source = case.write(
        "loop.c",
        b"void _start(void)\n{\n"
        b'\t__asm__ volatile("1: nop; nop; jne 1b; nop");\n}\n',
    )
    program = case.folder / "program"
    subprocess.run(
        [
            *("cc", "-O1", "-g", "-static", "-nostdlib", "-fno-pie"),
            *("-no-pie", "-fcf-protection=none", "-fomit-frame-pointer"),
            *("-Wl,--build-id=none", "-Wl,-Ttext=0x401000"),
            *("-o", program, source),
        ],
        check=True,
    )
    data = program.read_bytes()
    at = data.index(b"\x90\x90\x75\xfc\x90")
    words = ["insns", "--lines", "--image", f"{program}:{at}:5@0x401000"]
    rows = case.run(*words, "--format=jsonl", trace).want(0).objects()
    insns = [row for row in rows if row["kind"] == "insn"]
    assert insns
    for row in insns:
        assert row["symbol"] == "_start"
        (frame,) = row["frames"]
        assert frame["function"] == "_start"
        assert (frame["file"], frame["line"]) == (str(source), 3)
    text = case.run(*words, "--limit=5", trace).want(0).out
    assert f"_start  {source}:3:" in text
    lines = case.run(*words, "--format=csv", trace).want(0).out.splitlines()
    assert lines[0].endswith(",function,file,line,column")
    assert any(f",_start,{source},3," in line for line in lines)


def test_att_syntax(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.write(
        "mov.bin",
        bytes.fromhex("4889e5") * 2 + (trace.parent / "code.bin").read_bytes(),
    )
    fixture, code = case.trace(SHORT)
    intel = case.run("insns", "--disasm", *code, fixture).want(0).out
    att = (
        case.run("insns", "--disasm", "--syntax=att", *code, fixture)
        .want(0)
        .out
    )
    assert intel.count("\n") == att.count("\n")


def test_kind_filter(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    rows = (
        case.run("events", *code, "--kind=gap", "--format=jsonl", trace)
        .want(0)
        .objects()
    )
    assert [row["kind"] for row in rows] == ["gap"]
    assert rows[0]["reason"] == "overflow"


def test_address_filter(case: Case) -> None:
    trace, code = case.trace(SHORT)
    rows = (
        case.run("insns", *code, "--kind=insn", "--format=jsonl", trace)
        .want(0)
        .objects()
    )
    one = rows[1]["ip"]
    some = (
        case.run(
            "insns",
            *code,
            "--kind=insn",
            f"--address={one}",
            "--format=jsonl",
            trace,
        )
        .want(0)
        .objects()
    )
    assert some == [row for row in rows if row["ip"] == one]
    none = case.run(
        "insns",
        *code,
        "--kind=insn",
        "--address=0x1-0x2",
        "--format=jsonl",
        trace,
    ).want(0)
    assert none.out == ""


def test_filters_by_who_ran(case: Case) -> None:
    trace, code = case.trace(SHORT)
    words = [
        "events",
        *code,
        "--stream-cpu=3",
        "--stream-pid=7",
        "--stream-tid=8",
        "--format=jsonl",
    ]
    rows = case.run(*words, trace).want(0).objects()
    assert rows and all(
        (row["cpu"], row["pid"], row["tid"]) == (3, 7, 8) for row in rows
    )
    for match in (
        "--cpu=3",
        "--cpu=0-5",
        "--pid=1,7",
        "--tid=8",
        "--stream=0",
    ):
        assert case.run(*words, match, trace).want(0).objects() == rows, match
    for miss, whom in (("--pid=8", "processes"), ("--tid=7", "threads")):
        case.run(*words, miss, trace).want(
            0, out="", err_has=f"no stream or record is of these {whom}; "
        )
    case.run(*words, "--cpu=2", trace).want(
        0, out="", err_has="no stream is of these CPUs"
    )


def test_time_filter_drops_rows_without_time(case: Case) -> None:
    trace, code = case.trace(SHORT)
    case.run("events", *code, "--time=0-1s", "--format=jsonl", trace).want(
        0, out=""
    )


def test_limit(case: Case) -> None:
    trace, code = case.long_trace(20)
    words = ["insns", *code, "--format=jsonl"]
    whole = case.run(*words, trace).want(0).out.splitlines()
    for limit in (0, 1, 7, 5000):
        some = (
            case.run(*words, f"--limit={limit}", trace)
            .want(0)
            .out.splitlines()
        )
        assert some == whole[:limit], limit
    assert (
        sum('"kind":"insn"' in line for line in whole) == 20 * LOOP_INSNS + 3
    )
    assert (
        case.run(*words, "--limit=99999999", trace).want(0).out.splitlines()
        == whole
    )


def test_jobs_do_not_change_the_rows(case: Case) -> None:
    trace, code = case.long_trace(3000)
    words = ["events", *code, "--format=csv"]
    one = case.run(*words, "--jobs=1", trace).want(0).out
    assert case.run(*words, "--jobs=2", trace).want(0).out == one
    assert case.run(*words, trace).want(0).out == one


def test_strict_fails_at_the_first_gap(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    for command in ("events", "insns"):
        case.run(command, *code, "--strict", trace).want(
            1, err_has=("hwtdecode: ", "hint: without --strict")
        )
    good, good_code = case.trace(BRANCHES)
    case.run("events", *good_code, "--strict", good).want(0)


def test_loss_is_fine_unless_limited(case: Case) -> None:
    trace, _ = case.trace(MISSING)
    for command in ("events", "insns"):
        case.run(command, trace).want(0)
        case.run(command, "--max-loss=100", trace).want(0)
        case.run(command, "--max-loss=0", trace).want(
            3, err_has=("of the bytes gave nothing", "hint: ")
        )


def test_colour_only_when_asked(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["events", *code, trace]
    red = "\x1b[31m"
    assert red not in case.run(*words).want(0).out
    assert red in case.run(*words, "--color=always").want(0).out
    assert red in case.run(*words, env={"CLICOLOR_FORCE": "1"}).want(0).out
    assert red not in case.run(*words, env={"CLICOLOR_FORCE": "0"}).want(0).out
    assert (
        red
        not in case.run(*words, env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"})
        .want(0)
        .out
    )
    assert (
        red
        in case.run(*words, "--color=always", env={"NO_COLOR": "1"})
        .want(0)
        .out
    )
    assert (
        red
        not in case.run(*words, "--color=never", env={"CLICOLOR_FORCE": "1"})
        .want(0)
        .out
    )
    assert (
        red
        not in case.run(*words, "--color=always", "--format=csv").want(0).out
    )


def test_times_come_from_time_stamps_and_clock(case: Case) -> None:
    # Three stretches, each with a TSC in its PSB+: 3000, 6000, 9000.
    stretch = [
        PSB
        + b"\x19"
        + (3000 * n).to_bytes(7, "little")
        + b"\x7d"
        + LOOP_AT.to_bytes(6, "little")
        + b"\x99\x01"
        + PSBEND
        + LOOP_TAKEN
        for n in (1, 2, 3)
    ]
    _, code = case.long_trace(1)
    trace = case.write("timed.pt", b"".join(stretch))
    words: list[str | Path] = ["insns", *code, "--clock=3/1", trace]
    words += ["--format=jsonl", "--kind=insn"]
    rows = case.run(*words).want(0).objects()
    assert {row["time_ns"] for row in rows} == {1000, 2000, 3000}
    for text, times in (
        ("0-2us", {1000}),
        ("2us-", {2000, 3000}),
        ("-1001", {1000}),
        ("1.5us-0.003ms", {2000}),
        ("5us-6us", set()),
    ):
        some = case.run(*words, f"--time={text}").want(0).objects()
        assert {row["time_ns"] for row in some} == times, text
        assert some == [row for row in rows if row["time_ns"] in times]
    twice = case.run(*words, "--time=-2us", "--time=3us-").want(0).objects()
    assert {row["time_ns"] for row in twice} == {1000, 3000}
    text = case.run("insns", *code, "--clock=3/1", trace).want(0).out
    assert "0.000001000  " in text
    span = case.run("info", "--time-span", *code, "--clock=3/1", trace)
    span.want(0, out_has="time       0.000001000 s to 0.000003000 s\n")


# Time from one stretch of timed_trace() to the next.
STRETCH_NS = 100000


def timed_trace(
    case: Case, stretches: int, damaged: set[int]
) -> list[str | Path]:
    """4 KiB per 0.1 ms; behind the code of some come bytes of none."""
    _, code = case.long_trace(1)
    parts = []
    for number in range(1, stretches + 1):
        count = number * STRETCH_NS * 3
        part = PSB + b"\x19" + count.to_bytes(7, "little")
        part += b"\x7d" + LOOP_AT.to_bytes(6, "little") + b"\x99\x01" + PSBEND
        part += LOOP_TAKEN
        if number in damaged:
            part += b"\x02\xff"
        parts.append(part.ljust(4096, b"\x00"))
    return [
        *code,
        "--clock=3/1",
        case.write("timed.pt", b"".join(parts)),
    ]


def test_time_window_late_in_a_long_trace(case: Case) -> None:
    words = ["events", "--format=jsonl", *timed_trace(case, 1500, {3, 700})]
    rows = case.run(*words).want(0).objects()
    for first, last in ((1, 5), (690, 710), (1200, 1210), (1490, 1501)):
        window = f"--time={first * STRETCH_NS}-{last * STRETCH_NS}"
        some = case.run(*words, window).want(0).objects()
        want = [
            row
            for row in rows
            if first <= row.get("time_ns", 0) / STRETCH_NS < last
        ]
        assert len(want) > 3, window
        assert some == want, window


def test_what_comes_before_the_time_window_is_not_decoded(case: Case) -> None:
    words = ["events", *timed_trace(case, 1500, {3})]
    late = "--time=120ms-121ms"
    for option, code in (("--strict", 1), ("--max-loss=0", 3)):
        case.run(*words, option, "--time=100us-").want(code, err_has="hint: ")
        case.run(*words, option, late).want(0)
        case.run(*words, option, late, "--time=130ms-").want(0)
        case.run(*words, option, late, "--time=200us-400us").want(
            code, err_has="hint: "
        )


def test_gap_that_reaches_into_the_time_window_is_told(case: Case) -> None:
    words = ["events", "--format=jsonl", *timed_trace(case, 1500, {3, 700})]
    for number in (3, 700):
        window = f"--time={number}50us-{number}90us"
        rows = case.run(*words, window).want(0).objects()
        assert [row["kind"] for row in rows] == ["gap"], window


def test_every_detail_of_the_library_has_a_name(case: Case) -> None:
    root = case.fixtures.parent
    header = (root / "include" / "hwtdecode" / "event.h").read_text()
    source = (root / "src" / "event" / "names.c").read_text()
    for prefix in ("HWTD_MARKER", "HWTD_POWER", "HWTD_ASYNC"):
        values = set(re.findall(rf"\t({prefix}_[A-Z_]+) = \d+", header))
        named = set(re.findall(rf"\[({prefix}_[A-Z_]+)\] = \"", source))
        assert len(values) > 3
        assert values - {f"{prefix}_UNKNOWN"} == named, values ^ named
