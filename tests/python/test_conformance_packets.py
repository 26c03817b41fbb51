"""Comparing packets can fail: every field, every byte, every listing."""

from __future__ import annotations

import json
import re
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from test_conformance_runner import World

from families import packets, pt_perfdata, pt_ptt
from families.case import Fail, Malformed

Row = dict[str, Any]

# Line of packets.txt without its offset, line of ptdump without its, and row.
ALL: list[tuple[str, str, Row]] = [
    ("16 psb", "psb", {"kind": "psb", "status": True}),
    ("7 fup ipc=3 ip=800000001000", "fup 3: ffff800000001000",
     {"kind": "fup", "ip_bytes": 3, "payload": "0x800000001000",
      "ip": "0xffff800000001000"}),
    ("2 mode leaf=0 bits=3", "mode.exec cs.d, cs.l, if",
     {"kind": "mode.exec", "cs_l": True, "cs_d": True, "interrupts": True}),
    ("2 mode leaf=32 bits=2", "mode.tsx abrt",
     {"kind": "mode.tsx", "transaction": False, "aborted": True}),
    ("8 pip cr3=afafa0 nr=1", "pip afafa0, nr   cr3 0000000000afafa0",
     {"kind": "pip", "cr3": "0xafafa0", "non_root": True}),
    ("7 vmcs base=abcd000", "vmcs abcd000  vmcs 000000000abcd000",
     {"kind": "vmcs", "vmcs": "0xabcd000"}),
    ("8 tsc tsc=12345", "tsc 12345      tsc +12345",
     {"kind": "tsc", "tsc": 0x12345}),
    ("7 tma ctc=12 fc=34", "tma 12, 34   tsc +0",
     {"kind": "tma", "ctc": 0x12, "fast_counter": 0x34}),
    ("2 mtc ctc=94", "mtc 94   ?", {"kind": "mtc", "ctc": 0x94}),
    ("2 cyc value=57", "cyc 57  fcr +0.000", {"kind": "cyc", "cycles": 0x57}),
    ("4 cbr ratio=36", "cbr 24", {"kind": "cbr", "ratio": 36}),
    ("2 psbend", "psbend", {"kind": "psbend"}),
    ("1 tnt.8 n=5 bits=11", "tnt.8 !...!",
     {"kind": "tnt.8", "count": 5, "tnt": "10001"}),
    ("8 tnt.64 n=4 bits=7", "tnt.64 .!!!",
     {"kind": "tnt.64", "count": 4, "tnt": "0111"}),
    ("3 tip ipc=1 ip=1002", "tip 1: ????????????1002",
     {"kind": "tip", "ip_bytes": 1, "payload": "0x1002",
      "ip": "0xffff800000001002"}),
    ("1 tip.pgd ipc=0 ip=0", "tip.pgd 0: ????????????????",
     {"kind": "tip.pgd", "ip_bytes": 0}),
    ("9 tip.pge ipc=6 ip=ccccccccccccccc", "tip.pge 6: 0ccccccccccccccc",
     {"kind": "tip.pge", "ip_bytes": 6, "payload": "0xccccccccccccccc",
      "ip": "0xccccccccccccccc"}),
    ("5 tip ipc=2 ip=1001", "tip 2: ????????00001001",
     {"kind": "tip", "ip_bytes": 2, "payload": "0x1001",
      "ip": "0xccccccc00001001"}),
    ("7 fup ipc=4 ip=1003", "fup 4: ????000000001003 ip 0ccc000000001003",
     {"kind": "fup", "ip_bytes": 4, "payload": "0x1003",
      "ip": "0xccc000000001003"}),
    ("11 mnt payload=2a2242", "mnt 2a2242",
     {"kind": "mnt", "payload": "0x2a2242"}),
    ("2 exstop ip=1", "exstop ip", {"kind": "exstop", "ip_follows": True}),
    ("10 mwait hints=b ext=1", "mwait 0000000b, 00000001",
     {"kind": "mwait", "hints": 11, "extensions": 1}),
    ("4 pwre state=3 sub=2 hw=1", "pwre c4.3, hw",
     {"kind": "pwre", "state": 3, "sub_state": 2, "by_hardware": True}),
    ("7 pwrx last=6 deepest=5 int=0 st=1 hw=0", "pwrx st: c7, c6",
     {"kind": "pwrx", "state": 6, "deepest_state": 5, "wake": 2}),
    ("6 ptw plc=0 payload=cdef ip=1", "ptw 0: cdef, ip",
     {"kind": "ptw", "payload": "0xcdef", "payload_size": 4,
      "ip_follows": True}),
    ("4 cfe", "cfe 1: 14  type intr",
     {"kind": "cfe", "event_type": 1, "vector": 14, "ip_follows": False}),
    ("11 evd", "evd 2: f00baa  type vmxr",
     {"kind": "evd", "data_type": 2, "payload": "0xf00baa"}),
    ("5 trig", "trig a1, mult, icnt: 23",
     {"kind": "trig", "triggers": 161, "multiple": True, "insns": 23,
      "ip_follows": False}),
    ("2 ovf", "ovf", {"kind": "ovf"}),
    ("2 stop", "stop", {"kind": "stop"}),
]

