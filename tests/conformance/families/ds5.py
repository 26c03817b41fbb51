"""Decodes of the same trace by Arm DS-5."""

from __future__ import annotations

from pathlib import Path

from .case import Case
from .ppl import Listing


def check(case: Case, ours: Listing, addresses: dict[str, Path]) -> list[str]:
    """Compare the instructions of each dump; say how many."""
    return []
