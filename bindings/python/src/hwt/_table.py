"""Small results that are there as a whole: rows of named columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from hwt._native import Handle, check, error, ffi, lib, slot
from hwt._stream import Batch, Column, Field, needed, row_type
from hwt._words import near, printable, quoted

_KINDS = {
    "u64": (lib.HWTPY_U64, lib.HWTPY_TYPE_U64, "uint64_t[]"),
    "i64": (lib.HWTPY_I64, lib.HWTPY_TYPE_I64, "int64_t[]"),
    "u32": (lib.HWTPY_U32, lib.HWTPY_TYPE_U32, "uint32_t[]"),
    "u8": (lib.HWTPY_U8, lib.HWTPY_TYPE_U8, "uint8_t[]"),
    "f64": (lib.HWTPY_F64, lib.HWTPY_TYPE_F64, "double[]"),
    "bool": (lib.HWTPY_BOOL, lib.HWTPY_TYPE_U8, "uint8_t[]"),
    "text": (lib.HWTPY_TEXT, lib.HWTPY_TYPE_BYTES, ""),
    "name": (lib.HWTPY_NAME, lib.HWTPY_TYPE_U32, "uint32_t[]"),
}

_TYPES = {
    "uint64_t": lib.HWTPY_TYPE_U64,
    "size_t": lib.HWTPY_TYPE_U64,
    "int64_t": lib.HWTPY_TYPE_I64,
    "uint32_t": lib.HWTPY_TYPE_U32,
    "int32_t": lib.HWTPY_TYPE_I32,
    "uint16_t": lib.HWTPY_TYPE_U16,
    "uint8_t": lib.HWTPY_TYPE_U8,
    "_Bool": lib.HWTPY_TYPE_U8,
    "double": lib.HWTPY_TYPE_F64,
    "char *": lib.HWTPY_TYPE_STRING,
}

_PART = re.compile(r"[A-Za-z_]\w*|\[\d+\]")

# Of __repr__: rows, columns of text, and what stands between columns.
_REPR_ROWS = 20
_REPR_WIDTH = 110
_REPR_CELL = 60

# Columns that people read in hex, besides *_offset and *_address.
_PLACES = ("offset", "address", "ip", "target", "pc")

Known = Union[None, str, Tuple[str, int], Tuple[str, int, str], Sequence[bool]]
"""What tells which values of a column are known; see `Spec.member`."""


def _encode(text: str) -> bytes:
    """UTF-8; bytes that were none come back as ``\\xNN``."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _join(texts: Sequence[Optional[str]]) -> Tuple[Any, Any]:
    """All bytes, and where each text begins."""
    parts = [b"" if text is None else _encode(text) for text in texts]
    offsets = ffi.new("uint64_t[]", len(parts) + 1)
    at = 0
    for i, part in enumerate(parts):
        at += len(part)
        offsets[i + 1] = at
    return ffi.from_buffer("char[]", b"".join(parts)), offsets


def _locate(ctype: str, path: str) -> Tuple[int, int]:
    """Offset and hwtpy_type of a member such as ``self.ns`` or ``gaps[3]``."""
    at = ffi.typeof(ctype)
    offset = 0
    for part in _PART.findall(path):
        if part[0] == "[":
            index = int(part[1:-1])
            if at.kind != "array" or index >= (at.length or 0):
                raise ValueError(f"{ctype} has no {path}")
            at = at.item
            offset += index * ffi.sizeof(at)
        else:
            fields = dict(at.fields or ()) if at.kind == "struct" else {}
            if part not in fields:
                raise ValueError(f"{ctype} has no {path}")
            offset += fields[part].offset
            at = fields[part].type
    kind = _TYPES.get("char *" if at.cname == "char *" else at.cname)
    if kind is None:
        raise ValueError(f"{path} of {ctype} is a {at.cname}, not a value")
    return offset, kind


class Names:
    """Texts that stand once each, for columns of kind ``name``.

    Parameters
    ----------
    texts : sequence of str or None
        The text of each number from 0 on; equal ones become one.
    """

    def __init__(self, texts: Sequence[Optional[str]]) -> None:
        data, offsets = _join(texts)
        members = ffi.new("struct hwtpy_members *")
        members.first = data
        members.type = lib.HWTPY_TYPE_BYTES
        self._make(members, offsets, len(texts))
        for i, text in enumerate(texts):
            if text is None:
                self.numbers[i] = lib.HWTD_NO_ID

    @classmethod
    def member(cls, rows: Any, ctype: str, path: str, n: int) -> Names:
        """Those of `n` structs in C, of which a member is the text."""
        self = cls.__new__(cls)
        members = ffi.new("struct hwtpy_members *")
        _members(members, rows, ctype, path)
        if members.type != lib.HWTPY_TYPE_STRING:
            raise ValueError(f"{path} of {ctype} is no text")
        self._make(members, ffi.NULL, n)
        return self

    def _make(self, members: Any, offsets: Any, n: int) -> None:
        self.numbers = ffi.new("uint32_t[]", max(n, 1))
        self.n = n
        out = slot("struct hwtpy_names", "hwtpy_names_release")
        err = error()
        check(
            lib.hwtpy_names_create(
                members, offsets, n, self.numbers, out, err
            ),
            err,
        )
        self.handle = Handle.of(out, "hwtpy_names_release")

    def __len__(self) -> int:
        return int(lib.hwtpy_names_count(self.handle.c))


def _members(members: Any, rows: Any, ctype: str, path: str) -> None:
    offset, kind = _locate(ctype, path)
    members.first = ffi.cast("const char *", rows) + offset
    members.stride = ffi.sizeof(ctype)
    members.type = kind


@dataclass(frozen=True)
class Member:
    """A member of each struct of an array in C; see `Spec.member`."""

    rows: Any
    ctype: str
    path: str
    known: Known = None
    names: Optional[Names] = None
    mask: int = 0
    scale: float = 0.0
    at: Optional[Member] = None
    count: int = 0


@dataclass(frozen=True)
class Spec:
    """A column that a table is made of.

    Parameters
    ----------
    name : str
        Of the column.
    kind : str
        ``u64``, ``i64``, ``u32``, ``u8``, ``f64``, ``bool``, ``text``, or
        ``name``: text that stands once in memory however often it is used.
    values : sequence, Names or Member
        A value for each row, None where it is not known; names that were made
        for each row; or where they are in C, see `Spec.member`.
    unit : str, optional
        For instance ``ns``.
    meaning : str, optional
        A sentence.
    """

    name: str
    kind: str
    values: Any
    unit: str = ""
    meaning: str = ""

    @staticmethod
    def member(
        rows: Any,
        ctype: str,
        path: str,
        *,
        known: Known = None,
        names: Optional[Names] = None,
        mask: int = 0,
        scale: float = 0.0,
        at: Optional[Member] = None,
        count: int = 0,
    ) -> Member:
        """Values that are members of structs, gathered without a loop here.

        Parameters
        ----------
        rows : cdata
            Pointer to the first struct; they lie one behind the other.
        ctype : str
            Of a struct, for instance ``struct hwtd_profile_row``.
        path : str
            Of the member, for instance ``self.ns`` or ``gaps[3]``.
        known : optional
            ``"id"``: unless it is HWTD_NO_ID.  ``"none"``: none of them.
            ``(member, mask)``: if one of these bits of another member is set,
            which may be a pointer; ``(member, mask, "clear")``: if none is;
            ``(member, 0, "id")``: unless the other one is HWTD_NO_ID.  A
            sequence of bool: as it says.  A text is not known where it is
            NULL, in any case.
        names : Names, optional
            Of kind ``name``: what each value stands for.
        mask : int, optional
            Of kind ``bool``: true if one of these bits is set.
        scale : float, optional
            Of kind ``f64``: what values are multiplied with.
        at : Member, optional
            `rows` are other structs: which of them belongs to a row says this
            member of the row; where it is HWTD_NO_ID nothing is known.
        count : int, optional
            With `at`: how many other structs there are.

        Returns
        -------
        Member
        """
        return Member(rows, ctype, path, known, names, mask, scale, at, count)


def _set_known(column: Any, known: Known, m: Optional[Member]) -> Any:
    """Says in `column` what is known; returns what has to stay alive."""
    if known is None:
        return None
    by = column.known_by
    if known == "id":
        column.known = lib.HWTPY_KNOWN_ID
        column.known_by = column.values
        return None
    if known == "none":
        column.known = lib.HWTPY_KNOWN_NONE
        return None
    if (
        isinstance(known, tuple)
        and len(known) in (2, 3)
        and isinstance(known[0], str)
    ):
        if m is None:
            raise ValueError("a list has no members")
        _members(by, m.rows, m.ctype, known[0])
        column.known_mask = known[1]
        how = known[2] if len(known) == 3 else "set"
        column.known = {
            "set": lib.HWTPY_KNOWN_BITS,
            "clear": lib.HWTPY_KNOWN_NO_BITS,
            "id": lib.HWTPY_KNOWN_ID,
        }[str(how)]
        return None
    if isinstance(known, str):
        raise ValueError(f"{known!r} does not say what is known")
    flags = ffi.new("uint8_t[]", [bool(k) for k in known] or [0])
    by.first = flags
    by.stride = 1
    by.type = lib.HWTPY_TYPE_U8
    column.known = lib.HWTPY_KNOWN_BITS
    column.known_mask = 0xFF
    return flags


def _set_names(column: Any, names: Names) -> None:
    column.names = names.handle.c
    column.numbers = names.numbers
    column.n_numbers = names.n


def _of_member(column: Any, spec: Spec) -> List[Any]:
    m: Member = spec.values
    _members(column.values, m.rows, m.ctype, m.path)
    column.mask = m.mask
    column.scale = m.scale
    if m.at is not None:
        _members(column.at, m.at.rows, m.at.ctype, m.at.path)
        column.n_others = m.count
    if spec.kind == "name":
        if m.names is None:
            raise ValueError(f"column {spec.name}: names of what?")
        _set_names(column, m.names)
    return [m, _set_known(column, m.known, m)]


def _of_list(column: Any, spec: Spec, n: int) -> List[Any]:
    values = list(spec.values)
    if len(values) != n:
        raise ValueError(
            f"column {spec.name} has {len(values)} values for {n} rows"
        )
    _, column.values.type, ctype = _KINDS[spec.kind]
    flags: Any = None
    if any(v is None for v in values):
        flags = _set_known(column, [v is not None for v in values], None)
    if spec.kind == "text":
        data, offsets = _join(values)
        column.values.first = data
        column.offsets = offsets
        return [data, offsets, flags]
    if spec.kind == "name":
        names = Names(values)
        column.names = names.handle.c
        cells = names.numbers
        keep: Any = names
    else:
        zero = [0 if v is None else v for v in values]
        cells = keep = ffi.new(ctype, zero or [0])
    column.values.first = cells
    column.values.stride = ffi.sizeof(ffi.typeof(ctype).item)
    return [keep, cells, flags]


def _of_names(column: Any, spec: Spec, n: int) -> Any:
    names: Names = spec.values
    if names.n != n or spec.kind != "name":
        raise ValueError(f"column {spec.name}: {names.n} names for {n} rows")
    column.values.first = names.numbers
    column.values.stride = ffi.sizeof("uint32_t")
    column.values.type = lib.HWTPY_TYPE_U32
    column.names = names.handle.c
    return names


