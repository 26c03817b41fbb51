"""hwtdecode archive: a trace that decodes without any other file."""

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
