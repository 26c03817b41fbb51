"""Names that drive terminals or break formats are printed escaped."""

import os

from runner import BRANCHES, Case

ESCAPE = b"\x1b]0;owned\x07"
NASTY = [
    b"esc" + ESCAPE,
    b"new\nline",
    b"bad\xffutf\xc0\xaf",
    b"c1\xc2\x9b31m",
    b"rtl\xe2\x80\xaetxt",
    b'quote",comma',
    b"back\\slash",
    b"surrogate\xed\xa0\x80",
    "grün".encode(),
]


def test_names_are_escaped_everywhere(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    code = (trace.parent / "code.bin").read_bytes()
    for name in NASTY:
        folder = os.fsencode(case.folder)
        for part, data in (
            (name + b".bin", code),
            (name + b".pt", trace.read_bytes()),
        ):
            with open(os.path.join(folder, part), "wb") as file:
                file.write(data)
        image = os.fsdecode(name + b".bin") + "@0x100000"
        raw = os.fsdecode(name + b".pt")
        for command in ("info", "check", "events", "insns"):
            for form in ("text", "jsonl", "csv"):
                run = case.run(
                    command, "--image", image, f"--format={form}", raw
                ).want(0)
                assert not set(run.out) & set("\x1b\x07\x9b\u202e"), (
                    name,
                    command,
                    form,
                )
                assert "\nline" not in run.out
                if form == "jsonl":
                    run.objects()
                if form == "csv":
                    run.table()


def test_names_are_escaped_in_messages(case: Case) -> None:
    for name in NASTY:
        run = case.run("info", os.fsdecode(name))
        run.want(1, out="")
        assert run.err.count("\n") == 2, run.err
        assert not set(run.err) & set("\x1b\x07\x9b\u202e")
    case.run("info", "grün").want(1, err_has="hwtdecode: grün: No such file")
    case.run("info", os.fsdecode(b"x\xffy")).want(
        1, err_has="hwtdecode: x\\xffy: No such file"
    )
    case.run(os.fsdecode(b"\x1b[2J")).want(
        2, err_has="unknown command '\\x1b[2J'"
    )


def test_readable_names_stay_readable(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    case.write("größe.bin", (trace.parent / "code.bin").read_bytes())
    run = case.run(
        "info", "--image=größe.bin@0x100000", "--format=jsonl", trace
    ).want(0)
    assert run.objects()[2]["path"].endswith("größe.bin")
    case.run("info", "--image=größe.bin@0x100000", trace).want(
        0, out_has="größe.bin\n"
    )
