"""Intel PT of programs that really ran, with the truth recorded beside it."""

from __future__ import annotations

from . import pt_fixtures, pt_gen
from .case import Case
from .tools import Tools


def run(case: Case, tools: Tools) -> str:
    """Check against truth records, or as a fixture."""
    if any(name.endswith(".truth.txt") for name in case.section("expected")):
        # The capture tool writes MTC packets late, at the next packet of the
        # flow: a time may be off by a period.
        return pt_gen.run(case, tools, late_mtc=True)
    return pt_fixtures.run(case, tools)
