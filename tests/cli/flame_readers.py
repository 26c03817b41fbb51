"""What is made of profiles, read by the programs that it is for.

callgrind_annotate comes with valgrind; ./dev test installs pprof into build/pprof,
and what npm has into build/consumers.  What is not there is not asked, but where CI
is set it has to be there.
"""

import gzip
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from runner import PSB, PSBEND, Case

PPROF = os.environ.get("HWTDECODE_PPROF", "")
NPM = Path(os.environ.get("HWTDECODE_CONSUMERS", "")) / "npm/node_modules"

NAMES = [
    "parse", "eval", "std::vector<int>::push_back(int&&)", "alloc; free",
    "operator new(unsigned long)", 'say "hi"', "<T as Trait>::f", "tail 12",
]


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=60, check=False,
        env={**os.environ, "HOME": str(cwd), "PPROF_TMPDIR": str(cwd)})
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.decode()


class Program:
    """Random calls as text of perf, and what each function weighs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.now = 1_000_000_000
        self.stack: list[str] = ["main"]
        self.self_ns: dict[str, int] = {}
        self.total_ns: dict[str, int] = {}
        self.stacks: dict[tuple[str, ...], int] = {}
        self.calls: dict[tuple[str, str], int] = {}
        self.address = {
            name: 0x1000 * (i + 1) for i, name in enumerate(["main"] + NAMES)
        }
        for _ in range(12):
            self.call()

    def branch(self, kind: str, a: tuple[str, int], b: tuple[str, int],
               first: bool = False) -> None:
        ns = 0 if first else self.random.randint(1, 500)
        self.now += ns
        top = self.stack[-1]
        self.self_ns[top] = self.self_ns.get(top, 0) + ns
        key = tuple(self.stack)
        self.stacks[key] = self.stacks.get(key, 0) + ns
        for name in set(self.stack):
            self.total_ns[name] = self.total_ns.get(name, 0) + ns
        sides = [f"{self.address[n] + off:x} {n}+{off:#x} (/bin/p)"
                 for n, off in (a, b)]
        self.lines.append(
            f"7/8 {self.now // 10**9}.{self.now % 10**9:09}: 1 branches:u: "
            f"{kind} {sides[0]} => {sides[1]}")

    def call(self) -> None:
        caller = self.stack[-1]
        callee = self.random.choice(NAMES)
        at = self.random.randrange(0x10, 0x800, 16)
        self.branch("call", (caller, at), (callee, 0), not self.lines)
        self.calls[caller, callee] = self.calls.get((caller, callee), 0) + 1
        self.stack.append(callee)
        if len(self.stack) < 7:
            for _ in range(self.random.randint(0, 3)):
                self.call()
        self.branch("return", (callee, 0x900), (caller, at + 5))
        self.stack.pop()

    def write(self, case: Case) -> None:
        case.write("a", "\n".join(self.lines) + "\n")


def there(program: str | Path | None) -> bool:
    if program is not None and os.path.exists(program):
        return True
    assert "CI" not in os.environ, f"{program} is not there"
    print(f"      not there: {program}")
    return False


def number(text: str) -> int:
    return int(text.replace(",", ""))


def annotated(text: str) -> dict[str, int]:
    """The first number of each function that callgrind_annotate tells."""
    found = {}
    for line in text.splitlines():
        match = re.match(
            r"\s*([\d,]+)(?: \([^)]*\))?(?:\s.*?)?\s{2,}\?\?\?:(.*) \[", line)
        if match:
            found[match[2]] = number(match[1])
    return found


def escaped(name: str) -> str:
    """As folded stacks and callgrind have a name."""
    return name.replace("tail 12", "tail\\x2012")


def test_callgrind_annotate_adds_up_the_same(case: Case) -> None:
    if not there(shutil.which("callgrind_annotate")):
        return
    for seed in range(4):
        program = Program(seed)
        program.write(case)
        case.run("export", "a", "--to=callgrind", "-o", "c").want(0)
        alone = annotated(run("callgrind_annotate", "--threshold=100",
                              case.folder / "c", cwd=case.folder))
        assert alone.pop("[thread 7/8]") == 0
        want = {escaped(k): v for k, v in program.self_ns.items()}
        assert alone == want, (seed, alone, want)
        # Each function calls itself, too, by some way.
        whole = annotated(run("callgrind_annotate", "--threshold=100",
                              "--inclusive=yes", case.folder / "c",
                              cwd=case.folder))
        assert whole.pop("[thread 7/8]") == whole["main"]
        want = {escaped(k): v for k, v in program.total_ns.items()}
        assert whole == want, (seed, whole, want)


def test_callgrind_annotate_knows_callers(case: Case) -> None:
    if not there(shutil.which("callgrind_annotate")):
        return
    program = Program(7)
    program.write(case)
    case.run("export", "a", "--to=callgrind", "-o", "c").want(0)
    text = run("callgrind_annotate", "--threshold=100", "--tree=calling",
               case.folder / "c", cwd=case.folder)
    calls, caller = {}, ""
    for line in text.splitlines():
        match = re.search(r"  ([*>])\s+\?\?\?:(.*?)(?: \((\d+)x\))? \[", line)
        if match and match[1] == "*":
            caller = match[2]
        elif match and not caller.startswith("[thread"):
            calls[caller, match[2]] = int(match[3])
    want = {(escaped(a), escaped(b)): n
            for (a, b), n in program.calls.items()}
    assert calls == want, (calls, want)


def test_pprof_adds_up_the_same(case: Case) -> None:
    if not there(PPROF):
        return
    program = Program(3)
    program.write(case)
    case.run("export", "a", "-o", "c.pb.gz").want(0)
    text = run(PPROF, "-top", "-nodecount=100", "-unit=ns", "-show_from=.",
               "-symbolize=none", "-nodefraction=0", case.folder / "c.pb.gz",
               cwd=case.folder)
    rows = {}
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)(?:ns)?\s+\S+%\s+\S+%\s+(\d+)(?:ns)?"
                         r"\s+\S+%\s+(.*)", line)
        if match:
            rows[match[3].strip()] = (int(match[1]), int(match[2]))
    # It leaves out parameters and templates.
    assert rows["parse"] == (
        program.self_ns["parse"], program.total_ns["parse"]), text
    assert rows["main"] == (
        program.self_ns["main"], program.total_ns["main"]), text
    assert len(rows) == len(NAMES) + 1, text
    raw = run(PPROF, "-raw", "-symbolize=none", case.folder / "c.pb.gz",
              cwd=case.folder)
    for name in NAMES:
        assert name in raw or name.split("(")[0].split("<")[0] in raw, name
    samples = re.findall(r"^ +\d+ +\d+ +\d+ +(\d+) +\d+: ([\d ]+)$", raw,
                         re.M)
    assert sum(int(ns) for ns, _ in samples) == sum(
        program.self_ns.values())
    assert len(samples) == len(program.stacks)
    assert "thread:[7/8]" in raw and "tid:[8]" in raw


def test_folded_has_the_stacks(case: Case) -> None:
    program = Program(5)
    program.write(case)
    out = case.run("flame", "a", "--format=folded").want(0).out
    want = sorted(
        ";".join(escaped(n).replace(";", "\\x3b") for n in stack) + f" {ns}"
        for stack, ns in program.stacks.items() if ns)
    assert sorted(out.splitlines()) == want


def load(cli: Path, folder: Path) -> None:
    """It waits half a second for its other half, and asks to be run again."""
    for patience in range(20):
        try:
            run("node", cli, "load", "c.folded", cwd=folder)
            return
        except AssertionError as why:
            if patience == 19 or "did not become ready" not in str(why):
                raise
            run("node", cli, "stop", "--all", cwd=folder)


def test_profiler_cli_adds_up_folded_stacks(case: Case) -> None:
    cli = NPM / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
    if not there(cli):
        return
    program = Program(8)
    program.write(case)
    case.run("flame", "a", "-o", "c.folded").want(0)
    try:
        load(cli, case.folder)
        text = run("node", cli, "thread", "functions", "--limit=0",
                   cwd=case.folder)
    finally:
        run("node", cli, "stop", "--all", cwd=case.folder)
    found = {}
    for match in re.finditer(
            r"f-\d+\. (.*) - self: ([\d,.]+)\S* .*total: ([\d,.]+)", text):
        found[match[1]] = (number(match[2]), number(match[3]))
    want = {
        escaped(n).replace(";", "\\x3b"): (
            program.self_ns[n], program.total_ns[n])
        for n in program.self_ns
    }
    assert found == want, (found, want, text)


CHECK = """
const [schema, file] = process.argv.slice(2);
const fs = require("fs");
const Ajv = require("ajv").default || require("ajv");
const ajv = new Ajv({strict: false, allErrors: true});
const ok = ajv.validate(JSON.parse(fs.readFileSync(schema)),
                        JSON.parse(fs.readFileSync(file)));
