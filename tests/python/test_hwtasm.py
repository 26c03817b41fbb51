"""The test-trace assembler: bytes against documents, fixtures against texts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
FIXTURES = TESTS.parent / "fixtures"
sys.path.insert(0, str(TESTS / "tools"))

from hwtasm import AsmError, x86  # noqa: E402
from hwtasm.__main__ import drift, main  # noqa: E402
from hwtasm.casefile import read_case  # noqa: E402
from hwtasm.packets import Stream, ip_restore  # noqa: E402
from hwtasm.program import Program  # noqa: E402
from hwtasm.writer import case_files  # noqa: E402
from hwtasm.x86 import NOPS  # noqa: E402

# Source: Intel SDM vol. 3C, "Packet Definitions".
PACKETS = [
    ("pad", "00"),
    ("pad 3", "000000"),
    ("psb", "0282" * 8),
    ("psbend", "0223"),
    ("ovf", "02f3"),
    ("stop", "0283"),
    ("tnt N", "04"),
    ("tnt T", "06"),
    ("tnt NT", "0a"),
    ("tnt TN", "0c"),
    ("tnt TTNTNT", "ea"),
    ("tnt64", "02a3010000000000"),
    ("tnt64 N", "02a3020000000000"),
    ("tnt64 " + "T" * 47, "02a3ffffffffffff"),
    ("tnt64 " + "N" * 46 + "T", "02a3010000000080"),
    ("tip 0", "0d"),
    ("tip 1 0x1234", "2d3412"),
    ("tip 2 0x12345678", "4d78563412"),
    ("tip 3 0x7f1234567890", "6d90785634127f"),
    ("tip 3 0xffff812345678901", "6d018967452381"),
    ("tip 4 0x123456789abc", "8dbc9a78563412"),
    ("tip 6 0x0123456789abcdef", "cdefcdab8967452301"),
    ("tip.pge 1 0x1234", "313412"),
    ("tip.pge 6 0x0123456789abcdef", "d1efcdab8967452301"),
    ("tip.pgd 0", "01"),
    ("tip.pgd 2 0x12345678", "4178563412"),
    ("fup 0", "1d"),
    ("fup 1 0x1234", "3d3412"),
    ("fup 3 0x100000", "7d000010000000"),
    ("mode.exec 16", "9900"),
    ("mode.exec 64", "9901"),
    ("mode.exec 32", "9902"),
    ("mode.exec 64 if", "9905"),
    ("mode.tsx begin", "9921"),
    ("mode.tsx commit", "9920"),
    ("mode.tsx abort", "9922"),
    ("pip cr3=0x1000", "0243000100000000"),
    ("pip cr3=0x1000 nr", "0243010100000000"),
    ("pip cr3=0xffffffffff000", "024300ffffffffff"),
    ("vmcs 0x123456000", "02c85634120000"),
    ("tsc 0x11223344556677", "1977665544332211"),
    ("tma ctc=0x1234 fc=0x156", "02733412005601"),
    ("mtc 0x7f", "597f"),
    ("cyc 0", "03"),
    ("cyc 1", "0b"),
    ("cyc 31", "fb"),
    ("cyc 32", "0702"),
    ("cyc 4095", "fffe"),
    ("cyc 4096", "070102"),
    ("cyc 1 2", "0f00"),
    ("cyc 0xffffffffffffffff 10", "ffffffffffffffffff0e"),
    ("cyc 3 15", "1f" + "01" * 13 + "00"),
    ("cbr 36", "02032400"),
    ("mnt 0x1122334455667788", "02c3888877665544332211"),
    ("ptw 4 0xcafef00d", "02120df0feca"),
    ("ptw 4 0xcafef00d ip", "02920df0feca"),
    ("ptw 8 1", "02320100000000000000"),
    ("ptw 8 1 ip", "02b20100000000000000"),
    ("exstop", "0262"),
    ("exstop ip", "02e2"),
    ("mwait hints=0x20 ext=1", "02c22000000001000000"),
    ("pwre state=3 sub=1", "02220031"),
    ("pwre state=3 sub=1 hw", "02228031"),
    ("pwrx last=2 deepest=3 wake=1", "02a22301000000"),
    ("bbp type=4 size=4", "026384"),
    ("bbp type=16 size=8", "026310"),
    ("bip id=3 size=4 value=0xcafef00d", "1c0df0feca"),
    ("bip id=31 size=8 value=1", "fc0100000000000000"),
    ("bep", "0233"),
    ("bep ip", "02b3"),
    ("cfe type=1 vector=14", "0213010e"),
    ("cfe type=1 vector=14 ip", "0213810e"),
    ("evd type=0 payload=0xdead0000", "0253000000adde00000000"),
    ("trig vector=0xa1 mult", "d920a1"),
    ("trig vector=0xa1 icnt=0x17", "d940a11700"),
    ("trig vector=0xa1 icnt=0x17 ip mult", "d9e0a11700"),
    ("raw 02 ff 80", "02ff80"),
]

# Bits, our text, the text for the GNU assembler, bytes.
# Source: Intel SDM vol. 2, instruction pages.
INSTRUCTIONS = [
    (64, "jmp here", "jmp here", "ebfe"),
    (64, "jmp near here", "{disp32} jmp here", "e9fbffffff"),
    (64, "jmp rax", "jmp rax", "ffe0"),
    (64, "jmp r11", "jmp r11", "41ffe3"),
    (64, "jmp [rax]", "jmp qword ptr [rax]", "ff20"),
    (64, "jmp [rsp+8]", "jmp qword ptr [rsp+8]", "ff642408"),
    (64, "jmp [rbp]", "jmp qword ptr [rbp]", "ff6500"),
    (64, "jmp [r12]", "jmp qword ptr [r12]", "41ff2424"),
    (64, "jmp [r13+0x1000]", "jmp qword ptr [r13+0x1000]",
     "41ffa500100000"),
    (64, "jmp [here]", "jmp qword ptr [rip+here]", "ff25faffffff"),
    (64, "jmp far [rax]", "jmp fword ptr [rax]", "ff28"),
    (64, "call here", "call here", "e8fbffffff"),
    (64, "call rdx", "call rdx", "ffd2"),
    (64, "call [rbx-1]", "call qword ptr [rbx-1]", "ff53ff"),
    (64, "call far [rbx]", "call fword ptr [rbx]", "ff1b"),
    (64, "jo here", "jo here", "70fe"),
    (64, "jne here", "jne here", "75fe"),
    (64, "jg near here", "{disp32} jg here", "0f8ffaffffff"),
    (64, "loop here", "loop here", "e2fe"),
    (64, "jrcxz here", "jrcxz here", "e3fe"),
    (64, "ret", "ret", "c3"),
    (64, "ret 16", "ret 16", "c21000"),
    (64, "retf", "retf", "cb"),
    (64, "retf 8", "retf 8", "ca0800"),
    (64, "iret", "iretd", "cf"),
    (64, "iretq", "iretq", "48cf"),
    (64, "syscall", "syscall", "0f05"),
    (64, "sysret", "sysretd", "0f07"),
    (64, "sysretq", "sysretq", "480f07"),
    (64, "sysenter", "sysenter", "0f34"),
    (64, "sysexit", ".byte 0x0f, 0x35", "0f35"),
    (64, "int 0x80", "int 0x80", "cd80"),
    (64, "int3", "int3", "cc"),
    (64, "int1", "int1", "f1"),
    (64, "ud2", "ud2", "0f0b"),
    (64, "hlt", "hlt", "f4"),
    (64, "pause", "pause", "f390"),
    (64, "lfence", "lfence", "0faee8"),
    (64, "mfence", "mfence", "0faef0"),
    (64, "cpuid", "cpuid", "0fa2"),
    (64, "rdtsc", "rdtsc", "0f31"),
    (64, "wrmsr", "wrmsr", "0f30"),
    (64, "monitor", "monitor", "0f01c8"),
    (64, "mwait", "mwait", "0f01c9"),
    (64, "vmcall", "vmcall", "0f01c1"),
    (64, "vmlaunch", "vmlaunch", "0f01c2"),
    (64, "vmresume", "vmresume", "0f01c3"),
    (64, "rsm", "rsm", "0faa"),
    (64, "xbegin here", "xbegin here", "c7f8faffffff"),
    (64, "xend", "xend", "0f01d5"),
    (64, "xabort 3", "xabort 3", "c6f803"),
    (64, "xtest", "xtest", "0f01d6"),
    (64, "ptwrite eax", "ptwrite eax", "f30faee0"),
    (64, "ptwrite r9", "ptwrite r9", "f3490faee1"),
    (64, "ptwrite [rcx]", "ptwrite dword ptr [rcx]", "f30fae21"),
    (64, "push rax", "push rax", "50"),
    (64, "push r15", "push r15", "4157"),
    (64, "pop rbp", "pop rbp", "5d"),
    (64, "inc eax", "inc eax", "ffc0"),
    (64, "dec r8", "dec r8", "49ffc8"),
    (64, "xor eax, ecx", "xor eax, ecx", "31c8"),
    (64, "test rax, rax", "test rax, rax", "4885c0"),
    (64, "mov eax, 0x12345678", "mov eax, 0x12345678", "b878563412"),
    (64, "mov r9d, 1", "mov r9d, 1", "41b901000000"),
    (64, "mov rax, 1", "mov rax, 1", "48c7c001000000"),
    (64, "mov rax, rbx", "mov rax, rbx", "4889d8"),
    (64, "mov [rsp], rax", "mov [rsp], rax", "48890424"),
    (64, "mov rax, [rbx]", "mov rax, [rbx]", "488b03"),
    (64, "mov cr3, rax", "mov cr3, rax", "0f22d8"),
    (64, "mov cr3, r8", "mov cr3, r8", "410f22d8"),
    (64, "mov rax, cr3", "mov rax, cr3", "0f20d8"),
    (64, "leave", "leave", "c9"),
    (64, "cli", "cli", "fa"),
    (64, "sti", "sti", "fb"),
    (64, "cmc", "cmc", "f5"),
    (64, "rep movsb", "rep movsb", "f3a4"),
    (64, "endbr64", "endbr64", "f30f1efa"),
    (32, "jmp far 0x33:here", "jmp 0x33:here", "ea000000003300"),
    (32, "call far 0x33:here", "call 0x33:here", "9a000000003300"),
    (32, "jmp far [ebx]", "jmp fword ptr [ebx]", "ff2b"),
    (32, "jmp [0x1000]", "jmp dword ptr ds:0x1000", "ff2500100000"),
    (32, "push eax", "push eax", "50"),
    (32, "inc eax", ".byte 0xff, 0xc0", "ffc0"),
    (32, "mov eax, 1", "mov eax, 1", "b801000000"),
    (16, "jmp near here", "{disp16} jmp here", "e9fdff"),
    (16, "call here", "call here", "e8fdff"),
    (16, "jne near here", "{disp16} jne here", "0f85fcff"),
    (16, "push ax", "push ax", "50"),
    (16, "mov ax, 1", "mov ax, 1", "b80100"),
    (16, "mov eax, 1", "mov eax, 1", "66b801000000"),
]

SMALL = """
[case]
name: small
family: pt-good
about: about
source: source
[code]
org 0x1000
main: jne main
one:  nop
last: nop
[trace]
sync: psb
 fup 1 main
 mode.exec 64
 psbend
 tnt N
