"""Files in the making: they appear under their name only when they are whole."""

from __future__ import annotations

import os
import secrets
from typing import Any, Optional

from hwt._native import StrPath, ffi, lib, path_bytes


def replaceable(path: StrPath) -> Optional[str]:
    """Where links lead to, if a file may be put there; None: a device, a folder.

    Who renames something to the name of a device has no device any more.
    """
    real = os.path.realpath(os.fsdecode(path_bytes(path)))
    if os.path.exists(real) and not os.path.isfile(real):
        return None
    return real


class Part:
    """A file that becomes `final`, and until then has a :attr:`name` of its own.

    It goes when it is given up, or when nobody has it any more: where a handler
    of a signal raises between two steps, nobody is left who could give it up.
    """

    def __init__(self, final: str) -> None:
        self.final = final
        self.name = f"{final}.part{os.getpid()}.{secrets.token_hex(4)}"
        made = lib.hwtpy_part_create(os.fsencode(self.name), os.getpid())
        if made == ffi.NULL:
            raise MemoryError("out of memory")
        self._file = ffi.gc(made, lib.hwtpy_part_drop)

    def open(self, buffering: int = -1) -> Any:
        """For writing; what the system says of it is said of the final one."""
        try:
            return open(self.name, "xb", buffering=buffering)
        except OSError as failed:
            if failed.filename == self.name:
                failed.filename = self.final
            raise

    def commit(self) -> None:
        """It is whole."""
        os.replace(self.name, self.final)

    def give_up(self) -> None:
        """Nothing of it shall be there, unless it is whole."""
        ffi.release(self._file)

    def __enter__(self) -> "Part":
        return self

    def __exit__(self, *exc: object) -> None:
        self.give_up()
