"""Small ELF files: code, symbols, a build id."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .order import padded

X86_64, AARCH64 = 62, 183
_REL, _EXEC, _CORE = 1, 2, 4
_PAGE = 0x1000


@dataclass(frozen=True)
class Symbol:
    """A function."""

    name: str
    address: int
    size: int


def _section(name: int, kind: int, flags: int, addr: int, offset: int,
             size: int, link: int = 0, info: int = 0, entry: int = 0
             ) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, offset, size,
                       link, info, 8, entry)


def note(build_id: bytes) -> bytes:
    """Return the note that a build id is."""
    return struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id


def elf(machine: int, address: int, code: bytes, symbols: list[Symbol], *,
        build_id: bytes = b"", module: bool = False) -> bytes:
    """Return a file with one piece of code, at a page of the file.

    The code lies at offset 0x1000, and its first byte at ``address``, which is
    the beginning of a page. A module of the kernel has no addresses yet, and
    no segments.
    """
    base = 0 if module else address
    code_at = _PAGE
    names = b"\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab\0"
    strings = b"\0"
    table = bytes(24)
    for symbol in symbols:
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1,
                             symbol.address - address + base, symbol.size)
        strings += symbol.name.encode() + b"\0"
    ident = note(build_id) if build_id else b""
    out = bytearray(padded(bytes(64 + 2 * 56) + ident, _PAGE))
    ident_at = 64 + 2 * 56
    out += padded(code, 8)
    places = []
    for data in (table, strings, names):
        places.append(len(out))
        out += padded(data, 8)
    sections_at = len(out)

    def where(name: bytes) -> int:
        return names.index(b"\0" + name + b"\0") + 1

    out += bytes(64)
    out += _section(where(b".text"), 1, 6, base, code_at, len(code))
    out += _section(where(b".note.gnu.build-id"), 7, 2, 0, ident_at,
                    len(ident))
    out += _section(where(b".symtab"), 2, 0, 0, places[0], len(table), 4, 1,
                    24)
    out += _section(where(b".strtab"), 3, 0, 0, places[1], len(strings))
    out += _section(where(b".shstrtab"), 3, 0, 0, places[2], len(names))
    out[:64] = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", _REL if module else _EXEC,
        machine, 1, base, 0 if module else 64, sections_at, 0, 64, 56,
        0 if module else 2, 64, 6, 5)
    if module:
        return bytes(out)
    out[64:64 + 112] = struct.pack(
        "<IIQQQQQQ", 1, 5, code_at, address, address, len(code), len(code),
        _PAGE) + struct.pack("<IIQQQQQQ", 4, 4, ident_at, 0, 0, len(ident),
                             len(ident), 4)
    return bytes(out)


def core(machine: int, pieces: list[tuple[int, bytes]]) -> bytes:
    """Return memory at its addresses, as /proc/kcore has it."""
    count = len(pieces)
    head = bytearray(struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", _CORE, machine, 1, 0, 64,
        0, 0, 64, 56, count, 0, 0, 0))
    body = b""
    at = _PAGE
    for address, data in pieces:
        data = padded(data, _PAGE)
        head += struct.pack("<IIQQQQQQ", 1, 7, at + len(body), address, 0,
                            len(data), len(data), _PAGE)
        body += data
    return padded(bytes(head), _PAGE) + body
