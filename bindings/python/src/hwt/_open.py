"""Opening traces: every option of the library, by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from hwt import config
from hwt._native import (
    Handle,
    check,
    context,
    error,
    ffi,
    lib,
    new,
    path_bytes,
    slot,
)
from hwt._words import quoted
from hwt.trace import Trace

__all__ = ["example", "open"]

PathLike = Union[str, "os.PathLike[str]"]


def open_options(
    keep: list[Any],
    *,
    tech: Optional[str] = None,
    cpu: Optional[int] = None,
    pid: Optional[int] = None,
    tid: Optional[int] = None,
    thread: Optional[int] = None,
    pt: Optional[config.PtConfig] = None,
    spe: Optional[config.SpeConfig] = None,
    coresight: Union[
        None, config.CoresightConfig, Sequence[config.CoresightConfig]
    ] = None,
    framing: str = "none",
    clock: Optional[config.Clock] = None,
    images: Iterable[config.Image] = (),
    search: Optional[config.Search] = None,
    buffers: Iterable[config.Buffer] = (),
    perf_records: Iterable[config.PerfRecords] = (),
    map_file: Optional[PathLike] = None,
    sideband_only: bool = False,
) -> Any:
    """Make options of C; what they point to is put into `keep`."""
    c = new("struct hwtd_open_options")
    if tech is not None:
        c.tech = config.choice("tech", tech, config.TECHS)
    for name, value in (
        ("cpu", cpu),
        ("pid", pid),
        ("tid", tid),
        ("thread", thread),
    ):
        if value is not None:
            setattr(c, f"{name}_plus_1", config.an_id(name, value) + 1)
    for kind, name, config_value in (
        (config.PtConfig, "pt", pt),
        (config.SpeConfig, "spe", spe),
    ):
        if config_value is not None:
            made = config.wanted(name, config_value, kind)._to_c()
            keep.append(made)
            setattr(c, name, made)
    if isinstance(coresight, config.CoresightConfig):
        coresight = (coresight,)
    if coresight is not None:
        c.coresight, c.n_coresight = config.c_array(
            "struct hwtd_coresight_config",
            (
                config.wanted("coresight", one, config.CoresightConfig)
                for one in coresight
            ),
            keep,
        )
    c.framing = config.choice("framing", framing, config.FRAMINGS)
    if clock is not None:
        config.wanted("clock", clock, config.Clock)._set(c.clock)
    if isinstance(images, config.Image):
        images = (images,)
    c.images, c.n_images = config.c_array(
        "struct hwtd_image_desc",
        (config.wanted("images", one, config.Image) for one in images),
        keep,
        keep,
    )
    if search is not None:
        c.search = config.wanted("search", search, config.Search)._to_c(keep)
    c.buffers, c.n_buffers = config.c_array(
        "struct hwtd_buffer",
        (config.wanted("buffers", one, config.Buffer) for one in buffers),
        keep,
    )
    if isinstance(perf_records, config.PerfRecords):
        perf_records = (perf_records,)
    c.perf_records, c.n_perf_records = config.c_array(
        "struct hwtd_perf_records",
        (
            config.wanted("perf_records", one, config.PerfRecords)
            for one in perf_records
        ),
        keep,
        keep,
    )
    if map_file is not None:
        keep.append(ffi.new("char[]", path_bytes(map_file)))
        c.map_file = keep[-1]
    c.sideband_only = bool(sideband_only)
    return c


def open_handle(
    path: PathLike,
    max_memory: Optional[int],
    unsealed: bool,
    options: Mapping[str, Any],
) -> Handle:
    """Open a file, sealed or not."""
    keep: list[Any] = []
    c = open_options(keep, **options)
    c.unsealed = unsealed
    if max_memory is not None:
        max_memory = config.number("max_memory", max_memory, 64)
    ctx = context(max_memory)
    out, err = slot("struct hwtd_trace", "hwtd_trace_close"), error()
    name = path_bytes(path)
    check(
        lib.hwtd_trace_open(ctx.c, name, c, out, err),
        err,
        file=os.fsdecode(path),
    )
    return Handle.of(out, "hwtd_trace_close", keeps=(ctx,), name="trace")


def open(
    path: PathLike,
    *,
    tech: Optional[str] = None,
    cpu: Optional[int] = None,
    pid: Optional[int] = None,
    tid: Optional[int] = None,
    thread: Optional[int] = None,
    pt: Optional[config.PtConfig] = None,
    spe: Optional[config.SpeConfig] = None,
    coresight: Union[
        None, config.CoresightConfig, Sequence[config.CoresightConfig]
    ] = None,
    framing: str = "none",
    clock: Optional[config.Clock] = None,
    images: Iterable[config.Image] = (),
    search: Optional[config.Search] = None,
    root: Optional[PathLike] = None,
    buffers: Iterable[config.Buffer] = (),
    perf_records: Iterable[config.PerfRecords] = (),
    map_file: Optional[PathLike] = None,
    sideband_only: bool = False,
    max_memory: Optional[int] = None,
) -> Trace:
    """Open a trace; its format is recognised by its content.

    Saved traces, perf.data, bundles of LLDB, snapshots of Arm and recordings
    of FreeBSD say themselves how they were made.  For raw bytes options tell
    it.

    Parameters
    ----------
    path : str or os.PathLike
        The file, or the folder of a snapshot.
    tech : {"intel-pt", "coresight", "spe"}, optional
        Of raw bytes; None: recognised by content.
    cpu, pid, tid : int, optional
        Of raw bytes: where and of whom they were recorded.
    thread : int, optional
        Of raw bytes: how hwt(4) counts their thread.
    pt, spe : PtConfig, SpeConfig, optional
        How bytes were recorded, where the file does not say it.
    coresight : CoresightConfig or sequence, optional
        The sources that wrote raw bytes of CoreSight.
    framing : {"none", "memory", "tpiu", "dstream"}
        How bytes of many sources lie in them.
    clock : Clock, optional
        How counts become times, where the file does not say it.
    images : iterable of Image
        Code that is added.
    search : Search, optional
        Where files of images are looked for.
    root : str or os.PathLike, optional
        Short for ``Search(roots=root)``.
    buffers : iterable of Buffer
        Of raw bytes: the buffers that the file is made of.
    perf_records : iterable of PerfRecords
        What was recorded beside raw bytes.
    map_file : str or os.PathLike, optional
        A text that says what lay where, see hwtdecode(1), ``--maps``.
    sideband_only : bool
        Only what lies beside the bytes of trace is wanted: not for decoding.
    max_memory : int, optional
        Bytes that all objects of the trace may hold.  Set it for traces of
        others: a small file can stand for gigabytes.

    Returns
    -------
    Trace
        To be closed, or used in ``with``.

    Raises
    ------
    hwt.TraceIOError
        The file cannot be read; ``errno`` says why.
    hwt.UnrecognizedError
        No reader knows the content.
    hwt.CorruptTraceError
        It is damaged beyond use; ``offset`` says where.
    hwt.LimitError
        `max_memory` was reached.
    ValueError, TypeError
        An option cannot be what it is.

    Examples
    --------
    >>> trace = hwt.open(pt)
    >>> trace.info.format
    'hwt'
    >>> trace.close()
    """
    if root is not None:
        if search is not None:
            raise ValueError("root and search exclude each other")
        search = config.Search(roots=root)
    options = {
        "tech": tech,
        "cpu": cpu,
        "pid": pid,
        "tid": tid,
        "thread": thread,
        "pt": pt,
        "spe": spe,
        "coresight": coresight,
        "framing": framing,
        "clock": clock,
        "images": images,
        "search": search,
        "buffers": buffers,
        "perf_records": perf_records,
        "map_file": map_file,
        "sideband_only": sideband_only,
    }
    handle = open_handle(path, max_memory, False, options)
    return Trace(handle, os.fsdecode(path))


def example(name: str = "pt") -> Path:
    """Find a small trace that comes with the package.

    Parameters
    ----------
    name : {"pt", "pt_before", "spe"}
        ``"pt"``: Intel PT of a C program that takes orders, with its image,
        symbols and lines.  ``"pt_before"``: another run of it.  ``"spe"``:
        samples of Arm SPE, made up, of two CPUs.

    Returns
    -------
    pathlib.Path
        To be opened with `hwt.open`.

    Raises
    ------
    ValueError
        There is no such example.

    Examples
    --------
    >>> hwt.example("spe").name
    'spe.hwt'
    """
    folder = Path(__file__).parent / "_example"
    known = sorted(path.stem for path in folder.glob("*.hwt"))
    if name not in known:
        raise ValueError(
            f"there is no example {quoted(name)}; there are {', '.join(known)}"
        )
    return folder / f"{name}.hwt"
