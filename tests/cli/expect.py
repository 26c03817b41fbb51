"""hwtdecode check --expect: store what was found, compare later."""

from runner import BRANCHES, OVERFLOW, SHORT, Case


def fnv(addresses: list[int]) -> int:
    """The hash that the man page describes."""
    value = 1469598103934665603
    for address in addresses:
        for byte in address.to_bytes(8, "little"):
            value = ((value ^ byte) * 1099511628211) % 2**64
    return value


def test_round_trip(case: Case) -> None:
    for name in (BRANCHES, SHORT, OVERFLOW):
        trace, code = case.trace(name)
        words = ["check", *code, "--expect", "stored.txt", trace]
        case.run(*words, "--update").want(0)
        case.run(*words).want(0)


def test_stored_lines(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    case.run("check", *code, "--expect=stored.txt", "--update", trace).want(0)
    lines = (case.folder / "stored.txt").read_text().splitlines()
    assert lines[0] == "hwtdecode-expectation 1"
    stored = dict(line.split(" ", 1) for line in lines[1:])
    rows = case.run("insns", *code, "--format=jsonl", trace).want(0).objects()
    insns = [int(row["ip"], 16) for row in rows if row["kind"] == "insn"]
    assert stored["streams"] == "1"
    assert stored["stream.0.tech"] == "intel-pt"
    assert stored["stream.0.bytes"] == str(trace.stat().st_size)
    assert stored["stream.0.gap-bytes"] == "0"
    assert stored["stream.0.insns"] == str(len(insns))
    assert stored["stream.0.ip-hash"] == f"{fnv(insns):#018x}"
    assert stored["stream.0.gaps.overflow.count"] == "1"
    for kind in {row["kind"] for row in rows} - {"insn"}:
        count = sum(row["kind"] == kind for row in rows)
        assert stored[f"stream.0.rows.{kind}"] == str(count)


def test_mismatch_is_exit_1_and_names_each_difference(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    words = ["check", *code, "--expect", "stored.txt", trace]
    case.run(*words, "--update").want(0)
    stored = (case.folder / "stored.txt").read_text()
    changed = (
        stored.replace("stream.0.blocks ", "stream.0.blocks 9")
        + "stream.0.rows.async 4\n"
    )
    changed = "".join(
        line for line in changed.splitlines(True) if ".insns " not in line
    )
    case.write("stored.txt", changed)
    run = case.run(*words).want(
        1,
        out_has=(
            "differences\n",
            "stream.0.blocks: expected 9",
            "stream.0.rows.async: expected 4, found nothing\n",
            "stream.0.insns: expected nothing, found ",
        ),
        err_has=("3 values differ from what is expected", "hint: "),
    )
    assert run.out.count(": expected ") == 3
    lines = (
        case.run(*words, "--format=jsonl")
        .want(1, err_has="3 values")
        .objects()
    )
    assert sorted(
        line["key"] for line in lines if line["type"] == "difference"
    ) == [
        "stream.0.blocks",
        "stream.0.insns",
        "stream.0.rows.async",
    ]
    case.run(*words, "--format=csv").want(1, err_has="3 values").table()
    case.run(*words, "--update").want(0)
    assert (case.folder / "stored.txt").read_text() == stored


def test_other_code_is_a_mismatch(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("check", *code, "--expect=stored.txt", "--update", trace).want(0)
    case.run("check", "--expect=stored.txt", trace).want(
        1, out_has="stream.0.ip-hash: expected 0x", err_has="differ"
    )


def test_expected_loss_is_no_loss(case: Case) -> None:
    trace, code = case.trace(OVERFLOW)
    words = ["check", *code, "--expect=stored.txt", trace]
    case.run(*words, "--update").want(0)
    case.run(*words).want(0)
    case.run(*words, "--max-loss=0").want(3)


def test_no_stored_file(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("check", *code, "--expect=nowhere.txt", trace).want(
        1,
        err=(
            "hwtdecode: nowhere.txt: No such file or directory\n"
            "hint: --update writes it\n"
        ),
    )


def test_broken_stored_file(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    first = "hwtdecode-expectation 1\n"
    for text, message in (
        ("", "stored.txt: empty"),
        ("streams 1\n", "stored.txt: line 1: not 'hwtdecode-expectation 1'"),
        ("hwtdecode-expectation 2\n", "line 1: not"),
        (first + "streams\n", "stored.txt: line 2: not 'key value'"),
        (first + " streams 1\n", "line 2: not 'key value'"),
        (first + "a 1\nb 2\na 3\n", "'a' stands there twice"),
        (first + "a " + "x" * 2000 + "\n", "line 2: too long"),
        (first + "\x00\xff\n", "line 2: "),
    ):
        case.write("stored.txt", text)
        run = case.run("check", *code, "--expect=stored.txt", trace)
        run.want(1, err_has=message if "\x00" not in text else "")


def test_comments_and_empty_lines_are_skipped(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    words = ["check", *code, "--expect=stored.txt", trace]
    case.run(*words, "--update").want(0)
    stored = (case.folder / "stored.txt").read_text()
    case.write("stored.txt", stored.replace("\n", "\n# why\n\n"))
    case.run(*words).want(0)


def test_expectation_does_not_depend_on_jobs_or_format(case: Case) -> None:
    trace, code = case.long_trace(3000)
    case.run(
        "check", *code, "--expect=one.txt", "--update", "--jobs=1", trace
    ).want(0)
    case.run(
        "check", *code, "--expect=one.txt", "--jobs=2", "--format=jsonl", trace
    ).want(0)


def test_unwritable_expectation(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("check", *code, "--expect=/dev/full", "--update", trace).want(
        1, err_has="/dev/full: cannot write: No space left"
    )
    case.run(
        "check", *code, "--expect=no/such/folder", "--update", trace
    ).want(1, err_has="no/such/folder: ")
