"""Batches of columns: what C made, seen from Python without a copy."""

from __future__ import annotations

import collections
import ctypes
import errno
import functools
import keyword
import operator
import struct
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterator,
    NamedTuple,
    Sequence,
)

from hwt._native import ffi, lib

if TYPE_CHECKING:
    import numpy

__all__ = ["Batch", "Column", "Field"]

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
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "this needs NumPy: pip install hwtdecode[numpy]"
        ) from None
    return numpy


def _view(owner: Any, pointer: Any, n_bytes: int) -> memoryview:
    """Bytes of C, read-only; `owner` lives as long as the view."""
    if n_bytes == 0:
        return memoryview(b"")
    # What buffers call last keeps the owner until then.  No code of Python may
    # run there: what handlers of signals raise in it would be lost.
    last = functools.partial(operator.is_, owner)
    held = ffi.gc(ffi.cast("char *", pointer), last)
    return memoryview(ffi.buffer(held, n_bytes)).toreadonly()


def _c_text(pointer: Any) -> str:
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


@functools.lru_cache(maxsize=None)
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


def _capsule(what: str, pointer: Any, free: Callable[[Any], None]) -> Any:
    """Hand a struct to a capsule, which gives it back if nobody takes it."""
    kind = ffi.new("struct hwtpy_capsule_kind *")
    getattr(lib, "hwtpy_capsule_" + what)(kind)
    try:
        return _prototype()(
            int(ffi.cast("uintptr_t", pointer)), kind.name, kind.destructor
        )
    except BaseException:
        free(pointer)
        raise


def _check_memory(failed: Any) -> None:
    if failed:
        raise MemoryError


@functools.lru_cache(maxsize=64)
def row_type(names: tuple[str, ...]) -> Any:
    """Named tuples of rows with these columns; `async` becomes `async_`."""
    fields = [name + "_" * keyword.iskeyword(name) for name in names]
    return collections.namedtuple("Row", fields)  # type: ignore[misc]


class Schema:
    """Columns of batches, as C tells them; immutable."""

    __slots__ = ("_c", "fields", "formats", "dictionaries", "names", "_index")

    def __init__(self, c_schema: Any) -> None:
        """Take over what `c_schema` (``struct ArrowSchema *``) has."""
        shared = lib.hwtpy_schema_take(c_schema)
        _check_memory(shared == ffi.NULL)
        self._c = ffi.gc(shared, lib.hwtpy_schema_drop)
        top = lib.hwtpy_schema_get(self._c)
        fields: list[Field] = []
        self.formats: list[str] = []
        self.dictionaries: list[str | None] = []
        for i in range(top.n_children):
            child = top.children[i]
            form = _c_text(child.format)
            names = None
            if child.dictionary != ffi.NULL:
                names = _c_text(child.dictionary.format)
            said = _metadata(child.metadata)
            self.formats.append(form)
            self.dictionaries.append(names)
            fields.append(
                Field(
                    _c_text(child.name),
                    self._type(names if names is not None else form),
                    said.get("unit"),
                    said.get("meaning", ""),
                    bool(child.flags & lib.ARROW_FLAG_NULLABLE),
                )
            )
        self.fields = tuple(fields)
        self.names = tuple(field.name for field in fields)
        self._index = {name: i for i, name in enumerate(self.names)}

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

    def index(self, name: str) -> int:
        """Where a column is; KeyError if there is none."""
        try:
            return self._index[name]
        except KeyError:
            raise KeyError(
                f"there is no column {name!r}; columns are "
                + ", ".join(self.names)
            ) from None

    def capsule(self) -> Any:
        """A capsule "arrow_schema"."""
        out = lib.hwtpy_new_schema()
        _check_memory(out == ffi.NULL)
        if lib.hwtpy_schema_export(self._c, out) != 0:
            lib.hwtpy_free_schema(out)
            raise MemoryError
        return _capsule("schema", out, lib.hwtpy_free_schema)


