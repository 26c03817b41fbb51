"""What the module declares is what the headers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_cdef_is_that_of_the_headers(repo: Path) -> None:
    build = repo / "bindings" / "python" / "ffi" / "build.py"
    made = subprocess.run(
        [sys.executable, str(build), "--cdef"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    stored = build.with_name("cdef.h").read_text(encoding="utf-8")
    assert made == stored, "run: ffi/build.py --cdef > ffi/cdef.h"


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
