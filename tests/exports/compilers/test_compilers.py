"""Profiles for compilers, read by those who they are for.

A small program is compiled, single-stepped, and its trace exported; what the tools
make of it is compared with what was executed, and used: the program that comes out
prints the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from truth import Program, run

HERE = Path(__file__).resolve().parent
TOOL = os.environ.get("HWTDECODE_TOOL", "")
CAPTURE = os.environ.get("HWTDECODE_PTCAPTURE", "")
PROFILED = ("-O1", "-g", "-gdwarf-4", "-fdebug-info-for-profiling",
            "-fno-inline")
ALWAYS = ("-ffreestanding", "-fno-stack-protector", "-fcf-protection=none",
          "-nostdlib", "-Wl,--build-id", "-Wl,-q")
KINDS = ("fixed", "moved")


def newest(name: str, lowest: int = 14) -> str:
    """The newest version of a tool of LLVM that is installed."""
    for version in range(30, lowest - 1, -1):
        found = shutil.which(f"{name}-{version}")
        if found:
            return found
    missing(f"{name}, version {lowest} or newer")
    return ""


def missing(what: str) -> None:
    """Skip, but not where everything has to be there."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is not installed")
    pytest.skip(f"{what} is not installed")


def compile_program(clang: str, kind: str, flags: tuple[str, ...],
                    out: Path) -> Path:
    """The program, linked to run anywhere, or where it says."""
    sources = [HERE / "program.c"]
    if kind == "fixed":
        how = ("-fno-pie", "-static", "-Wl,-no-pie")
        sources.append(HERE / "library.c")
    else:
        library = out.parent / "libmix.so"
        run(clang, *PROFILED, *ALWAYS, "-fPIC", "-shared", "-o", library,
            HERE / "library.c")
        # Its segments lie in the file at other places than in memory.
        newest("ld.lld", 19)
        how = ("-fPIE", "-pie", f"-Wl,-rpath,{out.parent}", str(library),
               "-fuse-ld=lld")
    run(clang, *flags, *ALWAYS, *how[:2], "-o", out, *sources, *how[2:])
    return out


class Case:
    """A program, its trace, and profiles made of it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.clang = newest("clang", 19)
        self.program = compile_program(self.clang, kind, PROFILED,
                                       folder / "program")
        self.printed = run(self.program)
        capture = folder / "capture"
        run(CAPTURE, "-r", "-i", "-q", "5000", capture, self.program)
        self.truth = Program(self.program, capture, newest("llvm-objdump"),
                             newest("llvm-nm"))

    def export(self, to: str, *more: object, trace: Path | None = None,
               name: str = "") -> Path:
        """Export the trace; the file."""
        out = self.folder / (name or to)
        run(TOOL, "export", "--to", to, "--tech", "pt", "--maps",
            self.truth.maps, "-o", out, *more, trace or self.truth.trace)
        return out

    def profgen(self, option: str, file: Path, name: str) -> Path:
        """What llvm-profgen makes of a file, as text."""
        out = self.folder / name
        run(newest("llvm-profgen", 19), f"--{option}={file}",
            f"--binary={self.program}", f"--output={out}", "--format=text")
        return out

    def afdo(self, file: Path) -> Path:
        """What create_llvm_prof makes of a file, as text."""
        tool = shutil.which("create_llvm_prof")
        if tool is None:
            missing("autofdo")
        out = self.folder / "afdo.prof"
        run(tool, "--profiler=text", f"--profile={file}",
            f"--binary={self.program}", f"--out={out}", "--format=text")
        return out


@pytest.fixture(scope="module", params=KINDS)
def case(request: pytest.FixtureRequest,
         tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A program that is not moved, and one that is."""
    if not TOOL or not CAPTURE:
        pytest.skip("run by ctest")
    return Case(request.param, tmp_path_factory.mktemp(request.param))


class Profile:
    """A sample profile as text."""

    def __init__(self, path: Path) -> None:
        self.totals: Counter[str] = Counter()
        self.heads: Counter[str] = Counter()
        self.targets: dict[str, Counter[str]] = {}
        name = ""
        for line in path.read_text().splitlines():
            match = re.match(r"(\S+):(\d+):(\d+)$", line)
            if match:
                name = match[1]
                self.totals[name] = int(match[2])
                self.heads[name] = int(match[3])
                self.targets[name] = Counter()
                continue
            for callee, count in re.findall(r" (\w+):(\d+)", line):
                self.targets[name][callee] += int(count)


def without_start(sums: Counter[str]) -> Counter[str]:
    """Without what is not of a compiler, and so has no lines."""
    return Counter({name: n for name, n in sums.items()
                    if n and name not in ("_start", "None")})


def check_profgen(case: Case, path: Path) -> None:
    """Counts are those of what was executed."""
    profile, truth = Profile(path), case.truth
    assert profile.totals == without_start(truth.bytes_by_function())
    assert +profile.heads == without_start(truth.heads_by_function())
    assert profile.targets["run"] == without_start(truth.calls("run"))
    assert profile.targets["run"]["often"] > 600