class Column:
    """A column of a batch.

    It holds the memory that C filled.  What it hands out without a copy is
    read-only, and keeps that memory as long as it lives itself.

    Attributes
    ----------
    name, type, unit, meaning, nullable
        See `Field`.

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

    name = property(lambda self: self.field.name, doc="Its name.")
    type = property(lambda self: self.field.type, doc="See `Field`.")
    unit = property(lambda self: self.field.unit, doc="Of numbers, or None.")
    meaning = property(lambda self: self.field.meaning, doc="In words.")
    nullable = property(
        lambda self: self.field.nullable, doc="Values may be unknown."
    )

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
        return (
            self._array.null_count == 0
            or self._array.buffers[0] == ffi.NULL
        )

    def _is_number(self) -> bool:
        return self._format in _NUMBERS

    @property
    def buffer(self) -> memoryview:
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
        return raw.cast(code)

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
        """The different texts of a column that has `codes`."""
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
            parts = [part.decode("utf-8", "backslashreplace") for part in parts]
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
        """Where its buffers lie: to compare with those of consumers."""
        array = self._array
        return [
            int(ffi.cast("uintptr_t", array.buffers[i]))
            for i in range(array.n_buffers)
        ]


class Batch:
    """Rows as columns, in memory that C filled.

    A batch is immutable.  It can be handed out any number of times: consumers
    and views share its memory, which is given back when all of them are gone.

    Examples
    --------
    >>> batch = next(hwt.open(pt).events().batches())
    >>> len(batch) > 0
    True
    >>> batch["stream_off"].flags.writeable
    False
    """

    __slots__ = ("_schema", "_c", "__weakref__")

    def __init__(self, schema: Schema, c_array: Any) -> None:
        """Take over what `c_array` (``struct ArrowArray *``) has."""
        shared = lib.hwtpy_array_take(c_array)
        _check_memory(shared == ffi.NULL)
        self._schema = schema
        self._c = ffi.gc(shared, lib.hwtpy_array_drop)

    @classmethod
    def of_arrays(cls, schema: Any, array: Any) -> Batch:
        """Take over a schema and an array of C.

        Parameters
        ----------
        schema : Schema or cdata
            ``struct ArrowSchema *`` of a struct of columns; empty afterwards.
        array : cdata
            ``struct ArrowArray *`` of that schema; empty afterwards.

        Returns
        -------
        Batch
        """
        if not isinstance(schema, Schema):
            schema = Schema(schema)
        return cls(schema, array)

    @property
    def c(self) -> Any:
        """The shared array, ``struct hwtpy_array *``."""
        return self._c

    @property
    def _array(self) -> Any:
        return lib.hwtpy_array_get(self._c)

    def __len__(self) -> int:
        return int(self._array.length)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""
        return self._schema.names

    @property
    def schema(self) -> list[Field]:
        """What its columns are."""
        return list(self._schema.fields)

    def keys(self) -> tuple[str, ...]:
        """Names of its columns, so that ``dict(batch)`` has all of them."""
        return self._schema.names

    def column(self, name: str) -> Column:
        """A column with all that is known of it.

        Raises
        ------
        KeyError
            There is none of this name.
        """
        schema = self._schema
        i = schema.index(name)
        return Column(
            schema.fields[i],
            self._c,
            self._array.children[i],
            schema.formats[i],
            schema.dictionaries[i],
        )

    def __getitem__(self, name: str) -> Any:
        """Values of a column, see `Column.to_numpy`."""
        return self.column(name).to_numpy()

    def __contains__(self, name: object) -> bool:
        return name in self._schema.names

    def __repr__(self) -> str:
        names = ", ".join(self.columns[:8])
        if len(self.columns) > 8:
            names += f" and {len(self.columns) - 8} more"
        return f"<hwt.Batch of {len(self)} rows: {names}>"

    def rows(self) -> Iterator[Any]:
        """Rows as named tuples; what is unknown is None."""
        make = row_type(self.columns)._make
        lists = [self.column(name).to_list() for name in self.columns]
        return map(make, zip(*lists))

    def slice(self, first: int = 0, n: int | None = None) -> Batch:
        """Some of its rows, without a copy.

        Parameters
        ----------
        first : int
            The first one, from 0.
        n : int, optional
            How many, or as many as there are.

        Returns
        -------
        Batch
        """
        first = min(max(first, 0), len(self))
        left = len(self) - first
        n = left if n is None else min(max(n, 0), left)
        out = ffi.gc(lib.hwtpy_new_array(), lib.hwtpy_free_array)
        _check_memory(out == ffi.NULL)
        _check_memory(lib.hwtpy_array_export(self._c, first, n, out))
        return Batch(self._schema, out)

    def to_numpy(self) -> dict[str, Any]:
        """All columns as NumPy arrays, see `Column.to_numpy`."""
        return {name: self[name] for name in self.columns}

    def to_arrow(self) -> Any:
        """A ``pyarrow.RecordBatch`` of the same memory."""
        return needed("pyarrow", "arrow").record_batch(self)

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``; a copy, made by pyarrow."""
        needed("pandas", "pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A ``polars.DataFrame``."""
        return needed("polars", "polars").DataFrame(self)

    def __arrow_c_schema__(self) -> Any:
        """Its schema, as a capsule for any library that reads Arrow."""
        return self._schema.capsule()

    def __arrow_c_array__(
        self, requested_schema: Any = None
    ) -> tuple[Any, Any]:
        """Itself, as capsules, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            Not heeded, as Arrow allows: consumers cast.
        """
        schema = self._schema.capsule()
        out = lib.hwtpy_new_array()
        _check_memory(out == ffi.NULL)
        if lib.hwtpy_array_export(self._c, 0, len(self), out) != 0:
            lib.hwtpy_free_array(out)
            raise MemoryError
        return schema, _capsule("array", out, lib.hwtpy_free_array)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Itself as a stream of one array, without a copy.

        Parameters
        ----------
        requested_schema : capsule, optional
            Not heeded, as Arrow allows: consumers cast.
        """
        return batches_capsule(self._schema, [self])


def batches_capsule(schema: Schema, batches: Sequence[Batch]) -> Any:
    """Batches that are there as a capsule "arrow_array_stream"; no copy."""
    arrays = ffi.new("struct hwtpy_array *[]", [one.c for one in batches])
    out = lib.hwtpy_new_stream()
    _check_memory(out == ffi.NULL)
    if lib.hwtpy_arrays_stream(schema.c, arrays, len(arrays), out) != 0:
        lib.hwtpy_free_stream(out)
        raise MemoryError
    return _capsule("stream", out, lib.hwtpy_free_stream)


def needed(module: str, extra: str) -> Any:
    """Import what somebody asked for, or say how to have it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"this needs {module}: pip install hwtdecode[{extra}]"
        ) from None


