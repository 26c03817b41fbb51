#!/usr/bin/env python3
"""Run conformance cases: decode them and compare with what is expected.

Prints one line for each case, `PASS|FAIL|SKIP family/case why`, and the
closing line `N passed, N failed, N skipped`.  Exit code 0: nothing failed, 1:
something failed, 2: nothing could be run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from families import MODULES, engines  # noqa: E402
from families.case import Case, Fail, Malformed, Skip  # noqa: E402
from families.tools import Tools  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLOW_NAME = "hwtdecode-flow"
CLI_NAME = "hwtdecode"
BUILDS = ("build", "build/release", "build/dev", "build/ci", "build/asan")


class Trouble(Exception):
    """Nothing can be run; the text says why."""


@dataclass(frozen=True)
class Difference:
    """A case in which we differ from the reference, with the evidence."""

    name: str
    family: str
    cases: tuple[str, ...]
    failure: str
    engines: tuple[str, ...]
    # The engine with whose rows ours are compared; empty: with the case.
    against: str = ""

    def covers(self, case: str, engine: str, against: str = "") -> bool:
        """Say whether the entry speaks of this case and engine."""
        family, _, short = case.partition("/")
        return (family == self.family and short in self.cases and
                against == self.against and
                (not self.engines or engine in self.engines))


@dataclass(frozen=True)
class Verdict:
    """What came out of one case."""

    result: str
    case: str
    why: str

    def __str__(self) -> str:
        return f"{self.result} {self.case} {self.why}"


DIFFERENCE_KEYS = ("name", "family", "reference", "ours", "evidence",
                   "failure")


def _cases_of(entry: dict[str, object]) -> tuple[str, ...]:
    """Return the cases of an entry: a name, or a list of names."""
    value = entry.get("case")
    names = value if isinstance(value, list) else [value]
    if names and all(isinstance(name, str) and name.strip()
                     for name in names):
        return tuple(map(str, names))
    return ()


def read_differences(path: Path) -> list[Difference]:
    """Read the written list of differences from the references."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Trouble(f"{path}: {error}") from None
    entries = []
    for entry in data.get("difference", []):
        for key in DIFFERENCE_KEYS:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise Trouble(f"{path}: an entry lacks {key}")
        cases = _cases_of(entry)
        if not cases:
            raise Trouble(f"{path}: an entry lacks case")
        entries.append(Difference(
            entry["name"], entry["family"], cases, entry["failure"],
            tuple(entry.get("engines", ())), str(entry.get("against", ""))))
    return entries


def find_cases(corpus: Path) -> list[tuple[str, Path]]:
    """Return the cases of a corpus: name and folder, in order."""
    index = corpus / "index.json"
    if index.is_file():
        try:
            entries = json.loads(index.read_text(encoding="utf-8"))
            if isinstance(entries, dict):
                entries = entries["cases"]
            return [(str(entry["id"]),
                     corpus / str(entry.get("path", entry["id"])))
                    for entry in entries]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Trouble(f"{index}: {error!r}") from None
    if not corpus.is_dir():
        raise Trouble(f"{corpus} is no directory")
    folders = sorted(path.parent for path in corpus.rglob("case.json"))
    return [(folder.relative_to(corpus).as_posix(), folder)
            for folder in folders]


def guard(name: str, folder: Path, check: Callable[[Case], Verdict]
          ) -> Verdict:
    """Make a verdict of whatever a check of one case raises."""
    family = name.partition("/")[0]
    if family not in MODULES:
        return Verdict("SKIP", name, f"not supported yet: {family}")
    with tempfile.TemporaryDirectory(prefix="conformance-") as temporary:
        try:
            case = Case(folder, name, Path(temporary))
            case.verify()
            return check(case)
        except Skip as skip:
            return Verdict("SKIP", name, str(skip))
        except Fail as fail:
            return Verdict("FAIL", name, str(fail))
        except Malformed as malformed:
            return Verdict("FAIL", name, f"malformed case: {malformed}")
        except (ArithmeticError, AttributeError, LookupError, OSError,
                TypeError, ValueError) as error:
            return Verdict("FAIL", name, f"malformed case: {error!r}")


def judge(name: str, folder: Path, tools: Tools) -> Verdict:
    """Run one case without regard to the list of differences."""
    return guard(name, folder, lambda case: Verdict(
        "PASS", name, MODULES[case.family].run(case, tools)))


def compare(name: str, folder: Path, tools: Tools, pair: Sequence[str],
            differences: Sequence[Difference]) -> Verdict:
    """Compare the rows of two engines for one case."""
    entries = [known for known in differences if known.covers(name, *pair)]

    def check(case: Case) -> Verdict:
        said, found = engines.run(case, tools, pair)
        open_ones = [line for line in found
                     if not any(known.failure in line for known in entries)]
        if open_ones:
            return Verdict("FAIL", name, f"{open_ones[0]} ({len(found)} "
                           f"differ, {len(open_ones)} not listed)")
        for known in entries:
            if not any(known.failure in line for line in found):
                return Verdict("FAIL", name, f"stale entry: {known.name} no "
                               "longer differs")
        if not entries:
            return Verdict("PASS", name, said)
        names = ", ".join(known.name for known in entries)
        return Verdict("PASS", name, f"differs as listed: {names}; {said}")

    return guard(name, folder, check)


