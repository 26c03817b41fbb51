"""The test-trace assembler for Arm SPE: bytes against documents and CPUs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
FIXTURES = TESTS.parent / "fixtures"
sys.path.insert(0, str(TESTS / "tools"))

from hwtasm import AsmError, spe  # noqa: E402
from hwtasm.casefile import read_case  # noqa: E402
from hwtasm.spe import SpeStream  # noqa: E402
from hwtasm.writer import case_files  # noqa: E402

# Source: DDI 0487, "Statistical Profiling Extension Sample Record
# Specification"; those with much in them were written by CPUs and models.
PACKETS = [
    ("pad", "00"), ("pad 3", "000000"), ("end", "01"),
    ("timestamp 0x1e946f73e80", "71803ef746e9010000"),
    ("timestamp 0x8000000000000001", "710100000000000080"),
    ("pc 0xffffba66eda1c2d0 el=2", "b0d0c2a1ed66baffc0"),
    ("pc 0x7ffdbf2143e0", "b0e04321bffd7f0080"),
    ("pc 0x40201000 el=2", "b000102040000000c0"),
    ("pc 0xffff800000201000 el=1 realm", "b0001020000080ffb0"),
    ("pc 0xffff800000201000 el=1 s", "b0001020000080ff20"),
    ("pc 0x201000 el=3 root", "b00010200000000070"),
    ("pc 0x201000 reserved=15", "b0001020000000008f"),
    ("target 0", "b10000000000000080"),
    ("previous 0xff80000000400870 el=2", "b470084000000080c0"),
    ("va 0xffff800073babd50 tag=0xff", "b250bdba730080ffff"),
    ("va 0xffff0e3703096b28", "b2286b0903370eff00"),
    ("va 0x2040 tag=0xa5", "b240200000000000a5"),
    ("pa 0xf3babd50", "b350bdbaf300000080"),
    ("pa 0x85040302017740 tag=7 checked", "b340770102030485c7"),
    ("pa 0x7740 realm tag=5", "b34077000000000095"),
    ("address 7 1", "b70100000000000000"),
    ("address 31 1", "23b70100000000000000"),
    ("counter 6 0x10c", "9e0c01"), ("counter 8 7", "21980700"),
    ("counter 31 0xffff", "239fffff"),
    ("total 42", "982a00"), ("issue 41", "992900"), ("xlat 1", "9a0100"),
    ("total 5 extended", "20980500"),
    ("va 1 extended", "20b20100000000000000"),
    ("context el1 0x1068", "6468100000"), ("context el2 0x5f80", "65805f0000"),
    ("context 3 1", "6701000000"),
    ("events retired l1d-access tlb-access", "521600"),
    ("events retired not-taken bytes=1", "4242"),
    ("events 19 20 21 22 23 24 25 bytes=4", "620000f803"),
    ("events retired 63 bytes=8", "720200000000000080"),
    ("source 12", "430c"), ("source 0x800c bytes=2", "530c80"),
    ("op other", "4800"), ("op other cond", "4801"),
    ("op other fp simd", "4806"), ("op sve bits=32", "4808"),
    ("op sve bits=4096 fp predicated", "487e"),
    ("op sme bits=128", "4888"), ("op sme bits=256", "488c"),
    ("op sme bits=512 fp", "489a"), ("op sme bits=4194304", "48fc"),
    ("op load general", "4900"), ("op store general", "4901"),
    ("op store simd-fp", "4905"), ("op load unspecified", "4910"),
    ("op load system-register", "4930"), ("op load tag", "4914"),
    ("op load copy", "4920"), ("op store copy", "4921"),
    ("op store set", "4925"), ("op load extended atomic", "4906"),
    ("op load extended ordered", "4912"),
    ("op store extended exclusive ordered", "491b"),
    ("op load gcs", "4940"), ("op load gcs common", "4944"),
    ("op load sve bits=512 predicated gather", "49cc"),
    ("op store sve bits=128", "4929"),
    ("op branch", "4a00"), ("op branch cond", "4a01"),
    ("op branch cond indirect", "4a03"), ("op branch link", "4a08"),
    ("op branch return", "4a10"), ("op branch indirect neither", "4a1a"),
    ("op branch indirect gcs return", "4a16"),
    ("op raw 3 0", "4b00"), ("op raw 1 0xff", "49ff"),
    ("align 8 fill=0xff", "2200ffffffffffff"), ("align 2", "2000"),
    ("unknown 0x02", "02"), ("unknown 0x90 0xbbaa", "90aabb"),
    ("unknown 0xe0 1", "e001000000"), ("raw b0 11 22", "b01122"),
]


@pytest.mark.parametrize(("text", "want"), PACKETS)
def test_packets_are_those_of_the_manual(text: str, want: str) -> None:
    assert SpeStream({}).encode(text).hex() == want


def test_every_packet_has_an_example() -> None:
    shown = {text.split()[0] for text, _ in PACKETS}
    assert {name[3:] for name in dir(SpeStream)
            if name.startswith("_p_")} <= shown


def test_every_operation_has_an_example() -> None:
    shown = {text.split()[1] for text, _ in PACKETS if text[:3] == "op "}
    assert shown == set(spe.OPERATIONS)


@pytest.mark.parametrize("text", [
    "pc 0xff00000000000000", "pc 0x0080000000000000", "pc 1 el=4",
    "pc 1 reserved=16", "pc 1 tag=1", "va 0x100000000000000",
    "va 1 tag=256", "pa 0x100000000000000", "pa 1 tag=16", "total 65536",
    "counter 32 1", "address 32 1", "context 4 1", "context el1 0x100000000",
    "timestamp 0x10000000000000000", "events 16", "events 64 bytes=8",
    "events retired bytes=3", "source 256", "op load set", "op load general x",
    "op sve bits=33", "op sve bits=8192", "op sve", "op jump", "op raw 4 0",
    "op raw 0 256", "align 32", "unknown 0x90 0x10000", "unknown 0x02 1",
    "nonsense"])
def test_what_cannot_be_encoded_is_refused(text: str) -> None:
    with pytest.raises(AsmError):
        SpeStream({}).encode(text)


def _stream(*lines: str) -> SpeStream:
    stream = SpeStream({})
    for line in lines:
        stream.add(line)
    return stream


# A record as a CPU wrote it, packet by packet in another order.
SLOT = ("record neoverse", "total 12", "op load general",
        "va 0xffff0e3703096b28", "xlat 1", "context el2 0x5f80", "issue 4",
        "events retired l1d-access tlb-access", "source 0",
        "pc 0xffffba66eda1c2d0 el=2", "timestamp 44731163950")


def test_slots_are_those_of_a_neoverse() -> None:
    assert _stream(*SLOT).finish().hex() == (
        "b0d0c2a1ed66baffc0000000000065805f00004900521600990400980c00"
        "b2286b0903370eff009a010000000000000000000043000000712e652f6a"
        "0a000000")


def test_a_slot_may_end_without_a_time() -> None:
    data = _stream(*SLOT[:-1], "end").finish()
    assert len(data) == 64 and data[53:] == bytes(10) + b"\x01"


def test_packets_without_a_place_fill_a_slot() -> None:
    data = _stream("record neoverse", "pc 0", "previous 0", "counter 6 1",
                   "target 4", "end").finish()
    assert [data[at] for at in (0, 30, 39, 48)] == [0xb0, 0xb1, 0xb4, 0x9e]
    with pytest.raises(AsmError, match="no room"):
        _stream("record neoverse", "pc 0", "previous 0", "target 4",
                "pa 0", "end")
    with pytest.raises(AsmError, match="same place"):
        _stream("record neoverse", "va 0", "target 4", "end")


# What the fixtures say of real bytes, in words.
REAL = {
    "times-of-records-are-their-own":
    "b000e1202aeeb7ffc099020098030052c2004a01b104e1202aeeb7ffc00000000000"
    "00713fe951b9a91c0000b0e060f329eeb7ffc09902009803005282004a01b16861f3"
    "29eeb7ffc000000000000071d4f352b9a91c0000b0e087dd85feff00809902009803"
    "0052c2004a01b1e487dd85feff008000000000000071d90d53b9a91c0000b0287add"
    "85feff008099070098080052c2004a01b12c7add85feff008000000000000071fd3c"
    "53b9a91c0000b0287add85feff00809908009809005282004a01b1107add85feff00"
    "8000000000000071074053b9a91c0000b0588fdc85feff0080992200982300528200"
    "4a01b1408fdc85feff008000000000000071df4153b9a91c0000",
}


@pytest.mark.parametrize("name", REAL)
def test_words_are_the_bytes_of_a_real_cpu(name: str) -> None:
    path = FIXTURES / "spe-good" / name / "case.txt"
    assert read_case(path.read_text()).traces["trace.spe"].hex() == REAL[name]


def test_records_of_a_model_have_no_padding() -> None:
    assert _stream(
        "record model", "pc 0xffffadc04120", "total 0", "op branch cond",
        "target 0", "events retired not-taken bytes=1",
        "timestamp 0x1e946f73e80").finish().hex() == (
            "4a01b100000000000000804242b02041c0adffff008098000071803ef746e901"
            "0000")
    assert _stream(
        "record model", "op load general", "va 0xffff00000f293bc0 tag=0xff",
        "pa 0xfb24ebc0", "xlat 0", "total 0", "pc 0xffff800008c41500 el=1 s",
        "events retired l1d-access tlb-access bytes=1",
        "timestamp 0x92c216c36").finish().hex() == (
            "4900b2c03b290f0000ffffb3c0eb24fb000000809a00004216b00015c4080080"
            "ff2098000071366c212c09000000")


def test_records_of_kunpeng_are_32_or_44_bytes() -> None:
    for lines, size in (((), 32), (("va 0", "xlat 1"), 44),
                        (("target 0",), 44)):
        for end in ("timestamp 1", "end"):
            data = _stream("record kunpeng", "pc 0", "issue 1", "total 2",
                           "events retired", "op other", *lines,
                           end).finish()
            assert len(data) == size


def test_edits_change_bytes_that_are_there() -> None:
    stream = _stream("a: pc 4", "end", "buffer", "b: op other", "poke a+1 ff",
                     "cut 1")
    assert stream.finish().hex() == "b0ff000000000000800148"
    assert stream.buffers == [10] and stream.marks == {"a": 0, "b": 10}
    assert stream.changed
    with pytest.raises(AsmError):
        stream.add("poke b+1 ff")
    with pytest.raises(AsmError, match="has no end"):
        _stream("record model", "op other").finish()
    with pytest.raises(AsmError, match="inside of a record"):
        _stream("record model", "buffer")
    with pytest.raises(AsmError, match="no places"):
        _stream("record model", "a: op other")


def test_packets_of_a_record_have_their_offsets_and_kinds() -> None:
    stream = _stream(*SLOT)
    assert [(packet.offset, spe.kind_of(packet.data))
            for packet in stream.packets
            if spe.kind_of(packet.data) != "pad"] == [
        (0, "pc"), (14, "context"), (19, "operation"), (21, "events"),
        (24, "issue"), (27, "total"), (30, "va"), (39, "xlat"),
        (51, "source"), (55, "timestamp")]
    assert stream.packets[0].text.startswith("pc 0x")
    assert spe.kind_of(b"\x23\xb7") == "address"
    assert spe.kind_of(b"\x20\x9a") == "xlat"
    assert spe.kind_of(b"\x22\x00") == "alignment"
    assert spe.kind_of(b"\x90") == "unknown"


SMALL = """
[case]
name: small
family: spe-bad
about: One record.
source: nowhere
spe: cpu=neoverse-n1 clock=1/40

