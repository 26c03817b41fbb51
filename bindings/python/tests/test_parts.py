"""Parts of a trace, merged in any order, tell the same as the whole.

So the headers promise: for all numbers where parts are whole streams; for
samples whatever the cut; for counts of code also where it is cut in time.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple, TypeVar

import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import hwt  # noqa: E402
from hand_traces import (  # noqa: E402
    BASE,
    CODE,
    calls_of,
    elf,
    sample,
    samples_trace,
)
from hwt.coverage import Coverage  # noqa: E402
from hwt.histogram import Histogram  # noqa: E402
from hwt.memory import Memory  # noqa: E402

CPUS = 4
N1 = 0x413FD0C1
T = TypeVar("T")

cheap = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    # Making a failing example small takes minutes.
    phases=[Phase.explicit, Phase.generate],
)

# Where threads are chosen, streams are decoded as a whole, by each part.
OF_STREAMS = ("bytes", "gaps", "decoded")


def but_streams(found: Dict[str, Any], how: str) -> Dict[str, Any]:
    if how != "tid":
        return found
    return {k: v for k, v in found.items() if k not in OF_STREAMS}


def split(draw: Callable[[Any], Any], things: Sequence[T]) -> List[List[T]]:
    """Some groups of them, none empty, in any order."""
    order = draw(st.permutations(list(things)))
    cuts = draw(
        st.sets(st.integers(1, max(len(order) - 1, 1)), max_size=len(order))
    )
    groups = []
    first = 0
    for cut in [*sorted(c for c in cuts if c < len(order)), len(order)]:
        groups.append(order[first:cut])
        first = cut
    return groups


def merged(draw: Callable[[Any], Any], parts: List[Any]) -> Any:
    """All of them in one, grouped in any way."""
    parts = list(parts)
    while len(parts) > 1:
        i = draw(st.integers(0, len(parts) - 1))
        from_ = parts.pop(i)
        k = draw(st.integers(0, len(parts) - 1))
        parts[k].merge(from_)
    return parts[0]


def covered(cov: Coverage) -> Dict[str, Any]:
    info = cov.info
    return {
        "functions": cov.functions().to_dict(),
        "lines": cov.lines().to_dict(),
        "branches": cov.branches().to_dict(),
        "edges": cov.edges().to_dict(),
        "images": cov.images().to_dict(),
        "insns": info.insns,
        "shares": cov.summary().to_dict(),
        "bytes": info.loss.bytes,
        "gaps": info.loss.gaps,
    }


def measured(hist: Histogram) -> Dict[str, Any]:
    rows = hist.rows("name").to_dict()
    return {
        "rows": rows,
        "all": hist.all.to_dict(),
        "buckets": [hist.buckets(i).to_dict() for i in range(hist.info.rows)],
        "decoded": hist.info.insns,
        "gaps": hist.info.loss,
    }


def summed(memory: Memory) -> Dict[str, Any]:
    tables = {
        name: memory.table(name, sort="key").to_dict()
        for name in memory.info.rows
    }
    info = memory.info
    return {
        "tables": tables,
        "sharing": memory.sharing(sort="key").to_dict(),
        "accesses": memory.accesses(sort="key").to_dict(),
        "buckets": memory.histogram().to_dict(),
        "used": info.used,
        "saturated": info.saturated,
        "unweighted": info.unweighted,
    }


def program_of(runs: List[List[bool]]) -> Any:
    """A thread of its own on each CPU, which calls so often."""
    image = elf([(b"main", 0, 7), (b"callee", 16, 5)], CODE)
    with hwt.Builder() as builder:
        for cpu, taken in enumerate(runs):
            builder.add_stream(
                "pt", calls_of(taken), cpu=cpu, pid=7, tid=100 + cpu
            )
        builder.add_image("prog", data=image, address=BASE)
        return builder.seal()


runs_of_cpus = st.lists(
    st.lists(st.booleans(), max_size=12), min_size=CPUS, max_size=CPUS
)


@cheap
@given(runs_of_cpus, st.data())
def test_coverage_of_cpus_is_that_of_all(
    runs: List[List[bool]], data: Any
) -> None:
    with program_of(runs) as trace:
        whole = trace.coverage(jobs=1)
        for how, first in (("cpu", 0), ("stream", 0), ("tid", 100)):
            groups = split(data.draw, range(first, first + CPUS))
            parts = [
                trace.coverage(jobs=1, **{how: group}) for group in groups
            ]
            got = covered(merged(data.draw, parts))
            assert but_streams(got, how) == but_streams(covered(whole), how)
    taken = sum(sum(one) for one in runs)
    calls = sum(len(one) for one in runs)
    rows = [r for r in whole.branches().rows() if r.reached]
    assert sum(r.taken for r in rows) == taken
    assert sum(r.not_taken for r in rows) == calls - taken


@cheap
@given(runs_of_cpus, st.data())
def test_histograms_of_threads_are_that_of_all(
    runs: List[List[bool]], data: Any
) -> None:
    with program_of(runs) as trace:
        for value in ("insns", "self-insns", "time"):
            whole = trace.hist(value=value, jobs=1)
            for how, first in (("cpu", 0), ("stream", 0), ("tid", 100)):
                groups = split(data.draw, range(first, first + CPUS))
                parts = [
                    trace.hist(value=value, jobs=1, **{how: group})
                    for group in groups
                ]
                got = measured(merged(data.draw, parts))
                want = measured(whole)
                assert but_streams(got, how) == but_streams(want, how)


samples_of_cpus = st.lists(
    st.lists(
        st.builds(
            sample,
            pc=st.sampled_from([0x1000, 0x1004, 0x2000]),
            store=st.booleans(),
            va=st.integers(0x2000, 0x2000 + 200),
            source=st.sampled_from([0, 8, 9, 13, 14]),
            total=st.integers(0, 4095),
            events=st.sampled_from([0x12, 0x16, 0x1E, 0x3E]),
        ),
        max_size=10,
    ),
    min_size=CPUS,
    max_size=CPUS,
)


@cheap
@given(samples_of_cpus, st.data())
def test_samples_of_cpus_are_those_of_all(
    samples: List[List[bytes]], data: Any
) -> None:
    with samples_trace(samples, midr=N1, interval=512) as trace:
        whole = trace.memory(accesses=True, jobs=1)
        assert whole.info.used == sum(len(one) for one in samples)
        for how in ("cpu", "stream"):
            groups = split(data.draw, range(CPUS))
            parts = [
                trace.memory(accesses=True, jobs=1, **{how: group})
                for group in groups
            ]
            assert summed(merged(data.draw, parts)) == summed(whole)


def times_of(trace: Any, what: str) -> Tuple[int, int]:
    """First and last time of what counts."""
    times = [row.time_ns for row in getattr(trace, what)()]
    known = [time for time in times if time is not None]
    return min(known), max(known)


def windows(
    draw: Callable[[Any], Any], first: int, last: int
) -> List[Tuple[int, int]]:
    """All of the time, cut somewhere."""
    cuts = sorted(
        draw(st.sets(st.integers(first + 1, last), min_size=1, max_size=4))
    )
    return list(zip([0, *cuts], [*cuts, 2**64 - 1]))


@settings(cheap, max_examples=8)
@given(st.data())
def test_samples_of_times_are_those_of_all(data: Any) -> None:
    with hwt.open(hwt.example("spe")) as trace:
        first, last = times_of(trace, "samples")
        whole = trace.memory(accesses=True, jobs=1)
        parts = [
            trace.memory(accesses=True, jobs=1, time=window)
            for window in windows(data.draw, first, last)
        ]
        assert summed(merged(data.draw, parts)) == summed(whole)


@settings(cheap, max_examples=8)
@given(st.data())
def test_lines_of_times_are_those_of_all(data: Any) -> None:
    with hwt.open(hwt.example("pt")) as trace:
        first, last = times_of(trace, "events")
        whole = trace.coverage(jobs=1)
        parts = [
            trace.coverage(jobs=1, time=window)
            for window in windows(data.draw, first, last)
        ]
        got = merged(data.draw, parts)
        # Of what a branch at the cut led to only the next part knows.
        assert got.lines().to_dict() == whole.lines().to_dict()
        assert got.info.insns == whole.info.insns
        assert got.functions().to_dict()["hit"] == (
            whole.functions().to_dict()["hit"]
        )
