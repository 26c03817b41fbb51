"""The tool on a simulated kernel: programs, what they trace, and scripts.

A script is described in tests/simkernel/sim_script.h.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from pathlib import Path

from runner import PATIENCE, PSB, PSBEND, Case, Run

TOOL = os.path.abspath(os.environ["HWTDECODE_SIMULATED"])
EXAMPLE = os.environ["HWTDECODE_SIMULATED_EXAMPLE"]
# What sim_script.c and simulated_host.c say of a test that is wrong.
STATUS_BAD_SCRIPT = 99
STATUS_PANIC = 98

# Where the program is loaded; its code lies 0x1000 behind that.
BIAS = 0x200000
CODE_AT = BIAS + 0x1000
# jmp to the next; the same; nop; jmp rax.
CODE = bytes([0xEB, 0x00, 0xEB, 0x00, 0x90, 0xFF, 0xE0])
# The blocks of that: address and number of instructions.
BLOCKS = [(CODE_AT, 1), (CODE_AT + 2, 1), (CODE_AT + 4, 2)]


def elf(code: bytes, machine: int = 62, build_id: int = 7) -> bytes:
    """A shared object whose code lies at 0x1000, with a symbol "work"."""
    note = struct.pack("<III4s", 4, 20, 3, b"GNU\0") + bytes([build_id]) * 20
    names = b"\0work\0"
    symbols = bytes(24) + struct.pack(
        "<IBBHQQ", 1, 0x12, 0, 1, 0x1000, len(code)
    )
    note_at = 64 + 3 * 56
    data = bytearray(0x1000)
    data[note_at : note_at + len(note)] = note
    data += code
    names_at = len(data)
    data += names
    while len(data) % 8:
        data += b"\0"
    symbols_at = len(data)
    data += symbols
    sections_at = len(data)
    data += bytes(64)
    data += struct.pack(
        "<IIQQQQIIQQ", 0, 1, 6, 0x1000, 0x1000, len(code), 0, 0, 16, 0
    )
    data += struct.pack(
        "<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0
    )
    data += struct.pack(
        "<IIQQQQIIQQ", 0, 2, 0, 0, symbols_at, len(symbols), 2, 1, 8, 24
    )
    data[:64] = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        b"\x7fELF", 2, 1, 1, 9, 3, machine, 1, 0x1000, 64, sections_at, 0,
        64, 56, 3, 64, 4, 0,
    )  # fmt: skip
    segments = [
        (4, 4, note_at, len(note), 4),
        (1, 4, 0, 0x1000, 0x1000),
        (1, 5, 0x1000, len(code), 0x1000),
    ]
    for i, (kind, flags, at, size, align) in enumerate(segments):
        data[64 + i * 56 : 120 + i * 56] = struct.pack(
            "<IIQQQQQQ", kind, flags, at, at, at, size, size, align
        )
    return bytes(data)


def rounds(n: int) -> bytes:
    """Packets of running CODE n times."""
    on = b"\x99\x01" + PSBEND + b"\x91" + CODE_AT.to_bytes(6, "little") + b"\0"
    again = b"\x2d" + (CODE_AT & 0xFFFF).to_bytes(2, "little")
    off = b"\x01"
    return PSB + on + again * (n - 1) + off


class Simulation:
    """A program, what it traces, and the script of a kernel that runs it."""

    def __init__(
        self, case: Case, trace: bytes | None = None, machine: str = ""
    ) -> None:
        self.case = case
        self.program = case.write("program", elf(CODE))
        self.program.chmod(0o755)
        self.trace = rounds(3) if trace is None else trace
        case.write("bytes", self.trace)
        self.lines = [f"machine {machine}"] if machine else []

    def exec(self) -> str:
        return (
            f"step exec path={self.program} addr={BIAS:#x} off=0x1000 "
            "len=0x1000"
        )

    def run_and_exit(self, status: int = 0) -> Simulation:
        """The program is loaded, traces its bytes and ends."""
        self.lines += [
            f"program {self.program}",
            self.exec(),
            "step trace ns=5000000 file=bytes",
            f"step exit status={status}",
        ]
        return self

    def run_on(self) -> Simulation:
        """The same, but it never ends."""
        self.lines += [
            f"program {self.program}",
            self.exec(),
            "step trace ns=5000000 file=bytes",
            "step idle ns=100000000000000000",
            "step exit",
        ]
        return self

    def environment(self) -> dict[str, str]:
        self.case.write("script", "\n".join(self.lines) + "\n")
        return self.case.environment({"HWTDECODE_SIM_SCRIPT": "script"})

    def tool(
        self,
        *args: str | Path,
        tool: str = TOOL,
        env: dict[str, str] | None = None,
    ) -> Run:
        """Run the tool, or another program, on this kernel."""
        words = [str(arg) for arg in args]
        done = subprocess.run(
            [tool, *words],
            cwd=self.case.folder,
            env=self.environment() | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        run = Run(
            words, done.returncode, done.stdout.decode(), done.stderr.decode()
        )
        assert run.code not in (STATUS_BAD_SCRIPT, STATUS_PANIC), run.err
        return run

    def record(self, *args: str | Path) -> Run:
        return self.tool("record", "-o", "run.hwt", *args)

    def start(self, *args: str | Path) -> Recording:
        return Recording(self, ["record", "-o", "run.hwt", *map(str, args)])


class Recording:
    """A tool that records until it is stopped."""

    def __init__(self, simulation: Simulation, words: list[str]) -> None:
        self.words = words
        self.folder = simulation.case.folder
        self.process = subprocess.Popen(
            [TOOL, *words],
            cwd=self.folder,
            env=simulation.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def keeper(self) -> int:
        """The process that writes the file."""
        pid = self.process.pid
        path = Path(f"/proc/{pid}/task/{pid}/children")
        return int(path.read_text().split()[0])

    def wait_for_bytes(self, n: int) -> None:
        """Until the file has that many bytes."""
        path = self.folder / "run.hwt"
        deadline = time.monotonic() + PATIENCE
        while not path.exists() or path.stat().st_size < n:
            assert time.monotonic() < deadline
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.005)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> Run:
        out, err = self.process.communicate(timeout=PATIENCE)
        return Run(
            self.words, self.process.returncode, out.decode(), err.decode()
        )


def flow(case: Case, *args: str | Path) -> list[tuple[int, int]]:
    """The blocks that the ordinary tool finds in a file."""
    run = case.run("events", "--format=jsonl", "--kind=block,gap", *args)
    run.want(0)
    rows = run.objects()
    assert all(row["kind"] == "block" for row in rows), rows
    return [(int(row["ip"], 16), row["insns"]) for row in rows]
