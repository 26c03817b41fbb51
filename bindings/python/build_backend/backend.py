"""Build backend: scikit-build-core, with the C library in source distributions.

The library lies outside of the folder of the package, where no source
distribution reaches; it is copied to ``core/`` while one is made.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from scikit_build_core.build import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_wheel,
)
from scikit_build_core.build import build_sdist as _build_sdist
from scikit_build_core.build import build_wheel as _build_wheel
from scikit_build_core.build import (
    get_requires_for_build_sdist as _get_requires_for_build_sdist,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

PACKAGE = Path(__file__).resolve().parent.parent
CORE = PACKAGE / "core"
# What CMake needs of the project to build the library.
PARTS = ["CMakeLists.txt", "LICENSE", "include", "src"]


@contextlib.contextmanager
def _core() -> Iterator[None]:
    root = PACKAGE.parent.parent
    if CORE.exists() or not (root / "include" / "hwtdecode").is_dir():
        # It is a source distribution already.
        yield
        return
    try:
        shutil.copy2(root / "LICENSE", PACKAGE / "LICENSE")
        CORE.mkdir()
        for part in PARTS:
            if (root / part).is_dir():
                shutil.copytree(root / part, CORE / part)
            else:
                shutil.copy2(root / part, CORE / part)
        yield
    finally:
        shutil.rmtree(CORE, ignore_errors=True)
        (PACKAGE / "LICENSE").unlink()


@contextlib.contextmanager
def _license() -> Iterator[None]:
    """The license beside the package, while a wheel is made of a checkout."""
    here = PACKAGE / "LICENSE"
    if here.exists():
        yield
        return
    try:
        shutil.copy2(PACKAGE.parent.parent / "LICENSE", here)
        yield
    finally:
        here.unlink()


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[dict] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """Make a wheel."""
    with _license():
        return _build_wheel(
            wheel_directory, config_settings, metadata_directory
        )


def get_requires_for_build_sdist(
    config_settings: Optional[dict] = None,
) -> list:
    """What is needed to make a source distribution."""
    return _get_requires_for_build_sdist(config_settings)


def build_sdist(
    sdist_directory: str, config_settings: Optional[dict] = None
) -> str:
    """Make a source distribution with the library in it."""
    with _core():
        return _build_sdist(sdist_directory, config_settings)
