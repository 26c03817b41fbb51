"""Log lines of the library, handed to the logger ``hwt``."""

from __future__ import annotations

import logging
from typing import Any

from hwt._hwtdecode import ffi, lib

_logger = logging.getLogger("hwt")
_logger.addHandler(logging.NullHandler())

_LEVELS = {
    lib.HWTD_LOG_ERROR: logging.ERROR,
    lib.HWTD_LOG_WARNING: logging.WARNING,
    lib.HWTD_LOG_INFO: logging.INFO,
    lib.HWTD_LOG_DEBUG: logging.DEBUG,
}

# It lives as long as the process: threads of the library may write to it until
# the end.
_ring = lib.hwtpy_log_create()


def connect(options: Any) -> None:
    """Let a context of these options log into the ring."""
    if _ring == ffi.NULL:
        return
    options.log = lib.hwtpy_log_take_ptr()
    options.log_arg = _ring
    options.log_level = lib.HWTD_LOG_WARNING
    if _logger.isEnabledFor(logging.DEBUG):
        options.log_level = lib.HWTD_LOG_DEBUG
    elif _logger.isEnabledFor(logging.INFO):
        options.log_level = lib.HWTD_LOG_INFO


def drain() -> None:
    """Hand on what there is."""
    if _ring == ffi.NULL:
        return
    line = ffi.new("struct hwtpy_line *")
    while lib.hwtpy_log_next(_ring, line):
        area = ffi.string(line.area).decode("utf-8", "backslashreplace")
        message = ffi.string(line.message).decode("utf-8", "backslashreplace")
        _logger.log(
            _LEVELS.get(line.level, logging.WARNING), "%s: %s", area, message
        )
    lost = lib.hwtpy_log_lost(_ring)
    if lost:
        _logger.warning("%d lines of the log were lost", lost)
