"""What the library reports, as exceptions.

Each carries the code of the library and where the fault is.  Subclasses are
also the builtin that fits, so that ``except ValueError`` does what it says.
Memory that is not there is a ``MemoryError``.
"""

from __future__ import annotations

import errno as _errno
from typing import Any, Optional

__all__ = [
    "ClosedError",
    "CorruptTraceError",
    "EngineError",
    "FileIsThereError",
    "HwtError",
    "InvalidError",
    "IsFolderError",
    "LimitError",
    "MissingFileError",
    "NotFoundError",
    "NotPermittedError",
    "StateError",
    "StrictError",
    "TooNewError",
    "TraceIOError",
    "UnrecognizedError",
    "UnsupportedError",
]


class HwtError(Exception):
    """A call of the library failed.

    Parameters
    ----------
    message : str
        One line: what was wrong, and what to do.
    code : int
        The ``hwtd_code`` of the library; 0 where the package itself refused.
    offset : int or None
        Byte offset in the input at fault.
    address : int or None
        Virtual address at fault.
    file : str or None
        The file that was worked on.
    errno : int or None
        What the operating system said.

    Attributes
    ----------
    message : str
        One line: what was wrong, and what to do.
    code : int
        The ``hwtd_code`` of the library; 0 where the package itself refused.
    offset : int or None
        Byte offset in the input at fault.
    address : int or None
        Virtual address at fault.
    file : str or None
        The file that was worked on.
    errno : int or None
        What the operating system said.

    Examples
    --------
    >>> try:
    ...     hwt.open("/nowhere.hwt")
    ... except hwt.HwtError as error:
    ...     error.code < 0, error.file
    (True, '/nowhere.hwt')
    """

    errno: Optional[int] = None
    filename: Optional[str] = None

    def __init__(
        self,
        message: str = "",
        code: int = 0,
        offset: Optional[int] = None,
        address: Optional[int] = None,
        file: Optional[str] = None,
        errno: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.offset = offset
        self.address = address
        self.file = file
        self.errno = errno
        # The name that OSError has for it.
        self.filename = file

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return (
            type(self),
            (
                self.message,
                self.code,
                self.offset,
                self.address,
                self.file,
                self.errno,
            ),
        )


class InvalidError(HwtError, ValueError):
    """An argument breaks a rule (``HWTD_E_INVALID``)."""


class TraceIOError(HwtError, OSError):
    """The operating system refused (``HWTD_E_IO``); see ``errno``.

    It is also the exception of Python for that errno, where there is one: a
    file that is not there can be caught as ``FileNotFoundError``.
    """

    # OSError looks at its arguments before __init__ does.
    def __new__(cls, *args: Any, **kw: Any) -> "TraceIOError":
        return super().__new__(cls)


class MissingFileError(TraceIOError, FileNotFoundError):
    """There is no such file."""


class NotPermittedError(TraceIOError, PermissionError):
    """The file may not be read or written."""


class IsFolderError(TraceIOError, IsADirectoryError):
    """The file is a folder."""


class FileIsThereError(TraceIOError, FileExistsError):
    """The file is there already."""


def io_error(number: Optional[int]) -> type[TraceIOError]:
    """The class for what the operating system said."""
    return {
        _errno.ENOENT: MissingFileError,
        _errno.EACCES: NotPermittedError,
        _errno.EPERM: NotPermittedError,
        _errno.EISDIR: IsFolderError,
        _errno.EEXIST: FileIsThereError,
    }.get(number or 0, TraceIOError)


class LimitError(HwtError):
    """A limit was reached (``HWTD_E_LIMIT``); the message names it."""


class TooNewError(HwtError):
    """The library is older than the package (``HWTD_E_TOO_NEW``)."""


class NotFoundError(HwtError, LookupError):
    """There is no such thing (``HWTD_E_NOT_FOUND``)."""


class StateError(HwtError, RuntimeError):
    """Not now: the object is in another state (``HWTD_E_STATE``)."""


class ClosedError(HwtError, ValueError):
    """The object was closed."""


class CorruptTraceError(HwtError, ValueError):
    """The input breaks its format (``HWTD_E_CORRUPT``); see ``offset``."""


class StrictError(CorruptTraceError):
    """What was asked for with ``strict=True`` has gaps."""


class UnrecognizedError(HwtError, ValueError):
    """No reader knows the content (``HWTD_E_UNRECOGNIZED``)."""


class UnsupportedError(HwtError, NotImplementedError):
    """This build or machine cannot do it (``HWTD_E_UNSUPPORTED``)."""


class EngineError(HwtError):
    """A library underneath failed (``HWTD_E_ENGINE``)."""
