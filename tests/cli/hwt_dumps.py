"""What tools for hwt(4) leave behind: bsdtrace's files, and raw bytes with maps.

Code and packets are those of fixtures, and so is what was executed.
"""

import json
import struct
from pathlib import Path

from coresight import open_words
from runner import Case

PAGE = 4096
LOOP = "pt-good/interrupt-in-a-loop-comes-back-to-the-loop"
# It calls and returns in three functions.
CALLS = "pt-good/compressed-return-goes-behind-its-call"


def segments(folder: Path) -> list[tuple[int, bytes]]:
    """Addresses and bytes of the code of a fixture."""
    found = []
    for line in (folder / "image.txt").read_text().splitlines():
        name, offset, size, address = line.split()
        begin, n = int(offset, 16), int(size, 16)
        code = (folder / name).read_bytes()[begin : begin + n]
        found.append((int(address, 16), code))
    return sorted(found)


def elf(code: list[tuple[int, bytes]], kind: int, machine: int = 62,
        interpreter: str = "") -> bytes:
    """An ELF file: kind 2 is ET_EXEC, 3 is ET_DYN.  All code is executable."""
    heads, body = b"", b""
    count = len(code) + (interpreter != "")
    start = (64 + 56 * count + PAGE - 1) // PAGE * PAGE
    if interpreter:
        path = interpreter.encode() + b"\0"
        heads += struct.pack("<IIQQQQQQ", 3, 4, start, 0, 0, len(path),
                             len(path), 1)
        body += path
    for address, data in code:
        at = start + len(body)
        body += bytes((address - at) % PAGE)
        at = start + len(body)
        body += data
        heads += struct.pack("<IIQQQQQQ", 1, 5, at, address, address,
                             len(data), len(data), PAGE)
    head = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 9,
                       kind, machine, 1, 0, 64, 0, 0, 64, 56, count, 64, 0, 0)
    return (head + heads).ljust(start, b"\0") + body


def runs(folder: Path, name: str = "flow.txt") -> list[tuple[int, int, int]]:
    """First address, number of instructions and last address of each run."""
    lines = (folder / "expected" / name).read_text().splitlines()
    words = [line.split() for line in lines if line.startswith("b ")]
    return [(int(w[1], 16), int(w[2]), int(w[4], 16)) for w in words]


def want_runs(case: Case, want: list[tuple[int, int, int]],
              *words: str | Path) -> list[dict[str, object]]:
    """The tool tells these runs, and no others."""
    rows = [row for row in case.run("insns", "--format=jsonl",
                                    *words).want(0).objects()
            if row["kind"] == "insn"]
    at = 0
    for first, count, last in want:
        told = [int(row["ip"], 16) for row in rows[at : at + count]]
        assert len(told) == count, (words, at, count, len(told))
        assert (told[0], told[-1]) == (first, last), (
            words, at, hex(told[0]), hex(told[-1]))
        at += count
    assert at == len(rows), (words, at, len(rows))
    return rows


def meta_line(**fields: object) -> str:
    """A line as bsdtrace writes it."""
    return json.dumps(fields, separators=(",", ":"))


HEADER = meta_line(type="header", pid=1234, tid=0)


def put_meta(case: Case, name: str, *lines: str) -> None:
    case.write(name, "".join(line + "\n" for line in lines))


