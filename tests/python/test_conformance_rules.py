"""The rules by which the conformance runner compares can fail, one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(
    0, str(Path(__file__).resolve().parent.parent / "conformance"))

from families import (cs_fixtures, flow, pt_fixtures,  # noqa: E402
                      pt_libxdc, rows)
from families.case import Fail, Malformed  # noqa: E402


def _insns(text: str) -> list[flow.Insn]:
    return [flow.Insn(int(word, 16), 1, "64") for word in text.split()]


BROKEN = ["s 0", "b 10 2 64 11", "x bad-flow @4", "s 8", "b 20 1 64 20"]


@pytest.mark.parametrize(("ours", "extra"), [
    ("10 11 20", 0), ("10 11 30 31 20", 2), ("10 11 20 20", 1)])
def test_extra_instructions_behind_an_error(ours: str, extra: int) -> None:
    assert flow.compare_segments(BROKEN, _insns(ours)) == extra


@pytest.mark.parametrize("ours", [
    "", "10 11", "10 20", "30 10 11 20", "10 30 11 20", "10 11 20 30"])
def test_instructions_missing_or_in_the_wrong_place(ours: str) -> None:
    with pytest.raises(Fail):
        flow.compare_segments(BROKEN, _insns(ours))


def test_error_at_the_end_allows_more() -> None:
    assert flow.compare_segments(BROKEN + ["x no-code @9"],
                                 _insns("10 11 20 21")) == 1


def test_sync_in_mid_flow_allows_nothing() -> None:
    with pytest.raises(Fail):
        flow.compare_segments(["s 0", "b 10 1 64 10", "s 8", "b 20 1 64 20"],
                              _insns("10 30 20"))


def test_hashes_everywhere() -> None:
    want = ["h 65536 aa ip=1", "h 70000 bb end"]
    assert flow.compare_hash(want, ["h 65536 aa", "h 70000 bb end"]) == 2
    for ours in (["h 65536 aa"], ["h 65536 ab", "h 70000 bb end"],
                 ["h 65536 aa", "h 70001 bb end"], []):
        with pytest.raises(Fail):
            flow.compare_hash(want, ours)


def test_only_an_overflow_loses_no_bytes() -> None:
    flow.require_no_loss(["overflow 7 7"])
    for gap in ("overflow 7 8", "unsynced 0 0", "truncated 5 6"):
        with pytest.raises(Fail):
            flow.require_no_loss([gap])


def test_gaps_may_be_shorter_but_not_elsewhere() -> None:
    want = ["bad-flow 10 20"]
    assert pt_fixtures.compare_gaps(want, ["bad-flow 14 18"]) == 1
    assert pt_fixtures.compare_gaps(want, ["bad-flow 20 20"]) == 1
    for ours in (["bad-flow 21 22"], ["no-code 10 20"], [],
                 ["bad-flow 10 20", "bad-flow 30 40"]):
        with pytest.raises(Fail):
            pt_fixtures.compare_gaps(want, ours)


def test_restated_state_is_no_news() -> None:
    want = ["0 mode mode=64", "0 context cr3=1000 nr=0", "5 disable ip=9"]
    ours = ["0 mode mode=64 status", "0 context cr3=1000 nr=0 vmcs=7",
            "3 mode mode=64 status", "3 context cr3=1000 nr=0 status",
            "4 enable ip=5 status", "5 disable ip=9 reason=async"]
    with pytest.raises(Fail, match="vmcs=7"):
        pt_fixtures.compare_rows(
            want + ["0 context vmcs=8"], ours, None)
    assert pt_fixtures.compare_rows(want, [
        line.replace(" vmcs=7", "") for line in ours], None) == 3


@pytest.mark.parametrize("ours", [
    ["4 disable ip=9"], ["5 disable ip=8"], ["5 enable ip=9"],
    ["5 disable ip=9", "5 disable ip=9"], ["5 disable"], []])
def test_rows_must_tell_place_kind_and_fields(ours: list[str]) -> None:
    with pytest.raises(Fail):
        pt_fixtures.compare_rows(["5 disable ip=9"], ours, None)


def test_rows_behind_an_error_may_be_later() -> None:
    want = ["1 disable ip=9", "5 enable ip=4"]
    assert pt_fixtures.compare_rows(
        want, ["1 disable ip=9", "6 disable ip=3", "8 enable ip=4"], 3) == 2
    with pytest.raises(Fail):
        pt_fixtures.compare_rows(want, ["2 disable ip=9", "8 enable ip=4"], 3)
    with pytest.raises(Fail):
        pt_fixtures.compare_rows(want, ["1 disable ip=9"], 3)


EVENTS = ["0 e tsx status spec=0 abort=0 ip=-", "0 e enabled ip=10",
          "4 e async_disabled at=14 ip=ff", "4 e paging cr3=1000 nr=1",
          "4 e enabled ip=14 resumed", "9 e disabled ip=-"]
OURS = ["0 mode tsx=commit status", "0 enable ip=10",
        "4 disable ip=14 target=ff reason=async", "4 context cr3=1000 nr=1",
        "4 enable ip=14 resumed", "9 disable"]


def test_events_agree() -> None:
    assert pt_libxdc.compare_events(EVENTS, OURS, 100) == 5


@pytest.mark.parametrize("change", [
    lambda ours: ours[:-1],
    lambda ours: ours + ["9 enable ip=3"],
    lambda ours: [line.replace("4 dis", "5 dis") for line in ours],
    lambda ours: [line.replace("ip=14", "ip=15") for line in ours],
    lambda ours: [line.replace("target=ff ", "") for line in ours],
    lambda ours: [line.replace("reason=async", "") for line in ours],
    lambda ours: [line.replace("1000", "2000") for line in ours],
    lambda ours: [line for line in ours if "cr3" not in line],
    lambda ours: [line.replace(" resumed", "") for line in ours],
    lambda ours: [line.replace("4 enable", "4 enable status")
                  for line in ours],
])
def test_events_that_differ(change: Callable[[list[str]], list[str]]) -> None:
    with pytest.raises(Fail):
        pt_libxdc.compare_events(EVENTS, change(OURS), 100)


def test_rows_that_cannot_be_read() -> None:
    for line in ("", "x enable", "3"):
        with pytest.raises(Malformed):
            rows.parse([line])


def test_edges_differ_only_at_events() -> None:
    reference = ["1000 2000 5", "3000 4000 1", "9000 a000 2"]
    ours = ["t 3000", "e 1000 2000 5", "e 3000 4000 2", "e 9000 a000 2"]
    assert pt_libxdc.compare_edges(reference, ours, []) == 2
    with pytest.raises(Fail, match="1000 to 2000: 6 times, libxdc says 5"):
        pt_libxdc.compare_edges(
            reference, [line.replace("2000 5", "2000 6") for line in ours],
            [])
    with pytest.raises(Fail):
        pt_libxdc.compare_edges(reference, ours[:3], [])
    with pytest.raises(Fail, match="more than events can explain"):
        pt_libxdc.compare_edges(
            reference, [line.replace("4000 2", "4000 4") for line in ours],
            [])


def _coresight(want: list[str], ours: list[str], insns: list[str],
               first_error: int | None = None) -> str:
    return cs_fixtures.compare_rows(want, ours,
                                    flow.parse_insns("\n".join(insns)),
                                    first_error)


COUNTED = ["1000 4 a64 7", "1000 4 a64 9", "1004 4 a64"]


@pytest.mark.parametrize("ours", [
    ["0 marker source=stm payload=2", "0 marker source=stm payload=1"],
    ["0 marker source=stm payload=1"],
    ["0 marker source=stm payload=1", "0 marker source=stm payload=2",
     "0 marker source=stm payload=2"],
    ["0 marker source=stm payload=1", "1 marker source=stm payload=2"],
    ["0 marker source=stm payload=1", "0 marker source=stm payload=2",
     "2 cycles count=3"]])
def test_coresight_rows_keep_their_order(ours: list[str]) -> None:
    want = ["0 marker source=stm payload=1", "0 marker source=stm payload=2"]
    assert _coresight(want, want, COUNTED) == "2 rows"
    with pytest.raises(Fail):
        _coresight(want, ours, COUNTED)


def test_a_time_stamp_is_the_time_of_the_code_before() -> None:
    rows_ = ["1 time tsc=7", "2 time tsc=9"]
    assert _coresight(rows_, rows_, COUNTED) == "2 rows, 2 times"
    with pytest.raises(Fail, match="times"):
        _coresight(["2 time tsc=8"], ["2 time tsc=8"], COUNTED)
    with pytest.raises(Fail, match="times"):
        _coresight(["3 time tsc=9"], ["3 time tsc=9"], COUNTED)
    assert _coresight(["3 time tsc=9 marker=1"], ["3 time tsc=9"],
                      COUNTED) == "1 rows"


def test_coresight_contexts_change_where_they_should() -> None:
    want = ["0 context level=0 security=ns", "2 context level=1"]
    assert _coresight(want, [*want, "2 context level=1 security=ns"],
                      COUNTED) == "3 rows"
    for ours in (["0 context level=0 security=ns", "1 context level=1"],
                 [*want, "3 context level=0"],
                 ["0 context level=0 security=s", "2 context level=1"]):
        with pytest.raises(Fail):
            _coresight(want, ours, COUNTED)
