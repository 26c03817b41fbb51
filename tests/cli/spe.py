"""Samples of Arm SPE out of raw bytes, in all forms of rows."""

from runner import Case

# A branch of an Arm model that is not taken, and a record that is cut off.
MODEL = bytes.fromhex(
    "4a01 b10000000000000080 4242 b02041c0adffff0080 980000"
    "71803ef746e9010000"
    "4901 b250bdba730080ffff b350bdbaf3000000 80 9a0000"
)
# Kunpeng: a counter of index 6, and a header that nothing is known of.
ODD = bytes.fromhex("4900 9e0c01 90aabb b00410000000000080 01")


def test_rows_have_all_fields(case: Case) -> None:
    case.write("a.spe", MODEL)
    run = case.run("events", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    branch, gap, load = run.objects()
    assert branch["kind"] == "sample"
    assert branch["ip"] == "0xffffadc04120"
    assert branch["op_class"] == "branch" and branch["conditional"] is True
    assert branch["branch_target"] == "0x0" and "target" not in branch
    assert branch["events"] == "0x42"
    assert branch["lat_total"] == 0 and "lat_issue" not in branch
    assert branch["count"] == 0x1E946F73E80
    assert (branch["first"], branch["record_bytes"]) == (0, 34)
    assert gap["kind"] == "gap" and gap["reason"] == "truncated"
    assert (gap["first"], gap["end"]) == (34, 57)
    assert load["truncated"] is True and load["lat_xlat"] == 0
    assert load["va"] == "0xffff800073babd50" and load["va_tag"] == "0xff"
    assert load["pa"] == "0xf3babd50" and "source" not in load


def test_packets_without_a_field_are_told(case: Case) -> None:
    case.write("a.spe", ODD)
    run = case.run("events", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    (sample,) = run.objects()
    assert sample["packets"] == [
        {"header": 0x9E, "index": 6, "bytes": 2, "payload": "0x10c"},
        {"header": 0x90, "index": 0, "bytes": 2, "payload": "0xbbaa"},
    ]
    case.run("events", "--tech=spe", "a.spe").want(
        0, out_has="memory general pc_el 0"
    )


def test_damage_counts_as_loss(case: Case) -> None:
    case.write("a.spe", MODEL)
    case.run("check", "--tech=spe", "a.spe").want(
        3, out_has=("stream 0  spe", "gap truncated")
    )


def test_packets_are_not_known_yet(case: Case) -> None:
    case.write("a.spe", MODEL)
    case.run("packets", "--tech=spe", "a.spe").want(
        4, err_has="packets of spe are not known"
    )
