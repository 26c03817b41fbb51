"""What a machine can record with, and who may trace whom."""

from runner import Case
from simulated import Simulation

PROCESS = "101"
OURS = [
    "process daemon 1",
    "step idle ns=3000000",
    "step exit",
]


def backends(s: Simulation) -> dict[str, dict[str, object]]:
    rows = s.tool("record", "--list", "--format=jsonl").want(0).objects()
    assert [row["type"] for row in rows] == ["record_backend"] * 3 + [
        "record_allowed"
    ]
    return {str(row["tech"]): row for row in rows[:3]}


def test_here_is_no_hwt(case: Case) -> None:
    run = case.run("record", "--list").want(0)
    lines = run.out.splitlines()
    assert lines[0] == "intel-pt   no: this system has no hwt(4)"
    assert lines[-1].startswith("you may not trace: this system has no hwt")
    for row in case.run("record", "--list", "--format=jsonl").objects():
        assert not row.get("usable") and not row.get("allowed")
    case.run("record", "-o", "run.hwt", "ls").want(
        1,
        err=(
            "hwtdecode: this system has no hwt(4); capture on FreeBSD 15 or "
            "newer\nhint: 'hwtdecode record --list' says what this machine "
            "can record with\n"
        ),
    )


def test_limits_of_intel_pt(case: Case) -> None:
    found = backends(Simulation(case))
    pt = found["intel-pt"]
    assert pt["usable"] and pt["threads"] and pt["cpus"]
    assert pt["default_bytes"] == 511 * 4096 == pt["most_bytes"]
    assert pt["ranges"] == 2 and pt["help"] == ""
    assert "branches of programs" in str(pt["text"])
    assert not found["spe"]["usable"]
    assert "aarch64" in str(found["spe"]["text"])


def test_limits_of_spe_and_coresight(case: Case) -> None:
    found = backends(Simulation(case, machine="arch=arm64 flavour=fork"))
    assert found["spe"]["usable"] and found["coresight"]["usable"]
    assert found["spe"]["least_bytes"] == 8192
    assert found["spe"]["ranges"] == 0
    assert not found["intel-pt"]["usable"]


def test_all_forms_say_the_same(case: Case) -> None:
    s = Simulation(case)
    rows = s.tool("record", "--list", "--format=csv").want(0).table()
    assert [row["tech"] for row in rows] == [
        "intel-pt", "spe", "coresight", "allowed",
    ]  # fmt: skip
    pt = backends(s)["intel-pt"]
    assert rows[0]["usable"] == "1" and rows[3]["usable"] == "1"
    assert rows[0]["most_bytes"] == str(pt["most_bytes"])
    assert rows[0]["text"] == pt["text"]
    assert rows[0]["modes"] == "threads|cpus"
    bare = s.tool("record", "--list", "--format=csv", "--no-header")
    assert len(bare.want(0).out.splitlines()) == 4
    text = s.tool("record", "--list").want(0).out
    assert f"intel-pt   yes: {pt['text']}\n" in text
    assert "\nyou may trace: your own processes\n" in text
    s.tool("record", "--list", "-o", "list.txt").want(0, out="")
    assert (case.folder / "list.txt").read_text() == text


def test_what_is_missing_is_said_with_the_command(case: Case) -> None:
    for lines, text, command in (
        (["machine device=ENOENT"], "no /dev/hwt", "kldload hwt"),
        (["machine device=ENOENT", "sysctl kern.conftxt ident\tGENERIC"],
         "built without HWT_HOOKS", "options HWT_HOOKS"),
        (["machine device=EACCES"], "for root and the group wheel",
         "pw groupmod wheel -m"),
        (["machine device=EBUSY"], "resource busy", ""),
    ):  # fmt: skip
        s = Simulation(case)
        s.lines = list(lines)
        pt = backends(s)["intel-pt"]
        assert not pt["usable"]
        assert text in str(pt["text"]), pt
        assert command in str(pt["help"]), pt
        run = s.tool("record", "--list").want(0)
        assert "you may not trace: " in run.out


def test_a_module_that_is_not_loaded_is_named(case: Case) -> None:
    pt = backends(Simulation(case, machine="backends=none"))["intel-pt"]
    assert "kldload pt" in str(pt["help"])


def test_who_may_be_traced(case: Case) -> None:
    s = Simulation(case)
    s.lines += OURS
    s.tool("record", "--list", "--pid", PROCESS).want(
        0, out_has=f"\nprocess {PROCESS} may be traced: same user"
    )
    s.lines.append("user 1001")
    run = s.tool("record", "--list", "--pid", PROCESS).want(0)
    assert f"\nprocess {PROCESS} may not be traced: it runs as user" in run.out
    assert "no exception for root" in run.out
    rows = s.tool("record", "--list", "-p", PROCESS, "--format=jsonl")
    allowed = rows.want(0).objects()[-1]
    assert (allowed["pid"], allowed["allowed"]) == (int(PROCESS), False)
    # The kernel says the same.
    s.record("--pid", PROCESS).want(
        1, err_has=("may not trace process", "record --list --pid")
    )


def test_processes_that_are_not_there(case: Case) -> None:
    s = Simulation(case)
    s.tool("record", "--list", "--pid=4711").want(
        1, out="", err="hwtdecode: there is no process 4711\n"
    )
