"""Files for viewers, profilers and compilers, made of a trace."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Optional,
    Tuple,
    Union,
)

from hwt._export_files import Target, Writer, target_of
from hwt._filters import integer
from hwt._native import (
    Handle,
    Progress,
    StrPath,
    check,
    error,
    ffi,
    lib,
    new,
    run_steps,
    slot,
    text,
)
from hwt._sources import Source, trace_bytes
from hwt._table import _nearest
from hwt._words import path_text, plural, quoted
from hwt.errors import InvalidError

if TYPE_CHECKING:
    from hwt.profile import Profile
    from hwt.trace import Trace

__all__ = ["ExportInfo", "Format", "export_trace", "formats"]

_SOURCES = {
    lib.HWTD_SOURCE_PROFILE: "profile",
    lib.HWTD_SOURCE_CALLS: "calls",
    lib.HWTD_SOURCE_RUNS: "runs",
    lib.HWTD_SOURCE_EVENTS: "events",
    lib.HWTD_SOURCE_COVERAGE: "coverage",
}

# Bytes that are held before they are handed over in the middle of a step.
_FULL_BYTES = 4 << 20

# Which formats have a use for an option, by what they are made of.
_FITS = {
    "split_bytes": ("calls",),
    "min_ns": ("calls",),
    "resolution_ns": ("calls",),
    "details": ("calls",),
    "counters": ("calls",),
    "max_depth": ("calls", "profile", "events"),
    "value": ("calls", "profile"),
    "interpolate": ("calls", "profile"),
    "code": ("profile",),
    "program": ("runs", "events"),
    "images": ("coverage",),
    "sources": ("coverage",),
    "excludes": ("coverage",),
    "maps": ("coverage",),
}


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name : str
        For instance ``perfetto``.
    source : str
        What it is made of: ``profile``, ``calls``, ``runs``, ``events``,
        ``coverage``.
    suffixes : tuple of str
        What names of its files end in; the first is usual.
    viewer : str
        Who reads it.
    viewer_bytes : int or None
        What that takes at most; None: any.
    """

    name: str
    source: str
    suffixes: Tuple[str, ...]
    viewer: str
    viewer_bytes: Optional[int]
    _number: int = field(default=0, repr=False, compare=False)


@dataclass(frozen=True)
class ExportInfo:
    """What was written.

    Attributes
    ----------
    format : str
        Name of the format.
    bytes : int
        In all files.
    files : int
        How many.
    paths : tuple of str
        Their names; empty where a file object took the bytes.
    rows : int
        What the format has: slices, samples, stacks, lines.
    dropped, merged : int
        Calls that were left out, and those that became part of others.
    moved_ns : int
        Times are so much later than in the trace, ns.
    warnings : tuple of str
        What a reader of the file has to know: a limit of the viewer that is
        passed, instructions that stand for time.
    notes : tuple of str
        What the trace lacks: its gaps.
    """

    format: str
    bytes: int
    files: int
    paths: Tuple[str, ...]
    rows: int
    dropped: int
    merged: int
    moved_ns: int
    warnings: Tuple[str, ...]
    notes: Tuple[str, ...]


def formats() -> Tuple[Format, ...]:
    """All formats that there are.

    Returns
    -------
    tuple of Format
        In the order of the library.

    Examples
    --------
    >>> known = {format.name: format for format in hwt.exports.formats()}
    >>> known["perfetto"].source
    'calls'
    """
    out: List[Format] = []
    info = new("struct hwtd_export_format_info")
    while lib.hwtd_export_format_info(len(out), info) == lib.HWTD_OK:
        out.append(
            Format(
                text(info.name),
                _SOURCES.get(info.source, "unknown"),
                tuple(text(info.suffixes).split()),
                text(info.viewer),
                info.viewer_bytes or None,
                info.format,
            )
        )
    return tuple(out)


def _by_name(name: str) -> Format:
    known = {one.name: one for one in formats()}
    if name not in known:
        raise InvalidError(_nearest(name, known, "format"))
    return known[name]


