"""Hardware traces: what a program executed, as tables.

``hwt.open(path)`` opens a trace; its methods give plans and tables, which
pandas, polars, pyarrow and DuckDB read.  See :class:`hwt.Trace`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

from hwt import _owner

# Before anything else is imported: files of another owner may be among ours.
_owner.check(__path__[0])

from hwt._native import lib as _lib, text as _text  # noqa: E402
from hwt._open import example, open  # noqa: E402
from hwt.build import Builder  # noqa: E402
from hwt.errors import (  # noqa: E402
    ClosedError,
    CorruptTraceError,
    EngineError,
    HwtError,
    InvalidError,
    LimitError,
    NotFoundError,
    StateError,
    StrictError,
    TooNewError,
    TraceIOError,
    UnrecognizedError,
    UnsupportedError,
)
from hwt.trace import Trace  # noqa: E402

if TYPE_CHECKING:
    from hwt._table import Table

__distribution__ = _owner.DISTRIBUTION
__version__ = "0.1.0"

__all__ = [
    "Builder",
    "ClosedError",
    "CorruptTraceError",
    "EngineError",
    "HwtError",
    "InvalidError",
    "LimitError",
    "NotFoundError",
    "StateError",
    "StrictError",
    "Table",
    "TooNewError",
    "Trace",
    "TraceIOError",
    "UnrecognizedError",
    "UnsupportedError",
    "example",
    "library_version",
    "open",
]


#: Modules of names that need no import of their own.
_MODULES = (
    "build",
    "capture",
    "config",
    "coverage",
    "diff",
    "divergence",
    "errors",
    "events",
    "exports",
    "facts",
    "flame",
    "gaps",
    "histogram",
    "images",
    "memory",
    "profile",
    "testing",
    "trace",
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # What a trace is opened for may need no table, and no other module.
        if name in _MODULES:
            return importlib.import_module(f"hwt.{name}")
        if name != "Table":
            raise AttributeError(f"module 'hwt' has no attribute {name!r}")
        from hwt._table import Table

        return Table


def __dir__() -> List[str]:
    return sorted({*globals(), *_MODULES, *__all__})


def library_version() -> str:
    """Version of the C library in the package.

    Returns
    -------
    str
        For instance ``"0.1.0"``.

    Examples
    --------
    >>> hwt.library_version() == hwt.__version__
    True
    """
    return _text(_lib.hwtd_version())
