"""Flame graphs: what stacks weigh, as a picture, folded, or as a table."""

from __future__ import annotations

import contextlib
import html
import os
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

from hwt._export_files import Target, Writer, target_of
from hwt._native import (
    Handle,
    Progress,
    StrPath,
    check,
    error,
    ffi,
    lib,
    new,
    slot,
    text,
)
from hwt._filters import settled
from hwt._profile_info import of_hundred
from hwt._profile_tables import read_rows
from hwt._table import Member, Names, Spec, Table, _nearest
from hwt._words import plural, quoted
from hwt.errors import InvalidError, StateError
from hwt.exports import amount, format_options, value_number, write_export
from hwt.profile import Profile

if TYPE_CHECKING:
    from hwt.trace import Trace

__all__ = ["Flame"]

_NODE = "struct hwtd_flame_node"
_FRAME = "struct hwtd_flame_frame"

_FORMATS = {
    "svg": (lib.HWTD_FORMAT_FLAME_SVG, (".svg",)),
    "folded": (lib.HWTD_FORMAT_FOLDED, (".folded", ".collapsed")),
    "speedscope": (
        lib.HWTD_FORMAT_SPEEDSCOPE_SAMPLED,
        (".speedscope.json",),
    ),
}

# Of a picture in a notebook: bytes, and widths of the narrowest frame, in
# tenths of a pixel, that are tried until it has no more.
_HTML_BYTES = 400_000
_HTML_WIDTHS = (10, 30, 100, 400, 1600, 6000)

# Frames of less, of a million, are summed up where callers come from.
_INVERT_PPM = 100


class _TooLarge(Exception):
    """There is more of it than was asked for."""


class _Memory(Target):
    """Takes bytes, up to a limit."""

    def __init__(self, limit: Optional[int] = None) -> None:
        self._parts: List[bytes] = []
        self._room = limit

    def write(self, data: Any) -> None:
        part = bytes(data)
        if self._room is not None:
            self._room -= len(part)
            if self._room < 0:
                raise _TooLarge
        self._parts.append(part)

    def text(self) -> str:
        return b"".join(self._parts).decode("utf-8", "backslashreplace")


