"""hwtdecode packets: every packet in each format, filters, loss, errors."""

import os
import re
import subprocess
from typing import Any

from runner import BRANCHES, PSB, PSBEND, Case

# Bytes of each packet and what is told of it, by hand from the Intel SDM,
# vol. 3C, "Packet Definitions".
PACKETS: list[tuple[str, str, dict[str, Any]]] = [
    ("0282" * 8, "psb", {"status": True}),
    ("19c0ffee00000001", "tsc", {"tsc": 0x1000000EEFFC0, "status": True}),
    ("02733412007801", "tma", {}),
    ("02030f00", "cbr", {"ratio": 15, "status": True}),
    (
        "9905",
        "mode.exec",
        {"cs_l": True, "cs_d": False, "interrupts": True, "status": True},
    ),
    (
        "7d001000000080",
        "fup",
        {
            "ip_bytes": 3,
            "payload": "0x800000001000",
            "ip": "0xffff800000001000",
            "status": True,
        },
    ),
    ("02c8efcdab0000", "vmcs", {"vmcs": "0xabcdef000", "status": True}),
    (
        "0243fbfa0a000000",
        "pip",
        {"cr3": "0xafafa0", "non_root": True, "status": True},
    ),
    (
        "9922",
        "mode.tsx",
        {"transaction": False, "aborted": True, "status": True},
    ),
    ("0223", "psbend", {"status": True}),
    ("62", "tnt.8", {"count": 5, "tnt": "10001"}),
    ("02a3170000000000", "tnt.64", {"count": 4, "tnt": "0111"}),
    (
        "2d3412",
        "tip",
        {"ip_bytes": 1, "payload": "0x1234", "ip": "0xffff800000001234"},
    ),
    ("01", "tip.pgd", {"ip_bytes": 0}),
    (
        "5178563412",
        "tip.pge",
        {"ip_bytes": 2, "payload": "0x12345678", "ip": "0xffff800012345678"},
    ),
    (
        "8d000000004000",
        "tip",
        {
            "ip_bytes": 4,
            "payload": "0x4000000000",
            "ip": "0xffff004000000000",
        },
    ),
    (
        "dd8877665544332211",
        "fup",
        {
            "ip_bytes": 6,
            "payload": "0x1122334455667788",
            "ip": "0x1122334455667788",
        },
    ),
    ("5994", "mtc", {"ctc": 0x94}),
    ("1b", "cyc", {"cycles": 3}),
    ("bf04", "cyc", {"cycles": 0x57}),
    ("02c388a1b2c3d4e542222a", "mnt", {"payload": "0x2a2242e5d4c3b2a1"}),
    (
        "0292efcdab90",
        "ptw",
        {"payload": "0x90abcdef", "payload_size": 4, "ip_follows": True},
    ),
    (
        "0232efcdab9078563412",
        "ptw",
        {
            "payload": "0x1234567890abcdef",
            "payload_size": 8,
            "ip_follows": False,
        },
    ),
    ("02e2", "exstop", {"ip_follows": True}),
    ("0262", "exstop", {"ip_follows": False}),
    ("02c20b00000001000000", "mwait", {"hints": 11, "extensions": 1}),
    (
        "02228032",
        "pwre",
        {"state": 3, "sub_state": 2, "by_hardware": True},
    ),
    ("02a265010000", "truncated", {}),
    ("02a26509000000", "pwrx", {"state": 6, "deepest_state": 5, "wake": 5}),
    ("026382", "bbp", {"block_type": 2, "item_size": 4}),
    ("0cefbeadde", "bip", {"item": 1, "payload": "0xdeadbeef"}),
    ("02b3", "bep", {"ip_follows": True}),
    (
        "0213810e",
        "cfe",
        {"event_type": 1, "vector": 14, "ip_follows": True},
    ),
    ("025300aa0bf00000000000", "evd", {"data_type": 0, "payload": "0xf00baa"}),
    (
        "d9e0a11700",
        "trig",
        {"triggers": 161, "multiple": True, "insns": 23, "ip_follows": True},
    ),
    ("02f3", "ovf", {}),
    ("000000", "pad", {"count": 3}),
    ("0283", "stop", {}),
]
PACKETS[2][2].update(ctc=0x1234, fast_counter=0x178, status=True)
# It can only stand at the end.
TRUNCATED = PACKETS.pop([kind for _, kind, _ in PACKETS].index("truncated"))
PACKETS.append(TRUNCATED)