def good_cases(case: Case) -> list[Path]:
    """Fixtures of Intel PT that have one place for all of their code."""
    found = []
    for path in sorted((case.fixtures / "pt-good").iterdir()):
        params = json.loads((path / "case.json").read_text())["params"]
        flow = (path / "expected" / "flow.txt").read_text()
        code = segments(path)
        apart = all(a[0] + len(a[1]) <= b[0] for a, b in zip(code, code[1:]))
        pages = {address // PAGE for address, _ in code}
        if ("ip_filter" not in params and apart and "x " not in flow and
                len(pages) == len(code) and code and
                code[-1][0] < 1 << 47):
            found.append(path)
    return found


def test_program_of_bsdtrace_is_decoded(case: Case) -> None:
    folders = good_cases(case)
    assert len(folders) > 20, folders
    for folder in folders:
        case.write("p", elf(segments(folder), 2))
        case.write("r.pt", (folder / "trace.pt").read_bytes())
        put_meta(case, "r.meta", HEADER,
                 meta_line(type="capture_env", family=6, model=142,
                           stepping=10, cpuid15_eax=2, cpuid15_ebx=250,
                           nom_freq=30),
                 meta_line(type="thread_create", tid=0),
                 # Of a program that is not moved the kernel tells 0.
                 meta_line(type="exec", path="./p", addr="0x0", base="0x0"))
        for name in ("r.pt", "r.meta"):
            rows = want_runs(case, runs(folder), name)
        assert all(row["pid"] == 1234 for row in rows), folder
        # The same bytes with a file of maps.
        case.write("maps", "pid 77\nexec ./p bias=0\n")
        rows = want_runs(case, runs(folder), "--tech=pt", "--maps=maps",
                         "r.pt")
        assert all(row["pid"] == 77 for row in rows), folder


def moved_program(case: Case, folder: Path) -> tuple[int, int]:
    """p: a program that is linked for 0x1000 and runs where it was traced."""
    code = segments(folder)
    bias = code[0][0] // PAGE * PAGE - 0x1000
    case.write("p", elf([(a - bias, data) for a, data in code], 3))
    case.write("r.pt", (folder / "trace.pt").read_bytes())
    return bias, code[0][0] // PAGE * PAGE


def test_mapping_names_the_start_of_the_code(case: Case) -> None:
    """Kernels tell no length and no offset, and leave `base` to chance."""
    folder = case.fixtures / CALLS
    bias, start = moved_program(case, folder)
    put_meta(case, "r.meta", HEADER,
             meta_line(type="mmap", path="./p", addr=hex(start),
                       base="0xdeadbeef"))
    want_runs(case, runs(folder), "r.meta")
    # 5BSD tells all of it.
    put_meta(case, "r.meta", HEADER,
             meta_line(type="mmap", path="./p", addr=hex(start), base="0x0",
                       pgoff=hex(PAGE), len=hex(PAGE)))
    want_runs(case, runs(folder), "r.meta")
    for maps in (f"exec ./p bias={bias:#x}\n",
                 f"mmap ./p addr={start:#x}\n",
                 f"mmap ./p addr={start} len=4096 off=0x1000 # all of it\n",
                 f"load ./p addr={start:#x}\n", f"interp ./p addr={start:#x}\n",
                 f'mmap "./p" addr="{start:#x}"\n'):
        case.write("maps", "# where it lay\n\npid 5\n" + maps)
        want_runs(case, runs(folder), "--tech=pt", "--maps=maps", "r.pt")
        # Nobody has to tell whose it is.
        case.write("maps", maps)
        want_runs(case, runs(folder), "--tech=pt", "--maps=maps", "r.pt")
        want_runs(case, runs(folder), "--tech=pt", "--stream-pid=8",
                  "--maps=maps", "r.pt")


def test_dynamic_linker_lies_at_its_base(case: Case) -> None:
    """No record names it: its path is in the program."""
    folder = case.fixtures / CALLS
    code = segments(folder)
    base = code[0][0] // PAGE * PAGE
    linker = case.write("rtld", elf([(a - base, data) for a, data in code], 3))
    case.write("p", elf([(0x1000, b"\xc3")], 3, interpreter=str(linker)))
    case.write("r.pt", (folder / "trace.pt").read_bytes())
    put_meta(case, "r.meta", HEADER,
             meta_line(type="exec", path="./p", addr="0x7f0000000000",
                       base=hex(base)))
    want_runs(case, runs(folder), "r.meta")
    case.write("maps", f"exec ./p bias=0x7f0000000000 interp={base:#x}\n")
    want_runs(case, runs(folder), "--tech=pt", "--maps=maps", "r.pt")
    # Kernels of 2023 had a record for it.
    put_meta(case, "r.meta", HEADER,
             meta_line(type="exec", path="./p", addr="0x7f0000000000",
                       base="0x0"),
             meta_line(type="interp", path="./rtld", addr=hex(base)))
    want_runs(case, runs(folder), "r.meta")


def test_new_program_takes_the_place_of_the_old_one(case: Case) -> None:
    folder = case.fixtures / CALLS
    code = segments(folder)
    # The first one lies there as well, and does something else.
    case.write("old", elf([(a, b"\x90" * len(data)) for a, data in code], 2))
    case.write("p", elf(code, 2))
    case.write("r.pt", (folder / "trace.pt").read_bytes())
    put_meta(case, "r.meta", HEADER,
             meta_line(type="exec", path="./old", addr="0x0", base="0x0"),
             meta_line(type="exec", path="./p", addr="0x0", base="0x0"))
    want_runs(case, runs(folder), "r.meta")


def test_unmapping_of_an_unknown_place_changes_nothing(case: Case) -> None:
    folder = case.fixtures / CALLS
    _, start = moved_program(case, folder)
    put_meta(case, "r.meta", HEADER,
             meta_line(type="mmap", path="./p", addr=hex(start), base="0x0"),
             # Most kernels forget where it was.
             meta_line(type="munmap"), meta_line(type="munmap", addr="0x0"))
    want_runs(case, runs(folder), "r.meta")
    kinds = [row["record_type"] for row in case.run(
        "records", "--format=jsonl", "r.meta").want(0).objects()]
    assert kinds == ["mmap", "munmap", "munmap"], kinds


def test_tables_are_pasted_in(case: Case) -> None:
    folder = case.fixtures / CALLS
    _, start = moved_program(case, folder)
    end = start + PAGE
    case.write(
        "maps",
        "  PID              START                END PRT  RES PRES REF SHD "
        "FLAG  TP PATH\n"
        f" 4711 {start - PAGE:#18x} {start:#18x} r--    1    3   3   1 "
        "CN--- vn ./p\n"
        f" 4711 {start:#18x} {end:#18x} r-x    1    3   3   1 CN--- vn ./p\n"
        " 4711     0x7ffffffdf000     0x7ffffffff000 rw-    3    3   1   0 "
        "---D- sw \n"
        " 4711     0x7ffffffff000     0x800000000000 r-x    1    1  33   0 "
        "----- ph \n"
        "\n"
        "Id Refs Address                Size Name\n"
        " 1   17 0xffffffff80200000  1f3c6e0 kernel\n"
        " 2    1 0xffffffff82319000     3218 intpm.ko\n"
    )
    rows = want_runs(case, runs(folder), "--tech=pt", "--maps=maps",
                     "r.pt")
    assert rows[0]["pid"] == 4711
    records = case.run("records", "--tech=pt", "--maps=maps",
                       "--format=jsonl", "r.pt").want(0).objects()
    assert [row["record_type"] for row in records] == ["mmap", "kernel", "kernel"]
    assert records[0]["length"] == PAGE and records[0]["pid"] == 4711
    assert records[2]["name"] == "intpm.ko"
    assert records[2]["address"] == "0xffffffff82319000"


def test_threads_of_a_recording_are_streams(case: Case) -> None:
    folder = case.fixtures / CALLS
    code, trace = segments(folder), (folder / "trace.pt").read_bytes()
    case.write("p", elf(code, 2))
    text = (HEADER, meta_line(type="exec", path="./p", addr="0x0", base="0x0"),
            meta_line(type="thread_create", tid=0),
            meta_line(type="thread_create", tid=1),
            meta_line(type="thread_create", tid=12))
    put_meta(case, "r.meta", *text)
    for name in ("r.pt", "r-tid1.pt", "r-tid12.pt"):
        case.write(name, trace)
    # The records of the first one again: they must not start the program anew.
    put_meta(case, "r-tid1.meta", meta_line(type="header", pid=1234, tid=1),
             *text[1:])
    case.write("r-tid01.pt", b"not a thread")
    case.write("r-tidx.pt", b"nor this")
    rows = want_runs(case, runs(folder) * 3, "r.pt")
    assert sorted({row["tid"] for row in rows}) == [0, 1, 12]
    info = case.run("info", "--format=jsonl", "r.meta").want(0).objects()
    names = [row["name"] for row in info if row["type"] == "stream"]
    assert names == ["r.pt", "r-tid1.pt", "r-tid12.pt"]
    one = want_runs(case, runs(folder), "r-tid1.pt")
    assert {row["tid"] for row in one} == {1}
    # Saved, it is one file.
    case.run("import", "--embed", "r.pt", "-o", "r.hwt").want(0)
    want_runs(case, runs(folder) * 3, "r.hwt")
    # The names that hwt(8) gives.
    for number in (0, 3, 10):
        case.write(f"dump{number}", trace)
    case.write("maps", "pid 9\nexec ./p bias=0\nthread 0 tid=100200\n"
               'thread 10 tid=100210 name="the third"\n')
    rows = want_runs(case, runs(folder) * 3, "--maps=maps", "dump")
    assert sorted({row["tid"] for row in rows}) == [3, 100200, 100210]
    rows = want_runs(case, runs(folder), "--maps=maps", "--thread=10",
                     "dump10")
    assert {row["tid"] for row in rows} == {100210}
    case.write("maps", "pid 9\nexec ./p bias=0\nnumbers cpus\n")
    rows = want_runs(case, runs(folder) * 3, "--maps=maps", "dump")
    assert sorted({row["cpu"] for row in rows}) == [0, 3, 10]
    case.run("info", "--split-at=8", "dump").want(1, err_has="open one of")
    case.run("info", "dum").want(1, err_has="No such file")


def test_frames_have_sources_and_maps(case: Case) -> None:
    """hwt(8) writes what an ETR holds, with the number of a thread + 1 as ID."""
    folder = case.fixtures / "cs-good" / "ids-at-every-byte-of-a-frame"
    words = open_words(case, folder)
    code = segments(folder)
    case.write("p", elf(code, 2, 183))
    words = [word for word in words if not word.startswith("--image=")]
    case.write("maps", "pid 31\nexec ./p bias=0\nthread 15 tid=100015\n")
    plain = case.run("insns", "--format=jsonl", *words).want(0).objects()
    assert not [row for row in plain if row["kind"] == "insn"]
    want = [run for path in sorted((folder / "expected").glob("*flow.txt"))
            for run in runs(folder, path.name)]
    rows = want_runs(case, want, "--maps=maps", *words)
    assert {row["pid"] for row in rows} == {31}
    assert 100015 in {row.get("tid") for row in rows}


def test_samples_have_names_of_maps(case: Case) -> None:
    branch = bytes.fromhex(
        "4a01 b10000000000000080 4242 b00010000000000080 980000"
        "71803ef746e9010000")
    case.write("p", elf([(0x1000, bytes(64))], 2, 183))
    case.write("a.spe", branch)
    case.write("maps", "pid 6\nexec ./p bias=0\n")
    row = case.run("events", "--tech=spe", "--maps=maps", "--format=jsonl",
                   "a.spe").want(0).objects()[0]
    assert row["kind"] == "sample" and row["ip"].endswith("1000")


def test_damaged_lines_are_damage(case: Case) -> None:
    folder = case.fixtures / CALLS
    case.write("p", elf(segments(folder), 2))
    case.write("r.pt", (folder / "trace.pt").read_bytes())
    put_meta(case, "r.meta", HEADER, "{broken",
             meta_line(type="exec", path="./p", addr="0x0", base="0x0"),
             meta_line(type="novelty", much=1), '{"type":"mma')
    want_runs(case, runs(folder), "r.meta")
    done = case.run("check", "--format=jsonl", "r.pt")
    damage = [row for row in done.objects() if row["type"] == "damage"]
    assert [row["text"] for row in damage] == [
        "r.meta: line 2: byte 2: no string begins",
        "r.meta: line 4: novelty is no known type",
        "r.meta: line 5: byte 13: a string has no end",
    ], damage
    first = len(HEADER) + 1
    assert (damage[0]["file_first"], damage[0]["file_end"]) == (first, first + 7)


def test_files_that_are_missing_are_told(case: Case) -> None:
    put_meta(case, "r.meta", HEADER)
    case.run("info", "r.meta").want(1, err_has="r.pt")
    case.write("r.pt", b"\0" * 16)
    put_meta(case, "r.meta", HEADER,
             meta_line(type="exec", path="gone", addr="0x0", base="0x0"))
    case.run("info", "r.pt").want(0, out_has="gone")
    case.run("info", "--tech=pt", "--maps=none", "r.pt").want(
        1, err_has="none")
    case.run("info", "--maps=r.meta", "r.pt").want(
        0, err_has="--maps describes raw bytes and is not used")


def test_maps_say_what_is_wrong(case: Case) -> None:
    case.write("r.pt", b"\0" * 16)
    for text, said in (
            ("exec p\n", "line 1: bias= is missing; expected exec PATH bias="),
            ("pid 1\n\nmmap p adr=1\n", "line 3: 'adr' is not known"),
            ("mmap ./p addr=x\n", "addr= has 'x', which is no number"),
            ("what is this\n", "line 1: 'what' is not known; expected exec"),
            ('exec "p bias=0\n', "a quote has no end"),
            ("1 2 3\n", "column 4 is missing; expected a line of procstat"),
    ):
        case.write("maps", text)
        case.run("info", "--tech=pt", "--maps=maps", "r.pt").want(
            4, err_has=("maps: line", said))
    case.write("maps", "pid 1\n")
    case.run("import", "--tech=pt", "--maps=maps", "r.pt", "-o",
             "maps").want(2, err_has="maps")
