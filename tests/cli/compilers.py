"""hwtdecode export: profiles for compilers, of programs put together by hand."""

import gzip
import struct

from runner import BRANCHES, MISSING, PSB, PSBEND, Case, Run

# 0: nop; dec %eax; jne 0   5: jmp *%rax
CODE = b"\x90\xff\xc8\x75\xfb\xff\xe0"
AT = 0x401040
LIBRARY_AT = 0x7F0000003040


def elf(kind: int, base: int) -> bytes:
    """A program whose code begins at byte 0x1040, 0x3040 above its base."""
    head = struct.pack("<4s12sHHIQQQIHHHHHH", b"\x7fELF", b"\2\1\1", kind, 62,
                       1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, base, base, 0x100, 0x100, 4096)
    load += struct.pack("<IIQQQQQQ", 1, 5, 0x1040, base + 0x3040,
                        base + 0x3040, len(CODE), len(CODE), 4096)
    return (head + load).ljust(0x1040, b"\0") + CODE


def fup(ip: int) -> bytes:
    return b"\x7d" + ip.to_bytes(6, "little")


def tip(ip: int) -> bytes:
    return b"\x6d" + ip.to_bytes(6, "little")


def start(ip: int) -> bytes:
    return PSB + b"\x99\x01" + fup(ip) + PSBEND


# The loop four times; the library's loop once; to the end of the program's.
WALK = (start(AT) + b"\x3c" + tip(LIBRARY_AT) + b"\x04" + tip(AT + 5)
        + tip(AT) + fup(AT) + b"\x01")
MAPS = """\
exec {folder}/bin/program bias=0
mmap {folder}/bin/program addr=0x401000 len=0x1000 off=0x1000
mmap {folder}/lib/program.so addr=0x7f0000003000 len=0x1000 off=0x1000
"""


def export(case: Case, *words: str, trace: bytes = WALK) -> Run:
    (case.folder / "bin").mkdir(exist_ok=True)
    (case.folder / "lib").mkdir(exist_ok=True)
    case.write("bin/program", elf(2, 0x3FE000))
    case.write("lib/program.so", elf(3, 0))
    case.write("maps", MAPS.format(folder=case.folder))
    case.write("trace.pt", trace)
    return case.run("export", "--tech=pt", "--maps=maps", *words, "trace.pt")


def test_what_is_left_out_is_said(case: Case) -> None:
    run = export(case, "--to=bolt", "-o", "-").want(
        0, err_has="program: 14 instructions; 4 of other images are left out")
    # Where it began to run and where it ended cannot be told apart by counts.
    assert run.out == ("T 401043 401040 401043 3\n"
                       "T 401045 401040 401045 1\n"
                       "T 0 401045 401045 1\n"
                       "B 401045 0 1 0\n")


def test_the_name_of_the_file_tells_the_format(case: Case) -> None:
    for name, first in (("a.preagg", b"T 401043"), ("a.profgen.txt", b"2\n40-"),
                        ("a.afdo.txt", b"3\n3040-3043:3\n"),
                        ("a.legacy.preagg", b"B 401043 401040 3 0\n"),
                        ("a.perf.txt", b"PERF_RECORD_MMAP2 ")):
        run = export(case, "-o", name)
        assert run.code == 0 and run.out == ""
        assert (case.folder / name).read_bytes().startswith(first), name
    export(case, "-o", "a.preagg.gz")
    packed = (case.folder / "a.preagg.gz").read_bytes()
    assert gzip.decompress(packed) == (case.folder / "a.preagg").read_bytes()


def test_another_program_is_named_by_its_path_or_its_last_part(
        case: Case) -> None:
    want = "T 0 3040 3043 1\nB 3045 0 1 0\nF 3045 3045 1\n"
    want = export(case, "--to=bolt", "--program=program.so").want(
        0, err_has="14 of other images").out
    assert want.startswith("T 0 3040 ")
    path = f"--program={case.folder}/lib/program.so"
    assert export(case, "--to=bolt", path).out == want
    export(case, "--to=bolt", "--program=prog").want(
        2, err_has=("--program prog: there is no such image",
                    "hint: 'hwtdecode info --images' lists them"))


def test_a_name_of_two_is_not_enough(case: Case) -> None:
    export(case)
    (case.folder / "b").mkdir()
    case.write("b/program", elf(3, 0))
    case.write("maps", (case.folder / "maps").read_text().replace(
        "lib/program.so", "b/program"))
    case.run("export", "--to=bolt", "--program=program", "--tech=pt",
             "--maps=maps", "trace.pt").want(
        2, err_has=("bin/program, and", "hint: give the whole path"))


def test_gaps_are_told(case: Case) -> None:
    damaged = start(AT) + b"\x0c" + b"\xff" * 32 + WALK
    run = export(case, "--to=bolt", trace=damaged).want(
        0, err_has="1 gap of 3")
    assert "what ran there is not counted" in run.err
    export(case, "--to=bolt", "--max-loss=1", trace=damaged).want(
        3, err_has="gap")
    export(case, "--to=perf-script", "--max-loss=1", trace=damaged).want(
        3, err_has="gap")


def test_times_and_threads_can_be_chosen(case: Case) -> None:
    run = export(case, "--to=bolt", "--tid=7")
    assert run.code == 1 and "nothing was executed" in run.err
    run = export(case, "--to=perf-script", "--tid=7").want(
        0, err_has="nothing of it is in the file")
    assert run.out == ""


def test_depth_of_stacks(case: Case) -> None:
    deep = export(case, "--to=perf-script").want(0).out.splitlines()
    flat = export(case, "--to=perf-script",
                  "--max-depth=2").want(0).out.splitlines()
    assert len(flat) > len(deep) == 3
    export(case, "--to=perf-script", "--max-depth=100000").want(
        1, err_has="100000 branches in a stack; at most 65536")


def test_code_without_an_elf_file_has_no_profile(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("export", "--to=bolt", *code, trace).want(
        1, err_has=("no ELF file", "hint: --program names another"))
    run = case.run("export", "--to=perf-script", *code, trace).want(0)
    assert run.out.startswith("PERF_RECORD_MMAP2 ")


def test_code_that_is_not_there_has_none(case: Case) -> None:
    trace, code = case.trace(MISSING)
    run = case.run("export", "--to=autofdo", *code, trace)
    assert run.code == 1 and "hint:" in run.err


def test_jobs_change_nothing(case: Case) -> None:
    for to in ("bolt", "perf-script", "llvm-unsymbolized", "autofdo"):
        one = export(case, f"--to={to}", trace=WALK * 50).out
        two = export(case, f"--to={to}", "--jobs=3", trace=WALK * 50).out
        assert one == two != ""
