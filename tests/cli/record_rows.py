"""hwtdecode events --kind record: records among the rows."""

import spaces
from runner import BRANCHES, Case

# Time 0 and what follows it; by time; what names byte 10 of stream 0.
ORDER = [6, 7, 0, 1, 2, 3, 4, 5, 8, 9]


def numbers(case: Case, *words: str) -> list[int]:
    run = case.run(
        "events", "--kind=record", "--format=jsonl", *words, "run.hwt"
    ).want(0)
    return [row["record"] for row in run.objects()] if run.out else []


def test_rows_say_what_the_list_says(case: Case) -> None:
    spaces.make(case)
    lines = case.run("records", "--format=jsonl", "run.hwt").want(0).objects()
    rows = (
        case.run("events", "--kind=record", "--format=jsonl", "run.hwt")
        .want(0)
        .objects()
    )
    assert [row["record"] for row in rows] == ORDER
    for row in rows:
        line = lines[row["record"]]
        assert row.pop("kind") == line.pop("type") == "record"
        assert row.pop("ip", None) == line.get("address")
        # The CPU of the stream that it names.
        if line["record_type"] == "buffer":
            assert row.pop("cpu") == 2
        assert row == line


def test_text_and_csv_say_it_in_words(case: Case) -> None:
    spaces.make(case)
    text = case.run("events", "--kind=record", "run.hwt").want(0).out
    assert "\x1b" not in text
    assert "worker\\x1b[31m" in text
    listed = case.run("records", "run.hwt").want(0).out.splitlines()
    rows = text.splitlines()[1:]
    table = (
        case.run("events", "--kind=record", "--format=csv", "run.hwt")
        .want(0)
        .table()
    )
    for i, number in enumerate(ORDER):
        what = listed[1 + number][listed[0].index("type") :].split(None, 1)
        assert f"  {what[0]} " in rows[i]
        assert rows[i].endswith(f" {what[1]}"), (rows[i], what)
        assert table[i]["kind"] == "record"
        assert table[i]["detail"].startswith(f"{what[0]} ")
        assert table[i]["detail"].endswith(f" {what[1]}")
    assert [row["offset"] for row in table] == [""] * 9 + ["10"]
    assert table[0]["time_ns"] == "0" and table[1]["time_ns"] == ""
    assert table[0]["ip"] == hex(spaces.KERNEL)


def test_they_lie_among_other_rows(case: Case) -> None:
    spaces.make(case)
    words = ["events", "--format=jsonl", "--root=root"]
    plain = case.run(*words, "run.hwt").want(0).out.splitlines()
    kinds = "--kind=block,enable,disable,gap,context,mode,async,record"
    with_records = case.run(*words, kinds, "run.hwt").want(0).out.splitlines()
    others = [row for row in with_records if '"kind":"record"' not in row]
    assert others == plain
    assert len(with_records) == len(plain) + len(ORDER)
    assert not any('"kind":"record"' in row for row in plain)


def test_filters_and_limit(case: Case) -> None:
    spaces.make(case)
    assert numbers(case, "--pid=6") == [4, 5]
    assert numbers(case, "--tid=7") == [7]
    assert numbers(case, "--cpu=2") == [8, 9]
    assert numbers(case, "--stream=0") == [9]
    assert numbers(case, "--time=200-400") == [1, 2]
    assert numbers(case, "--time=0-1") == [6]
    # Anywhere in what was mapped, and taken away.
    assert numbers(case, f"--address={spaces.LIBRARY + 0x1FFF:#x}") == [1, 5]
    assert numbers(case, "--limit=3") == ORDER[:3]
    for jobs in ("1", "2", "4"):
        assert numbers(case, f"--jobs={jobs}") == ORDER


def test_loss_is_told_for_records_alone(case: Case) -> None:
    spaces.make(case)
    words = ["events", "--kind=record", "--format=jsonl"]
    want = case.run(*words, "run.hwt").want(0).out
    run = case.run(*words, "--max-loss=0", "run.hwt")
    assert run.want(3, err_has=("gave nothing",)).out == want
    run = case.run(*words, "--max-loss=0", "--limit=2", "run.hwt")
    assert run.out == "".join(want.splitlines(keepends=True)[:2])


def test_trace_without_records(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    words = ["events", "--kind=record", "--format=jsonl"]
    case.run(*words, *code, trace).want(0, out="")
