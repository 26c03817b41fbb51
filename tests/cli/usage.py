"""Commands, help, versions and what is said about wrong usage."""

from runner import BRANCHES, Case

COMMANDS = ["info", "check", "events", "insns", "packets", "import", "help"]
COMMANDS += ["version", "record"]


def test_no_command_is_a_usage_error(case: Case) -> None:
    case.run().want(
        2,
        out="",
        err=(
            "hwtdecode: no command\n"
            "hint: 'hwtdecode help' lists the commands\n"
        ),
    )


def test_help_lists_every_command(case: Case) -> None:
    for words in (["help"], ["--help"], ["-h"]):
        case.run(*words).want(
            0, out_has=tuple(f"\n  {name} " for name in COMMANDS)
        )


def test_every_command_has_help(case: Case) -> None:
    for name in COMMANDS:
        text = (
            case.run("help", name)
            .want(0, out_has=f"usage: hwtdecode {name} ")
            .out
        )
        assert case.run(name, "--help").want(0).out == text
        assert case.run(name, "-h").want(0).out == text
        assert all(len(line) <= 79 for line in text.splitlines()), text


def test_help_of_rows_lists_the_kinds(case: Case) -> None:
    case.run("help", "events").want(
        0, out_has=("Kinds:", " block ", " gap ", " async ")
    )


def test_help_wins_over_missing_operands(case: Case) -> None:
    case.run("info", "--format", "jsonl", "--help").want(
        0, out_has="usage: hwtdecode info"
    )


def test_version_names_tool_and_libraries(case: Case) -> None:
    text = (
        case.run("version")
        .want(0, out_has=("hwtdecode ", "libhwtdecode ", "libipt ", "Zydis "))
        .out
    )
    assert "\nengine       libipt, for intel-pt" in text
    for words in (["--version"], ["-V"], ["events", "--version"]):
        assert case.run(*words).want(0).out == text


def test_unknown_command_suggests_the_nearest(case: Case) -> None:
    case.run("evnets", "x").want(
        2,
        out="",
        err=(
            "hwtdecode: unknown command 'evnets'\n"
            "hint: did you mean events?\n"
        ),
    )
    case.run("xyzzy").want(
        2, out="", err_has="hint: 'hwtdecode help' lists the commands\n"
    )
    case.run("help", "chek").want(2, out="", err_has="did you mean check?")


def test_unknown_option_suggests_the_nearest(case: Case) -> None:
    for wrong, right in (
        ("--fromat", "format"),
        ("--limti=3", "limit"),
        ("--imge", "image"),
        ("--dis", "disasm"),
        ("--bytse", "bytes"),
    ):
        name = wrong.split("=")[0]
        case.run("insns", wrong, "x").want(
            2,
            out="",
            err=(
                f"hwtdecode: unknown option {name}\n"
                f"hint: did you mean --{right}?\n"
            ),
        )
    case.run("info", "--frobnicate", "x").want(
        2,
        err_has=("unknown option --frobnicate", "hint: 'hwtdecode help info'"),
    )


def test_option_of_another_command_is_named_so(case: Case) -> None:
    case.run("info", "--disasm", "x").want(
        2, err_has="hwtdecode: info does not take --disasm\n"
    )
    case.run("import", "--format", "csv", "x").want(
        2, err_has="import does not take --format"
    )


def test_unknown_short_option(case: Case) -> None:
    case.run("events", "-q", "x").want(2, err_has="unknown option -q\n")


def test_option_before_the_command(case: Case) -> None:
    case.run("--format", "jsonl", "info", "x").want(
        2, err_has=("'--format' stands where the command belongs", "hint: ")
    )


def test_missing_value(case: Case) -> None:
    case.run("events", "x", "--limit").want(
        2, err_has="--limit needs a value: N\n"
    )
    case.run("events", "x", "-o").want(2, err_has="-o needs a value: FILE\n")


def test_value_where_none_belongs(case: Case) -> None:
    case.run("events", "--strict=1", "x").want(
        2, err_has="--strict takes no value\n"
    )


def test_wrong_choice_names_the_choices(case: Case) -> None:
    case.run("events", "--format=xml", "x").want(
        2, err_has="--format: 'xml' is not text|jsonl|csv\n"
    )
    case.run("events", "--color", "red", "x").want(
        2, err_has="auto|always|never"
    )
    case.run("events", "--tech", "arm", "x").want(
        2, err_has="'arm' is not pt|coresight|spe\n"
    )


def test_too_few_and_too_many_operands(case: Case) -> None:
    for name in ("info", "check", "events", "insns", "packets", "import"):
        case.run(name).want(2, err_has=f"hwtdecode: {name} needs FILE\n")
        case.run(name, "a", "b").want(
            2, err_has="'b' is one operand too many\n"
        )
    case.run("version", "x").want(2, err_has="'x' is one operand too many")


def test_value_after_equal_sign_or_blank(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    one = case.run("events", *code, "--format=jsonl", trace).want(0).out
    assert (
        one
        == case.run("events", *code, "--format", "jsonl", trace).want(0).out
    )
    assert (
        one
        == case.run("events", trace, *code, "--format", "jsonl").want(0).out
    )


def test_two_dashes_end_the_options(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.write("--limit", trace.read_bytes())
    case.run("events", *code, "--", "--limit").want(0, out_has=" block ")


def test_short_options_join_and_take_their_value_glued(case: Case) -> None:
    trace, code = case.trace(BRANCHES)
    case.run("check", "-vo", "out.txt", *code, trace).want(0, out="")
    case.run("check", "-vj2", "-oother.txt", *code, trace).want(0, out="")
    assert (case.folder / "out.txt").read_text() == (
        case.folder / "other.txt"
    ).read_text()


def test_option_pairs_that_exclude_each_other(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.run("import", trace, "-o", "x.hwt", "--embed", "--no-embed").want(
        2, err_has="exclude each other"
    )
    case.run(
        "import", trace, "-o", "x.hwt", "--level", "3", "--no-compress"
    ).want(2, err_has="exclude each other")
    case.run("check", trace, "--update").want(
        2, err_has="--update needs --expect FILE"
    )
