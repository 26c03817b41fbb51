"""Divergences: where two traces first went different ways, thread by thread.

The code that both executed is passed over in lockstep.  Nothing is claimed of
what a trace does not have: behind a gap both are brought together again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from hwt import _measure, _native
from hwt._filters import settled
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns, Loss
from hwt._table import Names, Table
from hwt._words import plural, quoted

if TYPE_CHECKING:
    from hwt.trace import Trace

__all__ = [
    "Divergence",
    "Divergences",
    "DivergencesInfo",
    "FlowBlock",
    "divergences",
]

_SIDES = ("a", "b")


@dataclass(frozen=True)
class FlowBlock:
    """Code that was executed, up to and with a branch.

    Attributes
    ----------
    address : int
        Virtual address of the first byte.
    file_off : int
        Byte of the image's file; without an image the address.
    bytes, insns : int
        Of code, and instructions.
    insns_before : int
        Instructions that the thread executed before.
    branch : str
        How it ended.
    time_ns : int or None
        ns on the clock of its trace.
    time_estimated : bool
        It is not the time of a timing packet.
    stream, stream_off : int
        Where in the raw trace it is told.
    symbol : str or None
        Function, and in `symbol_offset` the byte of it.
    symbol_offset : int or None
        See `symbol`.
    image : str or None
        Image that has the code.
    file : str or None
        Source file, and in `line` its line.
    line : int or None
        See `file`.
    """

    address: int
    file_off: int
    bytes: int
    insns: int
    insns_before: int
    branch: str
    time_ns: int | None
    time_estimated: bool
    stream: int
    stream_off: int
    symbol: str | None
    symbol_offset: int | None
    image: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Divergence:
    """Where two threads went different ways.

    Attributes
    ----------
    kind : str
        ``flow``: both went on, to different places; ``end``: one ends, the
        other goes on; ``lost``: nothing in common is found any more.
    pair : int
        Which threads; see :meth:`Divergences.threads`.
    same : int
        Blocks that were the same since the last divergence of the pair.
    ended : str or None
        Of ``end``: ``a`` or ``b``.
    behind_gap : bool
        There was a gap since then: what is in it was not compared.
    ambiguous : bool
        Behind that several places fitted: it may be an iteration of another
        loop.
    code_differs : bool
        The bytes of code are not the same: these are different builds.
    at_start : bool
        Nothing before it was the same.
    common : tuple of FlowBlock
        What both executed last, as the first trace has it; the last one ends
        in the branch that went different ways.
    common_b : tuple of FlowBlock
        The same as the second trace has it.
    a, b : tuple of FlowBlock
        What each executed then.
    """

    kind: str
    pair: int
    same: int
    ended: str | None
    behind_gap: bool
    ambiguous: bool
    code_differs: bool
    at_start: bool
    common: tuple[FlowBlock, ...]
    common_b: tuple[FlowBlock, ...]
    a: tuple[FlowBlock, ...]
    b: tuple[FlowBlock, ...]


@dataclass(frozen=True)
class DivergencesInfo:
    """What was compared of the flow.

    Attributes
    ----------
    pairs, done : int
        Threads that are compared, or have no counterpart; and how many of
        these are done.
    rows : mapping of str to int
        Divergences by kind.
    unpaired : tuple of int
        By side: threads without a counterpart.
    a, b : Loss
        What of each trace gave nothing; gaps are not told apart by reason.
    """

    pairs: int
    done: int
    rows: Mapping[str, int]
    unpaired: tuple[int, int]
    a: Loss
    b: Loss


class Divergences:
    """Where two traces of a program first went different ways.

    :meth:`hwt.Trace.divergences` makes it.  It is a plan: each iteration goes
    through both traces, until it is left; what comes behind a gap is brought
    together again, and nothing is claimed of what a trace does not have.

    Examples
    --------
    >>> with hwt.open(pt) as trace:
    ...     plan = trace.divergences(trace)
    ...     list(plan)
    []
    >>> plan.info.rows["flow"]
    0
    """

    def __init__(
        self, a: Trace, b: Trace, options: Mapping[str, Any], progress: Any
    ) -> None:
        self._a = a
        self._b = b
        self._given = dict(options)
        self._progress = progress
        self._done: _Seen | None = None

    @classmethod
    def of(
        cls,
        a: Trace,
        b: Trace,
        *,
        rows: int = 1,
        blocks: int = 8,
        window: int = 16384,
        kernel: bool = False,
        tid_a: int | None = None,
        tid_b: int | None = None,
        symbols: bool = True,
        jobs: int | None = None,
        progress: Any = None,
        **filters: Any,
    ) -> Divergences:
        """Plan to compare the flow of two traces.

        Threads are paired by name and by the order in which they began.

        Parameters
        ----------
        a, b : Trace
            They stay open while it is iterated.
        rows : int
            Divergences of each pair at most.
        blocks : int
            Blocks that are told before and behind a divergence, at most.
        window : int
            Blocks that are looked through for what is common again.
        kernel : bool, default False
            Compare code of kernels, and of interrupts and exceptions, too.
        tid_a, tid_b : int, optional
            Only this thread of each.
        symbols : bool, default True
            Tell functions and lines of blocks.
        jobs : int, optional
            Threads that decode.  Default: all CPUs.
        progress : bool or callable, optional
            True: text on stderr if that is a terminal; or a function of bytes
            done and bytes in all.
        **filters
            What of both is compared: ``cpu``, ``tid``, ``pid``, ``stream``,
            ``time``, ``address``, ``engine``, ``strict``, as of
            :meth:`hwt.Trace.events`.

        Returns
        -------
        Divergences
            Nothing is compared yet.

        Examples
        --------
        >>> before = hwt.example("pt_before")
        >>> with hwt.open(before) as a, hwt.open(pt) as b:
        ...     plan = a.divergences(b, rows=3)
        ...     [row.kind for row in plan]
        ['flow', 'flow', 'flow']
        """
        for side, trace in zip(_SIDES, (a, b)):
            if not _measure.is_trace(trace):
                raise TypeError(f"{side}: {quoted(trace)} is no trace")
        for name, value in (
            ("rows", rows),
            ("blocks", blocks),
            ("window", window),
        ):
            if not 1 <= value < 1 << 32:
                raise ValueError(f"{name}: {value} is not from 1 to 2^32 - 1")
        for name, tid in (("tid_a", tid_a), ("tid_b", tid_b)):
            if tid is not None and not 0 <= tid < (1 << 32) - 1:
                raise ValueError(f"{name}: {tid} is no number of a thread")
        # What is wrong with them is told now, not by the first iteration.
        filters = settled(filters)
        _measure.options_of(jobs, filters)
        options = {
            "rows": rows,
            "blocks": blocks,
            "window": window,
            "kernel": kernel,
            "tids": (tid_a, tid_b),
            "symbols": symbols,
            "jobs": jobs,
            "filters": filters,
        }
        return cls(a, b, options, progress)

    def __iter__(self) -> Iterator[Divergence]:
        if self._done is not None:
            yield from self._done.rows
            return
        walk = _Walk(self._a, self._b, self._given, self._progress)
        rows = []
        with walk:
            for row in walk.rows():
                rows.append(row)
                yield row
            self._done = walk.seen(tuple(rows))

    def _seen(self) -> _Seen:
        if self._done is None:
            for _ in self:
                pass
        assert self._done is not None
        return self._done

    @property
    def info(self) -> DivergencesInfo:
        """What was compared; goes through both traces, once."""
        return self._seen().info

    @property
    def notes(self) -> list[str]:
        """What the comparison depends on, a line each."""
        return list(self._seen().notes)

    def threads(self) -> Table:
        """List the threads that were compared, or have no counterpart.

        Returns
        -------
        Table
            `pair`; of both, ``a_`` and ``b_``: `pid`, `tid`, `stream` (where
            nothing tells threads apart), `name`, `insns`, `other` (blocks
            that only one has), `passed` (for a gap of the other),
            `foreign_insns` (in different builds), `gaps`, `gap_bytes`;
            `same` and `same_insns`: blocks that were the same, and their
            instructions; `divergences`, `done`, `lost` and `more`.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.divergences(trace).threads()
        >>> table.to_dict()["done"]
        [True]
        """
        return self._seen().threads

    def images(self) -> Table:
        """List the images of both, and how they belong together.

        Returns
        -------
        Table
            `image`, `state` (``same``, ``assumed``, ``different``,
            ``only-a``, ``only-b``), and `a_insns` and `b_insns`:
            instructions that were read in it.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.divergences(trace).images()
        >>> table.to_dict()["state"]
        ['assumed']
        """
        return self._seen().images

    def table(self) -> Table:
        """List the divergences, a row each.

        Returns
        -------
        Table
            `kind`, `pair`, `same`, `behind_gap`, `ambiguous`,
            `code_differs`, `at_start`, `ended`; and for each side the block
            that was common last, `a_from`, and the one it executed then,
            `a_to`: their addresses, with `_ns`, `_symbol`, `_file` and
            `_line`.

        Examples
        --------
        >>> with hwt.open(pt) as trace:
        ...     table = trace.divergences(trace).table()
        >>> len(table)
        0
        """
        seen = self._seen()
        rows = seen.rows
        c = Columns(len(rows))
        for name, kind, meaning in (
            ("kind", "text", "what was found"),
            ("pair", "u32", "which threads"),
            ("same", "u64", "blocks that were the same since the last one"),
            ("behind_gap", "bool", "there was a gap before"),
            ("ambiguous", "bool", "behind that several places fitted"),
            ("code_differs", "bool", "these are different builds"),
            ("at_start", "bool", "nothing before was the same"),
            ("ended", "text", "the side that ended"),
        ):
            c.listed(
                name, kind, [getattr(r, name) for r in rows], meaning=meaning
            )
        for side in _SIDES:
            for end, what in (
                ("from", "common last"),
                ("to", "executed then"),
            ):
                blocks = [_block_at(row, side, end) for row in rows]
                for suffix, kind, unit, member in (
                    ("", "u64", "address", "address"),
                    ("_ns", "u64", "ns", "time_ns"),
                    ("_symbol", "text", "", "symbol"),
                    ("_file", "text", "", "file"),
                    ("_line", "u32", "", "line"),
                ):
                    c.listed(
                        f"{side}_{end}{suffix}",
                        kind,
                        [
                            None if block is None else getattr(block, member)
                            for block in blocks
                        ],
                        unit=unit,
                        meaning=f"{side}: {what}: {member}",
                    )
        return c.table("divergences", seen.notes)

    def __repr__(self) -> str:
        if self._done is None:
            return "<hwt.Divergences: not compared yet>"
        info = self._done.info
        rows = ", ".join(f"{name}: {n}" for name, n in info.rows.items())
        return f"<hwt.Divergences: {plural(info.pairs, 'pair')}; {rows}>"

    def _repr_html_(self) -> str:
        if self._done is None:
            return "<p>hwt.Divergences: not compared yet</p>"
        text: str = self.table()._repr_html_()
        return text


def divergences(a: Trace, b: Trace, **kw: Any) -> Divergences:
    """Plan to compare the flow of two traces.

    Parameters
    ----------
    a, b : Trace
        The first, and the second one.
    **kw
        As of :meth:`Divergences.of`.

    Returns
    -------
    Divergences
        An iterable of :class:`Divergence`, with tables.

    Examples
    --------
    >>> from hwt.divergence import divergences
    >>> with hwt.open(hwt.example("pt_before")) as a, hwt.open(pt) as b:
    ...     row = next(iter(divergences(a, b)))
    >>> row.common[-1].symbol, row.a[0].insns != row.b[0].insns
    ('number', True)
    """
    return Divergences.of(a, b, **kw)


def _block_at(row: Divergence, side: str, end: str) -> FlowBlock | None:
    if end == "from":
        blocks = row.common if side == "a" else row.common_b
        return blocks[-1] if blocks else None
    blocks = row.a if side == "a" else row.b
    return blocks[0] if blocks else None


@dataclass(frozen=True)
class _Seen:
    """All that one pass found."""

    rows: tuple[Divergence, ...]
    info: DivergencesInfo
    threads: Table
    images: Table
    notes: tuple[str, ...]


class _Walk:
    """One pass through both traces."""

    def __init__(
        self, a: Trace, b: Trace, given: Mapping[str, Any], progress: Any
    ) -> None:
        self._show = _native.reporter(progress)
        self._symbolizers: list[_native.Handle | None] = [None, None]
        err = _native.error()
        how = _native.new("struct hwtd_divergences_options")
        how.flags = lib.HWTD_DIVERGENCES_KERNEL if given["kernel"] else 0
        how.max_rows = given["rows"]
        how.n_blocks = given["blocks"]
        how.window = given["window"]
        keep = []
        for i, tid in enumerate(given["tids"]):
            how.tid_plus_1[i] = 0 if tid is None else tid + 1
            events, kept = _measure.options_of(given["jobs"], given["filters"])
            how.events[i] = events
            keep += [events, kept]
        if given["symbols"]:
            self._symbolizers = [_symbolizer(trace) for trace in (a, b)]
        out = _native.slot("struct hwtd_divergences", "hwtd_divergences_close")
        with _measure.locked(a._handle, b._handle):
            _native.check(
                lib.hwtd_divergences_open(
                    a._handle.c, b._handle.c, how, out, err
                ),
                err,
            )
        del keep
        self._handle = _native.Handle.of(
            out,
            "hwtd_divergences_close",
            keeps=(a._handle, b._handle),
            name="comparison",
        )

    def __enter__(self) -> _Walk:
        return self

    def __exit__(self, *args: object) -> None:
        self._handle.close()
        for symbolizer in self._symbolizers:
            if symbolizer is not None:
                symbolizer.close()

    def rows(self) -> Iterator[Divergence]:
        err = _native.error()
        row = _native.new("struct hwtd_divergence")
        info = _native.new("struct hwtd_divergences_info")
        while True:
            with self._handle.lock:
                code = _native.check(
                    lib.hwtd_divergences_read(self._handle.c, row, err), err
                )
                found = (
                    self._row(row)
                    if code != lib.HWTD_END
                    and row.kind != lib.HWTD_DIVERGENCE_UNKNOWN
                    else None
                )
                _native.check(lib.hwtd_divergences_info(self._handle.c, info))
            if self._show is not None:
                self._show(info.bytes, info.all_bytes)
            if code == lib.HWTD_END:
                return
            if found is not None:
                yield found

    def _row(self, row: Any) -> Divergence:
        is_end = row.kind == lib.HWTD_DIVERGENCE_END
        flags = row.flags
        return Divergence(
            kind=_native.text(lib.hwtd_divergence_kind_name(row.kind)),
            pair=row.pair,
            same=row.same,
            ended=_SIDES[row.ended] if is_end else None,
            behind_gap=bool(flags & lib.HWTD_DIVERGENCEF_BEHIND_GAP),
            ambiguous=bool(flags & lib.HWTD_DIVERGENCEF_AMBIGUOUS),
            code_differs=bool(flags & lib.HWTD_DIVERGENCEF_CODE_DIFFERS),
            at_start=bool(flags & lib.HWTD_DIVERGENCEF_AT_START),
            common=self._blocks(0, row, row.common[0], row.n_common),
            common_b=self._blocks(1, row, row.common[1], row.n_common),
            a=self._blocks(0, row, row.next[0], row.n_next[0]),
            b=self._blocks(1, row, row.next[1], row.n_next[1]),
        )

    def _blocks(
        self, side: int, row: Any, first: Any, n: int
    ) -> tuple[FlowBlock, ...]:
        at = ffi.cast("const char *", first)
        return tuple(
            self._block(
                side,
                ffi.cast(
                    "const struct hwtd_flow_block *", at + i * row.stride
                ),
            )
            for i in range(n)
        )

    def _block(self, side: int, block: Any) -> FlowBlock:
        symbol = self._symbol(side, block)
        names: dict[str, Any] = dict.fromkeys(
            ("symbol", "symbol_offset", "image", "file", "line")
        )
        if symbol is not None:
            names["image"] = _native.text_or_none(symbol.image_name)
            if symbol.text != ffi.NULL:
                names["symbol"] = _native.text(symbol.text)
                names["symbol_offset"] = symbol.offset
            if symbol.n_frames and symbol.frames[0].file != ffi.NULL:
                names["file"] = _native.text(symbol.frames[0].file)
                names["line"] = symbol.frames[0].line or None
        flags = block.flags
        return FlowBlock(
            address=block.address,
            file_off=block.file_off,
            bytes=block.bytes,
            insns=block.insns,
            insns_before=block.insns_before,
            branch=_native.text(lib.hwtd_branch_name(block.branch)),
            time_ns=block.time_ns if flags & lib.HWTD_EVF_TIME else None,
            time_estimated=bool(flags & lib.HWTD_EVF_TIME_ESTIMATED),
            stream=block.stream,
            stream_off=block.stream_off,
            **names,
        )

    def _symbol(self, side: int, block: Any) -> Any:
        symbolizer = self._symbolizers[side]
        if symbolizer is None:
            return None
        where = ffi.new("struct hwtd_where *")
        where.address = block.address
        if block.section != _native.NO_ID:
            where.flags |= lib.HWTD_WHERE_SECTION
            where.section = block.section
        if block.context != _native.NO_ID:
            where.flags |= lib.HWTD_WHERE_CONTEXT
            where.context = block.context
        symbol = ffi.new("struct hwtd_symbol *")
        err = _native.error()
        _native.check(
            lib.hwtd_symbolize(
                symbolizer.c,
                where,
                ffi.sizeof("struct hwtd_where"),
                1,
                symbol,
                ffi.sizeof("struct hwtd_symbol"),
                err,
            ),
            err,
        )
        return symbol

    def seen(self, rows: tuple[Divergence, ...]) -> _Seen:
        """Everything beside the rows, when all was compared."""
        c = _native.new("struct hwtd_divergences_info")
        with self._handle.lock:
            _native.check(lib.hwtd_divergences_info(self._handle.c, c))
            a, b = (
                Loss(
                    c.stream_bytes[i],
                    c.gap_bytes[i],
                    c.file_gap_bytes[i],
                    {"any": int(c.gaps[i])} if c.gaps[i] else {},
                )
                for i in range(2)
            )
            kinds = _measure.names_by(
                lib.hwtd_divergence_kind_name, lib.HWTD_DIVERGENCE_KINDS
            )
            info = DivergencesInfo(
                pairs=c.n_pairs,
                done=c.n_done,
                rows={
                    name: int(c.rows[i]) for i, name in enumerate(kinds) if i
                },
                unpaired=(c.unpaired[0], c.unpaired[1]),
                a=a,
                b=b,
            )
            pairs = _structs(
                "struct hwtd_divergence_pair",
                c.n_pairs,
                lambda i, out: lib.hwtd_divergences_pair(
                    self._handle.c, i, out
                ),
            )
            images = _structs(
                "struct hwtd_divergence_image",
                c.n_images,
                lambda i, out: lib.hwtd_divergences_image(
                    self._handle.c, i, out
                ),
            )
            notes = [
                f"{side}: {note}"
                for side, loss in zip(_SIDES, (a, b))
                for note in loss.notes
            ]
            notes += _flow_notes(pairs, c.n_pairs, images, c.n_images)
            return _Seen(
                rows,
                info,
                _threads(pairs, c.n_pairs, notes),
                _images(images, c.n_images, notes),
                tuple(notes),
            )


def _symbolizer(trace: Trace) -> _native.Handle:
    err = _native.error()
    out = _native.slot("struct hwtd_symbolizer", "hwtd_symbolizer_close")
    with trace._handle.lock:
        _native.check(
            lib.hwtd_symbolizer_open(trace._handle.c, ffi.NULL, out, err), err
        )
    return _native.Handle.of(
        out, "hwtd_symbolizer_close", keeps=(trace._handle,)
    )


def _structs(ctype: str, n: int, read: Any) -> Any:
    """Read structs that are told one by one."""
    rows = ffi.new(f"{ctype}[]", max(n, 1))
    for i in range(n):
        rows[i].size = ffi.sizeof(ctype)
        _native.check(read(i, rows + i))
    return rows


def _flow_notes(pairs: Any, n_pairs: int, images: Any, n: int) -> list[str]:
    notes = []
    both = lib.HWTD_DIVERGENCE_PAIRF_A | lib.HWTD_DIVERGENCE_PAIRF_B
    insns = 0
    for i in range(n_pairs):
        pair = pairs[i]
        insns += pair.insns[0] + pair.insns[1]
        if pair.flags & both != both:
            side = 0 if pair.flags & lib.HWTD_DIVERGENCE_PAIRF_A else 1
            notes.append(
                f"{_thread_name(pair, side)} is in {_SIDES[side]} only"
            )
        elif pair.flags & lib.HWTD_DIVERGENCE_PAIRF_MORE:
            notes.append(
                f"{_thread_name(pair, 0)} of a: what follows was not compared "
                "(rows=)"
            )
    if insns == 0:
        notes.append(
            "no code was compared; kernel=True compares that of kernels, too"
        )
    said = set()
    for i in range(n):
        image = images[i]
        if image.insns[0] + image.insns[1] == 0:
            continue
        path = _native.text(image.path[0]) or _native.text(image.path[1])
        if path in said:
            continue
        if image.state == lib.HWTD_DIVERGENCE_IMAGE_DIFFERENT:
            notes.append(f"different builds: {path}")
        elif image.state == lib.HWTD_DIVERGENCE_IMAGE_ASSUMED:
            notes.append(
                f"taken to be the same, since no build-id tells: {path}"
            )
        said.add(path)
    return notes


def _thread_name(pair: Any, side: int) -> str:
    if pair.tid[side] == _native.NO_ID:
        text = f"stream {pair.stream[side]}"
    else:
        text = f"thread {pair.pid[side]}/{pair.tid[side]}"
    name = _native.text(pair.name[side])
    return f"{text} {name}" if name else text


def _threads(rows: Any, n: int, notes: list[str]) -> Table:
    c = Columns(n, "struct hwtd_divergence_pair", rows)
    c.listed("pair", "u32", list(range(n)), meaning="number of the pair")
    for i, side in enumerate(_SIDES):
        for name, meaning in (
            ("pid", "process"),
            ("tid", "thread"),
            ("stream", "stream, where nothing tells threads apart"),
        ):
            c.number(
                f"{side}_{name}",
                "u32",
                f"{name}[{i}]",
                known="id",
                meaning=f"{side}: {meaning}",
            )
        c.text(f"{side}_name", f"name[{i}]", f"{side}: name of the thread")
    c.number("same", "u64", "same", meaning="blocks that were the same")
    c.number(
        "same_insns", "u64", "same_insns", meaning="instructions in these"
    )
    for name, unit, meaning in (
        ("insns", "", "instructions read"),
        ("other", "", "blocks that only it has"),
        ("passed", "", "blocks passed over for a gap of the other"),
        ("foreign_insns", "", "instructions in different builds"),
        ("gaps", "", "gaps"),
        ("gap_bytes", "bytes", "bytes in gaps"),
    ):
        for i, side in enumerate(_SIDES):
            c.number(
                f"{side}_{name}",
                "u64",
                f"{name}[{i}]",
                unit=unit,
                meaning=f"{side}: {meaning}",
            )
    c.number("divergences", "u64", "divergences", meaning="of flow")
    for name, mask, meaning in (
        ("done", lib.HWTD_DIVERGENCE_PAIRF_DONE, "all was compared"),
        ("lost", lib.HWTD_DIVERGENCE_PAIRF_LOST, "nothing in common any more"),
        ("more", lib.HWTD_DIVERGENCE_PAIRF_MORE, "there were more rows"),
    ):
        c.flag(name, "flags", mask, meaning)
    return c.table("threads that were compared", notes)


def _images(rows: Any, n: int, notes: list[str]) -> Table:
    c = Columns(n, "struct hwtd_divergence_image", rows)
    c.listed(
        "image",
        "text",
        [
            _native.text_or_none(row.path[0])
            or _native.text_or_none(row.path[1])
            for row in rows[0:n]
        ],
        meaning="path in records",
    )
    states = Names(
        _measure.names_by(
            lib.hwtd_divergence_image_state_name,
            lib.HWTD_DIVERGENCE_IMAGE_STATES,
        )
    )
    c.named("state", "state", states, "how both belong together")
    for i, side in enumerate(_SIDES):
        c.number(
            f"{side}_insns",
            "u64",
            f"insns[{i}]",
            meaning=f"{side}: instructions that were read in it",
        )
    return c.table("images of both", notes)