# What packets.txt does not tell.
LEFT_OUT = {"interrupts", "status"}
BARE = {"cfe", "evd", "trig"}


def listings(parts: list[tuple[str, str, Row]]
             ) -> tuple[list[str], list[str], list[Row]]:
    """Return packets.txt, ptdump.exp and rows."""
    text, dump, rows = [], [], []
    at = 0
    for line, dumped, row in parts:
        size = int(line.split()[0])
        text.append(f"{at:x} {line}")
        dump.append(f"{at:016x}  {dumped}")
        rows.append({"schema": 1, "type": "packet", "stream": 0,
                     "offset": at, "bytes": size, **row})
        at += size
    return (text + [f"total packets={len(text)} pad=0 errors=0"], dump, rows)


def compare(text: list[str], rows: list[Row]) -> int:
    """Compare rows as the runner does."""
    return packets.compare_packets(
        text, packets.read_rows(json.dumps(row) for row in rows))


def as_text(rows: list[Row], dump: list[str]) -> Iterator[str]:
    """Write rows as the tool's text, with the payloads of ptdump."""
    head = "stream        offset  bytes       "
    yield head + "packet     fields"
    for row, line in zip(rows, dump, strict=True):
        words = line.split()
        payload = re.sub(r" (?:cr3|vmcs|ip|tsc|fcr) \S+$| \?$", "",
                         " ".join(words[2:]))
        start = f"     0  {row['offset']:#12x}  02 82"
        address = f"  ip {row['ip']}" if "ip" in row else ""
        yield f"{start:<{len(head)}}{words[1]:<11}{payload}{address}"


