"""Rows of histograms: what functions are called, and what was not seen."""

from __future__ import annotations

from typing import Any

from hwt import _native
from hwt._hwtdecode import ffi, lib
from hwt._measure import Columns
from hwt._words import plural

#: Of a number: it is not 0.
ANY = (1 << 64) - 1

UNTRACED = {
    "syscall": "[syscall]",
    "interrupt": "[interrupt]",
    "exception": "[exception]",
}


def name_of(row: Any, to: bool) -> str:
    """What a function is called, or what stands for it."""
    name = row.to_function if to else row.function
    image = row.to_image if to else row.image
    address = row.to_address if to else row.address
    flags = row.flags >> 2 if to else row.flags
    untraced = (
        lib.HWTD_HISTOGRAM_ROWF_TO_UNTRACED
        if to
        else lib.HWTD_HISTOGRAM_ROWF_UNTRACED
    )
    if name != ffi.NULL:
        return _native.text(name)
    if row.flags & untraced:
        if to:
            return "[untraced]"
        how = _native.text(lib.hwtd_call_type_name(row.type))
        return UNTRACED.get(how, "[untraced]")
    if flags & lib.HWTD_HISTOGRAM_ROWF_FILE_OFF:
        path = _native.text(image) or "[unknown]"
        return f"{path.rstrip('/').rsplit('/', 1)[-1]}+{address:#x}"
    if flags & lib.HWTD_HISTOGRAM_ROWF_ADDRESS:
        return f"{address:#x}"
    return "[unknown]"


def label_of(row: Any, value: str) -> str:
    if value == "between":
        return f"{name_of(row, False)} -> {name_of(row, True)}"
    return name_of(row, False)


def name_columns(c: Columns, to: bool, is_all: bool) -> None:
    """Columns of what functions are called; all in one have no name."""
    pre = "to_" if to else ""
    c.listed(
        f"{pre}function",
        "text",
        [None if is_all else name_of(row, to) for row in c.rows[0 : c.n]],
        meaning="name, or what stands for it",
    )
    c.text(f"{pre}image", f"{pre}image", "image that has it")


def place_columns(c: Columns, to: bool) -> None:
    """Columns of where functions begin."""
    pre = "to_" if to else ""
    shift = 2 if to else 0
    c.number(
        f"{pre}file_off",
        "u64",
        f"{pre}address",
        unit="bytes",
        known=("flags", lib.HWTD_HISTOGRAM_ROWF_FILE_OFF << shift),
        meaning="where it begins in the file of the image",
    )
    c.number(
        f"{pre}address",
        "u64",
        f"{pre}address",
        unit="address",
        known=("flags", lib.HWTD_HISTOGRAM_ROWF_ADDRESS << shift),
        meaning="where it begins, where no file is known",
    )


def counts_of(row: Any) -> str:
    """What is in a distribution, and what is not."""
    text = f"{plural(row.calls, 'call')}, {row.n} in full"
    for n, what in (
        (row.unseen, "without begin or end"),
        (row.gapped, "with gaps"),
        (row.switched, "while other stacks ran"),
        (row.unknown, "of unknown value"),
        (row.inexact, "left out as inexact"),
        (row.interpolated, "interpolated"),
        (row.estimated, "estimated"),
    ):
        if n:
            text += f", {n} {what}"
    return text
