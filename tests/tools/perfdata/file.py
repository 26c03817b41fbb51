"""A perf.data file: events, records and features become bytes.

Source: Linux, tools/perf/Documentation/perf.data-file-format.txt and
tools/perf/util/{header,session}.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import PerfDataError, user
from .attr import Event
from .features import LAST, NUMBERS, Features
from .order import LITTLE, Order
from .records import MAX_RECORD, Record, header
from .sample import Fields, Where, sample_parts, trailer, where_fields
from .zstd import Stream

MAGIC = 0x32454c4946524550  # PERFILE2
MAGIC_OLD = b"PERFFILE"
HEADER_SIZE = 104
_AUXTRACE = 71


@dataclass(frozen=True)
class Item:
    """A record with its event, place and time."""

    record: Record
    event: Event | None
    where: Where

    @property
    def name(self) -> str:
        """Return the kind of the record."""
        return self.record.name

    def bytes(self, order: Order) -> bytes:
        """Return the record without what follows it."""
        record, event = self.record, self.event
        body = record.body(order)
        if record.sample is not None:
            if event is None:
                raise PerfDataError("a sample needs an event")
            body = order.pack(sample_parts(event, self.where, record.sample,
                                           big=order.name == "big"))
        elif record.where and event is not None:
            body += order.pack(trailer(event, self.where))
        size = 8 + len(body)
        if record.told_size is not None:
            size = record.told_size
        return header(order, record.type, record.misc, size) + body

    def fields(self) -> Fields:
        """Return what a reader finds in the record, place and time first."""
        out: Fields = {}
        if self.event is not None and self.record.where:
            out.update(where_fields(self.event, self.where,
                                    sample=self.record.sample is not None))
        out.update(self.record.fields)
        return out


@dataclass(frozen=True)
class Packed:
    """Records that are written compressed, ``piece`` bytes a record."""

    items: tuple[Item, ...]
    piece: int
    second: bool = False


@dataclass
class Written:
    """The file, and where things lie in it."""

    data: bytes
    # Offset of each record; a negative one for compressed records.
    places: list[tuple[int, Item]] = field(default_factory=list)
    data_at: int = 0
    data_end: int = 0

    def place(self, name: str, number: int = 0) -> int:
        """Return the offset of a record by its kind and count."""
        found = [at for at, item in self.places if item.name == name]
        return found[number]


@dataclass
class PerfData:
    """What a file is made of; ``write`` makes it."""

    order: Order = LITTLE
    pipe: bool = False
    events: list[Event] = field(default_factory=list)
    items: list[Item | Packed] = field(default_factory=list)
    # The features; None: the file was cut off before they were written.
    features: Features | None = None
    # Whether AUXTRACE records are listed in a feature.
    index: bool = True
    # Sizes that the header tells in place of the true ones.
    told_data_size: int | None = None
    told_header_size: int | None = None
    told_attr_size: int | None = None
    told_flags: int = 0
    # Empty sections of attributes and data in front of the first record.
    gap: int = 0

    def __post_init__(self) -> None:
        if self.features is None:
            self.features = Features(self.order)

    def event(self, event: Event) -> Event:
        """Add an event."""
        self.events.append(event)
        return event

    def add(self, record: Record, event: Event | None = None,
            where: Where | None = None) -> Item:
        """Add a record, by default of the first event and without a time."""
        if event is None and record.where and self.events:
            event = self.events[0]
        item = Item(record, event, where or Where())
        self.items.append(item)
        return item

    def pack(self, items: list[Item], piece: int, *, second: bool = False
             ) -> None:
        """Take records out of the file and add them compressed."""
        chosen = {id(item) for item in items}
        self.items = [item for item in self.items if id(item) not in chosen]
        self.items.append(Packed(tuple(items), piece, second))

    def _records(self, at: int) -> tuple[bytes, list[tuple[int, Item]]]:
        """Return the bytes of records that begin at an offset."""
        out = bytearray()
        places: list[tuple[int, Item]] = []
        stream = Stream()
        for item in self.items:
            if isinstance(item, Packed):
                data = b"".join(one.bytes(self.order) for one in item.items)
                places += [(-1, one) for one in item.items]
                for start in range(0, len(data), item.piece):
                    part = stream.add(data[start:start + item.piece])
                    if len(part) > MAX_RECORD - 32:
                        raise PerfDataError("a piece is too long")
                    record = Item(user.compressed(part, second=item.second),
                                  None, Where())
                    out += record.bytes(self.order)
                continue
            places.append((at + len(out), item))
            out += item.bytes(self.order) + item.record.tail
        return bytes(out), places

    def write(self) -> Written:
        """Return the file."""
        return self._write_pipe() if self.pipe else self._write_file()

    def _write_pipe(self) -> Written:
        head = self.order.u64(MAGIC)
        head += self.order.u64(16 if self.told_header_size is None
                               else self.told_header_size)
        front = [user.attr(event) for event in self.events]
        if self.features is not None and self.features.data:
            front += [user.feature(number, data) for number, data
                      in sorted(self.features.data.items())]
            front.append(user.feature(LAST, b""))
        kept = self.items
        self.items = [Item(record, None, Where()) for record in front]
        self.items += kept
        data, places = self._records(len(head))
        self.items = kept
        return Written(head + data, places, len(head), len(head) + len(data))

    def _attrs(self, at: int) -> tuple[bytes, bytes, int]:
        """Return ids, and attributes that say where these lie."""
        size = max((event.attr.size for event in self.events), default=0)
        ids = bytearray()
        attrs = bytearray()
        for event in self.events:
            here = b"".join(self.order.u64(ident) for ident in event.ids)
            attrs += event.attr.encode(self.order).ljust(size, b"\0")
            attrs += self.order.u64(at + len(ids)) + self.order.u64(len(here))
            ids += here
        return bytes(ids), bytes(attrs), size + 16

    def _write_file(self) -> Written:
        ids, attrs, attr_size = self._attrs(HEADER_SIZE)
        attrs_at = HEADER_SIZE + len(ids)
        data_at = attrs_at + len(attrs) + self.gap
        data, places = self._records(data_at)
        data_end = data_at + len(data)
        table, sections = b"", b""
        flags = 0
        if self.features is not None:
            kept = dict(self.features.data)
            self._index(places)
            numbers = sorted(self.features.data)
            start = data_end + 16 * len(numbers)
            for number in numbers:
                section = self.features.data[number]
                table += self.order.u64(start + len(sections))
                table += self.order.u64(len(section))
                sections += section
                flags |= 1 << number
            self.features.data = kept
        head = self._header(attrs_at, len(attrs), attr_size, data_at,
                            len(data), flags | self.told_flags)
        return Written(head + ids + attrs + bytes(self.gap) + data + table
                       + sections, places, data_at, data_end)

    def _index(self, places: list[tuple[int, Item]]) -> None:
        """Add where AUXTRACE records lie."""
        found = [(at, 48) for at, item in places
                 if item.record.type == _AUXTRACE]
        if (self.index and found and self.features is not None
                and NUMBERS["AUXTRACE"] not in self.features.data):
            self.features.auxtrace(found)

    def _header(self, attrs_at: int, attrs_size: int, attr_size: int,
                data_at: int, data_size: int, flags: int) -> bytes:
        def told(value: int | None, true: int) -> int:
            return true if value is None else value

        words = [MAGIC, told(self.told_header_size, HEADER_SIZE),
                 told(self.told_attr_size, attr_size), attrs_at, attrs_size,
                 data_at, told(self.told_data_size, data_size), 0, 0]
        words += [flags >> 64 * i & (1 << 64) - 1 for i in range(4)]
        return b"".join(self.order.u64(word) for word in words)


def lying(record: Record, size: int) -> Record:
    """Return a record whose header tells another size."""
    return replace(record, told_size=size)


def cut(data: bytes, size: int) -> bytes:
    """Return the first bytes of a file."""
    return data[:size]


def poke(data: bytes, at: int, new: bytes) -> bytes:
    """Return a file with other bytes in the place of those there."""
    if at + len(new) > len(data):
        raise PerfDataError("a poke behind the end")
    return data[:at] + new + data[at + len(new):]
