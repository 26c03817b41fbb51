"""No output replaces a file that the command reads."""

import json
import os
from pathlib import Path

from runner import BRANCHES, Case

COMMANDS = ["info", "check", "events", "insns", "packets", "import"]


class Files:
    """A trace, its code and a list of images, and links to each."""

    def __init__(self, case: Case) -> None:
        trace, _ = case.trace(BRANCHES)
        data = (trace.parent / "code.bin").read_bytes()
        case.write("run.pt", trace.read_bytes())
        case.write("code.bin", data)
        case.write("list.txt", f"code.bin 0 {len(data):x} 100000\n")
        self.folder = case.folder
        self.names = ["run.pt", "code.bin", "list.txt"]
        for name in list(self.names):
            (case.folder / f"soft-{name}").symlink_to(name)
            os.link(case.folder / name, case.folder / f"hard-{name}")
        self.before = self.state()

    def state(self) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes() for path in self.folder.iterdir()
        }

    def spellings(self, name: str) -> list[str | Path]:
        return [
            name,
            f"./{name}",
            self.folder / name,
            f"soft-{name}",
            f"hard-{name}",
        ]

    def same(self) -> None:
        assert self.state() == self.before


def test_trace_code_and_list_are_never_replaced(case: Case) -> None:
    files = Files(case)
    for command in COMMANDS:
        for name in files.names:
            for path in files.spellings(name):
                case.run(
                    command, "--images=list.txt", "run.pt", "-o", path
                ).want(
                    2,
                    out="",
                    err=(
                        f"hwtdecode: {path}: is both input and output\n"
                        "hint: name another file with -o\n"
                    ),
                )
                files.same()
        case.run(
            command, "--image=code.bin@0x100000", "run.pt", "-o", "code.bin"
        ).want(2, out="", err_has="code.bin: is both input and output")
        files.same()


def test_standard_input_is_never_replaced(case: Case) -> None:
    files = Files(case)
    for command in COMMANDS:
        case.shell(f'"$T" {command} - -o run.pt <run.pt').want(
            2, out="", err_has="run.pt: is both input and output"
        )
        files.same()


def test_nothing_is_appended_to_what_is_read(case: Case) -> None:
    files = Files(case)
    for command in COMMANDS[:-1]:
        case.shell(f'"$T" {command} run.pt >>run.pt').want(
            2, err_has="standard output: is both input and output"
        )
        files.same()


def test_expectation_is_written_over_no_input(case: Case) -> None:
    files = Files(case)
    for name in files.names:
        for path in files.spellings(name):
            case.run(
                "check",
                "--images=list.txt",
                "run.pt",
                "--update",
                "--expect",
                path,
            ).want(
                2,
                out="",
                err=(
                    f"hwtdecode: {path}: is both input and output\n"
                    "hint: name another file with --expect\n"
                ),
            )
            files.same()


def test_files_of_a_bundle_are_never_replaced(case: Case) -> None:
    files = Files(case)
    case.write("switches", b"")
    cpu = {"id": 0, "iptTrace": "run.pt", "contextSwitchTrace": "switches"}
    clock = {"timeMult": 1, "timeShift": 0, "timeZero": 0}
    module = {"systemPath": "code.bin", "loadAddress": 4096}
    bundle = {
        "type": "intel-pt",
        "cpuInfo": {
            "vendor": "GenuineIntel",
            "family": 6,
            "model": 79,
            "stepping": 1,
        },
        "tscPerfZeroConversion": clock,
        "cpus": [cpu],
        "processes": [{"pid": 1, "threads": [], "modules": [module]}],
    }
    case.write("trace.json", json.dumps(bundle))
    files.before = files.state()
    for command in [*COMMANDS, "records", "archive"]:
        for name in ("run.pt", "hard-run.pt", "switches", "code.bin"):
            case.run(command, "trace.json", "-o", name).want(
                2, out="", err_has=f"{name}: is both input and output"
            )
            files.same()


def test_output_and_expectation_are_two_files(case: Case) -> None:
    Files(case)
    words = ["check", "--images=list.txt", "run.pt", "--expect=stored.txt"]
    case.run(*words, "--update", "-o", "stored.txt").want(
        2, out="", err_has="is the file of both --expect and -o"
    )
    assert not (case.folder / "stored.txt").exists()
    case.run(*words, "--update").want(0)
    stored = (case.folder / "stored.txt").read_bytes()
    for more in ([], ["--update"]):
        for path in ("stored.txt", "./stored.txt"):
            case.run(*words, *more, "-o", path).want(2, out="")
            assert (case.folder / "stored.txt").read_bytes() == stored


def test_update_replaces_nothing_but_expectations(case: Case) -> None:
    Files(case)
    words = ["check", "--images=list.txt", "run.pt", "--update", "--expect"]
    for text in ("notes\n", "x", "hwtdecode-expectations 1\n", "\x00" * 99):
        other = case.write("other.txt", text)
        case.run(*words, "other.txt").want(
            2,
            out="",
            err_has=("hwtdecode: other.txt: is no expectation", "hint: "),
        )
        assert other.read_text() == text
    for text in ("", "hwtdecode-expectation 1\n", "hwtdecode-expectation 9\n"):
        case.write("stored.txt", text)
        case.run(*words, "stored.txt").want(0)
        case.run(*words, "stored.txt").want(0)


def test_code_that_the_trace_names_is_never_replaced(case: Case) -> None:
    files = Files(case)
    case.run(
        "import", "--images=list.txt", "--no-embed", "run.pt", "-o", "run.hwt"
    ).want(0)
    files.before = files.state()
    for command in COMMANDS:
        for path in files.spellings("code.bin"):
            case.run(command, "run.hwt", "-o", path).want(
                2, out="", err_has=f"{path}: is both input and output"
            )
            files.same()


def test_other_files_are_replaced(case: Case) -> None:
    Files(case)
    for command in COMMANDS:
        case.write("out", "old\n")
        case.run(command, "--images=list.txt", "run.pt", "-o", "out").want(0)
        assert (case.folder / "out").read_bytes() != b"old\n"
