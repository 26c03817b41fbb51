"""The rules by which Arm SPE is compared can fail, one by one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent / "conformance"))

from families import spe, spe_fixtures, spe_gen  # noqa: E402
from families.case import Fail, Malformed  # noqa: E402

TRUTH: dict[str, Any] = {
    "off": 64, "len": 64, "pc": "0x400000", "op": [1, 1], "events": "0x16",
    "lat_total": 9, "va": "0x1000", "ctx_el1": 4200, "ts": 77, "end": "ts",
    "state": "ok"}
OURS: dict[str, Any] = {
    "first": 64, "record_bytes": 64, "ip": "0x400000", "op_class": "memory",
    "op_raw": "0x1", "events": "0x16", "lat_total": 9, "va": "0x1000",
    "context_el1": "0x1068", "count": 77}


class _Case:
    """A case of one stream with these records."""

    def __init__(self, *records: dict[str, Any]) -> None:
        self._lines = [json.dumps(record) for record in records]

    def lines(self, name: str) -> list[str]:
        assert name == "expected/0.records.jsonl"
        return self._lines


def _compare(truth: list[dict[str, Any]], ours: list[dict[str, Any]]) -> Any:
    return spe_gen.compare_records(_Case(*truth), 0, ours)  # type: ignore


def test_a_record_is_the_same_in_all_fields() -> None:
    assert spe_gen.differences(TRUTH, OURS) == []
    assert _compare([TRUTH], [OURS]) == {"ok": 1}


@pytest.mark.parametrize(("key", "value"), [
    ("record_bytes", 63), ("ip", "0x400004"), ("op_raw", "0x0"),
    ("op_class", "branch"), ("events", "0x6"), ("lat_total", 8),
    ("va", "0x1008"), ("context_el1", "0x1067"), ("count", 78),
    ("pa", "0x1"), ("source", 0), ("prev_target", "0x0"),
    ("damaged", True), ("truncated", True), ("duplicate", True)])
def test_each_field_matters(key: str, value: Any) -> None:
    with pytest.raises(Fail):
        _compare([TRUTH], [OURS | {key: value}])


@pytest.mark.parametrize("key", ["ip", "op_class", "events", "va", "count"])
def test_each_packet_has_to_be_there(key: str) -> None:
    with pytest.raises(Fail):
        _compare([TRUTH], [{k: v for k, v in OURS.items() if k != key}])


def test_records_missing_and_at_other_places() -> None:
    with pytest.raises(Fail):
        _compare([TRUTH], [])
    with pytest.raises(Fail):
        _compare([TRUTH], [OURS, OURS | {"first": 200}])
    with pytest.raises(Malformed):
        _compare([TRUTH | {"state": "good"}], [OURS])


def test_an_altered_record_differs_in_its_packet_alone() -> None:
    altered = TRUTH | {"state": "altered", "damage": {"packet": "va"}}
    assert _compare([altered], [OURS | {"va": "0x1001"}]) == {"altered": 1}
    with pytest.raises(Fail):
        _compare([altered], [OURS | {"lat_total": 1}])


def test_damage_allows_anything_in_its_bytes() -> None:
    damaged = TRUTH | {"state": "damaged"}
    assert _compare([damaged], []) == {"damaged": 1}
    assert _compare([damaged], [OURS | {"first": 100}]) == {"damaged": 1}
    with pytest.raises(Fail):
        _compare([damaged], [OURS | {"first": 128}])
    behind = TRUTH | {"state": "collateral"}
    assert _compare([behind], [OURS]) == {"collateral": 1,
                                          "exact collateral": 1}


def test_lines_of_checkpoints_have_every_field() -> None:
    assert spe_gen.line_of(OURS) == \
        "40 400000 1 1 16 9 - - 1000 - - - 1068 4d\n"


def test_words_of_perf_that_are_not_its_own() -> None:
    assert spe.is_stale("48 10") and spe.is_stale("48 f0")
    for data in ("48 00", "48 07", "48 08", "48 88", "49 10", "48", "4a 10"):
        assert not spe.is_stale(data)
    assert spe.parse_line(".  0000001b:  01" + 46 * " " + "END") == \
        (27, "01", "END")
    with pytest.raises(Fail):
        spe.parse_line(". 0000001b: 01 END")


def test_records_of_other_decoders_in_our_words() -> None:
    record = {"op": "branch cond", "event": ["retired", "not_taken"],
              "ip": "0x10", "ip_el": 2, "context": {"id": "0xe", "el": 2},
              "total_lat": 17, "ts": 5}
    assert spe.wanted(record) == {
        "op_class": "branch", "conditional": True, "indirect": None,
        "events": "0x42", "ip": "0x10", "pc_el": 2, "context_el2": "0xe",
        "lat_total": 17, "count": 5}


SAMPLE: dict[str, Any] = {
    "first": 0, "record_bytes": 12, "ip": "0x400000", "pc_el": 0,
    "pc_security": 1, "op_class": "memory", "op": "general", "op_raw": "0x0"}


def test_a_fixture_states_all_fields_of_a_sample() -> None:
    same = spe_fixtures.compare_samples
    assert same([SAMPLE], [SAMPLE | {"kind": "sample", "tid": 7}]) == 1
    # Names are compared where they are stated.
    named = SAMPLE | {"event_names": ["retired"]}
    assert same([SAMPLE], [named]) == 1
    for key, value in (("event_names", []), ("first", 1), ("va", "0x0"),
                       ("store", True), ("damaged", True), ("packets", []),
                       ("count", 0), ("context_el1", "0x0")):
        with pytest.raises(Fail, match=key):
            same([named], [named | {key: value}])
    for key in named:
        with pytest.raises((Fail, KeyError)):
            same([named], [{k: v for k, v in named.items() if k != key}])
    with pytest.raises(Fail, match="2, expected 1"):
        same([SAMPLE], [SAMPLE, SAMPLE])
    with pytest.raises(Fail, match="0, expected 1"):
        same([SAMPLE], [])
    with pytest.raises(Malformed):
        same([SAMPLE | {"colour": "red"}], [SAMPLE])


def test_every_field_of_hwtasm_is_compared() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
    from hwtasm import samples

    assert samples.FIELDS.keys() | set(samples.FLAGS) == (
        spe_fixtures.FIELDS | spe_fixtures.OPTIONAL) - {
            "first", "record_bytes"}


def test_gaps_of_fixtures_are_exact() -> None:
    gap = {"reason": "truncated", "first": 12, "end": 14}
    assert spe_fixtures.compare_gaps(["truncated c e"], [gap]) == 1
    for line in ("truncated c d", "truncated b e", "bad-packet c e"):
        with pytest.raises(Fail):
            spe_fixtures.compare_gaps([line], [gap])
    with pytest.raises(Fail):
        spe_fixtures.compare_gaps([], [gap])
