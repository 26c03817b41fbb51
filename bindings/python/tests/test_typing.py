"""Types: what is annotated is right, complete, and what runs.

``typing_tests`` are programs for the type checker.  They say what it has to
find with ``assert_type``, and what it has to refuse with ``type: ignore`` and
the name of the error; an ignore that is not needed is an error.
"""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import hwt

pytest.importorskip("mypy")

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
# In the tree these are links; the checker wants the files.
SOURCES = PROJECT / "src" / "hwt"


def run(module: str, *args: object, path: Path) -> str:
    """What a tool of mypy complains about."""
    cache = Path(os.environ.get("HWTDECODE_BUILD", path)) / "mypy-cache"
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, args)],
        cwd=PROJECT,
        env={**os.environ, "MYPY_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return ""
    return done.stdout + done.stderr


def test_mypy_is_content_with_package_and_programs(tmp_path: Path) -> None:
    found = run(
        "mypy",
        "--config-file=pyproject.toml",
        "src/hwt",
        *sorted((HERE / "typing_tests").glob("*.py")),
        path=tmp_path,
    )
    assert found == "", f"\n{found}"


def cached() -> List[str]:
    """Functions that functools.cache wraps: their arguments are hidden."""
    return [
        f"{module.__name__}.{name}"
        for module in [
            importlib.import_module(f"hwt.{found.name}")
            for found in pkgutil.iter_modules(hwt.__path__)
        ]
        for name, value in vars(module).items()
        if hasattr(value, "cache_info")
    ]


def test_stubs_and_annotations_are_what_runs(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"{re.escape(n)}\n" for n in cached()))
    found = run(
        "mypy.stubtest",
        "--concise",
        f"--allowlist={allowed}",
        "--ignore-unused-allowlist",
        "--mypy-config-file=pyproject.toml",
        "hwt",
        path=tmp_path,
    )
    assert found == "", f"\n{found}"


def test_types_come_with_the_package() -> None:
    installed = Path(hwt.__file__).parent
    assert (installed / "py.typed").is_file()
    assert (installed / "_hwtdecode.pyi").is_file()


@pytest.mark.parametrize(
    "path", sorted(SOURCES.glob("**/*.py")), ids=lambda path: path.stem
)
def test_the_source_is_of_python_3_9(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path), feature_version=(3, 9))
    # A union of this form is only valid as an annotation that nobody runs.
    future = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(name.name == "annotations" for name in node.names)
        for node in tree.body
    )
    assert future, "it lacks: from __future__ import annotations"
    assert newer_than_3_9(tree) == []


def newer_than_3_9(tree: ast.AST) -> List[str]:
    """Calls that Python 3.9 does not know."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        words = {word.arg for word in node.keywords}
        if (name == "zip" and "strict" in words) or (
            name in ("dataclass", "field") and words & {"slots", "kw_only"}
        ):
            found.append(f"line {node.lineno}: {name}({sorted(words)})")
    return found


def test_what_is_newer_than_python_3_9_is_found() -> None:
    tree = ast.parse("@dataclass(slots=True)\nclass A: zip(a, b, strict=True)")
    assert len(newer_than_3_9(tree)) == 2