def _by_suffix(path: str) -> Optional[Format]:
    """The format whose suffix is the longest that a name ends in."""
    best, longest = None, 0
    names = [path]
    if path.endswith(".gz"):
        names.append(path[:-3])
    for one in formats():
        for suffix in one.suffixes:
            for name in names:
                if (
                    name.endswith(suffix)
                    and len(name) > len(suffix)
                    and len(suffix) > longest
                ):
                    best, longest = one, len(suffix)
    return best


def _format_of(file: Any, name: Optional[str]) -> Format:
    if name is not None:
        return _by_name(name)
    if not isinstance(file, (str, os.PathLike)) or os.path.isdir(file):
        raise InvalidError(
            "format= is needed where no name of a file tells it"
        )
    found = _by_suffix(os.path.basename(os.fspath(file)))
    if found is None:
        raise InvalidError(
            f"{path_text(file)}: the name tells no format; format= is one of "
            + ", ".join(one.name for one in formats())
        )
    return found


def value_number(value: Optional[str]) -> int:
    """An hwtd_export_value of its name."""
    names: Dict[str, int] = {
        text(lib.hwtd_export_value_name(i)): i
        for i in range(1, lib.HWTD_VALUE_CALLS + 1)
    }
    if value is None:
        return int(lib.HWTD_VALUE_DEFAULT)
    if value not in names:
        raise InvalidError(_nearest(value, names, "value"))
    return names[value]


def amount(name: str, value: Any, most: int = (1 << 64) - 1) -> int:
    """A whole number that an option may be."""
    try:
        return integer(name, value, most)
    except ValueError as wrong:
        raise InvalidError(str(wrong)) from None


def format_options(
    number: int,
    *,
    title: str = "",
    value: Optional[str] = None,
    gzip: bool = False,
    icicle: bool = False,
    details: bool = False,
    counters: bool = False,
    split_bytes: int = 0,
    min_ns: int = 0,
    resolution_ns: int = 0,
    max_depth: int = 0,
    min_width: int = 0,
) -> Tuple[Any, Any]:
    """A ``struct hwtd_format_options``, and what it points to."""
    options = new("struct hwtd_format_options")
    options.format = number
    for flag, bit in (
        (gzip, lib.HWTD_EXPORT_GZIP),
        (details, lib.HWTD_EXPORT_DETAILS),
        (counters, lib.HWTD_EXPORT_COUNTERS),
        (icicle, lib.HWTD_EXPORT_ICICLE),
    ):
        if flag:
            options.flags |= bit
    options.split_bytes = amount("split_bytes", split_bytes)
    options.min_ns = amount("min_ns", min_ns)
    options.resolution_ns = amount("resolution_ns", resolution_ns)
    options.max_depth = amount("max_depth", max_depth, (1 << 32) - 1)
    options.min_width = amount("min_width", min_width, (1 << 32) - 1)
    options.value = value_number(value)
    if not isinstance(title, str) or "\0" in title:
        raise InvalidError(f"title={quoted(title)} is no text without NUL")
    keep = ffi.new("char[]", title.encode("utf-8", "surrogateescape"))
    options.title = keep
    return options, keep


class _Drain:
    """What an export wrote on its way to a target."""

    def __init__(self, target: Target) -> None:
        self.target = target
        #: What the target raised where it was called from C.
        self.failure: Optional[BaseException] = None
        self._data, self._n = ffi.new("const void **"), ffi.new("size_t *")
        self._self = ffi.new_handle(self)
        made = lib.hwtpy_sink_create(self._self, _FULL_BYTES)
        if made == ffi.NULL:
            raise MemoryError("out of memory")
        self.sink = Handle(made, lib.hwtpy_sink_destroy, name="sink")

    def take(self) -> None:
        """Hand over what there is."""
        sink = self.sink.c
        while True:
            taken = lib.hwtpy_sink_take(sink, self._data, self._n)
            if taken == lib.HWTPY_TAKEN_BYTES:
                self.target.write(ffi.buffer(self._data[0], self._n[0]))
            elif taken == lib.HWTPY_TAKEN_NEXT:
                self.target.next_file()
            else:
                return

    def called(self) -> int:
        """The same in the middle of a step: nothing is raised through C."""
        try:
            self.take()
        except BaseException as e:
            self.failure = e
            return errno.ECANCELED
        return 0


