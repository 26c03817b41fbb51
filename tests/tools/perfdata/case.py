"""A case: what a scenario makes, and the files that it becomes."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from hwtasm import arm, x86
from hwtasm.program import Program
from hwtasm.writer import file_entry, text_lines, to_json

from . import PerfDataError
from .elf import AARCH64, X86_64, Symbol, elf
from .file import PerfData, Written
from .flow import Flow
from .order import LITTLE, Order

FAMILY = "perf-data"
SOURCE = "case.py"
DATA = "perf.data"
ISAS = {"x86": (x86, X86_64), "arm": (arm, AARCH64)}

FORMATS = {
    "flow.txt": "q <idx> cpu= tid= = buffer; t <pid> <tid> = thread; s = "
                "synchronised; b <first ip> <n> <mode> <last ip> [time=<ns>] "
                "= run of instructions; d = tracing was off; x <reason> = "
                "loss. See the README of the fixtures",
    "records.txt": "<offset> <kind> key=value ..., in the order of the file",
    "samples.jsonl": "one record of Arm SPE a line, in the order of buffers",
    "order.txt": "<kind> <time> [key=value ...], records in the order in "
                 "which they hold",
    "refused.txt": "words for why the file cannot be opened, one a line",
}

_HEX = {"addr", "pgoff", "len", "misc", "aux_flags", "hw_id", "mask", "prot",
        "flags"}


def hidden(number: int) -> str:
    """Return how one value of a record's field is written."""
    return f"{number & (1 << 64) - 1:x}"


@dataclass
class Case:
    """What a scenario says."""

    name: str
    about: str = ""
    source: str = ""
    params: dict[str, object] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    flow: Flow = field(default_factory=Flow)
    samples: list[dict[str, object]] = field(default_factory=list)
    has_samples: bool = False
    order: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    written: Written | None = None
    # Where in the case the file lies: in a folder, if that is what perf made.
    path: str = DATA
    byte_order: Order = LITTLE
    data: bytes = b""
    records: bool = True

    def program(self, text: str, isa: str = "x86") -> Program:
        """Assemble a program; its labels are those of the case."""
        program = Program(ISAS[isa][0])
        lines = [(number, raw.split("#", 1)[0].strip())
                 for number, raw in enumerate(text.splitlines(), 1)]
        program.assemble([(number, line) for number, line in lines if line])
        self.flow.programs.append(program)
        return program

    def elf(self, path: str, program: Program, *, isa: str = "x86",
            build_id: bytes = b"", piece: int = 0, module: bool = False
            ) -> None:
        """Write a piece of a program as an ELF file below `root`."""
        start, data = program.pieces[piece]
        if start % 0x1000:
            raise PerfDataError("a program begins at a page")
        places = sorted((at, name) for name, at in program.labels.items()
                        if start <= at < start + len(data)
                        and not name.startswith("."))
        ends = [at for at, _ in places[1:]] + [start + len(data)]
        symbols = [Symbol(name, at, end - at)
                   for (at, name), end in zip(places, ends, strict=True)]
        self.files["root" + path] = elf(ISAS[isa][1], start, bytes(data),
                                        symbols, build_id=build_id,
                                        module=module)

    def write(self, file: PerfData, change: Callable[[Written], bytes] | None
              = None) -> Written:
        """Make perf.data, damaged if ``change`` does so."""
        self.written = file.write()
        self.byte_order = file.order
        self.data = change(self.written) if change else self.written.data
        return self.written

    def expect(self, text: str) -> None:
        """Say what is executed."""
        self.flow.read(text)

    def expect_samples(self, samples: list[dict[str, object]]) -> None:
        """Say what samples there are."""
        self.has_samples = True
        self.samples += samples

    def expect_order(self, text: str) -> None:
        """Say in which order records hold, where that is not the file's."""
        self.order += [line.strip() for line in text.splitlines()
                       if line.strip()]

    def expect_refusal(self, *words: str) -> None:
        """Say that the file cannot be opened, and what tells why."""
        self.refused += words
        self.records = False

    def record_lines(self) -> list[str]:
        """Return records as they were written, where they are whole."""
        out: list[str] = []
        if self.written is None:
            return out
        for at, item in self.written.places:
            if item.record.told_size is not None:
                break
            words = [hidden(at) if at >= 0 else "-", item.name]
            for key, value in item.fields().items():
                if isinstance(value, str):
                    value = value.replace("\\", "\\\\").replace(" ", "\\s")
                elif key in _HEX:
                    value = hidden(value)
                words.append(f"{key}={value}")
            end = at + len(item.bytes(self.byte_order))
            if at >= 0 and end > len(self.data):
                break
            out.append(" ".join(words))
        return out

    def outputs(self) -> dict[str, bytes]:
        """Return all files of the case by their path in it."""
        if not self.about or not self.source or not self.data:
            raise PerfDataError("a case needs about, source and data")
        inputs = {self.path: self.data, **self.files}
        expected: dict[str, list[str]] = {}
        if self.records:
            expected["records.txt"] = self.record_lines()
        if self.flow.lines:
            expected["flow.txt"] = self.flow.lines
        if self.has_samples:
            expected["samples.jsonl"] = [
                json.dumps(sample, separators=(",", ":"))
                for sample in self.samples]
        if self.refused:
            expected["refused.txt"] = self.refused
        if self.order:
            expected["order.txt"] = self.order
        lines = {f"expected/{name}": text_lines(text)
                 for name, text in expected.items()}
        counts = Counter({"runs": self.flow.runs,
                          "branches": len(self.flow.branches),
                          "samples": len(self.samples),
                          "records": len(expected.get("records.txt", []))})
        described = {
            "id": f"{FAMILY}/{self.name}",
            "source": {"project": "libhwtdecode", "license": "BSD-2-Clause",
                       "path": SOURCE},
            "capture": "synthetic",
            "description": self.about,
            "files": {name: file_entry(data) for name, data in inputs.items()},
            "expected": {name: file_entry(data, lines=True)
                         for name, data in lines.items()},
            "params": self.params,
            "how_expected": f"by hand in {SOURCE}, from {self.source}",
            "counts": {key: value for key, value in counts.items() if value},
            "formats": {name: FORMATS[name] for name in expected},
        }
        return {"case.json": to_json(described), **inputs, **lines}


def load(path: Path) -> ModuleType:
    """Return the module that a scenario is."""
    name = "perfdata_case_" + path.parent.name.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PerfDataError(f"{path}: no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_case(path: Path) -> Case:
    """Run a scenario; the case has the name of its folder."""
    case = Case(path.resolve().parent.name)
    module = load(path)
    case.about = " ".join((module.__doc__ or "").split())
    module.build(case)
    return case
