"""What messages say of what was given: short, however long that is."""

from __future__ import annotations

import os
import reprlib
from typing import Any, Iterable, List

__all__ = ["near", "path_text", "plural", "printable", "quoted"]

# Of a text, and of a path: systems have none that are longer.
_MOST = 100
_MOST_PATH = 4096
# Names that are compared with one that is not there.
_MOST_NAMES = 10000

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _MOST


def printable(text: str) -> str:
    r"""A text without what moves a cursor or turns a line: ``\x1b`` instead."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def quoted(value: Any) -> str:
    """Something for a message, cut where it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= _MOST else f"{value[:_MOST]}...")
    if isinstance(value, bytes):
        return repr(value if len(value) <= _MOST else value[:_MOST] + b"...")
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    return _short.repr(value)


def path_text(path: Any) -> str:
    r"""A path for a message; bytes that are no text become ``\xNN``."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return name if len(name) <= _MOST_PATH else f"{name[:_MOST]}..."


def near(
    name: Any, names: Iterable[str], n: int = 1, least: float = 0.5
) -> List[str]:
    """Names that come near one that is not there, the nearest first."""
    import difflib

    if not isinstance(name, str):
        return []
    # Comparing takes time by length times length.
    short = dict.fromkeys(one for one in names if len(one) <= _MOST)
    return difflib.get_close_matches(
        name[:_MOST], list(short)[:_MOST_NAMES], n, least
    )


def plural(n: int, what: str, many: str = "") -> str:
    """Say how many of something there are."""
    return f"{n} {what if n == 1 else many or what + 's'}"
