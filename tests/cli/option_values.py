"""What the values of options may look like, and what they do."""

from runner import BRANCHES, Case


def test_numbers_outside_their_range(case: Case) -> None:
    for words in (
        ["--limit", "-1"],
        ["--limit", "1x"],
        ["--limit", ""],
        ["--limit", "18446744073709551616"],
        ["--jobs", "0"],
        ["--jobs", "1025"],
        ["--pt-mtc-freq", "16"],
        ["--pt-nom-freq", "256"],
        ["--stream-cpu", "4294967295"],
        ["--stream-pid", "0x"],
    ):
        case.run("events", *words, "x").want(
            2,
            out="",
            err_has=f"{words[0]}: '{words[1]}' is not a number from ",
        )


def test_values_of_a_wrong_shape(case: Case) -> None:
    for words in (
        ["--pt-cpu", "6"],
        ["--pt-cpu", "6/1/2/3"],
        ["--pt-cpu", "6//1"],
        ["--pt-cpuid-15h", "2"],
        ["--pt-filter", "0x10"],
        ["--pt-stop", "a-b"],
        ["--clock", "3"],
        ["--clock", "0/1"],
        ["--clock", "1/0"],
        ["--clock", "1/1@"],
        ["--clock", "1/1@5="],
        ["--clock", "1/1=5"],
        ["--time", "5"],
        ["--time", "-"],
        ["--time", "1.5-2"],
        ["--time", "1m-2m"],
        ["--time", "0.0000000001s-"],
        ["--address", "-"],
        ["--address", "main"],
        ["--cpu", ""],
        ["--cpu", "1,,2"],
        ["--tid", "1-"],
        ["--stream", "x"],
        ["--max-loss", "101"],
        ["--max-loss", "-1"],
        ["--max-loss", "nan"],
        ["--max-loss", ""],
        ["--max-memory", ""],
        ["--max-memory", "1T"],
        ["--max-memory", "G"],
        ["--max-memory", "-1"],
    ):
        case.run("events", *words, "x").want(
            2,
            out="",
            err_has=(f"{words[0]}: '{words[1]}' is not ", "\nhint: "),
        )


def test_values_out_of_range_are_told_from_wrong_shapes(case: Case) -> None:
    most = 2**64
    for words, message in (
        (["--time", "5-1"], "ends before it starts"),
        (["--time", "2ms-1us"], "ends before it starts"),
        (["--time", "5-5"], "is empty: its end is not part of it"),
        (["--time", "99999999999s-"], "is too large"),
        (["--time", f"-{most}"], "is too large"),
        (["--time", f"{most * 100}-1"], "is too large"),
        (["--time", f"{most * 100}-x"], "is not A-B"),
        (["--address", "0xffffffffffffffff"], "is too large"),
        (["--address", "0xffffffffffffffff-"], "is empty: "),
        (["--address", f"{most}-"], "is too large"),
        (["--address", "0x20-0x10"], "ends before it starts"),
        (["--address", "7-7"], "is empty: its end is not part of it"),
        (["--pt-filter", "0x10-0xf"], "ends before it starts"),
        (["--pt-stop", f"0x10-{most}"], "is too large"),
        (["--pt-cpu", "6/256"], "is too large"),
        (["--pt-cpu", f"6/{most}"], "is too large"),
        (["--pt-cpuid-15h", "2/4294967296"], "is too large"),
        (["--clock", f"{most}/1"], "is too large"),
        (["--clock", f"{most}/x"], "is not COUNTS/NS"),
        (["--clock", "1@5/3"], "is not COUNTS/NS"),
        (["--cpu", "3-1"], "ends before it starts"),
        (["--cpu", f"1,{most}"], "is too large"),
        (["--tid", "4294967295"], "is too large"),
        (["--pid", "0-4294967294"], "is too large"),
    ):
        case.run("events", *words, "x").want(
            2,
            out="",
            err_has=(f"{words[0]}: '{words[1]}' {message}", "\nhint: "),
        )


