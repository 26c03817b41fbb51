"""The compiled module, and what every call of it needs."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Iterator,
    Optional,
    Tuple,
    Union,
)

from hwt import _log, _signals, errors
from hwt._hwtdecode import ffi, lib
from hwt._words import path_text, quoted

if TYPE_CHECKING:
    from hwt._hwtdecode import CData

__all__ = [
    "Context",
    "Handle",
    "check",
    "check_found",
    "check_process",
    "context",
    "error",
    "failure",
    "ffi",
    "in_file",
    "lib",
    "new",
    "optional_id",
    "path_bytes",
    "reporter",
    "run_steps",
    "text",
    "text_or_none",
]

NO_ID: int = lib.HWTD_NO_ID
NO_OFFSET = 0xFFFFFFFFFFFFFFFF

StrPath = Union[str, "os.PathLike[str]"]
# What users give as ``progress=``.
Progress = Union[None, bool, Callable[[int, int], object]]

_EXCEPTIONS: dict[int, type[errors.HwtError]] = {
    lib.HWTD_E_INVALID: errors.InvalidError,
    lib.HWTD_E_IO: errors.TraceIOError,
    lib.HWTD_E_LIMIT: errors.LimitError,
    lib.HWTD_E_TOO_NEW: errors.TooNewError,
    lib.HWTD_E_NOT_FOUND: errors.NotFoundError,
    lib.HWTD_E_STATE: errors.StateError,
    lib.HWTD_E_CORRUPT: errors.CorruptTraceError,
    lib.HWTD_E_UNRECOGNIZED: errors.UnrecognizedError,
    lib.HWTD_E_UNSUPPORTED: errors.UnsupportedError,
    lib.HWTD_E_ENGINE: errors.EngineError,
}


def new(ctype: str) -> CData:
    """A zeroed struct with its ``size`` set: ``new("struct hwtd_stats")``."""
    made = ffi.new(f"{ctype} *")
    made.size = ffi.sizeof(made[0])
    return made


def error() -> CData:
    """A fresh ``struct hwtd_error``."""
    return new("struct hwtd_error")


def text(chars: CData) -> str:
    r"""Text of the library; "" of NULL.  What is no UTF-8 becomes ``\xNN``."""
    if chars == ffi.NULL:
        return ""
    return bytes(ffi.string(chars)).decode("utf-8", "backslashreplace")


def text_or_none(chars: CData) -> Optional[str]:
    """The same; None of NULL."""
    return None if chars == ffi.NULL else text(chars)


def optional_id(number: int) -> Optional[int]:
    """None of ``HWTD_NO_ID``."""
    return None if number == NO_ID else int(number)


def path_bytes(path: StrPath) -> bytes:
    """A path as the operating system takes it."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise errors.InvalidError(
            f"a path with a NUL in it: {quoted(os.fspath(path))}",
            lib.HWTD_E_INVALID,
        )
    return encoded


def failure(
    code: int, err: Optional[CData] = None, file: Optional[str] = None
) -> BaseException:
    """The exception for a code below 0."""
    message = text(lib.hwtd_code_text(code))
    offset = address = number = None
    if err is not None and err.code != 0:
        message = text(err.message) or message
        offset = None if err.offset == NO_OFFSET else int(err.offset)
        address = None if err.addr == NO_OFFSET else int(err.addr)
        number = int(err.sys_errno) or None
    if file is not None and path_text(file) not in message:
        message = f"{path_text(file)}: {message}"
    if code == lib.HWTD_E_NOMEM:
        return MemoryError(message)
    if code == lib.HWTD_E_CANCELED:
        return KeyboardInterrupt(message)
    kind = _EXCEPTIONS.get(code, errors.HwtError)
    if kind is errors.TraceIOError:
        kind = errors.io_error(number)
    # The code is that of any damage.
    if kind is errors.CorruptTraceError and message.endswith(" is strict"):
        kind = errors.StrictError
    return kind(message, code, offset, address, file, number)


@contextlib.contextmanager
def in_file(path: Optional[str]) -> Iterator[None]:
    """What fails in there and names no file is of this one."""
    try:
        yield
    except errors.HwtError as failed:
        if path is not None and failed.file is None and failed.code != 0:
            failed.file = failed.filename = path
            failed.message = f"{path_text(path)}: {failed.message}"
            failed.args = (failed.message,)
        raise


def check(
    code: int, err: Optional[CData] = None, *, file: Optional[str] = None
) -> int:
    """Hand through what is no failure, raise what is one; drain the log."""
    _log.drain()
    _signals.check()
    if code < 0:
        raise failure(code, err, file)
    return code


def check_process(pid: int, name: str) -> None:
    """Refuse what has threads in another process than the one it was made in."""
    if pid != os.getpid():
        raise errors.StateError(
            f"the {name} was opened before this process was forked, and its "
            "threads are not here; open it once more",
            lib.HWTD_E_STATE,
        )


def check_found(code: int, what: str) -> None:
    """The same for a call that tells no more than that there is no such thing."""
    if code == lib.HWTD_E_NOT_FOUND:
        raise errors.NotFoundError(f"there is no {what}", code)
    check(code)


#: They close what has threads, which is of no use in a process that was forked.
_OF_THREADS = (
    "hwtd_calls_close",
    "hwtd_divergences_close",
    "hwtd_events_close",
    "hwtd_runs_close",
)


