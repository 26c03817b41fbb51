"""Writes a case as files in the corpus format."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

from .casefile import Case

SOURCE = "case.txt"

FORMATS = {
    "flow.txt": "s <psb offset> = synchronised; b <first ip> <n> <mode> "
                "<last ip> = one run of instructions at consecutive "
                "addresses; x <reason> @<offset> = nothing can be decoded "
                "until the next s. Hex except n and mode.",
    "gaps.txt": "<reason> <first byte> <end byte>, hex offsets, end "
                "exclusive",
    "rows.txt": "<instructions before> <kind> key=value ..., see the README "
                "of the fixtures",
    "samples.jsonl": "one record a line, with all fields that it has",
    "packets.txt": "<offset> <bytes> <kind>, offset hex",
    "listing.txt": "the words of perf's listing, a packet a line",
}


def text_lines(items: list[str]) -> bytes:
    """Return lines as all files here have them."""
    return "".join(item + "\n" for item in items).encode()


def file_entry(data: bytes, *, lines: bool = False) -> dict[str, object]:
    """Return what case.json says of a file."""
    entry: dict[str, object] = {
        "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    if lines:
        entry["lines"] = data.count(b"\n")
    return entry


def to_json(value: object) -> bytes:
    """Return JSON as all files here have it."""
    return (json.dumps(value, indent=1) + "\n").encode()


def case_files(case: Case) -> dict[str, bytes]:
    """Return every generated file of a case by its path inside it."""
    images: dict[str, bytearray] = {}
    spec = []
    for item in case.images:
        data = case.program.read(item.start, item.end)
        images.setdefault(item.file, bytearray()).extend(data)
        spec.append(f"{item.file} {item.offset:x} {len(data):x} "
                    f"{item.start:x}")
    inputs = dict(case.traces)
    inputs.update((name, bytes(data)) for name, data in images.items())
    params = dict(case.params)
    if case.has_code:
        inputs["image.txt"] = text_lines(spec)
        params["image"] = {"spec": "image.txt"}
    expected = {}
    counts: Counter[str] = Counter()
    used: dict[str, str] = {}
    for name, part in case.parts.items():
        where = f"expected/{name}." if name else "expected/"
        for kind, lines in part.expect.files().items():
            expected[where + kind] = text_lines(lines)
            used[kind] = FORMATS[kind]
        counts.update(part.expect.counts())
        counts["packets"] += len(part.stream.packets)
    gaps = [gap for part in case.parts.values() for gap in part.expect.gaps]
    described: dict[str, object] = {
        "id": f"{case.family}/{case.name}",
        "source": {"project": "libhwtdecode", "license": "BSD-2-Clause",
                   "path": SOURCE},
        "capture": "synthetic",
        "description": case.about,
        "files": {name: file_entry(data) for name, data in inputs.items()},
        "expected": {name: file_entry(data, lines=True)
                     for name, data in expected.items()},
        "params": params,
        "how_expected": "by hand in case.txt, from " + case.source,
        "counts": counts,
        "formats": used,
    }
    if case.max_insns is not None:
        described["expect"] = {
            "terminates": True, "gaps_at_least": len(gaps),
            "gap_reason": gaps[0].reason,
            "max_instructions": case.max_insns,
        }
    return {"case.json": to_json(described), **inputs, **expected}


def write_case(case: Case, directory: Path) -> None:
    """Write all files of a case; nothing else in there is touched."""
    for name, data in case_files(case).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def index_entry(directory: Path, root: Path) -> dict[str, object]:
    """Return what index.json says about a case directory."""
    described = json.loads((directory / "case.json").read_text())
    return {
        "id": described["id"],
        "path": directory.relative_to(root).as_posix(),
        "capture": described["capture"],
        "files": len(described["files"]),
        "expected": len(described["expected"]),
    }


def index(root: Path) -> bytes:
    """Return index.json for all case directories below a root."""
    cases = sorted(path.parent for path in root.glob("*/*/case.json"))
    return to_json([index_entry(case, root) for case in cases])
