"""What tools for hwt(4) leave behind, of the bytes of other fixtures.

A case names a fixture and what it is made into: the recording of bsdtrace, or raw
bytes with a file of maps.  Its code becomes an ELF file that only these name, and
what is expected is what is expected of the fixture.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

from .case import Case, Fail, Malformed
from .cli import rows_of, run_cli
from .flow import compare_runs, require_no_loss
from .pt_fixtures import compare_gaps
from .spe_fixtures import compare_samples
from .tools import DIFFERS, Tools, decode_file

_PAGE = 4096
_PID = 812
_X86, _ARM = 62, 183
_EXEC, _DYN = 2, 3

_PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete"}
_ARCHS = {"ARCH_V7": "v7", "ARCH_V8": "v8", "ARCH_AA64": "v8.3"}

Code = list[tuple[int, bytes]]


def _code_of(base: Case) -> Code:
    """Return the addresses and bytes of the code of a fixture."""
    found = []
    for line in base.lines("image.txt"):
        name, offset, size, address = line.split()
        start, n = int(offset, 16), int(size, 16)
        data = base.path(name).read_bytes()[start:start + n]
        found.append((int(address, 16), data))
    return sorted(found)


def _elf(code: Code, kind: int, machine: int) -> bytes:
    """Make an ELF file of executable segments."""
    start = (64 + 56 * len(code) + _PAGE - 1) // _PAGE * _PAGE
    heads, body = b"", b""
    for address, data in code:
        body += bytes((address - start - len(body)) % _PAGE)
        heads += struct.pack("<IIQQQQQQ", 1, 5, start + len(body), address,
                             address, len(data), len(data), _PAGE)
        body += data
    head = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 9, kind,
                       machine, 1, 0, 64, 0, 0, 64, 56, len(code), 64, 0, 0)
    return (head + heads).ljust(start, b"\0") + body


class _Made:
    """The files that a case is made into, and how they are opened."""

    def __init__(self, case: Case, base: Case) -> None:
        self.case = case
        self.folder = case.temporary / "made"
        self.folder.mkdir()
        self.code = _code_of(base) if base.has("image.txt") else []
        self.options: list[str] = [f"--root={self.folder}"]

    def program(self, machine: int, moved: bool) -> int:
        """Write the program; return how far it is moved."""
        first = self.code[0][0] // _PAGE * _PAGE
        bias = first - _PAGE if moved else 0
        code = [(address - bias, data) for address, data in self.code]
        (self.folder / "program").write_bytes(
            _elf(code, _DYN if moved else _EXEC, machine))
        return bias

    def maps(self, lines: Sequence[str]) -> None:
        """Write a file of maps."""
        path = self.folder / "maps"
        path.write_text("".join(line + "\n" for line in lines))
        self.options.append(f"--maps={path}")

    def facts(self, form: str, bias: int) -> list[str]:
        """Return the lines that say where the program lies."""
        if form == "exec":
            return [f"pid {_PID}", f"exec /program bias={bias:#x}"]
        starts = [address // _PAGE * _PAGE for address, _ in self.code]
        if form == "mmap":
            return [f"pid {_PID}",
                    *(f"mmap /program addr={at:#x}" for at in starts)]
        if form != "procstat":
            raise Malformed(f"no facts of the form '{form}'")
        return ["  PID              START                END PRT  RES PRES "
                "REF SHD FLAG  TP PATH",
                *(f"{_PID:5} {at:#18x} {at + _PAGE:#18x} r-x    1    3   3   "
                  f"1 CN--- vn /program" for at in starts)]


def _meta(tid: int, params: dict[str, object], records: list[object]) -> str:
    """Return a text as bsdtrace writes it."""
    lines: list[object] = [{"type": "header", "pid": _PID, "tid": tid}]
    mtc = params.get("mtc_freq", -1)
    if isinstance(mtc, int) and mtc >= 0:
        lines.append({"type": "timing", "mtc_freq": mtc, "cyc_thresh": 0})
    lines.append({
        "type": "capture_env", "family": 6, "model": 151, "stepping": 2,
        "cpuid15_eax": params.get("cpuid_0x15_eax", 0),
        "cpuid15_ebx": params.get("cpuid_0x15_ebx", 0),
        "nom_freq": params.get("nom_freq", 0)})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n"
                   for line in [*lines, *records])


def _write_recording(made: _Made, base: Case, trace: bytes, bias: int,
                     threads: int) -> Path:
    """Write a recording of bsdtrace, the same of all threads."""
    records: list[object] = [
        {"type": "exec", "path": "/program", "addr": hex(bias),
         "base": "0x0"},
        *({"type": "thread_create", "tid": tid} for tid in range(threads))]
    for tid in range(threads):
        name = "r" if tid == 0 else f"r-tid{tid}"
        (made.folder / f"{name}.pt").write_bytes(trace)
        (made.folder / f"{name}.meta").write_text(
            _meta(tid, dict(base.section("params")), records))
    return made.folder / "r.pt"


def _import(made: _Made, tools: Tools, options: Sequence[str],
            path: Path) -> Path:
    """Save what is opened, with the code that it names."""
    out = made.folder / "saved.hwt"
    run_cli(tools, made.case, "import", "--embed", *made.options, *options,
            path, "-o", out)
    return out


def _compare_stream(case: Case, base: Case, tools: Tools, saved: Path,
                    stream: int, prefix: str = "") -> str:
    """Compare what one stream executes with the fixture."""
    options = ["--open", "--stream", str(stream)]
    if base.has("expected/0.ips"):
        done = decode_file(tools, saved, [
            *options, "--sequence", str(base.path("expected/0.ips"))])
        if done.returncode == DIFFERS:
            raise Fail((done.stdout.strip().splitlines() or ["differs"])[0])
        return f"{base.section('counts')['0']['insns']} addresses"
    out = {name: case.temporary / f"{stream}.{name}"
           for name in ("runs", "gaps")}
    for name, path in out.items():
        options += [f"--{name}", str(path)]
    decode_file(tools, saved, options)
    gaps = out["gaps"].read_text().splitlines()
    if base.has(f"expected/{prefix}gaps.txt"):
        compare_gaps(base.lines(f"expected/{prefix}gaps.txt"), gaps)
    else:
        require_no_loss(gaps)
    count = compare_runs(base.lines(f"expected/{prefix}flow.txt"),
                         out["runs"].read_text().splitlines())
    return f"{count} runs"


def _run_pt(case: Case, base: Case, tools: Tools) -> str:
    params = case.section("params")
    threads = int(params.get("threads", 1))
    name = "0.pt" if base.has("0.pt") else "trace.pt"
    trace = base.path(name).read_bytes()
    made = _Made(case, base)
    bias = made.program(_X86, bool(params.get("moved")))
    if params["form"] == "bsdtrace":
        path = _write_recording(made, base, trace, bias, threads)
    else:
        for number in range(threads):
            (made.folder / f"dump{number}").write_bytes(trace)
        path = made.folder / "dump"
        made.maps([*made.facts(str(params["form"]), bias),
                   *(f"thread {number} tid={100000 + number}"
                     for number in range(threads))])
    saved = _import(made, tools, [], path)
    said = [_compare_stream(case, base, tools, saved, stream)
            for stream in range(threads)]
    return f"{threads} of {said[0]}"


def _run_coresight(case: Case, base: Case, tools: Tools) -> str:
    sink = base.section("params")["coresight"]
    made = _Made(case, base)
    bias = made.program(_ARM, bool(case.section("params").get("moved")))
    options = ["--tech=coresight", f"--framing={sink['framing']}"]
    ids = []
    for number, source in enumerate(sink["sources"]):
        text = [f"protocol={_PROTOCOLS[str(source['protocol'])]}",
                f"arch={_ARCHS[str(source['arch_ver'])]}",
                f"profile={source['core_profile']}",
                *(f"{k}={v}" for k, v in source["regs"].items())]
        path = made.folder / f"source{number}"
        path.write_text("\n".join(text))
        options.append(f"--etm-config={path}")
        ids.append(int(str(source["regs"]["TRCTRACEIDR"]), 0))
    made.maps([*made.facts(str(case.section("params")["form"]), bias),
               *(f"thread {i - 1} tid={100000 + i}" for i in ids)])
    saved = _import(made, tools, options, base.path("sink.bin"))
    return "; ".join(
        _compare_stream(case, base, tools, saved, number, f"{i:x}.")
        for number, i in enumerate(ids, 1))


def _run_spe(case: Case, base: Case, tools: Tools) -> str:
    made = _Made(case, base)
    made.code = [(_PAGE, bytes(_PAGE))]
    bias = made.program(_ARM, False)
    made.maps(made.facts(str(case.section("params")["form"]), bias))
    rows = rows_of(tools, case, "events", base.path("trace.spe"),
                   ["--tech=spe", *made.options])
    samples = [row for row in rows if row["kind"] == "sample"]
    count = compare_samples(
        [json.loads(line) for line in base.lines("expected/samples.jsonl")],
        samples)
    return f"{count} samples"


def run(case: Case, tools: Tools) -> str:
    """Make the files, open them and compare."""
    name = str(case.section("params")["of"])
    base = Case(case.folder.parent.parent / name, name,
                case.temporary)
    base.verify()
    if base.family.startswith("pt-"):
        return _run_pt(case, base, tools)
    if base.family.startswith("cs-"):
        return _run_coresight(case, base, tools)
    return _run_spe(case, base, tools)
