"""Make the files that examples of manual pages name, in the current folder.

usage: shown_files.py PAGE

Programs are compiled here and traced by ptcapture, which PTCAPTURE names; samples,
sinks and what perf records are fixtures, below FIXTURES.  What "record" does is told
to the simulated kernel by sim.script and spe.script.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS.parent / "cli"), str(TOOLS.parent / "conformance")]
os.environ.setdefault("HWTDECODE_SIMULATED", "unused")
os.environ.setdefault("HWTDECODE_SIMULATED_EXAMPLE", "unused")

import simulated  # noqa: E402
import snapshots  # noqa: E402
import traced_program  # noqa: E402
from families.hwt_raw import _elf as elf_of_code  # noqa: E402
from runner import Case  # noqa: E402

FIXTURES = Path(os.environ["FIXTURES"])

PROGRAM = """\
static volatile unsigned long done;

__attribute__((noinline)) static unsigned
parse(unsigned text)
{
	unsigned words = 0;

	while (text > 0) {
		if (text & 1)
			words++;
		text >>= 1;
	}
	return (words);
}

__attribute__((noinline)) static void
work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		done += parse(i);
}

int
run(int argc)
{
	for (int i = 0; i < argc; i++)
		work(100);
	return (0);
}

int
main(int argc, char **argv)
{
	(void)argv;
	return (run(argc));
}
"""


def tool(*words: str | Path) -> bytes:
    return subprocess.run(["hwtdecode", *map(str, words)], check=True,
                          stdout=subprocess.PIPE).stdout


def traced(name: str, *arguments: str) -> None:
    """Traces of a program, with what they need in them."""
    out = Path(f"{name}.dir").resolve()
    out.mkdir()
    words = traced_program.capture(Path("prog").resolve(), out, *arguments)
    tool("import", "--embed", "-o", f"{name}.hwt", "--clock=3/1", *words)


def programs() -> None:
    Path("prog.c").write_text(PROGRAM)
    made = traced_program.build(
        Path.cwd(), Path("prog.c"), "clang", "-O1",
        "-fdebug-info-for-profiling")
    made.rename("prog")
    os.environ["HWTDECODE_PTCAPTURE"] = os.environ["PTCAPTURE"]
    traced("run", "a", "b")
    traced("before")
    shutil.copy("run.dir/0.pt", "trace.pt")
    for number in "12":
        shutil.copy("run.hwt", f"test{number}.hwt")


def samples() -> None:
    folder = FIXTURES / "spe-good" / "pieces-of-a-model-are-records"
    trace = (folder / "trace.spe").read_bytes()
    for cpu in "01":
        tool("import", "--tech=spe", f"--stream-cpu={cpu}", "-o",
             f"cpu{cpu}.hwt", folder / "trace.spe")
    Path("spe.raw").write_bytes(trace * 2)
    listing = tool("packets", "--tech=spe", "--style=perf", "spe.raw")
    Path("mail.txt").write_bytes(
        b"".join(b"> " + line + b"\n" for line in listing.splitlines()))


def sinks() -> None:
    folder = FIXTURES / "cs-good" / "three-sources-in-frames-are-told-apart"
    shutil.copy(folder / "sink.bin", "etr.bin")
    shutil.copy(folder / "code.bin", "vmlinux.bin")
    for number, trace_id in enumerate((0x10, 0x12)):
        Path(f"cpu{number}.txt").write_text(
            f"protocol=etmv4\narch=v8.3\nTRCCONFIGR=1\nTRCIDR0=0x28000ea1\n"
            f"TRCIDR1=0x4100f443\nTRCIDR2=0x488\n"
            f"TRCTRACEIDR={trace_id:#x}\n")
    snapshots.snapshot(Case("", FIXTURES, Path.cwd()))
    Path("snap").rename("snapshot")


def dumps() -> None:
    shutil.copy("trace.pt", "dump")
    Path("maps").write_text(
        "pid 812\nexec ./prog bias=0\n"
        "load /libexec/ld-elf.so.1 addr=0x801000000\n"
        "mmap /lib/libc.so.7 addr=0x8020a3000\n")


def perf() -> None:
    folder = FIXTURES / "perf-data" / "features-tell-of-the-machine"
    shutil.copy(folder / "perf.data", "perf.data")
    shutil.copytree(folder / "root", "sysroot")


def recordings() -> None:
    """What the simulated kernel is told of."""
    sample = (FIXTURES / "spe-good" / "pieces-of-a-model-are-records"
              / "trace.spe").read_bytes()
    Path("pt.bytes").write_bytes(simulated.rounds(3))
    Path("spe.bytes").write_bytes(sample)
    image = simulated.elf(simulated.CODE)
    Path("programs").mkdir()
    for machine, bytes_of in (("", "pt"), ("machine arch=arm64\n", "spe")):
        lines = [machine]
        for name in "programs/ls", "programs/make", "test":
            path = Path(name).resolve()
            path.write_bytes(image)
            path.chmod(0o755)
            lines.append(
                f"program {path}\n"
                f"step exec path={path} addr={simulated.BIAS:#x} off=0x1000 "
                f"len=0x1000\nstep trace ns=5000000 file={bytes_of}.bytes\n"
                "step exit\n")
        httpd = Path("httpd").resolve()
        httpd.write_bytes(handler())
        at = traced_program.segment_of_code(httpd)
        lines.append(
            "process httpd 1\n"
            f"step trace ns=5000000 file={bytes_of}.bytes\nstep exit\n"
            f"map {at:#x} {at + 0x1000:#x} 0x1000 {httpd}\n")
        Path("sim.script" if bytes_of == "pt" else "spe.script").write_text(
            "".join(lines))


def handler() -> bytes:
    """The program of a server, with a function of that name."""
    Path("httpd.c").write_text(
        "int handle_request(int n) { return (n * 3); }\n"
        "int run(int argc) { return (handle_request(argc)); }\n")
    made = traced_program.build(Path.cwd(), Path("httpd.c"), "clang", "-O0")
    return made.read_bytes()


PAGES = {
    "hwtdecode.1": (programs, samples, sinks, dumps, perf),
    "hwtdecode-record.1": (recordings,),
}


def main() -> int:
    for make in PAGES.get(sys.argv[1], ()):
        make()
    return 0


if __name__ == "__main__":
    sys.exit(main())
