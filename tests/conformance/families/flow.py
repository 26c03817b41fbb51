"""Comparing executed instructions, whichever way a decoder cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .case import Fail, Malformed


@dataclass(frozen=True)
class Run:
    """A run of instructions at consecutive addresses."""

    first: int
    count: int
    mode: str
    last: int

    def __str__(self) -> str:
        return f"{self.first:x} {self.count} {self.mode} {self.last:x}"


@dataclass(frozen=True)
class Insn:
    """One executed instruction."""

    address: int
    size: int
    mode: str
    # Of the clock of the trace; None: not known, or not asked for.
    time: int | None = None


def parse_segments(lines: Sequence[str]) -> tuple[list[list[Run]], list[bool]]:
    """Split flow.txt at its syncs: runs of each part, and "ends in an x"."""
    segments: list[list[Run]] = [[]]
    broken = [False]
    for line in lines:
        words = line.split()
        try:
            if words[0] == "b":
                segments[-1].append(Run(int(words[1], 16), int(words[2]),
                                        words[3], int(words[4], 16)))
            elif words[0] == "x":
                broken[-1] = True
            elif words[0] == "s":
                # A sync in the middle of the flow does not cut it.
                if broken[-1]:
                    segments.append([])
                    broken.append(False)
            else:
                raise ValueError
        except (ValueError, IndexError):
            raise Malformed(f"flow: cannot read {line!r}") from None
    return segments, broken


def parse_insns(text: str) -> list[Insn]:
    """Read what `hwtdecode-flow --insns` writes."""
    insns = []
    for line in text.splitlines():
        address, size, mode, *time = line.split()
        insns.append(Insn(int(address, 16), int(size), mode,
                          int(time[0]) if time else None))
    return insns


def compare_runs(expected: Sequence[str], ours: Sequence[str]) -> int:
    """Compare a flow without errors line by line; return the runs."""
    want = [line for line in expected if line.startswith("b ")]
    have = [line for line in ours if line.startswith("b ")]
    errors = [line for line in ours if line.startswith("x ")]
    if errors:
        raise Fail(f"flow: error {errors[0][2:]}, none is expected")
    for number, (a, b) in enumerate(zip(want, have, strict=False), 1):
        if a != b:
            raise Fail(f"flow: run {number} is {b[2:]}, expected {a[2:]}")
    if len(want) != len(have):
        raise Fail(f"flow: {len(have)} runs, expected {len(want)}")
    return len(want)


def require_no_loss(gaps: Sequence[str]) -> None:
    """Fail if bytes of the stream gave nothing; an overflow loses none."""
    for line in gaps:
        reason, first, end = line.split()
        if reason != "overflow" or first != end:
            raise Fail(f"gap: {reason} [{first}, {end}), none is expected")


def _match(runs: Sequence[Run], insns: Sequence[Insn], at: int) -> str | None:
    """Say why `runs` do not lie in `insns` at an index; None: they do."""
    for run in runs:
        if at + run.count > len(insns):
            return f"run {run} has only {max(0, len(insns) - at)} instructions"
        address = run.first
        for insn in insns[at:at + run.count]:
            if insn.address != address or insn.mode != run.mode:
                return (f"{insn.address:x} in mode {insn.mode} executes in "
                        f"place of {address:x} of run {run}")
            last, address = address, address + insn.size
        if run.count < 1 or last != run.last:
            return f"run {run} ends at {last:x}"
        at += run.count
    return None


def compare_segments(expected: Sequence[str], insns: Sequence[Insn]) -> int:
    """Compare a flow with errors; return the instructions beyond it.

    The expected instructions must be a subsequence of ours, with extra ones
    only between an x and the next s or the end.
    """
    segments, broken = parse_segments(expected)
    at = 0
    for index, runs in enumerate(segments):
        count = sum(run.count for run in runs)
        if index == 0:
            starts = range(0, 1)
        elif index + 1 == len(segments) and not broken[index]:
            starts = range(max(at, len(insns) - count),
                           max(at, len(insns) - count) + 1)
        else:
            starts = range(at, max(at, len(insns) - count) + 1)
        why = None
        for start in starts:
            why = _match(runs, insns, start)
            if why is None:
                at = start + count
                break
        else:
            raise Fail(f"flow: part {index + 1} of {len(segments)}: {why}")
    if not broken[-1] and at != len(insns):
        raise Fail(f"flow: {len(insns) - at} instructions beyond the end")
    return len(insns) - sum(run.count for part in segments for run in part)


def compare_hash(expected: Sequence[str], ours: Sequence[str]) -> int:
    """Compare hash.txt; return the number of hashes."""
    want = [line.split() for line in expected if line.startswith("h ")]
    have = [line.split() for line in ours if line.startswith("h ")]
    for a, b in zip(want, have, strict=False):
        if len(a) < 3:
            raise Malformed(f"hash: cannot read {' '.join(a)!r}")
        if a[1:3] != b[1:3]:
            raise Fail(f"hash: {b[2]} after {b[1]} instructions, expected "
                       f"{a[2]} after {a[1]}")
    if len(want) != len(have):
        raise Fail(f"hash: {len(have)} lines, expected {len(want)}")
    return len(want)
