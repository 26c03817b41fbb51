"""Where output goes: files that appear when complete, full disks, pipes."""

from runner import BRANCHES, OVERFLOW, Case

PRINTERS = ["info", "check", "events", "insns", "packets"]


def test_output_file_holds_what_stdout_would(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for command in PRINTERS:
        want = case.run(command, *code, trace).want(0).out
        for words in (["-o", "out.txt"], ["--output=out.txt"]):
            case.run(command, *code, *words, trace).want(0, out="")
            assert (case.folder / "out.txt").read_text() == want
        assert case.run(command, *code, "-o", "-", trace).want(0).out == want
    assert [path.name for path in case.folder.iterdir()] == ["out.txt"]


def test_output_file_is_kept_when_loss_is_the_result(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.run("check", *code, "-o", "out.txt", trace).want(3, out="")
    assert "overflow" in (case.folder / "out.txt").read_text()


def test_failure_keeps_the_old_file(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.write("out.txt", "old\n")
    case.run("events", *code, "--strict", "-o", "out.txt", trace).want(1)
    case.run("events", "nowhere.pt", "-o", "out.txt").want(1)
    assert (case.folder / "out.txt").read_text() == "old\n"
    assert [path.name for path in case.folder.iterdir()] == ["out.txt"]


def test_new_file_keeps_the_mode_of_the_old(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    old = case.write("out.txt", "old\n")
    old.chmod(0o600)
    case.run("events", *code, "-o", "out.txt", trace).want(0)
    assert old.stat().st_mode & 0o777 == 0o600
    assert old.read_text() != "old\n"


def test_output_through_a_symbolic_link(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.write("real.txt", "old\n")
    (case.folder / "link.txt").symlink_to("real.txt")
    case.run("events", *code, "-o", "link.txt", trace).want(0)
    assert (case.folder / "link.txt").is_symlink()
    assert (case.folder / "real.txt").read_text() != "old\n"


def test_folder_that_is_not_there(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("events", *code, "-o", "no/such/out.txt", trace).want(
        1, err_has="hwtdecode: no/such/out.txt: No such file"
    )
    case.run("events", *code, "-o", ".", trace).want(
        1, err_has="hwtdecode: .: Is a directory"
    )


def test_full_disk_is_a_failure(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for command in PRINTERS:
        case.run(command, *code, "-o", "/dev/full", trace).want(
            1,
            err_has=(
                "hwtdecode: /dev/full: cannot write: No space left on "
                "device\n",
                "hint: ",
            ),
        )
        run = case.shell(
            f"\"$T\" {command} --images '{code[1]}' '{trace}' >/dev/full"
        )
        run.want(
            1,
            err_has=(
                "hwtdecode: standard output: cannot write: No space left "
                "on device\n"
            ),
        )
    for words in ("help", "version", "help events"):
        case.shell(f'"$T" {words} >/dev/full').want(1, err_has="No space left")


def test_full_disk_stops_a_long_run(case: Case) -> None:
    trace, code = case.long_trace(3000)
    case.run("insns", *code, "-o", "/dev/full", trace).want(
        1, err_has="No space left"
    )


def test_closed_standard_output(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.shell(f"\"$T\" events --images '{code[1]}' '{trace}' >&-").want(
        1, err_has="cannot write"
    )
    case.shell(
        f"\"$T\" events --images '{code[1]}' -o out.txt '{trace}' >&- 2>&- <&-"
    ).want(0)
    assert " block " in (case.folder / "out.txt").read_text()


def test_reader_that_goes_away_is_quiet(case: Case) -> None:
    trace, code = case.long_trace(3000)
    for form in ("text", "jsonl", "csv"):
        run = case.shell(
            f"{{ \"$T\" insns --format={form} --image '{code[1]}' '{trace}'; "
            "echo $? >code; } | head -1"
        )
        run.want(0, err="")
        assert run.out.count("\n") == 1
        assert (case.folder / "code").read_text() == "0\n"


def test_progress_only_when_asked_or_on_a_terminal(case: Case) -> None:
    trace, code = case.long_trace(10)
    for command in ("check", "events", "insns"):
        case.run(command, *code, trace).want(0, err="")
        case.run(command, *code, "--progress", trace)
