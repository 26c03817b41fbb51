"""Reads a case text and holds everything a case directory is made from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from . import AsmError, arm, x86
from .coresight import Sink, read_sink
from .expect import Expectation
from .frames import Formatter
from .packets import Stream
from .source import ByteStream
from .swtrace import StmStream
from .values import evaluate, number
from .program import Program
from .samples import SampleExpectation
from .spe import SpeStream

SECTIONS = ("case", "code", "image", "trace", "frames", "flow", "gaps", "rows",
            "samples", "listing")
FAMILIES = {"pt-good": x86, "pt-bad": x86, "cs-good": arm, "cs-bad": arm,
            "spe-good": arm, "spe-bad": arm}
# Traces of one source, and of sinks.
TRACES = {"pt": "trace.pt", "cs": "trace.etm", "spe": "trace.spe"}
SINK = "sink.bin"
LIBRARIES = ("libipt", "opencsd")
# What is known of a CPU that writes SPE.
SPE_KEYS = ("cpu", "version", "counter_bits", "owner", "clock")
DECIMAL_PARAMS = ("mtc_freq", "nom_freq", "cpuid_0x15_eax", "cpuid_0x15_ebx")

Lines = list[tuple[int, str]]


@dataclass(frozen=True)
class Mapping:
    """One line of image.txt: bytes of a file at an address."""

    file: str
    offset: int
    start: int
    end: int


@dataclass
class Part:
    """One source of trace: its packets, and what they stand for."""

    stream: ByteStream | StmStream
    expect: Expectation | SampleExpectation


@dataclass
class Case:
    """One assembled case."""

    program: Program
    name: str = ""
    family: str = ""
    about: str = ""
    source: str = ""
    params: dict[str, object] = field(default_factory=dict)
    max_insns: int | None = None
    # By what the files of the expectation are called: "" is the only one.
    parts: dict[str, Part] = field(default_factory=dict)
    sink: Sink | None = None
    traces: dict[str, bytes] = field(default_factory=dict)
    images: list[Mapping] = field(default_factory=list)
    sections: dict[str, Lines] = field(default_factory=dict)

    @property
    def has_code(self) -> bool:
        """Say whether a program belongs to the trace."""
        return not self.family.startswith("spe")


def split_sections(text: str) -> dict[str, Lines]:
    """Return the lines of each section, without comments and blanks."""
    out: dict[str, Lines] = {}
    section = ""
    for line_no, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].rstrip()
        match = re.fullmatch(r"\[(\w+)( 0x[0-9a-f]+)?\]", line.strip())
        if match is not None:
            section = match.group(0)[1:-1]
            if match.group(1) not in SECTIONS or section in out:
                raise AsmError(f"no such section, or twice: {section}",
                               line_no)
            out[section] = []
        elif line.strip():
            if not section:
                raise AsmError("a line before the first section", line_no)
            out[section].append((line_no, line if section == "case"
                                 else line.strip()))
    return out


def _header(lines: Lines) -> dict[str, str]:
    """Return key: value pairs; indented lines go on from the one above."""
    out: dict[str, str] = {}
    key = ""
    for line_no, line in lines:
        if line[0].isspace() and key:
            out[key] += " " + line.strip()
            continue
        key, colon, value = line.partition(":")
        if not colon or key in out:
            raise AsmError(f"a header line is `key: value`: {line!r}", line_no)
        out[key] = value.strip()
    return out


def _params(case: Case, header: dict[str, str]) -> None:
    """Turn header lines into the parameters of case.json."""
    labels = case.program.labels
    for key, value in header.items():
        words = value.split()
        if key == "cpu":
            family, model, stepping = (number(word) for word in words)
            case.params["cpu"] = {"family": family, "model": model,
                                  "stepping": stepping}
        elif key in DECIMAL_PARAMS:
            case.params[key] = number(value)
        elif key in ("ip_filter", "ip_stop"):
            case.params[key] = [f"{evaluate(word, labels):#x}"
                                for word in words]
        elif key in LIBRARIES:
            if value.split(" ")[0] not in ("skip:", "note:"):
                raise AsmError(f"{key} is `skip: reason` or `note: text`")
            case.params[key] = value
        elif key == "spe":
            said = dict(word.split("=", 1) for word in words)
            if not said.keys() <= set(SPE_KEYS):
                raise AsmError(f"spe is {', '.join(SPE_KEYS)}")
            case.params[key] = said
        elif key == "max_insns":
            case.max_insns = number(value)
        elif key in ("name", "family", "about", "source"):
            setattr(case, key, value)
        elif key.split(" ")[0] in ("unit", "framing"):
            continue
        else:
            raise AsmError(f"no such header: {key}")


def _images(case: Case, lines: Lines) -> None:
    """Lay the program out in files: as told, or all in code.bin."""
    sizes: dict[str, int] = {}

    def add(name: str, start: int, end: int) -> None:
        offset = sizes.get(name, 0)
        case.images.append(Mapping(name, offset, start, end))
        sizes[name] = offset + end - start

    for line_no, line in lines:
        try:
            name, first, last = line.split()
            labels = case.program.labels
            add(name, evaluate(first, labels), evaluate(last, labels))
        except ValueError:
            raise AsmError("an image is `file start end`", line_no) from None
        except AsmError as error:
            raise AsmError(str(error), line_no) from None
    if not lines:
        for start, data in case.program.pieces:
            if data:
                add("code.bin", start, start + len(data))


def shipped_ranges(images: list[Mapping]) -> list[tuple[int, int]]:
    """Return the mapped ranges; neighbours count as one."""
    out: list[tuple[int, int]] = []
    for start, end in sorted((item.start, item.end) for item in images):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def _fill(add: Callable[[str], None], lines: Lines) -> None:
    """Add lines of packets or of frames; name the line of a mistake."""
    for line_no, line in lines:
        try:
            add(line)
        except AsmError as error:
            raise AsmError(str(error), line_no) from None
        except (ValueError, IndexError, KeyError) as error:
            raise AsmError(f"cannot encode {line!r}: {error}",
                           line_no) from None


def _part(case: Case, stream: ByteStream | StmStream, suffix: str) -> Part:
    """Read packets and expectation of a source."""
    get = case.sections.get
    _fill(stream.add, get("trace" + suffix, []))
    size = len(stream.data)
    marks = {**stream.marks, "start": 0, "end": size}
    expect = Expectation(case.program.labels, marks)
    _fill_expectation(case, expect, suffix)
    expect.check(case.program, shipped_ranges(case.images), size)
    return Part(stream, expect)


def _fill_expectation(case: Case, expect: Expectation | SampleExpectation,
                      suffix: str = "") -> None:
    for section in expect.SECTIONS:
        for line_no, line in case.sections.get(section + suffix, []):
            expect.add(section, line_no, line)


def _read_samples(case: Case) -> None:
    """Read records of SPE and the samples that they are."""
    stream = SpeStream(case.program.labels)
    _fill(stream.add, case.sections.get("trace", []))
    data = case.traces[TRACES["spe"]] = stream.finish()
    marks = {**stream.marks, "start": 0, "end": len(data)}
    expect = SampleExpectation(case.program.labels, marks,
                               None if stream.changed else stream.packets)
    _fill_expectation(case, expect)
    expect.check(len(data))
    if stream.buffers:
        case.params["buffers"] = stream.buffers
    case.parts[""] = Part(stream, expect)


def _read_parts(case: Case, header: dict[str, str]) -> None:
    """Read the trace: of one source, or of a sink with several."""
    labels = case.program.labels
    kind = case.family.partition("-")[0]
    if kind == "pt":
        case.parts[""] = _part(case, Stream(labels), "")
        case.traces[TRACES[kind]] = case.parts[""].stream.finish()
        return
    if kind == "spe":
        _read_samples(case)
        return
    sink = case.sink = read_sink(header)
    case.params["coresight"] = sink.params()
    if sink.framing == "none":
        unit = sink.units[0]
        case.parts[""] = _part(case, unit.stream(labels), "")
        case.traces[TRACES[kind]] = case.parts[""].stream.finish()
        return
    for unit in sink.units:
        case.parts[f"{unit.trace_id:x}"] = _part(
            case, unit.stream(labels), f" {unit.trace_id:#x}")
    frames = Formatter(
        {unit.trace_id: case.parts[f"{unit.trace_id:x}"].stream.finish()
         for unit in sink.units},
        {unit.trace_id: {**part.stream.marks, "start": 0,
                         "end": len(part.stream.data)}
         for unit in sink.units
         for part in (case.parts[f"{unit.trace_id:x}"],)})
    _fill(frames.add, case.sections.get("frames", []))
    case.traces[SINK] = frames.finish(sink.framing)


def read_case(text: str) -> Case:
    """Assemble and check a case text."""
    sections = split_sections(text)
    header = _header(sections.get("case", []))
    family = header.get("family", "")
    if family not in FAMILIES:
        raise AsmError(f"no such family: {family!r}")
    case = Case(Program(FAMILIES[family]), sections=sections)
    case.program.assemble(sections.get("code", []))
    _params(case, header)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", case.name):
        raise AsmError(f"a name is words-with-dashes, not {case.name!r}")
    if not case.about or not case.source:
        raise AsmError("the case needs about and source")
    _images(case, sections.get("image", []))
    _read_parts(case, header)
    return case
