"""The test-trace assembler for Arm: bytes against documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "tools"))

from hwtasm import AsmError, arm  # noqa: E402
from hwtasm.casefile import read_case  # noqa: E402
from hwtasm.etm import EtmStream  # noqa: E402
from hwtasm.frames import Formatter  # noqa: E402
from hwtasm.program import Program  # noqa: E402
from hwtasm.swtrace import ItmStream, StmStream  # noqa: E402
from hwtasm.writer import case_files  # noqa: E402

# Source: DDI 0487; the same words come from LLVM's assembler.  At 0x1000.
INSTRUCTIONS = [
    ("a64", "nop", "1f2003d5"), ("a64", "isb", "df3f03d5"),
    ("a64", "dsb", "9f3f03d5"), ("a64", "ret", "c0035fd6"),
    ("a64", "ret x7", "e0005fd6"), ("a64", "eret", "e0039fd6"),
    ("a64", "br x5", "a0001fd6"), ("a64", "blr x6", "c0003fd6"),
    ("a64", "svc 5", "a10000d4"), ("a64", "b 0x1100", "40000014"),
    ("a64", "bl 0xf00", "c0ffff97"), ("a64", "b.ne 0x1200", "01100054"),
    ("a64", "cbz x3, 0x1300", "031800b4"),
    ("a64", "cbnz w4, 0xf00", "04f8ff35"),
    ("a64", "tbz x5, 33, 0x1400", "052008b6"),
    ("a64", "tstart x4", "643023d5"), ("a64", "tcommit", "7f3003d5"),
    ("a32", "nop", "00f020e3"), ("a32", "bx lr", "1eff2fe1"),
    ("a32", "bxeq lr", "1eff2f01"), ("a32", "blx r3", "33ff2fe1"),
    ("a32", "b 0x1100", "3e0000ea"), ("a32", "bne 0x1200", "7e00001a"),
    ("a32", "bl 0xf00", "beffffeb"), ("a32", "blx 0x1302", "be0000fb"),
    ("t32", "nop", "00bf"), ("t32", "bx lr", "7047"),
    ("t32", "blx r4", "a047"), ("t32", "b 0x1100", "7ee0"),
    ("t32", "bne 0x1080", "3ed1"), ("t32", "bl 0xf00", "fff77eff"),
    ("t32", "b.w 0x2000", "00f0febf"), ("t32", "cbz r3, 0x1050", "33b3"),
    ("t32", "it eq", "08bf"), ("t32", "itt ne", "1cbf"),
    ("t32", "ite eq", "0cbf"), ("t32", "itete gt", "cbbf"),
    ("t32", "ittt le", "debf"),
]

# Source: IHI 0064 and DDI 0487; printed with these meanings by OpenCSD.
ETM = [
    ("async", "0000000000000000000000" "80"), ("tinfo", "0100"),
    ("tinfo cc=1 spec=0 cyct=4", "010d010004"), ("on", "04"),
    ("atom N", "f6"), ("atom E", "f7"), ("atom EN", "d9"),
    ("atom ENE", "fd"), ("atom NEE", "fe"), ("atom4 NEEE", "dc"),
    ("atom4 NNNN", "dd"), ("atom4 NENE", "de"), ("atom4 ENEN", "df"),
    ("atom5 NEEEE", "f5"), ("atom5 NNNNN", "d5"), ("atom5 NENEN", "d6"),
    ("atom5 ENENE", "d7"), ("atom6 4 E", "c0"), ("atom6 24 N", "f4"),
    ("addr long64 0x80001000", "9d00080080" "00000000"),
    ("addr long32 0x80011000", "9a00080180"),
    ("addr short 0x200", "95" "8001"), ("addr short 0x104", "9541"),
    ("addr short 0x2 is1", "9601"), ("addr long32 0x12342 is1", "9b21230100"),
    ("addr match 2", "92"), ("ctx", "80"), ("ctx el=0 ns sf", "8130"),
    ("ctx el=2 vmid=5", "814205"), ("ctx el=1 nse sf", "8119"),
    ("addr.ctx long32 0xc3488 el=1 ns sf", "82221a0c0031"),
    ("ex 14 ee=1", "061d"), ("ex 2 ee=2", "0644"),
    ("ex 0x208 ee=1", "069110"), ("exret", "07"),
    ("ts 0x123456789a", "029af1d9a2a302"), ("ts 0x33 cc=9", "033309"),
    ("ts 0x7123456789abcdef", "02ef9bafcdf8acd19171"),
    ("cc1 9", "0e09"), ("cc1", "0f"), ("cc2 a=1 b=2", "0c12"),
    ("cc2 f a=1 b=2", "0d12"), ("cc3 a=1 b=2", "16"), ("event 5", "75"),
    ("commit 3", "2d03"), ("cancel 2", "2e02"),
    ("cancel 2 mispredict", "2f02"), ("cancel2 EE", "36"),
    ("cancel3 3 E", "3b"), ("mispredict N", "33"), ("ignore", "70"),
    ("overflow", "0005"), ("discard", "0003"), ("q", "af"),
    ("q 3 short 0x100", "a54003"), ("q 200 long32 0x22000", "aa00100200c801"),
    ("q 1 match 1", "a101"), ("src short 0x1f0", "b47c"),
    ("tstart", "0a"), ("tcommit", "0b"), ("tfail", "063170"),
    ("tsmark", "88"), ("ite el=1 0x1234", "09013412000000000000"),
    ("raw 0b", "0b"),
]

# Source: IHI 0054, halves of bytes as they are sent.
STM = [
    ("async", "f" * 21 + "0"), ("version 3", "f003"), ("m8 0x21", "121"),
    ("c8 5", "305"), ("c16 0x1234", "f31234"), ("d8 0x41", "441"),
    ("d8 0x42 m", "f842"), ("d4 0xa", "ca"), ("d16 0x1122", "51122"),
    ("d32 0x01020304 m", "fa01020304"), ("d8 1 ts=0x123", "f4013123"),
    ("d8 1 m ts=0", "8010"), ("flag", "fe"), ("flag ts=0xff", "e2ff"),
    ("trig 0x55", "f0655"), ("merr 1", "201"), ("null", "0"),
]

# Source: DDI 0403, "Debug ITM and DWT Packet Protocol".
ITM = [
    ("sync", "000000000080"), ("overflow", "70"), ("swit 3 1 0x41", "1941"),
    ("swit 31 2 0x4243", "fa4342"), ("dwt 2 4 0x08001234", "1734120008"),
    ("page 1", "18"), ("local 5", "50"), ("local 1000", "c0e807"),
    ("local 7 tc=1", "d007"), ("global1 0x99", "949901"),
    ("global1 0x3456789 wrap", "9489cf955a"), ("global2 0x12", "b492808000"),
]


@pytest.mark.parametrize(("mode", "text", "want"), INSTRUCTIONS)
def test_instruction_bytes_are_those_of_the_manual(
        mode: str, text: str, want: str) -> None:
    program = Program(arm)
    program.assemble([(1, "org 0x1000"), (2, "bits " + mode), (3, text)])
    assert program.insns[0x1000].data.hex() == want


@pytest.mark.parametrize(("text", "want"), ETM)
def test_trace_unit_packets_are_those_of_the_manual(
        text: str, want: str) -> None:
    assert EtmStream({}).encode(text).hex() == want


@pytest.mark.parametrize(("text", "want"), STM)
def test_software_trace_packets_are_those_of_the_manual(
        text: str, want: str) -> None:
    stream = StmStream({})
    stream.add(text)
    assert "".join(f"{half:x}" for half in stream.halves) == want


@pytest.mark.parametrize(("text", "want"), ITM)
def test_instrumentation_packets_are_those_of_the_manual(
        text: str, want: str) -> None:
    assert ItmStream({}).encode(text).hex() == want


@pytest.mark.parametrize("stream", [EtmStream({}), ItmStream({})])
def test_every_packet_has_an_example(stream: EtmStream | ItmStream) -> None:
    shown = {text.split()[0].replace(".", "_")
             for text, _ in (ETM if isinstance(stream, EtmStream) else ITM)}
    assert {name[3:] for name in dir(stream)
            if name.startswith("_p_")} - {"raw"} <= shown


def test_halves_of_bytes_are_low_ones_first() -> None:
    stream = StmStream({})
    for text in ("d8 0x41", "m8 0x21"):
        stream.add(text)
    assert stream.finish().hex() == "441112"


def test_exact_matches_count_as_new_addresses() -> None:
    stream = EtmStream({})
    for text in ("addr long64 0x1000", "addr short 0x1200",
                 "addr short 0x1004", "addr match 1", "addr match 2"):
        stream.add(text)
    assert stream.history == [0x1200, 0x1200, 0x1004]


def test_a_compression_that_gives_another_address_is_refused() -> None:
    with pytest.raises(AsmError, match="gives"):
        EtmStream({}).add("addr long32 0x123400001000")


def _frames(lines: list[str], framing: str = "memory") -> bytes:
    sources = {0x10: bytes(range(0x20, 0x40)), 0x11: bytes(range(0x80, 0xa0))}
    marks = {name: {"start": 0, "end": 32} for name in sources}
    formatter = Formatter(sources, marks)
    for line in lines:
        formatter.add(line)
    return formatter.finish(framing)


# Source: IHI 0029, "Frame layout": an ID has bit 0 set, at even bytes only;
# the last byte has bit 0 of data, or says that an ID holds a byte later.
@pytest.mark.parametrize(("lines", "want"), [
    (["0x10 0 14"], "21202022222424262628282a2a2c2cfe"),
    (["0x10 0 3", "0x11 0 10"], "212020222380808282848486868888fa"),
    (["0x10 0 2", "0x11 0 11"], "21202321808182838485868788898a02"),
])
def test_frames_are_those_of_the_manual(lines: list[str], want: str) -> None:
    assert _frames(lines).hex() == want
    assert _take_apart(bytes.fromhex(want)) == _wanted(lines)


def _wanted(lines: list[str]) -> list[tuple[int, int]]:
    base = {0x10: 0x20, 0x11: 0x80}
    return [(int(name, 0), base[int(name, 0)] + at)
            for name, first, end in map(str.split, lines)
            for at in range(int(first), int(end))]


def _take_apart(sink: bytes) -> list[tuple[int, int]]:
    """Return (ID, byte) of frames, as the manual tells to."""
    out, current = [], 0
    for at in range(0, len(sink), 16):
        frame = sink[at:at + 16]
        late = None
        for i, byte in enumerate(frame[:15]):
            flag = frame[15] >> i // 2 & 1
            if i % 2 == 0 and byte & 1:
                if flag and i < 14:
                    late = byte >> 1
                else:
                    current = byte >> 1
                continue
            out.append((current, byte if i % 2 else byte | flag))
            if late is not None:
                current, late = late, None
    return [item for item in out if item[0]]


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7])
def test_sources_that_take_turns_come_apart_again(step: int) -> None:
    lines = [f"{name:#x} {at} {min(at + step, 32)}"
             for at in range(0, 32, step) for name in (0x10, 0x11)]
    assert _take_apart(_frames(lines)) == _wanted(lines)


def test_barriers_and_footers_have_their_size() -> None:
    assert _frames(["barrier"]).hex() == "ffffff7f" * 4
    assert len(_frames(["0x10 0 4"], "dstream")) == 512
    assert _frames(["fsync", "hsync 1", "0x10 0 1"], "tpiu").hex()[:16] == (
        "ffffff7f" "2120" "ff7f")


SMALL = """
[case]
name: small
family: cs-good
about: One branch.
source: nowhere
unit: etmv4 TRCCONFIGR=0x801

