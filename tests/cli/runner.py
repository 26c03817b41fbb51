"""Run the cases of one file against the tool and tell what failed.

A case is a function of the file whose name starts with "test_"; it gets a
Case with a fresh folder, the tool and the fixtures.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

# Start and end of what every decoder can start from.
PSB = b"\x02\x82" * 8
PSBEND = b"\x02\x23"

# Seconds after which a run counts as hanging.
PATIENCE = 60


class Run:
    """What one run of the tool left behind."""

    def __init__(self, args: list[str], code: int, out: str, err: str) -> None:
        self.args = args
        self.code = code
        self.out = out
        self.err = err

    def want(
        self,
        code: int = 0,
        out: str | None = None,
        err: str | None = None,
        out_has: str | tuple[str, ...] = (),
        err_has: str | tuple[str, ...] = (),
    ) -> Run:
        """Check exit code and texts; err defaults to empty when code is 0."""
        wrong = []
        if self.code != code:
            wrong.append(f"exit {self.code}, not {code}")
        if out is not None and self.out != out:
            wrong.append(f"stdout is not {out!r}")
        if err is None and code == 0 and not err_has:
            err = ""
        if err is not None and self.err != err:
            wrong.append(f"stderr is not {err!r}")
        for part in (out_has,) if isinstance(out_has, str) else out_has:
            if part not in self.out:
                wrong.append(f"stdout lacks {part!r}")
        for part in (err_has,) if isinstance(err_has, str) else err_has:
            if part not in self.err:
                wrong.append(f"stderr lacks {part!r}")
        if wrong:
            raise AssertionError(
                f"{'; '.join(wrong)}\n  run: {self.args}\n"
                f"  stdout: {self.out[:2000]!r}\n  stderr: {self.err!r}"
            )
        return self

    def objects(self) -> list[dict[str, Any]]:
        """The JSON lines of stdout, each checked to be strict JSON."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is no JSON")

        found = []
        for line in self.out.splitlines():
            value = json.loads(line, parse_constant=refuse)
            assert isinstance(value, dict), line
            assert value["schema"] == 1, line
            found.append(value)
        return found

    def table(self) -> list[dict[str, str]]:
        """The CSV of stdout; every row has as many fields as the header."""
        rows = list(csv.reader(io.StringIO(self.out)))
        for row in rows:
            assert len(row) == len(rows[0]), row
        return [dict(zip(rows[0], row)) for row in rows[1:]]


class Case:
    """What a case works with: a folder of its own, the tool, the fixtures."""

    def __init__(self, tool: str, fixtures: Path, folder: Path) -> None:
        self.tool = tool
        self.fixtures = fixtures
        self.folder = folder

    def environment(
        self, extra: dict[str, str] | None = None
    ) -> dict[str, str]:
        plain = {
            name: value
            for name, value in os.environ.items()
            if name not in ("NO_COLOR", "CLICOLOR_FORCE")
        }
        # Whoever runs the tests may have a cache of perf.
        plain["HOME"] = str(self.folder)
        plain.update(extra or {})
        return plain

    def run(
        self,
        *args: str | Path,
        env: dict[str, str] | None = None,
        stdout: int | None = None,
    ) -> Run:
        words = [str(arg) for arg in args]
        done = subprocess.run(
            [self.tool, *words],
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
        out = b"" if done.stdout is None else done.stdout
        return Run(words, done.returncode, out.decode(), done.stderr.decode())

    def shell(self, script: str, stdin: bytes = b"") -> Run:
        """A shell line; "$T" is the tool.  The exit code is the script's."""
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=self.folder,
            env=self.environment({"T": self.tool}),
            input=stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        return Run(
            [script],
            done.returncode,
            done.stdout.decode(),
            done.stderr.decode(),
        )

    def write(self, name: str, data: bytes | str) -> Path:
        path = self.folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def trace(self, name: str) -> tuple[Path, list[str | Path]]:
        """A fixture: its raw bytes, and the options for its code."""
        folder = self.fixtures / name
        return folder / "trace.pt", ["--images", folder / "image.txt"]

    def long_trace(self, units: int) -> tuple[Path, list[str | Path]]:
        """A loop of three instructions, LOOP_INSNS of them per KiB."""
        self.write("loop.bin", b"\x90\x90\x75\xfc\x90")
        unit = PSB + b"\x7d" + LOOP_AT.to_bytes(6, "little") + b"\x99\x01"
        unit += PSBEND + LOOP_TAKEN * LOOP_TNTS
        unit = unit.ljust(1024, b"\x00")
        # Out of the loop, and off at the instruction behind it.
        end = (
            b"\x04\x3d"
            + (LOOP_AT + 4 & 0xFFFF).to_bytes(2, "little")
            + b"\x01"
        )
        return self.write("long.pt", unit * units + end), [
            "--image",
            f"loop.bin@{LOOP_AT:#x}",
        ]


# The loop of long_trace(): taken six times by one packet.
LOOP_AT = 0x401000
LOOP_TAKEN = b"\xfe"
LOOP_TNTS = 40
LOOP_INSNS = LOOP_TNTS * 6 * 3

# Two branches, nothing lost.
BRANCHES = "pt-good/two-conditional-branches-use-two-bits"
# A taken and a not taken branch.
SHORT = "pt-good/tnt-not-taken-is-part-of-the-flow"
# Nothing lost but what the hardware dropped.
OVERFLOW = "pt-good/overflow-resumes-at-fup"
# Runs into code that is not there.
MISSING = "pt-bad/missing-code-is-a-gap-that-names-the-address"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--fixtures", required=True, type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("only", nargs="*", help="names of cases")
    args = parser.parse_args()

    sys.modules["runner"] = sys.modules["__main__"]
    module = load(args.file)
    cases = {
        name: value
        for name, value in vars(module).items()
        if name.startswith("test_") and callable(value)
    }
    failed = 0
    for name, case in cases.items():
        if args.only and name not in args.only:
            continue
        with tempfile.TemporaryDirectory(prefix="hwtdecode-") as folder:
            try:
                case(
                    Case(
                        os.path.abspath(args.tool),
                        args.fixtures.resolve(),
                        Path(folder),
                    )
                )
                print(f"ok    {name}")
            except Exception:  # A case fails in any way; the next one runs.
                failed += 1
                print(f"FAIL  {name}")
                traceback.print_exc(file=sys.stdout)
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
