"""A source distribution builds elsewhere, and its one wheel runs everywhere.

The library is compiled once, and without optimisation, which takes half the
time: what is looked at here does not depend on it.  Interpreters are those of
``HWTDECODE_PYTHONS`` (separated by ``:``), of pyenv, and the one that runs the
test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import List

import pytest

SMOKE = """
import hwt, hwtdecode, sys
assert hwtdecode.Trace is hwt.Trace
with hwt.open(hwt.example("pt")) as trace:
    rows = sum(1 for _ in trace.events(kinds="block"))
print("rows", rows, "on", sys.version.split()[0])
assert rows > 0
"""


def run(*command: object, cwd: Path) -> str:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    }
    environment.setdefault(
        "CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1)
    )
    environment["SKBUILD_CMAKE_BUILD_TYPE"] = "Debug"
    environment["CFLAGS"] = "-O0 -g0"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="module")
def sdist(folder: Path) -> Path:
    package = Path(__file__).resolve().parents[1]
    run(
        sys.executable, "-m", "build", "--sdist", "--no-isolation",
        "--outdir", folder, package,
        cwd=folder,
    )  # fmt: skip
    assert not (package / "core").exists()
    (found,) = folder.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(folder: Path, sdist: Path) -> Path:
    run(
        sys.executable, "-m", "pip", "wheel", "--no-build-isolation",
        "--no-deps", "--wheel-dir", folder, sdist,
        cwd=folder,
    )  # fmt: skip
    (found,) = folder.glob("*.whl")
    return found


def test_a_source_distribution_has_the_library(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    for wanted in (
        "pyproject.toml",
        "LICENSE",
        "CMakeLists.txt",
        "ffi/cdef.h",
        "core/CMakeLists.txt",
        "core/LICENSE",
        "core/include/hwtdecode/hwtdecode.h",
        "core/src/libhwtdecode.map",
        "src/hwt/_example/pt.hwt",
        "src/hwt/py.typed",
    ):
        assert wanted in names
    assert not [name for name in names if "__pycache__" in name]
    assert sdist.stat().st_size < 4_000_000


def test_the_wheel_is_one_for_all_versions(wheel: Path) -> None:
    assert re.fullmatch(
        r"hwtdecode-[0-9.]+-cp39-abi3-linux_\w+\.whl", wheel.name
    )
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [n for n in names if n.endswith("/METADATA")]
        text = archive.read(metadata).decode()
    modules = [name for name in names if name.endswith(".so")]
    assert modules == ["hwt/_hwtdecode.abi3.so"]
    assert {"hwt/_example/pt.hwt", "hwt/py.typed"} <= set(names)
    assert not [name for name in names if not name.startswith("hwt")]
    needed = re.findall(r"^Requires-Dist: (.*)$", text, re.M)
    assert [n for n in needed if "extra ==" not in n] == ["cffi>=1.15"]
    assert "Requires-Python: >=3.9" in text
    assert "License-File: LICENSE" in text


def test_the_module_keeps_to_the_stable_abi(wheel: Path, folder: Path) -> None:
    run(sys.executable, "-m", "abi3audit", "--strict", wheel, cwd=folder)


def test_the_wheel_needs_no_library_of_ours(wheel: Path, folder: Path) -> None:
    shown = run(sys.executable, "-m", "auditwheel", "show", wheel, cwd=folder)
    shown = " ".join(shown.split())
    assert "libhwtdecode" not in shown
    assert "linux_" in shown


def interpreters() -> List[Path]:
    found = [Path(p) for p in os.environ.get("HWTDECODE_PYTHONS", "").split(":")]
    found = [path for path in found if path.name]
    for folder in sorted(Path.home().glob(".pyenv/versions/3.*")):
        version = tuple(int(n) for n in folder.name.split(".")[:2])
        if version >= (3, 9):
            found.append(folder / "bin" / "python")
    found.append(Path(sys.executable))
    return list(dict.fromkeys(path for path in found if path.exists()))


def test_the_wheel_runs_on_each_version(wheel: Path, folder: Path) -> None:
    seen = set()
    for python in interpreters():
        version = run(
            python, "-c", "import sys; print(*sys.version_info[:2])",
            cwd=folder,
        ).split()  # fmt: skip
        if tuple(version) in seen:
            continue
        seen.add(tuple(version))
        env = folder / f"env-{'.'.join(version)}"
        run(python, "-m", "venv", "--without-pip", env, cwd=folder)
        # Our pip for all: to install one in each takes most of the time.
        run(
            sys.executable, "-m", "pip", "--python", env / "bin" / "python",
            "install", "-q", "--disable-pip-version-check", "--no-compile",
            "--only-binary", "cffi", wheel,
            cwd=folder,
        )  # fmt: skip
        shown = run(env / "bin" / "python", "-c", SMOKE, cwd=folder)
        assert re.search(rf"rows [1-9][0-9]* on {'.'.join(version)}\.", shown)
    print("on", sorted(".".join(version) for version in seen))
    assert seen