def slot(ctype: str, closer: str) -> CData:
    """A place for what a call opens: ``slot("struct hwtd_trace", "..._close")``.

    `closer` is the name of the function that gives it up.  That is done when
    nobody has the place any more, nor a `Handle` of it: so nothing is lost
    where a handler of a signal raises right behind the call.
    """
    close = ffi.cast("void (*)(void *)", ffi.addressof(lib, closer))
    process = os.getpid() if closer in _OF_THREADS else 0
    made = lib.hwtpy_slot_create(close, process)
    if made == ffi.NULL:
        raise MemoryError("out of memory")
    return ffi.gc(ffi.cast(f"{ctype} **", made), lib.hwtpy_slot_drop)


class Handle:
    """An object of the library.

    ``Handle(cdata, closer, keeps=...)``: `closer` is called once, with
    `cdata` behind what is `first`, after :meth:`close` or when nobody has the handle any more;
    `keeps` lives longer than the object.  `Handle.of` makes one of a `slot`.

    Who has :attr:`lock` has the object as well, however it is closed
    meanwhile: by another thread, by the handler of a signal or of the log, or
    by what a user is told of progress.  So what is borrowed from it is read
    before the lock is given back, or with the value of :attr:`c` in a variable.
    """

    def __init__(
        self,
        cdata: CData,
        closer: Callable[..., object],
        keeps: object = (),
        name: str = "object",
        first: Tuple[CData, ...] = (),
    ) -> None:
        # No code of Python runs in there: what handlers of signals raise in it
        # would be lost.
        close: Any = functools.partial(closer, *first)
        close.keeps = keeps
        # The reference that counts: `close` is called when the last is gone.
        self._c: Optional[CData] = ffi.gc(cdata, close)
        self.name = name
        #: Where it has threads.
        self._pid: Optional[int] = None
        self._lock = threading.RLock()
        #: Where its lock was taken first; see `_hold`.
        self._level: Optional[int] = None

    @classmethod
    def of(
        cls,
        place: CData,
        closer: str,
        keeps: object = (),
        name: str = "object",
    ) -> "Handle":
        """Of what a call put into a `slot`, with the closer of that."""
        lib.hwtpy_slot_hold(place)
        made = cls(place[0], lib.hwtpy_slot_close, keeps, name, (place,))
        if closer in _OF_THREADS:
            made._pid = os.getpid()
        return made

    @property
    def lock(self) -> ContextManager[None]:
        """For ``with``: calls by one thread at a time, which may nest."""
        return self._hold()

    # A generator gives the lock back wherever Ctrl-C comes between.
    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        with self._lock:
            before, level = self._level, lib.hwtpy_signals_level()
            if before is not None and before < level:
                raise errors.StateError(
                    f"the {self.name} is in use by the call that the signal "
                    "came into",
                    lib.HWTD_E_STATE,
                )
            held = self._c
            try:
                if before is None:
                    self._level = level
                yield
            finally:
                self._level = before
                # Not any longer in a traceback that somebody keeps.
                del held

    @property
    def c(self) -> CData:
        """The pointer."""
        pointer = self._c
        if pointer is None:
            raise errors.ClosedError(f"the {self.name} is closed")
        if self._pid is not None:
            check_process(self._pid, self.name)
        return pointer

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._c is None

    def close(self) -> None:
        """Give it up; once more does nothing."""
        self._c = None

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Context(Handle):
    """A context of the library that logs to the logger ``hwt``."""

    def __init__(self, max_memory: Optional[int] = None) -> None:
        options = new("struct hwtd_context_options")
        if max_memory is not None:
            options.max_memory = max_memory
        _log.connect(options)
        _signals.connect(options)
        out = ffi.new("struct hwtd_context **")
        err = error()
        check(lib.hwtd_context_create(options, out, err), err)
        super().__init__(out[0], lib.hwtd_context_destroy, name="context")


_default: Optional[Context] = None
_default_lock = threading.Lock()


def context(max_memory: Optional[int] = None) -> Context:
    """The context that all share; with a limit one of its own."""
    global _default
    if max_memory is not None:
        return Context(max_memory)
    with _default_lock:
        if _default is None:
            _default = Context()
        return _default


def reporter(progress: Progress) -> Optional[Callable[[int, int], object]]:
    """What to call with (done, total); None: nothing."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        if not callable(progress):
            raise TypeError(f"progress={quoted(progress)} cannot be called")
        given = progress

        def tell(done: int, total: int) -> object:
            try:
                return given(done, total)
            except StopIteration as ended:
                # To who asks for the next rows there were none left.
                raise RuntimeError("progress raised StopIteration") from ended

        return tell
    # A program without a console has none.
    if sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        share = 100.0 * done / total if total else 100.0
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{min(share, 100.0):5.1f} %{end}")
        sys.stderr.flush()

    return show


def _nothing_known() -> Tuple[int, int]:
    return 0, 0


def run_steps(
    step: Callable[[], int],
    progress: Progress = None,
    done: Callable[[], Tuple[int, int]] = _nothing_known,
) -> None:
    """Call `step` until it returns ``HWTD_END``; Ctrl-C is seen in between.

    `progress` is told what `done` says: how far it is, of how much, in bytes.
    """
    tell = reporter(progress)
    while step() != lib.HWTD_END:
        if tell is not None:
            now, total = done()
            # Only the last line of all says that it is done.
            tell(min(now, max(total - 1, 0)), total)
    if tell is not None:
        _, total = done()
        tell(total, total)
