"""How traces were recorded, where files lie: plain values that options take.

Every class here is immutable and checks its values when it is made, so a
number that C could not hold is a `ValueError` that names the field.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Optional, Union

from hwt._hwtdecode import ffi, lib
from hwt._native import check, error, new, path_bytes, text
from hwt._words import quoted

__all__ = [
    "Buffer",
    "Clock",
    "CoresightConfig",
    "Image",
    "PerfRecords",
    "PtConfig",
    "PtFilter",
    "Search",
    "SpeConfig",
]

PathLike = Union[str, "os.PathLike[str]"]
# What cffi makes has no types.
CData = Any

TECHS: Mapping[str, int] = {
    "intel-pt": lib.HWTD_TECH_INTEL_PT,
    "pt": lib.HWTD_TECH_INTEL_PT,
    "coresight": lib.HWTD_TECH_CORESIGHT,
    "spe": lib.HWTD_TECH_SPE,
}
FILTER_MODES: Mapping[str, int] = {
    "off": lib.HWTD_PT_FILTER_OFF,
    "trace": lib.HWTD_PT_FILTER_TRACE,
    "stop": lib.HWTD_PT_FILTER_STOP,
}
CS_IDS: Mapping[str, int] = {
    "one": lib.HWTD_CS_IDS_ONE,
    "others": lib.HWTD_CS_IDS_OTHERS,
    "cpus": lib.HWTD_CS_IDS_CPUS,
}


def _names(name_of: Any, first: int, last: int) -> dict[str, int]:
    return {text(name_of(i)).lower(): i for i in range(first, last + 1)}


PROTOCOLS: Mapping[str, int] = _names(
    lib.hwtd_cs_protocol_name, lib.HWTD_CS_UNKNOWN, lib.HWTD_CS_ITM
)
ARCHS: Mapping[str, int] = _names(
    lib.hwtd_arm_arch_name,
    lib.HWTD_ARM_ARCH_UNKNOWN,
    lib.HWTD_ARM_ARCH_V8_3,
)
PROFILES: Mapping[str, int] = _names(
    lib.hwtd_arm_profile_name,
    lib.HWTD_ARM_PROFILE_UNKNOWN,
    lib.HWTD_ARM_PROFILE_M,
)
FRAMINGS: Mapping[str, int] = _names(
    lib.hwtd_framing_name, lib.HWTD_FRAMING_NONE, lib.HWTD_FRAMING_DSTREAM
)
OWNERS: Mapping[str, int] = _names(
    lib.hwtd_spe_owner_name,
    lib.HWTD_SPE_OWNER_UNKNOWN,
    lib.HWTD_SPE_OWNER_CPU,
)


def number(name: str, value: Any, bits: int) -> int:
    """Take an integer that has so many bits, or say which one has not."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name}: an integer is wanted, not {type(value).__name__}"
        ) from None
    if not 0 <= found < 1 << bits:
        raise ValueError(
            f"{name}: {quoted(found)} is not between 0 and {(1 << bits) - 1:#x}"
        )
    return found


def signed(name: str, value: Any) -> int:
    """Take an integer of 64 bits, one of which says that it is below 0."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name}: an integer is wanted, not {type(value).__name__}"
        ) from None
    if not -1 << 63 <= found < 1 << 63:
        raise ValueError(
            f"{name}: {quoted(found)} is not between -2**63 and 2**63 - 1"
        )
    return found


def an_id(name: str, value: Any) -> int:
    """Take an id; the largest number of 32 bits stands for none."""
    found = number(name, value, 32)
    if found == lib.HWTD_NO_ID:
        raise ValueError(f"{name}: {found} stands for none; leave it out")
    return found


def choice(name: str, value: Any, known: Mapping[str, int]) -> int:
    """Take a name out of those that are known."""
    if not isinstance(value, str):
        raise TypeError(
            f"{name}: a name is wanted, not {type(value).__name__}"
        )
    if value.lower() not in known:
        raise ValueError(
            f"{name}: {quoted(value)} is not one of {', '.join(sorted(known))}"
        )
    return known[value.lower()]


def name_of(value: int, known: Mapping[str, int]) -> str:
    """Give the first name of a number."""
    return next((name for name, n in known.items() if n == value), "unknown")


def c_text(name: str, value: Any) -> bytes:
    """Take a text that C can hold: it ends at the first NUL."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(
            f"{name}: a text is wanted, not {type(value).__name__}"
        )
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError(f"{name}: {quoted(value)} has a NUL in it")
    return data


