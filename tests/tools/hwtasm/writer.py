"""Writes a case as files in the corpus format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .casefile import Case
from .expect import Mark

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
}


def _lines(items: list[str]) -> bytes:
    return "".join(item + "\n" for item in items).encode()


def _entry(data: bytes, *, lines: bool = False) -> dict[str, object]:
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
    inputs["image.txt"] = _lines(spec)
    expected = {}
    for name, part in case.parts.items():
        where = f"expected/{name}." if name else "expected/"
        expect = part.expect
        expected[where + "flow.txt"] = _lines(
            [item.text() for item in expect.flow])
        expected[where + "gaps.txt"] = _lines(
            [gap.text() for gap in expect.gaps])
        expected[where + "rows.txt"] = _lines(
            [row.text() for row in expect.rows])
    expects = [part.expect for part in case.parts.values()]
    gaps = [gap for expect in expects for gap in expect.gaps]
    described: dict[str, object] = {
        "id": f"{case.family}/{case.name}",
        "source": {"project": "libhwtdecode", "license": "BSD-2-Clause",
                   "path": SOURCE},
        "capture": "synthetic",
        "description": case.about,
        "files": {name: _entry(data) for name, data in inputs.items()},
        "expected": {name: _entry(data, lines=True)
                     for name, data in expected.items()},
        "params": {**case.params, "image": {"spec": "image.txt"}},
        "how_expected": "by hand in case.txt, from " + case.source,
        "counts": {
            "insns": sum(expect.insns for expect in expects),
            "errors": sum(isinstance(item, Mark) and item.kind == "x"
                          for expect in expects for item in expect.flow),
            "gaps": len(gaps),
            "rows": sum(len(expect.rows) for expect in expects),
            "packets": sum(len(part.stream.packets)
                           for part in case.parts.values()),
        },
        "formats": FORMATS,
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
