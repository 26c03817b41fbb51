"""hwtdecode maps: what is mapped where at a moment; where files are found."""

import resource
from typing import Any

import spaces
from runner import Case


def mappings(
    case: Case, *words: str, name: str = "run.hwt"
) -> list[tuple[Any, ...]]:
    run = case.run("maps", "--format=jsonl", *words, name).want(0)
    return [
        (line.get("pid"), int(line["address"], 16), line.get("path"))
        for line in run.objects()
        if line["type"] == "mapping"
    ]


SHARED = (None, spaces.KERNEL, None)
PROGRAM = (spaces.PROGRAM + 0x1000, "/bin/program")
LIBRARY = (spaces.LIBRARY + 0x1000, "/lib/library.so")
GONE = (spaces.GONE + 0x1000, "/lib/gone.so")
OTHER = (spaces.OTHER + 0x1000, "/lib/other.so")


def test_all_processes_at_the_end(case: Case) -> None:
    spaces.make(case)
    want = [SHARED]
    want += [(5, *one) for one in (PROGRAM, LIBRARY, GONE, OTHER)]
    want += [(6, *one) for one in (PROGRAM, GONE, OTHER)]
    assert mappings(case, "--root=root") == want
    assert mappings(case, "--root=root", "--at=end") == want


def test_positions(case: Case) -> None:
    spaces.make(case)
    for at, want in (
        ("start", []),
        ("99", []),
        ("100ns", [PROGRAM]),
        ("0.2us", [PROGRAM, LIBRARY]),
        ("0.0000003s", [PROGRAM, LIBRARY, GONE]),
        ("0.0004ms", [PROGRAM, LIBRARY, GONE, OTHER]),
        ("0:0x20", [PROGRAM, LIBRARY, GONE, OTHER]),
        ("0:32", [PROGRAM, LIBRARY, GONE, OTHER]),
    ):
        got = mappings(case, "--root=root", f"--at={at}", "--pid=5")
        assert got == [SHARED] + [(5, *one) for one in want], (at, got)


def test_memory_that_changes(case: Case) -> None:
    spaces.make(case)
    whole = [(None, spaces.KERNEL, "kernel")]
    poked = whole + [
        (None, spaces.KERNEL + 0x10, "poke"),
        (None, spaces.KERNEL + 0x15, "kernel"),
    ]
    old = [(5, spaces.LIBRARY, "[vdso]")]
    new = [(5, spaces.LIBRARY, "[vdso] 2")]
    for at, want in (
        ("start", whole + old),
        ("99", whole + old),
        ("100", poked + old),
        ("199", poked + old),
        ("200", poked + new),
        ("end", poked + new),
    ):
        assert mappings(case, f"--at={at}", name="memory.hwt") == want, at


def test_virtual_machines_have_a_kernel_and_processes(case: Case) -> None:
    spaces.make(case)
    text = case.run("maps", "guest.hwt").want(0).out
    titles = [line for line in text.splitlines() if line[:1].isalpha()]
    assert titles == [
        "kernel and all processes",
        "kernel of virtual machine 1",
        "process 5",
        "process 5 of virtual machine 1",
    ]
    lines = case.run("maps", "--format=jsonl", "guest.hwt").want(0).objects()
    assert [
        (line["type"], line.get("vmid"), line.get("pid"), line.get("path"))
        for line in lines
    ] == [
        ("mapping", None, None, "kernel"),
        ("machine", 1, None, None),
        ("mapping", 1, None, "guest"),
        ("process", None, 5, None),
        ("mapping", None, 5, "program"),
        ("process", 1, 5, None),
        ("mapping", 1, 5, "its program"),
    ]
    rows = case.run("maps", "--format=csv", "guest.hwt").want(0).table()
    assert [(row["pid"], row["vmid"], row["path"]) for row in rows] == [
        ("", "", "kernel"),
        ("", "1", "guest"),
        ("5", "", "program"),
        ("5", "1", "its program"),
    ]
    rows = case.run("records", "--format=csv", "guest.hwt").want(0).table()
    assert [(row["flags"], row["vmid"]) for row in rows] == [
        ("kernel", ""),
        ("kernel", "1"),
        ("", ""),
        ("", "1"),
        ("hypervisor", ""),
    ]


def test_wrong_positions_are_refused(case: Case) -> None:
    spaces.make(case)
    for bad in (
        "",
        "now",
        "1.5",
        "1.",
        ".5s",
        "-1",
        "1h",
        "1.0000000001s",
        "99999999999999999999",
        "18446744073709551615s",
        "0:",
        ":5",
        "0:1:2",
        "0:0x",
        "0:5s",
        "4294967295:0",
    ):
        case.run("maps", f"--at={bad}", "run.hwt").want(
            2, out="", err_has=("--at: '", "hint: ")
        )
    case.run("maps", "--at=7:0", "run.hwt").want(
        2, out="", err_has=("there is no stream 7\n", "hint: ")
    )


