"""Programs that a compiler makes, run and traced one instruction at a time.

They have no library, so that all of their code is theirs: run() is what they do,
and is called with the number of arguments.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

# Calls run() and ends.  Without debug information, it has no lines.
START = """\
#ifdef __cplusplus
extern "C" {
#endif
int run(int argc);
__attribute__((noreturn, used)) void
begin(long *stack)
{
	long result = run((int)stack[0]);

	__asm__ volatile("syscall" : : "a"(231L), "D"(result));
	__builtin_unreachable();
}
#ifdef __cplusplus
}
#endif
__asm__(".globl _start\\n_start:\\n\\tmov %rsp, %rdi\\n\\tand $-16, %rsp\\n"
	"\\tcall begin\\n");
"""


def is_there(program: str) -> bool:
    """Whether it is; where CI is set it has to be."""
    if shutil.which(program) is not None:
        return True
    assert "CI" not in os.environ, f"{program} is not there"
    return False


def can_trace() -> bool:
    """The tool that traces is of Linux on x86-64."""
    system = os.uname()
    if (system.sysname, system.machine) != ("Linux", "x86_64"):
        return False
    assert "HWTDECODE_PTCAPTURE" in os.environ, "no tool to trace with"
    return True


def build(folder: Path, source: Path, compiler: str, *flags: str,
          pie: bool = False) -> Path:
    """Compile and link; the program."""
    if not pie:
        link = ["-fno-pie", "-static"]
    elif compiler.startswith("clang"):
        link = ["-fpie", "-pie", "-Wl,--no-dynamic-linker"]
    else:
        link = ["-fpie", "-static-pie"]
    start = folder / f"start{source.suffix}"
    start.write_text(START)
    common = ["-fno-stack-protector", "-fcf-protection=none", *link[:1]]
    subprocess.run([compiler, "-O1", "-g0", *common, "-c", start.name, "-o",
                    "start.o"], cwd=folder, check=True)
    program = folder / "program"
    subprocess.run([compiler, "-g", *common, *flags, "-nostdlib", *link,
                    "-Wl,--build-id", "-o", program, source.name, "start.o"],
                   cwd=folder, check=True)
    return program


def segment_of_code(program: Path) -> int:
    """Address of the segment with the code, of its page."""
    table = subprocess.run(["readelf", "-lW", program], capture_output=True,
                           text=True, check=True).stdout
    for line in table.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            return int(words[2], 16) & ~0xFFF
    raise AssertionError("no code")


def capture(program: Path, out: Path, *arguments: str) -> list[str | Path]:
    """Trace a run; what the tool is to be called with for it."""
    subprocess.run([os.environ["HWTDECODE_PTCAPTURE"], "-i", "-r", out,
                    program, *arguments], check=True, capture_output=True)
    maps = (json.loads(line) for line in
            (out / "maps.jsonl").read_text().splitlines())
    at = min(int(m["addr"], 16) for m in maps if m["t"] == "map")
    text = out / "maps.txt"
    text.write_text(
        f"exec {program} bias={at - segment_of_code(program):#x}\n")
    return ["--tech", "pt", "--maps", text, out / "0.pt"]
