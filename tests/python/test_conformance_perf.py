"""The rules by which files of Linux perf are compared can fail, one by one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent / "conformance"))

from families import cs_perf, perf_flow, perf_listing  # noqa: E402
from families.case import Fail, Malformed  # noqa: E402
from families.perf_data import same_rows  # noqa: E402
from families.perf_record import (Expected, Record,  # noqa: E402
                                  compare_records)

Row = dict[str, Any]

RECORDS = [
    "10 auxtrace_info aux_type=1",
    "20 comm time=5 cpu=0 pid=0 tid=0 id=0 of_pid=7 of_tid=8 exec=0 "
    "name=a\\sname",
    "30 mmap2 time=6 cpu=0 pid=7 tid=8 id=0 of_pid=7 of_tid=8 addr=1000 "
    "len=1000 pgoff=0 maj=8 min=1 ino=1 gen=0 prot=5 flags=2 misc=2 "
    "name=/opt/first",
    "40 aux time=9 cpu=0 pid=0 tid=0 id=1 aux_offset=16 aux_size=8 "
    "aux_flags=1",
    "50 aux time=9 cpu=0 pid=0 tid=0 id=1 aux_offset=24 aux_size=4 "
    "aux_flags=0",
]


def _rows() -> list[Row]:
    place = {"cpu": 0, "pid": 7, "tid": 8}
    buffer = {"record_type": "buffer", "time_ns": 9, "cpu": 0, "pid": 0,
              "tid": 0, "stream": 0}
    rows: list[Row] = [
        {"record_type": "thread-name", "time_ns": 5, **place,
         "name": "a name"},
        {"record_type": "mmap", "time_ns": 6, **place, "address": "0x1000",
         "length": 4096, "file_offset": 0, "name": "/opt/first"},
        {**buffer, "offset": 8, "length": 8, "value": 1, "truncated": True},
        {**buffer, "offset": 12, "length": 4, "value": 0},
    ]
    return [{"type": "record", "record": number, **row}
            for number, row in enumerate(rows)]


def _expected(lines: list[str]) -> Expected:
    return Expected(perf_listing.fixture_records(lines))


def test_records_that_are_right() -> None:
    assert compare_records(_expected(RECORDS), _rows()) == \
        "4 records (1 auxtrace_info have none)"


@pytest.mark.parametrize(("number", "key", "value"), [
    (0, "name", "a"), (0, "time_ns", 6), (0, "pid", 8), (0, "cpu", 1),
    (1, "address", "0x1001"), (1, "anonymous", True), (1, "build_id", "00"),
    (1, "record_type", "kernel"), (2, "length", 4), (2, "value", 0),
    (2, "collision", True), (2, "offset", 24), (3, "offset", 11)])
def test_each_key_of_a_record(number: int, key: str, value: object) -> None:
    rows = _rows()
    # The first buffer says where the stream begins in the ring.
    rows[number][key] = value
    with pytest.raises(Fail):
        compare_records(_expected(RECORDS), rows)


@pytest.mark.parametrize("number", range(4))
def test_each_record_has_to_be_there_once(number: int) -> None:
    for rows in (_rows()[:number] + _rows()[number + 1:],
                 _rows()[:number + 1] + _rows()[number:]):
        for at, row in enumerate(rows):
            row["record"] = at
        with pytest.raises(Fail):
            compare_records(_expected(RECORDS), rows)


def test_missing_key_of_a_record() -> None:
    for number, row in enumerate(_rows()):
        for key in row:
            rows = _rows()
            if key in ("type", "record"):
                continue
            del rows[number][key]
            with pytest.raises(Fail):
                compare_records(_expected(RECORDS), rows)


def test_kinds_and_fields_that_nobody_knows() -> None:
    for line in ("60 news time=1", "60 lost time=1 of_id=2 lost=3 why=4"):
        with pytest.raises(Malformed):
            _expected([*RECORDS, line])


def test_more_than_others_read_only_behind_damage() -> None:
    want = RECORDS[:-1]
    with pytest.raises(Fail):
        compare_records(_expected(want), _rows())
    compare_records(_expected(want), _rows(), goes_on=True)


def test_process_ends_with_its_last_thread() -> None:
    def kinds(*lines: str) -> list[str]:
        return [row["record_type"] for row, _ in _expected(list(lines)).rows]

    def end(tid: int, time: int) -> str:
        return (f"10 exit time={time} cpu=0 pid=7 tid={tid} id=0 of_pid=7 "
                f"ppid=1 of_tid={tid} ptid=1 of_time=0")

    again = ("10 fork time=3 cpu=0 pid=1 tid=1 id=0 of_pid=7 ppid=1 of_tid=7 "
             "ptid=1 of_time=0")
    assert kinds(end(7, 1)) == ["exit"]
    assert kinds(end(7, 1), end(8, 2)) == ["thread-exit", "thread-exit"]
    assert kinds(end(8, 1), end(7, 2)) == ["thread-exit", "exit"]
    # The order is that of times.
    assert kinds(end(7, 2), end(8, 1)) == ["exit", "thread-exit"]
    assert kinds(end(7, 1), again, end(8, 4)) == ["exit", "fork",
                                                  "thread-exit"]


# Flow.

FLOW = ["q 0 cpu=0 tid=-", "s", "t 7 8 comm=app",
        "b 10 2 64 11 time=100", "b 20 1 64 20", "d", "b 30 1 64 30 time=200",
        "x truncated time=300", "b 40 1 64 40"]
STREAMS = [{"stream": 0, "cpu": 0}]
NAMES = [{"record_type": "thread-name", "pid": 7, "tid": 8, "time_ns": 0,
          "name": "app"}]


def _insn(ip: int, time: int) -> Row:
    return {"kind": "insn", "stream": 0, "ip": f"0x{ip:x}", "bytes": 1,
            "isa": "x86-64", "pid": 7, "tid": 8, "time_ns": time}


def _flow() -> list[Row]:
    return [_insn(0x10, 100), _insn(0x11, 100), _insn(0x20, 100),
            {"kind": "disable", "stream": 0}, {"kind": "enable", "stream": 0},
            _insn(0x30, 200),
            {"kind": "gap", "stream": 0, "offset": 5, "first": 5, "end": 5,
             "reason": "truncated", "time_ns": 300},
            _insn(0x40, 300)]


def _compare(rows: list[Row], damaged: bool = False) -> str:
    return perf_flow.compare_flow(perf_flow.read_flow(FLOW), rows, STREAMS,
                                  NAMES, damaged)


def test_flow_that_is_right() -> None:
    assert _compare(_flow()) == "4 runs (5 instructions), 1 losses"


@pytest.mark.parametrize("number", range(8))
def test_each_row_of_a_flow_is_needed(number: int) -> None:
    rows = _flow()
    del rows[number]
    # That tracing went off is said by its coming on again.
    if number == 3:
        _compare(rows)
        return
    with pytest.raises(Fail):
        _compare(rows)


@pytest.mark.parametrize(("number", "key", "value"), [
    (0, "ip", "0x12"), (1, "tid", 9), (1, "pid", 8), (2, "isa", "x86-32"),
    (0, "time_ns", 101), (5, "time_ns", 100), (6, "reason", "no-code"),
    (6, "time_ns", 301), (7, "stream", 1)])
def test_each_key_of_a_flow(number: int, key: str, value: object) -> None:
    rows = _flow()
    rows[number][key] = value
    with pytest.raises(Fail):
        _compare(rows)


@pytest.mark.parametrize("more", [
    _insn(0x41, 300), {**_flow()[6], "reason": "no-code"}])
def test_nothing_comes_behind_a_flow(more: Row) -> None:
    with pytest.raises(Fail):
        _compare([*_flow(), more])


def test_file_that_is_damaged_may_say_so() -> None:
    damage = {"kind": "gap", "reason": "file-damaged", "first": 0, "end": 0}
    with pytest.raises(Fail):
        _compare([*_flow(), damage])
    _compare([*_flow(), damage], damaged=True)


def test_name_of_a_thread_is_that_of_its_parent_at_first() -> None:
    records = [*NAMES,
               {"record_type": "fork", "time_ns": 5, "pid": 9, "tid": 9,
                "value": 7},
               {"record_type": "thread-name", "time_ns": 7, "pid": 9, "tid": 9,
                "name": "own"}]
    assert [perf_flow.comm_at(records, 9, time) for time in (4, 5, 6, 7)] == \
        [set(), {"app"}, {"app"}, {"own"}]


# Copies.

def test_copy_has_the_same_rows() -> None:
    rows = [{"kind": "gap", "reason": "file-damaged", "file_first": 1,
             "text": "missing"}, {"type": "record", "value": 3}]
    copy = [{"kind": "gap", "reason": "file-damaged", "file_first": 9,
             "earlier_file": True, "text": "was missing"},
            {"type": "record", "value": 3}]
    assert same_rows("events", rows, copy) == 2
    for other in (copy[:1], [*copy, copy[1]],
                  [copy[0], {"type": "record", "value": 4}],
                  [copy[0], {"type": "record", "value": 3, "more": 1}]):
        with pytest.raises(Fail):
            same_rows("events", rows, other)


# Listings.

def test_listing_of_perf() -> None:
    records = perf_listing.perf_records([
        "3 20 0x40 [0x30]: PERF_RECORD_SWITCH_CPU_WIDE OUT          next "
        "pid/tid:  1760/1760 ",
        "0 0 0x10 [0x38]: PERF_RECORD_COMM exec: a b:7/8",
        "0 0 0x20 [0x80]: PERF_RECORD_MMAP2 7/8: [0x1000(0x2000) @ 0x3000 "
        "b3:05 26037 1]: r-xp /usr/bin/a b"])
    assert [(record.offset, record.kind) for record in records] == [
        (0x10, "comm"), (0x20, "mmap2"), (0x40, "switch_cpu_wide")]
    assert records[0].fields["name"] == "a b"
    assert records[1].fields["pgoff"] == 0x3000
    assert records[2].fields["other_tid"] == 1760
    for line in ("PERF_RECORD_COMM: a:7/8", "0 0 0x10 [0x38]: "
                 "PERF_RECORD_COMM a:7/8"):
        with pytest.raises(Malformed):
            perf_listing.perf_records([line])


def test_text_of_protocol_buffers() -> None:
    file = perf_listing.messages([
        "events {", "  header {", "    type: 15", "  }", "  switch {",
        "    sample_info {", "      pid: 7", "    }", "  }", "}",
        "build_ids {", '  build_id_hash: "\\001A"', '  filename: "/a"', "}"])
    assert list(perf_listing.sample_infos(file)) == [({"pid": 7}, 15)]
    assert perf_listing.build_ids(file) == {"/a": "0141"}
    for lines in (["events {"], ["what"]):
        with pytest.raises(Malformed):
            perf_listing.messages(lines)


def test_listing_of_ptdump() -> None:
    lines = ["0000000000000000  psb",
             "0000000000000000  0000000000000000  PERF_RECORD_MMAP 1/2, a000,"
             " 10, 0, [vdso] { 1/2 0 }",
             "0000000000000040  PERF_RECORD_AUX.TRUNCATED 0, 200, 1 { 1/2 0 }"]
    mmap, aux = perf_listing.ptdump_records(lines, 6)
    assert mmap.fields == {
        "of_pid": 1, "of_tid": 2, "addr": 0xa000, "len": 16, "pgoff": 0,
        "name": "[vdso]", "pid": 1, "tid": 2, "time": 0}
    assert aux.number("aux_size") == 0x200
    for bad in ("0000000000000040  PERF_RECORD_NEWS 1 { 1/2 0 }",
                "0000000000000040  PERF_RECORD_AUX 0, 200, 1 { 1/2 0 }",
                "0000000000000040  PERF_RECORD_LOST 0, 2 { 1/2 0 5 }"):
        with pytest.raises(Malformed):
            perf_listing.ptdump_records([bad], 6)


def test_profile_of_simpleperf() -> None:
    ranges, branches, name = cs_perf.read_autofdo(
        ["1", "10-14:2", "0", "1", "14->0:2", "// build_id: 0x00", "// /a"])
    assert (dict(ranges), dict(branches), name) == (
        {"10-14": 2}, {"14->0": 2}, "/a")
    with pytest.raises(Malformed):
        cs_perf.read_autofdo(["0", "0", "0"])


def test_record_without_a_field_that_it_must_have() -> None:
    with pytest.raises(Malformed):
        Expected([Record(0, "comm", {"of_pid": 1, "of_tid": 1})])