def test_processes_are_told(case: Case) -> None:
    spaces.make(case)
    run = case.run("maps", "--format=jsonl", "run.hwt").want(0)
    told = [line for line in run.objects() if line["type"] == "process"]
    assert told == [
        {
            "schema": 1,
            "type": "process",
            "pid": 5,
            "name": "/bin/program",
            "execs": 1,
        },
        {"schema": 1, "type": "process", "pid": 6, "parent": 5, "execs": 0},
    ]


def test_fields_of_a_mapping(case: Case) -> None:
    spaces.make(case)
    words = ["maps", "--root=root", "--pid=5"]
    lines = case.run(*words, "--format=jsonl", "run.hwt").want(0).objects()
    assert lines[0] == {
        "schema": 1,
        "type": "mapping",
        "address": hex(spaces.KERNEL),
        "length": 4096,
        "kernel": True,
        "anonymous": True,
    }
    library = lines[3]
    assert {"section", "image"} <= set(library)
    del library["section"], library["image"]
    assert library == {
        "schema": 1,
        "type": "mapping",
        "pid": 5,
        "address": hex(spaces.LIBRARY + 0x1000),
        "length": 4096,
        "file_offset": 4096,
        "state": "found",
        "path": "/lib/library.so",
    }
    rows = case.run(*words, "--format=csv", "run.hwt").want(0).table()
    assert [row["pid"] for row in rows] == ["", "5", "5", "5", "5"]
    assert rows[0]["flags"] == "kernel anonymous"
    assert rows[3]["state"] == "missing"
    case.run(*words, "run.hwt").want(
        0,
        out_has=(
            "kernel and all processes\n",
            "process 5  /bin/program\n",
            "/lib/gone.so  (missing)\n",
            "/lib/other.so  (other-build-id)\n",
        ),
    )


def test_kernel_is_listed_once_for_many_processes(case: Case) -> None:
    """Time is that of the lines; for all pairs many seconds."""
    n = 5000
    spaces.make_many(case, n)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = case.run("maps", "--format=csv", "many.hwt").want(0)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    pids = [row["pid"] for row in run.table()]
    assert pids == n * [""] + [str(pid + 1) for pid in range(n)]
    assert spent < 3, spent


def test_unknown_process(case: Case) -> None:
    spaces.make(case)
    case.run("maps", "--pid=9", "run.hwt").want(
        2, out="", err_has=("no record names process 9\n", "hint: ")
    )


def states(case: Case, *words: str) -> dict[str, str]:
    run = case.run("info", "--format=jsonl", *words, "run.hwt").want(0)
    return {
        line["path"]: line["state"]
        for line in run.objects()
        if line["type"] == "image"
    }


def test_where_files_are_looked_for(case: Case) -> None:
    spaces.make(case)
    none = {
        "/bin/program": "missing",
        "/lib/library.so": "missing",
        "/lib/gone.so": "missing",
        "/lib/other.so": "missing",
    }
    assert states(case) == none
    found = none | {
        "/bin/program": "found",
        "/lib/library.so": "found",
        "/lib/other.so": "other-build-id",
    }
    assert states(case, "--root=root") == found
    assert states(case, "--root=root", "--no-original-paths") == found
    libraries = found | {"/bin/program": "missing"}
    assert states(case, "--module-dir=root/lib") == libraries
    assert (
        states(case, "--module-dir=root/lib", "--module-dir", "root/bin")
        == found
    )
    ids = case.folder / "ids" / ".build-id" / "cd"
    ids.mkdir(parents=True)
    (case.folder / "root/lib/library.so").rename(ids / ("cd" * 19))
    by_id = none | {"/lib/library.so": "found"}
    assert states(case, "--build-id-dir=ids") == by_id
    assert states(case, "--symfs=root") == found | {"/lib/library.so": "missing"}
    # The cache of whoever runs the command.
    assert states(case) == none
    (case.folder / ".debug").symlink_to("ids")
    assert states(case) == by_id
    assert states(case, "--no-build-id-cache") == none


def test_folders_that_are_none(case: Case) -> None:
    spaces.make(case)
    for name in ("root", "build-id-dir", "module-dir"):
        for bad, why in (
            ("nowhere", "No such file or directory"),
            ("run.hwt", "Not a directory"),
        ):
            case.run("info", f"--{name}={bad}", "run.hwt").want(
                1, out="", err_has=(f"--{name}: {bad}: {why}\n", "hint: ")
            )


