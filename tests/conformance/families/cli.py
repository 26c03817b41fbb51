"""Running the hwtdecode tool and reading the rows that it prints."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .case import Case, Fail, Skip
from .tools import TIMEOUT, Tools

Row = dict[str, Any]


def run_cli(tools: Tools, case: Case, *words: str | Path,
            code: int = 0) -> str:
    """Run the tool; return what it prints, which no message goes with."""
    if tools.cli is None:
        raise Skip("no hwtdecode beside hwtdecode-flow")
    command = [str(tools.cli), *map(str, words)]
    # Whoever runs the tests may have a cache of perf.
    where = {**os.environ, "HOME": str(case.temporary)}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="surrogateescape", timeout=TIMEOUT, check=False, env=where)
    except subprocess.TimeoutExpired:
        raise Fail(f"{words[0]}: still running after {TIMEOUT:g} s") from None
    said = done.stderr.strip().splitlines()
    if done.returncode != code or (said and code == 0):
        raise Fail(f"{words[0]}: exit code {done.returncode}" +
                   (f": {said[0]}" if said else ""))
    return done.stdout


def rows_of(tools: Tools, case: Case, command: str, trace: Path,
            options: Sequence[str | Path] = ()) -> list[Row]:
    """Return the rows of a command."""
    text = run_cli(tools, case, command, "--format=jsonl", *options, trace)
    rows = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError as error:
            raise Fail(f"{command}: {error} in {line!r}") from None
        if not isinstance(row, dict) or row.pop("schema", None) != 1:
            raise Fail(f"{command}: another schema in {line!r}")
        rows.append(row)
    return rows
