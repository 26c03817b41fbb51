"""Tables of profiles: rows of C, with names for their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Tuple

from hwt._native import check, ffi, lib, text_or_none
from hwt._table import Member, Names, Spec, Table, _nearest
from hwt._words import quoted
from hwt.errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from hwt.profile import Profile

# By hwtpy_without: what there is instead of a function.
_WITHOUT = (
    "[unknown]",
    "[no call]",
    "[others]",
    "[untraced]",
    "[syscall]",
    "[interrupt]",
    "[exception]",
)

# Rows that there is room for at first.
_ROWS = 1024

_ANY = (1 << 64) - 1

_ROW = "struct hwtd_profile_row"
_FUNCTION = "struct hwtd_profile_function"
_IMAGE = "struct hwtd_profile_image"
_THREAD = "struct hwtd_profile_thread"
_NODE = "struct hwtd_profile_node"
_BLOCK = "struct hwtd_profile_block"
_EDGE = "struct hwtd_profile_edge"
_RELATIVE = "struct hwtd_profile_relative"


class Lookups:
    """What numbers in rows stand for."""

    def __init__(self, c: Any, info: Any) -> None:
        self.n_functions = n = int(info.n_functions)
        self.functions = ffi.new(f"{_FUNCTION}[]", max(n, 1))
        check(lib.hwtpy_profile_functions(c, self.functions, n))
        self.n_images = n = int(info.n_images)
        self.images = ffi.new(f"{_IMAGE}[]", max(n, 1))
        check(lib.hwtpy_profile_images(c, self.images, n))
        self.n_threads = n = int(info.n_threads)
        self.threads = ffi.new(f"{_THREAD}[]", max(n, 1))
        check(lib.hwtpy_profile_threads(c, self.threads, n))
        self.function_names = self._names("name")
        self.linkage_names = self._names("linkage_name")
        self.function_files = self._names("file")
        self.image_names = Names.member(
            self.images, _IMAGE, "name", self.n_images
        )
        self.thread_names = Names.member(
            self.threads, _THREAD, "name", self.n_threads
        )

    def _names(self, path: str) -> Names:
        return Names.member(self.functions, _FUNCTION, path, self.n_functions)

    def of_function(self, path: str, at: Member, **how: Any) -> Member:
        """A member of the function that `at` is the number of."""
        return Spec.member(
            self.functions,
            _FUNCTION,
            path,
            at=at,
            count=self.n_functions,
            **how,
        )

    def of_thread(self, path: str, at: Member, **how: Any) -> Member:
        return Spec.member(
            self.threads, _THREAD, path, at=at, count=self.n_threads, **how
        )


def read_rows(ctype: str, call: Callable[..., int]) -> Tuple[Any, int]:
    """All rows that `call` gives, as an array in C, and their number."""
    size = ffi.sizeof(ctype)
    cap, n = _ROWS, 0
    rows = ffi.new(f"{ctype}[]", cap)
    got = ffi.new("size_t *")
    while True:
        code = check(call(n, rows + n, size, min(cap - n, 65536), got))
        if code == lib.HWTD_END:
            return rows, n
        n += got[0]
        if n == cap:
            more = ffi.new(f"{ctype}[]", cap * 2)
            ffi.memmove(more, rows, n * size)
            rows, cap = more, cap * 2


def _without(
    rows: Any, ctype: str, n: int, flags: str = "flags", kind: str = "type"
) -> Spec:
    """What there is where there is no function."""
    names = Names(_WITHOUT)
    numbers = ffi.new("uint32_t[]", max(n, 1))
    first = ffi.cast("const char *", rows)
    lib.hwtpy_profile_without(
        ffi.cast("const uint32_t *", first + ffi.offsetof(ctype, flags)),
        ffi.cast("const uint32_t *", first + ffi.offsetof(ctype, kind)),
        ffi.sizeof(ctype),
        n,
        numbers,
    )
    return Spec(
        "without",
        "name",
        Spec.member(numbers, "uint32_t", "", names=names),
        "",
        "what ran where no function is known",
    )


def _call_types() -> Names:
    return _enumeration(lib.hwtd_call_type_name)


def _name(name: str, m: Member, meaning: str) -> Spec:
    return Spec(name, "name", m, "", meaning)


def _number(name: str, m: Member, unit: str, meaning: str) -> Spec:
    return Spec(name, "u64", m, unit, meaning)


def _of_calls(rows: Any, ctype: str, info: Any, has: bool) -> list[Spec]:
    """Columns of `self` and `total`; null where nothing is known of them."""
    total = info.total
    timed = has and (total.ns or total.gap_ns or total.off_ns)
    counted = has and (total.insns or info.seen[0].insns)

    def member(path: str, known: Any) -> Member:
        return Spec.member(rows, ctype, path, known=None if known else "none")

    out = [
        _number(
            "calls", member("self.calls", has), "calls", "began or were found"
        )
    ]
    for path, unit, known, what in (
        ("ns", "ns", timed, "time without gaps and without not running"),
        ("insns", "instructions", counted, "instructions executed"),
        ("cycles", "cycles", has and total.cycles, "CPU cycles, as known"),
    ):
        out.append(
            _number(
                f"self_{path}",
                member(f"self.{path}", known),
                unit,
                f"{what}: of itself only",
            )
        )
        out.append(
            _number(
                f"total_{path}",
                member(f"total.{path}", known),
                unit,
                f"{what}: with all it called",
            )
        )
    for name, path, unit, known, what in (
        ("self_gap_ns", "self.gap_ns", "ns", timed, "time in gaps, of itself"),
        ("gap_ns", "total.gap_ns", "ns", timed, "time in gaps"),
        ("off_ns", "total.off_ns", "ns", timed, "time not running"),
        ("gaps", "total.gaps", "gaps", has, "gaps"),
        ("gap_bytes", "total.gap_bytes", "bytes", has, "trace in gaps"),
    ):
        out.append(_number(name, member(path, known), unit, what))
    return out


def _percent(rows: Any, path: str, name: str, whole: int) -> Spec:
    scale = 100.0 / whole if whole else 0.0
    return Spec(
        name,
        "f64",
        Spec.member(
            rows, _ROW, path, scale=scale, known=None if whole else "none"
        ),
        "%",
        f"instructions, of all {whole}",
    )


def _id(name: str, m: Member, meaning: str) -> Spec:
    return Spec(name, "u32", m, "", meaning)


def _function(
    look: Lookups, rows: Any, ctype: str, path: str, name: str, meaning: str
) -> Spec:
    m = Spec.member(rows, ctype, path, names=look.function_names)
    return _name(name, m, meaning)


def _image_of_function(
    look: Lookups, rows: Any, ctype: str, path: str, name: str
) -> Spec:
    at = Spec.member(rows, ctype, path)
    m = look.of_function("image", at, names=look.image_names)
    return _name(name, m, "file that has the function")


def _image(look: Lookups, rows: Any, ctype: str, path: str, name: str) -> Spec:
    m = Spec.member(rows, ctype, path, names=look.image_names)
    return _name(name, m, "file that has the code")


def _details(look: Lookups, rows: Any, ctype: str, path: str) -> List[Spec]:
    """What else is known of a function."""
    at = Spec.member(rows, ctype, path)
    return [
        _name(
            "file",
            Spec.member(rows, ctype, path, names=look.function_files),
            "where the function was written",
        ),
        _id(
            "line",
            look.of_function("line", at, known=("line", _ANY)),
            "line of its first instruction",
        ),
        _name(
            "linkage_name",
            Spec.member(rows, ctype, path, names=look.linkage_names),
            "as the linker knows it, where that is another name",
        ),
        _number(
            "function_offset",
            look.of_function(
                "file_off",
                at,
                known=("flags", lib.HWTD_PROFILE_FUNCTIONF_OFFSET),
            ),
            "bytes",
            "of its first byte in the file",
        ),
        _number(
            "function_address",
            look.of_function(
                "file_off",
                at,
                known=("flags", lib.HWTD_PROFILE_FUNCTIONF_ADDRESS),
            ),
            "",
            "of its first byte, where no file is known",
        ),
    ]


def _threads(look: Lookups, rows: Any, ctype: str) -> List[Spec]:
    at = Spec.member(rows, ctype, "thread")
    return [
        _name(
            "thread",
            Spec.member(rows, ctype, "thread", names=look.thread_names),
            "name of the thread",
        ),
        _id("pid", look.of_thread("pid", at, known="id"), "process"),
        _id("tid", look.of_thread("tid", at, known="id"), "thread"),
        _id(
            "stream",
            look.of_thread("stream", at, known="id"),
            "where nothing tells threads apart",
        ),
    ]


def _who(
    look: Lookups, by: str, rows: Any, n: int
) -> Tuple[List[Spec], List[Spec]]:
    """What rows are of: columns in front, and those behind the sums."""
    if by == "cpu":
        m = Spec.member(rows, _ROW, "cpu", known="id")
        return [_id("cpu", m, "CPU")], []
    if by == "thread":
        return _threads(look, rows, _ROW), []
    image = _image(look, rows, _ROW, "image", "image")
    if by == "image":
        return [image, _without(rows, _ROW, n)], []
    file = Spec(
        "file", "name", Names.member(rows, _ROW, "file", n), "", "source file"
    )
    line = _id(
        "line",
        Spec.member(rows, _ROW, "line", known=("file", _ANY)),
        "line of the file",
    )
    if by == "line":
        return [file, line, image], []
    function = _function(
        look, rows, _ROW, "function", "function", "as people write it"
    )
    if by == "block":
        offset = _number(
            "offset",
            Spec.member(rows, _ROW, "file_off"),
            "bytes",
            "of the first byte in the file; without a file the address",
        )
        size = Spec(
            "bytes",
            "u32",
            Spec.member(rows, _ROW, "bytes"),
            "bytes",
            "of code",
        )
        return [image, offset, size, function], [file, line]
    front = [function, _without(rows, _ROW, n)]
    if by == "inline":
        at = Spec.member(rows, _ROW, "function")
        mask = lib.HWTD_PROFILE_FUNCTIONF_INLINED
        inlined = Spec(
            "inlined",
            "bool",
            look.of_function("flags", at, mask=mask),
            "",
            "it was inlined where it is counted",
        )
        front.append(inlined)
    return front, [image] + _details(look, rows, _ROW, "function")


def _counts(
    by: str, rows: Any, info: Any, source: str, has: bool
) -> List[Spec]:
    """What counts of code, or rows, tell."""
    known = None if has else "none"
    insns = Spec.member(rows, _ROW, "insns", known=known)
    what = "instructions executed, as counts of code say"
    if source == "events":
        what = "instructions executed, as rows say"
    out = [_number("insns", insns, "instructions", what)]
    if source == "events" or by == "image":
        return out
    entered = Spec.member(rows, _ROW, "entered", known=known)
    if by == "function":
        out.append(
            _number(
                "entered",
                entered,
                "times",
                "how often the first instruction was executed",
            )
        )
    else:
        out.append(
            _number(
                "entered" if by == "inline" else "count",
                entered,
                "times",
                "how often what was executed most often was",
            )
        )
    return out


def _check_report(profile: Profile, by: str) -> Tuple[str, bool]:
    """The source of counts, and if the table has sums of calls."""
    counts = "events" if by in ("thread", "cpu") else "runs"
    calls = by in ("function", "image") or (
        by == "thread" and profile.by_thread
    )
    if by in ("line", "inline") and not profile.lines:
        raise InvalidError(f"by={by!r}: the profile was made with lines=False")
    if not (calls and "calls" in profile.sources):
        profile._need(counts, f"by={by!r}")
    return counts, calls


def report(profile: Profile, by: str, number: int) -> Table:
    """The table that `Profile.report` gives."""
    counts, calls = _check_report(profile, by)
    with profile._read() as c:
        info = profile._c_info()
        look = profile._lookups(c)
        rows, n = read_rows(
            _ROW, lambda *a: int(lib.hwtd_profile_rows(c, number, *a))
        )
        front, back = _who(look, by, rows, n)
        has_calls = calls and "calls" in profile.sources
        has_counts = counts in profile.sources
        seen = info.seen[
            (
                lib.HWTD_PROFILE_EVENTS
                if counts == "events"
                else lib.HWTD_PROFILE_RUNS
            )
        ]
        if has_calls:
            whole = int(info.total.insns)
            shares = [
                _percent(rows, "self.insns", "self_percent", whole),
                _percent(rows, "total.insns", "total_percent", whole),
            ]
        else:
            shares = [_percent(rows, "insns", "self_percent", int(seen.insns))]
        sums = _of_calls(rows, _ROW, info, has_calls) if calls else []
        code = _counts(by, rows, info, counts, has_counts)
        notes = profile._notes_of(
            "calls" if has_calls else counts, lines=by in ("line", "inline")
        )
        if by == "thread" and "calls" in profile.sources and not calls:
            notes += ("by_thread=True tells calls and times of threads, too",)
        table = Table._from_rows(
            n,
            front + shares + sums[:3] + code + sums[3:] + back,
            title=f"executed, by {by}",
            notes=notes,
        )
    return table.sort("self_insns" if has_calls else "insns")


def _numbers_of(look: Lookups, name: str) -> List[int]:
    """Functions of a name, inlined ones not."""
    wanted = name.encode("utf-8", "surrogateescape")
    out = []
    for number in range(look.n_functions):
        f = look.functions[number]
        if f.flags & lib.HWTD_PROFILE_FUNCTIONF_INLINED:
            continue
        for text in (f.name, f.linkage_name):
            if text != ffi.NULL and ffi.string(text) == wanted:
                out.append(number)
                break
    return out


def _no_function(look: Lookups, name: str) -> Exception:
    known = {
        text
        for i in range(look.n_functions)
        for text in [text_or_none(look.functions[i].name)]
        if text is not None and len(text) <= 256
    }
    return NotFoundError(
        _nearest(name, sorted(known), "function that was executed is named"),
        lib.HWTD_E_NOT_FOUND,
    )


def relatives(profile: Profile, name: str, side: int) -> Table:
    """Callers or callees of all functions of a name."""
    if not isinstance(name, str):
        raise TypeError(f"{quoted(name)} is no name of a function")
    callers = side == lib.HWTD_PROFILE_CALLERS
    parts = []
    with profile._read() as c:
        info = profile._c_info()
        look = profile._lookups(c)
        of = _numbers_of(look, name)
        if not of:
            raise _no_function(look, name)
        for number in of:
            parts.append(
                (
                    number,
                    *read_rows(
                        _RELATIVE,
                        lambda *a, f=number: int(
                            lib.hwtd_profile_relatives(c, f, side, *a)
                        ),
                    ),
                )
            )
        n = sum(part[2] for part in parts)
        rows = ffi.new(f"{_RELATIVE}[]", max(n, 1))
        own = ffi.new("uint32_t[]", max(n, 1))
        at = 0
        for number, some, k in parts:
            ffi.memmove(rows + at, some, k * ffi.sizeof(_RELATIVE))
            for i in range(at, at + k):
                own[i] = number
            at += k
        specs = _of_relatives(profile, look, info, rows, own, callers)
        table = Table._from_rows(
            n,
            specs,
            title=f"{'callers' if callers else 'callees'} of {name}",
            notes=profile.notes,
        )
    by = [s for s in ("calls", "branches") if s in table.columns]
    return table.sort(by)


def _of_relatives(
    profile: Profile,
    look: Lookups,
    info: Any,
    rows: Any,
    own: Any,
    callers: bool,
) -> List[Spec]:
    this, that = ("callee", "caller") if callers else ("caller", "callee")
    ends = {
        this: (own, "uint32_t", ""),
        that: (rows, _RELATIVE, "function"),
    }
    out = []
    for end in ("caller", "callee"):
        out.append(_function(look, *ends[end], end, "function"))
    types = Spec.member(rows, _RELATIVE, "type", names=_call_types())
    out.append(_name("type", types, "how the call was made"))
    has = "calls" in profile.sources
    total = info.total
    timed = has and (total.ns or total.gap_ns or total.off_ns)
    for name, unit, known, what in (
        ("calls", "calls", has, "calls"),
        ("ns", "ns", timed, "time of what was called, with all it called"),
        ("insns", "instructions", has, "instructions executed, likewise"),
        ("cycles", "cycles", has and total.cycles, "CPU cycles, likewise"),
        ("gap_ns", "ns", timed, "time in gaps, likewise"),
        ("off_ns", "ns", timed, "time not running, likewise"),
        ("gaps", "gaps", has, "gaps, likewise"),
        ("gap_bytes", "bytes", has, "trace in gaps, likewise"),
    ):
        m = Spec.member(
            rows, _RELATIVE, f"sums.{name}", known=None if known else "none"
        )
        out.append(_number(name, m, unit, what))
    edges = "runs" in profile.sources and profile._edges
    m = Spec.member(
        rows, _RELATIVE, "branches", known=None if edges else "none"
    )
    out.insert(4, _number("branches", m, "times", "branches counted in code"))
    for end in ("caller", "callee"):
        out.append(_image_of_function(look, *ends[end], f"{end}_image"))
    return out


def nodes(profile: Profile) -> Table:
    """The tree of stacks."""
    with profile._read() as c:
        info = profile._c_info()
        look = profile._lookups(c)
        rows, n = read_rows(
            _NODE, lambda *a: int(lib.hwtd_profile_nodes(c, *a))
        )
        types = Spec.member(rows, _NODE, "type", names=_call_types())
        specs = [
            _id("node", _count_up(n), "number of the node"),
            _id(
                "parent",
                Spec.member(rows, _NODE, "parent", known="id"),
                "number of the caller's node",
            ),
            _id("depth", Spec.member(rows, _NODE, "depth"), "0: a root"),
            _function(look, rows, _NODE, "function", "function", "that ran"),
            _without(rows, _NODE, n),
            _name("type", types, "how it was called"),
            *_of_calls(rows, _NODE, info, True),
            _image_of_function(look, rows, _NODE, "function", "image"),
            *_threads(look, rows, _NODE),
        ]
        return Table._from_rows(
            n, specs, title="tree of stacks", notes=profile._notes_of("calls")
        )


def _count_up(n: int) -> Member:
    """Numbers from 0 on."""
    return Spec.member(
        ffi.new("uint32_t[]", list(range(n)) or [0]), "uint32_t", ""
    )


def _enumeration(name_of: Callable[[int], Any]) -> Names:
    """Names of small numbers; what is called unknown is not known."""
    names = [text_or_none(name_of(i)) for i in range(32)]
    return Names([None if name == "unknown" else name for name in names])


def blocks(profile: Profile) -> Table:
    """Counts of code."""
    branches = _enumeration(lib.hwtd_branch_name)
    isas = _enumeration(lib.hwtd_isa_name)
    with profile._read() as c:
        look = profile._lookups(c)
        rows, n = read_rows(
            _BLOCK, lambda *a: int(lib.hwtd_profile_blocks(c, *a))
        )

        def m(path: str, **how: Any) -> Member:
            return Spec.member(rows, _BLOCK, path, **how)

        specs = [
            _image(look, rows, _BLOCK, "image", "image"),
            _number(
                "offset",
                m("file_off"),
                "bytes",
                "in the file; without a file the address",
            ),
            _number("count", m("count"), "times", "how often it was executed"),
            Spec("bytes", "u32", m("bytes"), "bytes", "of code"),
            Spec("insns", "u32", m("insns"), "instructions", "in it"),
            _function(look, rows, _BLOCK, "function", "function", "it is in"),
            _function(
                look, rows, _BLOCK, "inlined", "inlined", "innermost function"
            ),
            Spec(
                "file",
                "name",
                Names.member(rows, _BLOCK, "file", n),
                "",
                "source file",
            ),
            _id("line", m("line", known=("file", _ANY)), "line of the file"),
            _name(
                "branch", m("branch", names=branches), "the last instruction"
            ),
            _name("isa", m("isa", names=isas), "instruction set"),
            Spec(
                "last_bytes",
                "u8",
                m("last_bytes"),
                "bytes",
                "of the last instruction",
            ),
            _id("generation", m("generation"), "version of the bytes"),
        ]
        return Table._from_rows(
            n, specs, title="blocks", notes=profile._notes_of("runs")
        )


def edges(profile: Profile) -> Table:
    """Counts of branches."""
    branches = _enumeration(lib.hwtd_branch_name)
    with profile._read() as c:
        look = profile._lookups(c)
        rows, n = read_rows(
            _EDGE, lambda *a: int(lib.hwtd_profile_edges(c, *a))
        )
        specs = []
        for end in ("from", "to"):
            specs += [
                _image(look, rows, _EDGE, f"{end}_image", f"{end}_image"),
                _number(
                    f"{end}_offset",
                    Spec.member(rows, _EDGE, f"{end}_off"),
                    "bytes",
                    "in the file; without a file the address",
                ),
                _function(
                    look,
                    rows,
                    _EDGE,
                    f"{end}_function",
                    f"{end}_function",
                    "it is in",
                ),
            ]
        specs += [
            _number(
                "count",
                Spec.member(rows, _EDGE, "count"),
                "times",
                "how often execution went this way",
            ),
            _name(
                "branch",
                Spec.member(rows, _EDGE, "branch", names=branches),
                "what made it",
            ),
            Spec(
                "to_start",
                "bool",
                Spec.member(
                    rows,
                    _EDGE,
                    "flags",
                    mask=lib.HWTD_PROFILE_EDGEF_TO_START,
                ),
                "",
                "it leads to the first byte of the function",
            ),
        ]
        return Table._from_rows(
            n, specs, title="edges", notes=profile._notes_of("runs")
        )