def test_damaged_files(case: Case) -> None:
    """All that is said of a file whose program headers are not there."""
    spaces.make(case)
    file = case.folder / "root/lib/library.so"
    text = file.read_bytes()
    file.write_bytes(text[:32] + b"\xff" * 8 + text[40:])
    why = "byte 0x20: 3 program headers, but the file has 0"
    for command, code in (("info", 0), ("check", 3)):
        case.run(command, "--root=root", "run.hwt").want(
            code, out_has=("/lib/library.so  file root/lib/library.so", why)
        )
    run = case.run("maps", "--root=root", "--format=jsonl", "--pid=5", "run.hwt")
    assert [
        line["text"]
        for line in run.want(0).objects()
        if line.get("path") == "/lib/library.so"
    ] == [why]
    case.run("maps", "--root=root", "--pid=5", "run.hwt").want(
        0, out_has=(f"/lib/library.so  ({why})\n",)
    )


def test_how_many_places_were_looked_in(case: Case) -> None:
    spaces.make(case)
    for words, places in (
        (["--no-original-paths"], "1 place"),
        ([], "2 places"),
    ):
        case.run("info", "--root=root", *words, "run.hwt").want(
            0, out_has=(f"/lib/gone.so  not found in {places}\n",)
        )


def test_the_command_of_check_is_one_for_a_shell(case: Case) -> None:
    spaces.make(case)
    (case.folder / "it's one.hwt").write_bytes(
        (case.folder / "run.hwt").read_bytes()
    )
    case.run("check", "--root=root", "it's one.hwt").want(
        3, out_has=("check --root DIR --root=root 'it'\\''s one.hwt'\n",)
    )


def test_check_lists_missing_images_by_cost(case: Case) -> None:
    spaces.make(case)
    run = case.run("check", "--root=root", "--format=jsonl", "run.hwt").want(3)
    told = [line for line in run.objects() if line["type"] == "missing_image"]
    assert [line["path"] for line in told] == ["/lib/gone.so", "/lib/other.so"]
    assert told[0]["state"] == "missing"
    assert told[0]["gaps"] == 1
    assert told[0]["bytes"] > told[1]["bytes"] > 0
    assert told[0]["lowest"] == hex(spaces.GONE + 0x1234)
    assert told[0]["file_offset"] == 0x1234
    assert told[1]["state"] == "other-build-id"
    assert told[1]["build_id"] == "bb" * 20
    assert told[1]["file"] == "root/lib/other.so"
    case.run("check", "--root=root", "run.hwt").want(
        3,
        out_has=(
            "missing images\n",
            "in 1 gap  /lib/gone.so",
            "the file has another build-id",
            "wanted build-id " + "bb" * 20,
            "as DIR/lib/gone.so:\n"
            "    hwtdecode check --root DIR --root=root run.hwt\n",
            "no-code: Give the files of the missing images.\n",
        ),
    )
    # It would go round the build-id.
    assert "--image" not in case.run("check", "--root=root", "run.hwt").out
    rows = case.run("check", "--root=root", "--format=csv", "run.hwt").want(3)
    assert "/lib/gone.so" in [row["value"] for row in rows.table()]


def test_costs_of_an_unknown_process(case: Case) -> None:
    """Code is that of the only process; so are the images it misses."""
    spaces.make(case)
    told = [
        case.run("check", "--root=root", "--format=jsonl", name)
        .want(3)
        .objects()
        for name in ("run.hwt", "alone.hwt")
    ]
    missing = [
        [line for line in lines if line["type"] == "missing_image"]
        for lines in told
    ]
    assert len(missing[0]) == 2
    assert missing[0] == missing[1]


def test_check_tells_of_a_program_that_is_not_there(case: Case) -> None:
    spaces.make(case)
    run = case.run("check", "--format=jsonl", "run.hwt").want(3)
    told = [line for line in run.objects() if line["type"] == "missing_image"]
    assert [line["path"] for line in told] == ["/bin/program"]
    assert told[0]["gaps"] == 0
    case.run("check", "run.hwt").want(
        3, out_has=("cost not known  /bin/program", "--root DIR")
    )


def test_the_image_that_check_asks_for_helps(case: Case) -> None:
    spaces.make(case)
    before = case.run("check", "--root=root", "--format=jsonl", "run.hwt")
    image = f"root/lib/library.so:0x1000@{spaces.OTHER + 0x1000:#x}"
    after = case.run(
        "check", "--root=root", "--format=jsonl", "--image", image, "run.hwt"
    )
    lost = [run.objects()[-1]["gap_bytes"] for run in (before, after)]
    assert lost[0] > lost[1]
    told = [line for line in after.objects() if "path" in line]
    assert [line["gaps"] for line in told if "gaps" in line] == [1, 0]
