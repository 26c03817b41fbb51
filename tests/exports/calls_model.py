"""What is to be seen of calls, worked out from the rows of hwtdecode calls.

The rows say when each call began and ended, and how deep it was.  Here they
become trees, one forest for each thread, without the exporters' code: what was
found late is around all that was found before it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from runner import Case


@dataclass
class Node:
    """A call: `begin` is None where it is only known to be long ago."""

    name: str
    begin: int | None
    end: int
    children: list[Node] = field(default_factory=list)

    def tree(self, base: int = 0) -> tuple[Any, ...]:
        """Nested tuples, to compare with."""
        return (
            self.name,
            None if self.begin is None else self.begin - base,
            self.end - base,
            tuple(child.tree(base) for child in self.children),
        )


@dataclass
class Model:
    """Forests and sums by thread; threads by number."""

    forests: dict[int, list[Node]] = field(
        default_factory=lambda: defaultdict(list)
    )
    gaps: dict[int, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    # ns of each name alone, with time off; in gaps.
    self_ns: dict[int, dict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    gap_ns: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    who: dict[int, dict[str, Any]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    stacks: dict[int, set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )
    calls: int = 0
    first: int = 1 << 64


# Bytes of the longest name that is written.
NAME_MAX = 4096


def cut(name: str) -> str:
    """A name as files have it: not longer than that, in whole characters."""
    data = name.encode()
    if len(data) <= NAME_MAX:
        return name
    return data[: NAME_MAX - 3].decode(errors="ignore") + "..."


def name_of(row: dict[str, Any]) -> str:
    if "function" in row:
        return cut(str(row["function"]))
    if "function_address" in row:
        return str(row["function_address"])
    if not row.get("untraced"):
        return "[unknown]"
    kinds = ("syscall", "interrupt", "exception")
    by = row["began_by"]
    return f"[{by}]" if by in kinds else "[untraced]"


def read(case: Case, *args: Any) -> Model:
    """The calls that the tool tells with these options."""
    run = case.run("calls", "--format=jsonl", "--enters", *args)
    assert run.code == 0, run.err
    return of_rows(run.objects())


def of_rows(rows: list[dict[str, Any]]) -> Model:
    model = Model()
    open_calls: dict[tuple[int, int], list[Node]] = defaultdict(list)
    roots: dict[tuple[int, int], list[Node]] = defaultdict(list)
    lowest: dict[tuple[int, int], int] = {}
    for row in rows:
        if row["type"] == "call_info":
            continue
        thread = row["thread"]
        key = (thread, row["stack"])
        model.who[thread] = row
        model.stacks[thread].add(row["stack"])
        model.first = min(model.first, row.get("begin_ns", 1 << 64))
        stack = open_calls[key]
        if row["type"] == "call_gap":
            model.gaps[thread].append((row["begin_ns"], row["end_ns"]))
        elif row["type"] == "call_enter":
            node = Node(name_of(row), row.get("begin_ns", 0), 0)
            late = (
                not stack
                and row["depth"] < lowest.get(key, row["depth"])
                and row.get("began_before", False)
            )
            if late:
                node.begin = None
                node.children = roots[key]
                roots[key] = []
                model.late.add(node.name)
            lowest[key] = min(lowest.get(key, row["depth"]), row["depth"])
            (stack[-1].children if stack else roots[key]).append(node)
            stack.append(node)
            model.calls += 1
        else:
            node = stack.pop()
            assert node.name == name_of(row), (node.name, row)
            node.end = row.get("end_ns", 0)
            sums = model.self_ns[thread]
            sums[node.name] += row.get("self_ns", 0) + row.get(
                "self_off_ns", 0
            )
            model.gap_ns[thread] += row.get("self_gap_ns", 0)
    for (thread, _), trees in roots.items():
        model.forests[thread] += trees
    assert not any(open_calls.values()), "calls are open at the end"
    return model


def forest(nodes: list[Node], base: int = 0) -> list[tuple[Any, ...]]:
    """To compare: roots of several stacks come in any order."""
    return sorted((node.tree(base) for node in nodes), key=repr)


def nested(
    events: list[tuple[str, int, str]], late_before: int = 0
) -> list[Node]:
    """Trees of ("B", time, name) and ("E", time, "") in order.

    What begins before `late_before` began long ago.
    """
    roots: list[Node] = []
    stack: list[Node] = []
    at = 0
    for what, time, name in events:
        assert time >= at, (time, at)
        at = time
        if what == "B":
            node = Node(name, None if time < late_before else time, 0)
            (stack[-1].children if stack else roots).append(node)
            stack.append(node)
        else:
            stack.pop().end = time
    assert not stack, [node.name for node in stack]
    return roots