COMMON = {"schema", "type", "stream", "offset", "bytes", "kind"}


def all_packets(case: Case) -> str:
    case.write("all.pt", bytes.fromhex("".join(p[0] for p in PACKETS)))
    return "all.pt"


def rows(case: Case, *words: str) -> list[dict[str, Any]]:
    run = case.run("packets", "--format=jsonl", *words).want(0)
    return run.objects() if run.out else []


def test_jsonl_has_every_field_of_every_packet(case: Case) -> None:
    found = rows(case, "--raw", all_packets(case))
    offset = 0
    for row, (data, kind, fields) in zip(found, PACKETS, strict=True):
        assert row == {
            "schema": 1,
            "type": "packet",
            "stream": 0,
            "offset": offset,
            "bytes": len(data) // 2,
            "kind": kind,
            **fields,
            "raw": data,
        }, row
        offset += len(data) // 2


def test_csv_has_the_same_columns_always(case: Case) -> None:
    lines = rows(case, "--raw", all_packets(case))
    run = case.run("packets", "--format=csv", "--raw", "all.pt").want(0)
    table = run.table()
    keys = {key for line in lines for key in line} - {"schema", "type"}
    times = {"time_ns", "time_estimated", "time_error_ns"}
    assert set(table[0]) == keys | times | {
        "guessed", "reserved", "gap_reason"}
    for line, fields in zip(lines, table, strict=True):
        for key, text in fields.items():
            value = line.get(key, "")
            want = str(int(value)) if isinstance(value, bool) else str(value)
            assert text == want, (key, line)
    header = run.out.splitlines()[0]
    for words in ([], ["--kind=psb"], ["--times"], ["--limit=0"]):
        clock = ["--clock=1/1", "--pt-cpuid-15h=2/250", "--pt-mtc-freq=3"]
        words = ["packets", *clock, "--format=csv", *words, "all.pt"]
        bare = case.run(*words).want(0)
        assert bare.out.splitlines()[0] + ",raw" == header
        bare.table()


def test_text_has_aligned_columns(case: Case) -> None:
    lines = case.run("packets", all_packets(case)).want(0).out.splitlines()
    assert lines[0].split() == [
        "stream",
        "offset",
        "bytes",
        "packet",
        "fields",
    ]
    column = lines[0].index("packet")
    offset = 0
    for line, (data, kind, _) in zip(lines[1:], PACKETS, strict=True):
        assert line.split()[:2] == ["0", hex(offset)], line
        shown = bytes.fromhex(data)[:8].hex(" ") + " .." * (len(data) > 16)
        assert line[:column].split()[2:] == shown.split(), line
        assert line[column:].split()[0] == kind
        assert line == line.rstrip()
        offset += len(data) // 2
    said = {line[column:] for line in lines}
    for text in (
        "tnt.64     .!!!",
        "fup        3: ffff800000001000  ip 0xffff800000001000",
        "tip        1: ????????????1234  ip 0xffff800000001234",
        "tip.pgd    0: ????????????????",
        "pip        afafa0, nr",
        "tma        1234, 178",
        "pwrx       int, hw: c7, c6",
        "pad        3 times",
        "truncated  6 bytes",
    ):
        assert text in said, text


def test_raw_text_shows_all_bytes(case: Case) -> None:
    case.write("long.pt", PSB + PSBEND + bytes(3000) + b"\x02\x83")
    lines = case.run("packets", "--raw", "long.pt").want(0).out.splitlines()
    column = lines[0].index("packet")
    assert lines[1][column:] == "psb"
    assert lines[1][:column].split()[2:] == PSB.hex(" ").split()
    assert lines[3].split()[2:3002] == ["00"] * 3000
    assert lines[3].endswith("  pad        3000 times")
    short = case.run("packets", "long.pt").want(0).out.splitlines()
    assert " 00 00 00 00 00 00 00 00 ..  pad  " in short[3]