console.log(JSON.stringify(ok ? [] : ajv.errors));
"""


def test_speedscope_has_its_schema(case: Case) -> None:
    program = Program(6)
    program.write(case)
    case.run("flame", "a", "-o", "c.speedscope.json").want(0)
    data = json.loads((case.folder / "c.speedscope.json").read_text())
    frames = [f["name"] for f in data["shared"]["frames"]]
    profile, = data["profiles"]
    stacks: dict[tuple[str, ...], int] = {}
    for sample, weight in zip(profile["samples"], profile["weights"],
                              strict=True):
        stacks[tuple(frames[i] for i in sample)] = weight
    assert stacks == {k: v for k, v in program.stacks.items() if v}
    schemas = sorted(NPM.glob("speedscope/**/file-format-schema*.json"))
    if not there(schemas[0] if schemas else NPM / "speedscope"):
        return
    case.write("check.cjs", CHECK)
    done = subprocess.run(
        ["node", "check.cjs", schemas[0], "c.speedscope.json"],
        cwd=case.folder, capture_output=True, timeout=60, check=True,
        env={**os.environ, "NODE_PATH": str(NPM)})
    assert json.loads(done.stdout) == [], done.stdout


SOURCE = """\
	.globl _start, a, b
	.text
	.type _start, @function
