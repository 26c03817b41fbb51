"""The package works with a library that is installed, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Optional

import pytest

import hwt

PACKAGE = Path(__file__).resolve().parents[1]


def run(*command: object, env: Optional[Dict[str, str]] = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the library of the build is installed."""
    build = os.environ.get("HWTDECODE_BUILD", "")
    if not build:
        pytest.skip("HWTDECODE_BUILD is not set")
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.mark.parametrize("finder", ["cmake", "pkg-config"])
def test_a_library_that_is_installed_is_used(
    prefix: Path, tmp_path: Path, finder: str
) -> None:
    (pc,) = prefix.rglob("hwtdecode.pc")
    run(
        *("cmake", "-S", PACKAGE, "-B", tmp_path, "-G", "Ninja"),
        *("-DHWTDECODE_PYTHON_SYSTEM=ON", "-DCMAKE_BUILD_TYPE=Debug"),
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DCMAKE_DISABLE_FIND_PACKAGE_hwtdecode={finder != 'cmake'}",
        env={
            "CMAKE_PREFIX_PATH": str(prefix) if finder == "cmake" else "",
            "PKG_CONFIG_PATH": str(pc.parent),
        },
    )
    # What differs is what is linked; that all files compile is seen elsewhere.
    run("cmake", "--build", tmp_path, "--target", "hwt-module")
    (module,) = tmp_path.rglob("_hwtdecode.abi3.so")
    assert "libhwtdecode.so.0" in run("readelf", "-d", module)
    for path in Path(hwt.__file__).parent.iterdir():
        if path.name != module.name:
            (module.parent / path.name).symlink_to(path.resolve())
    (library,) = prefix.rglob("libhwtdecode.so")
    shown = run(
        sys.executable,
        "-c",
        "import hwt; print(hwt.library_version(), hwt.__file__)",
        env={
            "PYTHONPATH": str(module.parents[1]),
            "LD_LIBRARY_PATH": str(library.parent),
        },
    ).split()
    assert shown == [hwt.__version__, str(module.with_name("__init__.py"))]
