"""Hand-written expectations: reading, sanity checks, output form.

Nothing here decodes a trace.  The checks only ask whether an expectation can
be about this program at all: runs start and end at instructions, counts
match, and a run ends where execution can go elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import AsmError, program as isa
from .values import evaluate, number

GAP_REASONS = (
    "unsynced", "overflow", "bad-packet", "bad-flow", "no-code", "bad-code",
    "endless-loop", "ambiguous-mapping", "truncated", "file-damaged",
    "unsupported", "engine", "limit",
)

# Fields of each kind of row; the value says how it is written.
HEX, DEC, WORD = "hex", "dec", "word"
ROW_KINDS = {
    "async": {"ip": HEX, "target": HEX, "vector": HEX, "fault": HEX,
              "return": HEX, "reason": WORD},
    "enable": {"ip": HEX},
    "disable": {"ip": HEX, "target": HEX, "reason": WORD},
    "gap": {"reason": WORD, "addr": HEX},
    "context": {"cr3": HEX, "nr": DEC, "vmcs": HEX, "level": DEC,
                "security": WORD, "contextidr": HEX, "vmid": HEX},
    "mode": {"mode": WORD, "tsx": WORD, "if": DEC},
    "frequency": {"ratio": DEC},
    "marker": {"source": WORD, "payload": HEX, "size": DEC, "ip": HEX,
               "multiple": DEC, "master": DEC, "channel": DEC,
               "trigger": DEC, "marked": DEC, "unassigned": DEC,
               "global_error": DEC, "master_error": DEC, "frequency": DEC,
               "hardware": DEC},
    "power": {"what": WORD, "ip": HEX, "hints": HEX, "ext": HEX,
              "state": DEC, "sub": DEC, "hw": DEC, "wake": DEC},
    "time": {"tsc": HEX, "marker": DEC},
    "cycles": {"count": DEC},
    "no-path": {"ip": HEX, "target": HEX, "insns": DEC},
}
WORDS = {
    ("async", "reason"): ("abort", "interrupt", "exception", "vm-exit",
                          "startup", "system-call", "iret"),
    ("context", "security"): ("s", "ns", "root", "realm"),
    ("mode", "mode"): ("16", "32", "64", "a64", "a32", "t32"),
    ("disable", "reason"): ("async", "stop"),
    ("gap", "reason"): GAP_REASONS,
    ("mode", "tsx"): ("begin", "commit", "abort"),
    ("marker", "source"): ("ptwrite", "mnt", "event", "trigger", "stm",
                           "itm", "instrumentation"),
    ("power", "what"): ("stop", "mwait", "entry", "exit"),
}

# Rows that explain why a run ends where no branch is.
_BREAKS = ("async", "enable", "disable", "gap", "no-path")


@dataclass
class Run:
    """Instructions at consecutive addresses."""

    line: int
    first: int
    count: int
    mode: int | str
    last: int

    def text(self) -> str:
        """Return the line of flow.txt."""
        return f"b {self.first:x} {self.count} {self.mode} {self.last:x}"


@dataclass
class Mark:
    """A sync or an error in the flow."""

    line: int
    kind: str
    offset: int
    reason: str = ""

    def text(self) -> str:
        """Return the line of flow.txt."""
        if self.kind == "s":
            return f"s {self.offset:x}"
        return f"x {self.reason} @{self.offset:x}"


@dataclass
class Gap:
    """Bytes that give nothing."""

    line: int
    reason: str
    first: int
    end: int

    def text(self) -> str:
        """Return the line of gaps.txt."""
        return f"{self.reason} {self.first:x} {self.end:x}"


@dataclass
class Row:
    """An event other than a block."""

    line: int
    before: int
    kind: str
    fields: dict[str, int | str] = field(default_factory=dict)

    def text(self) -> str:
        """Return the line of rows.txt."""
        parts = [str(self.before), self.kind]
        for key, value in self.fields.items():
            form = "x" if ROW_KINDS[self.kind][key] == HEX else ""
            parts.append(f"{key}={value:{form}}")
        return " ".join(parts)


def _reason(text: str) -> str:
    if text not in GAP_REASONS:
        raise AsmError(f"no such gap reason: {text}")
    return text


def read_gap(line: int, words: list[str], marks: Mapping[str, int]) -> Gap:
    """Read `reason first end`."""
    reason, first, end = words
    gap = Gap(line, _reason(reason), evaluate(first, marks),
              evaluate(end, marks))
    if gap.first > gap.end:
        raise AsmError("a gap ends before it starts")
    return gap


class Expectation:
    """Flow, gaps and rows of one case."""

    SECTIONS = ("flow", "gaps", "rows")

    def __init__(self, labels: Mapping[str, int],
                 marks: Mapping[str, int]) -> None:
        self.labels = labels
        self.marks = marks
        self.flow: list[Run | Mark] = []
        self.gaps: list[Gap] = []
        self.rows: list[Row] = []

    def add(self, section: str, line: int, text: str) -> None:
        """Read one line of a section."""
        try:
            getattr(self, "_add_" + section)(line, text.split())
        except AsmError as error:
            raise AsmError(str(error), line) from None
        except (ValueError, IndexError):
            raise AsmError(f"cannot read {text!r}", line) from None

    def _add_flow(self, line: int, words: list[str]) -> None:
        if words[0] == "b":
            _, first, count, mode, last = words
            self.flow.append(Run(line, evaluate(first, self.labels),
                                 number(count),
                                 int(mode) if mode.isdigit() else mode,
                                 evaluate(last, self.labels)))
        elif words[0] == "s":
            _, where = words
            self.flow.append(Mark(line, "s", evaluate(where, self.marks)))
        elif words[0] == "x":
            _, reason, where = words
            self.flow.append(Mark(line, "x", evaluate(where, self.marks),
                                  _reason(reason)))
        else:
            raise AsmError(f"flow is b, s or x, not {words[0]}")

    def _add_gaps(self, line: int, words: list[str]) -> None:
        self.gaps.append(read_gap(line, words, self.marks))

    def _add_rows(self, line: int, words: list[str]) -> None:
        row = Row(line, number(words[0]), words[1])
        known = ROW_KINDS.get(row.kind)
        if known is None:
            raise AsmError(f"no such kind of row: {row.kind}")
        for word in words[2:]:
            key, equals, value = word.partition("=")
            if not equals or key not in known:
                raise AsmError(f"{row.kind} has no field {key}")
            if known[key] == WORD:
                if value not in WORDS[row.kind, key]:
                    raise AsmError(f"{key} cannot be {value}")
                row.fields[key] = value
            else:
                row.fields[key] = evaluate(value, self.labels)
        self.rows.append(row)

    @property
    def insns(self) -> int:
        """Return the number of instructions in all runs."""
        return sum(item.count for item in self.flow if isinstance(item, Run))

    def files(self) -> dict[str, list[str]]:
        """Return the lines of each file."""
        return {"flow.txt": [item.text() for item in self.flow],
                "gaps.txt": [gap.text() for gap in self.gaps],
                "rows.txt": [row.text() for row in self.rows]}

    def counts(self) -> dict[str, int]:
        """Return how much of each there is."""
        return {"insns": self.insns,
                "errors": sum(isinstance(item, Mark) and item.kind == "x"
                              for item in self.flow),
                "gaps": len(self.gaps), "rows": len(self.rows)}

    def check(self, program: isa.Program, shipped: list[tuple[int, int]],
              size: int) -> None:
        """Raise AsmError if an expectation cannot be about this case."""
        self._check_flow(program, shipped)
        self._check_rows()
        for gap in self.gaps:
            if gap.end > size:
                raise AsmError("a gap goes beyond the trace", gap.line)
        stated = sorted(gap.reason for gap in self.gaps)
        rows = sorted(str(row.fields.get("reason", "")) for row in self.rows
                      if row.kind == "gap")
        if stated != rows:
            raise AsmError(f"gaps {stated} but gap rows {rows}")

    def _check_flow(self, program: isa.Program,
                    shipped: list[tuple[int, int]]) -> None:
        before = 0
        last: isa.Insn | None = None
        for item in self.flow:
            if isinstance(item, Mark):
                last = None
                continue
            if last is not None:
                self._check_join(last, item, before)
            last = self._check_run(program, shipped, item, before)
            before += item.count

    def _breaks(self, before: int) -> bool:
        return any(row.before == before and
                   (row.kind in _BREAKS or row.fields.get("tsx") == "abort")
                   for row in self.rows)

    def _check_run(self, program: isa.Program, shipped: list[tuple[int, int]],
                   run: Run, before: int) -> isa.Insn:
        if run.count < 1:
            raise AsmError("a run has instructions", run.line)
        at = run.first
        for step in range(run.count):
            if at not in program.insns:
                raise AsmError(f"no instruction starts at {at:#x}", run.line)
            insn = program.insns[at]
            if program.modes[at] != run.mode:
                raise AsmError(f"{at:#x} is code of {program.modes[at]}",
                               run.line)
            if not any(a <= at and insn.end <= b for a, b in shipped):
                raise AsmError(f"{at:#x} is in no image", run.line)
            if insn.kind == isa.STOP:
                raise AsmError(f"{at:#x} cannot execute", run.line)
            inside = step + 1 < run.count
            if (inside and insn.kind in (isa.JUMP, isa.CALL)
                    and insn.target != insn.end
                    and not self._breaks(before + step + 1)):
                raise AsmError(f"{at:#x} jumps away inside a run", run.line)
            at = insn.end
        if insn.address != run.last:
            raise AsmError(f"{run.count} instructions from {run.first:#x} do "
                           f"not end with {run.last:#x}", run.line)
        return insn

    def _check_join(self, last: isa.Insn, run: Run, before: int) -> None:
        if self._breaks(before):
            return
        if run.first == last.end:
            raise AsmError("this run goes on from the one before", run.line)
        if last.kind == isa.PLAIN:
            raise AsmError(f"nothing leads from {last.address:#x} to "
                           f"{run.first:#x}", run.line)
        if (last.kind in (isa.JUMP, isa.CALL, isa.COND)
                and run.first != last.target):
            raise AsmError(f"{last.address:#x} goes to {last.target:#x}",
                           run.line)

    def _check_rows(self) -> None:
        at, total = 0, self.insns
        for row in self.rows:
            if not at <= row.before <= total:
                raise AsmError("rows count instructions upwards, and not "
                               f"beyond {total}", row.line)
            at = row.before