class Flame:
    """The stacks of a profile as one tree of names that weigh something.

    Made by `Trace.flame`, `Profile.flame` or `Flame.of`.  In a notebook it is
    a picture.

    Parameters
    ----------
    profile : Profile
        With calls.
    value : str, optional
        What weighs: ``time``, ``insns``, ``cycles``, ``calls``.  By default
        time if it is known, else instructions, else calls.
    title : str, optional
        Of the picture.
    diff : Flame, Profile or Trace, optional
        What it is compared with: what was before.
    by_thread : bool, optional
        A frame for each thread; the profile needs them, too.
    invert : bool, optional
        From what ran to what called it, instead of the other way.
    by_name : bool, optional
        Frames of one caller by name; else what weighs most first.
    absolute : bool, optional
        Compare numbers as they are; else as shares of each whole.
    off_time : bool, optional
        Of time: also that in which threads did not run.
    max_depth : int, optional
        Levels; what is deeper is summed up.  By default 1024.
    min_percent : float, optional
        Frames that weigh less are summed up.

    Attributes
    ----------
    title : str
        Of the picture.

    Raises
    ------
    ValueError
        Nothing in the profile has this value, or it has no calls.

    Examples
    --------
    >>> flame = hwt.open(pt).flame()
    >>> flame.value
    'time'
    >>> flame.folded().splitlines()[1]
    '_start;run 4'
    >>> flame.svg().startswith("<?xml")
    True
    """

    def __init__(
        self,
        profile: Profile,
        *,
        value: Optional[str] = None,
        title: Optional[str] = None,
        diff: Union[None, Flame, Profile, Trace] = None,
        by_thread: bool = False,
        invert: bool = False,
        by_name: bool = False,
        absolute: bool = False,
        off_time: bool = False,
        max_depth: int = 0,
        min_percent: Optional[float] = None,
    ) -> None:
        profile._need("calls", "flame")
        if by_thread and not profile.by_thread:
            raise InvalidError(
                "by_thread: the profile was made without by_thread=True"
            )
        if absolute and diff is None:
            raise InvalidError(
                "absolute: nothing is compared; diff= says with"
            )
        if min_percent is not None and not 0 <= min_percent <= 100:
            raise InvalidError(f"min_percent={min_percent} is no share of 100")
        self.title = title if title is not None else ""
        self._profile = profile
        self._base = _base_of(diff, profile)
        self._state = self._states()
        self._html: Optional[str] = None
        how = new("struct hwtd_flame_options")
        for flag, bit in (
            (by_thread, lib.HWTD_FLAME_BY_THREAD),
            (invert, lib.HWTD_FLAME_INVERT),
            (by_name, lib.HWTD_FLAME_BY_NAME),
            (absolute, lib.HWTD_FLAME_ABSOLUTE),
            (off_time, lib.HWTD_FLAME_OFF_TIME),
        ):
            if flag:
                how.flags |= bit
        how.value = value_number(value)
        how.max_depth = amount("max_depth", max_depth, (1 << 32) - 1)
        if min_percent is not None:
            how.min_ppm = int(min_percent * 10000 + 0.5)
        elif invert:
            how.min_ppm = _INVERT_PPM
        self._how = how
        self._handle = self._open(how)
        self._info = new("struct hwtd_flame_info")
        check(lib.hwtd_flame_info(self._handle.c, self._info))
        self._check_value(profile, self._info.total)
        if self._base is not None:
            self._check_value(self._base, self._info.base_total)

    @classmethod
    def of(
        cls,
        trace: Trace,
        *,
        diff: Union[None, Flame, Profile, Trace] = None,
        title: Optional[str] = None,
        jobs: Optional[int] = None,
        progress: Progress = None,
        **how: Any,
    ) -> Flame:
        """Decode a trace and make a flame of its calls.

        Parameters
        ----------
        trace : Trace
            Open.
        diff : Flame, Profile or Trace, optional
            What it is compared with; of a trace with the same filters.
        title : str, optional
            Of the picture; by default the name of the trace.
        jobs : int, optional
            Threads that decode.
        progress : None, bool or callable, optional
            As for `Trace.profile`.
        **how
            As for `Flame`; and ``cpu tid pid stream time engine strict``.

        Returns
        -------
        Flame
            It does not need the trace any more.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     flame = hwt.flame.Flame.of(trace, title="orders")
        >>> "orders_main" in flame.svg()
        True
        """
        filters = settled(
            {name: how.pop(name) for name in list(how) if name in _FILTERS}
        )
        for name in how:
            if name not in _OPTIONS:
                raise TypeError(_nearest(name, _OPTIONS + _FILTERS, "option"))

        def profile_of(one: Trace) -> Profile:
            return Profile.of(
                one,
                by_thread=True,
                sources=("calls",),
                jobs=jobs,
                progress=progress,
                **filters,
            )

        if diff is not None and not isinstance(diff, (Flame, Profile)):
            diff = profile_of(diff)
        if title is None:
            title = os.path.basename(trace._path) if trace._path else ""
        return cls(profile_of(trace), diff=diff, title=title, **how)

    # The flame in C.

    def _states(self) -> Tuple[Any, ...]:
        """What the profiles were when it was made."""
        base = self._base
        return (self._profile._changes, base._changes if base else None)

    def _open(self, how: Any) -> Handle:
        out = slot("struct hwtd_flame", "hwtd_flame_close")
        err = error()
        base = self._base
        # Two threads may compare the same two, each with the other.
        both = [self._profile] if base is None else [self._profile, base]
        with contextlib.ExitStack() as stack:
            for profile in sorted(both, key=id):
                stack.enter_context(profile._read())
            how.base = ffi.NULL if base is None else base._handle.c
            check(
                lib.hwtd_flame_open(self._profile._handle.c, how, out, err),
                err,
            )
        how.base = ffi.NULL
        return Handle.of(out, "hwtd_flame_close", name="flame")

    def _check_value(self, profile: Profile, total: int) -> None:
        """Nothing weighs anything, though there is something."""
        if total == 0 and profile.info.total.calls:
            raise InvalidError(
                f"value={self.value!r}: nothing in the trace has it; calls "
                "always weigh"
            )

    def _sorted_by_name(self) -> Handle:
        """The same, as lines are written."""
        self._handle.c
        if self._how.flags & lib.HWTD_FLAME_BY_NAME:
            return self._handle
        if self._states() != self._state or self._profile.closed:
            raise StateError(
                "the profile was changed or closed since; make a new flame"
            )
        how = new("struct hwtd_flame_options")
        ffi.memmove(how, self._how, ffi.sizeof(how[0]))
        how.flags |= lib.HWTD_FLAME_BY_NAME
        return self._open(how)

    # What it says.

    @property
    def value(self) -> str:
        """What weighs: ``time``, ``insns``, ``cycles`` or ``calls``."""
        return text(lib.hwtd_export_value_name(self._info.value))

    @property
    def total(self) -> int:
        """The whole: ns, or a number of `value`."""
        return int(self._info.total)

    @property
    def compared(self) -> bool:
        """It is compared with something."""
        return bool(self._info.flags & lib.HWTD_FLAMEF_COMPARED)

    @property
    def notes(self) -> Tuple[str, ...]:
        """What it lacks, in words; empty: nothing."""
        i = self._info
        out = []
        if i.gaps:
            out.append(
                f"not seen: {plural(i.gaps, 'gap')} of {i.gap_bytes} bytes "
                f"of trace, {of_hundred(i.gap, i.total)} of the {self.value}"
            )
        if i.base_gaps:
            out.append(
                f"before: {plural(i.base_gaps, 'gap')} of {i.base_gap_bytes} "
                "bytes of trace"
            )
        if i.smaller:
            out.append(f"{plural(i.smaller, 'frame')} summed up: too small")
        if i.deeper:
            out.append(
                f"{plural(i.deeper, 'frame')} summed up: too deep; "
                "max_depth= tells more"
            )
        if i.others:
            out.append(f"{plural(i.others, 'call')} summed up: no room")
        if i.flags & lib.HWTD_FLAMEF_SATURATED:
            out.append("sums are beyond 64 bits and are too small")
        return tuple(out)

    def nodes(self) -> Table:
        """The tree, as a table.

        Returns
        -------
        Table
            A row for each place of the tree, before all that is below it; the
            root is number 0.  ``value`` is with all that is below, ``self``
            without; ``before`` and ``self_before`` are those of what it is
            compared with.

        Examples
        --------
        >>> rows = list(hwt.open(pt).flame(value="calls").nodes().rows())
        >>> rows[0].kind, rows[0].parent
        ('all', None)
        """
        with self._handle.lock:
            return self._nodes(self._handle.c)

    def _nodes(self, c: Any) -> Table:
        rows, n = read_rows(_NODE, lambda *a: int(lib.hwtd_flame_nodes(c, *a)))
        count = int(self._info.n_frames)
        frames = ffi.new(f"{_FRAME}[]", max(count, 1))
        check(lib.hwtpy_flame_frames(c, frames, count))
        at = Spec.member(rows, _NODE, "frame")
        kinds = Names(
            [
                text(lib.hwtd_flame_kind_name(i))
                for i in range(lib.HWTD_FLAME_KINDS)
            ]
        )

        def of_frame(path: str, **how: Any) -> Member:
            return Spec.member(frames, _FRAME, path, at=at, count=count, **how)

        def name(path: str) -> Member:
            names = Names.member(frames, _FRAME, path, count)
            return Spec.member(rows, _NODE, "frame", names=names)

        unit = "ns" if self.value == "time" else self.value
        if unit == "insns":
            unit = "instructions"
        known = None if self.compared else "none"
        specs = [
            Spec("id", "u32", list(range(n)), "", "number of the place"),
            Spec(
                "parent",
                "u32",
                Spec.member(rows, _NODE, "parent", known="id"),
                "",
                "number of the place above",
            ),
            Spec(
                "depth",
                "u32",
                Spec.member(rows, _NODE, "depth"),
                "",
                "0: root",
            ),
            Spec(
                "kind", "name", of_frame("kind", names=kinds), "", "what it is"
            ),
            Spec(
                "name",
                "name",
                name("name"),
                "",
                "of the function; in brackets what is none",
            ),
        ]
        for column, path, meaning, has in (
            ("value", "value", "with all that is below", None),
            ("self", "self", "without what is below", None),
            ("before", "base", "the same of what was before", known),
            ("self_before", "base_self", "without what is below", known),
        ):
            specs.append(
                Spec(
                    column,
                    "u64",
                    Spec.member(rows, _NODE, path, known=has),
                    unit,
                    meaning,
                )
            )
        specs += [
            Spec(
                "merged",
                "u64",
                Spec.member(
                    rows, _NODE, "merged", known=("merged", (1 << 64) - 1)
                ),
                "frames",
                "summed up in it",
            ),
            Spec("image", "name", name("image"), "", "file that has the code"),
            Spec("file", "name", name("file"), "", "where it was written"),
            Spec(
                "line",
                "u32",
                of_frame("line", known=("line", (1 << 64) - 1)),
                "",
                "line of the file",
            ),
        ]
        return Table._from_rows(
            n, specs, title=f"flame of {self.value}", notes=self.notes
        )

    # Files.

    def _write(
        self,
        target: Target,
        format: str,
        icicle: bool,
        min_width: float,
    ) -> None:
        handle = self._handle
        if format == "folded":
            handle = self._sorted_by_name()
        how, keep = format_options(
            _FORMATS[format][0],
            title=self.title,
            icicle=icicle,
            min_width=_tenths(min_width),
        )

        def begin(*args: Any) -> int:
            # It may be closed by another thread.
            with handle.lock:
                return int(lib.hwtd_export_open_flame(handle.c, *args))

        write_export(begin, how, target)
        del keep

    def _text(
        self, format: str, icicle: bool = False, min_width: float = 0
    ) -> str:
        out = _Memory()
        self._write(out, format, icicle, min_width)
        return out.text()

    def svg(self, *, icicle: bool = False, min_width: float = 0) -> str:
        """A picture that any browser shows.

        Parameters
        ----------
        icicle : bool, optional
            The root is at the top.
        min_width : float, optional
            Frames that are narrower, pixels, are drawn together; by default
            0.3.

        Returns
        -------
        str
            A document of its own; clicking zooms.
        """
        return self._text("svg", icicle, min_width)

    def folded(self) -> str:
        """A line for each stack, as flamegraph.pl reads them.

        Returns
        -------
        str
            Of what is compared with two numbers, that of before first.
        """
        return self._text("folded")

    def save(
        self,
        path: Union[StrPath, Writer],
        format: Optional[str] = None,
        *,
        icicle: bool = False,
        min_width: float = 0,
    ) -> Tuple[str, ...]:
        """Write it to a file.

        Parameters
        ----------
        path : str, path or binary file object
            The file, which is there when all was written.
        format : str, optional
            ``svg``, ``folded``, ``speedscope``; by default what the name says.
        icicle : bool, optional
            As for `svg`.
        min_width : float, optional
            As for `svg`.

        Returns
        -------
        tuple of str
            Names of the files.

        Raises
        ------
        ValueError
            There is no such format, or it cannot show comparisons.

        Examples
        --------
        >>> import io
        >>> with hwt.open(pt) as trace:
        ...     flame = trace.flame()
        >>> file = io.BytesIO()
        >>> names = flame.save(file, "folded")
        >>> file.getvalue().count(b"\\n") > 10
        True
        """
        if format is None:
            format = _format_of(path)
        if format not in _FORMATS:
            raise InvalidError(_nearest(format, _FORMATS, "format"))
        if format == "speedscope" and self.compared:
            raise InvalidError(
                "speedscope shows no comparisons; svg and folded do"
            )
        if format != "svg" and (icicle or min_width):
            raise InvalidError("only pictures have icicle and min_width")
        suffix = _FORMATS[format][1][0]
        # A title is no path.
        name = self.title.replace("/", "_").replace("\0", "_") or "flame"
        target = target_of(path, [], name + suffix)
        try:
            self._write(target, format, icicle, min_width)
            return target.done()
        except BaseException:
            target.give_up()
            raise

    def diff(self, other: Union[Flame, Profile, Trace], **how: Any) -> Flame:
        """Compare it with what was before.

        Parameters
        ----------
        other : Flame, Profile or Trace
            What was before.
        **how
            As for `Flame`; ``value`` is that of this one.

        Returns
        -------
        Flame
            Red in its picture: more than before; blue: less.

        Examples
        --------
        >>> trace = hwt.open(pt)
        >>> flame = trace.flame(time=(0, 10**18))
        >>> flame.diff(trace).compared
        True
        """
        how.setdefault("value", self.value)
        how.setdefault("title", self.title)
        for name, bit in (
            ("by_thread", lib.HWTD_FLAME_BY_THREAD),
            ("invert", lib.HWTD_FLAME_INVERT),
            ("by_name", lib.HWTD_FLAME_BY_NAME),
            ("off_time", lib.HWTD_FLAME_OFF_TIME),
        ):
            how.setdefault(name, bool(self._how.flags & bit))
        return Flame(self._profile, diff=other, **how)

    def close(self) -> None:
        """Give it up; once more does nothing."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """It was closed."""
        return bool(self._handle.closed)

    def __repr__(self) -> str:
        if self.closed:
            return "<hwt.Flame: closed>"
        unit = "ns" if self.value == "time" else self.value
        what = f"{self.total} {unit} in {plural(self._info.n_nodes, 'frame')}"
        if self.compared:
            what += f", before {self._info.base_total} {unit}"
        lost = self.notes[0] if self.notes else "nothing lost"
        return f"<hwt.Flame: {what}; {lost}>"

    def _repr_html_(self) -> str:
        """The picture, without its script, of a size that has a limit."""
        if self.closed:
            return html.escape(repr(self))
        if self._html is None:
            self._html = self._picture()
        return self._html

    def _picture(self) -> str:
        for width in _HTML_WIDTHS:
            out = _Memory(_HTML_BYTES)
            try:
                self._write(out, "svg", False, width / 10)
            except _TooLarge:
                continue
            return (
                '<div style="max-height:640px;max-width:100%;overflow:auto">'
                + _inline(out.text())
                + "</div>"
            )
        return html.escape(f"{self!r}: too large to show here; save() it")


_OPTIONS = (
    "value",
    "by_thread",
    "invert",
    "by_name",
    "absolute",
    "off_time",
    "max_depth",
    "min_percent",
)

_FILTERS = ("cpu", "tid", "pid", "stream", "time", "engine", "strict")


def _inline(svg: str) -> str:
    """A picture as a part of a page: names are text there, and nothing runs.

    It has no ids, so that pictures beside each other do not meet.
    """
    begin = svg.index("<svg ")
    head, rest = svg[begin:].split("<script", 1)
    tail = rest.split("</script>", 1)[1]
    style = head.index("<style")
    end = head.index("</style>") + len("</style>")
    # What the script is for would do nothing.
    head = head[:style] + head[end:]
    return (
        head.replace(
            "<svg ",
            '<svg role="img" style="max-width:100%;height:auto" ',
            1,
        )
        + tail
    )


def _tenths(pixels: float) -> int:
    if not 0 <= pixels <= 1000:
        raise InvalidError(f"min_width={pixels} is not in [0, 1000] pixels")
    return int(pixels * 10 + 0.5)


def _format_of(path: Any) -> str:
    if isinstance(path, (str, os.PathLike)):
        name = os.path.basename(os.fsdecode(path))
        for format, (_, suffixes) in _FORMATS.items():
            if name.endswith(suffixes):
                return format
    raise InvalidError(
        f"{quoted(path)}: the name tells no format; format= is one of "
        + ", ".join(_FORMATS)
    )


def _base_of(
    diff: Union[None, Flame, Profile, Trace], profile: Profile
) -> Optional[Profile]:
    if diff is None:
        return None
    if isinstance(diff, Flame):
        diff = diff._profile
    if not isinstance(diff, Profile):
        diff = Profile.of(
            diff, by_thread=profile.by_thread, sources=("calls",)
        )
    diff._need("calls", "diff")
    return diff
