"""hwtdecode spe: samples of Arm SPE with every field, in all formats."""

import csv
import io

from runner import Case

N1 = "--spe-cpu=0x413fd0c1"


def slot(op: int = 0, source: bytes = b"\x43\x09", events: int = 0x16,
         ts: int = 1000, total: int = 9) -> bytes:
    """Make a load as Neoverse cores write it, at EL0 of thread 77."""
    return (
        b"\xb0" + (0x400078).to_bytes(7, "little") + b"\x80"
        + b"\x64" + (77).to_bytes(4, "little") + bytes(5)
        + bytes([0x49, op, 0x52]) + events.to_bytes(2, "little")
        + b"\x99\x04\x00\x98" + total.to_bytes(2, "little")
        + b"\xb2" + (0x20040).to_bytes(7, "little") + b"\xaa"
        + b"\x9a\x01\x00"
        + b"\xb3" + (0x770040).to_bytes(7, "little") + b"\x80"
        + source + bytes(2) + b"\x71" + ts.to_bytes(8, "little")
    )


NONE = bytes(2)


def test_text_has_every_field(case: Case) -> None:
    case.write("a.spe", slot())
    run = case.run("spe", "--tech=spe", N1, "--stream-cpu=2", "a.spe")
    run.want(0)
    assert run.out.splitlines()[1].split() == (
        "- 0 2 - 77 0x400078 memory general load el0 nonsecure total 9 "
        "issue 4 translation 1 source peer-core 0x9 va 0x20040 tag 0xaa "
        "pa 0x770040 nonsecure events retired,l1d-access,tlb-access "
        "context-el1 77 context-el2 0 count 1000"
    ).replace(" context-el2 0", "").split()


def test_no_source_is_not_source_0(case: Case) -> None:
    case.write("a.spe", slot(source=NONE) + slot(source=b"\x43\x00"))
    run = case.run("spe", "--tech=spe", N1, "--format=jsonl", "a.spe").want(0)
    without, zero = run.objects()
    assert without["source"] is None and without["source_name"] == "none"
    assert zero["source"] == 0 and zero["source_name"] == "l1d"
    run = case.run("spe", "--tech=spe", N1, "--format=csv", "a.spe").want(0)
    without, zero = csv.DictReader(io.StringIO(run.out))
    assert (without["source"], without["source_name"]) == ("", "none")
    assert (zero["source"], zero["source_name"]) == ("0", "l1d")


def test_names_of_bits_that_nobody_named(case: Case) -> None:
    case.write("a.spe", slot(events=0x3016))
    run = case.run("spe", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    (sample,) = run.objects()
    assert sample["event_names"] == [
        "retired", "l1d-access", "tlb-access", "bit12", "bit13"]
    assert "source_name" not in sample and sample["source"] == 9
    run = case.run("spe", "--tech=spe", N1, "--format=jsonl", "a.spe").want(0)
    (sample,) = run.objects()
    assert sample["event_names"][3:] == ["late-prefetch", "bit13"]


def test_a_store_has_no_source_by_name(case: Case) -> None:
    case.write("a.spe", slot(op=1))
    run = case.run("spe", "--tech=spe", N1, "--format=jsonl", "a.spe").want(0)
    (sample,) = run.objects()
    assert sample["source"] == 9 and "source_name" not in sample


def test_limits_of_latencies_and_damage_are_told(case: Case) -> None:
    case.write("a.spe", slot(total=0xFFF) + slot()[:40])
    run = case.run("spe", "--tech=spe", "a.spe")
    run.want(0, out_has=("total 4095+", "total_saturated", "gap truncated",
                         "no-end truncated"))
    run = case.run("spe", "--tech=spe", "--format=csv", "a.spe").want(0)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["kind"] for row in rows] == ["sample", "gap", "sample"]
    assert rows[0]["flags"] == "total_saturated"
    assert rows[1]["detail"].startswith("truncated")
    assert rows[2]["flags"] == "truncated" and rows[2]["end"] == "none"


def test_filters_are_those_of_events(case: Case) -> None:
    case.write("a.spe", b"".join(slot(ts=100 * i) for i in range(1, 9)))
    common = ("spe", "--tech=spe", "--clock=1/1", "--format=jsonl", "a.spe")
    assert len(case.run(*common, "--time=300-500").want(0).objects()) == 2
    assert len(case.run(*common, "--limit=3").want(0).objects()) == 3
    assert len(case.run(*common, "--tid=77").want(0).objects()) == 8
    assert not case.run(*common, "--tid=78").want(0).objects()
    assert not case.run(*common, "--kind=gap").want(0).objects()
    case.write("b.spe", slot(total=5) + slot(op=1) + slot())
    chosen = case.run("spe", "--tech=spe", "--format=jsonl", "--limit=1",
                      "--where=store or", "b.spe")
    chosen.want(2, err_has="'and' belongs")
    chosen = case.run("spe", "--tech=spe", "--format=jsonl",
                      "--where=lat_total > 5", "--limit=1", "b.spe").want(0)
    assert [row["offset"] for row in chosen.objects()] == [128]
    one = case.run(*common, "--jobs=1").want(0).out
    assert one == case.run(*common, "--jobs=3").want(0).out
    case.run(*common, "-o", "out").want(0)
    assert (case.folder / "out").read_text() == one
