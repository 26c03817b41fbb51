"""hwtdecode archive: a trace that decodes without any other file."""

import json
import shutil

import spaces
from runner import Case


def test_archive_decodes_without_the_originals(case: Case) -> None:
    spaces.make(case)
    words = ["events", "--format=jsonl"]
    want = case.run(*words, "--root=root", "run.hwt").want(0).objects()
    case.run("archive", "--root=root", "run.hwt", "-o", "whole.hwt").want(
        0,
        out_has=(
            "whole.hwt: code of 2 images, ",
            "2 images are not there:\n",
            "  missing  /lib/gone.so  not found in ",
            "  other-build-id  /lib/other.so  file root/lib/other.so  ",
        ),
    )
    shutil.rmtree(case.folder / "root")
    (case.folder / "run.hwt").unlink()
    got = case.run(*words, "whole.hwt").want(0).objects()
    assert got == want
    assert any(row["kind"] == "block" for row in got)
    case.run("archive", "whole.hwt", "-o", "again.hwt").want(
        0, out_has="again.hwt: code of 2 images, "
    )
    assert case.run(*words, "again.hwt").want(0).objects() == want


def test_info_lists_a_file_of_an_archive_once(case: Case) -> None:
    spaces.make(case)
    case.run("archive", "--root=root", "run.hwt", "-o", "whole.hwt").want(0)

    def images(*words: str) -> list[tuple[object, ...]]:
        rows = case.run("info", "--format=jsonl", *words).want(0).objects()
        return [
            (row["image"], row["path"], row.get("build_id"))
            for row in rows
            if row["type"] == "image"
        ]

    want = images("--root=root", "run.hwt")
    shutil.rmtree(case.folder / "root")
    got = images("whole.hwt")
    assert got == want
    assert len({row[1] for row in got}) == len(got)


def test_import_without_images_needs_the_originals(case: Case) -> None:
    spaces.make(case)
    case.run("import", "--root=root", "run.hwt", "-o", "copy.hwt").want(0)
    blocks = case.run("events", "--kind=block", "--root=root", "copy.hwt")
    assert blocks.want(0).out.count("program") + blocks.out.count("block") > 0
    shutil.rmtree(case.folder / "root")
    bare = case.run("events", "--kind=block", "--no-header", "copy.hwt")
    bare.want(0, out="")


def bundle(case: Case, stream: str, module: str) -> None:
    """trace.json with one thread and one module."""
    process = {
        "pid": 1,
        "threads": [{"tid": 1, "iptTrace": stream}],
        "modules": [{"systemPath": module, "loadAddress": 4096}],
    }
    cpu = {"vendor": "GenuineIntel", "family": 6, "model": 79, "stepping": 1}
    case.write(
        "bundle/trace.json",
        json.dumps(
            {"type": "intel-pt", "cpuInfo": cpu, "processes": [process]}
        ),
    )


def test_bundles_take_no_other_files_along(case: Case) -> None:
    (case.folder / "bundle").mkdir()
    secret = b"root:x:0:0:root:/root:/bin/sh\n"
    case.write("secret", secret)
    case.write("bundle/run.pt", b"")
    words = ["archive", "bundle/trace.json", "--no-compress", "-o", "a.hwt"]
    path = str(case.folder / "secret")

    bundle(case, "run.pt", path)
    case.run(*words).want(
        0,
        out_has=(
            "a.hwt: code of 0 images, ",
            "1 image is no ELF file of a program and left out; "
            "--any-file takes it\n",
        ),
        err_has=f"{path}: is no ELF program, library or object; ",
    )
    assert secret not in (case.folder / "a.hwt").read_bytes()
    case.run(*words, "--any-file").want(0, out_has="code of 1 image, ", err="")
    assert secret in (case.folder / "a.hwt").read_bytes()

    bundle(case, path, "run.pt")
    (case.folder / "a.hwt").unlink()
    for command in ("archive", "import"):
        case.run(command, *words[1:]).want(
            1, out="", err_has=("not in its folder", "add --any-file\n")
        )
        assert not (case.folder / "a.hwt").exists()
    case.run("info", "bundle/trace.json").want(0, err="")
    case.run("import", *words[1:], "--any-file").want(0, out="", err="")
    assert secret in (case.folder / "a.hwt").read_bytes()


def test_output_is_needed_and_a_regular_file(case: Case) -> None:
    spaces.make(case)
    case.run("archive", "run.hwt").want(
        2, out="", err_has=("archive needs -o FILE\n", "hint: ")
    )
    for bad in ("-", "/dev/null", "."):
        case.run("archive", "run.hwt", "-o", bad).want(
            2, out="", err_has=("archive writes regular files only", "hint: ")
        )
    case.run("archive", "run.hwt", "-o", "no/such/folder.hwt").want(
        1, out="", err_has="no/such/folder.hwt"
    )


def test_levels(case: Case) -> None:
    spaces.make(case)
    case.run(
        "archive", "--root=root", "--no-compress", "run.hwt", "-o", "a.hwt"
    ).want(0)
    case.run(
        "archive", "--root=root", "--level=19", "run.hwt", "-o", "b.hwt"
    ).want(0)
    a = (case.folder / "a.hwt").stat().st_size
    b = (case.folder / "b.hwt").stat().st_size
    assert a > b
