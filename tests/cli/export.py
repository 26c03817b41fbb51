"""hwtdecode export: formats and their names, files, rows, what is refused."""

import gzip
import json
import os
import signal
import subprocess
import time

from runner import BRANCHES, OVERFLOW, Case

TEXT = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
7/8 1.000000120: 1 branches:u: return 2008 f+0x8 (p) => 1005 main+0x5 (p)
7/8 1.000000140: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
"""
FORMATS = ("perfetto", "chrome", "speedscope", "firefox")


def test_formats_are_listed(case: Case) -> None:
    run = case.run("export", "--to", "help").want(0)
    names = [line.split()[0] for line in run.out.splitlines()[1:]]
    assert set(FORMATS) <= set(names), names
    assert names[-2:] == ["csv", "jsonl"], names
    assert len(set(names)) == len(names)
    assert "calls" in run.out and "up to 500 MB" in run.out


def test_the_name_of_the_file_tells_the_format(case: Case) -> None:
    case.write("a", TEXT)
    for name, key in (
        ("a.chrome.json", "traceEvents"),
        ("a.trace.json", "traceEvents"),
        ("a.speedscope.json", "$schema"),
        ("a.speedscope", "$schema"),
        ("a.firefox.json", "threads"),
        ("a.profile.json", "threads"),
    ):
        case.run("export", "-o", name, "a").want(0, out="")
        data = (case.folder / name).read_bytes()
        assert key in json.loads(data), name
        case.run("export", "-o", name + ".gz", "a").want(0)
        packed = (case.folder / (name + ".gz")).read_bytes()
        assert gzip.decompress(packed) == data
    case.run("export", "-o", "a.pftrace", "a").want(0)
    assert (case.folder / "a.pftrace").read_bytes()[:1] == b"\n"
    # What is asked for counts more.
    case.run("export", "-o", "b.pftrace", "--to=chrome", "a").want(0)
    json.loads((case.folder / "b.pftrace").read_bytes())
    case.run("export", "-o", "a.json", "a").want(
        2, err_has=("a.json: the name tells no format", "--to help")
    )
    case.run("export", "a").want(2, err_has="export needs a format")
    case.run("export", "--to=chrom", "a").want(
        2, err_has=("there is no format 'chrom'", "did you mean chrome?")
    )
    case.run("export", "--to=chrome").want(2, err_has="export needs FILE")


def test_standard_output_and_input(case: Case) -> None:
    case.write("a", TEXT)
    one = case.run("export", "--to=chrome", "--title=x", "a").want(0)
    case.run("export", "--title=x", "-o", "a.chrome.json", "a").want(0)
    assert one.out == (case.folder / "a.chrome.json").read_text()
    run = case.shell(
        '"$T" export --to=chrome --title=x --text - <a | cat'
    ).want(0)
    assert run.out == one.out
    assert json.loads(one.out)["otherData"]["title"] == "x"
    run = case.run("export", "--to=speedscope", "a").want(0)
    assert json.loads(run.out)["name"] == "a"


def test_rows_are_those_of_events(case: Case) -> None:
    raw, code = case.trace(BRANCHES)
    for name in ("csv", "jsonl"):
        rows = case.run("events", f"--format={name}", "--tech=pt", *code, raw)
        run = case.run("export", f"--to={name}", "--tech=pt", *code, raw)
        run.want(0, out=rows.out)
        case.run("export", "-o", f"a.{name}", "--tech=pt", *code, raw).want(0)
        assert (case.folder / f"a.{name}").read_text() == rows.out
    case.run("export", "--to=csv", "--gzip", "--tech=pt", *code, raw).want(
        2, err_has="rows are neither packed"
    )
    case.run(
        "export", "--split-size=1M", "-o", "a.csv", "--tech=pt", *code, raw
    ).want(2, err_has="this format is one file")


def test_several_files_have_numbers(case: Case) -> None:
    lines = TEXT.splitlines()[:2]
    text = "".join(
        line.replace(" 1.0000001", f" 1.{i:06}1") + "\n"
        for i in range(300)
        for line in lines
    )
    case.write("a", text)
    case.run("export", "--split-size=10K", "-o", "b.chrome.json", "a").want(0)
    names = sorted(p.name for p in case.folder.glob("b.*"))
    assert names[:2] == ["b.chrome.json", "b.chrome.json.2"], names
    assert not any("part" in name for name in names)
    case.run("export", "--to=chrome", "--split-size=10K", "a").want(
        2, err_has="further files need a name"
    )
    case.run(
        "export", "--to=chrome", "--split-size=10K", "-o", "/dev/null", "a"
    ).want(2, err_has="/dev/null is no file")
    for size in ("0", "x"):
        case.run("export", f"--split-size={size}", "-o", "c.pftrace", "a").want(
            2, err_has=f"'{size}' is no size"
        )
    case.run("export", "--to=chrome", "-o", "a", "a").want(
        2, err_has="a: is both input and output"
    )
    # The second file would be the one that is read.
    os.rename(case.folder / "a", case.folder / "d.chrome.json.2")
    run = case.run(
        "export", "--split-size=10K", "-o", "d.chrome.json", "d.chrome.json.2"
    )
    run.want(1, err_has="is both input and output")
    assert (case.folder / "d.chrome.json.2").read_text() == text


def test_calls_nest_in_each_of_several_files(case: Case) -> None:
    # What is short at first is not drawn before it is long enough.  The other
    # thread fills files then.
    lines = []
    for i in range(400):
        for at, tid, branch in (
            (0, 8, "call 1000 main+0x0 (p) => 2000 f+0x0 (p)"),
            (10, 8, "call 2000 f+0x0 (p) => 3000 g+0x0 (p)"),
            (20, 9, "return 6008 k+0x8 (p) => 5005 other+0x5 (p)"),
            (30, 8, "call 3000 g+0x0 (p) => 4000 h+0x0 (p)"),
            (50, 8, "return 4008 h+0x8 (p) => 3005 g+0x5 (p)"),
            (60, 9, "call 5000 other+0x0 (p) => 6000 k+0x0 (p)"),
            (80, 8, "return 3008 g+0x8 (p) => 2005 f+0x5 (p)"),
            (100, 8, "return 2008 f+0x8 (p) => 1005 main+0x5 (p)"),
        ):
            if (i, at) != (0, 20):
                lines.append(f"7/{tid} 1.{i * 110 + at:09}: 1 branches:u: "
                             f"{branch}\n")
    case.write("a", "".join(lines))
    case.run("export", "--resolution=50ns", "--split-size=2K", "-o",
             "b.chrome.json", "a").want(0)
    files = list(case.folder.glob("b.chrome.json*"))
    assert len(files) > 20
    sums = {"f": 0, "g": 0, "k": 0}
    for path in files:
        stacks: dict[int, list[tuple[str, float]]] = {8: [], 9: []}
        last = {8: 0.0, 9: 0.0}
        for event in json.loads(path.read_bytes())["traceEvents"]:
            if event["ph"] not in "BE":
                continue
            tid = event["tid"]
            assert event["ts"] >= last[tid], (path, event)
            last[tid] = event["ts"]
            if event["ph"] == "B":
                stacks[tid].append((event["name"], last[tid]))
                continue
            name, begin = stacks[tid].pop()
            assert name == event["name"], (path, event)
            if name in sums:
                sums[name] += round((last[tid] - begin) * 1000)
        assert stacks == {8: [], 9: []}, path
    # The last k is not over: the text ends before it.
    assert sums == {"f": 400 * 100, "g": 400 * 70, "k": 399 * 70}, sums
    # What is not there is counted: each h takes 20 ns, and of the last k nothing
    # is seen.
    case.run("export", "--min-duration=30ns", "-o", "c.pftrace", "a").want(
        0, err_has="a: 401 calls are left out, 0 are part of others")


def test_wrong_values_are_told(case: Case) -> None:
    case.write("a", TEXT)
    case.run("export", "--to=chrome", "--resolution=x", "a").want(
        2, err_has="--resolution: 'x' is no length of time"
    )
    case.run("export", "--to=chrome", "--value=x", "a").want(
        2, err_has="--value: 'x' is not"
    )
    case.run("export", "--to=chrome", "--value=cycles", "a").want(
        2, err_has="format chrome draws time or instructions"
    )
    case.run("export", "--to=chrome", "--time=1-2", "a").want(
        2, err_has="of text all rows are read"
    )
    case.run("export", "--to=chrome", "b").want(1, err_has="b: No such file")
    case.write("c", "nothing")
    case.run("export", "--to=chrome", "c").want(4)
    assert not (case.folder / "c.chrome.json").exists()


def test_gaps_and_the_lack_of_time_are_told(case: Case) -> None:
    raw, code = case.trace(OVERFLOW)
    run = case.run("export", "--to=chrome", "--tech=pt", *code, raw)
    run.want(
        0,
        err_has=(
            "1 gap of 0 bytes: what ran there is written as not traced",
            "there is no time in it",
        ),
    )
    names = [e["name"] for e in json.loads(run.out)["traceEvents"]]
    assert "not traced: overflow" in names
    case.run(
        "export", "--to=chrome", "--max-loss=0", "--tech=pt", *code, raw
    ).want(3, err_has="gap")
    run = case.run(
        "export", "--to=chrome", "--value=insns", "--tech=pt", *code, raw
    )
    assert "there is no time" not in run.err


def test_what_a_format_has_no_use_for_is_refused(case: Case) -> None:
    case.write("a", TEXT)
    for option, name, whose in (
        ("--min-duration=1us", "folded", "calls"),
        ("--resolution=1us", "pprof", "calls"),
        ("--details", "flame-svg", "calls"),
        ("--counters", "callgrind", "calls"),
        ("--max-depth=2", "callgrind", "calls and most of profiles"),
        ("--max-depth=2", "lcov", "calls and most of profiles"),
        ("--value=insns", "lcov", "calls and profiles"),
        ("--value=insns", "csv", "calls and profiles"),
        ("--text", "bolt", "calls and profiles"),
        ("--text", "jsonl", "calls and profiles"),
        ("--no-interpolation", "perf-script", "calls and profiles"),
        ("--program=p", "perfetto", "code and branches"),
        ("--only-image=p", "chrome", "coverage"),
        ("--source=p", "folded", "coverage"),
        ("--exclude=p", "autofdo", "coverage"),
        ("--map=a=b", "firefox", "coverage"),
    ):
        what = "csv and jsonl" if name in ("csv", "jsonl") else name
        case.run("export", f"--to={name}", option, "-o", "x", "a").want(
            2,
            err_has=(
                option.split("=")[0],
                f": {what} has no use for it",
                f"formats made of {whose} have",
            ),
        )
        assert not (case.folder / "x").exists()
    for value in "cycles", "calls":
        case.run("export", "--to=chrome", f"--value={value}", "a").want(
            2, err_has="--value: format chrome draws time or instructions"
        )
    case.run("export", "--to=folded", "--max-depth=1", "a").want(0)


def test_a_file_with_nothing_in_it_is_told(case: Case) -> None:
    case.write("a", TEXT)
    case.run("export", "--to=folded", "--value=insns", "a").want(
        0, out="", err_has="nothing of it is in the file: it has none"
    )
    # Code without debug information, and a gap in which no bytes were lost.
    raw, code = case.trace(OVERFLOW)
    run = case.run("export", "--to=lcov", "--tech=pt", *code, raw)
    run.want(
        0,
        out="",
        err_has=(
            "no code of it has lines of source files",
            "1 gap of 0 bytes: what ran there is not in it",
        ),
    )


def test_a_viewer_that_is_given_too_much_is_named(case: Case) -> None:
    # Names are written with each begin and end.
    name = "n" * 4096
    lines = []
    for i in range(12400):
        at = i * 10
        lines.append(
            f"7/8 1.{at:09}: 1 branches:u: call 1000 m+0x0 (p) "
            f"=> 2000 {name}+0x0 (p)\n"
            f"7/8 1.{at + 5:09}: 1 branches:u: return 2008 [unknown] (p) "
            "=> 1005 m+0x5 (p)\n"
        )
    case.write("a", "".join(lines))
    run = case.run("export", "--to=chrome", "-o", "/dev/null", "a")
    run.want(
        0,
        err_has=(
            "MB are more than the 100 MB that Perfetto, chrome://tracing",
            "--split-size 95M writes several files",
        ),
    )
    case.run("export", "--to=perfetto", "-o", "/dev/null", "a").want(0, err="")


def test_an_interrupt_leaves_a_file_that_is_whole(case: Case) -> None:
    raw, code = case.long_trace(60000)
    job = subprocess.Popen(
        [case.tool, "export", "--to=chrome", "-j1", "-o", "a.json"]
        + ["--tech=pt", *map(str, code), str(raw)],
        cwd=case.folder,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 10
    while not list(case.folder.glob("a.json.part*")):
        assert time.monotonic() < end and job.poll() is None
        time.sleep(0.01)
    job.send_signal(signal.SIGINT)
    said = job.communicate(timeout=60)[1]
    code_of_job = job.returncode
    assert code_of_job in (130, 0), code_of_job
    told = b"interrupted: only what was read by then is written" in said
    assert told == (code_of_job == 130), said
    events = json.loads((case.folder / "a.json").read_text())["traceEvents"]
    begins = sum(e["ph"] == "B" for e in events)
    assert begins == sum(e["ph"] == "E" for e in events)
