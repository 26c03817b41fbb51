"""Arm SPE packets and records to bytes: one text line, one packet.

Source: Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling
Extension Sample Record Specification".  Where in a record packets lie is not
said there: those places are what real CPUs and Arm's models write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from . import AsmError
from .source import ByteStream, Packet, parse_fields, split_name
from .values import evaluate, little, number

# Headers; those of a kind with an index are the one of index 0.
PAD, END, TIMESTAMP = 0x00, 0x01, 0x71
EVENTS, SOURCE, OPERATION = 0x42, 0x43, 0x48
CONTEXT, COUNTER, ADDRESS = 0x64, 0x98, 0xb0
PC, TARGET, VA, PA, PREVIOUS = range(5)
TOTAL, ISSUE, XLAT = range(3)

# NS and NSE, bits 63 and 60 of an address.
SECURITY = {"s": 0, "ns": 1 << 63, "root": 1 << 60, "realm": 1 << 63 | 1 << 60}

TOP = 0xff << 56

# Bits of events.
EVENT_BITS = {
    "exception": 0, "retired": 1, "l1d-access": 2, "l1d-refill": 3,
    "tlb-access": 4, "tlb-walk": 5, "not-taken": 6, "mispredicted": 7,
    "llc-access": 8, "llc-miss": 9, "remote": 10, "misaligned": 11,
    "transaction": 16, "partial-predicate": 17, "empty-predicate": 18,
    "l2d-access": 19, "l2d-miss": 20, "modified": 21, "recently-fetched": 22,
    "snooped": 23, "streaming-sve": 24, "smcu": 25,
}

# Operations: what the payload is without flags, and the bits of the flags.
OTHER_FLAGS = {"cond": 1, "fp": 2, "simd": 4}
SVE_FLAGS = {"fp": 2, "predicated": 4}
MEMORY = {
    "general": (0x00, {}), "simd-fp": (0x04, {}), "unspecified": (0x10, {}),
    "system-register": (0x30, {}), "tag": (0x14, {}), "copy": (0x20, {}),
    "set": (0x24, {}),
    "extended": (0x02, {"atomic": 4, "exclusive": 8, "ordered": 0x10}),
    "gcs": (0x40, {"common": 4}),
}
SVE_MEMORY_FLAGS = {"predicated": 4, "gather": 0x80}
BRANCH_FLAGS = {"cond": 1, "indirect": 2, "gcs": 4, "link": 0x08,
                "return": 0x10, "neither": 0x18}


def _fit(value: int, bits: int, what: str) -> int:
    if not 0 <= value < 1 << bits:
        raise AsmError(f"{what} {value:#x} has more than {bits} bits")
    return value


def _indexed(header: int, index: int, most: int, payload: bytes,
             extended: bool) -> bytes:
    """One of a kind with an index: 8 and more need two bytes of header."""
    if not 0 <= index < most:
        raise AsmError(f"there is no index {index}")
    if extended or index >= 8:
        return bytes([0x20 | index >> 3, header | index & 7]) + payload
    return bytes([header | index]) + payload


def address(index: int, payload: int, extended: bool = False) -> bytes:
    """ADDRESS of a raw payload."""
    return _indexed(ADDRESS, index, 32, little(_fit(payload, 64, "payload"),
                                               8), extended)


def _plain(value: int) -> int:
    """Take off the top byte, which has to be what bit 55 says."""
    _fit(value, 64, "address")
    if value & TOP != (TOP if value >> 55 & 1 else 0):
        raise AsmError(f"{value:#x} is no address that SPE has")
    return value & ~TOP


def instruction(index: int, where: int, el: int = 0, security: str = "ns",
                reserved: int = 0, extended: bool = False) -> bytes:
    """An address of an instruction, with its exception level."""
    return address(index, _plain(where) | SECURITY[security] |
                   _fit(el, 2, "level") << 61 |
                   _fit(reserved, 4, "reserved") << 56, extended)


def virtual(where: int, tag: int = 0, extended: bool = False) -> bytes:
    """A data address; its top byte is the tag, whatever bit 55 is."""
    return address(VA, _plain(where) | _fit(tag, 8, "tag") << 56, extended)


def physical(where: int, security: str = "ns", tag: int = 0,
             checked: int = 0, extended: bool = False) -> bytes:
    """A physical data address."""
    return address(PA, _fit(where, 56, "address") | SECURITY[security] |
                   _fit(tag, 4, "tag") << 56 | _fit(checked, 1, "flag") << 62,
                   extended)


def counter(index: int, value: int, extended: bool = False) -> bytes:
    """COUNTER."""
    return _indexed(COUNTER, index, 32, little(_fit(value, 16, "count"), 2),
                    extended)


def context(index: int, value: int) -> bytes:
    """CONTEXT; index 0 is that of EL1."""
    return _indexed(CONTEXT, index, 4, little(_fit(value, 32, "context"), 4),
                    False)


def timestamp(value: int) -> bytes:
    """TIMESTAMP, the end of a record."""
    return bytes([TIMESTAMP]) + little(_fit(value, 64, "time"), 8)


def _sized(header: int, value: int, size: int) -> bytes:
    """The size is in bits 5 and 4 of the header."""
    if size not in (1, 2, 4, 8):
        raise AsmError(f"{size} bytes is no size of a payload")
    return (bytes([header | (size.bit_length() - 1) << 4])
            + little(_fit(value, 8 * size, "payload"), size))


def events(value: int, size: int = 2) -> bytes:
    """EVENTS."""
    return _sized(EVENTS, value, size)


def source(value: int, size: int = 1) -> bytes:
    """DATA SOURCE."""
    return _sized(SOURCE, value, size)


def operation(op_class: int, payload: int) -> bytes:
    """OPERATION TYPE of a raw payload."""
    return bytes([OPERATION | _fit(op_class, 2, "class"),
                  _fit(payload, 8, "payload")])


def unknown(header: int, payload: int) -> bytes:
    """A packet that no document names; its size is told all the same."""
    size = 1 << (header >> 4 & 3) if header >= 0x40 else 0
    return (bytes([_fit(header, 8, "header")])
            + little(_fit(payload, 8 * size, "payload"), size))


def _flags(words: Sequence[str], known: Mapping[str, int]) -> int:
    value = 0
    for word in words:
        if word not in known:
            raise AsmError(f"this operation is not {word}")
        value |= known[word]
    return value


def _scale(bits: int, least: int, most: int) -> int:
    """The exponent of a size in bits."""
    for exponent in range(most + 1):
        if least << exponent == bits:
            return exponent
    raise AsmError(f"{bits} bits is no size of a vector")


def _take_bits(words: list[str]) -> tuple[int, list[str]]:
    if not words or not words[0].startswith("bits="):
        raise AsmError("`bits=N` says how long vectors are")
    return number(words[0][5:]), words[1:]


def _op_sve(words: list[str]) -> tuple[int, int]:
    bits, rest = _take_bits(words)
    return 0, 0x08 | _scale(bits, 32, 7) << 4 | _flags(rest, SVE_FLAGS)


def _op_sme(words: list[str]) -> tuple[int, int]:
    bits, rest = _take_bits(words)
    scale = _scale(bits, 128, 15)
    return 0, (0x88 | (scale >> 1) << 4 | (scale & 1) << 2
               | _flags(rest, {"fp": 2}))


def _op_memory(words: list[str], store: int) -> tuple[int, int]:
    name, *rest = words
    if name == "sve":
        bits, rest = _take_bits(rest)
        return 1, (0x08 | _scale(bits, 32, 7) << 4 | store
                   | _flags(rest, SVE_MEMORY_FLAGS))
    if name not in MEMORY or (name == "set" and not store):
        raise AsmError(f"no such access: {name}")
    value, flags = MEMORY[name]
    return 1, value | store | _flags(rest, flags)


OPERATIONS: dict[str, Callable[[list[str]], tuple[int, int]]] = {
    "other": lambda words: (0, _flags(words, OTHER_FLAGS)),
    "sve": _op_sve,
    "sme": _op_sme,
    "load": lambda words: _op_memory(words, 0),
    "store": lambda words: _op_memory(words, 1),
    "branch": lambda words: (2, _flags(words, BRANCH_FLAGS)),
    "raw": lambda words: (number(words[0]), number(words[1])),
}


def operation_of(words: Sequence[str]) -> bytes:
    """OPERATION TYPE of what a text says of it."""
    name, *rest = words
    if name not in OPERATIONS:
        raise AsmError(f"no such operation: {name}")
    return operation(*OPERATIONS[name](rest))


# Where each packet lies in a slot of Neoverse cores, by its first byte.
SLOT_BYTES, SLOT_END = 64, 55
SLOT_PLACES = {
    0xb0: 0, 0x64: 9, 0x65: 14, 0x48: 19, 0x49: 19, 0x4a: 19, 0x4b: 19,
    0x52: 21, 0x99: 24, 0x98: 27, 0xb1: 30, 0xb2: 30, 0x9a: 39, 0xb3: 42,
    0x43: 51,
}
SLOT_FREE = 30

# The order of packets; others come last.
KUNPENG_ORDER = (0xb0, 0x99, 0x98, 0x52, 0x48, 0x49, 0x4a, 0x4b, 0xb2, 0x9a,
                 0xb1)
KUNPENG_ENDS = (23, 35)
MODEL_ORDER = (0x48, 0x49, 0x4a, 0x4b, 0xb1, 0xb2, 0xb3, 0x9a, 0x42, 0x52,
               0x62, 0x72, 0xb0, 0x99, 0x98)


def _spread(packets: Sequence[bytes], places: Sequence[int], end: int
            ) -> list[bytes]:
    """Return packets at their places, with PADs up to `end` between."""
    out, at = [], 0
    for place, packet in sorted(zip(places, packets, strict=True)):
        if place < at:
            raise AsmError("two packets have the same place")
        out += [bytes(place - at), packet]
        at = place + len(packet)
    if at > end:
        raise AsmError("the record has no room for its packets")
    return [part for part in [*out, bytes(end - at)] if part]


def _free_place(taken: Sequence[tuple[int, int]], size: int) -> int:
    """The first place of a slot where nothing lies."""
    for place in range(SLOT_FREE, SLOT_END - size + 1):
        if all(place + size <= at or at + length <= place
               for at, length in taken):
            return place
    raise AsmError("the slot has no room for its packets")


def _neoverse(packets: Sequence[bytes], end: bytes) -> list[bytes]:
    taken = [(SLOT_PLACES[packet[0]], len(packet)) for packet in packets
             if packet[0] in SLOT_PLACES]
    places = []
    for packet in packets:
        place = SLOT_PLACES.get(packet[0])
        if place is None:
            place = _free_place(taken, len(packet))
            taken.append((place, len(packet)))
        places.append(place)
    return [*_spread(packets, places, SLOT_BYTES - len(end)), end]


def _in_order(packets: Sequence[bytes], order: Sequence[int]) -> list[bytes]:
    return sorted(packets, key=lambda packet: order.index(packet[0])
                  if packet[0] in order else len(order))


def _kunpeng(packets: Sequence[bytes], end: bytes) -> list[bytes]:
    body = _in_order(packets, KUNPENG_ORDER)
    size = sum(map(len, body))
    # A multiple of 4 with the time, as long as others of its kind.
    behind = next((place for place in KUNPENG_ENDS if size <= place),
                  size + (3 - size) % 4) + 9
    pads = bytes(behind - len(end) - size)
    return [*body, *([pads] if pads else []), end]


def _model(packets: Sequence[bytes], end: bytes) -> list[bytes]:
    return [*_in_order(packets, MODEL_ORDER), end]


LAYOUTS: dict[str, Callable[[Sequence[bytes], bytes], list[bytes]]] = {
    "neoverse": _neoverse, "kunpeng": _kunpeng, "model": _model,
}


def record(layout: str, packets: Sequence[bytes], end: bytes) -> list[bytes]:
    """Return the packets of a record as its producer lays it out."""
    return LAYOUTS[layout](packets, end)


# What a packet is called, by the kind of its header.
ADDRESSES = ("pc", "target", "va", "pa", "previous")
COUNTERS = ("total", "issue", "xlat")


def kind_of(packet: bytes) -> str:
    """Return the name of an encoded packet."""
    header, index = packet[0], 0
    if header & 0xfc == 0x20:
        if packet[1] == 0:
            return "alignment"
        header, index = packet[1], (header & 3) << 3
    if header & 0xf8 in (ADDRESS, COUNTER):
        index |= header & 7
        names = ADDRESSES if header & 0xf8 == ADDRESS else COUNTERS
        return names[index] if index < len(names) else (
            "address" if names is ADDRESSES else "counter")
    for value, mask, name in (
            (PAD, 0xff, "pad"), (END, 0xff, "end"),
            (TIMESTAMP, 0xff, "timestamp"), (EVENTS, 0xcf, "events"),
            (SOURCE, 0xcf, "source"), (OPERATION, 0xfc, "operation"),
            (CONTEXT, 0xfc, "context")):
        if header & mask == value:
            return name
    return "unknown"


class SpeStream(ByteStream):
    """Collects packets, of records that a producer lays out or as they are."""

    def __init__(self, labels: Mapping[str, int]) -> None:
        super().__init__(labels)
        # Where buffers begin but the first.
        self.buffers: list[int] = []
        self._layout = ""
        self._record: list[tuple[bytes, str]] = []
        # Bytes are not those of the packets any more.
        self.changed = False

    def add(self, text: str) -> None:
        """Encode one line; in a record packets wait for its end."""
        name, rest = split_name(text)
        word, *words = rest.split() or [""]
        if word in ("buffer", "cut", "poke", "record"):
            if self._layout:
                raise AsmError(f"{word} inside of a record")
            super().add(f"{name}:" if name else "")
            getattr(self, "_do_" + word)(words)
        elif not self._layout:
            super().add(text)
        elif name:
            raise AsmError("packets of a record have no places yet")
        else:
            self._record.append((self.encode(rest), rest))
            if word in ("end", "timestamp"):
                self._close()

    def finish(self) -> bytes:
        """Return all bytes."""
        if self._layout:
            raise AsmError("the last record has no end")
        return super().finish()

    def _close(self) -> None:
        texts = dict(self._record)
        *packets, end = [data for data, _ in self._record]
        for data in record(self._layout, packets, end):
            self.packets.append(Packet(len(self.data), data,
                                       texts.get(data, "pad")))
            self.data += data
        self._layout, self._record = "", []

    def _do_record(self, words: list[str]) -> None:
        (layout,) = words
        if layout not in LAYOUTS:
            raise AsmError(f"no such layout: {layout}")
        self._layout = layout

    def _do_buffer(self, words: list[str]) -> None:
        """What follows is another buffer."""
        self.buffers.append(len(self.data))

    def _do_cut(self, words: list[str]) -> None:
        """Take bytes away at the end."""
        del self.data[len(self.data) - number(words[0]):]
        self.changed = True

    def _do_poke(self, words: list[str]) -> None:
        """Put other bytes at a place that is there already."""
        at = evaluate(words[0], self.marks)
        data = bytes.fromhex("".join(words[1:]))
        if at + len(data) > len(self.data):
            raise AsmError("there is nothing yet")
        self.data[at:at + len(data)] = data
        self.changed = True

    def _p_raw(self, words: list[str]) -> bytes:
        self.changed = True
        return super()._p_raw(words)

    def _p_pad(self, words: list[str]) -> bytes:
        return bytes(number(words[0]) if words else 1)

    def _p_end(self, words: list[str]) -> bytes:
        return bytes([END])

    def _p_timestamp(self, words: list[str]) -> bytes:
        return timestamp(evaluate(words[0], self.labels))

    def _p_align(self, words: list[str]) -> bytes:
        """`align UNIT [fill=N]`: up to a multiple of so many bytes."""
        unit = number(words[0])
        fill = parse_fields(words[1:], "fill", self.labels).get("fill", 0)
        if unit not in (2, 4, 8, 16):
            raise AsmError("alignment is to 2, 4, 8 or 16")
        at = len(self.data) - (self.buffers[-1] if self.buffers else 0)
        size = unit - at % unit
        if size < 2:
            raise AsmError("there is no room for the header")
        head = bytes([0x20 | unit.bit_length() - 2, 0])
        return (head + bytes([fill]) * unit)[:size]

    def _instruction(self, index: int, words: list[str]) -> bytes:
        security = [word for word in words if word in SECURITY]
        field = parse_fields([word for word in words[1:]
                              if word not in security],
                             "el reserved extended", self.labels)
        return instruction(index, evaluate(words[0], self.labels),
                           field.get("el", 0), (security or ["ns"])[0],
                           field.get("reserved", 0),
                           bool(field.get("extended")))

    def _p_pc(self, words: list[str]) -> bytes:
        return self._instruction(PC, words)

    def _p_target(self, words: list[str]) -> bytes:
        return self._instruction(TARGET, words)

    def _p_previous(self, words: list[str]) -> bytes:
        return self._instruction(PREVIOUS, words)

    def _p_va(self, words: list[str]) -> bytes:
        field = parse_fields(words[1:], "tag extended", self.labels)
        return virtual(evaluate(words[0], self.labels), field.get("tag", 0),
                       bool(field.get("extended")))

    def _p_pa(self, words: list[str]) -> bytes:
        security = [word for word in words if word in SECURITY]
        field = parse_fields([word for word in words[1:]
                              if word not in security],
                             "tag checked extended", self.labels)
        return physical(evaluate(words[0], self.labels),
                        (security or ["ns"])[0], field.get("tag", 0),
                        field.get("checked", 0), bool(field.get("extended")))

    def _p_address(self, words: list[str]) -> bytes:
        """`address INDEX PAYLOAD`."""
        return address(*(evaluate(word, self.labels) for word in words))

    def _p_counter(self, words: list[str]) -> bytes:
        """`counter INDEX COUNT`."""
        return counter(*(evaluate(word, self.labels) for word in words))

    def _latency(self, index: int, words: list[str]) -> bytes:
        return counter(index, evaluate(words[0], self.labels),
                       words[1:] == ["extended"])

    def _p_total(self, words: list[str]) -> bytes:
        return self._latency(TOTAL, words)

    def _p_issue(self, words: list[str]) -> bytes:
        return self._latency(ISSUE, words)

    def _p_xlat(self, words: list[str]) -> bytes:
        return self._latency(XLAT, words)

    def _p_context(self, words: list[str]) -> bytes:
        """`context el1|el2|INDEX VALUE`."""
        known = {"el1": 0, "el2": 1}
        return context(evaluate(words[0], known),
                       evaluate(words[1], self.labels))

    def _p_events(self, words: list[str]) -> bytes:
        """`events [NAME|BIT ...] [bytes=N]`."""
        size = [word for word in words if word.startswith("bytes=")]
        bits = [EVENT_BITS[word] if word in EVENT_BITS else number(word)
                for word in words if word not in size]
        return events(sum(1 << bit for bit in set(bits)),
                      number(size[0][6:]) if size else 2)

    def _p_source(self, words: list[str]) -> bytes:
        field = parse_fields(words[1:], "bytes", self.labels)
        return source(evaluate(words[0], self.labels), field.get("bytes", 1))

    def _p_op(self, words: list[str]) -> bytes:
        return operation_of(words)

    def _p_unknown(self, words: list[str]) -> bytes:
        """`unknown HEADER [PAYLOAD]`."""
        header, *payload = (evaluate(word, self.labels) for word in words)
        return unknown(header, payload[0] if payload else 0)
