"""Stored expectations: the same as of ``hwtdecode check --expect``."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import hwt
import pytest
from hwt.testing import (
    Difference,
    ExpectationError,
    ExpectationFileError,
    account,
    assert_no_loss,
    compare,
    expect,
    read_expectation,
    write_expectation,
)

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
FIRST = "hwtdecode-expectation 1\n"
PSB = bytes.fromhex("0282" * 8)


@pytest.fixture
def tool() -> str:
    """The tool of this build."""
    path = os.environ.get("HWTDECODE_TOOL")
    if path is None:
        found = Path(hwt.__file__).parents[2] / "bin" / "hwtdecode"
        path = str(found) if found.exists() else None
    if path is None:
        pytest.skip("HWTDECODE_TOOL names no hwtdecode")
    return path


def check(tool: str, *words: Any) -> Any:
    return subprocess.run(
        [tool, "check", *map(str, words)], capture_output=True, text=True
    )


def fnv(addresses: list[int]) -> int:
    """The hash that hwtdecode(1) describes."""
    value = 1469598103934665603
    for address in addresses:
        for byte in address.to_bytes(8, "little"):
            value = ((value ^ byte) * 1099511628211) % 2**64
    return value


def raw_cases() -> list[Path]:
    """Cases of the corpus that need no options but the code."""
    found = []
    for family in ("pt-good", "pt-bad", "spe-good", "spe-bad", "cs-bad"):
        for folder in sorted((FIXTURES / family).glob("*/")):
            if (folder / "image.txt").exists() or family.startswith("spe"):
                found.append(folder)
    return found[::5]


def test_the_tool_and_this_store_the_same_of_the_examples(
    tool: str, tmp_path: Path
) -> None:
    for name in ("pt", "pt_before", "spe"):
        path = hwt.example(name)
        theirs, ours = tmp_path / "theirs", tmp_path / f"{name}.ours"
        done = check(tool, "--expect", theirs, "--update", path)
        assert done.returncode == 0, done.stderr
        with hwt.open(path) as trace:
            expect(trace, ours, update=True)
            assert ours.read_bytes() == theirs.read_bytes()
            expect(trace, theirs)
        assert check(tool, "--expect", ours, path).returncode == 0


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="no fixtures")
def test_the_tool_and_this_store_the_same_of_the_corpus(
    tool: str, tmp_path: Path
) -> None:
    n = 0
    for folder in raw_cases():
        raws = sorted(folder.glob("trace.*")) or sorted(folder.glob("0.pt"))
        if len(raws) != 1 or raws[0].suffix not in (".pt", ".spe"):
            continue
        theirs, ours = tmp_path / f"{n}.theirs", tmp_path / f"{n}.ours"
        tech = raws[0].suffix[1:]
        done = check(
            tool, "--tech", tech, "--expect", theirs, "--update", raws[0]
        )
        assert done.returncode == 0, done.stderr
        with hwt.open(raws[0], tech=tech) as trace:
            write_expectation(ours, account(trace))
        assert ours.read_bytes() == theirs.read_bytes(), folder
        n += 1
    assert n > 10


def test_bytes_of_sinks_without_a_source_are_told_as_the_tool_does(
    tool: str, tmp_path: Path
) -> None:
    # Frames of the IDs 0x10, which has a source, and 0x11, which has none.
    with hwt.Builder() as builder:
        frames = b"".join(
            bytes([n << 1 | 1]) + bytes(15) for n in (0x10, 0x11)
        )
        sink = builder.add_stream("coresight", frames, framing="memory")
        builder.add_stream(
            "coresight",
            sink=sink,
            coresight=hwt.config.CoresightConfig("etmv4", trace_id=0x10),
        )
        trace = builder.seal()
    found = account(trace)
    assert found["stream.0.gaps.unsupported.count"] == "1"
    assert found["stream.0.gaps.unsupported.bytes"] == "14"
    trace.save(tmp_path / "sink.hwt")
    theirs = tmp_path / "theirs"
    done = check(tool, "--expect", theirs, "--update", tmp_path / "sink.hwt")
    assert done.returncode == 0, done.stderr
    assert read_expectation(theirs) == found
    with pytest.raises(ExpectationError, match="unsupported"):
        assert_no_loss(trace)


def test_an_account_counts_what_ran(trace_pt: Any) -> None:
    found = account(trace_pt)
    # As ptcapture counted while the program ran.
    assert found["stream.0.insns"] == "278757"
    assert found["stream.0.bytes"] == "22746"
    assert found["stream.0.gap-bytes"] == "0"
    assert found["streams"] == "1"
    addresses = [
        row.ip for row in trace_pt.insns(kinds="insn", columns=["ip"])
    ]
    assert len(addresses) == 278757
    assert found["stream.0.ip-hash"] == f"{fnv(addresses):#018x}"
    # Nothing of it depends on how many threads decode.
    assert account(trace_pt, jobs=1) == account(trace_pt, jobs=3) == found
    with pytest.raises(TypeError):
        account(trace_pt, kinds="block")
    with pytest.raises((TypeError, ValueError)):
        account(trace_pt, nonsense=1)


def test_an_account_is_of_streams_and_cpus_that_are_chosen(
    trace_spe: Any,
) -> None:
    one = account(trace_spe, stream=1)
    assert one["streams"] == "1"
    assert one["stream.1.rows.sample"] == "1500"
    assert not any(key.startswith("stream.0") for key in one)
    assert account(trace_spe, cpu=[1]) == one
    assert account(trace_spe, cpu=7) == {"streams": "0"}


def test_every_difference_is_named(trace_pt: Any, tmp_path: Path) -> None:
    path = tmp_path / "stored"
    expect(trace_pt, path, update=True)
    text = path.read_text()
    path.write_text(
        text.replace("stream.0.insns 278757", "stream.0.insns 5").replace(
            "streams 1\n", ""
        )
        + "stream.0.rows.dance 4\n"
    )
    with pytest.raises(ExpectationError, match="3 values differ") as found:
        expect(trace_pt, path)
    assert found.value.differences == (
        Difference("stream.0.insns", "5", "278757"),
        Difference("stream.0.rows.dance", "4", None),
        Difference("streams", None, "1"),
    )
    assert isinstance(found.value, AssertionError)
    assert "stream.0.insns: expected 5, found 278757" in str(found.value)
    assert "stream.0.rows.dance: expected 4, found nothing" in str(found.value)


def test_comparing_finds_what_either_lacks() -> None:
    assert compare({}, {}) == []
    assert compare({"a": "1"}, {"a": "1"}) == []
    assert compare({"a": "1"}, {}) == [Difference("a", "1", None)]
    assert compare({}, {"a": "1"}) == [Difference("a", None, "1")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "empty"),
        ("streams 1\n", "line 1: not 'hwtdecode-expectation 1'"),
        ("hwtdecode-expectation 2\n", "line 1: not"),
        (FIRST + "streams\n", "line 2: not 'key value'"),
        (FIRST + " streams 1\n", "line 2: not 'key value'"),
        (FIRST + "streams \n", "line 2: not 'key value'"),
        (FIRST + "a 1\nb 2\na 3\n", "'a' stands there twice"),
        (FIRST + "a " + "x" * 2000 + "\n", "line 2: too long"),
        (FIRST + "a " + "x" * 509 + "\n", "line 2: too long"),
        (FIRST + "\0\n", "line 2: "),
    ],
)
def test_files_that_are_none_are_refused_as_the_tool_does(
    tool: str, pt: Path, tmp_path: Path, content: str, says: str
) -> None:
    path = tmp_path / "stored"
    path.write_text(content)
    with pytest.raises(ExpectationFileError) as found:
        read_expectation(path)
    assert says in str(found.value)
    done = check(tool, "--expect", path, pt)
    assert done.returncode == 1
    assert says in done.stderr


def test_comments_empty_lines_and_line_ends_are_skipped(
    tool: str, trace_pt: Any, pt: Path, tmp_path: Path
) -> None:
    path = tmp_path / "stored"
    expect(trace_pt, path, update=True)
    text = path.read_text()
    for other in (
        text.replace("\n", "\n# why\n\n"),
        text.replace("\n", "\r\n"),
        text.rstrip("\n"),
    ):
        path.write_bytes(other.encode())
        expect(trace_pt, path)
        assert check(tool, "--expect", path, pt).returncode == 0
    path.write_text(FIRST + "a " + "x" * 508 + "\n")
    assert read_expectation(path) == {"a": "x" * 508}


def test_only_expectations_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "stored"
    path.write_text("my diary\n")
    with pytest.raises(ExpectationFileError, match="not replaced"):
        write_expectation(path, {"a": "1"})
    assert path.read_text() == "my diary\n"
    for old in ("", FIRST, "hwtdecode-expectation 2\nx y\n"):
        path.write_text(old)
        write_expectation(path, {"a": "1"})
        assert path.read_text() == FIRST + "a 1\n"
    with pytest.raises(ValueError):
        write_expectation(path, {"a": "1\nb 2"})
    with pytest.raises(OSError):
        write_expectation(tmp_path / "no" / "folder", {})
    assert [p.name for p in tmp_path.iterdir()] == ["stored"]


def test_a_missing_expectation_is_no_expectation(
    trace_pt: Any, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        expect(trace_pt, tmp_path / "nothing")
    trace_pt.close()
    with pytest.raises(hwt.ClosedError):
        account(trace_pt)
    with pytest.raises(hwt.ClosedError):
        assert_no_loss(trace_pt)


def test_loss_is_told_by_reason_with_what_helps(
    trace_pt: Any, trace_spe: Any
) -> None:
    assert_no_loss(trace_pt)
    assert_no_loss(trace_spe)
    with hwt.Builder() as builder:
        builder.add_stream("intel-pt", bytes(7) + PSB + b"\x02\x23")
        trace = builder.seal()
    with pytest.raises(ExpectationError) as found:
        assert_no_loss(trace)
    assert "stream 0: 1 gap of 7 bytes: unsynced." in str(found.value)
    assert "ring buffer" in str(found.value)


def test_damage_is_loss(pt: Path, tmp_path: Path) -> None:
    data = bytearray(pt.read_bytes())
    data[2000:2016] = bytes(16)
    (tmp_path / "bad.hwt").write_bytes(data)
    with hwt.open(tmp_path / "bad.hwt") as trace:
        with pytest.raises(ExpectationError, match="damage at 0x"):
            assert_no_loss(trace)


def test_the_fixture_stores_and_compares_beside_the_test(
    tmp_path: Path, pt: Path
) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["hwt.testing"]\n')
    (tmp_path / "test_mine.py").write_text(
        "import hwt\n\n"
        "def test_mine(hwt_expect):\n"
        f"    with hwt.open({str(pt)!r}) as trace:\n"
        "        hwt_expect(trace, 'run.expect')\n"
    )

    def run(*words: str) -> Any:
        import sys

        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            + [*words, "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    assert run().returncode == 1
    assert run("--hwt-update").returncode == 0
    stored = tmp_path / "run.expect"
    assert read_expectation(stored)["stream.0.insns"] == "278757"
    assert run().returncode == 0
    stored.write_text(stored.read_text().replace("insns 2", "insns 3"))
    done = run()
    assert done.returncode == 1
    assert "stream.0.insns: expected 378757, found 278757" in done.stdout


def test_progress_ends_at_all_bytes(trace_spe: Any) -> None:
    steps: list[tuple[int, int]] = []
    account(trace_spe, progress=lambda *at: steps.append(at))
    assert steps
    assert steps == sorted(steps)
    assert steps[-1] == (192000, 192000)


@pytest.mark.parametrize(
    "found",
    [
        {"a b": "c"},
        {"": "c"},
        {"a": ""},
        {"#a": "c"},
        {"a": "c\rd"},
        {"a": "c\nd"},
        {"a": "c\0d"},
        {"a": "c" * 1000},
        {"a": "\ud800"},
    ],
)
def test_what_would_not_be_read_again_is_not_stored(tmp_path, found):
    path = tmp_path / "run.expect"
    write_expectation(path, {"streams": "1"})
    with pytest.raises(ValueError):
        write_expectation(path, found)
    assert [one.name for one in tmp_path.iterdir()] == ["run.expect"]
    assert read_expectation(path) == {"streams": "1"}
