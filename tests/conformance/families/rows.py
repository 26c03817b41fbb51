"""Rows that are not code: reading what `hwtdecode-flow --events` writes.

State (mode, page tables, frequency ...) is told apart from what happens: state
is cut into single facts, and a fact that only repeats what holds is dropped,
so that it does not matter how often a decoder restates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .case import Malformed

# Keys of these kinds are facts.
STATE = ("mode", "context", "frequency")


@dataclass
class Row:
    """One line: what happened, after how many instructions."""

    before: int
    kind: str
    fields: dict[str, str] = field(default_factory=dict)
    words: frozenset[str] = frozenset()

    @property
    def status(self) -> bool:
        """Say whether the row only restates what holds."""
        return "status" in self.words

    def __str__(self) -> str:
        parts = [str(self.before), self.kind]
        parts += [f"{key}={value}" for key, value in self.fields.items()]
        return " ".join(parts + sorted(self.words))


@dataclass(frozen=True)
class Fact:
    """A piece of state that became true."""

    before: int
    name: str
    value: str
    status: bool = False

    def __str__(self) -> str:
        return f"{self.before} {self.name}={self.value}"


def parse(lines: Iterable[str]) -> list[Row]:
    """Read rows; the first word is a count, the second a kind."""
    rows = []
    for line in lines:
        words = line.split()
        try:
            row = Row(int(words[0]), words[1])
        except (ValueError, IndexError):
            raise Malformed(f"rows: cannot read {line!r}") from None
        flags = set()
        for word in words[2:]:
            key, equals, value = word.partition("=")
            if equals:
                row.fields[key] = value
            else:
                flags.add(key)
        row.words = frozenset(flags)
        rows.append(row)
    return rows


def _facts_of(row: Row) -> Iterable[tuple[str, str]]:
    if row.kind == "context":
        if "cr3" in row.fields:
            yield "cr3", f"{row.fields['cr3']}/{row.fields.get('nr', '-')}"
        if "vmcs" in row.fields:
            yield "vmcs", row.fields["vmcs"]
        for key in ("level", "security", "contextidr", "vmid"):
            if key in row.fields:
                yield key, row.fields[key]
    elif row.kind == "mode":
        for key in ("mode", "if", "tsx"):
            if key in row.fields:
                yield key, row.fields[key]
    elif row.kind == "frequency":
        yield "ratio", row.fields["ratio"]


def split(rows: Sequence[Row]) -> tuple[list[Row], dict[str, list[Fact]]]:
    """Return the rows that happen, and the facts that are news, by name."""
    happen = []
    facts: dict[str, list[Fact]] = {}
    # No transaction is what holds at the start.
    now = {"tsx": "commit"}
    for row in rows:
        if row.kind not in STATE:
            happen.append(row)
            continue
        for name, value in _facts_of(row):
            if now.get(name) != value:
                now[name] = value
                facts.setdefault(name, []).append(
                    Fact(row.before, name, value, row.status))
    return happen, facts
