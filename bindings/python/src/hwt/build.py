"""Traces built in memory: streams of bytes, records, images."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Optional, Union

from hwt import config
from hwt._native import Handle, check, context, error, ffi, lib, new, slot
from hwt._open import open_handle
from hwt.errors import StateError
from hwt.facts import EXTENT_STARTS, Record
from hwt.images import is_number
from hwt.trace import Trace

__all__ = ["Builder"]

PathLike = Union[str, "os.PathLike[str]"]


class Builder:
    """Builds a trace in memory out of bytes, records and images.

    Add what there is, then `seal` it: the trace is like one that was opened.
    What is wrong raises an error that says so, and the builder stays as it
    was.

    Parameters
    ----------
    origin : str
        Free text: the tool and version that made the trace.
    search : Search, optional
        Where files that records name are looked for.
    max_memory : int, optional
        Bytes that all objects of the trace may hold.

    Examples
    --------
    Three instructions at 0x1000, and the bytes of Intel PT that say how the
    branch among them went:

    >>> code = bytes.fromhex("90 7400 c3")
    >>> psb = bytes.fromhex("0282" * 8 + "9901" + "0223")
    >>> with hwt.Builder(origin="by hand") as builder:
    ...     stream = builder.add_stream("intel-pt", cpu=0)
    ...     builder.add_bytes(stream, psb)
    ...     image = builder.add_code(0x1000, code)
    ...     trace = builder.seal()
    >>> trace.info.n_bytes, trace.sections[0].address
    (20, 4096)

    What programs and threads did beside it; times make it hold from a moment
    on:

    >>> with hwt.Builder() as builder:
    ...     samples = builder.add_stream("spe", bytes(64), cpu=1)
    ...     builder.start_extent(samples, "after-loss")
    ...     builder.kernel("/boot/kernel/kernel", 0xffffffff80200000)
    ...     builder.module_load("/boot/kernel/hwt.ko", 0xffffffff82f18000)
    ...     builder.fork(pid=7, parent=1, time_ns=1000)
    ...     builder.exec("/opt/orders", 0x200000, pid=7, time_ns=2000)
    ...     builder.mmap(0x201000, 0x2000, name="/opt/orders", file_off=0x1000,
    ...                  pid=7, time_ns=2000)
    ...     builder.protect(0x201000, 0x2000, 5, pid=7, time_ns=2500)
    ...     builder.thread_create(tid=100, pid=7, time_ns=3000)
    ...     builder.switch(cpu=1, pid=7, tid=100, time_ns=3500)
    ...     builder.code(0x9000, bytes(1), name="made", pid=7, time_ns=4000)
    ...     builder.buffer(samples, 64, len=64)
    ...     builder.lost(3, stream=samples, stream_off=64)
    ...     builder.switch(cpu=1, pid=7, tid=100, out=True, time_ns=4500)
    ...     builder.thread_exit(tid=100, pid=7, time_ns=5000)
    ...     builder.munmap(0x201000, 0x2000, pid=7, time_ns=5500)
    ...     builder.exit(pid=7, time_ns=6000)
    ...     builder.module_unload(0xffffffff82f18000)
    ...     builder.clock(1000, 25)
    ...     trace = builder.seal()
    >>> [m.path for m in trace.maps(pid=7, at=3000)], trace.maps(pid=7)
    (['/opt/orders'], ())
    """

    def __init__(
        self,
        *,
        origin: str = "",
        search: Optional[config.Search] = None,
        max_memory: Optional[int] = None,
    ) -> None:
        keep: list[Any] = []
        options = new("struct hwtd_trace_options")
        keep.append(ffi.new("char[]", config.c_text("origin", origin)))
        options.origin = keep[-1]
        if search is not None:
            options.search = config.wanted(
                "search", search, config.Search
            )._to_c(keep)
        if max_memory is not None:
            max_memory = config.number("max_memory", max_memory, 64)
        ctx = context(max_memory)
        out, err = slot("struct hwtd_trace", "hwtd_trace_close"), error()
        check(lib.hwtd_trace_create(ctx.c, options, out, err), err)
        self._start(
            Handle.of(out, "hwtd_trace_close", keeps=(ctx,), name="builder"),
            None,
        )

    def _start(self, handle: Handle, path: Optional[str]) -> None:
        self._handle = handle
        self._path = path
        self._sealed = False

    @classmethod
    def open(
        cls,
        path: PathLike,
        *,
        max_memory: Optional[int] = None,
        **options: Any,
    ) -> Builder:
        """Open a trace to add something to it.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        max_memory : int, optional
            Bytes that all objects of the trace may hold.
        **options
            As of `hwt.open`.

        Returns
        -------
        Builder
            With all that the file has.

        Raises
        ------
        hwt.HwtError
            As of `hwt.open`.

        Examples
        --------
        >>> with hwt.Builder.open(pt) as builder:
        ...     builder.thread_name("renamed", pid=1001, tid=1001)
        ...     builder.seal().threads[0].name
        'renamed'
        """
        made = cls.__new__(cls)
        made._start(
            open_handle(path, max_memory, True, options), os.fsdecode(path)
        )
        return made

    def _c(self) -> Any:
        if self._sealed:
            raise StateError(
                "the trace is sealed: nothing can be added to it",
                lib.HWTD_E_STATE,
            )
        return self._handle.c

    @property
    def closed(self) -> bool:
        """Whether it was closed or sealed."""
        return self._sealed or self._handle.closed

    def close(self) -> None:
        """Give up what was added; after `seal` it does nothing."""
        if not self._sealed:
            self._handle.close()

    def __enter__(self) -> Builder:
        """Return the builder; it is closed at the end of ``with``."""
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """One line."""
        state = (
            "sealed" if self._sealed else "closed" if self.closed else "open"
        )
        return f"<hwt.Builder: {state}>"

    # Streams.

    def add_stream(
        self,
        tech: str,
        data: Any = b"",
        *,
        cpu: Optional[int] = None,
        pid: Optional[int] = None,
        tid: Optional[int] = None,
        name: Optional[str] = None,
        pt: Optional[config.PtConfig] = None,
        spe: Optional[config.SpeConfig] = None,
        coresight: Optional[config.CoresightConfig] = None,
        clock: Optional[config.Clock] = None,
        framing: str = "none",
        sink: Optional[int] = None,
    ) -> int:
        """Add a stream.

        Parameters
        ----------
        tech : {"intel-pt", "coresight", "spe"}
            What wrote its bytes.
        data : bytes-like
            Its first bytes; see `add_bytes`.
        cpu, pid, tid : int, optional
            Where and of whom it was recorded.
        name : str, optional
            For messages; None: ``"stream N"``.
        pt, spe, coresight : config, optional
            How it was recorded.
        clock : Clock, optional
            None: derived from the configuration where it can be.
        framing : {"none", "memory", "tpiu", "dstream"}
            Not none: it is what a trace sink wrote for many sources.
        sink : int, optional
            The stream is that of ``coresight.trace_id`` in that earlier
            stream, and has no bytes of its own.

        Returns
        -------
        int
            Its id: 0, 1, ... in order of adding.

        Raises
        ------
        ValueError, TypeError
            A value cannot be what it is.
        """
        c = new("struct hwtd_stream_desc")
        keep: list[Any] = []
        c.tech = config.choice("tech", tech, config.TECHS)
        for field, value in (("cpu", cpu), ("pid", pid), ("tid", tid)):
            setattr(
                c,
                field,
                (
                    lib.HWTD_NO_ID
                    if value is None
                    else config.an_id(field, value)
                ),
            )
        if name is not None:
            keep.append(ffi.new("char[]", config.c_text("name", name)))
            c.name = keep[-1]
        configs: tuple[tuple[str, Any, type], ...] = (
            ("pt", pt, config.PtConfig),
            ("spe", spe, config.SpeConfig),
            ("coresight", coresight, config.CoresightConfig),
        )
        for field, given, kind in configs:
            if given is not None:
                keep.append(config.wanted(field, given, kind)._to_c())
                setattr(c, field, keep[-1])
        if clock is not None:
            config.wanted("clock", clock, config.Clock)._set(c.clock)
        c.framing = config.choice("framing", framing, config.FRAMINGS)
        if sink is not None:
            c.sink_plus_1 = config.an_id("sink", sink) + 1
        # Before the stream is there: it cannot be taken away again.
        view = _bytes("data", data)
        out, err = ffi.new("uint32_t *"), error()
        with self._handle.lock:
            check(lib.hwtd_trace_add_stream(self._c(), c, out, err), err)
            if len(view):
                self.add_bytes(out[0], view)
        return int(out[0])

    def add_bytes(self, stream: int, data: Any) -> None:
        """Append raw bytes to a stream; they adjoin what is there.

        Parameters
        ----------
        stream : int
            Id of the stream.
        data : bytes-like
            Copied.

        Raises
        ------
        hwt.NotFoundError
            There is no such stream.
        """
        stream = config.number("stream", stream, 32)
        view, err = _bytes("data", data), error()
        with self._handle.lock:
            check(
                lib.hwtd_trace_add_bytes(
                    self._c(), stream, ffi.from_buffer(view), len(view), err
                ),
                err,
            )

    def start_extent(self, stream: int, why: str = "new") -> None:
        """Say that what is appended next does not adjoin.

        Parameters
        ----------
        stream : int
            Id of the stream.
        why : {"new", "after-loss", "after-damage"}
            Why it does not.

        Raises
        ------
        hwt.NotFoundError
            There is no such stream.
        """
        stream = config.number("stream", stream, 32)
        number, err = config.choice("why", why, EXTENT_STARTS), error()
        with self._handle.lock:
            check(
                lib.hwtd_trace_start_extent(self._c(), stream, number, err),
                err,
            )

    # Code.

    def add_image(
        self,
        image: Union[config.Image, PathLike],
        *,
        data: Optional[Any] = None,
        address: Optional[int] = None,
    ) -> int:
        """Add an image: a file or bytes that hold code.

        Parameters
        ----------
        image : Image, str or os.PathLike
            The image, or its name.
        data : bytes-like, optional
            Bytes instead of the file of that name.
        address : int, optional
            Where it is mapped in every address space from the start on.  None:
            only where records say so.

        Returns
        -------
        int
            Its id: 0, 1, ... in order of adding.

        Raises
        ------
        hwt.TraceIOError
            The file cannot be read.
        ValueError
            Its range of addresses wraps.

        Examples
        --------
        >>> with hwt.Builder() as builder:
        ...     image = builder.add_image("stub", data=bytes(16))
        ...     builder.mmap(0x7000, 16, image=image, file_off=0, pid=7)
        ...     trace = builder.seal()
        >>> hex(trace.maps(pid=7)[0].address)
        '0x7000'
        """
        keep: list[Any] = []
        if not isinstance(image, config.Image):
            image = config.Image(image, data, address)
        elif data is not None or address is not None:
            raise ValueError("image: an Image says data and address itself")
        c = new("struct hwtd_image_desc")
        image._set(c, keep)
        out, err = ffi.new("uint32_t *"), error()
        with self._handle.lock:
            check(
                lib.hwtd_trace_add_image(self._c(), c, out, err),
                err,
                file=os.fsdecode(image.path),
            )
        return int(out[0])

    def add_code(self, address: int, data: Any, *, name: str = "code") -> int:
        """Add bytes of code that lie at an address from the start on.

        Parameters
        ----------
        address : int
            Virtual address of the first byte, in all address spaces.
        data : bytes-like
            Copied.
        name : str
            For tables and messages.

        Returns
        -------
        int
            Id of the image.
        """
        return self.add_image(name, data=data, address=address)

    # Records.

    def add_record(self, record: Record) -> None:
        """Add a record; records keep the order of adding.

        Parameters
        ----------
        record : Record
            What happened.

        Raises
        ------
        hwt.NotFoundError
            There is no such stream or image as it names.

        Examples
        --------
        >>> from hwt.facts import Record
        >>> with hwt.Builder() as builder:
        ...     builder.add_record(Record("exit", pid=7))
        ...     builder.add_records([Record("lost", value=5)])
        ...     builder.seal().info.n_records
        2
        """
        keep: list[Any] = []
        c = config.wanted("record", record, Record)._to_c(keep)
        err = error()
        with self._handle.lock:
            check(lib.hwtd_trace_add_record(self._c(), c, err), err)

    def exec(
        self,
        name: Optional[str] = None,
        addr: Optional[int] = None,
        **where: Any,
    ) -> None:
        """Record that a process started a program.

        Parameters
        ----------
        name : str, optional
            The program.
        addr : int, optional
            Its load bias.
        **where
            Other fields of `Record`: ``pid``, ``time_ns`` and so on; ``base``
            is where the interpreter was loaded.
        """
        self.add_record(Record("exec", name=name, addr=addr, **where))

    def mmap(
        self,
        addr: int,
        len: Optional[int] = None,
        *,
        name: Optional[str] = None,
        image: Optional[int] = None,
        file_off: Optional[int] = None,
        **where: Any,
    ) -> None:
        """Record that a file, or an image, was mapped.

        Parameters
        ----------
        addr, len : int
            Virtual address and bytes.
        name : str, optional
            The file.
        image : int, optional
            Or an image that was added.
        file_off : int, optional
            What of it lies at `addr`.  Without `len` or `file_off` it is an
            executable segment of the file, or all of the image.
        **where
            Other fields of `Record`: ``pid``, ``time_ns`` and so on.
        """
        self.add_record(
            Record(
                "mmap",
                addr=addr,
                len=len,
                name=name,
                image=image,
                file_off=file_off,
                **where,
            )
        )

    def munmap(
        self,
        addr: Optional[int] = None,
        len: Optional[int] = None,
        **where: Any,
    ) -> None:
        """Record that something is mapped no more.

        Parameters
        ----------
        addr, len : int, optional
            What; without `len` the mapping at `addr`, without both nobody
            knows.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("munmap", addr=addr, len=len, **where))

    def protect(self, addr: int, len: int, value: int, **where: Any) -> None:
        """Record that memory has another protection.

        Parameters
        ----------
        addr, len : int
            Virtual address and bytes.
        value : int
            The protection.
        **where
            Other fields of `Record`.
        """
        self.add_record(
            Record("protect", addr=addr, len=len, value=value, **where)
        )

    def kernel(self, name: str, addr: int, **where: Any) -> None:
        """Record where the kernel, or a module of it, lies.

        Parameters
        ----------
        name : str
            Its ELF file.
        addr : int
            Where it lies.
        **where
            Other fields of `Record`; of Linux ``value`` is where ``_text`` is.
        """
        self.add_record(Record("kernel", name=name, addr=addr, **where))

    def module_load(self, name: str, addr: int, **where: Any) -> None:
        """Record that a whole ELF file was loaded.

        Parameters
        ----------
        name : str
            The file.
        addr : int
            Where its lowest segment is.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("module-load", name=name, addr=addr, **where))

    def module_unload(self, addr: int, **where: Any) -> None:
        """Record that what was loaded is gone.

        Parameters
        ----------
        addr : int
            Where it was.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("module-unload", addr=addr, **where))

    def thread_create(self, *, tid: int, **where: Any) -> None:
        """Record that there is a new thread.

        Parameters
        ----------
        tid : int
            Its id.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("thread-create", tid=tid, **where))

    def thread_name(self, name: str, *, tid: int, **where: Any) -> None:
        """Record what a thread is called.

        Parameters
        ----------
        name : str
            Its name.
        tid : int
            Its id.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("thread-name", name=name, tid=tid, **where))

    def thread_exit(self, *, tid: int, **where: Any) -> None:
        """Record that a thread ended.

        Parameters
        ----------
        tid : int
            Its id.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("thread-exit", tid=tid, **where))

    def fork(self, *, pid: int, parent: int, **where: Any) -> None:
        """Record that there is a new process.

        Parameters
        ----------
        pid, parent : int
            Its id, and that of its parent.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("fork", pid=pid, value=parent, **where))

    def exit(self, *, pid: int, **where: Any) -> None:
        """Record that a process ended.

        Parameters
        ----------
        pid : int
            Its id.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("exit", pid=pid, **where))

    def switch(
        self,
        *,
        cpu: int,
        pid: Optional[int] = None,
        tid: Optional[int] = None,
        out: bool = False,
        to: Optional[int] = None,
        **where: Any,
    ) -> None:
        """Record that a CPU runs another thread.

        Parameters
        ----------
        cpu : int
            The CPU.
        pid, tid : int, optional
            What it runs from here on; with `out`, what it runs no more.
        out : bool
            The thread stops running.
        to : int, optional
            With `out`: the thread that the CPU runs then.
        **where
            Other fields of `Record`.
        """
        if to is not None and not out:
            raise ValueError("to: only with out=True")
        self.add_record(
            Record(
                "switch",
                cpu=cpu,
                pid=pid,
                tid=tid,
                value=to,
                switch_out=out,
                **where,
            )
        )

    def buffer(
        self,
        stream: int,
        stream_off: int,
        *,
        len: Optional[int] = None,
        flags: Optional[int] = None,
        **where: Any,
    ) -> None:
        """Record the write position of a buffer.

        Parameters
        ----------
        stream, stream_off : int
            The stream, and up to where it was written.
        len : int, optional
            Bytes that were written since the position before.
        flags : int, optional
            What happened to the bytes: 1 truncated, 2 overwritten, 4 partial,
            8 samples collided.
        **where
            Other fields of `Record`.
        """
        self.add_record(
            Record(
                "buffer",
                stream=stream,
                stream_off=stream_off,
                len=len,
                value=flags,
                **where,
            )
        )

    def lost(self, count: int, **where: Any) -> None:
        """Record that records or bytes were lost.

        Parameters
        ----------
        count : int
            How many.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("lost", value=count, **where))

    def code(
        self,
        addr: int,
        data: Any,
        *,
        name: Optional[str] = None,
        **where: Any,
    ) -> None:
        """Record that memory became code, made at run time.

        Parameters
        ----------
        addr : int
            Virtual address of the first byte.
        data : bytes-like or int
            The bytes, or the id of an image that has them.
        name : str, optional
            Of the function.
        **where
            Other fields of `Record`: ``pid``, ``time_ns``, ``file_off`` and so
            on.
        """
        if is_number(data):
            image, length = data, where.pop("len", None)
        else:
            view = _bytes("data", data)
            length = view.nbytes
            image = self.add_image("code" if name is None else name, data=view)
        self.add_record(
            Record(
                "code",
                addr=addr,
                len=length,
                image=image,
                name=name,
                jit=True,
                **{"file_off": 0, **where},
            )
        )

    def clock(self, ticks: int, time_ns: int, **where: Any) -> None:
        """Record that so many ticks are that time.

        Parameters
        ----------
        ticks : int
            Of the counter.
        time_ns : int
            Time on the clock of the trace, in ns.
        **where
            Other fields of `Record`.
        """
        self.add_record(Record("clock", value=ticks, time_ns=time_ns, **where))

    def add_records(self, records: Iterable[Record]) -> None:
        """Add several records.

        Parameters
        ----------
        records : iterable of Record
            In their order; those before one that is refused stay.
        """
        for record in records:
            self.add_record(record)

    def seal(self) -> Trace:
        """Finish: from now on the trace cannot be changed.

        Files that records name are looked for and read now; one that cannot be
        had is a missing image and no failure.

        Returns
        -------
        Trace
            The builder is done with it.

        Raises
        ------
        hwt.LimitError
            `max_memory` was reached; the builder stays open.
        """
        err = error()
        with self._handle.lock:
            check(lib.hwtd_trace_seal(self._c(), err), err)
            self._sealed = True
            self._handle.name = "trace"
        return Trace(self._handle, self._path)


def _bytes(name: str, data: Any) -> memoryview:
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(
            f"{name}: bytes are wanted, not {type(data).__name__}"
        ) from None
    if not view.c_contiguous:
        raise ValueError(f"{name}: the bytes do not adjoin")
    if "O" in view.format:
        raise TypeError(f"{name}: bytes are wanted, not objects of Python")
    return view.cast("B") if view.nbytes else memoryview(b"")
