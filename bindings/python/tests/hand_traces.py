"""Traces by hand: bytes of Intel PT, and code with names that nobody wants."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Sequence, Tuple

import hwt

PSB = bytes.fromhex("0282" * 8)
PSBEND = bytes.fromhex("0223")
EVIL = b"evil\x1b[2J\"<b>'&;,\n\xe2\x80\xae\xff\\x"

BASE = 0x400000
TEXT = 0x1000


def elf(symbols: Sequence[Tuple[bytes, int, int]], code: bytes) -> bytes:
    """A program of x86-64 that is mapped at BASE as a whole.

    `symbols` are names, places in `code`, and sizes.
    """
    strings = b"\0"
    table = bytes(24)
    for name, at, size in symbols:
        table += struct.pack(
            "<IBBHQQ", len(strings), 0x12, 0, 1, BASE + TEXT + at, size
        )
        strings += name + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    body = bytearray(TEXT)
    parts = [code, table, strings, names]
    places = []
    for part in parts:
        while len(body) % 8:
            body += b"\0"
        places.append(len(body))
        body += part
    while len(body) % 8:
        body += b"\0"
    sections = len(body)
    body += bytes(64)
    for name, kind, flags, no, link, info, entry in (
        (1, 1, 6, 0, 0, 0, 0),
        (7, 2, 0, 1, 3, 1, 24),
        (15, 3, 0, 2, 0, 0, 0),
        (23, 3, 0, 3, 0, 0, 0),
    ):
        body += struct.pack(
            "<IIQQQQIIQQ",
            name,
            kind,
            flags,
            BASE + TEXT if no == 0 else 0,
            places[no],
            len(parts[no]),
            link,
            info,
            8,
            entry,
        )
    body[:64] = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        2,
        62,
        1,
        BASE + TEXT,
        64,
        sections,
        0,
        64,
        56,
        1,
        64,
        5,
        4,
    )
    body[64:120] = struct.pack(
        "<IIQQQQQQ", 1, 5, 0, BASE, BASE, len(body), len(body), 0x1000
    )
    return bytes(body)


# main: call callee; jmp main.  callee: nop; jnz over; nop; over: ret.
CODE = (
    b"\xe8\x0b\x00\x00\x00" + b"\xeb\xf9" + bytes(9) + b"\x90\x75\x01\x90\xc3"
)


def calls_of(taken: Sequence[bool]) -> bytes:
    """Packets of so many calls of callee, whose branch is taken or not."""
    out = PSB + b"\x7d" + (BASE + TEXT).to_bytes(6, "little")
    out += b"\x99\x01" + PSBEND
    for one in taken:
        # TNT: the branch; the return as a TIP to behind the call.
        out += b"\x06" if one else b"\x04"
        out += b"\x2d" + (0x1005).to_bytes(2, "little")
    return out


def calls_trace(
    taken: Sequence[bool],
    names: Tuple[bytes, bytes] = (b"main", b"callee"),
    path: str = "prog",
    tids: Sequence[int] = (8,),
) -> Any:
    """A trace of these calls, on a CPU for each thread."""
    image = elf([(names[0], 0, 7), (names[1], 16, 5)], CODE)
    with hwt.Builder(origin="by hand") as builder:
        for cpu, tid in enumerate(tids):
            builder.add_stream("pt", calls_of(taken), cpu=cpu, pid=7, tid=tid)
        builder.add_image(path, data=image, address=BASE)
        return builder.seal()


def sample(
    pc: int = 0x1000,
    store: bool = False,
    va: int = 0x2000,
    source: int = 0,
    total: int = 10,
    events: int = 0x16,
) -> bytes:
    """A load or store of Arm SPE, as Neoverse cores write it."""
    return (
        b"\xb0"
        + pc.to_bytes(7, "little")
        + b"\x80"
        + bytes(10)
        + bytes([0x49, int(store), 0x52])
        + events.to_bytes(2, "little")
        + b"\x99\x04\x00\x98"
        + total.to_bytes(2, "little")
        + b"\xb2"
        + va.to_bytes(8, "little")
        + b"\x9a\x01\x00"
        + bytes(9)
        + bytes([0x43, source])
        + bytes(2)
        + b"\x71"
        + bytes(8)
    )


def samples_trace(per_cpu: Sequence[Sequence[bytes]], **spe: Any) -> Any:
    """A trace of samples, with a stream for each CPU."""
    from hwt.config import SpeConfig

    with hwt.Builder(origin="by hand") as builder:
        for cpu, samples in enumerate(per_cpu):
            builder.add_stream(
                "spe",
                b"".join(samples),
                cpu=cpu,
                pid=7,
                tid=100 + cpu,
                spe=SpeConfig(**spe),
            )
        return builder.seal()


def saved(trace: Any, path: Path) -> Path:
    """Write it where the tool reads it."""
    trace.save(path)
    return path