def _called(arg: Any) -> int:
    """Called by C when a step writes very much."""
    drain: _Drain = ffi.from_handle(arg)
    return drain.called()


getattr(ffi, "def_extern")("hwtpy_sink_drain", error=errno.ECANCELED)(_called)


def write_export(
    begin: Callable[[Any, Any, Any], int],
    options: Any,
    target: Target,
    progress: Progress = None,
    done: Callable[[], Tuple[int, int]] = lambda: (0, 0),
    last: Callable[[Any], object] = lambda export: None,
) -> Any:
    """Write an export that `begin` opens; what C says of it then.

    `last` is called with it before it is closed.  Whatever `target` raises
    goes to the caller.
    """
    drain = _Drain(target)
    lib.hwtpy_sink_connect(drain.sink.c, options, target.several)
    out = slot("struct hwtd_export", "hwtd_export_close")
    err = error()
    check(begin(options, out, err), err)
    export = Handle.of(out, "hwtd_export_close", (drain,), name="export")

    def step() -> int:
        err = error()
        code = int(lib.hwtd_export_write(export.c, err))
        if drain.failure is not None:
            raise drain.failure
        if lib.hwtpy_sink_failed(drain.sink.c):
            raise MemoryError("out of memory")
        if code == lib.HWTD_E_IO and err.sys_errno == errno.ECANCELED:
            # A signal came before `called` could see to it.
            raise KeyboardInterrupt
        drain.take()
        return check(code, err)

    try:
        run_steps(step, progress, done)
        info = new("struct hwtd_export_info")
        check(lib.hwtd_export_info(export.c, info))
        last(export.c)
        return info
    finally:
        export.close()
        drain.sink.close()


def _warnings(format: Format, info: Any, value: Optional[str]) -> List[str]:
    out = []
    if info.rows == 0:
        why = "it has nothing that the format tells of"
        if format.source == "coverage":
            why = "no code of it has lines of source files"
        elif value is not None:
            why = f"it has no {value}"
        out.append(f"nothing of the trace is in the file: {why}")
    if info.flags & lib.HWTD_EXPORTF_INSNS_AS_TIME and value != "insns":
        out.append(
            "there is no time in it, or not everywhere: instructions stand "
            "for it, 1 ns each"
        )
    if info.flags & lib.HWTD_EXPORTF_VIEWER_LIMIT:
        hint = "time=, pid= and tid= choose what is written"
        if format.source == "calls":
            hint = (
                f"split_bytes={info.viewer_bytes} writes several files; "
                "min_ns=, resolution_ns= and max_depth= leave out what does "
                "not matter"
            )
        out.append(
            f"{info.largest_file // 1000000} MB are more than the "
            f"{info.viewer_bytes // 1000000} MB that {format.viewer} takes: "
            + hint
        )
    return out


def _gap_notes(stats: Any) -> List[str]:
    gaps = sum(stats.gaps)
    if gaps == 0 and stats.gap_bytes == 0:
        return []
    return [
        f"{plural(gaps, 'gap')} of {stats.gap_bytes} bytes: what ran there "
        "was not seen"
    ]


def _image_paths(trace: Trace) -> List[str]:
    paths: List[str] = []
    info = new("struct hwtd_image_info")
    with trace._handle.lock:
        c = trace._handle.c
        while lib.hwtd_trace_image(c, len(paths), info) == lib.HWTD_OK:
            paths.append(text(info.path))
    return paths


