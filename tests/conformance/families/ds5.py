"""Decodes of the same trace by Arm DS-5, an independent decoder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .case import Case, Fail

# An instruction with its bytes: as a table, or as plain text.
_TABLE = re.compile(r"Instruction\t\d+\t\w+:0x([0-9A-F]+)\t0x[0-9A-F]+\t")
_TEXT = re.compile(r"\w+:0x([0-9A-F]+)\t[0-9A-F]+\t(.*)")
_RETURN = "Return from exception"
# Marks among addresses: an exception returns; words that are no instruction.
RETURNS, UNDEFINED = -1, -2


def parse(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield mark, or 0, and address of instructions and exception returns."""
    for line in lines:
        match = _TABLE.match(line)
        if match is None and line.strip() == _RETURN:
            yield RETURNS, 0
            continue
        if match is None:
            match = _TEXT.match(line)
            if match is None:
                continue
            if match[2].endswith("Undefined"):
                yield UNDEFINED, int(match[1], 16)
                continue
        yield 0, int(match[1], 16)


def compare(expected: Iterable[tuple[int, int]], ours: list[tuple[int, int]]
            ) -> tuple[int, int, int]:
    """Compare addresses; return those that are equal, ours, and theirs only.

    The dumps that are plain text leave out what is executed from the last
    branch up to an exception return.  Where memory holds words that are no
    instruction, ours is a gap up to the next branch.
    """
    at = more = less = equal = 0
    returns, skipped = False, 0
    for mark, address in expected:
        if mark == RETURNS:
            returns = True
            continue
        if mark == UNDEFINED:
            skipped, less = address, less + 1
            continue
        here = ours[at][0] if at < len(ours) else -1
        if skipped == address - 4 and here != address:
            skipped, less = address, less + 1
            continue
        while returns and here != address and 0 < at < len(ours) and \
                here == ours[at - 1][0] + ours[at - 1][1]:
            at, more = at + 1, more + 1
            here = ours[at][0] if at < len(ours) else -1
        if here != address:
            raise Fail(f"instruction {at + 1} is "
                       f"{'missing' if here < 0 else hex(here)}, expected "
                       f"{address:#x}")
        at, equal = at + 1, equal + 1
        returns, skipped = False, 0
    if returns:
        at, more = len(ours), more + len(ours) - at
    if at != len(ours):
        raise Fail(f"{ours[at][0]:#x} executes, nothing is expected")
    return equal, more, less


def check(case: Case, addresses: dict[str, Path]) -> list[str]:
    """Compare the dumps of a case with addresses by trace ID; say what."""
    dumps = sorted(name for name in case.section("expected")
                   if name.startswith("expected/ds5/"))
    equal = more = less = 0
    for name in dumps:
        trace_id = re.search(r"_0x([0-9a-f]+)", name)
        if trace_id is None or trace_id[1] not in addresses:
            raise Fail(f"{name}: nothing to compare with")
        ours = []
        for line in addresses[trace_id[1]].read_text().splitlines():
            address, size, _ = line.split()
            ours.append((int(address, 16), int(size)))
        try:
            said = compare(parse(case.lines(name)), ours)
        except Fail as fail:
            raise Fail(f"{name}: {fail}") from None
        equal, more, less = equal + said[0], more + said[1], less + said[2]
    if not dumps:
        return []
    text = f"{equal} instructions as in {len(dumps)} dumps of DS-5"
    if more or less:
        text += (f", {more} more before exception returns, {less} less at "
                 "undefined words")
    return [text]
