"""Rows as CSV and JSON lines, as DuckDB reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import consumers
import drawn
from runner import Case

PYTHON = Path(os.environ["HWTDECODE_PYTHON_ENV"])
# How often each function of program.c is called.
CALLS = {"middle": 20, "deep": 60, "leaf": 100}


def query(kind: str, file: Path, *queries: str) -> list[list[Any]]:
    """What DuckDB finds in a file of rows, for each query."""
    words = [PYTHON, consumers.HERE / "read_rows.py", kind, file, *queries]
    out = consumers.run(words, file.parent)
    return [json.loads(line) for line in out.splitlines()]


def rows(case: Case, kind: str, *words: str | Path) -> Path:
    """The file that a command writes."""
    file = case.folder / f"rows.{kind}"
    done = case.run(*words, f"--format={kind}")
    assert done.code == 0, done.err
    file.write_text(done.out, encoding="utf-8")
    return file


def symbols(program: Path) -> dict[str, int]:
    """Addresses in the file."""
    listed = subprocess.run(
        ["nm", program], check=True, capture_output=True, text=True
    ).stdout
    lines = (line.split() for line in listed.splitlines())
    return {words[2]: int(words[0], 16) for words in lines}


def bias_of(case: Case, given: drawn.Input, kind: str) -> int:
    """How far from its own addresses a program lay, by its calls."""
    named = "from rows where function in ('middle', 'deep', 'leaf')"
    calls, places, insns = query(
        kind,
        rows(case, kind, "calls", *given.args),
        f"select function, count(*) {named} group by all",
        f"select distinct function, address {named}",
        "select sum(self_insns) from rows",
    )
    assert dict(calls) == CALLS, (given.name, kind, calls)
    known = symbols(case.folder / given.name / "program")
    biases = {int(str(at), 0) - known[name] for name, at in places}
    assert len(biases) == 1, (given.name, kind, places)
    executed, branches = query(
        kind,
        rows(case, kind, "insns", *given.args),
        "select count(*) from rows where kind = 'insn'",
        "select count(*) from rows where branch = 'call'",
    )
    assert executed == insns, (given.name, kind)
    assert branches == [[sum(CALLS.values())]], (given.name, kind)
    return biases.pop()


def test_programs_at_their_addresses_and_elsewhere(case: Case) -> None:
    biases = {
        (given.name, kind): bias_of(case, given, kind)
        for given in drawn.programs(case)
        for kind in ("csv", "jsonl")
    }
    assert biases or "HWTDECODE_PTCAPTURE" not in os.environ
    for (name, kind), bias in biases.items():
        assert (bias != 0) == (name == "pie"), (name, kind, bias)


def test_names_are_whole(case: Case) -> None:
    case.write("a", drawn.HOSTILE)
    for kind in ("csv", "jsonl"):
        (names,) = query(
            kind,
            rows(case, kind, "calls", "a"),
            "select distinct function from rows where function is not null",
        )
        found = {name for (name,) in names}
        assert {'a"b\\c', "\xe4" * 30000} <= found, [n[:40] for n in found]


consumers.main_of(globals(), PYTHON)