def weigh(verdict: Verdict, entry: Difference | None) -> Verdict:
    """Apply the list of differences to a verdict."""
    if entry is None or verdict.result == "SKIP":
        return verdict
    if verdict.result == "PASS":
        return Verdict("FAIL", verdict.case,
                       f"stale entry: {entry.name} no longer differs")
    if entry.failure not in verdict.why or \
            verdict.why.startswith("malformed case:"):
        return verdict
    return Verdict("PASS", verdict.case, f"differs as listed: {entry.name}")


def run_all(cases: Sequence[tuple[str, Path]], tools: Tools, jobs: int,
            differences: Sequence[Difference],
            pair: Sequence[str] | None = None) -> Iterator[Verdict]:
    """Run cases, several at a time; verdicts keep the order of cases."""
    def one(item: tuple[str, Path]) -> Verdict:
        if pair is not None:
            return compare(*item, tools, pair, differences)
        entry = next((known for known in differences
                      if known.covers(item[0], tools.engine_in_use)), None)
        return weigh(judge(*item, tools), entry)

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        yield from pool.map(one, cases)


def find_flow(tool: Path | None, flow: Path | None) -> Path:
    """Return the flow tool: as given, or beside the hwtdecode tool."""
    if flow is not None:
        candidates = [flow]
    elif tool is not None:
        candidates = [tool.parent / FLOW_NAME]
    else:
        candidates = [ROOT / build / "bin" / FLOW_NAME for build in BUILDS]
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate.resolve()
    raise Trouble("cannot run " + " or ".join(map(str, candidates)) +
                  "; build it, or name it with --flow-tool")


def find_cli(tool: Path | None, flow: Path) -> Path | None:
    """Return the hwtdecode tool: as given, or beside the flow tool."""
    candidate = tool or flow.parent / CLI_NAME
    if candidate.is_file() and os.access(candidate, os.X_OK):
        return candidate.resolve()
    return None


def _pair(text: str) -> tuple[str, str]:
    """Read the names of two engines."""
    first, comma, second = text.partition(",")
    if not comma or not first or not second or first == second:
        raise argparse.ArgumentTypeError(f"no two engines: {text!r}")
    return first, second


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, metavar="CORPUS",
                        help="folder with cases, and index.json or not")
    parser.add_argument("--hwtdecode", type=Path, metavar="TOOL",
                        help="the hwtdecode tool of the build to check")
    parser.add_argument("--flow-tool", type=Path, metavar="PATH",
                        help=f"default: {FLOW_NAME} beside the hwtdecode tool")
    parser.add_argument("--family", action="append", default=[], metavar="F",
                        help="only this family; may be repeated")
    parser.add_argument("--except-family", action="append", default=[],
                        metavar="F", help="not this family; may be repeated")
    parser.add_argument("--case", action="append", default=[], metavar="C",
                        help="only this case, with or without its family")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        metavar="N", help="cases at a time")
    parser.add_argument("--decode-jobs", type=int, default=1, metavar="N",
                        help="threads of each decode")
    parser.add_argument("--max-insns", type=int, metavar="N",
                        help="skip cases with more instructions")
    parser.add_argument("--engine", metavar="NAME",
                        help="decode with this engine")
    parser.add_argument("--compare-engines", type=_pair, metavar="A,B",
                        help="compare the rows of two engines; without "
                        f"--max-insns up to {engines.MAX_INSNS} instructions")
    parser.add_argument("--differences", type=Path, metavar="FILE",
                        default=HERE / "differences.toml",
                        help="list of known differences from the references")
    return parser.parse_args(argv)


def selected(name: str, args: argparse.Namespace) -> bool:
    """Say whether the command line asks for this case."""
    family, _, short = name.partition("/")
    return (family not in args.except_family and
            (not args.family or family in args.family) and
            (not args.case or short in args.case or name in args.case))


def run(argv: Sequence[str] | None) -> Counter[str]:
    """Run what the command line asks for, and print it."""
    args = parse(argv)
    cases = [item for item in find_cases(args.corpus)
             if selected(item[0], args)]
    if not cases and args.case:
        raise Trouble(f"{args.corpus} has no such case")
    flow = find_flow(args.hwtdecode, args.flow_tool)
    if args.compare_engines and args.engine:
        raise Trouble("--engine and --compare-engines exclude each other")
    if args.compare_engines and args.max_insns is None:
        args.max_insns = engines.MAX_INSNS
    tools = Tools(flow, args.engine, args.max_insns, args.decode_jobs,
                  find_cli(args.hwtdecode, flow))
    differences = read_differences(args.differences)
    counts: Counter[str] = Counter()
    for verdict in run_all(cases, tools, args.jobs, differences,
                           args.compare_engines):
        counts[verdict.result] += 1
        print(verdict, flush=True)
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, "
          f"{counts['SKIP']} skipped")
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Run, and turn the outcome into an exit code."""
    try:
        counts = run(argv)
    except Trouble as trouble:
        print(f"{Path(__file__).name}: {trouble}", file=sys.stderr)
        return 2
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
