"""Where exports go: a file and those behind it, or whatever has ``write``."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from typing import Any, Iterator, List, Optional, Protocol, Tuple, Union

from hwt._native import part_name, path_bytes
from hwt._words import quoted
from hwt.errors import InvalidError

StrPath = Union[str, "os.PathLike[str]"]


@contextlib.contextmanager
def told_of(part: str, name: str) -> Iterator[None]:
    """What the system says of a file in the making is said of the file."""
    try:
        yield
    except OSError as failed:
        if failed.filename == part:
            failed.filename = name
        raise


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
        #: Name while it is written, and name then.
        self._files: List[Tuple[str, str]] = []
        self._open: Optional[Any] = None
        self._begin()

    def _begin(self) -> None:
        number = len(self._files) + 1
        name = self._path if number == 1 else f"{self._path}.{number}"
        if self._special:
            self._open = open(name, "wb", buffering=0)
            self._files.append((name, name))
            return
        part = part_name(name)
        with told_of(part, name):
            self._open = open(part, "xb", buffering=0)
        self._files.append((part, name))

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
        for part, name in self._files:
            if part != name:
                os.replace(part, name)
        return tuple(name for _, name in self._files)

    def give_up(self) -> None:
        with contextlib.suppress(OSError):
            self._end()
        for part, name in self._files:
            if part != name:
                with contextlib.suppress(OSError):
                    os.unlink(part)


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