def test_profgen_counts_what_was_executed(case: Case) -> None:
    file = case.export("llvm-unsymbolized")
    check_profgen(case, case.profgen("unsymbolized-profile", file, "u.prof"))


@pytest.mark.parametrize("depth", (16, 1024))
def test_profgen_counts_the_same_of_stacks_of_branches(
        case: Case, depth: int) -> None:
    file = case.export("perf-script", "--max-depth", depth,
                       name=f"script-{depth}")
    check_profgen(case, case.profgen("perfscript", file, "p.prof"))
    text = file.read_text()
    assert all(len(line.split()) <= 2 * depth + 1
               for line in text.splitlines() if "PERF_RECORD" not in line)
    assert (f"{case.program}\n" in text) and text.startswith("PERF_RECORD")


def test_profgen_counts_the_same_of_branches_of_the_program(
        case: Case) -> None:
    file = case.export("perf-script", "--program", "program", name="own")
    check_profgen(case, case.profgen("perfscript", file, "own.prof"))
    assert "libmix" not in file.read_text()


def test_profdata_shows_the_profile(case: Case) -> None:
    file = case.export("llvm-unsymbolized")
    profile = case.profgen("unsymbolized-profile", file, "d.prof")
    shown = run(newest("llvm-profdata", 19), "show", "--sample", profile)
    total = case.truth.bytes_by_function()["run"]
    assert f"Function: run: {total}, 1," in shown


def test_clang_optimises_by_the_profile(case: Case) -> None:
    file = case.export("llvm-unsymbolized")
    profile = case.profgen("unsymbolized-profile", file, "c.prof")
    use = ("-O2", "-g", "-gdwarf-4", f"-fprofile-sample-use={profile}")
    ir = case.folder / "program.ll"
    run(case.clang, *use, *ALWAYS[:3], "-S", "-emit-llvm", "-o", ir,
        HERE / "program.c")
    text = ir.read_text()
    heads = case.truth.heads_by_function()
    # Some versions take a function to have been called once more.
    entry = dict(re.findall(r'!(\d+) = !\{!"function_entry_count", i64 (\d+)',
                            text))
    for name in ("run", "often", "seldom"):
        match = re.search(rf"define [^\n]*@{name}\([^\n]*!prof !(\d+)", text)
        assert match is not None
        assert int(entry[match[1]]) - heads[name] in (0, 1)
    # The hot function has the branches of its loop weighed.
    assert text.count('"branch_weights"') >= 5
    out = compile_program(case.clang, case.kind, use,
                          case.folder / "optimised")
    assert run(out) == case.printed


def test_autofdo_counts_what_was_executed(case: Case) -> None:
    truth = case.truth
    profile = Profile(case.afdo(case.export("autofdo")))
    # Of a branch that is taken it counts one byte.
    sums = truth.bytes_by_function()
    for ip in [a for _, a, _ in truth.taken()] + [truth.ips[-1]]:
        if ip is not None:
            sums[str(truth.function(ip))] -= truth.lengths[ip] - 1
    assert profile.totals == without_start(sums)
    # Branches from elsewhere, or from what has no lines, are none to it.
    heads: Counter[str] = Counter()
    entry = {start: name for start, _, name in truth.functions}
    for _, a, b in truth.taken():
        if b in entry and a is not None and truth.function(a) != "_start":
            heads[entry[b]] += 1
    for name in ("often", "seldom", "weigh", "pass_on", "finish"):
        assert profile.heads[name] == heads[name] > 0
    assert profile.targets["run"] == without_start(truth.calls("run"))


def test_clang_reads_what_autofdo_makes(case: Case) -> None:
    profile = case.afdo(case.export("autofdo"))
    out = compile_program(
        case.clang, case.kind,
        ("-O2", "-g", f"-fprofile-sample-use={profile}"),
        case.folder / "afdo-optimised")
    assert run(out) == case.printed


def bolt(case: Case, to: str, version: int) -> None:
    """Rewrite the program by a profile."""
    perf2bolt = newest("perf2bolt", version)
    llvm_bolt = newest("llvm-bolt", version)
    file, data = case.export(to), case.folder / f"{to}.fdata"
    said = run(perf2bolt, "-pa", "-p", file, "-o", data, case.program)
    lines = len(file.read_text().splitlines())
    assert f"read {lines} aggregated" in said
    assert "function contents: 0 (0.0%)" in said
    assert "unknown regions: 0 (0.0%)" in said
    out = case.folder / f"{to}-program"
    said = run(llvm_bolt, case.program, "-o", out, f"-data={data}",
               "-reorder-blocks=ext-tsp", "-reorder-functions=cdsort",
               "-split-functions", "-print-cfg", stderr=subprocess.STDOUT)
    assert re.search(r"modified layout of [1-9]", said)
    check_blocks(case, said)
    assert run(out) == case.printed