[code]
org 0x1000
main:   b.ne main

[trace]
sync:   async
        addr.ctx long64 main el=0 ns sf
        atom N

[flow]
s sync
b main 1 a64 main

[rows]
0 context level=0 security=ns
0 enable ip=main
"""


def test_a_case_becomes_files_with_its_registers() -> None:
    files = case_files(read_case(SMALL))
    described = json.loads(files["case.json"])
    sink = described["params"]["coresight"]
    assert sink["framing"] == "none"
    assert sink["sources"][0]["protocol"] == "ETMV4I"
    assert sink["sources"][0]["regs"]["TRCCONFIGR"] == "0x801"
    assert files["expected/flow.txt"] == b"s 0\nb 1000 1 a64 1000\n"
    assert files["trace.etm"][-1:] == b"\xf6"


@pytest.mark.parametrize(("old", "new", "message"), [
    ("a64 main", "t32 main", "is code of a64"),
    ("unit: etmv4", "unit: etmv5", "no such protocol"),
    ("TRCCONFIGR=0x801", "depth=3", "a unit has no"),
    ("[trace]", "[frames]\n0x10 start end\n[trace]", None),
    ("atom N", "atom4 EEEE", "cannot encode"),
    ("level=0", "level=main+", "cannot read"),
])
def test_a_case_that_cannot_be_is_refused(old: str, new: str,
                                          message: str | None) -> None:
    assert old in SMALL
    text = SMALL.replace(old, new)
    if message is None:
        read_case(text)
        return
    with pytest.raises(AsmError, match=message):
        read_case(text)