def c_paths(name: str, values: Any, keep: list[Any]) -> tuple[CData, int]:
    """Make an array of paths; what it points to is put into `keep`."""
    if isinstance(values, (str, bytes, os.PathLike)):
        values = [values]
    paths = [ffi.new("char[]", path_bytes(value)) for value in values]
    keep.append(paths)
    array = ffi.new("const char *[]", paths) if paths else ffi.NULL
    keep.append(array)
    return array, len(paths)


def frozen(instance: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass while it is made."""
    object.__setattr__(instance, name, value)


def _check_numbers(instance: Any, bits: Mapping[str, int]) -> None:
    for name, n in bits.items():
        found = getattr(instance, name)
        frozen(
            instance,
            name,
            number(f"{type(instance).__name__}.{name}", found, n),
        )


@dataclass(frozen=True)
class PtFilter:
    """An address filter that Intel PT was recorded with.

    Parameters
    ----------
    mode : {"off", "trace", "stop"}
        Trace only inside of the range, or stop when it is entered.
    start, end : int
        First and last address, both inside.

    Examples
    --------
    >>> from hwt.config import PtFilter
    >>> PtFilter("trace", 0x401000, 0x401fff).mode
    'trace'
    """

    mode: str
    start: int
    end: int

    def __post_init__(self) -> None:
        choice("PtFilter.mode", self.mode, FILTER_MODES)
        _check_numbers(self, {"start": 64, "end": 64})


@dataclass(frozen=True)
class PtConfig:
    """How an Intel PT stream was recorded.  All 0: not known.

    Parameters
    ----------
    cpu_family, cpu_model, cpu_stepping : int
        Signature of the CPU; family 0 is treated as the newest.
    mtc_freq : int
        ``IA32_RTIT_CTL.MTCFreq``: an MTC packet every ``2**mtc_freq`` ticks of
        the crystal, up to 15.
    nom_freq : int
        ``MSR_PLATFORM_INFO[15:8]``: the nominal ratio, of 100 MHz.
    cpuid_15h_eax, cpuid_15h_ebx : int
        CPUID leaf 15h: TSC ticks = crystal ticks * ebx / eax.
    filters : sequence of PtFilter
        At most 4, in the order of their registers.

    Examples
    --------
    >>> from hwt.config import PtConfig
    >>> PtConfig(cpu_family=6, cpu_model=0x55, mtc_freq=3).mtc_freq
    3
    >>> PtConfig(cpu_model=256)
    Traceback (most recent call last):
    ...
    ValueError: PtConfig.cpu_model: 256 is not between 0 and 0xff
    """

    cpu_family: int = 0
    cpu_model: int = 0
    cpu_stepping: int = 0
    mtc_freq: int = 0
    nom_freq: int = 0
    cpuid_15h_eax: int = 0
    cpuid_15h_ebx: int = 0
    filters: Sequence[PtFilter] = ()

    def __post_init__(self) -> None:
        _check_numbers(
            self,
            {
                "cpu_family": 16,
                "cpu_model": 8,
                "cpu_stepping": 8,
                "mtc_freq": 8,
                "nom_freq": 8,
                "cpuid_15h_eax": 32,
                "cpuid_15h_ebx": 32,
            },
        )
        frozen(self, "filters", tuple(self.filters))
        if len(self.filters) > lib.HWTD_PT_MAX_FILTERS:
            raise ValueError(
                f"PtConfig.filters: {len(self.filters)} are more than "
                f"{lib.HWTD_PT_MAX_FILTERS}"
            )
        for found in self.filters:
            if not isinstance(found, PtFilter):
                raise TypeError(
                    "PtConfig.filters: a PtFilter is wanted, not "
                    + type(found).__name__
                )

    def _to_c(self) -> CData:
        c = new("struct hwtd_pt_config")
        for name in (
            "cpu_family",
            "cpu_model",
            "cpu_stepping",
            "mtc_freq",
            "nom_freq",
            "cpuid_15h_eax",
            "cpuid_15h_ebx",
        ):
            setattr(c, name, getattr(self, name))
        for i, found in enumerate(self.filters):
            c.filters[i].mode = FILTER_MODES[found.mode.lower()]
            c.filters[i].start = found.start
            c.filters[i].end = found.end
        return c

    @classmethod
    def _of_c(cls, c: CData) -> PtConfig:
        filters = [
            PtFilter(name_of(f.mode, FILTER_MODES), f.start, f.end)
            for f in c.filters
        ]
        while filters and filters[-1] == PtFilter("off", 0, 0):
            filters.pop()
        return cls(
            c.cpu_family,
            c.cpu_model,
            c.cpu_stepping,
            c.mtc_freq,
            c.nom_freq,
            c.cpuid_15h_eax,
            c.cpuid_15h_ebx,
            filters,
        )


@dataclass(frozen=True)
class Clock:
    """How raw counts of a stream become ns on the clock of its trace.

    ``ns = base_ns + (count - base_count) * ns_per / counts_per``, and what
    lies outside of 0 to 2**64 - 1 is the nearer of the two.

    Parameters
    ----------
    counts_per, ns_per : int
        So many counts are so many ns.
    base_count, base_ns : int
        That count is at that time, which may be before 0.
    wrap_base, wrap_mask : int
        Of a counter that is shorter than 64 bits: the bits that it has (0:
        all), and a whole count that none in the stream is before.

    Examples
    --------
    A counter of 25 MHz:

    >>> from hwt.config import Clock
    >>> Clock(counts_per=1, ns_per=40).ns(1000)
    40000
    """

    counts_per: int = 0
    ns_per: int = 0
    base_count: int = 0
    base_ns: int = 0
    wrap_base: int = 0
    wrap_mask: int = 0

    def __post_init__(self) -> None:
        bits = {f.name: 64 for f in fields(self) if f.name != "base_ns"}
        _check_numbers(self, bits)
        base = signed("Clock.base_ns", self.base_ns)
        frozen(self, "base_ns", base)

    def ns(self, count: int) -> int:
        """Convert a raw count.

        Parameters
        ----------
        count : int
            As the hardware wrote it.

        Returns
        -------
        int
            Time on the clock of the trace in ns, rounded down.

        Raises
        ------
        ValueError
            The clock is not known: `counts_per` is 0.
        """
        if self.counts_per == 0:
            raise ValueError("the clock is not known: counts_per is 0")
        count = number("count", count, 64)
        if self.wrap_mask:
            count = self.wrap_base + (
                (count - self.wrap_base) & self.wrap_mask
            )
        found = self.base_ns + (
            (count - self.base_count) * self.ns_per // self.counts_per
        )
        return min(max(found, 0), (1 << 64) - 1)

    def _set(self, c: CData) -> None:
        for f in fields(self):
            setattr(c, f.name, getattr(self, f.name) & ((1 << 64) - 1))

    @classmethod
    def _of_c(cls, c: CData) -> Optional[Clock]:
        if c.counts_per == 0:
            return None
        values = {f.name: getattr(c, f.name) for f in fields(cls)}
        values["base_ns"] = int(ffi.cast("int64_t", c.base_ns))
        return cls(**values)


_CS_NUMBERS = (
    "trace_id",
    "configr",
    "devarch",
    "etmcr",
    "etmidr",
    "etmccer",
    "stmtcsr",
    "stmfeat1r",
    "stmfeat3r",
    "stmdevid",
    "stmhemastr",
    "itmtcr",
)


@dataclass(frozen=True)
class CoresightConfig:
    """Registers of a CoreSight source as they were when it recorded.

    Those that the protocol does not have are not used; 0: not known.

    Parameters
    ----------
    protocol : {"etmv3", "ptm", "etmv4", "ete", "stm", "itm"}
        What writes the stream.
    arch : {"unknown", "v7", "v8", "v8.3"}
        Architecture of the processor.
    profile : {"unknown", "a", "r", "m"}
        Its profile.
    trace_id : int
        1 to 0x6f; 0: not known, or see `ids`.
    configr, devarch, etmcr, etmidr, etmccer : int
        Registers of ETMv4 and ETE, of ETE, and of ETMv3 and PTM.
    stmtcsr, stmfeat1r, stmfeat3r, stmdevid, stmhemastr, itmtcr : int
        Registers of STM, and of ITM.
    idr : sequence of int or mapping of int to int
        TRCIDR0 to TRCIDR13 of ETMv4 and ETE.
    ids : {"one", "others", "cpus"}
        For which sources it is where raw bytes are opened: that of `trace_id`,
        each that no other configuration names, or the same with ID n being
        that of CPU n - 1.

    Examples
    --------
    >>> from hwt.config import CoresightConfig
    >>> CoresightConfig("etmv4", trace_id=0x10, idr={0: 0x28000ea1}).idr[0]
    671092385
    """

    protocol: str
    arch: str = "unknown"
    profile: str = "unknown"
    trace_id: int = 0
    configr: int = 0
    devarch: int = 0
    idr: Union[Sequence[int], Mapping[int, int]] = ()
    etmcr: int = 0
    etmidr: int = 0
    etmccer: int = 0
    stmtcsr: int = 0
    stmfeat1r: int = 0
    stmfeat3r: int = 0
    stmdevid: int = 0
    stmhemastr: int = 0
    itmtcr: int = 0
    ids: str = "one"

    def __post_init__(self) -> None:
        choice("CoresightConfig.protocol", self.protocol, PROTOCOLS)
        choice("CoresightConfig.arch", self.arch, ARCHS)
        choice("CoresightConfig.profile", self.profile, PROFILES)
        choice("CoresightConfig.ids", self.ids, CS_IDS)
        _check_numbers(self, {name: 32 for name in _CS_NUMBERS})
        items = (
            self.idr.items()
            if isinstance(self.idr, Mapping)
            else enumerate(self.idr)
        )
        idr = [0] * lib.HWTD_CS_IDRS
        for i, value in items:
            if not 0 <= operator.index(i) < lib.HWTD_CS_IDRS:
                raise ValueError(f"CoresightConfig.idr: there is no TRCIDR{i}")
            idr[i] = number(f"CoresightConfig.idr[{i}]", value, 32)
        frozen(self, "idr", tuple(idr))

    @classmethod
    def parse(cls, source: Union[str, bytes]) -> CoresightConfig:
        """Read a configuration from a text of ``key=value`` lines.

        Parameters
        ----------
        source : str or bytes
            Registers by their names, and protocol, arch, profile, trace_id;
            see hwtdecode(1), "CoreSight".

        Returns
        -------
        CoresightConfig
            With all that the text says.

        Raises
        ------
        hwt.errors.CorruptTraceError
            A line is not understood, or none tells the protocol.

        Examples
        --------
        >>> from hwt.config import CoresightConfig
        >>> CoresightConfig.parse("protocol=etmv4\\nTRCCONFIGR=0xc1").configr
        193
        """
        data = source.encode() if isinstance(source, str) else bytes(source)
        c, err = new("struct hwtd_coresight_config"), error()
        check(lib.hwtd_coresight_parse(data, len(data), c, err), err)
        return cls._of_c(c)

    def doubts(self) -> tuple[tuple[str, str], ...]:
        """Say what looks wrong; traces are decoded with it all the same.

        Returns
        -------
        tuple of (str, str)
            The register, and what is wrong with it.
        """
        c = self._to_c()
        found: list[tuple[str, str]] = []
        name, why = ffi.new("const char **"), ffi.new("const char **")
        while (
            lib.hwtd_coresight_doubt(c, len(found), name, why) == lib.HWTD_OK
        ):
            found.append((text(name[0]), text(why[0])))
        return tuple(found)

    def _set(self, c: CData) -> None:
        c.size = ffi.sizeof("struct hwtd_coresight_config")
        c.protocol = PROTOCOLS[self.protocol.lower()]
        c.arch = ARCHS[self.arch.lower()]
        c.profile = PROFILES[self.profile.lower()]
        c.ids = CS_IDS[self.ids.lower()]
        for name in _CS_NUMBERS:
            setattr(c, name, getattr(self, name))
        for i in range(lib.HWTD_CS_IDRS):
            c.idr[i] = self.idr[i]

    def _to_c(self) -> CData:
        c = new("struct hwtd_coresight_config")
        self._set(c)
        return c

    @classmethod
    def _of_c(cls, c: CData) -> CoresightConfig:
        return cls(
            protocol=name_of(c.protocol, PROTOCOLS),
            arch=name_of(c.arch, ARCHS),
            profile=name_of(c.profile, PROFILES),
            ids=name_of(c.ids, CS_IDS),
            idr=list(c.idr),
            **{name: getattr(c, name) for name in _CS_NUMBERS},
        )


@dataclass(frozen=True)
class SpeConfig:
    """What tells how to read samples of Arm SPE.  0 and "": not known.

    Parameters
    ----------
    cpu : str
        Name of the CPU, for instance ``"neoverse-n1"``: names of events and of
        data sources depend on it.  See `cpus`.
    midr : int
        Instead of a name: MIDR_EL1.
    version : int
        ``ID_AA64DFR0_EL1.PMSVer``: 1 is version 1.0, 5 is 1.4.
    owner : {"unknown", "thread", "process", "cpu"}
        Whose numbers contexts are: threads with Linux, processes with FreeBSD.
    counter_bits : int
        Bits of a latency, 12 or 16.
    interval : int
        Operations for one sample.

    Examples
    --------
    >>> from hwt.config import SpeConfig
    >>> SpeConfig(cpu="neoverse-n1", owner="process", interval=1024).interval
    1024
    """

    cpu: str = ""
    midr: int = 0
    version: int = 0
    owner: str = "unknown"
    counter_bits: int = 0
    interval: int = 0

    def __post_init__(self) -> None:
        _check_numbers(
            self,
            {"midr": 32, "version": 32, "counter_bits": 32, "interval": 64},
        )
        choice("SpeConfig.owner", self.owner, OWNERS)
        if self.cpu:
            midr = lib.hwtd_spe_cpu_midr(c_text("SpeConfig.cpu", self.cpu))
            if midr == 0:
                raise ValueError(
                    f"SpeConfig.cpu: {quoted(self.cpu)} is not one of "
                    + ", ".join(self.cpus())
                )
            if self.midr == 0:
                frozen(self, "midr", midr)
            elif _name_of_midr(self.midr) != _name_of_midr(midr):
                raise ValueError(
                    f"SpeConfig: {self.cpu} has not the midr {self.midr:#x}"
                )
        elif self.midr:
            frozen(self, "cpu", _name_of_midr(self.midr))

    @staticmethod
    def cpus() -> tuple[str, ...]:
        """List the names of CPUs that are known.

        Returns
        -------
        tuple of str
            In the order of the library.
        """
        found: list[str] = []
        while True:
            name = lib.hwtd_spe_cpu_at(len(found))
            if name == ffi.NULL:
                return tuple(found)
            found.append(text(name))

    def _to_c(self) -> CData:
        c = new("struct hwtd_spe_config")
        c.midr, c.version = self.midr, self.version
        c.owner = OWNERS[self.owner.lower()]
        c.counter_bits, c.interval = self.counter_bits, self.interval
        return c

    @classmethod
    def _of_c(cls, c: CData) -> SpeConfig:
        return cls(
            midr=c.midr,
            version=c.version,
            owner=name_of(c.owner, OWNERS),
            counter_bits=c.counter_bits,
            interval=c.interval,
        )


def _name_of_midr(midr: int) -> str:
    return text(lib.hwtd_spe_cpu_name(midr))


@dataclass(frozen=True)
class Buffer:
    """A buffer of a file of raw bytes; it goes on up to the next one.

    Parameters
    ----------
    off : int
        Its first byte in the file; the first buffer is at 0.
    source : int
        Which stream it is of: 0, and then at most one more than before.
    cpu : int, optional
        CPU of the source; None: as the file was opened.

    Examples
    --------
    >>> from hwt.config import Buffer
    >>> [Buffer(0), Buffer(4096, source=1, cpu=1)][1].off
    4096
    """

    off: int
    source: int = 0
    cpu: Optional[int] = None

    def __post_init__(self) -> None:
        _check_numbers(self, {"off": 64, "source": 32})
        if self.cpu is not None:
            frozen(self, "cpu", an_id("Buffer.cpu", self.cpu))

    def _set(self, c: CData) -> None:
        c.off, c.source = self.off, self.source
        c.cpu = lib.HWTD_NO_ID if self.cpu is None else self.cpu


@dataclass(frozen=True)
class PerfRecords:
    """A file of records as Linux writes them into the buffer of a perf event.

    Parameters
    ----------
    path : str or os.PathLike
        The file: records one after the other and nothing else.
    sample_type : int
        ``perf_event_attr.sample_type`` where sample_id_all was set, else 0.
    cpu : int, optional
        CPU of records that do not tell theirs.
    big_endian : bool
        Whether a machine wrote it whose numbers begin with the high byte.

    Examples
    --------
    >>> from hwt.config import PerfRecords
    >>> PerfRecords("records.bin", cpu=1).big_endian
    False
    """

    path: PathLike
    sample_type: int = 0
    cpu: Optional[int] = None
    big_endian: bool = False

    def __post_init__(self) -> None:
        path_bytes(self.path)
        _check_numbers(self, {"sample_type": 64})
        if self.cpu is not None:
            frozen(self, "cpu", an_id("PerfRecords.cpu", self.cpu))

    def _set(self, c: CData, keep: list[Any]) -> None:
        c.size = ffi.sizeof("struct hwtd_perf_records")
        keep.append(ffi.new("char[]", path_bytes(self.path)))
        c.path = keep[-1]
        c.sample_type = self.sample_type
        c.cpu_plus_1 = 0 if self.cpu is None else self.cpu + 1
        c.big_endian = bool(self.big_endian)


@dataclass(frozen=True)
class Search:
    """Where the files of images are looked for.

    Parameters
    ----------
    roots : path or sequence of path
        Folders put before recorded paths, for instance a copy of the machine
        that was traced.
    build_id_dirs : path or sequence of path
        Folders of files by build-id, such as ``~/.debug``.
    dirs : path or sequence of path
        Folders where files lie by their last name.
    original : bool
        Whether the path that was recorded is read as it is.

    Examples
    --------
    >>> from hwt.config import Search
    >>> Search(roots="/srv/machine").roots
    ('/srv/machine',)
    """

    roots: Union[PathLike, Sequence[PathLike]] = ()
    build_id_dirs: Union[PathLike, Sequence[PathLike]] = ()
    dirs: Union[PathLike, Sequence[PathLike]] = ()
    original: bool = True

    def __post_init__(self) -> None:
        for name in ("roots", "build_id_dirs", "dirs"):
            value: Any = getattr(self, name)
            if isinstance(value, (str, bytes, os.PathLike)):
                value = (value,)
            for path in value:
                path_bytes(path)
            frozen(self, name, tuple(value))

    def _to_c(self, keep: list[Any]) -> CData:
        c = new("struct hwtd_search")
        c.roots, c.n_roots = c_paths("roots", self.roots, keep)
        c.build_id_dirs, c.n_build_id_dirs = c_paths(
            "build_id_dirs", self.build_id_dirs, keep
        )
        c.dirs, c.n_dirs = c_paths("dirs", self.dirs, keep)
        if not self.original:
            c.flags = lib.HWTD_SEARCH_NO_ORIGINAL
        keep.append(c)
        return c


@dataclass(frozen=True)
class Image:
    """A file, a part of it, or bytes that hold code.

    Parameters
    ----------
    path : str or os.PathLike
        Its name in tables and messages, and the file to read unless there are
        `data`.
    data : bytes-like, optional
        Bytes instead of a file; they are copied by the library.
    address : int, optional
        Where it is mapped in every address space from the start on.  None:
        only where records say so.
    offset, length : int
        The part of the file that counts; `length` 0: all from `offset` on.

    Examples
    --------
    >>> from hwt.config import Image
    >>> Image("stub", bytes([0xc3]), address=0x1000).address
    4096
    """

    path: PathLike
    data: Optional[bytes] = field(default=None, repr=False)
    address: Optional[int] = None
    offset: int = 0
    length: int = 0

    def __post_init__(self) -> None:
        path_bytes(self.path)
        _check_numbers(self, {"offset": 64, "length": 64})
        if self.address is not None:
            frozen(self, "address", number("Image.address", self.address, 64))
        if self.data is not None:
            try:
                frozen(self, "data", bytes(memoryview(self.data)))
            except TypeError:
                raise TypeError(
                    "Image.data: bytes are wanted, not "
                    + type(self.data).__name__
                ) from None

    def _set(self, c: CData, keep: list[Any]) -> None:
        c.size = ffi.sizeof("struct hwtd_image_desc")
        path = ffi.new("char[]", path_bytes(self.path))
        keep.append(path)
        c.path = path
        if self.data is not None:
            # One byte more, so that no bytes are not a NULL.
            data = ffi.from_buffer(self.data or b"\0")
            keep.append(data)
            c.bytes, c.n_bytes = data, len(self.data)
        c.offset, c.length = self.offset, self.length
        if self.address is not None:
            c.flags = lib.HWTD_IMAGEF_ADDRESS
            c.address = self.address


def wanted(name: str, value: Any, kind: type) -> Any:
    """Take a value of that class, or say that it is none."""
    if not isinstance(value, kind):
        raise TypeError(
            f"{name}: {kind.__name__} is wanted, not {type(value).__name__}"
        )
    return value


def c_array(
    ctype: str, items: Iterable[Any], keep: list[Any], *args: Any
) -> tuple[CData, int]:
    """Make an array of structs that the items set themselves."""
    found = list(items)
    array = ffi.new(f"{ctype}[]", max(len(found), 1))
    for i, item in enumerate(found):
        item._set(array[i], *args)
    keep.append(array)
    return (array if found else ffi.NULL), len(found)