def test_raw_runs_longer_than_any_buffer(case: Case) -> None:
    zeros = 3 << 20
    case.write("long.pt", PSB + PSBEND + bytes(zeros) + b"\x02\x83")
    found = rows(case, "--raw", "long.pt")
    pads = [row for row in found if row["kind"] == "pad"]
    assert sum(row["bytes"] for row in pads) == zeros
    assert all(row["raw"] == "00" * row["bytes"] for row in pads)
    assert found[-1]["raw"] == "0283"


def test_no_header(case: Case) -> None:
    all_packets(case)
    for form in ("text", "csv"):
        words = ["packets", f"--format={form}", "all.pt"]
        whole = case.run(*words).want(0).out
        bare = case.run(*words, "--no-header").want(0).out
        assert bare == whole.split("\n", 1)[1]


def test_kinds(case: Case) -> None:
    whole = rows(case, all_packets(case))
    for text, kinds in (
        ("psb", {"psb"}),
        ("tip", {"tip"}),
        ("tip.pge,fup", {"tip.pge", "fup"}),
        ("tnt", {"tnt.8", "tnt.64"}),
        ("mode,pad", {"mode.exec", "mode.tsx", "pad"}),
        ("truncated", {"truncated"}),
        ("lost,unknown", set()),
    ):
        some = rows(case, f"--kind={text}", "all.pt")
        assert some == [row for row in whole if row["kind"] in kinds], text
        assert {row["kind"] for row in some} == kinds
    twice = rows(case, "--kind=psb", "--kind=ovf", "all.pt")
    assert [row["kind"] for row in twice] == ["psb", "ovf"]


def test_every_kind_of_the_library_can_be_named(case: Case) -> None:
    all_packets(case)
    header = case.fixtures.parent / "include" / "hwtdecode" / "packet.h"
    count = len(re.findall(r"\tHWTD_PK_[A-Z0-9_]+ = \d+", header.read_text()))
    text = case.run("help", "packets").want(0).out
    names = text.split("Kinds:")[1].split()
    assert len(names) == len(set(names)) == count
    assert {kind for _, kind, _ in PACKETS} <= set(names)
    case.run("packets", "--kind=" + ",".join(names), "all.pt").want(
        0, out=case.run("packets", "all.pt").out
    )


def test_wrong_kinds_are_refused(case: Case) -> None:
    all_packets(case)
    for bad, hint in (
        ("fop", "hint: did you mean fup?\n"),
        ("tip.pgf", "hint: did you mean tip.pg"),
        ("PSB", "hint: 'hwtdecode help packets' lists the kinds\n"),
        ("", "hint: 'hwtdecode help packets' lists the kinds\n"),
        ("psb,", "hint: "),
        ("t", "hint: "),
        ("tip.", "hint: "),
        ("block", "hint: "),
        ("x" * 500, "hint: "),
    ):
        case.run("packets", f"--kind={bad}", "all.pt").want(
            2, out="", err_has=("--kind: there is no kind '", hint)
        )


def test_offsets(case: Case) -> None:
    whole = rows(case, all_packets(case))
    for text, first, end in (
        ("0-16", 0, 16),
        ("0x10-0x20", 16, 32),
        ("16-", 16, 1 << 60),
        ("-0x18", 0, 24),
        ("17-30", 17, 30),
        ("0x18", 24, 25),
        ("25", 25, 26),
        ("1000-", 1000, 1 << 60),
        ("0x8000000000000000-", 1 << 63, 1 << 64),
    ):
        some = rows(case, f"--offset={text}", "all.pt")
        want = [row for row in whole if first <= row["offset"] < end]
        assert some == want, text
    for words in (
        ["--offset=0x18-0x20", "--offset=-5"],
        ["--offset=0-3", "--offset=0-5", "--offset=24-30", "--offset=26-32"],
    ):
        some = rows(case, *words, "all.pt")
        assert some == [
            row
            for row in whole
            if row["offset"] < 5 or 0x18 <= row["offset"] < 0x20
        ], words


