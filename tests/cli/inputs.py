"""Inputs that are not there, are no files, or hold no trace."""

import os

from runner import BRANCHES, PSB, PSBEND, Case

READERS = ["info", "check", "events", "insns", "packets"]


def test_missing_file(case: Case) -> None:
    for command in READERS:
        case.run(command, "nowhere.pt").want(
            1,
            out="",
            err=(
                "hwtdecode: nowhere.pt: No such file or directory\n"
                "hint: check the name of the trace\n"
            ),
        )
    case.run("import", "nowhere.pt", "-o", "x.hwt").want(
        1, err_has="nowhere.pt: No such file"
    )


def test_missing_file_that_is_there_packed(case: Case) -> None:
    case.write("run.pt.zst", b"x")
    case.run("info", "run.pt").want(
        1, err_has="hint: unpack it first: zstd -d 'run.pt.zst'\n"
    )


def test_missing_image(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    for command in READERS:
        case.run(command, "--image", "nowhere.bin@0x1000", trace).want(
            1,
            out="",
            err=(
                "hwtdecode: nowhere.bin: No such file or directory\n"
                "hint: check the name of the image\n"
            ),
        )


def test_folder(case: Case) -> None:
    for command in READERS:
        case.run(command, ".").want(
            1, out="", err_has=("hwtdecode: .: Is a directory\n", "hint: ")
        )


def test_fifo_does_not_hang(case: Case) -> None:
    os.mkfifo(case.folder / "pipe")
    for command in READERS:
        case.run(command, "pipe").want(
            1,
            out="",
            err_has=("hwtdecode: pipe: not a regular file\n", "hint: "),
        )


def test_device(case: Case) -> None:
    case.run("events", "/dev/zero").want(1, err_has="not a regular file")


def test_empty_file_is_not_recognised(case: Case) -> None:
    case.write("empty", b"")
    for command in READERS:
        case.run(command, "empty").want(
            4,
            out="",
            err_has=("hwtdecode: empty:0x0: ", "hint: nothing was recorded"),
        )


def test_garbage_is_not_recognised(case: Case) -> None:
    case.write("garbage", bytes(range(256)) * 16)
    for command in READERS:
        case.run(command, "garbage").want(
            4, out="", err_has=("hwtdecode: garbage: ", "--tech pt")
        )


def test_garbage_that_is_called_a_trace_is_one_gap(case: Case) -> None:
    case.write("garbage", b"\xa5" * 100)
    case.run("check", "--tech", "pt", "garbage").want(
        3, out_has=("100.0000%", "unsynced")
    )
    rows = (
        case.run("events", "--tech", "pt", "--format=jsonl", "garbage")
        .want(0)
        .objects()
    )
    assert [row["kind"] for row in rows] == ["gap"]
    assert (rows[0]["first"], rows[0]["end"]) == (0, 100)


def test_smallest_trace(case: Case) -> None:
    case.write("psb.pt", PSB + PSBEND)
    for command in ("info", "events", "insns", "packets"):
        case.run(command, "psb.pt").want(0)


def test_bundle_with_a_wrong_field_is_no_bad_copy(case: Case) -> None:
    case.write("trace.json", b'{"type":"intel-pt"}')
    run = case.run("info", "trace.json").want(
        4, out="", err_has="hint: correct what the message names"
    )
    assert "copy the file" not in run.err
    case.write("trace.json", b'{"type":')
    case.run("info", "trace.json").want(
        4, out="", err_has="hint: copy the file again from where it was"
    )


def test_unreadable_file(case: Case) -> None:
    if os.geteuid() == 0:
        return
    case.write("secret", PSB).chmod(0)
    case.run("info", "secret").want(
        1, err_has="hwtdecode: secret: Permission denied\n"
    )


def test_truncated_saved_trace_is_damaged_not_fatal_or_exit_4(
    case: Case,
) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("import", *code, trace, "-o", "good.hwt").want(0)
    data = (case.folder / "good.hwt").read_bytes()
    for size in range(0, len(data), 7):
        case.write("cut.hwt", data[:size])
        run = case.run("check", "cut.hwt")
        assert run.code in (3, 4), (size, run.code, run.err)


def test_unknown_engine(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for command in ("check", "events", "insns"):
        case.run(command, *code, "--engine", "steam", trace).want(
            2,
            out="",
            err_has=(
                "hwtdecode: --engine: there is no engine 'steam'\n",
                "hint: this build has: ",
                "libipt",
            ),
        )
        case.run(command, *code, "--engine=libipt", trace).want(0)


def test_unknown_stream(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for command in ("check", "events", "insns", "packets"):
        case.run(command, *code, "--stream", "0,7", trace).want(
            2, out="", err_has=("there is no stream 7\n", "streams 0 to 0")
        )


def test_standard_input(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    data = trace.read_bytes()
    (case.folder / "tmp").mkdir()
    for command in READERS:
        words = f"{command} --format=csv --images '{code[1]}'"
        run = case.shell(f'TMPDIR=tmp "$T" {words} -', data).want(0)
        want = case.run(command, "--format=csv", *code, trace).want(0).out
        if command != "info":
            assert run.out == want
        piped = case.shell(f'cat | TMPDIR=tmp "$T" {words} -', data)
        assert piped.want(0).out == run.out
    case.shell(f"\"$T\" import --images '{code[1]}' - -o x.hwt", data).want(0)
    case.run("check", "x.hwt").want(0)
    assert not list((case.folder / "tmp").iterdir())


def test_standard_input_that_is_no_trace(case: Case) -> None:
    (case.folder / "tmp").mkdir()
    for data in (b"", b"hello"):
        case.shell('TMPDIR=tmp "$T" info -', data).want(
            4, out="", err_has=("hwtdecode: standard input:", "hint: ")
        )
    case.shell('TMPDIR=/no/such "$T" info -', b"x").want(
        1, out="", err_has=("hwtdecode: /no/such: ", "hint: set TMPDIR")
    )
    case.shell('TMPDIR=tmp "$T" info - <&-').want(4, out="")
    assert not list((case.folder / "tmp").iterdir())


def test_memory_is_limited(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("info", *code, "--max-memory=1K", trace).want(
        1, out="", err_has="hint: allow more with --max-memory"
    )
    for size in ("64M", "1G", "0x4000000", "0"):
        case.run("info", *code, "--max-memory", size, trace).want(0)


def test_image_that_does_not_fit_is_named(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    size = len(case.write("code.bin", b"\x90" * 5000).read_bytes())
    for numbers in (
        "@0xffffffffffffff00",
        ":0xffffffffffffffff:1@0",
        f":{size + 1}@0x100000",
        f":1:{size}@0x100000",
    ):
        for command in READERS:
            case.run(command, "--image", f"code.bin{numbers}", trace).want(
                2,
                out="",
                err_has=(
                    "hwtdecode: code.bin: ",
                    f"{size} bytes",
                    "\nhint: check the numbers given with the image: ",
                ),
            )
    case.write("list.txt", f"code.bin 0 {size + 1:x} 100000\n")
    case.run("events", "--images=list.txt", trace).want(
        2, out="", err_has="hwtdecode: code.bin: "
    )
