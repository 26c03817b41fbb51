"""The conformance runner can fail: small corpora and a scripted flow tool."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent.parent
FIXTURES = TESTS.parent / "fixtures"
RUNNER = TESTS / "conformance" / "run.py"
sys.path.insert(0, str(TESTS / "conformance"))

import run as runner  # noqa: E402
from families import pt_gen  # noqa: E402
from families.case import Case  # noqa: E402

# Writes what the folder `ours` beside it holds, as hwtdecode-flow would.
FAKE_TOOL = """#!{python}
import shutil, sys, time
from pathlib import Path
ours = Path(__file__).parent / "ours"
args = sys.argv[1:]
(ours / "called").open("a").write(" ".join(args) + "\\n")
for option, value in zip(args, args[1:]):
    source = ours / option[2:]
    if option[2:] in ("runs", "insns", "hash", "edges", "events", "gaps"):
        shutil.copy(source, value) if source.exists() else \\
            Path(value).write_text("")
if (ours / "stdout").exists():
    sys.stdout.write((ours / "stdout").read_text())
if (ours / "stderr").exists():
    sys.stderr.write((ours / "stderr").read_text())
code = int((ours / "code").read_text()) if (ours / "code").exists() else 0
if code < 0:
    import os
    os.kill(os.getpid(), -code)
sys.exit(code)
"""

RUNS = "s 0\nb 1000 3 64 1004\nb 2000 1 64 2000\n"


class World:
    """A corpus, a scripted flow tool and a list of differences."""

    def __init__(self, root: Path) -> None:
        self.corpus = root / "corpus"
        self.ours = root / "bin" / "ours"
        self.tool = root / "bin" / "hwtdecode-flow"
        self.differences = root / "differences.toml"
        self.corpus.mkdir()
        self.ours.mkdir(parents=True)
        self.tool.write_text(FAKE_TOOL.format(python=sys.executable))
        self.tool.chmod(self.tool.stat().st_mode | stat.S_IXUSR)
        self.differences.write_text("")

    def case(self, name: str, files: dict[str, str],
             expected: dict[str, str], **more: Any) -> Path:
        """Write a case with right hashes."""
        folder = self.corpus / name
        folder.mkdir(parents=True)
        data: dict[str, Any] = {"id": name, "files": {}, "expected": {},
                                **more}
        for section, contents in (("files", files), ("expected", expected)):
            for file, text in contents.items():
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                data[section][file] = {
                    "sha256": hashlib.sha256(text.encode()).hexdigest(),
                    "size": len(text)}
        (folder / "case.json").write_text(json.dumps(data))
        return folder

    def good(self, name: str = "pt-good/first", **more: Any) -> Path:
        """Write a case that the scripted tool passes."""
        self.say(runs=RUNS, gaps="", events="0 mode mode=64 status\n",
                 insns="1000 1 64\n1001 3 64\n1004 2 64\n2000 1 64\n")
        return self.case(
            name, {"trace.pt": "x", "code.bin": "y",
                   "image.txt": "code.bin 0 1 1000\n"},
            {"expected/flow.txt": RUNS, "expected/gaps.txt": "",
             "expected/rows.txt": "0 mode mode=64\n"}, **more)

    def say(self, **texts: str) -> None:
        """Set what the tool writes."""
        for name, text in texts.items():
            (self.ours / name).write_text(text)

    def run(self, *options: str) -> tuple[int, list[str]]:
        """Run the runner; return exit code and lines."""
        done = subprocess.run(
            [sys.executable, str(RUNNER), "--flow-tool", str(self.tool),
             "--differences", str(self.differences), *options,
             str(self.corpus)],
            capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return an empty world."""
    return World(tmp_path)


def test_equal_decode_passes(world: World) -> None:
    world.good()
    assert world.run() == (0, [
        "PASS pt-good/first 2 runs, 0 gaps, 1 rows",
        "1 passed, 0 failed, 0 skipped"])


