"""Coverage: how its rows are read, and what the columns of its tables are."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, Sequence

from hwt import _measure, _native
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns, Loss
from hwt._table import Names, Table
from hwt._words import quoted


class Share(NamedTuple):
    """So many of so many.

    Attributes
    ----------
    hit : int
        How many were reached.
    total : int
        How many there are.
    """

    hit: int
    total: int

    @property
    def percent(self) -> float | None:
        """Of 100; None if there are none of which it could be a part."""
        return 100.0 * self.hit / self.total if self.total else None


@dataclass(frozen=True)
class CoverageInfo:
    """The sums of a coverage, and what was not seen.

    Attributes
    ----------
    lines, functions, branches : Share
        Of what has a source file.  Branches are counted by their ways: two of
        each conditional branch instruction.
    edges : Share
        Both ways of conditional branches, and direct jumps and calls.
    bare_functions, bare_branches : Share
        Of what has no source file.
    traces : int
        Traces that were added.
    insns : int
        Instructions that were executed.
    lost_insns : int
        About how many ran unseen: a guess, gaps are taken to be as dense as
        the rest.
    code_bytes, bare_bytes : int
        Bytes of code that ran, and of them those without a line.
    n_images, n_files, n_functions, n_lines, n_branches, n_edges : int
        Rows of each table.
    images_missing, images_without_lines, images_damaged : int
        Images whose code was not there, that have no debug information that
        could be used, and of which it is damaged.
    gap_bytes_by_reason : mapping of str to int
        Bytes of trace in gaps.
    loss : Loss
        What of the traces gave nothing.
    """

    lines: Share
    functions: Share
    branches: Share
    edges: Share
    bare_functions: Share
    bare_branches: Share
    traces: int
    insns: int
    lost_insns: int
    code_bytes: int
    bare_bytes: int
    n_images: int
    n_files: int
    n_functions: int
    n_lines: int
    n_branches: int
    n_edges: int
    images_missing: int
    images_without_lines: int
    images_damaged: int
    gap_bytes_by_reason: Mapping[str, int]
    loss: Loss


def _share(c: Any) -> Share:
    return Share(c.hit, c.total)


def info_of(c: Any) -> CoverageInfo:
    loss = _measure.loss_of(c)
    return CoverageInfo(
        lines=_share(c.lines),
        functions=_share(c.functions),
        branches=_share(c.branches),
        edges=_share(c.edges),
        bare_functions=_share(c.bare_functions),
        bare_branches=_share(c.bare_branches),
        traces=c.traces,
        insns=c.insns,
        lost_insns=c.lost_insns,
        code_bytes=c.code_bytes,
        bare_bytes=c.bare_bytes,
        n_images=c.n_images,
        n_files=c.n_files,
        n_functions=c.n_functions,
        n_lines=c.n_lines,
        n_branches=c.n_branches,
        n_edges=c.n_edges,
        images_missing=c.images_missing,
        images_without_lines=c.images_without_lines,
        images_damaged=c.images_damaged,
        gap_bytes_by_reason={
            _native.text(lib.hwtd_gap_reason_name(i)): int(
                c.gap_bytes_by_reason[i]
            )
            for i in range(lib.HWTD_GAP_REASONS)
            if c.gaps[i]
        },
        loss=loss,
    )


class Sums:
    """Reads what a coverage has; whoever does holds its lock."""

    def __init__(self, handle: _native.Handle) -> None:
        self.handle = handle

    def rows(self, by: str) -> tuple[Any, int]:
        """Read a table; the lock is held."""
        function, ctype = {
            "image": (lib.hwtd_coverage_images, "image"),
            "file": (lib.hwtd_coverage_files, "file"),
            "function": (lib.hwtd_coverage_functions, "function"),
            "line": (lib.hwtd_coverage_lines, "line"),
            "branch": (lib.hwtd_coverage_branches, "branch"),
            "edge": (lib.hwtd_coverage_edges, "edge"),
        }[by]
        info = self.c_info()
        n = {
            "image": info.n_images,
            "file": info.n_files,
            "function": info.n_functions,
            "line": info.n_lines,
            "branch": info.n_branches,
            "edge": info.n_edges,
        }[by]
        err = _native.error()

        def read(first: int, out: Any, size: int, cap: int, got: Any) -> int:
            return _native.check(
                function(self.handle.c, first, out, size, cap, got, err), err
            )

        return _measure.read_rows(f"struct hwtd_coverage_{ctype}", n, read)

    def columns(self, by: str) -> Columns:
        rows, n = self.rows(by)
        return Columns(n, f"struct hwtd_coverage_{by}", rows)

    def names(self, by: str, path: str) -> Names:
        """Texts that rows of other tables refer to."""
        rows, n = self.rows(by)
        return Names.member(rows, f"struct hwtd_coverage_{by}", path, n)

    def texts(self, by: str, path: str) -> list[str]:
        rows, n = self.rows(by)
        return [_native.text(getattr(rows[i], path)) for i in range(n)]

    def counts(self, by: str) -> dict[tuple[Any, ...], int]:
        """Counts by what is the same in two runs; same keys add up."""
        counts: dict[tuple[Any, ...], int] = {}
        with self.handle.lock:
            rows, n = self.rows(by)
            path = self.texts("file", "path")
            image = self.texts("image", "name")
            for i in range(n):
                row = rows[i]
                file = path[row.file] if row.file < len(path) else None
                if by == "line":
                    counts[file, row.line] = row.count
                    continue
                if by == "function":
                    key: tuple[Any, ...] = (
                        _native.text_or_none(row.name),
                        file,
                        row.line or None,
                        image[row.image] if file is None else None,
                    )
                    hit = row.flags & lib.HWTD_COVERAGE_FUNCTION_HIT
                    # It ran, though it was not entered.
                    count = max(row.count, 1 if hit else 0)
                    counts[key] = counts.get(key, 0) + count
                    continue
                for way in ("taken", "not taken"):
                    count = row.taken if way == "taken" else row.not_taken
                    key = (
                        file,
                        row.line or None,
                        image[row.image],
                        row.file_off,
                        way,
                    )
                    counts[key] = counts.get(key, 0) + count
        return counts

    def notes(self) -> list[str]:
        info = info_of(self.c_info())
        notes = info.loss.notes
        if info.lost_insns:
            notes.append(
                f"about {info.lost_insns} instructions ran there, besides the "
                f"{info.insns} that were seen; what ran only then counts as "
                "not reached"
            )
        rows, n = self.rows("image")
        for image in rows[0:n]:
            missing = image.flags & lib.HWTD_COVERAGE_IMAGE_MISSING
            bare = not missing and not image.flags & (
                lib.HWTD_COVERAGE_IMAGE_LINES
                | lib.HWTD_COVERAGE_IMAGE_LEFT_OUT
            )
            fault = _native.text(image.fault)
            if not missing and not bare and not fault:
                continue
            what = "no code" if missing else "no lines" if bare else "damaged"
            notes.append(
                f"{what}: {_native.text(image.name)}"
                + (f": {fault}" if fault else "")
            )
        return notes

    def c_info(self) -> Any:
        err = _native.error()
        info = _native.new("struct hwtd_coverage_info")
        _native.check(lib.hwtd_coverage_info(self.handle.c, info, err), err)
        return info


#: Of a number: it is not 0.
_ANY = (1 << 64) - 1


def only(table: Table, wanted: bool, column: str, value: object) -> Table:
    """Those rows that have a value, if only they are wanted."""
    if not wanted:
        return table
    return table.filter(v == value for v in table.column(column).to_list())


def functions(sums: Sums, uncovered: bool) -> Table:
    with sums.handle.lock:
        c = sums.columns("function")
        files = sums.names("file", "path")
        images = sums.names("image", "name")
        c.text("function", "name", "name as people write it")
        c.text("linkage_name", "linkage_name", "name for the linker")
        c.named("file", "file", files, "source file")
        c.number(
            "line",
            "u32",
            "line",
            known=("line", _ANY),
            meaning="line of the source file",
        )
        c.named("image", "image", images, "image that has its code")
        c.number(
            "file_off",
            "u64",
            "file_off",
            unit="bytes",
            meaning="where its code begins in the file of the image",
            known=("flags", lib.HWTD_COVERAGE_FUNCTION_OFF),
        )
        c.number("count", "u64", "count", meaning="how often it was entered")
        c.flag(
            "hit",
            "flags",
            lib.HWTD_COVERAGE_FUNCTION_HIT,
            "some instruction of it ran",
        )
        c.flag(
            "inlined",
            "flags",
            lib.HWTD_COVERAGE_FUNCTION_INLINED,
            "it was inlined somewhere",
        )
        table = c.table("coverage of functions", sums.notes())
    return only(table, uncovered, "hit", False)


def lines(sums: Sums, uncovered: bool) -> Table:
    with sums.handle.lock:
        c = sums.columns("line")
        c.named("file", "file", sums.names("file", "path"), "source file")
        c.number("line", "u32", "line", meaning="line of the source file")
        c.number("count", "u64", "count", meaning="how often it was executed")
        table = c.table("coverage of lines", sums.notes())
    return only(table, uncovered, "count", 0)


def branches(sums: Sums, uncovered: bool) -> Table:
    with sums.handle.lock:
        c = sums.columns("branch")
        files = sums.names("file", "path")
        c.named("file", "file", files, "source file")
        c.number(
            "line",
            "u32",
            "line",
            known=("line", _ANY),
            meaning="line of the source file",
        )
        c.named(
            "image",
            "image",
            sums.names("image", "name"),
            "image that has it",
        )
        c.number(
            "file_off",
            "u64",
            "file_off",
            unit="bytes",
            meaning="where it lies in the file of the image",
        )
        c.flag(
            "reached",
            "flags",
            lib.HWTD_COVERAGE_BRANCH_REACHED,
            "it ran",
        )
        c.number("taken", "u64", "taken", meaning="how often it jumped")
        c.number(
            "not_taken",
            "u64",
            "not_taken",
            meaning="how often it went on behind itself",
        )
        table = c.table("coverage of branches", sums.notes())
    if not uncovered:
        return table
    ways = zip(
        table.column("taken").to_list(),
        table.column("not_taken").to_list(),
    )
    return table.filter(0 in both for both in ways)


def edges(sums: Sums, uncovered: bool) -> Table:
    with sums.handle.lock:
        c = sums.columns("edge")
        images = sums.names("image", "name")
        c.named("from_image", "from_image", images, "image of the branch")
        c.number(
            "from_off",
            "u64",
            "from",
            unit="bytes",
            meaning="the branch in the file of its image",
        )
        c.named("to_image", "to_image", images, "image that it leads to")
        c.number(
            "to_off",
            "u64",
            "to",
            unit="bytes",
            meaning="the place in the file of that, or a virtual address",
        )
        c.named("branch", "branch", _measure.branch_names(), "kind of branch")
        c.number("count", "u64", "count", meaning="how often it was gone")
        c.flag(
            "known",
            "flags",
            lib.HWTD_COVERAGE_EDGE_KNOWN,
            "the code says that it can be",
        )
        table = c.table("coverage of edges", sums.notes())
    return only(table, uncovered, "count", 0)


def files(sums: Sums, uncovered: bool) -> Table:
    with sums.handle.lock:
        c = sums.columns("file")
        c.text("file", "path", "source file")
        for name, member, meaning in (
            ("lines_hit", "n_lines_hit", "lines that were reached"),
            ("lines", "n_lines", "lines with code"),
            (
                "functions_hit",
                "n_functions_hit",
                "functions that were reached",
            ),
            ("functions", "n_functions", "functions"),
            ("branches_hit", "n_ways_hit", "ways of branches gone"),
        ):
            c.number(name, "u64", member, meaning=meaning)
        c.listed(
            "branches",
            "u64",
            [2 * c.rows[i].n_branches for i in range(c.n)],
            meaning="ways of conditional branches, two of each",
        )
        table = c.table("coverage of files", sums.notes())
    if not uncovered:
        return table
    lines = zip(
        table.column("lines_hit").to_list(),
        table.column("lines").to_list(),
    )
    return table.filter(hit < n for hit, n in lines)


def images(sums: Sums) -> Table:
    with sums.handle.lock:
        c = sums.columns("image")
        c.text("image", "name", "path or name")
        c.listed(
            "build_id",
            "text",
            [
                (
                    bytes(ffi.buffer(row.build_id, row.n_build_id)).hex()
                    if row.n_build_id
                    else None
                )
                for row in c.rows[0 : c.n]
            ],
            meaning="build-id in hex digits",
        )
        c.flag(
            "missing",
            "flags",
            lib.HWTD_COVERAGE_IMAGE_MISSING,
            "its code was not there",
        )
        c.flag(
            "has_lines",
            "flags",
            lib.HWTD_COVERAGE_IMAGE_LINES,
            "it has lines",
        )
        for what in ("lines", "functions", "branches", "edges"):
            c.number(
                f"{what}_hit",
                "u64",
                f"{what}.hit",
                meaning=f"{what} that were reached",
            )
            c.number(what, "u64", f"{what}.total", meaning=f"all {what}")
        c.number(
            "code_bytes",
            "u64",
            "code_bytes",
            unit="bytes",
            meaning="code that ran",
        )
        c.number(
            "bare_bytes",
            "u64",
            "bare_bytes",
            unit="bytes",
            meaning="code that ran and has no line",
        )
        c.text("fault", "fault", "what of its files could not be read")
        return c.table("coverage of images", sums.notes())


def ranges_of(rows: Any, n: int) -> list[tuple[int, int, int, int]]:
    """Stretches of lines that were not reached: file, first, last, lines."""
    ranges: list[tuple[int, int, int, int]] = []
    open_range: tuple[int, int, int, int] | None = None
    for i in range(n):
        row = rows[i]
        if open_range and (row.count != 0 or row.file != open_range[0]):
            ranges.append(open_range)
            open_range = None
        if row.count != 0:
            continue
        file, first, _, lines = open_range or (row.file, row.line, 0, 0)
        open_range = file, first, row.line, lines + 1
    if open_range:
        ranges.append(open_range)
    return ranges


FILE = ("file", "text", "source file")
LINE = ("line", "u32", "line of the source file")
KEYS = {
    "line": (FILE, LINE),
    "function": (
        ("function", "text", "name as people write it"),
        FILE,
        LINE,
        ("image", "text", "image, of what has no source file"),
    ),
    "branch": (
        FILE,
        LINE,
        ("image", "text", "image that has it"),
        ("file_off", "u64", "where it lies in the file of the image"),
        ("way", "text", "taken or not taken"),
    ),
}


#: A source file that is larger is none that people wrote.
MAX_SOURCE_BYTES = 64 << 20


def find_file(file: str, paths: Sequence[str]) -> int:
    file = os.fspath(file)
    found = [i for i, path in enumerate(paths) if path == file] or [
        i for i, path in enumerate(paths) if path.endswith(f"/{file}")
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise LookupError(
            f"several files end in {quoted(file)}: "
            + ", ".join(repr(paths[i]) for i in found[:5])
        )
    # The same name elsewhere, else one like it.
    last = file.rsplit("/", 1)[-1]
    near = [path for path in paths if path.rsplit("/", 1)[-1] == last]
    if near:
        raise LookupError(
            f"no source file is {quoted(file)}; there is "
            + ", ".join(map(repr, near[:3]))
        )
    names = [path.rsplit("/", 1)[-1] for path in paths]
    raise LookupError(
        f"no source file is {quoted(file)}{_measure.near_names(last, names)}"
    )


def read_source(path: str | bytes | os.PathLike[str]) -> list[str]:
    """Read lines; the name is that of a trace, so it may be anything."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{os.fsdecode(path)!r} is no regular file")
        data = file.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise OSError(
            f"{os.fsdecode(path)!r} is larger than {MAX_SOURCE_BYTES} bytes"
        )
    text = data.replace(b"\r\n", b"\n").decode("utf-8", "backslashreplace")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines
