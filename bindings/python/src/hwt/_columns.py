"""Columns of batches: the memory that C filled, seen from Python."""

from __future__ import annotations

import collections
import ctypes
import functools
import keyword
import operator
import struct
from typing import Any, Callable, NamedTuple, Sequence

from hwt._native import ffi, lib
from hwt._words import quoted

__all__ = ["Column", "Field", "Schema"]

#: Of Arrow's formats: code of `struct`, NumPy's type, the name here.
_NUMBERS = {
    "c": ("b", "i1", "int8"),
    "C": ("B", "u1", "uint8"),
    "s": ("h", "i2", "int16"),
    "S": ("H", "u2", "uint16"),
    "i": ("i", "i4", "int32"),
    "I": ("I", "u4", "uint32"),
    "l": ("q", "i8", "int64"),
    "L": ("Q", "u8", "uint64"),
    "f": ("f", "f4", "float32"),
    "g": ("d", "f8", "float64"),
}

#: The same of formats that are no numbers.
_OTHERS = {"b": "bool", "u": "text", "U": "text", "z": "bytes", "Z": "bytes"}

#: Code of `struct` and bytes of offsets of text.
_OFFSETS = {"u": ("i", 4), "z": ("i", 4), "U": ("q", 8), "Z": ("q", 8)}


class Field(NamedTuple):
    """What a column is.

    Attributes
    ----------
    name : str
        Its name in batches and rows.
    type : str
        "uint64", "uint32", "uint8", "int64", "float64", "bool", "text" and
        so on.
    unit : str or None
        Of numbers, for instance "ns".
    meaning : str
        In words.
    nullable : bool
        Values may be unknown.
    """

    name: str
    type: str
    unit: str | None
    meaning: str
    nullable: bool


def numpy_module() -> Any:
    """NumPy, or what to do to have it."""
    return needed("numpy")


def _view(owner: Any, pointer: Any, n_bytes: int) -> Any:
    """Bytes of C, read-only; `owner` lives as long as the view."""
    if n_bytes == 0:
        return memoryview(b"")
    # What buffers call last keeps the owner until then.  No code of Python may
    # run there: what handlers of signals raise in it would be lost.
    last = functools.partial(operator.is_, owner)
    held = ffi.gc(ffi.cast("char *", pointer), last)
    return memoryview(ffi.buffer(held, n_bytes)).toreadonly()


def c_text(pointer: Any) -> str:
    if pointer == ffi.NULL:
        return ""
    return str(ffi.string(pointer).decode("utf-8", "backslashreplace"))


def _metadata(pointer: Any) -> dict[str, str]:
    """Arrow's pairs: how many, then lengths and bytes."""
    pairs: dict[str, str] = {}
    if pointer == ffi.NULL:
        return pairs
    at = 0

    def number() -> int:
        nonlocal at
        at += 4
        (n,) = struct.unpack("=i", ffi.buffer(pointer + at - 4, 4)[:])
        return int(n)

    def words() -> str:
        nonlocal at
        n = number()
        at += n
        raw: bytes = ffi.buffer(pointer + at - n, n)[:]
        return raw.decode("utf-8", "backslashreplace")

    for _ in range(number()):
        key = words()
        pairs[key] = words()
    return pairs


def needed(module: str, *others: str) -> Any:
    """Import what somebody asked for, or say how to have it with `others`."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        names = " ".join([module.partition(".")[0], *others])
        raise ImportError(
            f"this needs {module}: pip install {names}"
        ) from None


def _prototype() -> Callable[[int, int, int], Any]:
    """PyCapsule_New(), which cffi cannot call: it makes an object."""
    try:
        make = ctypes.PYFUNCTYPE(
            ctypes.py_object,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        )(("PyCapsule_New", ctypes.pythonapi))
    except AttributeError:
        raise NotImplementedError(
            "this Python cannot make capsules; use batches()"
        ) from None
    return make


def make_capsule(what: str, pointer: Any, free: Callable[[Any], None]) -> Any:
    """Hand a struct to a capsule, which gives it back if nobody takes it."""
    kind = ffi.new("struct hwtpy_capsule_kind *")
    getattr(lib, "hwtpy_capsule_" + what)(kind)
    try:
        make = _prototype()
    except NotImplementedError:
        free(pointer)
        raise
    # Ctrl-C may come when there is a capsule already, which frees it.
    return make(
        int(ffi.cast("uintptr_t", pointer)), kind.name, kind.destructor
    )


def check_pointer(pointer: Any, ctype: str) -> None:
    """Refuse what is no pointer to such a struct; cffi makes one of bytes."""
    if (
        not isinstance(pointer, type(ffi.NULL))
        or ffi.typeof(pointer) is not ffi.typeof(ctype)
        or pointer == ffi.NULL
    ):
        raise TypeError(f"a {ctype} is wanted, not {type(pointer).__name__}")


def check_memory(failed: Any) -> None:
    if failed:
        raise MemoryError


def row_type(names: tuple[str, ...]) -> Any:
    """Named tuples of rows with these columns; `async` becomes `async_`."""
    fields = [name + "_" * keyword.iskeyword(name) for name in names]
    return collections.namedtuple("Row", fields)


class Schema:
    """Columns of batches, as C tells them; immutable."""

    __slots__ = (
        "_c",
        "_index",
        "_row",
        "dictionaries",
        "fields",
        "formats",
        "names",
    )

    def __init__(self, c_schema: Any) -> None:
        """Take over what `c_schema` (``struct ArrowSchema *``) has."""
        check_pointer(c_schema, "struct ArrowSchema *")
        shared = lib.hwtpy_schema_take(c_schema)
        check_memory(shared == ffi.NULL)
        self._c = ffi.gc(shared, lib.hwtpy_schema_drop)
        top = lib.hwtpy_schema_get(self._c)
        fields: list[Field] = []
        self.formats: list[str] = []
        self.dictionaries: list[str | None] = []
        for i in range(top.n_children):
            child = top.children[i]
            form = c_text(child.format)
            names = None
            if child.dictionary != ffi.NULL:
                names = c_text(child.dictionary.format)
            said = _metadata(child.metadata)
            self.formats.append(form)
            self.dictionaries.append(names)
            fields.append(
                Field(
                    c_text(child.name),
                    self._type(names if names is not None else form),
                    said.get("unit"),
                    said.get("meaning", ""),
                    bool(child.flags & lib.ARROW_FLAG_NULLABLE),
                )
            )
        self.fields = tuple(fields)
        self.names = tuple(field.name for field in fields)
        self._index = {name: i for i, name in enumerate(self.names)}
        self._row: Any = None

    @staticmethod
    def _type(form: str) -> str:
        if form in _NUMBERS:
            return _NUMBERS[form][2]
        if form in _OTHERS:
            return _OTHERS[form]
        raise NotImplementedError(f"columns of Arrow's format {form!r}")

    @property
    def c(self) -> Any:
        """The shared schema, ``struct hwtpy_schema *``."""
        return self._c

    @property
    def row(self) -> Any:
        """Named tuples of its rows."""
        if self._row is None:
            self._row = row_type(self.names)
        return self._row

    def index(self, name: str) -> int:
        """Where a column is; KeyError if there is none."""
        try:
            return self._index[name]
        except KeyError:
            raise KeyError(
                f"there is no column {quoted(name)}; columns are "
                + ", ".join(self.names)
            ) from None

    def capsule(self) -> Any:
        """A capsule "arrow_schema"."""
        out = lib.hwtpy_new_schema()
        check_memory(out == ffi.NULL)
        if lib.hwtpy_schema_export(self._c, out) != 0:
            lib.hwtpy_free_schema(out)
            raise MemoryError
        return make_capsule("schema", out, lib.hwtpy_free_schema)


class Column:
    """A column of a batch.

    It holds the memory that C filled.  What it hands out without a copy is
    read-only, and keeps that memory as long as it lives itself.

    Parameters
    ----------
    field : Field
        What it is.
    owner, array : cdata
        Whose memory it is, and where.
    form, names_format : str
        Arrow's formats of values, and of names.

    Attributes
    ----------
    field : Field
        What it is.

    Examples
    --------
    >>> batch = next(hwt.open(pt).events().batches())
    >>> column = batch.column("kind")
    >>> column.type, column.null_count
    ('text', 0)
    """

    __slots__ = ("field", "_owner", "_array", "_format", "_names_format")

    def __init__(
        self,
        field: Field,
        owner: Any,
        array: Any,
        form: str,
        names_format: str | None,
    ) -> None:
        self.field = field
        self._owner = owner
        self._array = array
        self._format = form
        self._names_format = names_format

    @property
    def name(self) -> str:
        """Its name."""
        return self.field.name

    @property
    def type(self) -> str:
        """What values are: "uint64", "text" and so on."""
        return self.field.type

    @property
    def unit(self) -> str | None:
        """Of numbers, or None."""
        return self.field.unit

    @property
    def meaning(self) -> str:
        """In words."""
        return self.field.meaning

    @property
    def nullable(self) -> bool:
        """Values may be unknown, be it in other batches."""
        return self.field.nullable

    def __len__(self) -> int:
        return int(self._array.length)

    def __repr__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        return (
            f"<hwt.Column {self.name}: {self.type}{unit}, {len(self)} rows, "
            f"{self.null_count} unknown>"
        )

    @property
    def null_count(self) -> int:
        """Values that are unknown."""
        n = int(self._array.null_count)
        return n if n >= 0 else len(self) - sum(self._bits(0))

    def _bits(self, which: int) -> bytes:
        """Bytes of 0 and 1 from the bits of a buffer."""
        array = self._array
        n = int(array.length)
        out = ffi.new("uint8_t[]", max(n, 1))
        lib.hwtpy_unpack_bits(array.buffers[which], array.offset, n, out)
        return bytes(ffi.buffer(out, n))

    def _all_valid(self) -> bool:
        array = self._array
        return bool(
            array.null_count == 0 or array.buffers[0] == ffi.NULL
        )

    def _is_number(self) -> bool:
        return self._format in _NUMBERS

    @property
    def buffer(self) -> memoryview[Any]:
        """Numbers (of names: which one) as C made them; needs no NumPy.

        Returns
        -------
        memoryview
            Shape [rows], read-only, no copy.  Where a value is unknown,
            anything may stand.

        Raises
        ------
        TypeError
            Booleans are bits and text has no width: see `to_list`.
        """
        if not self._is_number():
            raise TypeError(
                f"column {self.name!r} of type {self.type} has no numbers; "
                "use to_list()"
            )
        code = _NUMBERS[self._format][0]
        width = struct.calcsize(code)
        array = self._array
        first = ffi.cast("char *", array.buffers[1]) + array.offset * width
        raw = _view(self._owner, first, int(array.length) * width)
        numbers: memoryview[Any] = raw.cast(code)
        return numbers

    def _numbers(self) -> Any:
        np = numpy_module()
        dtype = np.dtype(_NUMBERS[self._format][1])
        if len(self) == 0:
            return np.empty(0, dtype)
        return np.frombuffer(self.buffer, dtype)

    @property
    def values(self) -> Any:
        """Values, whether known or not.

        Returns
        -------
        numpy.ndarray
            Shape [rows].  Numbers: a read-only view.  Booleans, which are
            bits in memory, and text: a copy.  Where a value is unknown,
            anything may stand: see `valid`.
        """
        np = numpy_module()
        if self._names_format is None and self._is_number():
            return self._numbers()
        if self._format == "b":
            return np.frombuffer(self._bits(1), np.bool_)
        return self._objects(np)

    def _objects(self, np: Any) -> Any:
        if self._names_format is not None:
            names = np.array([*self.names, None], dtype=object)
            codes = self._numbers().astype(np.intp)
            if not self._all_valid():
                codes[~self.valid] = len(names) - 1
            return names[codes]
        out = np.empty(len(self), dtype=object)
        out[:] = self._texts()
        return out

    @property
    def valid(self) -> Any:
        """Which values are known.

        Returns
        -------
        numpy.ndarray of bool
            Shape [rows]; a copy, since it is bits in memory.
        """
        np = numpy_module()
        if self._all_valid():
            return np.ones(len(self), np.bool_)
        return np.frombuffer(self._bits(0), np.bool_)

    @property
    def codes(self) -> Any:
        """Which of `names` each value is.

        Returns
        -------
        numpy.ndarray
            Shape [rows]; a read-only view.  Where a value is unknown,
            anything may stand.

        Raises
        ------
        TypeError
            The column has no list of names.
        """
        if self._names_format is None:
            raise TypeError(f"column {self.name!r} has no list of names")
        return self._numbers()

    @property
    def names(self) -> list[str]:
        """The different texts of a column that has `codes`.

        Returns
        -------
        list of str
            By code.

        Raises
        ------
        TypeError
            The column has no list of names.
        """
        if self._names_format is None:
            raise TypeError(f"column {self.name!r} has no list of names")
        texts = Column(
            self.field,
            self._owner,
            self._array.dictionary,
            self._names_format,
            None,
        )
        return [str(one) for one in texts._texts()]

    def to_numpy(self) -> Any:
        """Values as a NumPy array.

        Returns
        -------
        numpy.ndarray or numpy.ma.MaskedArray
            Shape [rows].  As `values`; numbers and booleans of which some are
            unknown are masked there, and text is None.

        Examples
        --------
        >>> batch = next(hwt.open(pt).events(kinds="block").batches())
        >>> int(batch.column("insns").to_numpy().max()) > 1
        True
        """
        values = self.values
        if self._all_valid() or values.dtype == object:
            return values
        np = numpy_module()
        return np.ma.MaskedArray(values, mask=~self.valid, copy=False)

    def _texts(self) -> list[Any]:
        code, width = _OFFSETS[self._format]
        array = self._array
        n = int(array.length)
        if n == 0:
            return []
        first = ffi.cast("char *", array.buffers[1]) + array.offset * width
        offsets = _view(self._owner, first, (n + 1) * width).cast(code)
        raw = _view(self._owner, array.buffers[2], offsets[n])
        parts: list[Any] = [
            bytes(raw[offsets[i] : offsets[i + 1]]) for i in range(n)
        ]
        if self._format in "uU":
            parts = [one.decode("utf-8", "backslashreplace") for one in parts]
        if self._all_valid():
            return parts
        return [
            part if known else None
            for part, known in zip(parts, self._bits(0))
        ]

    def to_list(self) -> list[Any]:
        """Values as objects of Python; what is unknown is None.

        Returns
        -------
        list
            Needs no NumPy.

        Examples
        --------
        >>> batch = next(hwt.open(pt).events(kinds="block").batches())
        >>> batch.column("kind").to_list()[:2]
        ['block', 'block']
        """
        values: list[Any]
        if self._names_format is not None:
            names = self.names
            known_codes = self._known(self.buffer.tolist())
            return [
                None if code is None else names[code] for code in known_codes
            ]
        if self._is_number():
            values = self.buffer.tolist()
        elif self._format == "b":
            values = [one != 0 for one in self._bits(1)]
        else:
            return self._texts()
        return self._known(values)

    def _known(self, values: list[Any]) -> list[Any]:
        if self._all_valid():
            return values
        return [
            value if known else None
            for value, known in zip(values, self._bits(0))
        ]

    def addresses(self) -> list[int]:
        """Where its buffers lie: to compare with those of consumers.

        Returns
        -------
        list of int
            Of bits of what is known, and of values; of text offsets and bytes.
            0: there is none.
        """
        array = self._array
        return [
            int(ffi.cast("uintptr_t", array.buffers[i]))
            for i in range(array.n_buffers)
        ]


def no_values(schema: Schema) -> dict[str, Any]:
    """Columns as NumPy arrays without rows."""
    np = numpy_module()
    values = {}
    for field, form, names in zip(
        schema.fields, schema.formats, schema.dictionaries
    ):
        if names is None and form in _NUMBERS:
            dtype = np.dtype(_NUMBERS[form][1])
        else:
            dtype = np.dtype(np.bool_ if form == "b" else object)
        values[field.name] = np.empty(0, dtype)
    return values


def concatenate(batches: Sequence[Any]) -> Any:
    """Values of one column from several batches, masked if any are."""
    np = numpy_module()
    if any(isinstance(one, np.ma.MaskedArray) for one in batches):
        return np.ma.concatenate(batches)
    return np.concatenate(batches)


def to_pandas(table: Any) -> Any:
    """A frame in which unknown numbers are unknown, not floating."""
    pandas = needed("pandas", "pyarrow")
    pa = needed("pyarrow")
    types = {
        getattr(pa, name)(): getattr(pandas, dtype)()
        for name, dtype in (
            ("uint64", "UInt64Dtype"),
            ("uint32", "UInt32Dtype"),
            ("uint16", "UInt16Dtype"),
            ("uint8", "UInt8Dtype"),
            ("int64", "Int64Dtype"),
            ("int32", "Int32Dtype"),
            ("int8", "Int8Dtype"),
            ("float64", "Float64Dtype"),
            ("bool_", "BooleanDtype"),
        )
    }
    nullable = [f.name for f in table.schema if f.nullable]
    sure = table.drop_columns(nullable).to_pandas()
    other = table.select(nullable).to_pandas(types_mapper=types.get)
    frame = pandas.concat([sure, other], axis=1)
    return frame[[f.name for f in table.schema]]
