"""The man page names every command, option, key, reason and exit code."""

import re

import diff
import spaces
from runner import MISSING, OVERFLOW, Case

COMMANDS = ["info", "check", "events", "insns", "records", "maps"]
COMMANDS += ["packets", "spe", "mem", "calls", "report", "export", "flame"]
COMMANDS += ["coverage", "hist", "diff", "archive", "import", "help"]
COMMANDS += ["version"]


def page(case: Case, name: str = "hwtdecode.1") -> str:
    return (case.fixtures.parent / "src" / "man" / name).read_text()


def words_of_page(case: Case) -> set[str]:
    return set(re.findall(r"[A-Za-z0-9_-]+", page(case)))


def test_commands_and_options(case: Case) -> None:
    options = set(re.findall(r"Fl Fl ([a-z0-9-]+)", page(case)))
    known = set()
    for command in COMMANDS:
        text = case.run("help", command).want(0).out
        assert command in words_of_page(case)
        known |= set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, re.M))
    assert options == known, options ^ known


def commands_of(words: str) -> set[str]:
    """Of "(calls, diff)" or "(all but archive)" the commands."""
    names = set(re.findall(r"\b[a-z]+\b", words))
    if not words.startswith("all but"):
        return names - {"with", "without"}
    return set(COMMANDS) - {"help", "version"} - names


def test_options_name_their_commands(case: Case) -> None:
    entries = re.findall(r"^\.It (Fl Fl .*)\n(?:\.Pq (.*)\n)?", page(case), re.M)
    said: dict[str, set[str]] = {command: set() for command in COMMANDS}
    shared = set()
    for names, words in entries:
        options = set(re.findall(r"Fl Fl ([a-z0-9-]+)", names))
        if not words:
            shared |= options
        for command in commands_of(words.replace("Cm", "")):
            said[command] |= options
    for command in COMMANDS:
        text = case.run("help", command).want(0).out
        has = set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, re.M))
        wrong = (said[command] - has) | (has - shared - said[command])
        assert not wrong, (command, wrong)


