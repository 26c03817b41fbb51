"""What the module declares is what the headers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_what_is_generated_is_that_of_the_headers(repo: Path) -> None:
    build = repo / "bindings" / "python" / "ffi" / "build.py"
    done = subprocess.run(
        [sys.executable, str(build), "--check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_all_functions_of_the_headers_are_there(repo: Path) -> None:
    from hwt._native import lib

    exported = [
        line.strip().rstrip(";")
        for line in (repo / "src" / "libhwtdecode.map")
        .read_text(encoding="utf-8")
        .splitlines()
        if line.startswith("\thwtd_")
    ]
    assert len(exported) > 100
    assert [name for name in exported if not hasattr(lib, name)] == []
