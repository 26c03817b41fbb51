"""Reads a case text and holds everything a case directory is made from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import AsmError
from .expect import Expectation
from .packets import Stream
from .values import evaluate, number
from .x86 import Program

SECTIONS = ("case", "code", "image", "trace", "flow", "gaps", "rows")
FAMILIES = ("pt-good", "pt-bad")
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
class Case:
    """One assembled case."""

    name: str = ""
    family: str = ""
    about: str = ""
    source: str = ""
    params: dict[str, object] = field(default_factory=dict)
    max_insns: int | None = None
    program: Program = field(default_factory=Program)
    stream: Stream = field(default_factory=lambda: Stream({}))
    images: list[Mapping] = field(default_factory=list)
    expect: Expectation = field(default_factory=lambda: Expectation({}, {}))
    sections: dict[str, Lines] = field(default_factory=dict)


def split_sections(text: str) -> dict[str, Lines]:
    """Return the lines of each section, without comments and blanks."""
    out: dict[str, Lines] = {}
    section = ""
    for line_no, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].rstrip()
        match = re.fullmatch(r"\[(\w+)\]", line.strip())
        if match is not None:
            section = match.group(1)
            if section not in SECTIONS or section in out:
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
        elif key == "libipt":
            if value.split(" ")[0] not in ("skip:", "note:"):
                raise AsmError("libipt is `skip: reason` or `note: text`")
            case.params["libipt"] = value
        elif key == "max_insns":
            case.max_insns = number(value)
        elif key in ("name", "family", "about", "source"):
            setattr(case, key, value)
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


def read_case(text: str) -> Case:
    """Assemble and check a case text."""
    case = Case(sections=split_sections(text))
    get = case.sections.get
    case.program.assemble(get("code", []))
    _params(case, _header(get("case", [])))
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", case.name):
        raise AsmError(f"a name is words-with-dashes, not {case.name!r}")
    if case.family not in FAMILIES or not case.about or not case.source:
        raise AsmError("the case needs family, about and source")
    _images(case, get("image", []))
    case.stream = Stream(case.program.labels)
    for line_no, line in get("trace", []):
        try:
            case.stream.add(line)
        except AsmError as error:
            raise AsmError(str(error), line_no) from None
        except (ValueError, IndexError, KeyError) as error:
            raise AsmError(f"cannot encode {line!r}: {error}",
                           line_no) from None
    size = len(case.stream.data)
    marks = {**case.stream.marks, "start": 0, "end": size}
    case.expect = Expectation(case.program.labels, marks)
    for section in ("flow", "gaps", "rows"):
        for line_no, line in get(section, []):
            case.expect.add(section, line_no, line)
    case.expect.check(case.program, shipped_ranges(case.images), size)
    return case
