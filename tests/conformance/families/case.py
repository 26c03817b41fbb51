"""A conformance case on disk: its description, its files, and their hashes."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

CHUNK = 1 << 20


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Fail(Exception):
    """The decode differs from what is expected; the text says how."""


class Malformed(Exception):
    """The case itself is broken; the text says how."""


def _digest(path: Path) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            digest.update(chunk)
    return size, digest.hexdigest()


class Case:
    """One case; compressed files are unpacked into a temporary directory."""

    def __init__(self, folder: Path, name: str, temporary: Path) -> None:
        self.folder = folder
        self.name = name
        self.family, _, self.short = name.partition("/")
        self.temporary = temporary
        self._paths: dict[str, Path] = {}
        try:
            text = (folder / "case.json").read_text(encoding="utf-8")
            data = json.loads(text)
        except (OSError, ValueError) as error:
            raise Malformed(f"case.json: {error}") from None
        if not isinstance(data, dict):
            raise Malformed("case.json is no object")
        self.data: dict[str, Any] = data

    def section(self, name: str) -> Mapping[str, Any]:
        """Return an object of case.json; empty if it is not there."""
        value = self.data.get(name, {})
        if not isinstance(value, dict):
            raise Malformed(f"{name} in case.json is no object")
        return value

    def has(self, name: str) -> bool:
        """Say whether the case lists this file."""
        return name in self.section("files") or \
            name in self.section("expected")

    def path(self, name: str) -> Path:
        """Return where a listed file lies, unpacked and verified."""
        if name not in self._paths:
            for section in ("files", "expected"):
                entry = self.section(section).get(name)
                if entry is not None:
                    self._paths[name] = self._verified(name, entry)
                    break
            else:
                raise Malformed(f"{name} is not listed in case.json")
        return self._paths[name]

    def lines(self, name: str) -> list[str]:
        """Return the lines of a listed text file."""
        try:
            return self.path(name).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise Malformed(f"{name} is no text") from None

    def verify(self) -> None:
        """Check size and hash of every listed file."""
        for section in ("files", "expected"):
            for name in self.section(section):
                self.path(name)

    def _inside(self, name: str) -> Path:
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts:
            raise Malformed(f"{name} leads out of the case")
        return self.folder / parts

    def _verified(self, name: str, entry: Any) -> Path:
        if not isinstance(entry, dict) or "sha256" not in entry:
            raise Malformed(f"{name} has no sha256 in case.json")
        path = self._inside(name)
        stored = entry.get("stored")
        if stored is not None:
            path = self._unpack(name, self._inside(str(stored)))
        try:
            size, digest = _digest(path)
        except OSError as error:
            raise Malformed(f"{name}: {error.strerror}") from None
        if size != entry.get("size", size):
            raise Malformed(f"{name} has {size} bytes, case.json says "
                            f"{entry['size']}")
        if digest != entry["sha256"]:
            raise Malformed(f"{name} has another sha256 than case.json says")
        return path

    def _unpack(self, name: str, stored: Path) -> Path:
        if not stored.is_file():
            raise Malformed(f"{stored.name} is missing")
        out = self.temporary / "case" / name
        out.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["zstd", "-q", "-d", "-f", str(stored), "-o", str(out)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        if done.returncode != 0:
            raise Malformed(f"{stored.name}: {done.stderr.strip()}")
        return out
