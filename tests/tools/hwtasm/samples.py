"""The expected samples of Arm SPE, and what is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from . import AsmError
from .expect import Gap, read_gap
from .source import Packet
from .spe import kind_of
from .values import evaluate, number

# Fields of a sample; the value says how they are written.
HEX, DEC, WORD, LIST, SECURITY, PACKETS = (
    "hex", "dec", "word", "list", "security", "packets")
FIELDS = {
    "ip": HEX, "pc_el": DEC, "pc_security": SECURITY,
    "branch_target": HEX, "branch_target_el": DEC,
    "branch_target_security": SECURITY,
    "prev_target": HEX, "prev_target_el": DEC,
    "prev_target_security": SECURITY,
    "va": HEX, "va_tag": HEX,
    "pa": HEX, "pa_tag": HEX, "pa_checked": DEC, "pa_security": SECURITY,
    "lat_total": DEC, "lat_issue": DEC, "lat_xlat": DEC,
    "op_class": WORD, "op": WORD, "op_raw": HEX, "vector_bits": DEC,
    "events": HEX, "event_names": LIST, "source": DEC, "source_name": WORD,
    "context_el1": HEX, "context_el2": HEX, "count": DEC, "time_ns": DEC,
    "packets": PACKETS,
}
FLAGS = (
    "store", "conditional", "floating_point", "simd", "predicated",
    "gather_scatter", "atomic", "exclusive", "acquire_release", "gcs_common",
    "indirect", "gcs", "link", "return", "no_link_return",
    "damaged", "duplicate", "truncated", "headless", "more_extras",
    "total_saturated", "issue_saturated", "xlat_saturated", "count_back",
)
SECURITIES = ("s", "ns", "root", "realm")


@dataclass
class Sample:
    """One record: where it lies, and its fields."""

    line: int
    first: int
    size: int
    fields: dict[str, object] = field(default_factory=dict)

    def text(self) -> str:
        """Return the line of samples.jsonl."""
        return json.dumps({"first": self.first, "record_bytes": self.size,
                           **self.fields}, separators=(",", ":"))


def _packets(text: str) -> list[dict[str, object]]:
    """`header:index:bytes:payload`, as many as there are, with commas."""
    out = []
    for item in text.split(","):
        header, index, size, payload = map(number, item.split(":"))
        out.append({"header": header, "index": index, "bytes": size,
                    "payload": f"{payload:#x}"})
    return out


class SampleExpectation:
    """Samples, gaps and listing of one case."""

    SECTIONS = ("samples", "gaps", "listing")

    def __init__(self, labels: Mapping[str, int],
                 marks: Mapping[str, int], packets: list[Packet] | None
                 ) -> None:
        self.labels = labels
        self.marks = marks
        # None where bytes are not those of the packets.
        self.packets = packets
        self.samples: list[Sample] = []
        self.gaps: list[Gap] = []
        self.listing: list[str] = []

    def add(self, section: str, line: int, text: str) -> None:
        """Read one line of a section."""
        try:
            if section == "listing":
                self.listing.append(text)
            elif section == "gaps":
                self.gaps.append(read_gap(line, text.split(), self.marks))
            else:
                self._add_sample(line, text.split())
        except AsmError as error:
            raise AsmError(str(error), line) from None
        except (ValueError, IndexError):
            raise AsmError(f"cannot read {text!r}", line) from None

    def _add_sample(self, line: int, words: list[str]) -> None:
        if words[0] == "sample":
            _, first, size, *words = words
            self.samples.append(Sample(line, evaluate(first, self.marks),
                                       number(size)))
        elif not self.samples:
            raise AsmError("fields before the first sample")
        fields = self.samples[-1].fields
        for word in words:
            key, value = self._field(word)
            if key in fields:
                raise AsmError(f"{key} is there twice")
            fields[key] = value

    def _field(self, word: str) -> tuple[str, object]:
        key, equals, text = word.partition("=")
        if not equals and key in FLAGS:
            return key, True
        form = FIELDS.get(key)
        if form is None or not equals:
            raise AsmError(f"a sample has no {word}")
        if form == WORD:
            return key, text
        if form == LIST:
            return key, text.split(",") if text else []
        if form == SECURITY:
            return key, SECURITIES.index(text)
        if form == PACKETS:
            return key, _packets(text)
        value = evaluate(text, self.labels)
        return key, f"{value:#x}" if form == HEX else value

    def check(self, size: int) -> None:
        """Raise AsmError if an expectation cannot be about this case."""
        end = 0
        for sample in self.samples:
            if sample.first < end:
                raise AsmError("samples do not overlap", sample.line)
            end = sample.first + sample.size
            if end > size:
                raise AsmError("a sample goes beyond the trace", sample.line)
        broken = {(sample.first, sample.first + sample.size,
                   "damaged" in sample.fields) for sample in self.samples
                  if {"damaged", "truncated"} & sample.fields.keys()}
        stated = {(gap.first, gap.end, gap.reason == "bad-packet")
                  for gap in self.gaps}
        if not broken <= stated:
            raise AsmError("a sample that is not whole has a gap")

    def files(self) -> dict[str, list[str]]:
        """Return the lines of each file."""
        out = {"samples.jsonl": [item.text() for item in self.samples],
               "gaps.txt": [gap.text() for gap in self.gaps]}
        if self.packets is not None:
            out["packets.txt"] = [
                f"{packet.offset:x} {len(packet.data)} {kind_of(packet.data)}"
                for packet in self.packets]
        if self.listing:
            out["listing.txt"] = self.listing
        return out

    def counts(self) -> dict[str, int]:
        """Return how much of each there is."""
        return {"samples": len(self.samples), "gaps": len(self.gaps)}
