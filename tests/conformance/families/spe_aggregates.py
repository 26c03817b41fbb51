"""Sums of Arm SPE samples: what `hwtdecode mem` adds up against aggregates.json.

The truth covers records whose every byte is as it was.  In damaged streams others
are samples too, so that there sums may be larger by as many.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from .case import Case, Fail, Malformed
from .tools import TIMEOUT

Row = dict[str, Any]

# Classes of operations as records number them.
CLASSES = ("other", "memory", "branch")
AGGREGATES = "expected/aggregates.json"


def run_tool(tool: Path, words: Sequence[str]) -> str:
    """Return what the tool prints; 0 and loss are success."""
    try:
        done = subprocess.run(
            [str(tool), *words], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace",
            timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Fail(f"{words[0]}: still running after {TIMEOUT:g} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise Fail(f"{words[0]}: exit code {done.returncode}: "
                   f"{said[0] if said else ''}")
    return done.stdout


def image_file(case: Case, name: str) -> Path:
    """Return an image of the case, or of the one beside it that it names."""
    if case.has(name):
        return case.path(name)
    parts = PurePosixPath(name).parts
    if len(parts) < 3 or parts[0] != ".." or ".." in parts[1:]:
        raise Malformed(f"{name} is not listed in case.json")
    other = Case(case.folder.parent / parts[1],
                 f"{case.family}/{parts[1]}", case.temporary / "beside")
    return other.path("/".join(parts[2:]))


def images(case: Case) -> list[tuple[Path, str, str, str]]:
    """Return file, offset, size and address of each image, in hexadecimal."""
    found = []
    for line in case.lines("image.txt"):
        words = line.split()
        if len(words) != 4:
            raise Malformed(f"image.txt: cannot read {line!r}")
        found.append((image_file(case, words[0]), *words[1:]))
    return found


def image_options(case: Case) -> list[str]:
    """Return the options that name the code of a case."""
    return [f"--image={path}:0x{offset}:0x{size}@0x{address}"
            for path, offset, size, address in images(case)]


def save_streams(tool: Path, case: Case) -> list[str]:
    """Save each stream as a trace that says what its bytes do not."""
    folder = case.temporary / "aggregates"
    folder.mkdir()
    code = image_options(case)
    saved = []
    midr = case.section("params").get("midr")
    if midr is not None:
        code.append(f"--spe-cpu={midr}")
    for stream in sorted(case.section("counts"), key=int):
        starts = [str(json.loads(line)["off"])
                  for line in case.lines(f"{stream}.chunks.jsonl")]
        buffers = [f"--split-at={','.join(starts[1:])}"] \
            if len(starts) > 1 else []
        out = folder / f"{stream}.hwt"
        run_tool(tool, [
            "import", "--tech=spe", f"--stream-cpu={stream}", "--no-embed",
            *buffers, *code, f"--output={out}",
            str(case.path(f"{stream}.spe"))])
        saved.append(str(out))
    return saved


class Tables:
    """The tables of a case, asked for one by one."""

    def __init__(self, tool: Path, case: Case) -> None:
        self.tool = tool
        self.traces = save_streams(tool, case)

    def rows(self, *words: str) -> Iterator[Row]:
        """Yield the objects of a table."""
        text = run_tool(self.tool,
                        ["mem", "--format=jsonl", *words, *self.traces])
        for line in text.splitlines():
            yield json.loads(line)

    def table(self, by: str, *words: str) -> list[Row]:
        """Return the rows of a table."""
        return [row for row in self.rows(f"--by={by}", *words)
                if row["type"] == "mem"]

    def info(self, by: str) -> Row:
        """Return what is said of all samples."""
        return next(self.rows(f"--by={by}", "--top=1"))

    def samples(self, where: str) -> int:
        """Return how many samples there are for which this holds."""
        return sum(int(row["samples"])
                   for row in self.table("cpu", f"--where={where}"))


class Comparison:
    """Numbers that are compared; `extra` samples may be in ours alone."""

    def __init__(self, extra: int) -> None:
        self.extra = extra
        self.number = 0

    def same(self, what: str, want: int, ours: int) -> None:
        """Compare counts of samples."""
        self.number += 1
        if ours < want or ours - want > self.extra:
            raise Fail(f"{what} is {ours}, not {want}"
                       + (f" and up to {self.extra} more" if self.extra
                          else ""))

    def sums(self, what: str, want: int, ours: int) -> None:
        """Compare sums over samples: another sample can add anything."""
        self.number += 1
        if ours < want or (ours != want and not self.extra):
            raise Fail(f"{what} is {ours}, not {want}")

    def all(self, what: str, want: Mapping[str, int],
            ours: Mapping[str, int]) -> None:
        """Compare counts by key, with none missing or left over."""
        for key in {*want, *ours}:
            self.same(f"{what} {key}", want.get(key, 0), ours.get(key, 0))


def total(row: Row, kind: str) -> tuple[int, int]:
    """Return how many latencies there are, and their sum."""
    return (int(row[f"{kind}_n"]) + int(row[f"{kind}_saturated"]),
            int(row[f"{kind}_sum"]) + int(row[f"{kind}_saturated_sum"]))


def largest(row: Row, kind: str) -> int:
    """Return the largest latency, also one that was at a limit."""
    return int(row[f"{kind}_longest"])


def compare_counts(tables: Tables, truth: Row, check: Comparison) -> None:
    """Compare what there is of all samples, by CPU and thread."""
    cpus = tables.table("cpu")

    def count(key: str) -> int:
        return sum(int(row[key]) for row in cpus)

    names = {"records": "samples", "branches": "branches", "loads": "loads",
             "stores": "stores", "other": "others", "taken": "taken",
             "saturated_total": "total_saturated"}
    for name, want in truth["counts"].items():
        check.same(name, int(want), count(names[name]))
    for name, want in truth["latency"].items():
        kind = {"lat_total": "total", "lat_issue": "issue",
                "lat_xlat": "translation"}[name]
        ours = [total(row, kind) for row in cpus]
        check.same(f"{name} records", int(want["records"]),
                   sum(n for n, _ in ours))
        check.sums(f"{name} sum", int(want["sum"]), sum(s for _, s in ours))
    check.all("cpu", truth["cpus"],
              {str(row["cpu"]): int(row["samples"]) for row in cpus})
    # Without context packets nothing tells the thread.
    threads = tables.table("thread")
    if all("tid" in row for row in threads):
        check.all("thread", truth["tids"],
                  {str(row["tid"]): int(row["samples"]) for row in threads})


def compare_words(tables: Tables, truth: Row, check: Comparison) -> None:
    """Compare samples by operation and event, each asked for by itself."""
    for name, want in truth["ops"].items():
        number, payload = name.split(":")
        check.same(f"operation {name}", int(want), tables.samples(
            f"{CLASSES[int(number)]} and op_raw = {payload}"))
    for bit, want in truth["events_by_bit"].items():
        check.same(f"event {bit}", int(want), tables.samples(f"bit{bit}"))


def compare_sources(tables: Tables, truth: Row, check: Comparison) -> None:
    """Compare loads by data source."""
    ours = {str(row["source"]): row for row in tables.table("source")
            if row["of"] == "loads" and row["source"] is not None}
    for name, want in truth["sources_of_loads"].items():
        if name not in ours:
            raise Fail(f"source {name} is missing")
        row = ours.pop(name)
        check.same(f"source {name}", int(want["n"]), int(row["samples"]))
        check.sums(f"source {name} cycles", int(want["lat_sum"]),
                   total(row, "total")[1])
        check.sums(f"source {name} most", int(want["lat_max"]),
                   largest(row, "total"))
        check.sums(f"source {name} least", -int(want["lat_min"]),
                   -int(row["total_min"]))
    check.all("other sources", {},
              {name: int(row["samples"]) for name, row in ours.items()})


def compare_symbols(tables: Tables, truth: Row, check: Comparison,
                    bases: Mapping[str, int]) -> None:
    """Compare samples by function; names of one address may differ."""
    ours: dict[tuple[str, int], Row] = {}
    stubs = []
    for row in tables.table("symbol"):
        image = Path(row.get("image", "")).name
        if row.get("symbol", "").endswith("@plt"):
            stubs.append((image, row))
        else:
            ours[image, int(row.get("symbol_address", "0"), 16)] = row
    # The truth has names of symbol tables alone, which name no stub.
    for image, row in stubs:
        nameless = ours.setdefault((image, 0), {})
        for key in ("samples", "llc_misses", "total_n", "total_sum",
                    "total_saturated", "total_saturated_sum"):
            nameless[key] = int(nameless.get(key, 0)) + int(row[key])
    for want in truth["symbols"]:
        address = int(want["addr"], 16)
        what = f"symbol {want['symbol']}"
        row = ours.pop((want["image"], address), None) or \
            ours.pop((want["image"], address - bases[want["image"]]), None)
        if row is None:
            raise Fail(f"{what} is missing")
        check.same(what, int(want["n"]), int(row["samples"]))
        check.sums(f"{what} cycles", int(want["lat_sum"]),
                   total(row, "total")[1])
        check.same(f"{what} misses", int(want["llc_miss"]),
                   int(row["llc_misses"]))
    check.all("other symbols", {}, {
        f"{image} {address:#x}": int(row["samples"])
        for (image, address), row in ours.items()})


def add_pair(pairs: dict[str, list[int]], key: object, row: Row) -> None:
    """Add loads and stores of an access."""
    pairs[str(key)][0] += int(row["loads"])
    pairs[str(key)][1] += int(row["stores"])


def compare_line(want: Row, accesses: Sequence[Row],
                 check: Comparison) -> None:
    """Compare one cache line, by user, byte, code and data source."""
    what = f"line {want['line']}"
    pairs: dict[str, dict[str, list[int]]] = {
        name: defaultdict(lambda: [0, 0])
        for name in ("cpus", "tids", "offsets")}
    sources: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for row in accesses:
        number = int(row["loads"]) + int(row["stores"])
        add_pair(pairs["cpus"], row["cpu"], row)
        if "tid" in row:
            add_pair(pairs["tids"], row["tid"], row)
        add_pair(pairs["offsets"], row["offset"], row)
        codes[row["pc"]] += number
        if row["source"] is not None and row["loads"]:
            sources[str(row["source"])] += int(row["loads"])
    check.same(what, int(want["n"]), sum(codes.values()))
    check.sums(f"{what} cycles", int(want["lat"]),
               sum(int(row["latency"]) for row in accesses))
    for name, ours in pairs.items():
        if name == "tids" and not ours:
            continue
        for i, kind in enumerate(("loads", "stores")):
            check.all(f"{what} {name} {kind}",
                      {k: v[i] for k, v in want[name].items()},
                      {k: v[i] for k, v in ours.items()})
    check.all(f"{what} sources", want["sources"], sources)
    check.all(f"{what} code", want["pcs"], codes)


def compare_lines(tables: Tables, truth: Row, check: Comparison) -> None:
    """Compare cache lines, and who shares them."""
    accesses: dict[str, list[Row]] = defaultdict(list)
    lines = {}
    for row in tables.rows("--by=line", "--accesses"):
        if row["type"] == "mem":
            lines[row["address"]] = row
        elif row["type"] == "mem_access":
            accesses[row["line"]].append(row)
    check.same("lines", int(truth["lines_total"]), len(lines))
    check.same("lines of several", int(truth["lines_of_2_or_more_tids"]),
               sum(int(row["users"]) > 1 for row in lines.values()))
    for want in truth["lines"]:
        if want["line"] not in lines:
            raise Fail(f"line {want['line']} is missing")
        compare_line(want, accesses[want["line"]], check)


def compare_edges(tables: Tables, truth: Row, check: Comparison) -> None:
    """Compare branches that were taken, as pairs."""
    ours: Counter[str] = Counter()
    for row in tables.table("branch"):
        if row["is_taken"]:
            ours[f"{row['from']} {row.get('to')}"] += int(row["samples"])
    want = {f"{start} {end}": int(n) for start, end, n in truth["edges"]}
    check.same("taken branches", int(truth["edges_taken"]),
               sum(ours.values()))
    check.same("edges", int(truth["edges_total"]), len(ours))
    for key, number in want.items():
        check.same(f"edge {key}", number, ours[key])


def compare_shared(tables: Tables, truth: Row) -> None:
    """See that lines that are shared come first, and no quiet neighbour."""
    several = {line["line"]: line for line in truth["lines"]
               if len(line["tids"]) > 1 and
               any(stores for _, stores in line["tids"].values())}
    if not several:
        return
    ours = [row["address"] for row in tables.table("sharing")]
    first = max(several.values(), key=lambda line: int(line["dirty"]))
    if not ours or ours[0] != first["line"]:
        raise Fail(f"{first['line']} is shared most, not {ours[:1]}")
    quiet = [line["line"] for line in truth["lines"]
             if len(line["tids"]) == 1 and line["line"] in ours]
    if quiet:
        raise Fail(f"{quiet[0]} is of one thread alone")


def image_bases(case: Case) -> dict[str, int]:
    """Return where each image of a case lies."""
    return {path.name: int(address, 16)
            for path, _, _, address in images(case)}


def compare_aggregates(tool: Path, case: Case) -> int:
    """Compare all sums of a case; return how many."""
    counts = case.section("counts").values()
    check = Comparison(sum(int(stream.get(state, 0)) for stream in counts
                           for state in ("altered", "damaged", "collateral")))
    truth = json.loads(case.path(AGGREGATES).read_text(encoding="utf-8"))
    tables = Tables(tool, case)
    compare_counts(tables, truth, check)
    compare_words(tables, truth, check)
    compare_sources(tables, truth, check)
    compare_symbols(tables, truth, check, image_bases(case))
    compare_lines(tables, truth, check)
    compare_edges(tables, truth, check)
    compare_shared(tables, truth)
    return check.number
