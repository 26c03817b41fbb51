"""Recording, from the first call to the decoded flow."""

import re

from runner import Case, Run
from simulated import BLOCKS, CODE_AT, EXAMPLE, Simulation, flow, rounds

# The number of the first process of a script: the one before is the tool's.
FIRST_PROCESS = "101"
# Times that all of BLOCKS run in a trace of several pages.
MANY = 400000


def test_a_program_is_recorded_and_decodes(case: Case) -> None:
    s = Simulation(case).run_and_exit(status=3)
    run = s.record("--", s.program, "-x", "--list").want(
        0,
        out="",
        err_has=(
            f"run.hwt: {len(s.trace)} bytes of 1 stream, ",
            "ended with status 3\n",
            "hint: 'hwtdecode info run.hwt' shows what is in it\n",
        ),
    )
    assert "lost" not in run.err
    assert flow(case, "run.hwt") == BLOCKS * 3
    case.run("check", "run.hwt").want(0)
    info = case.run("info", "run.hwt").want(0).out
    for text in ("mode=threads", f"argv.0={s.program}", "argv.1=-x",
                 "argv.2=--list", "program.status=3"):  # fmt: skip
        assert text in info, info
    insns = case.run("insns", "--format=jsonl", "--kind=insn", "run.hwt")
    assert len(insns.want(0).objects()) == 4 * 3


