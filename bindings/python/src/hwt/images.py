"""Code of a trace: images, where they lay, and what it is called."""

from __future__ import annotations

import array
import operator
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from hwt import config
from hwt._native import (
    Handle,
    check,
    error,
    ffi,
    lib,
    new,
    optional_id,
    slot,
    text,
    text_or_none,
)
from hwt._words import printable, quoted
from hwt.config import CData

if TYPE_CHECKING:
    from hwt.trace import Trace

__all__ = ["Frame", "ImageInfo", "MappedRange", "Section", "Symbol"]

# What symbols are asked for at once: signals are seen in between.
STEP = 4096

_STATES = {
    lib.HWTD_IMAGE_FOUND: "found",
    lib.HWTD_IMAGE_MISSING: "missing",
    lib.HWTD_IMAGE_MISMATCH: "other-build-id",
}


@dataclass(frozen=True)
class ImageInfo:
    """A file or memory that can hold code, and what became of it.

    Attributes
    ----------
    id : int
        What `Section.image` and records say.
    path : str
        Name in records, or as it was added.
    state : {"found", "missing", "other-build-id", "unknown"}
        Whether its code is there.
    why : str
        Why it is missing or refused, or what of it is damaged; or "".
    file : str
        The file that was read or refused; "" for none.
    build_id : str
        In hexadecimal; "" where it is not known.
    n_bytes : int
        Bytes of code that are held.
    is_program : bool
        False: its file is no ELF program, library or object, so that its bytes
        are saved only if `hwt.Trace.save` is told so.
    linked : bool
        False: a kernel module that calls what nobody knows.
    """

    id: int
    path: str
    state: str
    why: str
    file: str
    build_id: str
    n_bytes: int
    is_program: bool
    linked: bool

    @property
    def found(self) -> bool:
        """Whether its code is there."""
        return self.state == "found"


@dataclass(frozen=True)
class Section:
    """What ``section`` in a row stands for: an executable piece of an image.

    Attributes
    ----------
    id : int
        The number in rows.
    image : int or None
        Id of the image.
    generation : int
        Version of its bytes, from 0.
    address, length : int
        Where it is mapped at the lowest, and its bytes.
    file_off : int
        Byte offset in the file of the image.
    path : str
        Name of the image.
    """

    id: int
    image: Optional[int]
    generation: int
    address: int
    length: int
    file_off: int
    path: str


@dataclass(frozen=True)
class MappedRange:
    """What lay at [address, address + length) of a process at a moment.

    Attributes
    ----------
    pid : int or None
        Process; None where it holds for more than one.
    address, length : int
        Virtual addresses, in bytes.
    path : str
        Name of the image, or "".
    file_off : int
        Byte offset in the image's file of the first byte.
    image, section : int or None
        None: it is of no image; its bytes are not known.
    kernel, everywhere, anonymous, jit : bool
        Of the kernel; holds in all address spaces; of no file; code that was
        made at run time.
    known : bool
        False: of a kernel module, and what the kernel wrote there is not
        known.
    vmid : int or None
        The virtual machine that it is of; None: the host.
    """

    pid: Optional[int]
    address: int
    length: int
    path: str
    file_off: int
    image: Optional[int]
    section: Optional[int]
    kernel: bool
    everywhere: bool
    anonymous: bool
    jit: bool
    known: bool
    vmid: Optional[int] = None

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.length


@dataclass(frozen=True)
class Frame:
    """A function, and a place in it.

    Attributes
    ----------
    function : str or None
        As people write it.
    linkage_name : str or None
        As the linker knows it.
    file : str or None
        Path, as the compiler was given it.
    line, column : int or None
        From 1 on.
    discriminator : int
        Tells apart what stands on one line.
    inlined : bool
        It was inlined into the function of the next frame.
    """

    function: Optional[str]
    linkage_name: Optional[str]
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    discriminator: int
    inlined: bool


