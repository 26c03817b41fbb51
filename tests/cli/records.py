"""hwtdecode records: every known field, in each format, and filters."""

import spaces
from runner import BRANCHES, Case


def test_jsonl_has_every_known_field(case: Case) -> None:
    spaces.make(case)
    lines = case.run("records", "--format=jsonl", "run.hwt").want(0).objects()
    assert [line["record"] for line in lines] == list(range(10))
    for line in lines:
        assert line.pop("schema") == 1
        assert line.pop("type") == "record"
        del line["record"]
    assert lines[0] == {
        "record_type": "exec",
        "time_ns": 100,
        "pid": 5,
        "tid": 5,
        "address": hex(spaces.PROGRAM),
        "name": "/bin/program",
    }
    assert lines[1] == {
        "record_type": "mmap",
        "time_ns": 200,
        "pid": 5,
        "address": hex(spaces.LIBRARY + 0x1000),
        "length": 4096,
        "file_offset": 4096,
        "name": "/lib/library.so",
        "build_id": "cd" * 20,
    }
    assert lines[4] == {
        "record_type": "fork",
        "time_ns": 500,
        "pid": 6,
        "value": 5,
    }
    assert lines[6] == {
        "record_type": "mmap",
        "time_ns": 0,
        "address": hex(spaces.KERNEL),
        "length": 4096,
        "kernel": True,
        "anonymous": True,
    }
    assert lines[7] == {
        "record_type": "thread-name",
        "pid": 5,
        "tid": 7,
        "name": 'worker\x1b[31m,"',
    }
    assert lines[8] == {
        "record_type": "switch",
        "time_ns": 700,
        "cpu": 2,
        "pid": 5,
        "tid": 5,
        "switch_out": True,
    }
    assert lines[9] == {"record_type": "buffer", "stream": 0, "offset": 10}


def test_csv_has_empty_fields_for_what_is_unknown(case: Case) -> None:
    spaces.make(case)
    rows = case.run("records", "--format=csv", "run.hwt").want(0).table()
    assert len(rows) == 10
    assert rows[1]["build_id"] == "cd" * 20
    assert rows[1]["address"] == hex(spaces.LIBRARY + 0x1000)
    assert rows[1]["cpu"] == ""
    assert rows[6]["flags"] == "kernel anonymous"
    assert rows[6]["pid"] == ""
    bare = case.run("records", "--format=csv", "--no-header", "run.hwt")
    assert bare.want(0).out.startswith("0,exec,100,")


def test_text_is_aligned_and_escaped(case: Case) -> None:
    spaces.make(case)
    text = case.run("records", "run.hwt").want(0).out
    assert "\x1b" not in text
    assert "worker\\x1b[31m" in text
    lines = text.splitlines()
    column = lines[0].index("type")
    assert [line[column:].split()[0] for line in lines[1:4]] == [
        "exec",
        "mmap",
        "mmap",
    ]


def test_filters(case: Case) -> None:
    spaces.make(case)
    for words, want in (
        (["--type=mmap"], [1, 2, 3, 6]),
        (["--type=fork,exec"], [0, 4]),
        (["--pid=6"], [4, 5]),
        (["--tid=7"], [7]),
        # Also of the stream that a record names.
        (["--cpu=2"], [8, 9]),
        (["--cpu=3"], []),
        (["--stream=0"], [9]),
        (["--time=200-400"], [1, 2]),
        (["--time=0-1"], [6]),
        (["--time=0-1", "--time=200-201"], [1, 6]),
        (["--pid=5,6", "--type=mmap,munmap"], [1, 2, 3, 5]),
        (["--limit=2"], [0, 1]),
        (["--type=mmap", "--limit=2"], [1, 2]),
        (["--limit=0"], []),
    ):
        run = case.run("records", "--format=jsonl", *words, "run.hwt").want(0)
        got = [line["record"] for line in run.objects()] if run.out else []
        assert got == want, (words, got)


def test_filters_are_those_of_rows(case: Case) -> None:
    spaces.make(case)
    for words in (
        ["--cpu=0-9"],
        ["--cpu=2"],
        ["--stream=0"],
        ["--time=200-"],
        ["--pid=5"],
        ["--tid=7"],
    ):
        numbers = []
        for command in (["records"], ["events", "--kind=record"]):
            run = case.run(
                *command, "--format=jsonl", *words, "run.hwt"
            ).want(0)
            numbers.append({row["record"] for row in run.objects()})
        assert numbers[0] == numbers[1] != set(), words


def test_streams_that_are_not_there_are_refused(case: Case) -> None:
    spaces.make(case)
    case.run("records", "--stream=7", "run.hwt").want(
        2, out="", err_has=("there is no stream 7", "hint: ")
    )


def test_wrong_types_are_refused(case: Case) -> None:
    spaces.make(case)
    for bad in ("map", "", "mmap,", "MMAP"):
        case.run("records", f"--type={bad}", "run.hwt").want(
            2, out="", err_has=("--type: there is no type '", "hint: ")
        )


def test_trace_without_records(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("records", "--format=jsonl", trace).want(0, out="")


def test_output_file(case: Case) -> None:
    spaces.make(case)
    want = case.run("records", "run.hwt").want(0).out
    case.run("records", "-o", "out.txt", "run.hwt").want(0, out="")
    assert (case.folder / "out.txt").read_text() == want
