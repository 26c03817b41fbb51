"""Signals while the library works: Ctrl-C ends a call that takes long.

The library asks from time to time, in the thread that called it.  In the main
thread Python is asked then, which runs handlers of signals; what they raise
cannot pass through C, so it is kept until the call has come back.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, List

from hwt._hwtdecode import ffi, lib

if TYPE_CHECKING:
    from hwt._hwtdecode import CData

_raised: List[BaseException] = []


def _keep(kind: Any, value: BaseException, traceback: Any) -> int:
    """A handler raised."""
    _raised.append(value)
    return 1


def _look() -> int:
    """Called by C: here handlers run, if only because code of Python does."""
    try:
        for _ in range(2):
            pass
    except BaseException as e:
        _raised.append(e)
    return len(_raised)


getattr(ffi, "def_extern")("hwtpy_signals_look", error=1, onerror=_keep)(_look)


def _begin() -> None:
    main = threading.main_thread().ident
    if main is not None:
        lib.hwtpy_signals_begin(main)


_begin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


def connect(options: CData) -> None:
    """Let a context of these options ask."""
    options.poll = ffi.addressof(lib, "hwtpy_signals_poll")


def check() -> None:
    """Raise what a handler raised during the call."""
    if _raised and threading.current_thread() is threading.main_thread():
        raised = _raised[0]
        _raised.clear()
        raise raised