def test_words_behind_the_program_are_the_programs(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    s.record(s.program, "-o", "other.hwt", "--kill", "--").want(
        0, err_has="run.hwt: "
    )
    assert not (case.folder / "other.hwt").exists()
    info = case.run("info", "run.hwt").want(0).out
    assert "argv.4=--\n" in info and "argv.5" not in info


def test_a_signal_that_ends_the_program_is_told(case: Case) -> None:
    s = Simulation(case)
    s.lines += [f"program {s.program}", s.exec(), "step exit signal=11"]
    run = s.record("--", s.program).want(
        0, err_has=("was ended by signal 11: Segmentation", "was traced")
    )
    assert "status" not in run.err


def test_traces_longer_than_the_buffer_are_complete(case: Case) -> None:
    s = Simulation(case, rounds(MANY))
    s.lines += [
        f"program {s.program}",
        s.exec(),
        "step trace ns=1000 piece=16384 piece_ns=200000 file=bytes",
        "step exit",
    ]
    s.record("--buffer=1M", "--max-loss=0", "--", s.program).want(
        0, err_has=f"run.hwt: {len(s.trace)} bytes of 1 stream"
    )
    check = case.run("check", "--format=jsonl", "run.hwt").want(0)
    assert check.objects()[-1]["insns"] == 4 * MANY


def test_whatever_happens_between_two_calls(case: Case) -> None:
    for seed in range(1, 9):
        s = Simulation(case, rounds(500), f"seed={seed}").run_and_exit()
        s.record("--replace", "--max-loss=0", "--", s.program).want(
            0, err_has="run.hwt: "
        )
        assert flow(case, "run.hwt") == BLOCKS * 500, seed


def test_losses_are_told_with_what_to_do(case: Case) -> None:
    s = Simulation(case, rounds(MANY))
    s.lines += [
        f"program {s.program}",
        s.exec(),
        "step trace ns=1000 piece=65536 piece_ns=1000 file=bytes",
        "step exit",
    ]
    words = ["--buffer=1M", "--every=100ms", "--", s.program]
    run = s.record(*words).want(
        0, err_has=("lost: ", "\nhint: look more often (--every)")
    )
    kept = int(run.err.split("run.hwt: ")[1].split()[0])
    assert 0 < kept < len(s.trace)
    case.run("check", "run.hwt").want(3, out_has="truncated")
    # The same with a limit to what may be lost.
    s.record("--replace", "--max-loss=0", *words).want(
        3, err_has="or what has no bytes, were lost; --max-loss is 0%"
    )
    s.record("--replace", "--max-loss=100", *words).want(0, err_has="lost: ")


def test_processes_that_run_are_recorded(case: Case) -> None:
    s = Simulation(case)
    s.lines += [
        "process daemon 1",
        "step idle ns=3000000",
        "step trace ns=5000000 file=bytes",
        "step exit status=4",
        f"map {CODE_AT:#x} {CODE_AT + 0x1000:#x} 0x1000 {s.program}",
    ]
    s.record("--pid", FIRST_PROCESS).want(
        0,
        err_has=(
            f"the process ({FIRST_PROCESS}) ended\n",
            f"{len(s.trace)} bytes",
        ),
    )
    assert flow(case, "run.hwt") == BLOCKS * 3
    s.record("--pid=4711", "--replace").want(1, err_has="no process 4711")


def test_cpus_are_recorded_whatever_they_run(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    s.record("--cpus=all", "--user", "--", s.program).want(
        0, err_has=f"{len(s.trace)} bytes of 1 stream, "
    )
    info = case.run("info", "run.hwt").want(0).out
    assert "mode=cpus" in info
    s.record("--replace", "--cpus=1", "--user", "--", s.program).want(
        0, err_has="nothing was traced: "
    )
    # A kernel always runs something: if not, it was not traced.
    s.record("--replace", "--cpus=1", "--", s.program).want(
        0, err_has="perhaps another one runs"
    )
    run = s.record("--replace", "--cpus=7", "--", s.program)
    run.want(2, err_has="7")


def test_a_capture_ends_at_its_limits(case: Case) -> None:
    s = Simulation(case).run_on()
    for words, kill in ((["--max-time=30ms"], False),
                        (["--max-size", str(len(s.trace)), "--kill"], True)):
        run = s.record("--replace", *words, "--", s.program).want(
            0, err_has=f"{len(s.trace)} bytes"
        )
        assert ("runs on" in run.err) != kill
        assert ("was ended by signal 15" in run.err) == kill
        assert flow(case, "run.hwt") == BLOCKS * 3


def test_archives_decode_without_the_program(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    s.record("--archive", "--", s.program).want(0, err_has="run.hwt: ")
    s.program.unlink()
    assert flow(case, "run.hwt") == BLOCKS * 3
    s.program.write_bytes(b"another")
    assert flow(case, "run.hwt") == BLOCKS * 3


def test_only_code_of_filters_is_asked_for(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    name = s.program.name
    s.record(f"--filter=work@{name}", "--", s.program).want(0, err_has="run.")
    info = case.run("info", "run.hwt").want(0).out
    assert f"filter.0=work@{name}" in info, info
    s.record("--replace", "--filter=none@nowhere", "--", s.program).want(
        1, err_has="nowhere"
    )


def test_no_file_is_replaced_unasked(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    case.write("run.hwt", b"precious")
    s.record("--", s.program).want(
        2,
        err=(
            "hwtdecode: run.hwt: is there already\n"
            "hint: name another file with -o, or add --replace\n"
        ),
    )
    assert (case.folder / "run.hwt").read_bytes() == b"precious"
    s.record("--replace", "--", s.program).want(0, err_has="run.hwt: ")
    assert flow(case, "run.hwt") == BLOCKS * 3


def test_the_program_is_never_replaced(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    before = s.program.read_bytes()
    (case.folder / "link").symlink_to("program")
    for name in ("program", "./program", "link"):
        s.tool("record", "--replace", "-o", name, "--", s.program).want(
            2, err_has=f"{name}: is both input and output"
        )
    assert s.program.read_bytes() == before


def test_programs_that_cannot_be_run_start_nothing(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    case.write("text", b"no program")
    for name, why in (
        ("./nothing", "No such file or directory"),
        ("no-such-program-at-all", "No such file or directory"),
        ("./text", "Permission denied"),
        ("/", "Is a directory"),
    ):
        s.record("--", name).want(
            1,
            err=(
                f"hwtdecode: {name}: {why}\n"
                "hint: name a program that can be run\n"
            ),
        )
    assert not (case.folder / "run.hwt").exists()


def test_programs_are_looked_for_in_path(case: Case) -> None:
    s = Simulation(case)
    other = case.folder / "bin" / "program"
    other.parent.mkdir()
    other.write_bytes(b"not this one")
    s.program = s.program.rename(case.folder / "tool")
    s.run_and_exit()
    env = {"PATH": f"{case.folder / 'bin'}::/bin"}
    s.tool("record", "--replace", "-o", "tool", "tool", env=env).want(
        2, err_has="tool: is both input and output"
    )
    s.tool("record", "-o", "run.hwt", "program", env=env).want(
        1, err_has="program: Permission denied"
    )


def test_only_regular_files_are_written(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    for name in ("-", "/dev/null", "."):
        s.tool("record", "-o", name, "--replace", "--", s.program).want(
            2, err_has="record writes regular files only"
        )
    s.tool("record", "-o", "no/such/run.hwt", "--", s.program).want(
        1, err_has=("no/such/run.hwt", "No such file")
    )


def refused(case: Case, machine: str, *words: str) -> Run:
    s = Simulation(case, machine=machine).run_and_exit()
    run = s.record(*words, "--", s.program)
    assert run.code in (1, 2), run.err
    assert not (case.folder / "run.hwt").exists()
    return run


def test_refusals_say_what_is_missing(case: Case) -> None:
    for machine, words, text in (
        ("device=ENOENT", [], "no /dev/hwt: kldload hwt"),
        ("device=EACCES", [], "may not open /dev/hwt: it is root:wheel 0660"),
        ("device=ENOSYS", [], "this system has no hwt(4)"),
        ("node=EACCES", [], "may not open /dev/hwt_"),
        ("backends=none", [], "the kernel has no backend \"pt\" loaded"),
        ("", ["--tech=spe"], "the kernel has no backend \"spe\""),
        ("", ["--tech=coresight"], "the kernel has no backend \"coresight\""),
        ("arch=arm64", ["--tech=pt"], "Intel PT"),
        ("", ["--mtc=3"], "5BSD has them"),
        ("", ["--psb=3"], "5BSD does not"),
        ("", ["--tsc"], "5BSD has them"),
        ("", ["--buffer=5000"], "5000"),
        ("", ["--buffer=4M"], "511"),
        ("arch=arm64", ["--buffer=4K"], "take an even number"),
        ("arch=arm64", ["--interval=0x1000000"], "16777216"),
        ("arch=arm64", ["--filter=work@program"], "no filters by address"),
        ("flavour=5bsd", ["--no-tnt"], "DisTNT"),
        ("flavour=5bsd", ["--ptwrite"], "PTWEn"),
        ("", ["--filter=work"], "work"),
        ("arch=arm64", ["--tech=spe", "--tech=pt"], "take one way to record"),
    ):  # fmt: skip
        run = refused(case, machine, *words)
        assert run.err.startswith("hwtdecode: "), run.err
        assert text in run.err.splitlines()[0], (machine, words, run.err)


def test_errors_of_the_kernel_reach_the_user(case: Case) -> None:
    for call, text in (
        ("ALLOC 1 EPERM", "may not trace process"),
        ("ALLOC 1 EEXIST", "is traced already"),
        ("ALLOC 1 ENOMEM", "no memory for buffers of"),
        ("spawn 1 EAGAIN", "cannot start: Resource temporarily"),
        ("fork 1 EAGAIN", "cannot make a process for the capture"),
    ):
        s = Simulation(case).run_and_exit()
        s.lines.append(f"fail {call}")
        s.record("--", s.program).want(1, err_has=text)
        assert not (case.folder / "run.hwt").exists()


def test_wrong_usage_starts_nothing(case: Case) -> None:
    s = Simulation(case).run_and_exit()
    for words, text in (
        (["record"], "record needs a program, --pid or --cpus"),
        (["record", "-o", "run.hwt"], "record needs a program"),
        (["record", "--", "program"], "record needs -o FILE"),
        (["record", "-o", "a", "--pid=5", "ls"], "take one"),
        (["record", "-o", "a", "--pid=5", "--cpus=1"], "take one"),
        (["record", "-o", "a", "--cpus=all", "--cpus=1"], "take one"),
        (["record", "-o", "a", "--pid=5", "--kill"], "--kill"),
        (["record", "-o", "a", "--pid=0"], "not a number from 1"),
        (["record", "-o", "a", "--cpus=x", "ls"], "is not LIST"),
        (["record", "-o", "a", "--cpus=3-1", "ls"], "ends before it starts"),
        (["record", "-o", "a", "--buffer=1T", "ls"], "is not SIZE"),
        (["record", "-o", "a", "--buffer=0", "ls"], "0 bytes are too few"),
        (["record", "-o", "a", "--every=1h", "ls"], "is not TIME"),
        (["record", "-o", "a", "--every=0", "ls"], "too short"),
        (["record", "-o", "a", "--mtc=16", "ls"], "from 0 to 15"),
        (["record", "-o", "a", "--interval=0", "ls"], "from 1 to"),
        (["record", "-o", "a", "--context=me", "ls"], "process|cpu|none"),
        (["record", "-o", "a", "--tech=etm", "ls"], "pt|spe|coresight"),
        (["record", "-o", "a", "--cycles=0", "ls"], "from 1 to"),
        (["record", "-o", "a", "--tech=pt", "--interval=5", "ls"],
         "--interval is an option of spe"),
        (["record", "-o", "a", "--tech=spe", "--tsc", "ls"],
         "--tsc is an option of pt"),
        (["record", "-o", "a", "--tech=coresight", "--user", "ls"],
         "always records both"),
        (["record", "-o", "a", "--bufer=1M", "ls"], "unknown option --bufer"),
        (["record", "--list", "ls"], "'ls' is too much"),
    ):  # fmt: skip
        s.tool(*words).want(2, out="", err_has=text)
    assert not (case.folder / "a").exists()


# A PC, a load, and the end, in a slot of 64 bytes.
SAMPLE = bytes.fromhex("b00010000000000080490001").ljust(64, b"\0")


def test_each_kind_of_loss_is_told(case: Case) -> None:
    slow = "piece=16384 piece_ns=200000"
    for machine, trace, how, options, text, advice in (
        ("arch=arm64", SAMPLE * 2000, "piece=4096 piece_ns=100",
         ["--buffer=8K"], "lost: 1 time sampling stood still",
         "take a larger --buffer or --interval"),
        ("arch=arm64", SAMPLE * 20, "partial", [],
         "lost: 1 buffer lacks samples", "take a larger --interval"),
        ("positions=lost", rounds(MANY), slow, ["--buffer=1M"],
         "told wrong by the kernel", "hwtdecode info"),
    ):  # fmt: skip
        s = Simulation(case, trace, machine=machine)
        s.lines += [
            f"program {s.program}",
            s.exec(),
            f"step trace ns=1000 file=bytes {how}",
            "step exit",
        ]
        s.record("--replace", *options, "--", s.program).want(
            0, err_has=(text, advice)
        )


def test_samples_are_recorded(case: Case) -> None:
    s = Simulation(case, SAMPLE * 8, machine="arch=arm64").run_and_exit()
    s.record("--interval=1024", "--context=none", "--", s.program).want(
        0, err_has=f"run.hwt: {len(s.trace)} bytes of "
    )
    rows = case.run("spe", "--format=jsonl", "run.hwt").want(0).objects()
    assert [row["kind"] for row in rows] == ["sample"] * 8
    info = case.run("info", "run.hwt").want(0).out
    assert "spe.interval=1024\n" in info and "spe.ctx_field=0\n" in info


def test_options_reach_the_hardware(case: Case) -> None:
    s = Simulation(case, machine="flavour=5bsd").run_and_exit()
    # A CPU with PTWRITE and without TNT if that is wanted.
    s.lines.append("cpuid 0x14 0 1 0x11f 7 0")
    words = ["--tsc", "--mtc=3", "--cyc=2", "--psb=1", "--ptwrite"]
    s.record(*words, "--no-tnt", "--kernel", "--user", "--", s.program).want(
        0, err_has="run.hwt: "
    )
    info = case.run("info", "run.hwt").want(0).out
    ctl = int(info.split("pt.rtit_ctl=")[1].split()[0], 16)
    # CYCEn, OS, User, PTWEn, FUPonPTW, MTCEn, TSCEn, BranchEn; DisTNT.
    for bit in (1, 2, 3, 12, 5, 9, 10, 13, 55):
        assert ctl >> bit & 1, (bit, hex(ctl))
    assert "pt.kernel=5bsd" in info


def test_coresight_is_recorded_where_kernels_have_it(case: Case) -> None:
    s = Simulation(case, bytes(4096), machine="arch=arm64 flavour=fork")
    s.run_and_exit()
    words = ["--tech=coresight", "--cycles=300", "--branch-broadcast"]
    words += ["--no-return-stack", "--no-timestamps", "--no-context"]
    s.record(*words, "--cpus=all", "--", s.program).want(
        0, err_has="run.hwt: "
    )
    info = case.run("info", "run.hwt").want(0).out
    # Cycle counting and branch broadcast only.
    assert "coresight.trcconfigr=0x18\n" in info, info


def test_progress_on_request(case: Case) -> None:
    s = Simulation(case).run_on()
    recording = s.start("--progress", "--", s.program)
    err = b""
    assert recording.process.stderr is not None
    while b" MB, 1 stream, " not in err:
        more = recording.process.stderr.read1(4096)
        assert more, err
        err += more
    recording.process.terminate()
    assert recording.end().code == 0


def test_lines_about_the_capture_are_in_the_manual(case: Case) -> None:
    manual = case.fixtures.parent / "src" / "man" / "hwtdecode-record.1"
    words = re.findall(r"[A-Za-z0-9_.]+", manual.read_text())
    seen = set()
    for machine, options in (
        ("", ["--filter=work@program"]),
        ("arch=arm64", []),
        ("arch=arm64 flavour=fork", ["--tech=coresight", "--cpus=all"]),
    ):
        s = Simulation(case, bytes(4096), machine=machine).run_and_exit()
        s.record("--replace", *options, "--", s.program).want(
            0, err_has="run.hwt: "
        )
        info = case.run("info", "run.hwt").want(0).out
        for key in re.findall(r"^capture +([a-z_0-9.]+)=", info, re.M):
            key = re.sub(r"\.\d+$", ".N", key)
            if key not in words:
                key = re.sub(r"^(pt|spe|coresight)\.", "B.", key)
            seen.add(key)
    assert {"mode", "B.kernel", "filter.N", "looks"} <= seen
    assert seen <= set(words), seen - set(words)


def test_the_example_prints_the_first_blocks(case: Case) -> None:
    s = Simulation(case, rounds(30)).run_and_exit()
    run = s.tool("run.hwt", s.program, tool=EXAMPLE).want(
        0, out_has=f"{len(s.trace)} bytes of 1 threads\n{CODE_AT:#x} 1 instr"
    )
    found = [line.split()[0] for line in run.out.splitlines()[1:]]
    assert found == [f"{at:#x}" for at, _ in (BLOCKS * 7)[:20]]