def test_wrong_offsets_are_refused(case: Case) -> None:
    all_packets(case)
    for bad, why in (
        ("x", "is not A-B"),
        ("-", "is not A-B"),
        ("", "is not A-B"),
        ("20-10", "ends before it starts"),
        ("16-16", "is empty"),
        ("99999999999999999999-", "is too large"),
    ):
        case.run("packets", f"--offset={bad}", "all.pt").want(
            2, out="", err_has=(why, "hint: ")
        )


def test_limit(case: Case) -> None:
    whole = rows(case, all_packets(case))
    for limit in (0, 1, 7, 1000):
        assert rows(case, f"--limit={limit}", "all.pt") == whole[:limit]
    some = rows(case, "--kind=fup,tip", "--limit=2", "all.pt")
    assert [row["kind"] for row in some] == ["fup", "tip"]


def test_without_sync(case: Case) -> None:
    case.write("tail.pt", b"\x62" + PSBEND + PSB + PSBEND)
    found = [(row["kind"], row["offset"]) for row in rows(case, "tail.pt")]
    assert found == [("unsynced", 0), ("psb", 3), ("psbend", 19)]
    found = [
        (row["kind"], row["offset"])
        for row in rows(case, "--no-sync", "tail.pt")
    ]
    want = [("tnt.8", 0), ("psbend", 1), ("psb", 3), ("psbend", 19)]
    assert found == want
    case.write("none.pt", b"\x62" * 40)
    words = ["--tech=pt", "none.pt"]
    assert [row["kind"] for row in rows(case, *words)] == ["unsynced"]
    found = rows(case, "--no-sync", "--offset=10-20", *words)
    assert [row["offset"] for row in found] == list(range(10, 20))
    assert {row["kind"] for row in found} == {"tnt.8"}


def test_times_have_a_column_and_keys(case: Case) -> None:
    trace = case.write("t.pt", PSB + b"\x19" + bytes(7) + PSBEND)
    text = case.run("packets", "--times", "--clock=1/1", trace).want(0).out
    assert text.split()[0] == "time"
    assert "time" not in case.run("packets", trace).want(0).out
    for row in rows(case, "--times", "--clock=1/1", str(trace)):
        assert ("time_ns" in row) == ("time_error_ns" in row)


def test_what_times_lack_is_said(case: Case) -> None:
    case.write("t.pt", PSB + b"\x19" + bytes(7) + PSBEND)
    run = case.run("packets", "--times", "t.pt")
    run.want(0, err_has=("stream 0 has no clock", "--clock"))
    run = case.run("packets", "--clock=1/1", "--pt-cpuid-15h=2/250", "t.pt")
    run.want(0, err_has="--pt-mtc-freq")


def test_times_are_those_of_the_timing_packets(case: Case) -> None:
    # TSC 1,000; TMA with crystal clock 0x100; the next MTC is 8 of its ticks
    # of 100 counts each later.
    tsc = b"\x19" + (1000).to_bytes(7, "little")
    tma = b"\x02\x73\x00\x01\x00\x00\x00"
    trace = case.write("m.pt", PSB + tsc + tma + PSBEND + b"\x59\x21" + b"\x06")
    words = ("--times", "--clock=2/1", "--pt-mtc-freq=3")
    crystal = "--pt-cpuid-15h=1/100"
    found = rows(case, *words, crystal, str(trace))
    assert [row["kind"] for row in found] == [
        *("psb", "tsc", "tma", "psbend", "mtc", "tnt.8")
    ]
    exact = {row["kind"]: row["time_ns"] for row in found if "time_estimated" not in row}
    assert exact == {"psb": 500, "tsc": 500, "mtc": 900}
    for row in (found[2], found[3]):
        assert row["time_estimated"] and 500 <= row["time_ns"] <= 900
        assert row["time_ns"] - row["time_error_ns"] <= 500
    assert found[5]["time_estimated"] and found[5]["time_ns"] >= 900
    text = case.run("packets", *words, crystal, trace).want(0).out
    assert "~0.000000900" in text.replace(" ", "")


