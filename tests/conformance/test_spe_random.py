"""Many random records of Arm SPE through the tool, whole, changed and cut.

HWTDECODE_TOOL is the tool, HWTDECODE_SPE_RECORDS how many records there are.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import spe_records  # noqa: E402
from families.spe_fixtures import differences  # noqa: E402
from spe_records import Fields, Record  # noqa: E402

TOOL = os.environ.get("HWTDECODE_TOOL", "hwtdecode")
RECORDS = int(os.environ.get("HWTDECODE_SPE_RECORDS", "100000"))
LAYOUTS = ("neoverse", "kunpeng", "model")

# Records of one run of the tool.
BATCH = 10000
FLIPS = max(3, RECORDS // 1000)
SLOT = 64
TIME_AT = 55

# Seconds that a gigabyte of zeroes may take, on a machine that is busy.
ZEROES_SECONDS = 60


def decode(path: Path, splits: Sequence[int] = ()) -> list[str]:
    """Return the rows of raw bytes."""
    command = [TOOL, "events", "--tech=spe", "--format=jsonl", str(path)]
    if splits:
        command.insert(2, "--split-at=" + ",".join(map(str, splits)))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def place(record: Record, at: int) -> Fields:
    """Return what a whole record gives that begins there."""
    return {**record.fields(), "kind": "sample", "first": at + record.pads,
            "record_bytes": len(record.data) - record.pads}


class Buffers:
    """Bytes of many records, and what they give."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.wanted: list[Fields] = []
        self.splits: list[int] = []
        self._before: int | None = None
        self._first = True

    def begin(self) -> None:
        """What follows is another buffer."""
        if self.data:
            self.splits.append(len(self.data))
        self._before, self._first = None, True

    def put(self, record: Record) -> None:
        """Add a record."""
        want = place(record, len(self.data))
        if self._first and not {"ip", "op"} <= want.keys():
            want["headless"] = True
        self._first = False
        if "count" in want:
            if self._before is not None and want["count"] < self._before:
                want["count_back"] = True
            self._before = want["count"]
        self.wanted.append(want)
        self.data += record.data


def fill(rng: random.Random, layouts: Sequence[str], count: int) -> Buffers:
    """Return buffers, each of one layout, as one CPU writes them."""
    out = Buffers()
    now = rng.getrandbits(40)
    while len(out.wanted) < count:
        out.begin()
        layout = rng.choice(layouts)
        stamped = rng.choice((1, 1, 0, 0.5))
        padded = rng.choice((0, 0.1))
        for _ in range(min(count - len(out.wanted), rng.randrange(1, 400))):
            now = spe_records.times(rng, now)
            out.put(spe_records.make(
                rng, layout, now if rng.random() < stamped else None))
            if rng.random() < padded:
                size = rng.randrange(80)
                out.data += bytes(SLOT if layout == "neoverse" else size)
    return out


def check(out: Buffers, path: Path) -> None:
    """Decode, and compare every field of every record."""
    path.write_bytes(out.data)
    rows = [json.loads(line) for line in decode(path, out.splits)]
    for want, row in zip(out.wanted, rows, strict=False):
        assert row["kind"] == "sample", row
        assert differences(want, row) == [], (want, row)
    assert len(rows) == len(out.wanted)


@pytest.mark.parametrize("layouts", [*((name,) for name in LAYOUTS), LAYOUTS],
                         ids="-".join)
def test_random_records_have_all_their_fields(
        layouts: Sequence[str], tmp_path: Path) -> None:
    share = RECORDS // 4
    for seed, start in enumerate(range(0, share, BATCH)):
        rng = random.Random(f"{layouts} {seed}")
        check(fill(rng, layouts, min(BATCH, share - start)),
              tmp_path / "a.spe")