def other(value: Any) -> Any:
    """Return a value that is another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if value.startswith("0x"):
        return hex(int(value, 16) ^ 1)
    return ("1" if value[0] == "0" else "0") + value[1:]


def test_equal_packets_agree() -> None:
    text, dump, rows = listings(ALL)
    assert compare(text, rows) == len(ALL)
    assert pt_ptt.compare_ptdump(dump, as_text(rows, dump)) == len(ALL)


@pytest.mark.parametrize("number", range(len(ALL)),
                         ids=[f"{i}-{r['kind']}" for i, (_, _, r)
                              in enumerate(ALL)])
def test_every_field_counts(number: int) -> None:
    text, _, rows = listings(ALL)
    kind = rows[number]["kind"]
    for key, value in rows[number].items():
        if key in LEFT_OUT or key in ("schema", "kind", "type") or \
                (kind in BARE and key not in ("offset", "bytes", "stream")):
            continue
        wrong = [dict(row) for row in rows]
        wrong[number][key] = other(value)
        with pytest.raises(Fail):
            compare(text, wrong)
        del wrong[number][key]
        with pytest.raises(Fail):
            compare(text, wrong)
    for name in ("pad", "psb", "tip", "cyc", "unknown", "lost", "truncated"):
        if name != kind:
            wrong = [dict(row) for row in rows]
            wrong[number]["kind"] = name
            with pytest.raises(Fail):
                compare(text, wrong)


@pytest.mark.parametrize("number", range(len(ALL)))
def test_every_column_of_ptdump_counts(number: int) -> None:
    _, dump, rows = listings(ALL)
    ours = list(as_text(rows, dump))
    line = ours[number + 1]
    for at, letter in enumerate(line):
        # The stream and the bytes are not in ptdump's listing.
        if letter in " x" or at < 12 or 22 <= at < 34:
            continue
        wrong = line[:at] + ("1" if letter != "1" else "2") + line[at + 1:]
        # The address is compared where ptdump has one.
        if at > line.rfind("  ip 0x") > 0 and " ip " not in dump[number]:
            continue
        with pytest.raises(Fail):
            pt_ptt.compare_ptdump(
                dump, ours[:number + 1] + [wrong] + ours[number + 2:])


@pytest.mark.parametrize("change", [
    pytest.param(lambda rows: rows[:-1], id="one-less"),
    pytest.param(lambda rows: rows[:5] + rows[6:], id="a-hole"),
    pytest.param(lambda rows: rows[:5] + rows[4:], id="twice"),
    pytest.param(lambda rows: [], id="nothing"),
    pytest.param(lambda rows: rows + [_more(rows, "psb")], id="one-more"),
    pytest.param(lambda rows: rows + [_more(rows, "unknown")],
                 id="unknown-at-the-end"),
    pytest.param(lambda rows: rows + [_more(rows, "pad", count=3)],
                 id="padding"),
    pytest.param(lambda rows: rows + [_more(rows, "truncated")] +
                 [_more(rows + [_more(rows, "truncated")], "psb")],
                 id="truncated-in-the-middle"),
])
def test_other_rows_fail(change: Callable[[list[Row]], list[Row]]) -> None:
    text, dump, rows = listings(ALL)
    with pytest.raises(Fail):
        compare(text, change(rows))


def _more(rows: list[Row], kind: str, **fields: Any) -> Row:
    last = rows[-1]
    return {"schema": 1, "type": "packet", "stream": 0, "kind": kind,
            "offset": last["offset"] + last["bytes"], "bytes": 3, **fields}


def test_padding_is_counted() -> None:
    text, _, rows = listings(ALL)
    rows.append(_more(rows, "pad", count=3))
    text[-1] = f"total packets={len(ALL) + 3} pad=3 errors=0"
    assert compare(text, rows) == len(ALL) + 3
    text[-1] = f"total packets={len(ALL) + 4} pad=4 errors=0"
    with pytest.raises(Fail, match="3 bytes of padding, expected 4"):
        compare(text, rows)
    text[-1] = f"total packets={len(ALL)} pad=3 errors=0"
    with pytest.raises(Malformed):
        compare(text, rows)


def test_what_the_end_cuts_off_may_be_told() -> None:
    text, _, rows = listings(ALL)
    assert compare(text, rows + [_more(rows, "truncated")]) == len(ALL)


def _resync(skipped: list[tuple[str, int]]) -> list[Row]:
    rows: list[Row] = []
    for kind, size in [("unsynced", 4), ("psb", 16), *skipped, ("psb", 16),
                       ("psbend", 2)]:
        at = rows[-1]["offset"] + rows[-1]["bytes"] if rows else 0
        rows.append({"schema": 1, "type": "packet", "stream": 0,
                     "offset": at, "bytes": size, "kind": kind})
    return rows


RESYNC = ["4 16 psb", "x unknown opcode @14", "1e 16 psb", "2e 2 psbend",
          "total packets=3 pad=0 errors=1"]


def test_behind_an_error_more_may_be_told_up_to_the_psb() -> None:
    for skipped in ([("unknown", 10)], [("unknown", 8), ("psbend", 2)]):
        assert compare(RESYNC, _resync(skipped)) == 3
    for skipped in ([("psbend", 10)], [("unknown", 11)], [],
                    [("psbend", 2), ("unknown", 8)]):
        with pytest.raises(Fail):
            compare(RESYNC, _resync(skipped))
    with pytest.raises(Fail):
        compare(RESYNC, _resync([("unknown", 10)])[:-1])


def test_errors_of_ptdump_are_unknown_bytes() -> None:
    want = ["0000000000000000  psb", "[10: error decoding packet: bad]",
            "[1: error updating time: no calibration]",
            "0000000000000020  psb"]
    head = "stream  offset  packet     fields"
    row = "     0  {:>#6x}  {}"

    def ours(*parts: tuple[int, str]) -> list[str]:
        return [head] + [row.format(*part) for part in parts]

    pt_ptt.compare_ptdump(want, ours((0, "psb"), (16, "unknown"),
                                     (18, "psbend"), (32, "psb")))
    for wrong in (ours((0, "psb"), (32, "psb")),
                  ours((0, "psb"), (16, "psbend"), (32, "psb")),
                  ours((0, "psb"), (16, "unknown")),
                  ours((0, "psb"), (16, "unknown"), (31, "psb"))):
        with pytest.raises(Fail):
            pt_ptt.compare_ptdump(want, wrong)


def test_each_byte_of_padding_is_a_line_of_ptdump() -> None:
    want = ["0000000000000000  pad", "0000000000000001  pad"]
    head = "stream  offset  packet     fields"
    pt_ptt.compare_ptdump(want, [head, "     0     0x0  pad        2 times"])
    for times in ("", "        3 times"):
        with pytest.raises(Fail):
            pt_ptt.compare_ptdump(want, [head, f"     0     0x0  pad{times}"])


PERF = ["0 PSB", "10 FUP 0x800000001000", "17 MODE.Exec IF:1 64",
        "19 MODE.TSX TXAbort:1 InTX:0", "1b PIP 0x57d7d (NR=1)",
        "23 TSC 0x12345", "2b TMA CTC 0x12 FC 0x34", "32 MTC 0x94",
        "34 CYC 0x57", "36 CBR 0x24", "3a PSBEND", "3c TNT TNNNT (5)"]


def _perf_rows() -> list[Row]:
    _, _, rows = listings([part for part in ALL
                           if part[2]["kind"] != "vmcs"])
    rows[2]["cs_d"] = False
    return rows[:len(PERF)]


def test_listings_of_perf_agree() -> None:
    rows = _perf_rows()
    assert pt_perfdata.compare_perf(PERF, iter(rows)) == len(PERF)
    assert pt_perfdata.compare_perf(
        PERF, iter(rows + [_more(rows, "pad")])) == len(PERF)


def test_every_line_of_perf_counts() -> None:
    rows = _perf_rows()
    for at, line in enumerate(PERF):
        for wrong in (PERF[:at] + PERF[at + 1:],
                      PERF[:at] + [line + "1"] + PERF[at + 1:],
                      PERF[:at] + ["f" + line] + PERF[at + 1:]):
            with pytest.raises(Fail):
                pt_perfdata.compare_perf(wrong, iter(rows))
    with pytest.raises(Fail):
        pt_perfdata.compare_perf(PERF + ["3d PSB"], iter(rows))
    with pytest.raises(Fail):
        pt_perfdata.compare_perf(
            PERF, iter(rows + [_more(rows, "unknown")]))


def _perf_data(*records: bytes) -> bytes:
    body = b"".join(records)
    return struct.pack("<8sQQQQQQ", b"PERFILE2", 104, 0, 0, 0, 56,
                       len(body)) + body


def test_buffers_of_perf_data() -> None:
    other = struct.pack("<IHHQ", 1, 0, 16, 0)
    aux = struct.pack("<IHHQ", 71, 0, 48, 5) + bytes(32) + b"trace"
    data = _perf_data(other, aux, other, aux)
    assert list(pt_perfdata.aux_buffers(data)) == [b"trace", b"trace"]
    for bad in (b"", data[:60], b"x" * 200,
                _perf_data(struct.pack("<IHHQ", 1, 0, 0, 0))):
        with pytest.raises(Malformed):
            list(pt_perfdata.aux_buffers(bad))


# Writes what the folder `ours` beside it holds, as hwtdecode would.
FAKE_CLI = """#!{python}
import sys
from pathlib import Path
ours = Path(__file__).parent / "ours"
args = sys.argv[1:]
(ours / "called").open("a").write(" ".join(args) + "\\n")
out = next((a for a in args if a.startswith("--output=")), None)
name = "jsonl" if "--format=jsonl" in args else "text"
if out is None:
    sys.stdout.write((ours / "cli-stdout").read_text())
