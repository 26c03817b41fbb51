"""What the tool prints, to compare tables of the package with."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional

import pytest

# Names of columns of a table that the tool calls otherwise.
Renamed = Mapping[str, str]


def tool(*words: object) -> str:
    """Run it; what it prints.  Exit code 3 is loss, which is said."""
    path = os.environ.get("HWTDECODE_TOOL")
    if path is None or not Path(path).exists():
        pytest.skip("no tool to compare with")
    run = subprocess.run(
        [path, *map(str, words)], capture_output=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.decode("utf-8")


def csv_rows(*words: object) -> List[Dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tool(*words, "--format=csv"))))


def json_rows(*words: object) -> List[Dict[str, Any]]:
    text = tool(*words, "--format=jsonl")
    return [json.loads(line) for line in text.splitlines()]


def _number(cell: str) -> object:
    if cell.startswith("0x"):
        return int(cell, 16)
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell)
    except ValueError:
        return cell


def cell_is(value: object, cell: str) -> bool:
    """Whether a value of a table is what a cell of CSV says."""
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return value == cell
    return _number(cell) == value


def assert_same(
    table: Any,
    rows: List[Dict[str, str]],
    renamed: Optional[Renamed] = None,
    special: Optional[Mapping[str, Callable[[Any, Dict[str, str]], bool]]] = (
        None
    ),
    only: Optional[List[str]] = None,
) -> None:
    """Hold every column of CSV against that of a table.

    `renamed` has the name in the table of a column of CSV; "" leaves it out.
    `special` compares a row of the table with one of CSV, by column of CSV.
    """
    assert len(table) == len(rows)
    got = table.to_dict()
    if not rows:
        return
    for name in rows[0] if only is None else only:
        if special is not None and name in special:
            for mine, its in zip(table.rows(), rows):
                assert special[name](mine, its), (name, mine, its[name])
            continue
        mine_name = (renamed or {}).get(name, name)
        if mine_name == "":
            continue
        assert mine_name in got, (name, list(got))
        for mine, its in zip(got[mine_name], rows):
            assert cell_is(mine, its[name]), (name, mine, its[name])


def imported(tmp_path: Path, name: str, *words: object) -> Path:
    """A trace of raw bytes as a file that needs no options any more."""
    out = tmp_path / name
    tool("import", "-o", out, *words)
    return out
