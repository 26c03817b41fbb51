"""Filters of rows, and what the library takes for them."""

from __future__ import annotations

import operator
import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

from hwt._native import ffi, lib, new
from hwt._words import near, quoted

__all__ = ["Ints", "Names", "Range", "Ranges", "filters_to_c"]

#: What C calls "all of them" where an upper end is left open.
U64_MAX = (1 << 64) - 1
U32_MAX = (1 << 32) - 1

#: Filters of rows that every plan and analysis takes.
FILTERS = (
    "cpu",
    "tid",
    "pid",
    "stream",
    "time",
    "address",
    "kinds",
    "jobs",
    "engine",
    "strict",
)

Ints = Union[int, Iterable[int]]
Range = Sequence[Union[int, None]]
Ranges = Union[Range, Iterable[Range]]
Names = Union[str, Iterable[str]]


def check_names(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse filters that are not there, with the one that was meant."""
    for name in given:
        if name not in known:
            raise TypeError(
                f"there is no filter {quoted(name)}"
                + nearest(name, known)
                + f"; filters are {', '.join(known)}"
            )


def nearest(name: str, known: Iterable[str]) -> str:
    found = near(name, known, least=0.6)
    return f", did you mean {found[0]!r}" if found else ""


def settled(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The same values, to be read any number of times: iterators end."""
    return {name: _settled(value) for name, value in filters.items()}


def _settled(value: Any) -> Any:
    # Of arrays, and what else knows better how its values are Python's.
    value = getattr(value, "tolist", lambda: value)()
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return [_settled(one) for one in value]


def integer(what: str, value: Any, most: int) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{what}={quoted(value)} is no number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}={quoted(value)} is no whole number") from None
    if not 0 <= number <= most:
        raise ValueError(f"{what}={quoted(number)} is not in [0, {most}]")
    return number


def integers(what: str, value: Any) -> list[int]:
    """Ids that are wanted: one, or several."""
    if not isinstance(value, (str, bytes)) and hasattr(value, "__iter__"):
        numbers = [integer(what, one, U32_MAX - 1) for one in value]
        if not numbers:
            raise ValueError(f"{what} is empty; leave it out to have all")
        return numbers
    return [integer(what, value, U32_MAX - 1)]


def range_of(what: str, pair: Any) -> tuple[int, int]:
    try:
        begin, end = pair
    except (TypeError, ValueError):
        raise TypeError(
            f"{what}={quoted(pair)} is no pair (begin, end)"
        ) from None
    begin = 0 if begin is None else integer(what, begin, U64_MAX)
    end = U64_MAX if end is None else integer(what, end, U64_MAX)
    if begin >= end:
        raise ValueError(
            f"{what}=({begin}, {end}) is empty; it ends before its second"
        )
    return begin, end


def _ranges(what: str, value: Any) -> list[tuple[int, int]]:
    """Half-open ranges that are wanted: a pair, or several."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{what}={quoted(value)} is no pair (begin, end)")
    items = list(value)
    if not items:
        raise ValueError(f"{what} is empty; leave it out to have all")
    if not any(hasattr(one, "__iter__") for one in items):
        return [range_of(what, items)]
    return [range_of(what, one) for one in items]


def names_of(what: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not hasattr(value, "__iter__"):
        raise TypeError(f"{what}={quoted(value)} is no name")
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}: {quoted(name)} is no name")
    if not names:
        raise ValueError(f"{what} is empty; leave it out to have all")
    return names


def name_numbers(count: int, name_of: Callable[[int], Any]) -> dict[str, int]:
    """Names that C gives to numbers; 0 is what has none."""
    numbers = {}
    for number in range(1, count):
        numbers[ffi.string(name_of(number)).decode()] = number
    numbers.pop("unknown", None)
    return numbers


def kind_bits(
    value: Any, count: int, name_of: Callable[[int], Any]
) -> int:
    """Bit (1 << kind) for each name."""
    known = name_numbers(count, name_of)
    bits = 0
    for name in names_of("kinds", value):
        if name not in known:
            raise ValueError(
                f"there is no kind {quoted(name)}"
                + nearest(name, known)
                + f"; kinds are {', '.join(known)}"
            )
        bits |= 1 << known[name]
    return bits


def _jobs(value: Any) -> int:
    """Threads: all processors that this process may use, if none is said."""
    if value is not None:
        return max(1, integer("jobs", value, 1024))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def filters_to_c(
    filters: Mapping[str, Any], *, level: int = 0
) -> tuple[Any, list[Any]]:
    """Make a ``struct hwtd_events_options`` of filters.

    Parameters
    ----------
    filters : mapping
        ``cpu tid pid stream time address kinds jobs engine strict``; what is
        None says nothing.
    level : int
        An ``HWTD_LEVEL_*``.

    Returns
    -------
    options : cdata
        ``struct hwtd_events_options *``.
    keep : list
        What `options` points to; to be kept as long as C uses it, which is
        until the call that takes it returns.

    Raises
    ------
    TypeError, ValueError
        A filter that is not there, or a value that it cannot have.
    """
    check_names(filters, FILTERS)
    options = new("struct hwtd_events_options")
    keep: list[Any] = []
    options.level = level
    options.jobs = _jobs(filters.get("jobs"))
    for name in ("cpu", "tid", "pid", "stream"):
        if filters.get(name) is None:
            continue
        ids = ffi.new("uint32_t[]", integers(name, filters[name]))
        keep.append(ids)
        setattr(options, name + "s", ids)
        setattr(options, f"n_{name}s", len(ids))
    for name, member, count in (
        ("time", "times_ns", "n_times"),
        ("address", "addresses", "n_addresses"),
    ):
        if filters.get(name) is None:
            continue
        ranges = ffi.new(
            "struct hwtd_range[]", _ranges(name, filters[name])
        )
        keep.append(ranges)
        setattr(options, member, ranges)
        setattr(options, count, len(ranges))
    if filters.get("kinds") is not None:
        options.kinds = kind_bits(
            filters["kinds"], lib.HWTD_EV_KINDS, lib.hwtd_event_kind_name
        )
    if filters.get("strict"):
        options.flags |= lib.HWTD_DECODE_STRICT
    if filters.get("engine") is not None:
        engine = filters["engine"]
        if not isinstance(engine, str) or "\0" in engine:
            raise TypeError(f"engine={quoted(engine)} is no name")
        keep.append(ffi.new("char[]", engine.encode()))
        options.engine = keep[-1]
    return options, keep