def _describe(columns: Any, specs: Sequence[Spec], n: int) -> List[Any]:
    keep: List[Any] = []
    for column, spec in zip(columns, specs):
        if spec.kind not in _KINDS:
            raise ValueError(f"column {spec.name}: no kind {spec.kind!r}")
        column.kind = _KINDS[spec.kind][0]
        for field in ("name", "unit", "meaning"):
            text = ffi.new("char[]", _encode(getattr(spec, field)))
            setattr(column, field, text)
            keep.append(text)
        if isinstance(spec.values, Names):
            keep.append(_of_names(column, spec, n))
        elif isinstance(spec.values, Member):
            keep.extend(_of_member(column, spec))
        else:
            keep.extend(_of_list(column, spec, n))
    return keep


def _cell(value: Any, is_place: bool) -> str:
    """A value as `Table.__repr__` shows it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return hex(value) if is_place else str(value)
    if isinstance(value, float):
        return f"{value:.2f}"
    text = printable(str(value)[:200])
    return text if len(text) <= _REPR_CELL else text[: _REPR_CELL - 2] + ".."


class Table:
    """Rows of named columns, all in memory; never changed.

    Tables are what analyses give: small, and whole.  Columns are those of a
    `hwt.events.Batch`: NumPy sees them without a copy, and pyarrow, polars,
    DuckDB and pandas read a table as an Arrow stream.  What is not known is
    None, or null, never 0.

    Attributes
    ----------
    title : str
        What it is a table of.
    notes : tuple of str
        What it lacks, in words: gaps of the trace, and what was left out.
        Empty: nothing.

    Examples
    --------
    >>> table = hwt.open(pt).report()
    >>> len(table.head(3))
    3
    >>> table.columns[:2]
    ('function', 'without')
    """

    title: str
    notes: Tuple[str, ...]
    _handle: Handle
    _batch_: Optional[Batch]

    def __init__(self) -> None:
        raise TypeError("tables are made by methods of traces and analyses")

    @classmethod
    def _of(cls, handle: Handle, title: str, notes: Iterable[str]) -> Table:
        """What `handle` has, a ``struct hwtpy_table *``."""
        self = cls.__new__(cls)
        self._handle = handle
        self.title = title
        self.notes = tuple(notes)
        self._batch_ = None
        return self

    @classmethod
    def _from_rows(
        cls,
        n: int,
        specs: Iterable[Spec],
        *,
        title: str = "",
        notes: Iterable[str] = (),
    ) -> Table:
        """Make a table out of columns.

        Parameters
        ----------
        n : int
            Rows.
        specs : iterable of Spec
            The columns.
        title : str, optional
            What it is a table of.
        notes : iterable of str, optional
            What it lacks.

        Returns
        -------
        Table
            With copies: what it was made of can be closed.

        Raises
        ------
        ValueError
            Two columns of one name, or a list of another length.
        MemoryError
            There is no room for it.
        """
        specs = list(specs)
        seen = set()
        for spec in specs:
            if spec.name in seen:
                raise ValueError(f"two columns are named {quoted(spec.name)}")
            seen.add(spec.name)
        columns = ffi.new("struct hwtpy_column[]", max(len(specs), 1))
        keep = _describe(columns, specs, n)
        out = slot("struct hwtpy_table", "hwtpy_table_release")
        err = error()
        check(lib.hwtpy_table_create(columns, len(specs), n, out, err), err)
        del keep
        return cls._of(Handle.of(out, "hwtpy_table_release"), title, notes)

    # What is in it.

    @property
    def _batch(self) -> Batch:
        if self._batch_ is None:
            schema = ffi.new("struct ArrowSchema *")
            array = ffi.new("struct ArrowArray *")
            err = error()
            check(
                lib.hwtpy_table_export(self._handle.c, schema, array, err),
                err,
            )
            self._batch_ = Batch.of_arrays(schema, array)
        return self._batch_

    def __len__(self) -> int:
        return len(self._batch)

    @property
    def columns(self) -> Tuple[str, ...]:
        """Names of the columns, in their order."""
        return tuple(self._batch.columns)

    @property
    def schema(self) -> List[Field]:
        """What the columns are: names, types, units, meanings."""
        return list(self._batch.schema)

    def column(self, name: str) -> Column:
        """A column, with what is known of it.

        Parameters
        ----------
        name : str
            One of `columns`.

        Returns
        -------
        Column
            With ``values``, ``valid``, ``to_list()``, ``to_numpy()``, ``unit``
            and ``meaning``.

        Raises
        ------
        KeyError
            There is no such column.

        Examples
        --------
        >>> hwt.open(pt).report().column("self_ns").unit
        'ns'
        """
        if name not in self.columns:
            raise KeyError(_nearest(name, self.columns, "column"))
        return self._batch.column(name)

    def __getitem__(self, name: str) -> Any:
        """A column as a NumPy array: a view that cannot be written."""
        if name not in self.columns:
            raise KeyError(_nearest(name, self.columns, "column"))
        return self._batch[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    # Rows.

    def rows(self) -> Iterator[Any]:
        """All rows, as named tuples.

        Returns
        -------
        iterator of Row
            A field for each column; None where it is not known.

        Examples
        --------
        >>> next(hwt.open(pt).report().rows()).insns > 0
        True
        """
        make = row_type(self.columns)._make
        lists = [self.column(name).to_list() for name in self.columns]
        return map(make, zip(*lists))

    def __iter__(self) -> Iterator[Any]:
        return self.rows()

    def _take(self, rows: Sequence[int]) -> Table:
        numbers = ffi.new("uint64_t[]", list(rows) or [0])
        out = slot("struct hwtpy_table", "hwtpy_table_release")
        err = error()
        check(
            lib.hwtpy_table_take(self._handle.c, numbers, len(rows), out, err),
            err,
        )
        handle = Handle.of(out, "hwtpy_table_release")
        return self._of(handle, self.title, self.notes)

    def head(self, n: int = 10) -> Table:
        """The first rows.

        Parameters
        ----------
        n : int, optional
            How many, at most.

        Returns
        -------
        Table
            As many as there are, at most `n`.
        """
        if n < 0:
            raise ValueError(f"head({n}): a number of rows is 0 or more")
        return self._take(range(min(n, len(self))))

    def sort(
        self, by: Union[str, Sequence[str]], descending: bool = True
    ) -> Table:
        """The same rows in another order.

        Parameters
        ----------
        by : str or sequence of str
            Names of columns, the one that counts most first.
        descending : bool, optional
            The largest value first.  What is not known comes last anyway, and
            equal rows stay in their order.

        Returns
        -------
        Table
            Another one; this one stays as it is.

        Examples
        --------
        >>> hwt.open(pt).report().sort("calls").columns[0]
        'function'
        """
        order: List[int] = list(range(len(self)))
        names = [by] if isinstance(by, str) else list(by)
        for name in reversed(names):
            values = self.column(name).to_list()
            known = [i for i in order if values[i] is not None]
            known.sort(key=values.__getitem__, reverse=descending)
            order = known + [i for i in order if values[i] is None]
        return self._take(order)

    def filter(
        self, where: Union[Callable[[Any], object], Iterable[Any]]
    ) -> Table:
        """Some of the rows.

        Parameters
        ----------
        where : callable or iterable of bool
            Called with each row; or true for each row that is wanted, for
            instance a NumPy array.

        Returns
        -------
        Table
            Those rows, in their order.

        Raises
        ------
        ValueError
            Not as many truths as rows.

        Examples
        --------
        >>> table = hwt.open(pt).report()
        >>> len(table.filter(lambda row: row.insns == 0)) < len(table)
        True
        """
        if callable(where):
            return self._take(
                [i for i, row in enumerate(self.rows()) if where(row)]
            )
        wanted = [bool(w) for w in where]
        if len(wanted) != len(self):
            raise ValueError(f"{len(wanted)} truths for {len(self)} rows")
        return self._take([i for i, w in enumerate(wanted) if w])

    # What others make of it.

    def to_dict(self) -> Dict[str, List[Any]]:
        """All values by name of column.

        Returns
        -------
        dict of str to list
            A list for each column; None where a value is not known.
        """
        return {name: self.column(name).to_list() for name in self.columns}

    def to_numpy(self) -> Dict[str, Any]:
        """NumPy arrays by name of column.

        Returns
        -------
        dict of str to numpy.ndarray
            Masked arrays where something is not known.
        """
        return {name: self.column(name).to_numpy() for name in self.columns}

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``; columns are not copied.

        Returns
        -------
        pyarrow.Table
            Of the same memory; metadata of its fields has units and meanings.
        """
        return needed("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """A pandas data frame.

        Returns
        -------
        pandas.DataFrame
            A copy; names are categories.
        """
        needed("pandas", "pyarrow")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars data frame; columns are not copied.

        Returns
        -------
        polars.DataFrame
            Names are categories.
        """
        return needed("polars").DataFrame(self)

    def __arrow_c_schema__(self) -> object:
        return self._batch.__arrow_c_schema__()

    def __arrow_c_array__(
        self, requested_schema: Optional[object] = None
    ) -> Tuple[object, object]:
        return self._batch.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(
        self, requested_schema: Optional[object] = None
    ) -> object:
        return self._batch.__arrow_c_stream__(requested_schema)

    # How it looks.

    def __repr__(self) -> str:
        shown = self.head(_REPR_ROWS)
        empty: List[str] = []
        cells: Dict[str, List[str]] = {}
        right = set()
        for name in shown.columns:
            column = shown.column(name)
            values = column.to_list()
            if len(shown) and all(v is None for v in values):
                empty.append(name)
                continue
            if not any(isinstance(v, str) for v in values):
                right.add(name)
            is_place = name in _PLACES or name.endswith(
                ("_offset", "_address")
            )
            cells[name] = [name] + [_cell(v, is_place) for v in values]
        lines, hidden = _align(cells, right)
        what = f": {self.title}" if self.title else ""
        out = [f"<hwt.Table{what}: {_count(len(self), 'row')}>"] + lines
        if len(self) > len(shown):
            out.append(f"... {_count(len(self) - len(shown), 'more row')}")
        if hidden:
            out.append("columns not shown: " + ", ".join(hidden))
        if empty:
            out.append("not known here: " + ", ".join(empty))
        out += [printable(note) for note in self.notes]
        return "\n".join(out)

    def _repr_html_(self) -> str:
        from hwt._repr import table_html

        return str(table_html(self))


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _align(
    cells: Dict[str, List[str]], right: Iterable[str]
) -> Tuple[List[str], List[str]]:
    """Lines of as many columns as there is room for, and the others."""
    at = 0
    shown: List[List[str]] = []
    hidden: List[str] = []
    for name, column in cells.items():
        width = max(len(c) for c in column)
        if hidden or (shown and at + width > _REPR_WIDTH):
            hidden.append(name)
            continue
        at += width + 2
        if name in right:
            shown.append([c.rjust(width) for c in column])
        else:
            shown.append([c.ljust(width) for c in column])
    return ["  ".join(row).rstrip() for row in zip(*shown)], hidden


def _nearest(name: object, names: Iterable[str], what: str) -> str:
    """Why a name is wrong, with the one that may have been meant."""
    all_names = list(names)
    found = near(name, all_names)
    if found:
        return f"no {what} {quoted(name)}; did you mean {found[0]!r}?"
    if not all_names:
        return f"no {what} {quoted(name)}; there is none"
    some = ", ".join(printable(one[:100]) for one in all_names[:12])
    more = ", ..." if len(all_names) > 12 else ""
    return f"no {what} {quoted(name)}; there are {some}{more}"