def test_other_instruction_fails(world: World) -> None:
    world.good()
    world.say(runs=RUNS.replace("2000", "2001"))
    assert world.run() == (1, [
        "FAIL pt-good/first flow: run 2 is 2001 1 64 2001, "
        "expected 2000 1 64 2000", "0 passed, 1 failed, 0 skipped"])


def test_unexpected_error_fails(world: World) -> None:
    world.good()
    world.say(runs=RUNS.replace("b 2", "x bad-flow @7\ns 9\nb 2"))
    code, lines = world.run()
    assert code == 1
    assert lines[0] == ("FAIL pt-good/first flow: error bad-flow @7, "
                        "none is expected")


@pytest.mark.parametrize(("ours", "why"), [
    ({"gaps": "bad-flow 1 2\n"}, "gaps: 1, expected 0: bad-flow 1 2"),
    ({"events": ""}, "rows: '0 mode=64' is not told"),
    ({"events": "0 mode mode=32\n"}, "rows: '0 mode=64' is not told"),
    ({"events": "0 mode mode=64\n2 disable\n"},
     "rows: '2 disable' is not expected"),
])
def test_other_gap_or_row_fails(world: World, ours: dict[str, str],
                                why: str) -> None:
    world.good()
    world.say(**ours)
    code, lines = world.run()
    assert code == 1
    assert lines[0].startswith(f"FAIL pt-good/first {why}")


def test_one_failure_among_passes_is_exit_1(world: World) -> None:
    world.good("pt-good/a")
    world.good("pt-good/b")
    folder = world.good("pt-good/c")
    (folder / "trace.pt").write_text("X")
    code, lines = world.run()
    assert code == 1
    assert [line.split()[0] for line in lines] == ["PASS", "PASS", "FAIL",
                                                   "2"]
    assert lines[-1] == "2 passed, 1 failed, 0 skipped"


def test_unknown_family_is_skipped_by_name(world: World) -> None:
    world.case("quantum/cat", {}, {})
    assert world.run() == (0, [
        "SKIP quantum/cat not supported yet: quantum",
        "0 passed, 0 failed, 1 skipped"])


def test_packets_alone_are_skipped(world: World) -> None:
    world.case("pt-libxdc/k", {"trace.pt": "x"},
               {"expected/packets.txt": ""})
    assert world.run()[1][0] == "SKIP pt-libxdc/k packets only"


def _break_json(folder: Path) -> None:
    (folder / "case.json").write_text("{")


def _no_object(folder: Path) -> None:
    (folder / "case.json").write_text("[]")


def _no_case_json(folder: Path) -> None:
    (folder / "case.json").unlink()


def _missing_input(folder: Path) -> None:
    (folder / "code.bin").unlink()


def _missing_expected(folder: Path) -> None:
    (folder / "expected" / "flow.txt").unlink()


def _wrong_hash(folder: Path) -> None:
    (folder / "expected" / "flow.txt").write_text(
        RUNS.replace("1004", "1003"))


def _wrong_size(folder: Path) -> None:
    (folder / "trace.pt").write_text("xx")


def _edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads((folder / "case.json").read_text())
    change(data)
    (folder / "case.json").write_text(json.dumps(data))


def _no_hash(folder: Path) -> None:
    _edit(folder, lambda data: data["files"]["trace.pt"].pop("sha256"))


def _unlisted(folder: Path) -> None:
    _edit(folder, lambda data: data["files"].pop("image.txt"))


def _escape(folder: Path) -> None:
    (folder.parent / "outside").write_text("y")
    _edit(folder, lambda data: data["files"].update(
        {"../outside": data["files"]["code.bin"]}))


def _bad_zstd(folder: Path) -> None:
    (folder / "trace.pt.zst").write_text("no zstd")
    _edit(folder, lambda data: data["files"]["trace.pt"].update(
        stored="trace.pt.zst"))


