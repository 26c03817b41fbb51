"""Numbers, labels and small expressions, as all sections write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import AsmError

_TERM = re.compile(r"\s*([+-]?)\s*([A-Za-z_.][\w.]*|0[xX][0-9a-fA-F]+|\d+)")


def number(text: str) -> int:
    """Return a decimal or 0x number."""
    try:
        return int(text, 16 if text.lower().startswith(("0x", "-0x")) else 10)
    except ValueError:
        raise AsmError(f"not a number: {text!r}") from None


def evaluate(text: str, labels: Mapping[str, int] | None) -> int:
    """Return the value of a sum of numbers and labels.

    With ``labels`` None every label counts as 0, which is enough to size
    an instruction.
    """
    total = 0
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or (at > 0 and match.group(1) == ""):
            raise AsmError(f"cannot read the value {text!r}")
        sign, word = match.groups()
        if word[0].isdigit():
            value = number(word)
        elif labels is None:
            value = 0
        elif word in labels:
            value = labels[word]
        else:
            raise AsmError(f"no such label: {word}")
        total += -value if sign == "-" else value
        at = match.end()
    if at == 0:
        raise AsmError("a value is missing")
    return total


def fits(value: int, bits: int) -> bool:
    """Tell whether a value fits a signed field."""
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1)


def little(value: int, size: int) -> bytes:
    """Return the low ``size`` bytes of a value, least significant first."""
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