def _image_number(paths: List[str], program: Union[None, int, str]) -> int:
    """The image that a profile for compilers is of."""
    if program is None:
        return int(lib.HWTD_NO_ID)
    if not isinstance(program, str):
        return amount("program", program, lib.HWTD_NO_ID - 1)
    if program in paths:
        return paths.index(program)
    named = [i for i, path in enumerate(paths) if _last(path) == program]
    if len(named) == 1:
        return named[0]
    if named:
        some = ", ".join(paths[i] for i in named[:4])
        raise InvalidError(
            f"program={quoted(program)} is {some}: give the whole path"
        )
    raise InvalidError(
        _nearest(program, sorted({_last(path) for path in paths}), "image")
    )


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]


class _Making:
    """What an export is made of: opened, filled, and written."""

    def __init__(
        self, trace: Trace, format: Format, options: Dict[str, Any]
    ) -> None:
        from hwt._filters import filters_to_c

        self.trace = trace
        self.format = format
        self.options = options
        self.image = 0
        self.compiler: Any = None
        self.paths: List[str] = []
        level = 0
        kind = format.source
        if kind == "coverage" or options["code"]:
            kind = "runs"
        elif kind == "profile":
            kind = "calls"
        if kind == "events":
            level = lib.HWTD_LEVEL_BLOCK
        filters, keep = filters_to_c(options["filters"], level=level)
        if kind == "events":
            filters.kinds = 1 << lib.HWTD_EV_BLOCK | 1 << lib.HWTD_EV_GAP
        if format.source in ("runs", "events"):
            self.paths = _image_paths(trace)
            self.image = _image_number(self.paths, options["program"])
        flags = 0
        if not options["interpolate"]:
            flags |= lib.HWTD_CALLS_NO_INTERPOLATION
        self.source = Source(
            trace, kind, filters, edges=not options["code"], flags=flags
        )
        del keep

    def fill(self, progress: Progress, total: int) -> None:
        """Read what has to be read before anything is written."""
        c = self.source.handle.c
        step: Callable[[], int]
        if self.format.source == "runs":

            def step() -> int:
                err = error()
                return check(lib.hwtd_runs_count(c, err), err)

        elif self.format.source == "profile":
            self.profile = self._profile()
            made = self.profile._handle.c

            def step() -> int:
                return self.source.step(made, error())

        elif self.format.source == "coverage":
            self.coverage = self._coverage()

            def step() -> int:
                err = error()
                return check(
                    lib.hwtd_coverage_add_runs(self.coverage.c, c, err), err
                )

        else:
            return
        run_steps(step, progress, lambda: (self.source.bytes(), total))

    def _profile(self) -> Profile:
        from hwt.profile import Profile

        return Profile(lines=True, by_thread=not self.options["code"])

    def _coverage(self) -> Handle:
        from hwt._native import context

        options = new("struct hwtd_coverage_options")
        keep: List[Any] = []
        for name in ("images", "sources", "excludes"):
            texts = _texts(name, self.options[name])
            if not texts:
                continue
            cells = [ffi.new("char[]", one) for one in texts]
            array = ffi.new("const char *[]", cells)
            keep += [cells, array]
            setattr(options, name, array)
            setattr(options, f"n_{name}", len(cells))
        maps = list(dict(self.options["maps"] or {}).items())
        if maps:
            pairs = ffi.new("struct hwtd_path_map[]", len(maps))
            for pair, (old, other) in zip(pairs, maps):
                keep += [_c_text("maps", old), _c_text("maps", other)]
                pair.old_prefix, pair.new_prefix = keep[-2:]
            options.maps = pairs
            options.n_maps = len(maps)
        out = slot("struct hwtd_coverage", "hwtd_coverage_close")
        err = error()
        check(lib.hwtd_coverage_create(context().c, options, out, err), err)
        return Handle.of(out, "hwtd_coverage_close", name="coverage")

    def read_compiler_info(self, export: Any) -> None:
        """What an export for compilers holds."""
        if self.format.source in ("runs", "events"):
            info = new("struct hwtd_compiler_info")
            if lib.hwtd_export_compiler_info(export, info) == lib.HWTD_OK:
                self.compiler = info

    def begin(self, options: Any, out: Any, err: Any) -> int:
        """Open the export itself."""
        c = self.source.handle.c
        kind = self.format.source
        if kind == "calls":
            return int(lib.hwtd_export_open_calls(c, options, out, err))
        if kind == "runs":
            return int(
                lib.hwtd_export_open_runs(c, self.image, options, out, err)
            )
        if kind == "events":
            return int(
                lib.hwtd_export_open_events(c, self.image, options, out, err)
            )
        if kind == "profile":
            return int(
                lib.hwtd_export_open_profile(
                    self.profile._handle.c, options, out, err
                )
            )
        return int(
            lib.hwtd_export_open_coverage(self.coverage.c, options, out, err)
        )


