"""Recording traces with hwt(4) of FreeBSD.

A capture runs in a process of its own that writes a ``.hwt`` file, which is
readable up to its last whole chunk at any time::

    with hwt.capture.start("run.hwt", ["./program", "argument"]) as capture:
        status = capture.wait()
    with hwt.open("run.hwt") as trace:
        ...

Everywhere but on FreeBSD `start` raises `hwt.UnsupportedError`; see `backends`
for what is missing.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from hwt import config
from hwt._native import (
    Handle,
    check,
    error,
    ffi,
    lib,
    new,
    optional_id,
    path_bytes,
    slot,
    text,
)
from hwt.errors import ClosedError
from hwt.facts import Items

if TYPE_CHECKING:
    from hwt.trace import Trace

__all__ = [
    "Backend",
    "Capture",
    "Permission",
    "PtOptions",
    "SpeOptions",
    "CoresightOptions",
    "Status",
    "allowed",
    "backends",
    "start",
]

PathLike = Union[str, "os.PathLike[str]"]

# How long one call of C waits, ns: signals are seen in between.
_STEP_NS = 50_000_000
_MODES = {"threads": lib.HWTD_CAPTURE_THREADS, "cpus": lib.HWTD_CAPTURE_CPUS}
_WHO = {
    "user": lib.HWTD_CAPTURE_USER,
    "kernel": lib.HWTD_CAPTURE_KERNEL,
    "both": lib.HWTD_CAPTURE_USER | lib.HWTD_CAPTURE_KERNEL,
}


def _who(name: str, value: Optional[str]) -> int:
    return 0 if value is None else config.choice(name, value, _WHO)


def _flags(instance: Any, bits: Mapping[str, int]) -> int:
    return sum(bit for name, bit in bits.items() if getattr(instance, name))


@dataclass(frozen=True)
class PtOptions:
    """How Intel PT records.

    Times and values of PTWRITE need a kernel that does them (5BSD).

    Parameters
    ----------
    who : {"user", "kernel", "both"}, optional
        Whose code; None: that of programs, or of the kernel on CPUs.
    buffer_bytes : int
        Of each thread or CPU, whole pages; 0: 511 pages.
    branches, conditional : bool
        Record branches, and conditional ones among them.
    tsc, mtc, cyc, ptwrite : bool
        Times, and values of PTWRITE instructions.
    mtc_freq, cyc_threshold, psb_freq : int
        As in ``IA32_RTIT_CTL``.
    any_buffer : bool
        Buffers of any size; some kernels may then write over memory that is
        not theirs.

    Examples
    --------
    >>> from hwt.capture import PtOptions
    >>> PtOptions(who="user", psb_freq=3).psb_freq
    3
    """

    who: Optional[str] = None
    buffer_bytes: int = 0
    branches: bool = True
    conditional: bool = True
    tsc: bool = False
    mtc: bool = False
    cyc: bool = False
    ptwrite: bool = False
    mtc_freq: int = 0
    cyc_threshold: int = 0
    psb_freq: int = 0
    any_buffer: bool = False

    def __post_init__(self) -> None:
        _who("PtOptions.who", self.who)
        for name, bits in (
            ("buffer_bytes", 64),
            ("mtc_freq", 8),
            ("cyc_threshold", 8),
            ("psb_freq", 8),
        ):
            config.number(f"PtOptions.{name}", getattr(self, name), bits)

    def _to_c(self) -> Any:
        c = new("struct hwtd_capture_pt")
        c.buffer_bytes, c.who = self.buffer_bytes, _who("who", self.who)
        c.mtc_freq, c.psb_freq = self.mtc_freq, self.psb_freq
        c.cyc_threshold = self.cyc_threshold
        c.flags = _flags(
            self,
            {
                "tsc": lib.HWTD_CAPTURE_PTF_TSC,
                "mtc": lib.HWTD_CAPTURE_PTF_MTC,
                "cyc": lib.HWTD_CAPTURE_PTF_CYC,
                "ptwrite": lib.HWTD_CAPTURE_PTF_PTWRITE,
                "any_buffer": lib.HWTD_CAPTURE_PTF_ANY_BUFFER,
            },
        )
        if not self.branches:
            c.flags |= lib.HWTD_CAPTURE_PTF_NO_BRANCHES
        if not self.conditional:
            c.flags |= lib.HWTD_CAPTURE_PTF_NO_TNT
        return c


@dataclass(frozen=True)
class SpeOptions:
    """How Arm SPE samples.

    Parameters
    ----------
    who : {"user", "kernel", "both"}, optional
        Whose operations; None: both.
    buffer_bytes : int
        Of each thread or CPU, an even number of pages; 0: 256 pages.
    interval : int
        Operations for one sample, below 2**24; 0: 4096.
    context : {"process", "cpu", "none"}
        What contexts of samples are.

    Examples
    --------
    >>> from hwt.capture import SpeOptions
    >>> SpeOptions(interval=1024).interval
    1024
    """

    who: Optional[str] = None
    buffer_bytes: int = 0
    interval: int = 0
    context: str = "process"

    def __post_init__(self) -> None:
        _who("SpeOptions.who", self.who)
        config.number("SpeOptions.buffer_bytes", self.buffer_bytes, 64)
        config.number("SpeOptions.interval", self.interval, 32)
        config.choice("SpeOptions.context", self.context, _SPE_CONTEXTS)

    def _to_c(self) -> Any:
        c = new("struct hwtd_capture_spe")
        c.buffer_bytes, c.interval = self.buffer_bytes, self.interval
        c.who = _who("who", self.who)
        c.flags = _SPE_CONTEXTS[self.context.lower()]
        return c


_SPE_CONTEXTS = {
    "process": 0,
    "cpu": lib.HWTD_CAPTURE_SPEF_CPU_CONTEXT,
    "none": lib.HWTD_CAPTURE_SPEF_NO_CONTEXT,
}


@dataclass(frozen=True)
class CoresightOptions:
    """How CoreSight ETMv4 records, on kernels that have it.

    Parameters
    ----------
    buffer_bytes : int
        Of all together, whole pages; 0: 1024 pages.
    cycles, branch_broadcast : bool
        Cycles between instructions; addresses of all branches that are taken.
    return_stack, timestamps, context : bool
        Whether these are used or recorded.
    cycle_threshold : int
        Least count of cycles to tell; 0: 256.

    Examples
    --------
    >>> from hwt.capture import CoresightOptions
    >>> CoresightOptions(cycles=True).timestamps
    True
    """

    buffer_bytes: int = 0
    cycles: bool = False
    branch_broadcast: bool = False
    return_stack: bool = True
    timestamps: bool = True
    context: bool = True
    cycle_threshold: int = 0

    def __post_init__(self) -> None:
        config.number("CoresightOptions.buffer_bytes", self.buffer_bytes, 64)
        config.number(
            "CoresightOptions.cycle_threshold", self.cycle_threshold, 32
        )

    def _to_c(self) -> Any:
        c = new("struct hwtd_capture_coresight")
        c.buffer_bytes = self.buffer_bytes
        c.cycle_threshold = self.cycle_threshold
        c.flags = _flags(
            self,
            {
                "cycles": lib.HWTD_CAPTURE_CSF_CYCLES,
                "branch_broadcast": lib.HWTD_CAPTURE_CSF_BRANCH_BROADCAST,
            },
        )
        for name, bit in (
            ("return_stack", lib.HWTD_CAPTURE_CSF_NO_RETURN_STACK),
            ("timestamps", lib.HWTD_CAPTURE_CSF_NO_TIMESTAMPS),
            ("context", lib.HWTD_CAPTURE_CSF_NO_CONTEXT),
        ):
            if not getattr(self, name):
                c.flags |= bit
        return c


@dataclass(frozen=True)
class Backend:
    """What a machine can record with, or why it cannot.

    Attributes
    ----------
    tech : {"intel-pt", "coresight", "spe", "unknown"}
        What would write the bytes.
    usable : bool
        A capture can be started.
    text : str
        What it records by default; or why it cannot.
    help : str
        A command, or what else would help; "": nothing.
    modes : tuple of str
        ``"threads"``, ``"cpus"``.
    n_ranges : int
        Ranges of addresses that filters may have together.
    least_bytes, most_bytes, default_bytes : int
        Of a buffer.
    """

    tech: str
    usable: bool
    text: str
    help: str
    modes: tuple[str, ...]
    n_ranges: int
    least_bytes: int
    most_bytes: int
    default_bytes: int


@dataclass(frozen=True)
class Permission:
    """Whether a process may be traced; it is true or false itself.

    Attributes
    ----------
    allowed : bool
        It may.
    why : str
        One line.
    """

    allowed: bool
    why: str

    def __bool__(self) -> bool:
        """Whether it may."""
        return self.allowed


@dataclass(frozen=True)
class Status:
    """How a capture stands.

    Attributes
    ----------
    ended : bool
        The file is complete.
    pid : int or None
        The program.
    program_ended : bool
        The program has ended.
    exit_status, exit_signal : int or None
        How, if it has: one of the two.
    n_streams, n_bytes, n_records : int
        What is in the file.
    n_looks : int
        Looks at the kernel.
    time_ns : int
        Since the capture was started.
    losses : mapping of str to int
        What could not be saved, by kind, of those that happened: ``"bytes"``,
        ``"slices"``, ``"unknown"``, ``"stalls"``, ``"samples"``,
        ``"records"``, ``"threads"``; and ``"doubted"``, which is none.
    """

    ended: bool
    pid: Optional[int]
    program_ended: bool
    exit_status: Optional[int]
    exit_signal: Optional[int]
    n_streams: int
    n_bytes: int
    n_records: int
    n_looks: int
    time_ns: int
    losses: Mapping[str, int]

    @property
    def lossless(self) -> bool:
        """Nothing is known to be lost."""
        doubted = text(lib.hwtd_capture_loss_name(lib.HWTD_CAPTURE_DOUBTED))
        return not set(self.losses) - {doubted}


def _context() -> Handle:
    """Make a context without a log: its lock may be held while C forks."""
    out, err = slot("struct hwtd_context", "hwtd_context_destroy"), error()
    check(lib.hwtd_context_create(ffi.NULL, out, err), err)
    return Handle.of(out, "hwtd_context_destroy", name="context")


def backends() -> Items[Backend]:
    """List the ways to record, whether this machine has them or not.

    Nothing is allocated in the kernel to find out.

    Returns
    -------
    sequence of Backend
        Each says why it cannot be used, if so, and what would help.

    Examples
    --------
    >>> from hwt.capture import backends
    >>> "intel-pt" in [backend.tech for backend in backends()]
    True
    """
    found: list[Backend] = []
    c, err = new("struct hwtd_capture_backend"), error()
    with _context() as ctx:
        while (
            check(lib.hwtd_capture_backend(ctx.c, len(found), c, err), err)
            == lib.HWTD_OK
        ):
            found.append(
                Backend(
                    tech=config.name_of(c.tech, config.TECHS),
                    usable=bool(c.usable),
                    text=text(c.text),
                    help=text(c.help),
                    modes=tuple(
                        name
                        for name, bit in (
                            ("threads", lib.HWTD_CAPTURE_MODEF_THREADS),
                            ("cpus", lib.HWTD_CAPTURE_MODEF_CPUS),
                        )
                        if c.modes & bit
                    ),
                    n_ranges=c.n_ranges,
                    least_bytes=c.least_bytes,
                    most_bytes=c.most_bytes,
                    default_bytes=c.default_bytes,
                )
            )
    return Items(found)


def allowed(pid: Optional[int] = None) -> Permission:
    """Find whether this process may trace another one.

    Parameters
    ----------
    pid : int, optional
        The process; None: whether it may trace at all.

    Returns
    -------
    Permission
        True or false, and why.

    Raises
    ------
    hwt.UnsupportedError
        There is no hwt(4) here.
    hwt.NotFoundError
        There is no such process.

    Examples
    --------
    >>> from hwt import capture
    >>> try:
    ...     if not capture.allowed():
    ...         print(capture.allowed().why)
    ... except hwt.UnsupportedError as error:
    ...     print(error.code)
    -40
    """
    number = 0 if pid is None else _pid(pid)
    why, err = ffi.new("char[]", lib.HWTD_CAPTURE_TEXT), error()
    with _context() as ctx:
        code = check(lib.hwtd_capture_allowed(ctx.c, number, why, err), err)
    return Permission(code == lib.HWTD_OK, text(why))


def _pid(pid: Any) -> int:
    number = config.an_id("pid", pid)
    if number == 0:
        raise ValueError("pid: 0 is no process that can be traced")
    return number


class Capture:
    """A capture that runs, or has ended; made by `start`.

    In ``with`` it is stopped at the end, and its file is complete then.

    Attributes
    ----------
    path : str
        The file that it writes.

    Examples
    --------
    >>> from hwt import capture
    >>> def record(argv, path):
    ...     with capture.start(path, argv, archive=True) as running:
    ...         status = running.wait(timeout=60)
    ...     if not status.lossless:
    ...         print(status.losses)
    ...     return running.open()
    """

    def __init__(self, handle: Handle, path: str) -> None:
        self._handle = handle
        self.path = path
        # Who forgets to close it has a file that is complete all the same,
        # also at the end of the program.
        self._finalizer = weakref.finalize(self, handle.close)
        # Of calls that may wait: `stop` has to come through, and the handler of
        # a signal that comes meanwhile may call anything.
        self._waits = threading.RLock()
        self._last: Optional[Status] = None

    def __repr__(self) -> str:
        """One line; asks nobody."""
        if self._last is not None and self._last.ended:
            state = "ended"
        else:
            state = "closed" if self.closed else "running"
        return f"<hwt.capture.Capture {self.path!r}: {state}>"

    @property
    def closed(self) -> bool:
        """Whether it was given up."""
        return self._handle.closed

    def _wait(self, ns: int) -> Status:
        c, err = new("struct hwtd_capture_status"), error()
        with self._waits:
            try:
                held = self._handle.c
            except ClosedError:
                if self._last is None:
                    raise
                return self._last
            check(
                lib.hwtd_capture_wait(held, ns, c, err),
                err,
                file=self.path,
            )
        found = _status(c)
        # Unless a handler has seen the end already.
        if self._last is None or not self._last.ended:
            self._last = found
        return self._last

    @property
    def status(self) -> Status:
        """How it stands now; after `close`, how it stood last."""
        return self._wait(0)

    def wait(self, timeout: Optional[float] = None) -> Status:
        """Wait until its program ended, a limit was reached, or `stop`.

        Parameters
        ----------
        timeout : float, optional
            Wait no longer than so many seconds.

        Returns
        -------
        Status
            Its `Status.ended` says whether the file is complete.

        Raises
        ------
        hwt.HwtError
            The capture failed; what was saved before is readable.
        KeyboardInterrupt
            Within a fraction of a second; the capture goes on.
        """
        seconds = math.inf if timeout is None else float(timeout)
        if math.isnan(seconds):
            raise ValueError("timeout: nan is no time")
        end = time.monotonic() + seconds
        while True:
            left = min(_STEP_NS, (end - time.monotonic()) * 1e9)
            status = self._wait(int(max(left, 0)))
            if status.ended or left <= 0:
                return status

    def stop(self) -> None:
        """Ask it to end: it takes what is there and completes the file.

        Returns at once; any thread may call it.
        """
        lib.hwtd_capture_stop(self._handle.c)

    def close(self) -> None:
        """Stop it if it has not ended, wait for it, and give it up."""
        if self._handle.closed:
            return
        self.stop()
        try:
            self.wait()
        finally:
            with self._waits:
                self._handle.close()

    def open(self, **options: Any) -> Trace:
        """Open the file.

        Parameters
        ----------
        **options
            As of `hwt.open`.

        Returns
        -------
        Trace
            While the capture runs, what is written up to now.
        """
        from hwt._open import open as open_trace

        return open_trace(self.path, **options)

    def __enter__(self) -> Capture:
        """Return the capture."""
        self._handle.c  # noqa: B018
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _status(c: Any) -> Status:
    names = {
        text(lib.hwtd_capture_loss_name(i)): c.losses[i]
        for i in range(lib.HWTD_CAPTURE_LOSSES)
    }
    ended = bool(c.program_ended)
    return Status(
        ended=bool(c.ended),
        pid=optional_id(c.pid),
        program_ended=ended,
        exit_status=c.exit_status if ended and not c.exit_signal else None,
        exit_signal=c.exit_signal if ended and c.exit_signal else None,
        n_streams=c.n_streams,
        n_bytes=c.n_bytes,
        n_records=c.n_records,
        n_looks=c.n_looks,
        time_ns=c.time_ns,
        losses={name: n for name, n in names.items() if n},
    )


def _texts(name: str, values: Any, keep: list[Any], end: bool) -> Any:
    if isinstance(values, (str, bytes, os.PathLike)):
        values = [values]
    texts = []
    for value in values:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        texts.append(ffi.new("char[]", config.c_text(name, value)))
    keep += texts
    array = ffi.new("const char *[]", texts + [ffi.NULL] * end)
    keep.append(array)
    return array, len(texts)


def start(
    output: PathLike,
    argv: Union[None, PathLike, Sequence[PathLike]] = None,
    *,
    pid: Optional[int] = None,
    cpus: Union[None, int, Iterable[int]] = None,
    mode: Optional[str] = None,
    pt: Union[None, bool, PtOptions] = None,
    spe: Union[None, bool, SpeOptions] = None,
    coresight: Union[None, bool, CoresightOptions] = None,
    filters: Union[str, Iterable[str]] = (),
    archive: bool = False,
    replace: bool = False,
    kill: bool = False,
    interval_ns: int = 0,
    max_bytes: int = 0,
    max_ns: int = 0,
    search: Optional[config.Search] = None,
    level: int = 3,
) -> Capture:
    """Start a capture.

    When this returns, the program runs or the threads are traced as soon as
    they are switched to.  The calling process is forked.

    Parameters
    ----------
    output : str or os.PathLike
        File to write.
    argv : sequence of str, optional
        Program to start, by its path or a name that is looked for in PATH, and
        its arguments.  Of CPUs it only says how long.
    pid : int, optional
        Or a process that runs.
    cpus : int or iterable of int, optional
        For CPUs: those to trace; None: all.
    mode : {"threads", "cpus"}, optional
        What is traced; None: threads with a program, else CPUs.
    pt, spe, coresight : options or True, optional
        What records; True: with defaults.  None of them: what the machine has.
    filters : str or iterable of str
        Trace only these, each ``"FUNCTION@IMAGE"``, ``"0xFIRST-0xLAST@IMAGE"``
        or ``"@IMAGE"``.
    archive : bool
        Write into the file the code of everything that was mapped.
    replace : bool
        An existing file is replaced.
    kill : bool
        The program ends when the capture does.
    interval_ns : int
        Time between two looks at the kernel; 0: 1 ms.
    max_bytes, max_ns : int
        End after so many bytes of trace, or ns; 0: never.
    search : Search, optional
        Where images are looked for.
    level : int
        Of zstd, for the file.

    Returns
    -------
    Capture
        Use it in ``with``.

    Raises
    ------
    hwt.UnsupportedError
        This system, kernel or CPU cannot do that.
    hwt.InvalidError
        Options contradict each other or the hardware.
    hwt.NotFoundError
        There is no such process.
    hwt.StateError
        It is traced already.
    hwt.TraceIOError
        The kernel refused, or the file cannot be written; ``errno`` says why.

    Examples
    --------
    >>> from hwt import capture
    >>> try:
    ...     running = capture.start("run.hwt", ["./program"], replace=True)
    ... except hwt.UnsupportedError as error:
    ...     print(error)
    this system has no hwt(4); capture on FreeBSD 15 or newer
    """
    keep: list[Any] = []
    c = new("struct hwtd_capture_options")
    keep.append(ffi.new("char[]", path_bytes(output)))
    c.output = keep[-1]
    if mode is not None:
        c.mode = config.choice("mode", mode, _MODES)
    if argv is not None:
        c.argv, n = _texts("argv", argv, keep, True)
        if n == 0:
            raise ValueError("argv: names no program")
    if pid is not None:
        c.pid = _pid(pid)
    if cpus is not None:
        ids = list(cpus) if isinstance(cpus, Iterable) else [cpus]
        keep.append(
            ffi.new("uint32_t[]", [config.an_id("cpus", i) for i in ids])
        )
        if not ids:
            raise ValueError("cpus: names none")
        c.cpus, c.n_cpus = keep[-1], len(ids)
    kinds: tuple[tuple[str, Any, type], ...] = (
        ("pt", pt, PtOptions),
        ("spe", spe, SpeOptions),
        ("coresight", coresight, CoresightOptions),
    )
    for name, value, kind in kinds:
        if value is None or value is False:
            continue
        made = kind() if value is True else config.wanted(name, value, kind)
        keep.append(made._to_c())
        setattr(c, name, keep[-1])
    c.filters, c.n_filters = _texts("filters", filters, keep, False)
    for flag, bit in (
        (archive, lib.HWTD_CAPTUREF_ARCHIVE),
        (replace, lib.HWTD_CAPTUREF_REPLACE),
        (kill, lib.HWTD_CAPTUREF_KILL),
    ):
        if flag:
            c.flags |= bit
    c.interval_ns = config.number("interval_ns", interval_ns, 64)
    c.max_bytes = config.number("max_bytes", max_bytes, 64)
    c.max_ns = config.number("max_ns", max_ns, 64)
    c.level = config.number("level", level, 31)
    if search is not None:
        c.search = config.wanted("search", search, config.Search)._to_c(keep)
    ctx = _context()
    out, err = slot("struct hwtd_capture", "hwtd_capture_close"), error()
    check(lib.hwtd_capture_start(ctx.c, c, out, err), err)
    handle = Handle.of(
        out, "hwtd_capture_close", keeps=(ctx,), name="capture"
    )
    return Capture(handle, os.fsdecode(output))