class Stream:
    """A pass over rows: arrays of C one after the other.

    Any thread may ask for the next one; they take turns.

    Parameters
    ----------
    fail : callable
        Makes an exception of what failed: called with errno, text, and the
        stream of C that it was.
    """

    def __init__(self, fail: Callable[[int, str, Any], BaseException]) -> None:
        main = threading.main_thread().ident or 0
        made = lib.hwtpy_pass_create(main)
        _check_memory(made == ffi.NULL)
        self._pass = ffi.gc(made, lib.hwtpy_pass_destroy)
        #: Held while C works.
        self.lock = threading.RLock()
        # Held while the pass is stopped or given up, which nothing waits for.
        self._gate = threading.Lock()
        self._fail = fail
        self._schema: Schema | None = None
        #: There is nothing left.
        self.ended = False
        self._stopped = False

    def add(self) -> Any:
        """Room for a stream that C shall fill: ``struct ArrowArrayStream *``.

        It has to be filled before the next call.
        """
        room = lib.hwtpy_pass_add(self._pass)
        _check_memory(room == ffi.NULL)
        return room

    def answer(self, options: Any) -> None:
        """Let an export with these options come back from time to time."""
        options.poll = ffi.addressof(lib, "hwtpy_pass_poll")
        options.poll_arg = self._pass

    @property
    def schema(self) -> Schema:
        """Columns of its arrays; nothing is decoded for them."""
        with self.lock:
            if self._schema is None:
                out = ffi.gc(lib.hwtpy_new_schema(), lib.hwtpy_free_schema)
                _check_memory(out == ffi.NULL)
                rc = lib.hwtpy_pass_schema(self._opened(), out)
                if rc != 0:
                    raise self._failure(rc)
                self._schema = Schema(out)
            return self._schema

    def _opened(self) -> Any:
        if self._pass is None:
            raise ValueError("the pass over rows is closed")
        return self._pass

    def _failure(self, rc: int) -> BaseException:
        words = _c_text(lib.hwtpy_pass_error(self._pass))
        return self._fail(rc, words, lib.hwtpy_pass_stream(self._pass))

    @property
    def closed(self) -> bool:
        """Whether it was given up."""
        return self._pass is None

    def next(self) -> Batch | None:
        """The next rows, or None.

        Signals are seen while C decodes, and what their handlers raise comes
        out of here.
        """
        out = ffi.gc(lib.hwtpy_new_array(), lib.hwtpy_free_array)
        _check_memory(out == ffi.NULL)
        with self.lock:
            if self._pass is None or self.ended:
                return None
            schema = self.schema
            rc = errno.EINTR
            # Between two calls Python runs what signals have to.
            while rc == errno.EINTR:
                if self._stopped:
                    return None
                rc = lib.hwtpy_pass_next(self._pass, out)
            if rc != 0:
                raise self._failure(rc)
            if out.release == ffi.NULL:
                self.ended = True
                return None
            return Batch(schema, out)

    def stop(self) -> None:
        """A thread that waits for rows gets none, and soon."""
        self._stopped = True
        with self._gate:
            if self._pass is not None:
                lib.hwtpy_pass_stop(self._pass)

    def close(self) -> None:
        """Give it up."""
        self.stop()
        with self.lock, self._gate:
            if self._pass is not None:
                ffi.release(self._pass)
                self._pass = None

    def capsule(self) -> Any:
        """Hand all of it to a capsule "arrow_array_stream"; it is closed here."""
        with self.lock, self._gate:
            held = self._opened()
            out = lib.hwtpy_new_stream()
            _check_memory(out == ffi.NULL)
            # From here on the stream of the capsule gives it up.
            ffi.gc(held, None)
            lib.hwtpy_pass_export(held, out)
            self._pass = None
            return _capsule("stream", out, lib.hwtpy_free_stream)


def capsule(stream: Any) -> Any:
    """What is left of a stream, as a capsule "arrow_array_stream".

    Parameters
    ----------
    stream : Stream or cdata
        A pass, or ``struct ArrowArrayStream *``; empty afterwards.
    """
    if isinstance(stream, Stream):
        return stream.capsule()
    out = lib.hwtpy_new_stream()
    _check_memory(out == ffi.NULL)
    out[0] = stream[0]
    stream.release = ffi.NULL
    return _capsule("stream", out, lib.hwtpy_free_stream)


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