def _c_text(name: str, value: Any) -> Any:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: {quoted(value)} is no text")
    return ffi.new("char[]", path_bytes_of(name, value))


def path_bytes_of(name: str, value: Any) -> bytes:
    """Text of an option as C takes it."""
    raw = os.fsencode(value)
    if b"\0" in raw:
        raise InvalidError(f"{name}: a NUL in {quoted(value)}")
    return raw


def _texts(name: str, value: Any) -> List[bytes]:
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        value = [value]
    return [path_bytes_of(name, one) for one in value]


def _is_set(name: str, given: Any) -> bool:
    if name == "interpolate":
        return not given
    return given is not None if name == "program" else bool(given)


def _check_fit(format: Format, options: Dict[str, Any]) -> None:
    """An option that a format has no use for is refused."""
    for name, sources in _FITS.items():
        if not _is_set(name, options[name]):
            continue
        if format.source not in sources:
            whose = " and ".join(sources)
            raise InvalidError(
                f"{name}=: format {format.name} has no use for it; formats "
                f"made of {whose} have"
            )
    if options["max_depth"] and format.name == "callgrind":
        raise InvalidError("max_depth=: format callgrind has no use for it")
    if options["code"] and format.name not in ("pprof", "callgrind"):
        raise InvalidError(
            f"code=: format {format.name} is made of stacks; pprof and "
            "callgrind can do without"
        )
    if format.source == "calls" and options["value"] in ("cycles", "calls"):
        raise InvalidError(
            f"value=: format {format.name} draws time or instructions"
        )


