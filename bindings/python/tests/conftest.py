"""What all tests of the package share."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import pytest

import hwt

REPO = Path(__file__).resolve().parents[3]
EXAMPLES = Path(hwt.__file__).resolve().parent / "_example"


@pytest.fixture
def repo() -> Path:
    """The checkout."""
    if not (REPO / "fixtures").is_dir():
        pytest.skip("no checkout with fixtures")
    return REPO


@pytest.fixture
def pt() -> Path:
    """The example trace of Intel PT."""
    return EXAMPLES / "pt.hwt"


@pytest.fixture
def spe() -> Path:
    """The example trace of Arm SPE."""
    return EXAMPLES / "spe.hwt"


@pytest.fixture
def trace_pt(pt: Path) -> Any:
    """The same, open."""
    with hwt.open(pt) as trace:
        yield trace


@pytest.fixture
def trace_spe(spe: Path) -> Any:
    """The same, open."""
    with hwt.open(spe) as trace:
        yield trace


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: Dict[str, Any]) -> None:
    """Names that examples may use."""
    doctest_namespace["hwt"] = hwt
    doctest_namespace["pt"] = EXAMPLES / "pt.hwt"
    doctest_namespace["spe"] = EXAMPLES / "spe.hwt"
