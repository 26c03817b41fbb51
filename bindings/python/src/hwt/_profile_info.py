"""What profiles say of themselves: sums, and what was not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Mapping

from hwt._native import lib, text_or_none
from hwt._words import plural

# By hwtd_profile_source.
SOURCES = ("calls", "runs", "events")


@dataclass(frozen=True)
class Sums:
    """What calls add up to.

    Attributes
    ----------
    calls : int
        Calls that began or were found.
    insns : int
        Executed instructions.
    cycles : int
        CPU cycles, as far as they are known.
    ns : int
        Time without `gap_ns` and `off_ns`, ns.
    gap_ns, off_ns : int
        Time in gaps, and while the thread did not run, ns.
    gaps, gap_bytes : int
        Gaps, and bytes of trace in them.
    """

    calls: int
    insns: int
    cycles: int
    ns: int
    gap_ns: int
    off_ns: int
    gaps: int
    gap_bytes: int


@dataclass(frozen=True)
class Loss:
    """What a part of a profile saw, and what it did not see.

    Attributes
    ----------
    source : str
        ``calls``, ``runs`` or ``events``.
    traces : int
        How many traces were added; 0: the profile has nothing of it.
    bytes : int
        Raw bytes of streams.
    insns : int
        Executed instructions.
    gap_bytes : int
        Of `bytes`: those in gaps; what ran then is not counted.
    file_gap_bytes : int
        Bytes of a file that is damaged.
    gaps : dict of str to int
        Gaps by reason, those that there are.
    timed_calls : int
        Of ``calls``: those whose begin and end have a time.
    estimated_calls : int
        Of `timed_calls`: begin or end are the time of an earlier timing packet.
    interpolated_calls : int
        Of the others: they lie between such, by instructions.
    """

    source: str
    traces: int
    bytes: int
    insns: int
    gap_bytes: int
    file_gap_bytes: int
    gaps: Mapping[str, int]
    timed_calls: int
    estimated_calls: int
    interpolated_calls: int

    @property
    def percent(self) -> float:
        """Bytes in gaps, of a hundred."""
        return 100.0 * self.gap_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class ProfileInfo:
    """What is in a profile.

    Attributes
    ----------
    images, functions, threads, nodes, blocks, edges : int
        How many of each there are.
    total : Sums
        What all calls add up to.
    idle_ns : int
        Time in which threads were in no call at all, ns.
    others : int
        Calls that there was no room for to tell them apart.
    without_function, without_line : int
        Instructions that have no function, and no line.
    seen : dict of str to Loss
        By source: what it saw, and its gaps.
    """

    images: int
    functions: int
    threads: int
    nodes: int
    blocks: int
    edges: int
    total: Sums
    idle_ns: int
    others: int
    without_function: int
    without_line: int
    seen: Mapping[str, Loss]


def sums_of(c: Any) -> Sums:
    return Sums(
        c.calls,
        c.insns,
        c.cycles,
        c.ns,
        c.gap_ns,
        c.off_ns,
        c.gaps,
        c.gap_bytes,
    )


def loss_of(source: str, c: Any) -> Loss:
    gaps = {
        text_or_none(lib.hwtd_gap_reason_name(i)) or str(i): int(c.gaps[i])
        for i in range(lib.HWTD_GAP_REASONS)
        if c.gaps[i] != 0
    }
    return Loss(
        source,
        c.added,
        c.bytes,
        c.insns,
        c.gap_bytes,
        c.file_gap_bytes,
        gaps,
        c.timed_calls,
        c.estimated_calls,
        c.interpolated_calls,
    )


def of_hundred(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.2f}%" if whole else "0.00%"


def inexact_notes(loss: Loss) -> List[str]:
    """How well times of calls are known, in words."""
    return [
        f"{how}: begin or end of {n} of {plural(loss.timed_calls, 'call')} "
        f"({of_hundred(n, loss.timed_calls)}), {where}"
        for how, n, where in (
            (
                "interpolated",
                loss.interpolated_calls,
                "between timing packets",
            ),
            (
                "estimated",
                loss.estimated_calls,
                "the time of the packet before",
            ),
        )
        if n
    ]


def loss_notes(loss: Loss) -> List[str]:
    """What was not seen, in words."""
    n = sum(loss.gaps.values())
    if n == 0 and loss.gap_bytes == 0 and loss.file_gap_bytes == 0:
        return []
    reasons = ", ".join(f"{k} {name}" for name, k in loss.gaps.items())
    out = [
        f"not seen: {loss.gap_bytes} of {loss.bytes} bytes "
        f"({of_hundred(loss.gap_bytes, loss.bytes)}) in {plural(n, 'gap')}"
        + (f": {reasons}" if reasons else "")
    ]
    if loss.file_gap_bytes:
        out.append(
            f"not seen: {loss.file_gap_bytes} bytes of the file, which is "
            "damaged"
        )
    return out