def export_trace(
    trace: Trace,
    file: Union[StrPath, Writer],
    format: Optional[str] = None,
    *,
    title: Optional[str] = None,
    value: Optional[str] = None,
    split_bytes: int = 0,
    min_ns: int = 0,
    resolution_ns: int = 0,
    max_depth: int = 0,
    details: bool = False,
    counters: bool = False,
    gzip: Optional[bool] = None,
    icicle: bool = False,
    interpolate: bool = True,
    code: bool = False,
    program: Union[None, int, str] = None,
    images: Any = None,
    sources: Any = None,
    excludes: Any = None,
    maps: Any = None,
    jobs: Optional[int] = None,
    progress: Progress = None,
    **filters: Any,
) -> ExportInfo:
    """Write a trace in a format that others read.

    Parameters
    ----------
    trace : Trace
        Open.
    file : str, path or binary file object
        A file, which is there when all was written; a folder; or what has
        ``write``.
    format : str, optional
        See `formats`; by default what the name of the file ends in.
    title : str, optional
        What viewers call it; by default the name of the trace.
    value : str, optional
        What weighs: ``time``, ``insns``, ``cycles``, ``calls``.
    split_bytes : int, optional
        Formats of calls: begin a file when one has about so many bytes before
        it is packed; others are called NAME.2, NAME.3 and so on.
    min_ns, resolution_ns : int, optional
        Formats of calls: leave out calls that took less, make one of those
        that did, ns.
    max_depth : int, optional
        Levels of calls; 0: all.
    details, counters : bool, optional
        Formats of calls: addresses and counts of each call; curves.
    gzip : bool, optional
        Pack it; by default if the name ends in ``.gz``.
    icicle : bool, optional
        Pictures: the root is at the top.
    interpolate : bool, optional
        Times of calls between two packets of time, too.
    code : bool, optional
        ``pprof`` and ``callgrind``: of counts of code, without stacks.
    program : int or str, optional
        Formats for compilers: the image, by number, path or name; by default
        the one that executed most.
    images, sources, excludes : iterable of str, optional
        ``lcov``: which images, which source files, and which not.
    maps : mapping of str to str, optional
        ``lcov``: prefixes of source files, and what replaces them.
    jobs : int, optional
        Threads that decode.
    progress : None, bool or callable, optional
        As for `Trace.profile`.
    **filters
        ``cpu tid pid stream time address engine strict``.

    Returns
    -------
    ExportInfo
        How much was written, where, and what it lacks.

    Raises
    ------
    ValueError
        No such format, or an option that it has no use for.
    Exception
        Whatever ``write`` of a file object raised.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> info = hwt.open(pt).export(file, "folded")
    >>> info.bytes == len(file.getvalue())
    True
    """
    form = _format_of(file, format)
    if filters.get("kinds") is not None:
        raise TypeError("kinds= chooses rows; an export has those it needs")
    options = {
        "split_bytes": split_bytes,
        "min_ns": min_ns,
        "resolution_ns": resolution_ns,
        "details": details,
        "counters": counters,
        "max_depth": max_depth,
        "value": value,
        "interpolate": interpolate,
        "code": code,
        "program": program,
        "images": images,
        "sources": sources,
        "excludes": excludes,
        "maps": maps,
        "filters": {**filters, "jobs": jobs},
    }
    _check_fit(form, options)
    path = trace._path
    name = _last(path) if path else ""
    if gzip is None:
        gzip = isinstance(file, (str, os.PathLike)) and os.fspath(
            file
        ).endswith(".gz")
    how, keep = format_options(
        form._number,
        title=name if title is None else title,
        value=value,
        gzip=gzip,
        icicle=icicle,
        details=details,
        counters=counters,
        split_bytes=split_bytes,
        min_ns=min_ns,
        resolution_ns=resolution_ns,
        max_depth=max_depth,
    )
    total = trace_bytes(trace)
    making = _Making(trace, form, options)
    stem = (name or "trace").rsplit(".", 1)[0] or "trace"
    target = target_of(
        file, [path] if path else [], stem + (form.suffixes or ("",))[0]
    )
    if split_bytes and not target.several:
        target.give_up()
        raise InvalidError(
            "split_bytes=: further files need a name; give a path"
        )
    try:
        making.fill(progress, total)
        info = write_export(
            making.begin,
            how,
            target,
            progress,
            lambda: (making.source.bytes(), total),
            making.read_compiler_info,
        )
        paths = target.done()
    except BaseException:
        target.give_up()
        raise
    del keep
    notes = _gap_notes(making.source.stats())
    notes += _program_notes(making)
    limited = making.source.limited()
    if limited:
        notes.append(f"{limited} calls were ended because too many were open")
    return ExportInfo(
        form.name,
        info.bytes,
        info.files,
        paths,
        info.rows,
        info.dropped,
        info.merged,
        info.moved_ns,
        tuple(_warnings(form, info, value)),
        tuple(notes),
    )


def _program_notes(making: _Making) -> List[str]:
    """Which program a profile for compilers is of, and what it leaves out."""
    c = making.compiler
    if c is None:
        return []
    out = []
    if c.flags & lib.HWTD_COMPILERF_SATURATED:
        out.append("counts are larger than readers have room for")
    if c.image < len(making.paths):
        out.append(
            f"profile of {making.paths[c.image]}: {c.insns} instructions; "
            f"{c.insns_elsewhere} of other images are left out"
        )
    return out
