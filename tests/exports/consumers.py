"""Programs of others that read what is exported; see need_consumers in dev."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATIENCE = 100


class Skip(Exception):
    """What is needed is not there."""


def folder() -> Path:
    path = Path(os.environ["HWTDECODE_CONSUMERS"])
    if not (path / "version").is_file():
        raise Skip(f"{path} is not there: ./dev test installs it")
    return path


def run(words: list[str | Path], cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, "HOME": str(cwd)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.decode()


def python(script: str, *args: str | Path, cwd: Path) -> list[Any]:
    """JSON lines that a script prints, run with packages of PyPI."""
    words = [folder() / "venv/bin/python", HERE / script, *args]
    return [json.loads(line) for line in run(words, cwd).splitlines()]


def node(script: str, *args: str | Path, cwd: Path) -> str:
    """A script in the folder with packages of npm."""
    modules = folder() / "npm/node_modules"
    return run(["node", HERE / script, modules, *args], cwd)


def main_of(tests: dict[str, Any], *needed: Path) -> None:
    """Leave with 77 if what the tests need is not there."""
    try:
        folder()
        for path in needed:
            if not path.is_file():
                raise Skip(f"{path} is not there: ./dev test installs it")
    except Skip as why:
        print(f"skipped: {why}")
        # Where CI is set, it is there.
        sys.exit(1 if os.environ.get("CI") else 77)
    assert tests
