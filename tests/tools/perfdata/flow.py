"""The expected flow of a case: who executed what, where and when.

It is written by hand; nothing here decodes a trace. What is checked is that
runs are of instructions of a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hwtasm import AsmError
from hwtasm.program import Program
from hwtasm.values import evaluate, number

from . import PerfDataError


def _keys(words: list[str], known: str) -> dict[str, str]:
    out = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known.split() or key in out:
            raise PerfDataError(f"no such key, or twice: {word}")
        out[key] = value
    return out


@dataclass
class Branch:
    """A branch that perf has to tell, too."""

    cpu: int | None
    pid: int
    tid: int
    source: int
    target: int
    # It is not before this.
    time: int


@dataclass
class Flow:
    """Lines of flow.txt."""

    programs: list[Program] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    runs: int = 0
    _cpu: int | None = None
    _thread: tuple[int, int] = (0, 0)
    _last: int | None = None
    _time: int = 0
    per_cpu: bool = True

    def labels(self) -> Mapping[str, int]:
        """Return the labels of all programs."""
        return {name: at for program in self.programs
                for name, at in program.labels.items()}

    def read(self, text: str) -> None:
        """Read lines; `#` starts a comment."""
        for raw in text.splitlines():
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            try:
                self._line(line)
            except (AsmError, PerfDataError, ValueError, IndexError) as error:
                raise PerfDataError(f"{line!r}: {error}") from None

    def _line(self, line: str) -> None:
        name, *words = line.split()
        method = getattr(self, "_do_" + name, None)
        if method is None:
            raise PerfDataError("lines are q, t, s, b, d or x")
        method(words)

    def _do_q(self, words: list[str]) -> None:
        keys = _keys(words[1:], "cpu tid")
        cpu = keys.get("cpu", "-")
        self._cpu = None if cpu == "-" else number(cpu)
        self.per_cpu = self._cpu is not None
        self._last, self._time = None, 0
        self.lines.append(f"q {number(words[0])} cpu={cpu} "
                          f"tid={keys.get('tid', '-')}")

    def _do_t(self, words: list[str]) -> None:
        self._thread = (number(words[0]), number(words[1]))
        keys = _keys(words[2:], "comm on")
        if "on" not in keys:
            self._last = None
        self.lines.append(" ".join(
            ["t", *words[:2], *(f"{key}={value}"
                                for key, value in keys.items())]))

    def _do_s(self, words: list[str]) -> None:
        self._last = None
        self.lines.append(" ".join(["s", *words]))

    def _do_d(self, words: list[str]) -> None:
        if words:
            raise PerfDataError("d stands alone")
        self._last = None
        self.lines.append("d")

    def _do_x(self, words: list[str]) -> None:
        self._last = None
        keys = _keys(words[1:], "time addr")
        if "addr" in keys:
            keys["addr"] = f"{evaluate(keys['addr'], self.labels()):x}"
        self.lines.append(" ".join(
            ["x", words[0], *(f"{key}={value}"
                              for key, value in keys.items())]))

    def _do_b(self, words: list[str]) -> None:
        first, count, mode, last = words[:4]
        keys = _keys(words[4:], "time")
        start = evaluate(first, self.labels())
        end = evaluate(last, self.labels())
        self._check(start, number(count), mode, end)
        if self._last is not None:
            self.branches.append(Branch(self._cpu, *self._thread, self._last,
                                        start, self._time))
        self._last = end
        self._time = number(keys.get("time", str(self._time)))
        self.runs += 1
        time = f" time={number(keys['time'])}" if keys else ""
        self.lines.append(f"b {start:x} {count} {mode} {end:x}{time}")

    def _check(self, start: int, count: int, mode: str, end: int) -> None:
        """Raise unless a program has such a run."""
        said = ""
        for program in self.programs:
            at, left = start, count
            while at in program.insns and left > 1:
                at = program.insns[at].end
                left -= 1
            if at in program.insns and left == 1 and at == end:
                if str(program.modes[start]) == mode:
                    return
                said = f"the mode is {program.modes[start]}"
        raise PerfDataError(said or f"no program has {count} instructions "
                            f"from {start:#x} to {end:#x}")