def check_blocks(case: Case, said: str) -> None:
    """Blocks have the counts of their instructions.

    The program ends in the middle of some: what is behind the last call of each
    function that had not returned.
    """
    starts = {name: start for start, _, name in case.truth.functions}
    start, count = None, 0
    n = 0
    for line in said.splitlines():
        function = re.match(r'Binary Function "([^"/(]+)', line)
        executed = re.match(r"  Exec Count : (\d+)", line)
        insn = re.match(r"    ([0-9a-f]{8}): ", line)
        if function:
            start = starts.get(function[1])
        elif line.startswith("."):
            count = 0
        elif executed:
            count = int(executed[1])
        elif insn and start is not None:
            ip = start + int(insn[1], 16)
            n += case.truth.counts[ip] == count
            assert case.truth.counts[ip] == count or (
                case.truth.counts[ip] == count - 1 and
                case.truth.function(ip) in ("_start", "start", "system_call"))
        if line.startswith("End of Function"):
            start = None
    # All that was executed, but for a few that BOLT leaves alone.
    assert n >= 0.8 * len(case.truth.counts)


def test_bolt_rewrites_the_program(case: Case) -> None:
    bolt(case, "bolt", 22)


def test_bolt_rewrites_the_program_by_what_old_versions_read(
        case: Case) -> None:
    bolt(case, "bolt-legacy", 22)


def ranges(path: Path) -> list[tuple[int, int, int]]:
    """Ranges of an unsymbolized profile."""
    lines = path.read_text().splitlines()
    found = []
    for line in lines[1:1 + int(lines[0])]:
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+):(\d+)$", line)
        assert match is not None
        found.append((int(match[1], 16), int(match[2], 16), int(match[3])))
    return found


def counts_of(case: Case, path: Path) -> Counter[int]:
    """How often each instruction was executed, by the ranges."""
    code = next(s for s in case.truth.segments if s.flags & 1)
    base = code.vaddr & ~0xFFF
    sums: Counter[int] = Counter()
    for first, last, count in ranges(path):
        at = first + base
        while at <= last + base:
            sums[at] += count
            # A range that is not of instructions is found here.
            at += case.truth.lengths[at]
        assert at == last + base + case.truth.lengths[last + base]
    return sums


def test_each_instruction_has_its_count(case: Case) -> None:
    file = case.export("llvm-unsymbolized")
    assert counts_of(case, file) == case.truth.counts


def damage(case: Case, percent: int) -> Path:
    """The trace with some bytes from there on overwritten."""
    data = bytearray(case.truth.trace.read_bytes())
    at = len(data) * percent // 100
    data[at:at + 64] = b"\xff" * 64
    out = case.folder / "damaged.pt"
    out.write_bytes(data)
    return out


@pytest.mark.parametrize("percent", (20, 45, 70))
def test_nothing_is_made_up_in_a_gap(case: Case, percent: int) -> None:
    trace = damage(case, percent)
    file = case.export("llvm-unsymbolized", trace=trace, name="gap-u")
    told = counts_of(case, file)
    assert 0 < told.total() < case.truth.counts.total()
    assert all(told[ip] <= case.truth.counts[ip] for ip in told)
    script = case.export("perf-script", trace=trace, name="gap-p")
    a = Profile(case.profgen("unsymbolized-profile", file, "gap-u.prof"))
    b = Profile(case.profgen("perfscript", script, "gap-p.prof"))
    assert a.totals == b.totals
    # Where a gap ends at the begin of a function only stacks tell of it.
    assert all(0 <= b.heads[n] - a.heads[n] <= 2 for n in b.heads)
    for to in ("bolt", "bolt-legacy"):
        profile = case.export(to, trace=trace, name=f"gap-{to}")
        said = run(newest("perf2bolt", 22), "-pa", "-p", profile, "-o",
                   case.folder / "gap.fdata", case.program)
        assert "function contents: 0 (0.0%)" in said


def test_an_archive_needs_no_files(case: Case) -> None:
    archive = case.folder / "archive.hwt"
    run(TOOL, "archive", "--tech", "pt", "--maps", case.truth.maps, "-o",
        archive, case.truth.trace)
    want = case.export("bolt").read_text()
    away = case.program.rename(case.folder / "away")
    try:
        got = run(TOOL, "export", "--to", "bolt", archive)
    finally:
        away.rename(case.program)
    assert got == want


def test_other_images_are_exported_by_name(case: Case) -> None:
    if case.kind == "fixed":
        done = subprocess.run(
            [TOOL, "export", "--to", "bolt", "--program", "libmix.so",
             "--tech", "pt", "--maps", case.truth.maps, case.truth.trace],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert "there is no such image" in done.stderr
        return
    out = case.export("bolt", "--program", "libmix.so", name="library")
    library = case.folder / "libmix.so"
    entry = next(int(line.split()[0], 16) for line in
                 run(newest("llvm-nm"), library).splitlines()
                 if line.endswith(" mix"))
    # The program calls it; it calls the program back.
    assert re.search(rf"^T 0 {entry:x} [0-9a-f]+ 21$", out.read_text(), re.M)
    assert re.search(r"^B [0-9a-f]+ 0 21 0$", out.read_text(), re.M)
    assert re.search(r"^R 0 [0-9a-f]+ [0-9a-f]+ 21$", out.read_text(), re.M)
