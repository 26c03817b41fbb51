"""Builds the capture tool, captures the workload and writes the cases.

    python3 tests/tools/ptcapture/pack.py fixtures

Needs Linux on x86-64 with ptrace, a C compiler and zstd.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from hwtasm.writer import index, to_json  # noqa: E402

FAMILY = "pt-captured"
TOOL = ("ptcapture.c", "tracee.c", "pt_model.c", "pt_encode.c",
        "insn_class.c")
TOOL_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra")
WORKLOAD_FLAGS = (
    "-std=gnu11", "-O2", "-fno-pie", "-no-pie", "-static", "-nostdlib",
    "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none",
    "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none",
)

# Name, what it shows, options of the tool, parameters as pt-gen spells them.
CASES = (
    ("workload-without-any-compression",
     "every return by TIP, every address whole, a PSB every 2 KiB, no time",
     ("-p", "2048"),
     {"psb": 2048}),
    ("workload-with-compressed-returns-and-addresses",
     "returns by TNT bits and short addresses, a PSB every 2 KiB, no time",
     ("-r", "-i", "-p", "2048"),
     {"psb": 2048, "retc": 1, "ipmode": 1}),
    ("workload-with-time-and-interrupts",
     "TSC, MTC and CYC, long TNT, interrupts, returns and addresses "
     "compressed",
     ("-r", "-i", "-l", "-t", "-c", "-m", "3", "-q", "9000"),
     {"psb": 4096, "retc": 1, "ipmode": 1, "tnt64": 1, "tsc": 1,
      "mtc_freq": 3, "cyc_thresh": 0, "irq": 9000}),
)
DEFAULTS = {
    "psb": 4096, "tsc": 0, "mtc_freq": -1, "cyc_thresh": -1, "nom_freq": 30,
    "cpuid_0x15_eax": 2, "cpuid_0x15_ebx": 250, "retc": 0, "tnt64": 0,
    "deftip": 0, "ipmode": 0, "irq": 0, "ovf": 0,
}
INPUTS = ("0.pt", "code.bin", "image.txt", "maps.jsonl")
EXPECTED = ("expected/0.truth.txt", "expected/0.ips")
COMPRESS_FROM = 8192


def compile_all(build: Path) -> tuple[Path, Path]:
    """Build the tool and the program it captures."""
    cc = os.environ.get("CC", "cc")
    tool, workload = build / "ptcapture", build / "workload"
    subprocess.run([cc, *TOOL_FLAGS, "-o", tool,
                    *(HERE / name for name in TOOL)], check=True)
    subprocess.run([cc, *WORKLOAD_FLAGS, "-o", workload,
                    HERE / "workload.c"], check=True)
    return tool, workload


def store(source: Path, name: str, target: Path) -> dict[str, object]:
    """Copy a file into the case, compressed if it is worth it."""
    data = (source / name).read_bytes()
    entry: dict[str, object] = {
        "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    if len(data) < COMPRESS_FROM:
        shutil.copyfile(source / name, target / name)
        return entry
    entry["stored"] = name + ".zst"
    subprocess.run(["zstd", "-q", "-f", "-19", source / name, "-o",
                    target / (name + ".zst")], check=True)
    return entry


def pack(case: tuple[str, str, tuple[str, ...], dict[str, int]],
         tool: Path, workload: Path, root: Path, build: Path) -> None:
    """Capture once and write one case directory."""
    name, about, options, params = case
    out, target = build / name, root / FAMILY / name
    done = subprocess.run([tool, *options, out, workload], check=True,
                          stdout=subprocess.PIPE, text=True)
    counts = json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(target, ignore_errors=True)
    described = {
        "id": f"{FAMILY}/{name}",
        "source": {"project": "libhwtdecode", "license": "BSD-2-Clause",
                   "path": "tests/tools/ptcapture/workload.c"},
        "capture": "synthetic",
        "description": "A program that really ran, single-stepped, every "
                       "executed instruction encoded: " + about,
        "files": {item: store(out, item, target) for item in INPUTS},
        "expected": {item: store(out, item, target) for item in EXPECTED},
        "params": {**DEFAULTS, **params, "image": {"spec": "image.txt"}},
        "options": " ".join(options),
        "counts": {"0": counts},
        "how_expected": "by the capture tool while the program executed",
    }
    (target / "case.json").write_bytes(to_json(described))


def main(argv: list[str]) -> int:
    """Write all captured cases below a fixtures directory."""
    if len(argv) != 1:
        print("usage: pack.py FIXTURES", file=sys.stderr)
        return 2
    root = Path(argv[0])
    with tempfile.TemporaryDirectory() as name:
        build = Path(name)
        tool, workload = compile_all(build)
        for case in CASES:
            pack(case, tool, workload, root, build)
    (root / "index.json").write_bytes(index(root))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