def test_last_address_that_can_be_asked_for(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("events", "--address=0xfffffffffffffffe", *code, trace).want(0)


def test_values_that_are_fine(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    for words in (
        ["--pt-cpu", "6/0x5e/3"],
        ["--pt-cpu", "6/94"],
        ["--pt-mtc-freq", "3"],
        ["--pt-nom-freq", "0x1e"],
        ["--pt-cpuid-15h", "2/250", "--pt-mtc-freq", "3"],
        ["--pt-filter", "0x100000-0x1fffff"],
        ["--pt-stop", "0-0"],
        ["--clock", "3/1"],
        ["--clock", "3000/1000@0x10=5"],
        ["--stream-cpu", "0", "--stream-pid=7", "--stream-tid", "8"],
        ["--time", "0-"],
        ["--time", "1.5us-2ms", "--time", "-3s"],
        ["--cpu", "0,2-5", "--stream-cpu=2"],
        ["--address", "0x100000", "--address", "0-"],
        ["--max-loss", "0.5%"],
        ["--jobs", "2"],
        ["--max-memory", "1G"],
        ["--max-memory", "100m"],
        ["--kind", "block,gap"],
        ["--stream", "0"],
    ):
        case.run("events", *words, *code, trace).want(0)


def test_more_filters_than_the_hardware_has(case: Case) -> None:
    words = ["--pt-filter", "1-2"] * 4 + ["--pt-stop", "1-2"]
    case.run("events", *words, "x").want(2, err_has="at most 4 filters")


def test_unknown_kind_suggests_the_nearest(case: Case) -> None:
    case.run("events", "--kind", "block,gpa", "x").want(
        2,
        err=(
            "hwtdecode: --kind: there is no kind 'gpa'\n"
            "hint: did you mean gap?\n"
        ),
    )
    case.run("events", "--kind", "frobnication", "x").want(
        2, err_has="lists the kinds"
    )


def test_images_by_option_equal_images_by_list(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    image = trace.parent / "code.bin"
    want = case.run("events", *code, "--format=jsonl", trace).want(0).out
    for spec in (
        f"{image}@0x100000",
        f"{image}@1048576",
        f"{image}:0@0x100000",
        f"{image}:0x0:0@0x100000",
        f"{image}:0:{image.stat().st_size}@0x100000",
        f"{image}:1@0x100001",
    ):
        rows = case.run(
            "events", "--image", spec, "--format=jsonl", trace
        ).want(0)
        if ":1@" not in spec:
            assert rows.out == want, spec


def test_offset_and_size_choose_bytes_of_the_file(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    data = (trace.parent / "code.bin").read_bytes()
    case.write("padded.bin", b"\xcc" * 16 + data + b"\xcc" * 16)
    want = case.run("events", *code, "--format=jsonl", trace).want(0).out
    spec = f"padded.bin:16:{len(data):#x}@0x100000"
    assert (
        case.run("events", "--image", spec, "--format=jsonl", trace)
        .want(0)
        .out
        == want
    )


def test_image_names_with_colons_and_ats(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    data = (trace.parent / "code.bin").read_bytes()
    want = case.run("events", *code, "--format=jsonl", trace).want(0).out
    for name, numbers in (
        ("a:b", ""),
        ("a:b", ":0"),
        ("a:1", ""),
        ("a:1", ":0:0"),
        ("b:1:2", ""),
        ("a@0x5", ""),
        ("a@5:3", ":0"),
    ):
        case.write(name, data)
        spec = f"{name}{numbers}@0x100000"
        run = case.run(
            "events", "--image", spec, "--format=jsonl", trace
        ).want(0)
        assert run.out == want, spec


def test_image_without_address(case: Case) -> None:
    for spec in ("code.bin", "code.bin@", "@0x1000", "code.bin@main", ""):
        case.run("events", "--image", spec, "x").want(
            2,
            err_has=(
                f"'{spec}' is not FILE[:OFFSET[:SIZE]]@ADDRESS",
                "hint: ",
            ),
        )


def test_list_of_images_with_comments_blanks_and_spaces_in_names(
    case: Case,
) -> None:
    trace, code = case.trace(BRANCHES)
    data = (trace.parent / "code.bin").read_bytes()
    (case.folder / "sub").mkdir()
    case.write("sub/my code.bin", data)
    case.write(
        "sub/list.txt", f"# code\n\n my code.bin\t0 {len(data):x}   100000 \n"
    )
    want = case.run("events", *code, "--format=jsonl", trace).want(0).out
    assert (
        case.run("events", "--images=sub/list.txt", "--format=jsonl", trace)
        .want(0)
        .out
        == want
    )


def test_list_of_images_with_a_bad_line(case: Case) -> None:
    for line in (
        "code.bin 0 10",
        "code.bin 0 10 xyz",
        "0 10 100000",
        "code.bin 0 0x10 1000",
    ):
        case.write("list.txt", f"# first\n{line}\n")
        case.run("events", "--images", "list.txt", "x").want(
            2, out="", err_has=("hwtdecode: list.txt: line 2: ",)
        )
    case.write("list.txt", "x" * 10000 + " 0 0 0\n")
    case.run("events", "--images", "list.txt", "x").want(
        2, err_has="list.txt: line 1: too long"
    )


def test_list_of_images_that_is_not_there(case: Case) -> None:
    case.run("events", "--images", "nowhere.txt", "x").want(
        1, err_has="hwtdecode: nowhere.txt: No such file"
    )