def test_processor_selects_its_errata(case: Case) -> None:
    # SKD007: an OVF came after the first byte of a CYC.
    case.write("e.pt", PSB + PSBEND + b"\x27\x02\xf3\x00")
    found = rows(case, "--pt-cpu=6/94/3", "e.pt")
    assert [row["kind"] for row in found[2:]] == ["ovf", "pad"]
    found = rows(case, "--pt-cpu=6/79/1", "e.pt")
    assert found[2]["kind"] == "cyc"


def test_loss_is_fine_unless_limited(case: Case) -> None:
    case.write("bad.pt", PSB + PSBEND + b"\x02\xff" * 9 + PSB + PSBEND)
    found = rows(case, "bad.pt")
    assert [row["kind"] for row in found] == [
        "psb",
        "psbend",
        "unknown",
        "psb",
        "psbend",
    ]
    assert found[2]["bytes"] == 18
    case.run("packets", "--max-loss=40", "bad.pt").want(0)
    for most in ("0", "30"):
        case.run("packets", f"--max-loss={most}", "bad.pt").want(
            3, err_has=("33.33% of the bytes gave nothing", "hint: ")
        )
    case.run("packets", "--max-loss=0", "--offset=0-18", "bad.pt").want(0)
    case.run("packets", "--max-loss=0", "-o", "x", "bad.pt").want(
        3, err_has="gave nothing"
    )
    assert "unknown" in (case.folder / "x").read_text()


def test_colour_only_when_asked(case: Case) -> None:
    case.write("bad.pt", PSB + PSBEND + b"\x02\xff" * 9)
    red = "\x1b[31m"
    assert red not in case.run("packets", "bad.pt").want(0).out
    text = case.run("packets", "--color=always", "bad.pt").want(0).out
    assert [red in line for line in text.splitlines()] == [
        False,
        False,
        False,
        True,
    ]
    run = case.run("packets", "--color=always", "--format=csv", "bad.pt")
    assert red not in run.want(0).out


def make_streams(case: Case) -> None:
    subprocess.run(
        [os.environ["HWTDECODE_MAKE_STREAMS"]], cwd=case.folder, check=True
    )


def test_streams_come_one_after_the_other(case: Case) -> None:
    make_streams(case)
    run = case.run("packets", "--format=jsonl", "streams.hwt")
    run.want(0, err_has="stream 2: packets of coresight are not known\n")
    found = run.objects()
    assert [row["stream"] for row in found] == [0] * 5 + [3] * 4
    assert [row["offset"] for row in found] == [0, 16, 24, 26, 35] + [
        0,
        16,
        24,
        26,
    ]
    for words, streams in (
        (["--stream=0"], [0]),
        (["--stream=3,0"], [0, 3]),
        (["--cpu=7"], [3]),
        (["--cpu=4,7"], [0, 3]),
        (["--stream=1"], []),
    ):
        some = rows(case, *words, "streams.hwt")
        assert some == [row for row in found if row["stream"] in streams]
    case.run("packets", "--no-header", "--cpu=99", "streams.hwt").want(
        0, out="", err_has="no stream is of these CPUs"
    )
    some = rows(case, "--cpu=4,7", "--limit=6", "streams.hwt")
    assert some == found[:6]
    some = rows(case, "--cpu=4,7", "--offset=24-26", "streams.hwt")
    assert [row["kind"] for row in some] == ["psbend", "psbend"]


def test_empty_stream_has_no_rows(case: Case) -> None:
    make_streams(case)
    text = case.run("packets", "--stream=1", "streams.hwt").want(0).out
    assert text.count("\n") == 1
    case.run(
        "packets", "--stream=1", "--max-loss=0", "--no-header", "streams.hwt"
    ).want(0, out="")


def test_trace_of_another_technology(case: Case) -> None:
    make_streams(case)
    for name, words in (
        ("foreign.hwt", []),
        ("streams.hwt", ["--stream=2"]),
    ):
        case.run("packets", "--no-header", *words, name).want(
            4, out="", err_has="packets of coresight are not known\n"
        )