bye: fup 1 last
 tip.pgd 0
[flow]
s sync
b main 2 64 one
[rows]
0 mode mode=64
2 disable ip=last reason=async
"""


def assemble(bits: int, text: str) -> bytes:
    """Return the bytes of one instruction at address 0."""
    program = Program(x86)
    program.assemble([(1, f"bits {bits}"), (2, "org 0"),
                      (3, f"here: {text}")])
    return bytes(program.pieces[0][1])


@pytest.mark.parametrize(("text", "want"), PACKETS)
def test_packet_bytes_are_those_of_the_manual(text: str, want: str) -> None:
    stream = Stream({})
    stream.add(text)
    assert stream.data.hex() == want


def test_every_packet_type_has_an_example() -> None:
    names = {name[3:].replace("_", ".") for name in dir(Stream)
             if name.startswith("_p_")}
    assert names <= {text.split()[0] for text, _ in PACKETS}


def test_short_addresses_are_restored_from_the_last_one() -> None:
    last = 0xffff800012345678
    assert ip_restore(1, 0xabcd, last) == 0xffff80001234abcd
    assert ip_restore(2, 0xabcd, last) == 0xffff80000000abcd
    assert ip_restore(3, 0x7fffffffffff, last) == 0x7fffffffffff
    assert ip_restore(3, 0x800000000000, last) == 0xffff800000000000
    assert ip_restore(4, 0x7fffffffffff, last) == 0xffff7fffffffffff
    assert ip_restore(6, 0x1, last) == 1


def test_wrong_compression_is_refused_unless_forced() -> None:
    stream = Stream({"far": 0x500000})
    stream.add("fup 3 far")
    with pytest.raises(AsmError, match="mode 1 gives"):
        stream.add("tip 1 0x600000")
    stream.add("tip 1 0x600000 !")
    stream.add("psb")
    with pytest.raises(AsmError):
        stream.add("tip 1 far")


@pytest.mark.parametrize(("bits", "text", "_gas", "want"), INSTRUCTIONS)
def test_instruction_bytes_are_those_of_the_manual(
        bits: int, text: str, _gas: str, want: str) -> None:
    assert assemble(bits, text).hex() == want


@pytest.mark.skipif(shutil.which("as") is None or
                    shutil.which("objcopy") is None,
                    reason="GNU binutils are not installed")
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_instruction_bytes_are_those_of_gnu_as(
        bits: int, tmp_path: Path) -> None:
    for number, (mode, text, gas, _) in enumerate(INSTRUCTIONS):
        if mode != bits:
            continue
        source, result = tmp_path / f"{number}.s", tmp_path / f"{number}.bin"
        source.write_text(f".intel_syntax noprefix\n.code{bits}\n"
                          f"here: {gas}\n")
        made = subprocess.run(
            ["as", "--64" if bits == 64 else "--32", "-o",
             source.with_suffix(".o"), source],
            capture_output=True, text=True, check=False)
        assert made.returncode == 0, f"{gas}: {made.stderr}"
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text",
                        source.with_suffix(".o"), result], check=True)
        assert assemble(bits, text) == result.read_bytes(), text


def test_nops_have_the_length_they_say() -> None:
    for size, code in NOPS.items():
        assert assemble(64, f"nop {size}").hex() == code
        assert len(code) == 2 * size


def test_a_short_branch_that_does_not_reach_is_refused() -> None:
    program = Program(x86)
    with pytest.raises(AsmError, match="line 2: .*too far"):
        program.assemble([(1, "org 0"), (2, "jmp there"), (3, "org 0x1000"),
                          (4, "there: nop")])


def test_a_case_becomes_files_in_the_corpus_format() -> None:
    files = case_files(read_case(SMALL))
    assert files["expected/flow.txt"] == b"s 0\nb 1000 2 64 1002\n"
    assert files["expected/gaps.txt"] == b""
    assert files["expected/rows.txt"] == (
        b"0 mode mode=64\n2 disable ip=1003 reason=async\n")
    assert files["image.txt"] == b"code.bin 0 4 1000\n"
    assert files["code.bin"] == bytes.fromhex("75fe9090")
    described = json.loads(files["case.json"])
    assert described["counts"]["insns"] == 2
    assert described["files"]["trace.pt"]["size"] == len(files["trace.pt"])


@pytest.mark.parametrize(("old", "new", "message"), [
    ("b main 2 64 one", "b main 3 64 one", "do not end with"),
    ("b main 2 64 one", "b main+1 2 64 one", "no instruction starts"),
    ("b main 2 64 one", "b main 2 32 one", "code of 64"),
    ("b main 2 64 one", "b main 1 64 main\nb one 1 64 one", "goes on"),
    ("b main 2 64 one", "b main 2 64 one\nb main 1 64 main\nb last 1 64 last",
     "goes to 0x1000"),
    ("2 disable", "4 disable", "not beyond"),
    ("2 disable ip=last", "2 disable cr3=1", "no field"),
    ("2 disable", "2 vanish", "no such kind"),
    ("[rows]", "[gaps]\noverflow bye bye\n[rows]", "gap rows"),
    ("[rows]", "[gaps]\nunlucky bye end\n[rows]", "no such gap reason"),
    ("tnt N", "tnt X", "oldest first"),
    ("jne main", "jne nowhere", "no such label"),
    ("[trace]", "[image]\ncode.bin main one\n[trace]", "in no image"),
])
def test_an_impossible_expectation_is_refused(
        old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(AsmError, match=message):
        read_case(SMALL.replace(old, new))


def test_fixtures_are_what_their_texts_say() -> None:
    assert drift(FIXTURES) == []


def test_drift_is_found(tmp_path: Path) -> None:
    place = tmp_path / "pt-good" / "small"
    place.mkdir(parents=True)
    (place / "case.txt").write_text(SMALL)
    assert main(["rebuild", str(tmp_path)]) == 0
    assert main(["check", str(tmp_path)]) == 0
    (place / "trace.pt").write_bytes(b"\x00")
    (place / "extra").write_bytes(b"")
    assert drift(tmp_path) == [
        "pt-good/small/extra: not made by the case text",
        "pt-good/small/trace.pt: differs"]


def test_every_case_is_listed_in_the_readme() -> None:
    readme = (FIXTURES / "README.md").read_text()
    for entry in json.loads((FIXTURES / "index.json").read_text()):
        assert f"`{Path(entry['path']).name}`" in readme


def stored(case: Path, name: str) -> bytes:
    """Return a file of a case, decompressed if it is stored so."""
    if (case / name).is_file():
        return (case / name).read_bytes()
    return subprocess.run(["zstd", "-dcq", case / (name + ".zst")],
                          check=True, capture_output=True).stdout


def executed(data: bytes) -> list[int]:
    """Return the addresses of an executed-address list."""
    out, value, shift, last = [], 0, 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            last += value >> 1 ^ -(value & 1)
            out.append(last & (1 << 64) - 1)
            value = shift = 0
    return out


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd")
@pytest.mark.parametrize("case", sorted(FIXTURES.glob("pt-captured/*")),
                         ids=lambda path: path.name)
def test_captured_truth_agrees_with_itself(case: Path) -> None:
    mask = (1 << 64) - 1
    ips = executed(stored(case, "expected/0.ips"))
    trace = stored(case, "0.pt")
    rows = [line.split() for line in
            stored(case, "expected/0.truth.txt").decode().splitlines()
            if not line.startswith("#")]
    n = value = 0
    for kind, flags, count, want, ip, off, *_ in rows:
        while n < int(count):
            x = ips[n] * 0x9e3779b97f4a7c15 & mask
            value = (value * 0xd6e8feb86659fd93 + (x ^ x >> 29)) & mask
            n += 1
        assert f"{value:016x}" == want
        if kind == "sync":
            assert trace[int(off):int(off) + 16] == bytes.fromhex("0282" * 8)
        if kind == "enable" or flags == "1":
            assert int(ip, 16) == ips[n]
        if kind == "disable":
            assert int(ip, 16) == ips[n - 1]
            assert trace[int(off)] == 0x01
    assert n == len(ips)
    assert int(rows[-1][5]) == len(trace)


def test_packets_alone_need_no_case(tmp_path: Path) -> None:
    """A text of packets becomes their bytes; a mistake names its line."""
    text = tmp_path / "packets.txt"
    out = tmp_path / "packets.pt"
    text.write_text("psb\ntip 3 0x1000  # comment\n\nhere: cyc 1\n")
    assert main(["packets", str(text), str(out)]) == 0
    assert out.read_bytes().hex() == "0282" * 8 + "6d001000000000" + "0b"
    text.write_text("psb\ncyc 4096 2\n")
    assert main(["packets", str(text), str(out)]) == 1