def _strange_params(folder: Path) -> None:
    _edit(folder, lambda data: data.update(params={"cpu": {"x": 1}}))


@pytest.mark.parametrize(("harm", "why"), [
    (_break_json, "case.json"),
    (_no_object, "case.json is no object"),
    (_no_case_json, "case.json"),
    (_missing_input, "code.bin"),
    (_missing_expected, "expected/flow.txt"),
    (_wrong_hash, "expected/flow.txt has another sha256"),
    (_wrong_size, "trace.pt has 2 bytes"),
    (_no_hash, "trace.pt has no sha256"),
    (_unlisted, "image.txt is not listed"),
    (_escape, "../outside leads out of the case"),
    (_bad_zstd, "trace.pt.zst"),
    (_strange_params, "KeyError"),
])
def test_malformed_case_fails(world: World, harm: Callable[[Path], None],
                              why: str) -> None:
    harm(world.good())
    (world.corpus / "index.json").write_text(
        json.dumps([{"id": "pt-good/first", "path": "pt-good/first"}]))
    code, lines = world.run()
    assert code == 1
    assert lines[0].startswith("FAIL pt-good/first malformed case: ")
    assert why in lines[0]
    assert lines[1] == "0 passed, 1 failed, 0 skipped"


def test_compressed_files_are_unpacked(world: World) -> None:
    folder = world.good()
    subprocess.run(["zstd", "-q", "--rm", str(folder / "trace.pt")],
                   check=True)
    _edit(folder, lambda data: data["files"]["trace.pt"].update(
        stored="trace.pt.zst"))
    assert world.run()[0] == 0


def test_index_decides_what_runs(world: World) -> None:
    world.good("pt-good/listed")
    world.good("pt-good/unlisted")
    (world.corpus / "index.json").write_text(
        json.dumps([{"id": "pt-good/listed"}]))
    assert world.run()[1][-1] == "1 passed, 0 failed, 0 skipped"


def test_family_and_case_select(world: World) -> None:
    for name in ("pt-good/a", "pt-good/b", "pt-bad/a"):
        world.good(name)
    assert len(world.run("--family", "pt-good")[1]) == 3
    assert len(world.run("--case", "a")[1]) == 3
    assert len(world.run("--case", "pt-bad/a")[1]) == 2
    assert len(world.run("--family", "pt-good", "--case", "b")[1]) == 2
    assert len(world.run("--except-family", "pt-good")[1]) == 2
    assert world.run("--case", "none")[0] == 2