@dataclass(frozen=True)
class Symbol:
    """What is known of code at an address.

    Attributes
    ----------
    address : int
        What was asked for.
    name : str or None
        The symbol as its file has it.
    text : str or None
        The same as people write it, with ``"@plt"`` for a stub.
    offset : int
        Bytes behind the begin of the symbol.
    size : int or None
        Bytes of the symbol, where that is told.
    start : int
        Where the symbol begins, as its file has it.
    image : int or None
        Id of the image.
    image_name : str or None
        Its name, or that of the kernel module.
    file_off : int or None
        Byte offset in the file of the image.
    frames : tuple of Frame
        The innermost function first; without debug information there are none.
    stub, guessed, listed, ambiguous : bool
        A stub that calls `name` in another file; the symbol has no size and is
        taken to go on up to the next; of a record or a list of names; of
        several mappings that are possible there this is the newest.
    fault : str or None
        What could not be read: file, section, offset and cause.
    """

    address: int
    name: Optional[str]
    text: Optional[str]
    offset: int
    size: Optional[int]
    start: int
    image: Optional[int]
    image_name: Optional[str]
    file_off: Optional[int]
    frames: tuple[Frame, ...]
    stub: bool
    guessed: bool
    listed: bool
    ambiguous: bool
    fault: Optional[str]

    @property
    def function(self) -> Optional[str]:
        """The innermost function: inlined ones count."""
        if self.frames and self.frames[0].function is not None:
            return self.frames[0].function
        return self.text

    @property
    def file(self) -> Optional[str]:
        """Path of the source file, as the compiler was given it."""
        return self.frames[0].file if self.frames else None

    @property
    def line(self) -> Optional[int]:
        """Line in that file, from 1 on."""
        return self.frames[0].line if self.frames else None

    def __str__(self) -> str:
        """For people: ``function+0x10 at file.c:12``."""
        if self.text is None:
            return f"{self.address:#x}"
        # Who made a file chose its names.
        where = printable(self.text)
        if self.offset:
            where += f"+{self.offset:#x}"
        if self.file is None:
            return where
        return f"{where} at {printable(self.file)}:{self.line or '?'}"


def image_infos(trace: CData) -> Iterator[ImageInfo]:
    """Read all images of a trace; its lock is held."""
    c = new("struct hwtd_image_info")
    i = 0
    while lib.hwtd_trace_image(trace, i, c) == lib.HWTD_OK:
        n = min(c.n_build_id, lib.HWTD_MAX_BUILD_ID)
        path, why = text(c.path), text(c.text)
        if why.startswith(f"{path}: "):
            why = why[len(path) + 2 :]
        yield ImageInfo(
            id=i,
            path=path,
            state=_STATES.get(c.state, "unknown"),
            why=why,
            file=text(c.file),
            build_id=bytes(ffi.buffer(c.build_id, n)).hex(),
            n_bytes=c.n_bytes,
            is_program=not c.flags & lib.HWTD_IMAGE_INFO_NO_PROGRAM,
            linked=not c.flags & lib.HWTD_IMAGE_INFO_UNLINKED,
        )
        i += 1


def sections(trace: CData) -> Iterator[Section]:
    """Read all sections of a trace; its lock is held."""
    c = new("struct hwtd_section")
    i = 0
    while lib.hwtd_trace_section(trace, i, c) == lib.HWTD_OK:
        yield Section(
            id=i,
            image=optional_id(c.image),
            generation=c.generation,
            address=c.address,
            length=c.length,
            file_off=c.file_off,
            path=text(c.path),
        )
        i += 1


At = Union[None, str, int, tuple[int, int]]


def position(at: At) -> CData:
    """Make a moment: "start", "end", a time, or (stream, offset)."""
    if at is None or at == "end":
        return ffi.NULL
    c = new("struct hwtd_position")
    if at == "start":
        c.flags = lib.HWTD_POSITION_START
    elif isinstance(at, tuple):
        if len(at) != 2:
            raise ValueError(f"at: (stream, offset) is wanted, not {quoted(at)}")
        c.flags = lib.HWTD_POSITION_OFFSET
        c.stream = config.number("at: stream", at[0], 32)
        c.stream_off = config.number("at: offset", at[1], 64)
    elif isinstance(at, str):
        raise ValueError(
            f"at: {quoted(at)} is neither 'start' nor 'end', nor a time in ns"
        )
    else:
        c.flags = lib.HWTD_POSITION_TIME
        c.time_ns = config.number("at", at, 64)
    return c