def test_saved_traces_show_the_same(case: Case) -> None:
    trace, code = case.long_trace(4000)
    case.run("import", *code, trace, "-o", "long.hwt").want(0)
    for words in (["--raw"], ["--format=csv", "--raw", "--kind=fup,psb"]):
        want = case.run("packets", *words, trace).want(0).out
        assert case.run("packets", *words, "long.hwt").want(0).out == want


def test_damaged_file_has_lost_bytes(case: Case) -> None:
    trace, code = case.long_trace(4000)
    case.run("import", "--no-compress", *code, trace, "-o", "long.hwt").want(0)
    data = bytearray((case.folder / "long.hwt").read_bytes())
    data[len(data) // 2] ^= 1
    case.write("bad.hwt", bytes(data))
    run = case.run("packets", "--raw", "--format=jsonl", "bad.hwt")
    found = run.want(0, err_has="").objects()
    lost = [row for row in found if row["kind"] == "lost"]
    assert len(lost) == 1 and lost[0]["bytes"] > 1000
    assert lost[0]["raw"] == ""
    assert lost[0]["gap_reason"] == "file-damaged"
    # Every byte of the stream has one row.
    at = 0
    for row in found:
        assert row["offset"] == at
        at += row["bytes"]
    assert at == trace.stat().st_size
    raw = trace.read_bytes()
    for row in found:
        if row["kind"] != "lost":
            first = row["offset"]
            assert row["raw"] == raw[first : first + row["bytes"]].hex()
    text = case.run("packets", "--kind=lost", "bad.hwt").want(0).out
    assert text.endswith(f"  lost       {lost[0]['bytes']} bytes, file-damaged\n")
    case.run("packets", "--max-loss=0", "bad.hwt").want(
        3, err_has="gave nothing"
    )


def test_cut_files_show_what_is_there(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("import", *code, trace, "-o", "good.hwt").want(0)
    data = (case.folder / "good.hwt").read_bytes()
    for size in range(0, len(data), 7):
        case.write("cut.hwt", data[:size])
        assert case.run("packets", "cut.hwt").code in (0, 4), size
    case.write("cut.pt", (PSB + PSBEND + b"\x19\x00\x00")[: 16 + 2 + 2])
    assert [row["kind"] for row in rows(case, "cut.pt")][-1] == "truncated"


def test_keys_and_kinds_are_in_the_manual(case: Case) -> None:
    page = case.fixtures.parent / "src" / "man" / "hwtdecode.1"
    text = page.read_text()
    words = set(re.findall(r"[a-z0-9_]+(?:\.[a-z0-9]+)?", text))
    csv = case.run("packets", "--format=csv", "--raw", all_packets(case))
    seen = set(csv.want(0).table()[0]) | COMMON
    kinds = set(case.run("help", "packets").out.split("Kinds:")[1].split())
    assert seen | kinds <= words, (seen | kinds) - words


def test_reader_that_goes_away_is_quiet(case: Case) -> None:
    case.write("long.pt", (PSB + PSBEND + b"\x62" * 1000) * 300)
    for form in ("text", "jsonl", "csv"):
        run = case.shell(
            f'{{ "$T" packets --format={form} long.pt; echo $? >code; }} '
            "| head -1"
        )
        run.want(0, err="")
        assert run.out.count("\n") == 1
        assert (case.folder / "code").read_text() == "0\n"


def test_output_file(case: Case) -> None:
    want = case.run("packets", all_packets(case)).want(0).out
    case.run("packets", "-o", "out.txt", "all.pt").want(0, out="")
    assert (case.folder / "out.txt").read_text() == want


def test_options_of_other_commands_are_refused(case: Case) -> None:
    all_packets(case)
    for word in ("--disasm", "--time=0-1", "--jobs=2", "--strict"):
        name = word.split("=")[0]
        case.run("packets", word, "all.pt").want(
            2, err_has=f"packets does not take {name}\n"
        )
    case.run("events", "--raw", "all.pt").want(
        2, err_has="events does not take --raw\n"
    )