def test_one_changed_byte_costs_one_record(tmp_path: Path) -> None:
    rng = random.Random("flip")
    path = tmp_path / "a.spe"
    out = Buffers()
    now = rng.getrandbits(40)
    for _ in range(min(BATCH, RECORDS)):
        now += rng.randrange(1, 1000)
        out.put(spe_records.make(rng, "neoverse", now, plain=True))
    check(out, path)
    clean = decode(path)
    for _ in range(FLIPS):
        at = rng.randrange(len(out.data))
        change = rng.randrange(1, 256)
        out.data[at] ^= change
        path.write_bytes(out.data)
        lines = decode(path)
        out.data[at] ^= change
        slot, offset = divmod(at, SLOT)
        where = f"byte {offset} of slot {slot} changed by {change:#x}"
        # A wrong time makes the right one behind it go back.
        if offset > TIME_AT:
            lines = [line.replace(',"count_back":true', "") for line in lines]
        begin = slot
        assert lines[:begin] == clean[:begin], where
        behind = len(clean) - slot - 1
        assert lines[len(lines) - behind:] == clean[slot + 1:], where
        damaged = [json.loads(line)
                   for line in lines[begin:len(lines) - behind]]
        # Of a slot that begins with a bad byte there is nothing to tell.
        assert [row["kind"] for row in damaged] in (
            ["sample"], ["gap", "sample"], ["gap"]), where
        for row in damaged:
            assert row["first"] // SLOT == slot, where


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("stamped", [True, False], ids=["time", "end"])
def test_two_records_can_be_cut_at_every_byte(
        layout: str, stamped: bool, tmp_path: Path) -> None:
    rng = random.Random(f"cut {layout}")
    path = tmp_path / "a.spe"
    records = [spe_records.make(rng, layout, when if stamped else None,
                                plain=True) for when in (1000, 1017)]
    data = b"".join(record.data for record in records)
    # All of them as buffers of one stream, and some as all that there is.
    every = range(1, len(data) + 1)
    for cuts in (every, *((cut,) for cut in every[::len(data) // 4])):
        buffers = bytearray()
        wanted: list[Fields] = []
        splits = []
        for cut in cuts:
            splits.append(len(buffers))
            wanted += cut_records(records, len(buffers), cut)
            buffers += data[:cut]
        path.write_bytes(buffers)
        rows = [json.loads(line) for line in decode(path, splits[1:])]
        for want, row in zip(wanted, rows, strict=False):
            where = f"at {want['first']} of {splits}"
            if want["kind"] == "gap":
                assert {key: row[key] for key in want} == want, where
            else:
                assert row["kind"] == "sample", where
                assert differences(want, row) == [], where
        assert len(rows) == len(wanted)


def cut_records(records: Sequence[Record], start: int, cut: int
                ) -> list[Fields]:
    """Return what the first so many bytes of records give."""
    out: list[Fields] = []
    at = 0
    for record in records:
        size = len(record.data)
        if cut >= at + size:
            out.append(place(record, start + at))
        elif cut > at:
            out += cut_record(record, start + at, cut - at, at == 0)
        at += size
    return out


def cut_record(record: Record, at: int, size: int, first: bool
               ) -> list[Fields]:
    """Return a gap and what is whole of a record with so many bytes."""
    end = begin = 0
    for data, _ in record.parts:
        if begin < size and data[0] != 0:
            end = min(begin + len(data), size)
        begin += len(data)
    gap = {"kind": "gap", "reason": "truncated", "first": at, "end": at + end}
    fields = record.fields(size)
    if not fields:
        return [gap]
    fields.update(kind="sample", first=at, record_bytes=end, truncated=True)
    if first and not {"ip", "op"} <= fields.keys():
        fields["headless"] = True
    return [gap, fields]


def test_a_gigabyte_of_zeroes_is_fast(tmp_path: Path) -> None:
    path = tmp_path / "zeroes.spe"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    begin = time.monotonic()
    assert decode(path) == []
    done = subprocess.run([TOOL, "check", "--tech=spe", str(path)],
                          capture_output=True, text=True, check=True)
    assert "every byte was decoded" in done.stdout
    assert time.monotonic() - begin < ZEROES_SECONDS
