"""The repository's own perf.data files: records, flow, samples, and what
becomes of them in a file of ours.

Which records have no row, and which of their fields no row has, is said in
`perf_record`: `WITHOUT_ROW` and `NOT_KEPT`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import perf_flow, spe_fixtures
from .case import Case, Fail
from .cli import Row, rows_of, run_cli
from .perf_listing import fixture_records
from .perf_record import Expected, compare_records
from .tools import Tools

TRACE = "perf.data"

# Where bytes lie in the file is not the same in another one.
_OF_THE_FILE = ("file", "format", "file_first", "file_end",
                "earlier_file")


def trace_of(case: Case) -> Path:
    """Return the file, or the folder that it is in."""
    inside = f"{TRACE}/data"
    if case.has(inside):
        return case.path(inside).parent
    return case.path(TRACE)


def search_options(case: Case) -> list[str | Path]:
    """Return where the files are that records name."""
    options: list[str | Path] = ["--no-original-paths"]
    if (case.folder / "root").is_dir():
        options += ["--root", case.folder / "root"]
    return options


def _engine(case: Case, tools: Tools) -> list[str]:
    """Return the option for the engine, which is for Intel PT."""
    if tools.engine is None or case.section("params").get("trace") != "pt":
        return []
    return [f"--engine={tools.engine}"]


def _order(case: Case, tools: Tools, trace: Path, insns: Sequence[Row]) -> str:
    lines = case.lines("expected/order.txt")
    threads = [line for line in lines if line.startswith("thread ")]
    count = perf_flow.compare_threads(threads, insns) if threads else 0
    want = [line for line in lines if line not in threads]
    kinds = {"comm": "thread-name", "mmap2": "mmap", "mmap": "mmap",
             "switch_cpu_wide": "switch", "switch": "switch"}
    have = [row for row in rows_of(tools, case, "events", trace,
                                   ["--kind=record"])
            if row["record_type"] in kinds.values()] if want else []
    for number, line in enumerate(want):
        kind, time, key = line.split(" ", 2)
        keys = {"record_type": kinds[kind], "time_ns": int(time)}
        for word in key.split():
            name, _, value = word.partition("=")
            keys[name.removeprefix("of_")] = int(value)
        if number == len(have) or any(
                have[number].get(name) != value
                for name, value in keys.items()):
            said = have[number] if number < len(have) else "nothing"
            raise Fail(f"order: {said}, expected '{line}'")
    if len(have) != len(want):
        raise Fail(f"order: {len(have)} records, expected {len(want)}")
    return f"order of {len(want) + count}"


def _samples(case: Case, rows: Sequence[Row], streams: Sequence[Row]) -> str:
    """Compare all samples of Arm SPE: of whom, where, and every field."""
    want = [json.loads(line)
            for line in case.lines("expected/samples.jsonl")]
    of_stream = {stream["stream"]: (stream.get("cpu"), stream.get("tid"))
                 for stream in streams}
    have: dict[tuple[int | None, int | None], list[Row]] = {}
    for row in rows:
        if row["kind"] == "sample":
            have.setdefault(of_stream[row["stream"]], []).append(row)
    for sample in want:
        number = sample.pop("q")
        ours = have.get((sample["cpu"], None) if sample["cpu"] is not None
                        else (None, sample["tid"]))
        if not ours:
            raise Fail(f"samples: none more of buffer {number}, expected "
                       f"{sample}")
        _compare_sample(sample, ours.pop(0))
    left = sum(map(len, have.values()))
    if left:
        raise Fail(f"samples: {left} more than expected")
    return f"{len(want)} samples"


def _compare_sample(want: dict[str, Any], have: Row) -> None:
    for key in ("cpu", "pid", "tid"):
        if have.get(key) != want.pop(key):
            raise Fail(f"samples: {key} of the one at {have['first']} is "
                       f"{have.get(key)}, not as in {want}")
    spe_fixtures.compare_samples([want], [have])


def _plain(rows: Sequence[Row]) -> list[Row]:
    out = []
    for row in rows:
        row = {key: value for key, value in row.items()
               if key not in _OF_THE_FILE}
        # Why bytes are missing is another reason in a file without them.
        if row.get("reason") == "file-damaged" or \
                row.get("type") == "damage":
            row.pop("text", None)
        if "extents" in row:
            row["extents"] = _joined(row["extents"])
        out.append(row)
    return out


def _joined(extents: Sequence[Row]) -> list[Row]:
    """Return pieces of a stream; an empty one is one with what follows."""
    out: list[Row] = []
    for extent in extents:
        if out and out[-1]["start"] == out[-1]["end"] == extent["start"]:
            out[-1] = {**out[-1], "end": extent["end"]}
        else:
            out.append(extent)
    return out


def same_rows(what: str, want: Sequence[Row], have: Sequence[Row]) -> int:
    """Compare what a command tells of two files of the same trace."""
    one, other = _plain(want), _plain(have)
    for a, b in zip(one, other, strict=False):
        if a != b:
            raise Fail(f"import: {what}: {b}, expected {a}")
    if len(one) != len(other):
        raise Fail(f"import: {what}: {len(other)} rows, expected {len(one)}")
    return len(one)


def check_import(case: Case, tools: Tools, trace: Path,
                 options: Sequence[str | Path]) -> str:
    """A file of ours has the same rows, and a second copy is the same."""
    copy = case.temporary / "copy.hwt"
    if trace.is_dir():
        # What is beside the data belongs to it, and is recorded for the copy.
        options = [word for word in options if word != "--no-original-paths"]
    run_cli(tools, case, "import", *options, trace, "-o", copy)
    count = 0
    for command in ("info", "records", "maps", "packets", "events"):
        words = [*options, *(["--time-span"] if command == "info" else [])]
        count += same_rows(command,
                           rows_of(tools, case, command, trace, words),
                           rows_of(tools, case, command, copy, words))
    return f"{count} rows the same in a file of ours"


def check_check(case: Case, tools: Tools, trace: Path,
                options: Sequence[str | Path]) -> str:
    """`check` ends with 3 where bytes are lost or the file is damaged."""
    rows = rows_of(tools, case, "events", trace, [*options, "--kind=gap"])
    lost = sum(row["end"] - row["first"] for row in rows)
    damaged = any(row["reason"] == "file-damaged" for row in rows)
    run_cli(tools, case, "check", *options, trace,
            code=3 if lost or damaged else 0)
    return f"check finds {lost} bytes lost"


def _features(case: Case, trace: Path, rows: Sequence[Row]) -> str:
    """Compare what the header tells of the machine."""
    told = case.section("params").get("features", {})
    if not told:
        return ""
    row = rows[0]
    for key, ours in (("hostname", "origin"), ("osrelease", "origin"),
                      ("version", "origin"), ("arch", "abi"),
                      ("cpudesc", "cpu_model")):
        if str(told[key]) not in str(row.get(ours, "")):
            raise Fail(f"info: {ours} is {row.get(ours)!r}, without "
                       f"{told[key]!r}")
    return "features"


def _refused(case: Case, tools: Tools, trace: Path) -> str:
    """The file cannot be opened, and why is said."""
    for command in ("info", "records", "events"):
        try:
            run_cli(tools, case, command, trace)
        except Fail as fail:
            said = str(fail)
            for words in case.lines("expected/refused.txt"):
                if words not in said:
                    raise Fail(f"{said!r} lacks {words!r}") from None
            continue
        raise Fail(f"{command}: the file is read")
    return "refused"


def run(case: Case, tools: Tools) -> str:
    """Read one file in every way, and compare."""
    trace = trace_of(case)
    if case.has("expected/refused.txt"):
        return _refused(case, tools, trace)
    options = search_options(case)
    features = case.section("params").get("features", {})
    insns = rows_of(tools, case, "insns", trace,
                    [*options, *_engine(case, tools)])
    damaged = bool(case.section("params").get("damaged"))
    goes_on = damaged and any("stream" not in row for row in insns)
    records = rows_of(tools, case, "records", trace)
    copy = trace / "kcore_dir" / "kcore"
    kernel = str(copy) if copy.is_file() else None
    said = []
    if case.has("expected/records.txt"):
        said.append(compare_records(Expected(
            fixture_records(case.lines("expected/records.txt")),
            features.get("build_ids"), kernel), records, goes_on))
    # Bytes of a sink are told apart only where they are looked at.
    info = rows_of(tools, case, "info", trace, [*options, "--time-span"])
    streams = [row for row in info if row["type"] == "stream"]
    if case.has("expected/samples.jsonl"):
        said.append(_samples(case, insns, streams))
    elif case.has("expected/flow.txt"):
        said.append(perf_flow.compare_flow(
            perf_flow.read_flow(case.lines("expected/flow.txt")), insns,
            streams, records, damaged))
    if case.has("expected/order.txt"):
        said.append(_order(case, tools, trace, insns))
    text = _features(case, trace, info)
    said += [text] if text else []
    said.append(check_import(case, tools, trace, options))
    said.append(check_check(case, tools, trace, options))
    return ", ".join(said)