def _mapping(c: CData, vmid: Optional[int] = None) -> MappedRange:
    return MappedRange(
        pid=optional_id(c.pid),
        address=c.address,
        length=c.length or 1 << 64,
        path=text(c.path),
        file_off=c.file_off,
        image=optional_id(c.image),
        section=optional_id(c.section),
        kernel=bool(c.flags & lib.HWTD_MAPPINGF_KERNEL),
        everywhere=bool(c.flags & lib.HWTD_MAPPINGF_EVERYWHERE),
        anonymous=bool(c.flags & lib.HWTD_MAPPINGF_ANONYMOUS),
        jit=bool(c.flags & lib.HWTD_MAPPINGF_JIT),
        known=not c.flags & lib.HWTD_MAPPINGF_UNKNOWN,
        vmid=vmid,
    )


def machines(trace: CData) -> Iterator[int]:
    """Read the virtual machines that records speak of."""
    out = ffi.new("uint32_t *")
    i = 0
    while lib.hwtd_trace_machine(trace, i, out) == lib.HWTD_OK:
        yield int(out[0])
        i += 1


def mapped_ranges(
    trace: Trace, pid: Optional[int], vmid: Optional[int], at: At
) -> Iterator[MappedRange]:
    """Read what a process, or without one the kernel and all, has mapped."""
    who = new("struct hwtd_exec_context")
    who.pid = lib.HWTD_NO_ID if pid is None else config.an_id("pid", pid)
    who.tid = who.cpu = lib.HWTD_NO_ID
    if vmid is not None:
        who.vmid = config.an_id("vmid", vmid)
        who.flags = lib.HWTD_CTXF_VMID
    out, err = slot("struct hwtd_maps", "hwtd_maps_close"), error()
    with trace._handle.lock:
        check(
            lib.hwtd_maps_open_context(
                trace._handle.c,
                who,
                lib.HWTD_MAPS_OWN,
                position(at),
                out,
                err,
            ),
            err,
        )
    with Handle.of(out, "hwtd_maps_close", name="list") as maps:
        c = new("struct hwtd_mapping")
        while lib.hwtd_maps_read(maps.c, c) == lib.HWTD_OK:
            yield _mapping(c, vmid)


def lookup(
    trace: Trace, address: int, pid: Optional[int], at: At
) -> Optional[MappedRange]:
    """Read what lies at an address; None: nothing."""
    c = new("struct hwtd_mapping")
    with trace._handle.lock:
        # What is borrowed of it is read below.
        pointer = trace._handle.c
        code = lib.hwtd_space_lookup(
            pointer,
            lib.HWTD_NO_ID if pid is None else config.an_id("pid", pid),
            position(at),
            config.number("address", address, 64),
            c,
        )
        if code == lib.HWTD_E_NOT_FOUND:
            return None
        if code != lib.HWTD_E_STATE:
            check(code)
        return _mapping(c)


# Symbols.

Numbers = Union[int, Iterable[int]]


def _known(name: str, values: Any, unknown: Optional[int]) -> Any:
    """Values of a masked array of NumPy; without one for unknown it has none."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(values, numpy.ma.MaskedArray):
        return values
    if unknown is not None:
        return values.filled(unknown)
    if numpy.ma.is_masked(values):
        raise ValueError(
            f"{name}: some are not known; take those that are, for instance "
            "column.values[column.valid]"
        )
    return values


def _u64s(
    name: str, values: Any, unknown: Optional[int] = None
) -> tuple[CData, int]:
    """Take an array of numbers; NumPy's of 64 bits are not copied."""
    values = _known(name, values, unknown)
    try:
        view = memoryview(values)
    except TypeError:
        pass
    else:
        if view.format in ("Q", "L") and view.itemsize == 8:
            if view.ndim != 1:
                raise ValueError(f"{name}: one dimension is wanted")
            if view.contiguous:
                return ffi.from_buffer("uint64_t[]", values), len(view)
        elif isinstance(values, (bytes, bytearray)):
            raise TypeError(f"{name}: integers are wanted, not bytes")
    if isinstance(values, str):
        raise TypeError(f"{name}: integers are wanted, not a text")
    try:
        made = array.array("Q", (operator.index(v) for v in values))
    except TypeError as err:
        raise TypeError(f"{name}: integers are wanted: {err}") from None
    except OverflowError:
        raise ValueError(f"{name}: a number is not of 64 bits") from None
    return ffi.from_buffer("uint64_t[]", made), len(made)