_start:	call a
	call b
	jmp *%rax
	.size _start, . - _start
	.type a, @function
a:	call b
	ret
	.size a, . - a
	.type b, @function
b:	nop
	ret
	.size b, . - b
"""


def tip(header: int, address: int) -> bytes:
    """A packet with 6 bytes of address."""
    return bytes([header | 3 << 5]) + address.to_bytes(8, "little")[:6]


def linked(case: Case, flags: list[str], base: int) -> dict[str, Any]:
    """Build it, and trace it by hand where it was loaded."""
    case.write("p.s", SOURCE)
    run("cc", "-nostdlib", *flags, "-o", "p", "p.s", cwd=case.folder)
    symbols = {}
    for line in run("nm", "p", cwd=case.folder).splitlines():
        symbols[line.split()[2]] = int(line.split()[0], 16)
    load = next(line.split() for line in
                run("readelf", "-lW", "p", cwd=case.folder).splitlines()
                if " R E " in line)
    off, address, size = (int(load[i], 16) for i in (1, 2, 4))
    start, a = base + symbols["_start"], base + symbols["a"]
    raw = PSB + PSBEND + b"\x99\x01" + tip(0x11, start)
    raw += tip(0x0D, a + 5) + tip(0x0D, start + 5) + tip(0x0D, start + 10)
    case.write("raw.pt", raw + b"\x01")
    image = f"--image=p:{off:#x}:{size:#x}@{base + address:#x}"
    return {"symbols": symbols, "off": off, "address": address,
            "words": ["raw.pt", "--tech=pt", image]}


def test_addresses_are_those_of_the_file(case: Case) -> None:
    if shutil.which("cc") is None or os.uname().machine != "x86_64":
        return
    for flags, base in ((["-static", "-no-pie"], 0),
                        (["-static-pie"], 0x55AA00000000)):
        p = linked(case, flags, base)
        a, b = p["symbols"]["a"], p["symbols"]["b"]
        case.run("export", *p["words"], "--to=callgrind", "-o", "c").want(0)
        text = (case.folder / "c").read_text()
        # A name stands where it comes first; then its number will do.
        number = re.search(r"fn=\((\d+)\) a$", text, re.M)
        assert number is not None, text
        assert re.search(rf"^fn=\({number[1]}\)( a)?\n{a:#x} 0 2\n", text,
                         re.M), text
        assert re.search(rf"^calls=1 {b:#x} 0\n{a:#x} 0 2\n", text, re.M)
        case.run("export", *p["words"], "--to=pprof", "-o", "c.gz").want(0)
        raw = gzip.decompress((case.folder / "c.gz").read_bytes())
        assert b"_start" in raw or b"[unknown]" in raw
        if not there(PPROF):
            continue
        raw = run(PPROF, "-raw", "-symbolize=none", "c.gz", cwd=case.folder)
        assert re.search(rf"^ +\d+: {a:#x} M=1 a ", raw, re.M), raw
        assert re.search(rf"^ +\d+: {b:#x} M=1 b ", raw, re.M), raw
        first = p["address"] & ~0xFFF
        assert re.search(
            rf"^1: {first:#x}/{first + 0x1000:#x}/{p['off']:#x} p ", raw,
            re.M), raw
