"""Random records of Arm SPE: their bytes, and what has to come of them.

Bytes come from hwtasm; what is expected of each field is said here by the words
that its packet was made of, or by the value.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from hwtasm import AsmError, spe  # noqa: E402

Fields = dict[str, Any]

SECURITIES = ("s", "ns", "root", "realm")

# Flags of operations: a word, and its name in a row.
FLAGS = {
    "cond": "conditional", "fp": "floating_point", "simd": "simd",
    "predicated": "predicated", "gather": "gather_scatter",
    "atomic": "atomic", "exclusive": "exclusive",
    "ordered": "acquire_release", "common": "gcs_common",
    "indirect": "indirect", "gcs": "gcs", "link": "link",
    "return": "return", "neither": "no_link_return",
}

# Words of an operation: class and name in a row, and flags that it may have.
OPERATIONS = (
    ("other", "other", "other", "cond fp simd"),
    ("sve", "other", "sve", "fp predicated"),
    ("sme", "other", "sme", "fp"),
    ("load general", "memory", "general", ""),
    ("store general", "memory", "general", ""),
    ("load simd-fp", "memory", "simd-fp", ""),
    ("store simd-fp", "memory", "simd-fp", ""),
    ("load unspecified", "memory", "unspecified", ""),
    ("store system-register", "memory", "system-register", ""),
    ("load tag", "memory", "tag", ""), ("store tag", "memory", "tag", ""),
    ("load copy", "memory", "copy", ""), ("store copy", "memory", "copy", ""),
    ("store set", "memory", "set", ""),
    ("load extended", "memory", "extended", "atomic exclusive ordered"),
    ("store extended", "memory", "extended", "atomic exclusive ordered"),
    ("load gcs", "memory", "gcs", "common"),
    ("store gcs", "memory", "gcs", "common"),
    ("load sve", "memory", "sve-sme", "predicated gather"),
    ("store sve", "memory", "sve-sme", "predicated gather"),
    ("branch", "branch", "branch", "cond indirect gcs"),
)
KINDS_OF_BRANCH = ((), ("link",), ("return",), ("neither",))

# Payloads that no document names yet.
RESERVED = {0: (0x09, 0x10, 0x80, 0xf0, 0x81), 1: (0x24, 0x35, 0x50, 0x60,
                                                   0xff),
            2: (0x20, 0x41, 0xff), 3: (0x00, 0x01, 0xff)}
CLASSES = ("other", "memory", "branch", "reserved")

# Headers with a payload that no document names.
UNKNOWN = (0x02, 0x1f, 0x30, 0x3f, 0x40, 0x47, 0x50, 0x60, 0x70, 0x80, 0x90,
           0xa0, 0xc0, 0xd5, 0xe9, 0xff)


@dataclass
class Record:
    """One record: its packets, and the fields that each of them gives."""

    parts: list[tuple[bytes, Fields]] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """Return all bytes."""
        return b"".join(data for data, _ in self.parts)

    @property
    def pads(self) -> int:
        """Return how many bytes of padding are before its first packet."""
        first = self.parts[0][0] if self.parts else b"\x01"
        return len(first) if first[0] == spe.PAD else 0

    def fields(self, size: int | None = None) -> Fields:
        """Return the fields of all packets that end within so many bytes."""
        out: Fields = {}
        extras: list[Fields] = []
        at = 0
        for data, said in self.parts:
            at += len(data)
            if size is not None and at > size:
                break
            extras += said.get("packets", [])
            out.update(said)
        if extras:
            out["packets"] = extras[:4]
        if len(extras) > 4:
            out["more_extras"] = True
        return out


def _address(rng: random.Random, bits: int = 56) -> int:
    """Any address whose top byte is what bit 55 says."""
    value = rng.getrandbits(rng.choice((12, 32, 47, 55, bits)))
    return value | (0xff << 56 if value >> 55 & 1 else 0)


def _instruction(rng: random.Random, index: int, name: str,
                 prefix: str) -> tuple[bytes, Fields]:
    where, el = _address(rng), rng.randrange(4)
    security = rng.randrange(4)
    data = spe.instruction(index, where, el, SECURITIES[security],
                           rng.choice((0, 0, 0, rng.randrange(16))))
    return data, {name: f"{where:#x}", prefix + "_el": el,
                  prefix + "_security": security}


def _virtual(rng: random.Random) -> tuple[bytes, Fields]:
    where = _address(rng)
    tag = rng.choice((0, 0xff, rng.randrange(256)))
    return spe.virtual(where, tag), {"va": f"{where:#x}",
                                     "va_tag": f"{tag:#x}"}


def _physical(rng: random.Random) -> tuple[bytes, Fields]:
    where, security = rng.getrandbits(56), rng.randrange(4)
    tag, checked = rng.randrange(16), rng.randrange(2)
    return spe.physical(where, SECURITIES[security], tag, checked), {
        "pa": f"{where:#x}", "pa_tag": f"{tag:#x}", "pa_checked": checked,
        "pa_security": security}


def _latency(rng: random.Random, index: int) -> tuple[bytes, Fields]:
    name = ("total", "issue", "xlat")[index]
    value = rng.choice((0, 1, rng.getrandbits(6), rng.getrandbits(12), 0xffe,
                        0xfff, rng.getrandbits(16), 0xffff))
    said: Fields = {f"lat_{name}": value}
    # Of how many bits counters are is not told.
    if value in (0xfff, 0xffff):
        said[f"{name}_saturated"] = True
    return spe.counter(index, value), said


def _context(rng: random.Random, index: int) -> tuple[bytes, Fields]:
    value = rng.choice((0, rng.getrandbits(16), rng.getrandbits(32)))
    return spe.context(index, value), {
        f"context_el{index + 1}": f"{value:#x}"}


def _events(rng: random.Random, size: int) -> tuple[bytes, Fields]:
    value = rng.getrandbits(8 * size) & rng.getrandbits(8 * size)
    return spe.events(value, size), {"events": f"{value:#x}"}


def _source(rng: random.Random, size: int) -> tuple[bytes, Fields]:
    value = rng.getrandbits(8 * size)
    return spe.source(value, size), {"source": value}


def _operation(rng: random.Random) -> tuple[bytes, Fields]:
    if rng.random() < 0.05:
        op_class = rng.choice(tuple(RESERVED))
        payload = rng.choice(RESERVED[op_class])
        said: Fields = {"op_class": CLASSES[op_class], "op": "reserved",
                        "op_raw": f"{payload:#x}"}
        if op_class == 1 and payload & 1:
            said["store"] = True
        return spe.operation(op_class, payload), said
    words, op_class_name, name, flags = rng.choice(OPERATIONS)
    text = words.split()
    said = {"op_class": op_class_name, "op": name}
    if text[-1] in ("sve", "sme"):
        bits = (128 << rng.randrange(16) if text[-1] == "sme"
                else 32 << rng.randrange(8))
        text.append(f"bits={bits}")
        said["vector_bits"] = bits
    chosen = [flag for flag in flags.split() if rng.random() < 0.5]
    if name == "branch":
        chosen += rng.choice(KINDS_OF_BRANCH)
    data = spe.operation_of([*text, *chosen])
    said.update((FLAGS[flag], True) for flag in chosen)
    if text[0] == "store":
        said["store"] = True
    said["op_raw"] = f"{data[1]:#x}"
    return data, said


def _extra(data: bytes, header: int, index: int, size: int, payload: int
           ) -> tuple[bytes, Fields]:
    return data, {"packets": [{"header": header, "index": index,
                               "bytes": size, "payload": f"{payload:#x}"}]}


def _extras(rng: random.Random, layout: str) -> list[tuple[bytes, Fields]]:
    """Packets of a kind that is known, with an index without a name."""
    out = []
    for index in rng.sample(range(3, 32), rng.choice((0, 0, 0, 1, 2, 5))):
        kind = rng.randrange(2)
        if kind == 0 or index < 5:
            value = rng.getrandbits(16)
            out.append(_extra(spe.counter(index, value), 0x98 | index & 7,
                              index, 2, value))
        else:
            value = rng.getrandbits(64)
            out.append(_extra(spe.address(index, value), 0xb0 | index & 7,
                              index, 8, value))
    if rng.random() < 0.1:
        index, value = rng.choice((2, 3)), rng.getrandbits(32)
        out.append(_extra(spe.context(index, value), 0x64 | index, index, 4,
                          value))
    # What is not known is skipped only if what follows is; and it is no sign of
    # where records begin, which such a producer leaves to be found out.
    if layout != "kunpeng" and rng.random() < 0.1:
        header = rng.choice(UNKNOWN)
        size = 1 << (header >> 4 & 3) if header >= 0x40 else 0
        value = rng.getrandbits(8 * size) if size else 0
        out.append(_extra(spe.unknown(header, value), header, 0, size, value))
    return out


def _chosen(rng: random.Random, layout: str) -> list[tuple[bytes, Fields]]:
    """Return packets as such a producer may have them."""
    operation = _operation(rng)
    memory = operation[1]["op_class"] == "memory"
    branch = operation[1]["op_class"] == "branch"
    size = 2 if layout != "model" else rng.choice((1, 2, 4, 8))
    # In slots it is plain where a record is that lacks them.
    often = 0.97 if layout == "neoverse" else 1
    wanted = [
        (often, lambda: _instruction(rng, 0, "ip", "pc")),
        (often, lambda: operation),
        (0.97, lambda: _events(rng, size)),
        (0.97, lambda: _latency(rng, 0)),
        (0.0 if layout == "model" else 0.97, lambda: _latency(rng, 1)),
        (0.97 * memory, lambda: _virtual(rng)),
        (0.9 * memory, lambda: _latency(rng, 2)),
        (0.5 * memory, lambda: _physical(rng)),
        (0.9 * branch, lambda: _instruction(
            rng, 1, "branch_target", "branch_target")),
        (0.3, lambda: _context(rng, 0)), (0.3, lambda: _context(rng, 1)),
        (0.1, lambda: _instruction(rng, 4, "prev_target", "prev_target")),
        (0.5 * memory, lambda: _source(
            rng, 1 if layout == "neoverse" else rng.choice((1, 2)))),
    ]
    return [make() for chance, make in wanted if rng.random() < chance]


def make(rng: random.Random, layout: str, time: int | None,
         plain: bool = False) -> Record:
    """Return a random record of a layout; without a time it has an END.

    A plain one has what such records always have, and nothing without a name.
    """
    end = ((bytes([spe.END]), {}) if time is None else
           (spe.timestamp(time), {"count": time}))
    while True:
        chosen = _chosen(rng, layout)
        extras = [] if plain else _extras(rng, layout)
        said: dict[bytes, Fields] = dict([*chosen, *extras, end])
        try:
            packets = spe.record(layout, [data for data, _ in
                                          [*chosen, *extras]], end[0])
        except AsmError:
            # A slot has no room for so many.
            continue
        record = Record([(data, said.get(data, {})) for data in packets])
        # Two of the same bytes, or as those of padding.
        if sum(len(fields) > 0 for _, fields in record.parts) == \
                len(chosen) + len(extras) + (time is not None) and \
                not (plain and not {"ip", "op"} <= record.fields().keys()):
            return record


def times(rng: random.Random, start: int) -> int:
    """Return the next time: later, the same, or before the last one."""
    if rng.random() < 0.01:
        return rng.getrandbits(64)
    step = rng.choice((17, rng.randrange(1000), 0, -rng.randrange(1000)))
    return min(max(0, start + step), (1 << 64) - 1)