def is_number(value: Any) -> bool:
    """Tell one number from several: arrays have ``__index__``, too."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _frame(c: CData) -> Frame:
    return Frame(
        function=text_or_none(c.function),
        linkage_name=text_or_none(c.linkage_name),
        file=text_or_none(c.file),
        line=c.line or None,
        column=c.column or None,
        discriminator=c.discriminator,
        inlined=bool(c.flags & lib.HWTD_FRAMEF_INLINED),
    )


def _symbol(address: int, c: CData) -> Symbol:
    flags = c.flags
    return Symbol(
        address=address,
        name=text_or_none(c.name),
        text=text_or_none(c.text),
        offset=c.offset,
        size=c.symbol_size or None,
        start=c.symbol_address,
        image=optional_id(c.image),
        image_name=text_or_none(c.image_name),
        file_off=c.file_off if flags & lib.HWTD_SYMBOLF_FILE_OFF else None,
        frames=tuple(_frame(c.frames[i]) for i in range(c.n_frames)),
        stub=bool(flags & lib.HWTD_SYMBOLF_PLT),
        guessed=bool(flags & lib.HWTD_SYMBOLF_GUESSED),
        listed=bool(flags & lib.HWTD_SYMBOLF_LISTED),
        ambiguous=bool(flags & lib.HWTD_SYMBOLF_AMBIGUOUS),
        fault=text_or_none(c.fault),
    )


class Symbolizer:
    """Names code of a trace; several threads may use it, they take turns."""

    def __init__(
        self,
        trace: Trace,
        lines: bool,
        raw_names: bool,
        search: Optional[config.Search],
    ) -> None:
        opts = new("struct hwtd_symbolizer_options")
        keep: list[Any] = []
        if not lines:
            opts.flags |= lib.HWTD_SYMBOLIZER_NO_LINES
        if raw_names:
            opts.flags |= lib.HWTD_SYMBOLIZER_RAW_NAMES
        if search is not None:
            opts.search = search._to_c(keep)
        out, err = slot("struct hwtd_symbolizer", "hwtd_symbolizer_close"), error()
        with trace._handle.lock:
            check(
                lib.hwtd_symbolizer_open(trace._handle.c, opts, out, err), err
            )
        self._handle = Handle.of(
            out, "hwtd_symbolizer_close", name="symbolizer"
        )

    def _ask(self, where: CData, n: int) -> list[Symbol]:
        out, err = ffi.new("struct hwtd_symbol[]", n), error()
        with self._handle.lock:
            pointer = self._handle.c
            check(
                lib.hwtd_symbolize(
                    pointer,
                    where,
                    ffi.sizeof("struct hwtd_where"),
                    n,
                    out,
                    ffi.sizeof("struct hwtd_symbol"),
                    err,
                ),
                err,
            )
            return [_symbol(where[i].address, out[i]) for i in range(n)]

    def ask(self, addresses: Any, given: dict[int, Any]) -> list[Symbol]:
        """Name addresses; `given` are values, or arrays, by HWTD_WHERE_*."""
        pointer, n = _u64s("addresses", addresses)
        fields = []
        for flag, (name, value) in given.items():
            if is_number(value):
                bits = 64 if flag == lib.HWTD_WHERE_TIME else 32
                value = (config.number(name, value, bits),)
                step = 0
            else:
                step = 1
            unknown = None if flag == lib.HWTD_WHERE_TIME else lib.HWTD_NO_ID
            values, length = _u64s(name, value, unknown)
            if step and length != n:
                raise ValueError(f"{name}: {length} values for {n} addresses")
            if step and flag != lib.HWTD_WHERE_TIME:
                for i in range(length):
                    config.number(name, values[i], 32)
            fields.append((flag, values, step))
        found: list[Symbol] = []
        known: dict[bytes, Symbol] = {}
        size = ffi.sizeof("struct hwtd_where")
        for at in range(0, n, STEP):
            some = min(STEP, n - at)
            where = ffi.new("struct hwtd_where[]", some)
            lib.hwtpy_where_set(where, some, 0, pointer + at, 1)
            for flag, values, step in fields:
                lib.hwtpy_where_set(
                    where, some, flag, values + at * step, step
                )
            # Programs run the same places again and again.
            raw = bytes(ffi.buffer(where, some * size))
            keys = [raw[i * size : (i + 1) * size] for i in range(some)]
            fresh = [key for key in dict.fromkeys(keys) if key not in known]
            if fresh:
                asked = ffi.from_buffer("struct hwtd_where[]", b"".join(fresh))
                known.update(zip(fresh, self._ask(asked, len(fresh))))
            found += [known[key] for key in keys]
        return found

    def close(self) -> None:
        """Give it up."""
        self._handle.close()
