"""perf.data: bytes against documents, cases against scenarios."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
FIXTURES = TESTS.parent / "fixtures"
sys.path.insert(0, str(TESTS / "tools"))

from perfdata import PerfDataError, attr as a, perf  # noqa: E402
from perfdata import records as r, user  # noqa: E402
from perfdata.__main__ import drift  # noqa: E402
from perfdata.attr import FLAGS, SIZES, Attr, Event  # noqa: E402
from perfdata.case import Case  # noqa: E402
from perfdata.chance import random_case  # noqa: E402
from perfdata.chance_etm import random_etm  # noqa: E402
from perfdata.chance_spe import random_spe  # noqa: E402
from perfdata.features import Features  # noqa: E402
from perfdata.file import PerfData, cut, lying, poke  # noqa: E402
from perfdata.order import BIG, LITTLE  # noqa: E402
from perfdata.sample import SampleValues, Where  # noqa: E402
from perfdata.zstd import Stream  # noqa: E402

ALL_WHERE = a.TID | a.TIME | a.ID | a.STREAM_ID | a.CPU | a.IDENTIFIER


def event_of(kinds: int, **more: object) -> Event:
    """Return an event with such samples."""
    return Event("e", Attr(1, 9, kinds, ("sample_id_all",),
                           **more), [7])  # type: ignore[arg-type]


def test_the_cases_are_what_their_scenarios_make() -> None:
    assert drift(FIXTURES) == []


def test_bits_of_an_event_begin_at_either_end() -> None:
    # Source: perf_event.h; bits are 0, 8, 15 and 16, and 18.
    attr = Attr(1, flags=("disabled", "mmap", "sample_id_all"), precise_ip=2)
    assert attr.encode(LITTLE)[40:48].hex() == "0101050000000000"
    # From the top: 0, 8, 15 (of a field of two bits the high one), and 18.
    assert attr.encode(BIG)[40:48].hex() == "8081200000000000"
    assert FLAGS.index("sample_id_all") == 18
    assert FLAGS.index("text_poke") == 33


@pytest.mark.parametrize("size", SIZES)
def test_an_event_is_as_long_as_it_says(size: int) -> None:
    data = Attr(5, size=size, config2=0x1122).encode(LITTLE)
    assert len(data) == size
    assert struct.unpack_from("<II", data) == (5, size)
    if size >= 72:
        assert struct.unpack_from("<Q", data, 64) == (0x1122,)


@pytest.mark.parametrize(("kinds", "words"), [
    (a.TID, "64000000" "65000000"),
    (a.TIME, "e803000000000000"),
    (a.IDENTIFIER, "0700000000000000"),
    (ALL_WHERE, "64000000" "65000000" "e803000000000000" "0700000000000000"
     "0900000000000000" "02000000" "00000000" "0700000000000000"),
    (a.STREAM_ID | a.CPU, "0900000000000000" "02000000" "00000000"),
])
def test_place_and_time_end_a_record(kinds: int, words: str) -> None:
    file = PerfData()
    item = file.add(r.lost_samples(3), event_of(kinds),
                    Where(1000, 100, 101, 2, 7, 9))
    assert item.bytes(LITTLE)[16:].hex() == words
    assert struct.unpack_from("<IHH", item.bytes(LITTLE)) == (
        13, 0, 16 + len(words) // 2)


def test_fields_of_a_sample_have_the_order_of_the_kernel() -> None:
    kinds = (a.IDENTIFIER | a.IP | a.TID | a.TIME | a.ADDR | a.ID
             | a.STREAM_ID | a.CPU | a.PERIOD | a.READ | a.CALLCHAIN | a.RAW)
    item = PerfData().add(r.sample(SampleValues(
        ip=1, addr=2, period=3, read=(4, 0, 0, 5, 0), callchain=(6, 8),
        raw=b"abcde")), event_of(kinds), Where(1000, 100, 101, 2, 7, 9))
    assert item.bytes(BIG)[8:] == struct.pack(
        ">QQIIQQQQIIQQQQQQ", 7, 1, 100, 101, 1000, 2, 7, 9, 2, 0, 3, 4, 5, 2,
        6, 8) + struct.pack(">I", 12) + b"abcde" + bytes(7)


def test_counts_of_a_group_and_registers_of_a_sample() -> None:
    event = event_of(a.READ | a.REGS_USER | a.WEIGHT_STRUCT,
                     read_format=a.GROUP | a.FORMAT_ID, sample_regs_user=0b101)
    item = PerfData().add(r.sample(SampleValues(
        group=((10, 1, 0), (20, 2, 0)), regs_user=(30, 40),
        weights=(1, 2, 3))), event)
    assert item.bytes(LITTLE)[8:] == struct.pack(
        "<9Q", 2, 10, 1, 20, 2, 2, 30, 40, 1 | 2 << 32 | 3 << 48)


@pytest.mark.parametrize(("form", "body"), [
    ("cpus", "0000" "0200" "0100" "4600"),
    ("mask32", "0100" "0300" "0400" "02000000" "00000000" "40000000"
     "000000000000"),
    ("mask64", "0100" "0200" "0800" "00000000" "0200000000000000"
     "4000000000000000" "000000000000"),
    ("range", "0200" "00" "00" "0100" "4600"),
])
def test_processors_have_several_forms(form: str, body: str) -> None:
    data = user.cpu_map([1, 70], form).body(LITTLE)
    assert data.hex() == body
    assert len(data) % 8 == 0


def test_a_header_tells_its_sections() -> None:
    file = PerfData()
    file.event(event_of(a.IDENTIFIER))
    assert file.features is not None
    file.features.strings(hostname="h", arch="x")
    file.add(user.finished_round())
    made = file.write()
    words = struct.unpack_from("<8s12Q", made.data)
    # One id, then an attribute of 128 bytes with the place of the id.
    assert words == (b"PERFILE2", 104, 144, 112, 144, 256, 8, 0, 0,
                     1 << 3 | 1 << 6, 0, 0, 0)
    assert struct.unpack_from("<Q", made.data, 104) == (7,)
    assert struct.unpack_from("<QQ", made.data, 112 + 128) == (104, 8)
    # Two sections, each a string of 64 bytes with its length.
    assert struct.unpack_from("<4Q", made.data, 264) == (296, 68, 364, 68)
    assert made.data[296:302] == b"\x40\0\0\0h\0"
    assert len(made.data) == 432


def test_a_pipe_has_records_in_place_of_sections() -> None:
    file = PerfData(BIG, pipe=True)
    file.event(event_of(a.IDENTIFIER))
    assert file.features is not None
    file.features.total_mem(5)
    made = file.write()
    assert made.data[:16] == b"2ELIFREP" + struct.pack(">Q", 16)
    kinds = [item.record.type for _, item in made.places]
    assert kinds == [64, 80, 80]
    assert made.data[-40:] == struct.pack(
        ">IHHQQIHHQ", 80, 0, 24, 10, 5, 80, 0, 16, 32)


def test_trace_is_listed_where_it_lies() -> None:
    file = PerfData()
    file.event(event_of(a.IDENTIFIER))
    file.add(user.auxtrace(bytes(16)))
    file.add(user.auxtrace(bytes(8)))
    made = file.write()
    first, second = made.place("auxtrace"), made.place("auxtrace", 1)
    assert second - first == 48 + 16
    assert made.data[-40:] == struct.pack("<5Q", 2, first, 48, second, 48)


def test_lies_and_damage() -> None:
    file = PerfData(told_data_size=0, features=None)
    file.features = None
    file.event(event_of(a.IDENTIFIER))
    file.add(lying(user.finished_round(), 4))
    data = file.write().data
    assert struct.unpack_from("<Q", data, 48) == (0,)
    assert struct.unpack_from("<Q", data, 72) == (0,)
    assert data[-8:].hex() == "4400000000000400"
    assert cut(data, 10) == data[:10]
    assert poke(data, 0, b"X")[:8] == b"XERFILE2"
    with pytest.raises(PerfDataError):
        poke(data, len(data), b"X")


def test_what_does_not_fit_is_refused() -> None:
    for parts in ([("H", 1 << 16)], [("I", 1 << 32)], [("s", 5)]):
        with pytest.raises(PerfDataError):
            LITTLE.pack(parts)  # type: ignore[arg-type]
    with pytest.raises(PerfDataError):
        Attr(1, flags=("precise_ip",)).encode(LITTLE)
    with pytest.raises(PerfDataError):
        PerfData().add(r.unknown(99, bytes(65528))).bytes(LITTLE)


def test_features_of_both_orders() -> None:
    for order, prefix in ((LITTLE, "<"), (BIG, ">")):
        features = Features(order)
        features.nrcpus(2, 4)
        features.build_ids([(2, -1, b"\x11" * 8, "/a")])
        assert features.data[7] == struct.pack(prefix + "II", 4, 2)
        # The size of the build id stands behind its 20 bytes.
        assert features.data[2] == struct.pack(
            prefix + "IHHi", 67, 0x8002, 100, -1) + b"\x11" * 8 + bytes(
                12) + b"\x08\0\0\0/a" + bytes(62)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd")
def test_the_stream_is_what_zstd_reads() -> None:
    chance = random.Random(5)
    words = [chance.randbytes(chance.randrange(3, 300)) for _ in range(40)]
    data = b"".join(chance.choice(words) if chance.random() < 0.8
                    else bytes(chance.randrange(70000))
                    for _ in range(400))
    data += bytes(200000) + chance.randbytes(200000)
    stream, out, at = Stream(), b"", 0
    while at < len(data):
        step = chance.randrange(1, 50000)
        out += stream.add(data[at:at + step])
        at += step
    # An empty last block ends the frame, which perf never does.
    done = subprocess.run(["zstd", "-dc"], input=out + bytes([1, 0, 0]),
                          capture_output=True, check=True)
    assert done.stdout == data
    assert len(out) < len(data) // 2


@pytest.mark.parametrize(("line", "why"), [
    ("b main 2 64 main", "2 instructions"),
    ("b main 1 32 main", "the mode is 64"),
    ("b main 1 64 main time=x", "not a number"),
    ("y", "lines are"),
    ("t 1 2 name=x", "no such key"),
    ("d 5", "stands alone"),
])
def test_a_flow_is_of_the_programs(line: str, why: str) -> None:
    case = Case("x")
    case.program("org 0x1000\nmain: jmp main")
    with pytest.raises(PerfDataError, match=why):
        case.expect(line)


def test_branches_are_between_runs_of_one_thread() -> None:
    case = Case("x")
    case.program("org 0x1000\nmain: nop\nhere: jmp main")
    case.expect("""
        q 0 cpu=3
        s
        t 1 2
        b main 2 64 here time=10
        b main 2 64 here
        d
        b main 2 64 here
        t 3 4
        b main 2 64 here time=20
        b main 2 64 here
        x overflow
        s
        b main 1 64 main
    """)
    assert [(one.cpu, one.pid, one.tid, one.source, one.target, one.time)
            for one in case.flow.branches] == [
        (3, 1, 2, 0x1001, 0x1000, 10), (3, 3, 4, 0x1001, 0x1000, 20)]


def test_a_perf_that_does_not_run_is_not_found(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = tmp_path / "perf"
    wrapper.write_text("#!/bin/sh\necho 'no perf for this kernel' >&2\nexit 2")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PERF", str(wrapper))
    assert perf.find() is None
    monkeypatch.delenv("CI", raising=False)
    assert perf.check_all([]) == 77
    monkeypatch.setenv("CI", "1")
    assert perf.check_all([]) == 1
    wrapper.write_text("#!/bin/sh\necho perf version 9.9")
    assert perf.find() == (str(wrapper), "9.9")


@pytest.mark.parametrize("make", [random_case, random_etm, random_spe])
def test_a_seed_makes_one_case(make: Callable[[int], Case]) -> None:
    one = make(3).outputs()
    assert one == make(3).outputs()
    assert one["perf.data"] != make(4).outputs()["perf.data"]