[trace]
a:      pc 0x400000
        op load general
        end
        buffer
b:      op other

[samples]
sample a 12
    ip=0x400000 pc_el=0 pc_security=ns
    op_class=memory op=general op_raw=0
sample b 2 op_class=other op=other op_raw=0 truncated headless

[gaps]
truncated b end
"""


def test_a_case_becomes_files() -> None:
    files = case_files(read_case(SMALL))
    described = json.loads(files["case.json"])
    assert described["params"] == {
        "spe": {"cpu": "neoverse-n1", "clock": "1/40"}, "buffers": [12]}
    assert described["counts"] == {"samples": 2, "gaps": 1, "packets": 4}
    samples = [json.loads(line) for line in
               files["expected/samples.jsonl"].splitlines()]
    assert samples[0] == {
        "first": 0, "record_bytes": 12, "ip": "0x400000", "pc_el": 0,
        "pc_security": 1, "op_class": "memory", "op": "general",
        "op_raw": "0x0"}
    assert samples[1]["truncated"] is True
    assert files["expected/gaps.txt"] == b"truncated c e\n"
    assert files["expected/packets.txt"] == (
        b"0 9 pc\n9 2 operation\nb 1 end\nc 2 operation\n")
    assert set(files) == {
        "case.json", "trace.spe", "expected/samples.jsonl",
        "expected/gaps.txt", "expected/packets.txt"}


@pytest.mark.parametrize(("old", "new", "message"), [
    ("sample b 2", "sample b 3", "beyond the trace"),
    ("sample b 2", "sample a 2", "do not overlap"),
    ("truncated b end", "bad-packet b end", "has a gap"),
    ("op_raw=0 truncated", "op_row=0 truncated", "a sample has no"),
    ("op_raw=0 truncated", "op_raw=0 truncated truncated", "twice"),
    ("pc_security=ns", "pc_security=x", "cannot read"),
    ("cpu=", "core=", "spe is cpu"),
    ("sample a 12\n", "", "before the first sample"),
])
def test_a_case_that_cannot_be_is_refused(old: str, new: str,
                                          message: str) -> None:
    assert old in SMALL
    with pytest.raises(AsmError, match=message):
        read_case(SMALL.replace(old, new))
