"""Where exports go: a file and those behind it, or whatever has ``write``."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from typing import Any, List, Optional, Protocol, Tuple, Union

from hwt._native import StrPath, path_bytes
from hwt._part import Part
from hwt._words import quoted
from hwt.errors import InvalidError


class Writer(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes) -> Any:
        """Take some bytes."""


class Target:
    """Takes the bytes of an export."""

    #: It can go on with another file.
    several = False

    def write(self, data: Any) -> None:
        """Take a buffer, which is borrowed."""
        raise NotImplementedError

    def next_file(self) -> None:
        """What follows is of the next file."""
        raise NotImplementedError

    def done(self) -> Tuple[str, ...]:
        """All was written; the files that there are."""
        return ()

    def give_up(self) -> None:
        """Nothing of it shall be there."""


class ToWriter(Target):
    """A binary file object of the caller, which stays open."""

    def __init__(self, file: Any) -> None:
        if isinstance(file, io.TextIOBase):
            raise TypeError(
                f"{quoted(file)} is a file of text, and an export is bytes: "
                "open it in mode 'wb'"
            )
        self._file = file

    def write(self, data: Any) -> None:
        # The caller may keep what it is given.
        rest = bytes(data)
        while rest:
            taken = self._file.write(rest)
            if not isinstance(taken, int) or taken >= len(rest):
                return
            if taken <= 0:
                raise BlockingIOError(
                    errno.EAGAIN, "the file takes nothing now", None
                )
            rest = rest[taken:]


class ToPath(Target):
    """NAME, then NAME.2, NAME.3 and so on; there when all was written."""

    def __init__(self, path: StrPath, inputs: List[str]) -> None:
        self._path = os.path.realpath(os.fsdecode(path_bytes(path)))
        for one in inputs:
            with contextlib.suppress(OSError):
                if os.path.samefile(one, self._path):
                    raise InvalidError(
                        f"{os.fspath(path)}: that is the trace itself; "
                        "name another file"
                    )
        self._special = False
        with contextlib.suppress(FileNotFoundError):
            self._special = not stat.S_ISREG(os.stat(self._path).st_mode)
        self.several = not self._special
        #: Of each file; None: what is written goes there at once.
        self._parts: List[Optional[Part]] = []
        self._names: List[str] = []
        self._open: Optional[Any] = None
        self._begin()

    def _begin(self) -> None:
        number = len(self._names) + 1
        name = self._path if number == 1 else f"{self._path}.{number}"
        part = None if self._special else Part(name)
        self._parts.append(part)
        self._names.append(name)
        if part is None:
            self._open = open(name, "wb", buffering=0)
        else:
            self._open = part.open(buffering=0)

    def write(self, data: Any) -> None:
        rest = memoryview(data)
        while len(rest):
            rest = rest[self._open.write(rest) or 0 :]  # type: ignore

    def _end(self) -> None:
        file, self._open = self._open, None
        if file is not None:
            file.close()

    def next_file(self) -> None:
        self._end()
        self._begin()

    def done(self) -> Tuple[str, ...]:
        self._end()
        for part in self._parts:
            if part is not None:
                part.commit()
        return tuple(self._names)

    def give_up(self) -> None:
        with contextlib.suppress(OSError):
            self._end()
        for part in self._parts:
            if part is not None:
                part.give_up()


def target_of(
    file: Union[StrPath, Writer], inputs: List[str], name: str
) -> Target:
    """What an export is written to; in a folder a file called `name`."""
    if not isinstance(file, (str, os.PathLike)):
        if not callable(getattr(file, "write", None)):
            raise TypeError(
                f"{quoted(file)} is no path, no folder, and has no write()"
            )
        return ToWriter(file)
    if os.path.isdir(file):
        return ToPath(os.path.join(os.fspath(file), name), inputs)
    return ToPath(file, inputs)