def test_flow_tool_lies_beside_the_tool(world: World) -> None:
    world.good()
    done = subprocess.run(
        [sys.executable, str(RUNNER), "--hwtdecode",
         str(world.tool.parent / "hwtdecode"), str(world.corpus)],
        capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_temporary_files_are_removed(world: World, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    world.good()
    world.run()
    world.say(code="-9")
    world.run()
    assert not list((tmp_path / "scratch").iterdir())


def test_trouble_is_exit_2(world: World) -> None:
    world.good()
    (world.corpus / "index.json").write_text("{")
    assert world.run()[0] == 2
    (world.corpus / "index.json").unlink()
    world.differences.write_text("[[difference]]\nname = 'x'\n")
    assert world.run()[0] == 2
    world.differences.write_text("")
    world.tool.unlink()
    assert world.run()[0] == 2


def _list_difference(world: World, **more: str) -> None:
    entry = {"name": "early-bird", "family": "pt-good", "case": "first",
             "reference": "r", "ours": "o", "evidence": "e",
             "failure": "flow: run 2 is 2001", **more}
    world.differences.write_text("[[difference]]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in entry.items()))


def test_listed_difference_passes_with_its_name(world: World) -> None:
    world.good()
    world.say(runs=RUNS.replace("2000", "2001"))
    _list_difference(world)
    assert world.run() == (0, [
        "PASS pt-good/first differs as listed: early-bird",
        "1 passed, 0 failed, 0 skipped"])


def test_stale_difference_fails(world: World) -> None:
    world.good()
    _list_difference(world)
    assert world.run() == (1, [
        "FAIL pt-good/first stale entry: early-bird no longer differs",
        "0 passed, 1 failed, 0 skipped"])


def test_another_difference_than_listed_fails(world: World) -> None:
    world.good()
    world.say(runs=RUNS.replace("1004", "1003"))
    _list_difference(world)
    assert world.run()[0] == 1


def test_malformed_case_is_no_difference(world: World) -> None:
    _wrong_hash(world.good())
    _list_difference(world, failure="sha256")
    assert world.run()[0] == 1


def test_difference_of_another_engine_does_not_count(world: World) -> None:
    world.good()
    world.say(runs=RUNS.replace("2000", "2001"))
    _list_difference(world)
    world.differences.write_text(world.differences.read_text() +
                                 'engines = ["libipt"]\n')
    assert world.run()[0] == 1
    assert world.run("--engine", "libipt")[0] == 0


def test_what_libipt_cannot_do_is_skipped_for_libipt(world: World) -> None:
    world.good(params={"libipt": "skip: has no such packet"})
    assert world.run("--engine", "libipt") == (0, [
        "SKIP pt-good/first libipt: has no such packet",
        "0 passed, 0 failed, 1 skipped"])
    assert world.run("--engine", "native")[1][-1] == \
        "1 passed, 0 failed, 0 skipped"
    assert "--engine native" in (world.ours / "called").read_text()


@pytest.mark.parametrize(("ours", "why"), [
    ({"code": "2", "stderr": "hwtdecode-flow: no such engine\n"},
     "hwtdecode-flow: no such engine"),
    ({"code": "-11"}, "died of signal 11"),
    ({"code": "3"}, "the decode does not end"),
    ({"code": "99"}, "exit code 99"),
    ({"code": "1", "stdout": "account: 5 bytes read of 6\n"},
     "5 bytes read of 6"),
])
def test_tool_that_fails_fails_the_case(world: World, ours: dict[str, str],
                                        why: str) -> None:
    world.good()
    world.say(**ours)
    code, lines = world.run()
    assert code == 1
    assert lines[0].startswith("FAIL") and lines[0].endswith(why)


def test_empty_output_fails(world: World) -> None:
    world.good()
    for name in ("runs", "insns", "gaps", "events"):
        (world.ours / name).unlink()
    assert world.run()[0] == 1


def _truth_case(world: World, **more: Any) -> None:
    params = {"tsc": 0, "mtc_freq": -1, "cyc_thresh": -1, **more}
    world.case("pt-gen/one", {"0.pt": "x", "code.bin": "y",
                              "image.txt": "code.bin 0 1 1000\n"},
               {"expected/0.truth.txt": "end 0 7 0 0 0 0 0 0 0\n"},
               params=params, counts={"0": {"insns": 7}})


def test_truth_counts_every_record(world: World) -> None:
    _truth_case(world)
    said = ("truth: {} of 5 records, {} instructions, 0 extra, 0 times, max "
            "time error 0 ticks, 0 complaints\n")
    world.say(stdout=said.format(5, 7))
    assert world.run()[1][0] == "PASS pt-gen/one 5 truth records, " \
        "7 instructions"
    world.say(stdout=said.format(4, 7))
    assert world.run()[0] == 1
    world.say(stdout=said.format(5, 6))
    assert world.run()[0] == 1
    world.say(stdout="")
    assert world.run()[0] == 1
    world.say(stdout=said.format(5, 7), code="1")
    assert world.run()[0] == 1


def test_case_beyond_the_limit_is_skipped(world: World) -> None:
    _truth_case(world)
    assert world.run("--max-insns", "6") == (0, [
        "SKIP pt-gen/one 7 instructions, the limit is 6",
        "0 passed, 0 failed, 1 skipped"])


@pytest.mark.parametrize(("params", "late", "rule"), [
    ({}, False, "none"),
    ({"tsc": 1}, False, "anchors:0"),
    ({"tsc": 1, "mtc_freq": 3}, False, "anchors:1000"),
    ({"tsc": 1, "mtc_freq": 3, "cyc_thresh": 0}, False, "ticks:512"),
    ({"tsc": 1, "mtc_freq": 3, "cyc_thresh": 0}, True, "ticks:1000"),
])
def test_time_tolerance(world: World, params: dict[str, int], late: bool,
                        rule: str) -> None:
    _truth_case(world, cpuid_0x15_eax=2, cpuid_0x15_ebx=250, **params)
    case = Case(world.corpus / "pt-gen/one", "pt-gen/one", world.ours)
    assert pt_gen.time_rule(case, late) == rule


def test_probe_that_must_end(world: World) -> None:
    world.case("pt-probes/selfloop", {"a.pt": "x", "a.bin": "yy"}, {},
               params={"image": {"file": "a.bin", "vaddr": "0x1000"}},
               expect={"gaps_at_least": 1, "gap_reason": "endless-loop",
                       "max_instructions": 64})
    world.say(gaps="endless-loop 2 9\n", hash="h 3 0 end\n")
    assert world.run()[1][0] == ("PASS pt-probes/selfloop ends after 3 "
                                 "instructions, gaps: endless-loop")
    assert ":0:2:1000 " in (world.ours / "called").read_text()
    world.say(gaps="bad-flow 2 9\n")
    assert world.run()[0] == 1
    world.say(gaps="")
    assert world.run()[0] == 1
    world.say(gaps="endless-loop 2 9\n", code="3")
    assert world.run()[0] == 1


# Two engines.

PAIR = ("--compare-engines", "native,libipt")
SUMMARY = "compared: 4 instructions, {} differ\n"
DIFFER = ("differ: after 2 instructions: native 'insn ip=1', libipt "
          "'insn ip=2'\n")
FURTHER = ("further: after 3 instructions: native tells 2 rows of bytes up "
           "to 29 that libipt lost\n")


def _list_pair(world: World, name: str, failure: str,
               case: object = "first", **more: object) -> None:
    entry = {"name": name, "family": "pt-good", "case": case,
             "reference": "r", "ours": "o", "evidence": "e",
             "failure": failure, "engines": ["native"], "against": "libipt",
             **more}
    world.differences.write_text(
        world.differences.read_text() + "[[difference]]\n" +
        "".join(f"{key} = {json.dumps(value)}\n"
                for key, value in entry.items()))


def test_engines_with_equal_rows_pass(world: World) -> None:
    world.good()
    world.say(stdout=SUMMARY.format(0))
    assert world.run(*PAIR) == (0, [
        "PASS pt-good/first 1 decodes, 4 instructions",
        "1 passed, 0 failed, 0 skipped"])
    assert "--compare native,libipt" in (world.ours / "called").read_text()


def test_engines_that_differ_fail(world: World) -> None:
    world.good()
    world.say(stdout=DIFFER + FURTHER + SUMMARY.format(2), code="1")
    assert world.run(*PAIR) == (1, [
        f"FAIL pt-good/first trace.pt: {DIFFER.strip()} (2 differ, "
        "2 not listed)", "0 passed, 1 failed, 0 skipped"])


def test_every_difference_of_engines_has_to_be_listed(world: World) -> None:
    world.good()
    world.say(stdout=DIFFER + FURTHER + SUMMARY.format(2), code="1")
    _list_pair(world, "one", "native 'insn ip=1'")
    code, lines = world.run(*PAIR)
    assert code == 1
    assert lines[0].startswith("FAIL pt-good/first trace.pt: further: ")
    assert lines[0].endswith("(2 differ, 1 not listed)")
    _list_pair(world, "two", "that libipt lost", case=["first"])
    assert world.run(*PAIR)[1][0] == (
        "PASS pt-good/first differs as listed: one, two; 1 decodes, "
        "4 instructions")


def test_entry_that_no_engine_meets_is_stale(world: World) -> None:
    world.good()
    world.say(stdout=DIFFER + SUMMARY.format(1), code="1")
    _list_pair(world, "one", "native 'insn ip=1'")
    _list_pair(world, "two", "that libipt lost")
    assert world.run(*PAIR)[1][0] == (
        "FAIL pt-good/first stale entry: two no longer differs")
    world.say(stdout=SUMMARY.format(0), code="0")
    assert world.run(*PAIR)[1][0] == (
        "FAIL pt-good/first stale entry: one no longer differs")


@pytest.mark.parametrize("more", [
    {"against": "other"}, {"engines": ["libipt"]}, {"case": ["second"]},
    {"family": "pt-bad"}])
def test_entry_of_something_else_covers_nothing(
        world: World, more: dict[str, object]) -> None:
    world.good()
    world.say(stdout=DIFFER + SUMMARY.format(1), code="1")
    _list_pair(world, "one", "native 'insn ip=1'", **more)
    assert world.run(*PAIR)[0] == 1


def test_entries_of_engines_and_of_cases_are_apart(world: World) -> None:
    world.good()
    _list_pair(world, "one", "flow: run 2 is 2001")
    assert world.run()[0] == 0
    world.say(runs=RUNS.replace("2000", "2001"))
    assert world.run()[0] == 1
    world.differences.write_text("")
    world.say(stdout=DIFFER + SUMMARY.format(1), code="1")
    _list_difference(world, failure="native 'insn ip=1'")
    assert world.run(*PAIR)[0] == 1


@pytest.mark.parametrize("ours", [
    {"stdout": ""}, {"stdout": DIFFER, "code": "1"},
    {"stdout": DIFFER + SUMMARY.format(1), "code": "0"},
    {"stdout": SUMMARY.format(0), "code": "1"},
    {"stdout": DIFFER + SUMMARY.format(2), "code": "1"},
    {"code": "2", "stderr": "hwtdecode-flow: open: no such engine\n"},
    {"code": "-11"}])
def test_half_a_comparison_is_none(world: World, ours: dict[str, str]
                                   ) -> None:
    world.good()
    world.say(**ours)
    assert world.run(*PAIR)[0] == 1


def test_engines_are_compared_up_to_a_size(world: World) -> None:
    world.good(counts={"0": {"insns": 10_000_001}})
    world.say(stdout=SUMMARY.format(0))
    assert world.run(*PAIR)[1][0] == (
        "SKIP pt-good/first 10000001 instructions, the limit is 10000000")
    assert world.run(*PAIR, "--max-insns", "20000000")[1][-1] == \
        "1 passed, 0 failed, 0 skipped"


def test_engines_are_compared_for_each_processor(world: World) -> None:
    world.say(stdout=SUMMARY.format(0))
    world.case("pt-ptt/one", {"trace.pt": "x"}, {},
               runs=[{"cpus": ["6/78", "6/94"]}, {"cpus": ["6/78"]}])
    assert world.run(*PAIR)[1][0] == \
        "PASS pt-ptt/one 2 decodes, 8 instructions"
    called = (world.ours / "called").read_text()
    assert "--cpu 6/78" in called and "--cpu 6/94" in called


@pytest.mark.parametrize("text", ["native", ",libipt", "native,native"])
def test_no_two_engines_are_exit_2(world: World, text: str) -> None:
    world.good()
    assert world.run("--compare-engines", text)[0] == 2
    assert world.run(*PAIR, "--engine", "native")[0] == 2


@pytest.mark.parametrize("case", [[], [""], [1], "", 3])
def test_entry_without_a_case_is_exit_2(world: World, case: object) -> None:
    world.good()
    _list_pair(world, "one", "x", case=case)
    assert world.run(*PAIR)[0] == 2


# The program itself, on a fixture with its truth changed.

def _flow_tool() -> Path:
    named = os.environ.get("HWTDECODE_FLOW_TOOL")
    try:
        return runner.find_flow(None, Path(named) if named else None)
    except runner.Trouble as trouble:
        pytest.skip(str(trouble))


def _captured(tmp_path: Path, change: Callable[[list[str]], list[str]],
              jobs: str = "1") -> tuple[int, str]:
    """Run the capture with time and interrupts against a changed truth."""
    name = "pt-captured/workload-with-time-and-interrupts"
    if not (FIXTURES / name).is_dir():
        pytest.skip(f"no fixture {name}")
    folder = tmp_path / "corpus" / name
    shutil.copytree(FIXTURES / name, folder)
    truth = folder / "expected" / "0.truth.txt"
    text = "\n".join(change(truth.read_text().splitlines())) + "\n"
    truth.write_text(text)
    _edit(folder, lambda data: data["expected"]["expected/0.truth.txt"].update(
        sha256=hashlib.sha256(text.encode()).hexdigest(), size=len(text)))
    done = subprocess.run(
        [sys.executable, str(RUNNER), "--flow-tool", str(_flow_tool()),
         "--decode-jobs", jobs, str(tmp_path / "corpus")],
        capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def _first(lines: list[str], kind: str) -> int:
    return next(i for i, line in enumerate(lines)
                if line.startswith(kind + " ") and i > 5)


def _set(kind: str, field: int, value: Callable[[str], str]
         ) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        at = _first(lines, kind)
        words = lines[at].split()
        words[field] = value(words[field])
        return lines[:at] + [" ".join(words)] + lines[at + 1:]
    return change


def _drop(kind: str) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        at = _first(lines, kind)
        return lines[:at] + lines[at + 1:]
    return change


def test_unchanged_truth_passes(tmp_path: Path) -> None:
    code, said = _captured(tmp_path, list)
    assert code == 0, said


def _hex(step: int) -> Callable[[str], str]:
    return lambda word: f"{int(word, 16) + step:x}"


def _dec(step: int) -> Callable[[str], str]:
    return lambda word: f"{int(word) + step}"


@pytest.mark.parametrize("change", [
    pytest.param(_set("sync", 3, _hex(1)), id="hash"),
    pytest.param(_set("sync", 4, _hex(1)), id="address-at-a-sync"),
    pytest.param(_set("enable", 4, _hex(1)), id="address-of-an-enable"),
    pytest.param(_set("disable", 4, _hex(-1)), id="address-of-a-syscall"),
    pytest.param(_set("async-disable", 4, _hex(1)), id="address-interrupted"),
    pytest.param(_set("sync", 2, _dec(1)), id="count"),
    pytest.param(_set("enable", 6, _dec(-3000)), id="time-early"),
    pytest.param(_set("sync", 6, _dec(3000)), id="time-late"),
    pytest.param(_set("async-disable", 0, lambda _: "disable"), id="kind"),
    pytest.param(_drop("enable"), id="row-without-a-record"),
    pytest.param(lambda lines: lines[:-1], id="end"),
    pytest.param(lambda lines: lines[:-1] +
                 [lines[-1].replace("end", "cbr", 1), lines[-1]], id="cbr"),
    pytest.param(lambda lines: lines[:-1] +
                 [lines[-1].replace("end", "disable", 1), lines[-1]],
                 id="record-without-a-row"),
])
def test_changed_truth_fails(
        tmp_path: Path, change: Callable[[list[str]], list[str]]) -> None:
    code, said = _captured(tmp_path, change)
    if "workload-with-time-and-interrupts" not in said:
        pytest.skip("the capture did not run")
    assert code == 1, said


def test_repository_fixtures_are_found() -> None:
    names = [name for name, _ in runner.find_cases(FIXTURES)]
    assert len(names) == len(set(names)) > 0
