"""Log lines of the library, handed to the logger ``hwt``.

The library writes them from any of its threads, also while Python ends; so
they go into a ring in C, and Python fetches them when a call has returned.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from hwt._hwtdecode import ffi, lib

if TYPE_CHECKING:
    from hwt._hwtdecode import CData

_logger = logging.getLogger("hwt")
_logger.addHandler(logging.NullHandler())

_LEVELS = {
    lib.HWTD_LOG_ERROR: logging.ERROR,
    lib.HWTD_LOG_WARNING: logging.WARNING,
    lib.HWTD_LOG_INFO: logging.INFO,
    lib.HWTD_LOG_DEBUG: logging.DEBUG,
}


def _ring() -> CData:
    """A ring that lives as long as the process: contexts write to it."""
    ring = lib.hwtpy_log_create()
    if ring == ffi.NULL:
        raise MemoryError("no memory for the log")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            after_in_child=lambda: lib.hwtpy_log_forked(ring)
        )
    return ring


RING = _ring()


def connect(options: CData) -> None:
    """Let a context of these options write to the ring."""
    options.log = lib.hwtpy_log_sink()
    options.log_arg = RING
    # What the logger does not want the ring drops: the level of a logger may
    # change at any time, that of a context does not.
    options.log_level = lib.HWTD_LOG_DEBUG
    follow()


def follow() -> None:
    """Keep what the logger wants from now on."""
    wanted = 0
    for level, python_level in _LEVELS.items():
        if _logger.isEnabledFor(python_level):
            wanted = max(wanted, level)
    lib.hwtpy_log_set_level(RING, wanted)


def drain() -> None:
    """Hand on what there is."""
    follow()
    if not lib.hwtpy_log_waits(RING):
        return
    line = ffi.new("struct hwtpy_line *")
    while lib.hwtpy_log_next(RING, line):
        area, message = (
            bytes(ffi.string(chars)).decode("utf-8", "backslashreplace")
            for chars in (line.area, line.message)
        )
        level = _LEVELS.get(line.level, logging.WARNING)
        _logger.log(level, "%s: %s", area, message)
    lost = lib.hwtpy_log_lost(RING)
    if lost:
        _logger.warning("%d lines of the log were lost", lost)
