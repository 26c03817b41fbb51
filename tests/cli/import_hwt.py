"""hwtdecode import: what is saved decodes to the same rows."""

import shutil

from runner import BRANCHES, MISSING, OVERFLOW, SHORT, Case


def rows(case: Case, *words: object) -> str:
    return (
        case.run("events", "--format=jsonl", *[str(word) for word in words])
        .want(0)
        .out
    )


def test_saved_trace_gives_the_same_rows(case: Case) -> None:
    for number, name in enumerate((BRANCHES, SHORT, OVERFLOW, MISSING)):
        trace, code = case.trace(name)
        saved = f"{number}.hwt"
        case.run("import", *code, trace, "-o", saved).want(0, out="")
        assert rows(case, saved) == rows(case, *code, trace), name
        case.run("info", saved).want(0, out_has="format     hwt\n")


def test_saved_trace_needs_no_files(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    shutil.copy(trace.parent / "code.bin", case.folder / "gone.bin")
    case.run("import", "--image=gone.bin@0x100000", trace, "-o", "x.hwt").want(
        0
    )
    want = rows(case, "--image=gone.bin@0x100000", trace)
    (case.folder / "gone.bin").unlink()
    assert rows(case, "x.hwt") == want


def test_saved_trace_keeps_what_the_options_said(case: Case) -> None:
    trace, code = case.trace(SHORT)
    words = [
        "--stream-cpu=3",
        "--stream-pid=7",
        "--stream-tid=8",
        "--clock=3/1@10=20",
    ]
    words += [
        "--pt-cpu=6/94/3",
        "--pt-mtc-freq=3",
        "--pt-filter=0x10-0x7fffffffffff",
    ]
    case.run("import", *words, *code, trace, "-o", "x.hwt").want(0)
    raw = (
        case.run("info", *words, *code, "--format=jsonl", trace)
        .want(0)
        .objects()[1]
    )
    saved = case.run("info", "--format=jsonl", "x.hwt").want(0).objects()[1]
    raw.pop("name", None)
    saved.pop("name", None)
    assert raw == saved


def test_import_of_a_saved_trace(case: Case) -> None:
    trace, code = case.trace(SHORT)
    case.run("import", *code, trace, "-o", "a.hwt").want(0)
    case.run("import", "a.hwt", "--embed", "-o", "b.hwt").want(0)
    assert rows(case, "b.hwt") == rows(case, *code, trace)


def test_saved_trace_without_code_takes_images(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("import", trace, "-o", "x.hwt").want(0)
    case.run("check", "x.hwt").want(3, out_has="no-code")
    assert rows(case, *code, "x.hwt") == rows(case, *code, trace)


def test_options_for_raw_bytes_are_not_silently_dropped(case: Case) -> None:
    trace, code = case.trace(SHORT)
    case.run("import", *code, trace, "-o", "x.hwt").want(0)
    for word in ("--clock=3/1", "--stream-cpu=1", "--tech=pt"):
        name = word.split("=")[0]
        case.run("info", word, "x.hwt").want(
            0, err_has=f"warning: x.hwt: {name} describes raw bytes"
        )


def test_compression_levels(case: Case) -> None:
    trace, code = case.long_trace(100)
    size = {}
    for name, words in (
        ("plain", ["--no-compress"]),
        ("fast", ["--level=1"]),
        ("best", ["--level=19"]),
        ("usual", []),
    ):
        case.run("import", *code, *words, trace, "-o", f"{name}.hwt").want(0)
        size[name] = (case.folder / f"{name}.hwt").stat().st_size
        assert rows(case, f"{name}.hwt") == rows(case, *code, trace)
    assert size["plain"] > trace.stat().st_size > size["fast"] >= size["best"]
    case.run("import", "--level=20", trace, "-o", "x.hwt").want(
        2, err_has="from 1 to 19"
    )


def test_output_is_needed_and_must_be_a_file(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("import", trace).want(
        2, err_has=("import needs -o FILE", "hint: ")
    )
    for path in ("-", "/dev/null", "/dev/full", "."):
        case.run("import", trace, "-o", path).want(
            2, out="", err_has="import writes regular files only"
        )
    case.run("import", trace, "-o", "no/such/x.hwt").want(
        1, err_has="no/such/x.hwt: "
    )


def test_input_is_never_overwritten(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    copy = case.write("copy.pt", trace.read_bytes())
    for path in ("copy.pt", "./copy.pt", str(copy)):
        case.run("import", "copy.pt", "-o", path).want(
            2, err_has="is both input and output"
        )
    assert copy.read_bytes() == trace.read_bytes()


def test_failed_import_leaves_nothing(case: Case) -> None:
    case.write("garbage", b"\x01\x02" * 100)
    case.run("import", "garbage", "-o", "x.hwt").want(4)
    assert sorted(path.name for path in case.folder.iterdir()) == ["garbage"]
