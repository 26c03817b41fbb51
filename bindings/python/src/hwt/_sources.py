"""Passes over a trace that profiles and exports are made of."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from hwt._native import Handle, check, error, ffi, lib, new, slot
from hwt._profile_info import SOURCES
from hwt._table import _nearest

if TYPE_CHECKING:
    from hwt.trace import Trace


def sources_of(
    sources: Optional[Iterable[str]], filters: Mapping[str, Any]
) -> Tuple[str, ...]:
    """Which passes over a trace are made."""
    if sources is None:
        # Calls need all code.
        if filters.get("address") is not None:
            return ("runs", "events")
        return SOURCES
    names = [sources] if isinstance(sources, str) else list(sources)
    for name in names:
        if name not in SOURCES:
            raise ValueError(_nearest(name, SOURCES, "source"))
    if not names:
        raise ValueError("sources is empty; a profile is made of something")
    return tuple(s for s in SOURCES if s in names)


class Source:
    """One source of a trace, that is read step by step.

    Parameters
    ----------
    trace : Trace
        Open; kept alive.
    source : str
        ``calls``, ``runs`` or ``events``.
    options : cdata
        ``struct hwtd_events_options *``.
    edges : bool
        Runs: count branches, too.
    flags : int
        Calls: HWTD_CALLS_* bits besides those that all need.
    """

    def __init__(
        self,
        trace: Trace,
        source: str,
        options: Any,
        edges: bool = True,
        flags: int = 0,
    ) -> None:
        self.source = source
        self.path = trace._path
        handle = trace._handle
        with handle.lock:
            self.handle = self._open(handle.c, options, edges, flags)

    def _open(
        self, trace: Any, options: Any, edges: bool, flags: int
    ) -> Handle:
        err = error()
        source = self.source
        if source == "calls":
            calls = new("struct hwtd_calls_options")
            calls.flags = flags | lib.HWTD_CALLS_ENTERS | lib.HWTD_CALLS_GAPS
            calls.events = options
            out = slot("struct hwtd_calls", "hwtd_calls_close")
            self._check(lib.hwtd_calls_open(trace, calls, out, err), err)
            return Handle.of(out, "hwtd_calls_close", name="calls")
        if source == "runs":
            runs = new("struct hwtd_runs_options")
            runs.flags = lib.HWTD_RUNS_EDGES if edges else 0
            runs.events = options
            out = slot("struct hwtd_runs", "hwtd_runs_close")
            self._check(lib.hwtd_runs_open(trace, runs, out, err), err)
            return Handle.of(out, "hwtd_runs_close", name="runs")
        out = slot("struct hwtd_events", "hwtd_events_close")
        self._check(lib.hwtd_events_open(trace, options, out, err), err)
        return Handle.of(out, "hwtd_events_close", name="events")

    def _check(self, code: int, err: Any) -> int:
        path = None if self.path is None else str(self.path)
        return check(code, err, file=path)

    def step(self, profile: Any, err: Any) -> int:
        c = self.handle.c
        if self.source == "calls":
            code = lib.hwtd_profile_add_calls(profile, c, err)
        elif self.source == "runs":
            code = lib.hwtd_profile_add_runs(profile, c, ffi.NULL, err)
        else:
            code = lib.hwtd_profile_add_events(profile, c, err)
        return self._check(code, err)

    def stats(self) -> Any:
        """What was seen so far: ``bytes``, ``gap_bytes``, ``gaps``."""
        c = self.handle.c
        if self.source == "calls":
            info = new("struct hwtd_calls_info")
            lib.hwtd_calls_info(c, info)
        elif self.source == "runs":
            info = new("struct hwtd_runs_info")
            lib.hwtd_runs_info(c, info)
        else:
            info = new("struct hwtd_stats")
            lib.hwtd_events_stats(c, info)
        return info

    def bytes(self) -> int:
        """Of streams, that were decoded so far."""
        return int(self.stats().bytes)

    def limited(self) -> int:
        """Calls that ended because too many were open."""
        if self.source != "calls":
            return 0
        info = new("struct hwtd_calls_info")
        lib.hwtd_calls_info(self.handle.c, info)
        return int(info.limited)


def trace_bytes(trace: Trace) -> int:
    info = new("struct hwtd_trace_info")
    with trace._handle.lock:
        check(lib.hwtd_trace_info(trace._handle.c, info))
    return int(info.n_bytes)


class Filling:
    """The passes over a trace, one after the other."""

    def __init__(
        self,
        handle: Handle,
        trace: Trace,
        sources: Sequence[str],
        options: Any,
        edges: bool,
    ) -> None:
        self._handle = handle
        self._trace = trace
        self._left = list(sources)
        self._options = options
        self._edges = edges
        self._pass: Optional[Source] = None
        self._ended = 0
        self.limited = 0

    def step(self) -> int:
        if self._pass is None:
            source = self._left.pop(0)
            self._pass = Source(
                self._trace, source, self._options, self._edges
            )
        err = error()
        code = self._pass.step(self._handle.c, err)
        if code != lib.HWTD_END:
            return code
        self.limited += self._pass.limited()
        self._pass.handle.close()
        self._pass = None
        self._ended += 1
        return lib.HWTD_END if not self._left else lib.HWTD_OK

    def bytes(self, each: int) -> int:
        now = self._pass.bytes() if self._pass is not None else 0
        return self._ended * each + now