def test_commands_have_a_synopsis_and_an_example(case: Case) -> None:
    parts = re.split(r"^\.Sh (.*)$", page(case), flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    assert {"EXIT STATUS", "DIAGNOSTICS", "ENVIRONMENT"} <= set(sections)
    synopsis = re.findall(r"^\.Cm ([a-z]+)$", sections["SYNOPSIS"], re.M)
    assert sorted(synopsis) == sorted([*COMMANDS, "record"])
    described = re.findall(r"^\.It Cm ([a-z]+)$", sections["COMMANDS"], re.M)
    assert sorted(described) == sorted([*COMMANDS, "record"])
    examples = set(re.findall(r"\$ hwtdecode ([a-z]+)", sections["EXAMPLES"]))
    assert set(COMMANDS) <= examples, set(COMMANDS) - examples


def test_help_of_gaps_has_the_reasons_of_the_page(case: Case) -> None:
    section = page(case).split("\n.Sh GAPS\n")[1].split("\n.Sh ")[0]
    reasons = re.findall(r"^\.It Li ([a-z-]+)$", section, re.M)
    assert "no-code" in reasons
    text = case.run("help", "gaps").want(0).out
    told = re.findall(r"^  ([a-z-]+)\s", text, re.M)
    assert sorted(told) == sorted([*reasons, "unknown"])


def test_options_of_record(case: Case) -> None:
    text = case.run("help", "record").want(0).out
    known = set(re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", text, re.M))
    options = set(
        re.findall(r"Fl Fl ([a-z0-9-]+)", page(case, "hwtdecode-record.1"))
    )
    assert options == known, options ^ known
    assert "record" in words_of_page(case)


def test_keys_of_the_list_of_record(case: Case) -> None:
    words = set(
        re.findall(r"[A-Za-z0-9_-]+", page(case, "hwtdecode-record.1"))
    )
    run = case.run("record", "--list", "--format=jsonl").want(0)
    seen = {key for line in run.objects() for key in line}
    seen |= {line["type"] for line in run.objects()}
    run = case.run("record", "--list", "--format=csv").want(0)
    seen |= set(run.table()[0])
    assert {"record_backend", "record_allowed", "modes"} <= seen
    assert seen - {"schema", "type"} <= words, seen - words


def test_kinds_of_loss(case: Case) -> None:
    text = page(case, "hwtdecode-record.1")
    header = case.fixtures.parent / "src" / "capture" / "capture_names.c"
    for name in re.findall(r'\] = "([a-z]+)"', header.read_text()):
        assert f".It Li {name}\n" in text, name


def test_keys_of_calls(case: Case) -> None:
    known = words_of_page(case)
    case.write("text", "1/2 1.0: 1 branches:u: call 1000 m+0x0 (p) => "
               "2000 f+0x0 (p)\n instruction trace error type 1 time 1.1 "
               "cpu -1 pid 1 tid 2 ip 0 code 7: x\n")
    trace, code = case.trace(OVERFLOW)
    seen = set()
    for words in ["text"], ["--functions", "text"], [*code, trace]:
        run = case.run("calls", "--enters", "--format=jsonl", *words).want(0)
        seen |= {key for line in run.objects() for key in line}
    assert {"call_site", "p99_ns", "bad_lines", "self_gap_ns"} <= seen
    assert seen <= known, seen - known


def test_keys_of_reports(case: Case) -> None:
    known = words_of_page(case)
    case.write("text", "1/2 1.0: 1 branches:u: call 1000 m+0x0 (p) => "
               "2000 f+0x0 (p)\n instruction trace error type 1 time 1.1 "
               "cpu -1 pid 1 tid 2 ip 0 code 7: x\n")
    folder = case.fixtures / "perf-data/features-tell-of-the-machine"
    words = ["--root", folder / "root", folder / "perf.data"]
    seen = set()
    for options in (["text"], ["--callers=f", "text"], ["--by=line", *words],
                    ["--by=block", *words], ["--by=cpu", *words],
                    ["--by=thread", *words], ["--calls", *words],
                    ["--callees=a_main", *words]):
        run = case.run("report", "--format=jsonl", *options).want(0)
        seen |= {key for line in run.objects() for key in line}
        seen |= {line["type"] for line in run.objects()}
    run = case.run("report", "--format=csv", *words).want(0)
    seen |= set(run.table()[0])
    assert {"report_info", "without_line", "self_gap_ns"} <= seen
    assert seen - {"schema", "type"} <= known, seen - known


def test_keys_of_flame(case: Case) -> None:
    case.write("text", "1/2 1.0: 1 branches:u: call 1000 m+0x0 (p) => "
               "2000 f+0x0 (p)\n")
    case.write("before", "1/2 1.0: 1 branches:u: call 1000 m+0x0 (p) => "
               "3000 g+0x0 (p)\n")
    run = case.run("flame", "--format=jsonl", "--diff=before", "--value=calls",
                   "--min-percent=40", "text").want(0)
    seen = {key for line in run.objects() for key in line}
    seen |= {line["type"] for line in run.objects()}
    assert {"self_before", "flame_summary", "deeper"} <= seen
    assert seen <= words_of_page(case), seen - words_of_page(case)


def test_keys_of_coverage(case: Case) -> None:
    known = words_of_page(case)
    trace, code = case.trace(OVERFLOW)
    seen = set()
    # Of tables without rows here CSV names what JSON lines have.
    for by in ("file", "function", "line", "branch", "edge", "image",
               "range"):
        run = case.run("coverage", f"--by={by}", "--format=jsonl", *code,
                       trace).want(0)
        seen |= {key for line in run.objects() for key in line}
        seen |= {line["type"] for line in run.objects()}
        run = case.run("coverage", f"--by={by}", "--format=csv", *code,
                       trace).want(0, err_has="gave nothing")
        seen |= set(run.out.splitlines()[0].split(","))
        seen.add(f"coverage-{by}")
    assert {"lost_insns", "not_taken", "linkage_name", "last"} <= seen
    assert seen <= known, seen - known


def test_keys_of_hist(case: Case) -> None:
    known = words_of_page(case)
    case.write("text", "1/2 1.0: 1 branches:u: call 1000 m+0x0 (p) => "
               "2000 f+0x0 (p)\n1/2 1.5: 1 branches:u: return 2002 f+0x2 (p) "
               "=> 1005 m+0x5 (p)\n1/2 1.7: 1 branches:u: call 1010 "
               "m+0x10 (p) => 2000 f+0x0 (p)\n")
    trace, code = case.trace(OVERFLOW)
    seen = {"hist_all", "hist_info"}
    for words in ["text"], ["--from=f", "--to=f", "text"], [*code, trace]:
        run = case.run("hist", "--format=jsonl", *words).want(0)
        seen |= {key for line in run.objects() for key in line}
        run = case.run("hist", "--format=csv", *words).want(
            0, err_has="gave nothing" if trace in words else "")
        seen |= set(run.out.splitlines()[0].split(","))
    assert {"p999", "restarted", "to_address", "place"} <= seen
    assert seen <= known, seen - known


def test_keys_of_diff(case: Case) -> None:
    known = words_of_page(case)
    words = diff.loop(case, "a", 6)
    diff.loop(case, "b", 3)
    seen: set[str] = set()
    for part in "functions", "edges", "branches", "flow":
        run = case.run("diff", f"--show={part}", "--format=jsonl", *words,
                       "a", "b").want(0)
        for line in run.objects():
            seen |= set(line) | {line["type"]}
            for block in line.get("common", []):
                seen |= set(block)
    case.write("x", diff.text(30, 3, "g"))
    case.write("y", diff.text(30, 5))
    run = case.run("diff", "--show=edges", "--by=calls", "--format=jsonl",
                   "x", "y").want(0)
    seen |= {key for line in run.objects() for key in line}
    assert {"insns_before", "diff_thread", "only", "from_image"} <= seen
    assert seen - {"schema", "type"} <= known, seen - known


def test_keys_of_info_and_check(case: Case) -> None:
    known = words_of_page(case)
    trace, code = case.trace(OVERFLOW)
    words = ["--pt-cpu=6/94/3", "--pt-nom-freq=30", "--pt-cpuid-15h=2/250"]
    words += ["--pt-mtc-freq=0"]
    words += ["--clock=3/1", "--stream-cpu=2", "--stream-pid=3"]
    lines = case.run(
        "info", *words, *code, "--format=jsonl", "--time-span", trace
    ).want(0)
    seen = {key for line in lines.objects() for key in line}
    for name in (OVERFLOW, MISSING):
        trace, _ = case.trace(name)
        run = case.run("check", "--gaps", "--format=jsonl", trace).want(3)
        seen |= {key for line in run.objects() for key in line}
        seen |= {line["type"] for line in run.objects()}
    assert {"loss_percent", "clock_counts", "page"} <= seen
    assert seen <= known, seen - known


def test_keys_of_records_and_maps(case: Case) -> None:
    known = words_of_page(case)
    spaces.make(case)
    seen = set()
    for words in (["records"], ["maps"], ["check", "--root=root"]):
        run = case.run(*words, "--format=jsonl", "run.hwt")
        for line in run.objects():
            seen |= set(line) | {line["type"]}
            seen |= {line["state"]} if "state" in line else set()
        if words != ["check", "--root=root"]:
            run = case.run(*words, "--format=csv", "run.hwt").want(0)
            seen |= set(run.table()[0])
    assert {"execs", "missing_image", "other-build-id"} <= seen
    assert seen <= known, seen - known


def test_kinds_and_reasons(case: Case) -> None:
    known = words_of_page(case)
    text = case.run("help", "events").want(0).out
    assert set(text.split("Kinds:")[1].split()) <= known
    for folder in sorted((case.fixtures / "pt-bad").iterdir()):
        run = case.run(
            "check",
            "--tech=pt",
            "--format=jsonl",
            "--images",
            folder / "image.txt",
            folder / "trace.pt",
        )
        assert set(run.objects()[-1]["gaps"]) <= known