else:
    Path(out[9:]).write_text((ours / name).read_text())
if (ours / "cli-stderr").exists():
    sys.stderr.write((ours / "cli-stderr").read_text())
sys.exit(int((ours / "cli-code").read_text())
         if (ours / "cli-code").exists() else 0)
"""


@pytest.fixture
def ptt(tmp_path: Any) -> World:
    """Return a world of one pt-ptt case that passes."""
    world = World(tmp_path)
    cli = world.tool.parent / "hwtdecode"
    cli.write_text(FAKE_CLI.format(python=sys.executable))
    cli.chmod(cli.stat().st_mode | stat.S_IXUSR)
    text, dump, rows = listings(ALL)
    world.say(jsonl="".join(json.dumps(row) + "\n" for row in rows),
              text="\n".join(as_text(rows, dump)) + "\n")
    run = {"tool": "ptdump", "args": ["--no-sync", "--cpu", "6/1", "a.pt"],
           "expected": "expected/ptdump.exp", "cpus": ["6/78", "6/94"]}
    world.case("pt-ptt/a", {"a.pt": "x"},
               {"expected/packets.txt": "\n".join(text) + "\n",
                "expected/ptdump.exp": "\n".join(dump) + "\n"},
               runs=[run], params={"cpus": ["6/78", "6/94"]})
    return world


def test_both_listings_are_compared(ptt: World) -> None:
    n = len(ALL)
    assert ptt.run() == (0, [
        f"PASS pt-ptt/a {n} packets, {2 * n} lines of 2 ptdump runs",
        "1 passed, 0 failed, 0 skipped"])
    called = (ptt.ours / "called").read_text().splitlines()
    assert [("--no-sync" in line, "--pt-cpu=6/94" in line,
             "--format=jsonl" in line) for line in called] == [
        (True, False, False), (True, True, False), (False, False, True)]


@pytest.mark.parametrize("name", ["jsonl", "text"])
def test_a_wrong_field_fails_the_case(ptt: World, name: str) -> None:
    path = ptt.ours / name
    for old, new in (("afafa0", "afafa1"), ("cyc", "mtc")):
        good = path.read_text()
        path.write_text(good.replace(old, new))
        code, lines = ptt.run()
        assert code == 1 and lines[0].startswith("FAIL pt-ptt/a ")
        path.write_text(good)


@pytest.mark.parametrize(("ours", "why"), [
    ({"cli-code": "2", "cli-stderr": "hwtdecode: no\n"}, "hwtdecode: no"),
    ({"cli-code": "0", "cli-stderr": "hwtdecode: odd\n"}, "hwtdecode: odd"),
    ({"cli-code": "3"}, "exit code 3"),
    ({"jsonl": "{\n"}, "JSONDecodeError"),
    ({"jsonl": "{}\n"}, "KeyError"),
    ({"jsonl": ""}, "'None', expected '0 16 psb'"),
])
def test_tool_that_fails_fails_the_case(ptt: World, ours: dict[str, str],
                                        why: str) -> None:
    ptt.say(**ours)
    code, lines = ptt.run()
    assert code == 1
    assert lines[0].startswith("FAIL pt-ptt/a ") and why in lines[0]


def test_tool_that_is_not_there_skips(ptt: World) -> None:
    (ptt.tool.parent / "hwtdecode").unlink()
    assert ptt.run() == (0, [
        "SKIP pt-ptt/a no hwtdecode beside hwtdecode-flow",
        "0 passed, 0 failed, 1 skipped"])


PEVENT = {
    "tool": "ptdump", "expected": "expected/ptdump.exp",
    "args": ["--pevent:sample-type", "0x4", "--pevent:time-zero", "0x0",
             "--pevent:time-shift", "0x1", "--pevent:time-mult", "0x3",
             "--pevent:primary", "a,b=c.sb", "a.pt"]}


def test_sideband_is_that_of_the_listing(ptt: World) -> None:
    dump = ("0000000000000000  psb\n"
            "0000000000000000  PERF_RECORD_ITRACE_START 1/a { 5 }\n")
    ptt.case("pt-ptt/pevent", {"a.pt": "x", "a,b=c.sb": "y"},
             {"expected/ptdump.exp": dump}, runs=[PEVENT])
    record = {"schema": 1, "type": "record", "record": 0,
              "record_type": "switch", "pid": 1, "tid": 10, "time_ns": 5}
    packet = {"type": "packet", "stream": 0, "offset": 0, "bytes": 16,
              "kind": "psb"}
    ptt.say(**{"cli-stdout": json.dumps(record) + "\n",
               "jsonl": json.dumps(packet) + "\n"})
    case = ("--case", "pt-ptt/pevent")
    assert ptt.run(*case)[1][0] == "PASS pt-ptt/pevent 1 records"
    called = (ptt.ours / "called").read_text().splitlines()
    assert all("a,b=c.sb,sample-type=0x4 --clock=2/3@0=0" in line
               for line in called)
    for rows in ("", json.dumps({**record, "tid": 11}) + "\n",
                 json.dumps({**record, "cpu": 0}) + "\n"):
        ptt.say(**{"cli-stdout": rows})
        code, lines = ptt.run(*case)
        assert code == 1
        assert lines[0].startswith("FAIL pt-ptt/pevent records: ")


def test_captures_compare_their_packets(ptt: World) -> None:
    text, _, rows = listings(ALL)
    ptt.case("pt-libxdc/k", {"trace.pt": "x"},
             {"expected/packets.txt": "\n".join(text) + "\n"})
    assert ptt.run("--family", "pt-libxdc")[1][0] == \
        f"PASS pt-libxdc/k {len(ALL)} packets"
    rows[4]["cr3"] = "0x1000"
    ptt.say(jsonl="".join(json.dumps(row) + "\n" for row in rows))
    code, lines = ptt.run("--family", "pt-libxdc")
    assert code == 1
    assert lines[0] == ("FAIL pt-libxdc/k packets: '1b 8 pip cr3=1000 nr=1', "
                        "expected '1b 8 pip cr3=afafa0 nr=1'")
