"""SIGINT: what is done is flushed and marked, exit 130."""

import json
import signal
import subprocess
import time

from runner import PATIENCE, Case


def interrupted(case: Case, words: list[str]) -> tuple[int, str, str]:
    """Start the tool, interrupt it as soon as it has written something."""
    running = subprocess.Popen(
        [case.tool, *words],
        cwd=case.folder,
        env=case.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert running.stdout is not None
    first = running.stdout.read(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    return running.returncode, (first + out).decode(), err.decode()


def test_rows_are_flushed_and_marked(case: Case) -> None:
    trace, code = case.long_trace(6000)
    words = [str(word) for word in (*code, trace)]
    exit_code, out, err = interrupted(case, ["insns", *words])
    assert (exit_code, err) == (130, ""), (exit_code, err)
    assert out.endswith("\ninterrupted\n")

    exit_code, out, err = interrupted(
        case, ["insns", "--format=jsonl", *words]
    )
    assert exit_code == 130
    lines = out.splitlines()
    assert json.loads(lines[-1]) == {"schema": 1, "type": "interrupted"}
    for line in lines[:1000]:
        json.loads(line)

    exit_code, out, err = interrupted(case, ["insns", "--format=csv", *words])
    assert exit_code == 130
    lines = out.splitlines()
    assert lines[-1].startswith("interrupted,")
    assert lines[-1].count(",") == lines[0].count(",")


def test_packets_are_flushed_and_marked(case: Case) -> None:
    trace, _ = case.long_trace(20000)
    for form, end in (
        ("text", "\ninterrupted\n"),
        ("jsonl", '\n{"schema":1,"type":"interrupted"}\n'),
    ):
        words = ["packets", f"--format={form}", str(trace)]
        exit_code, out, err = interrupted(case, words)
        assert (exit_code, err) == (130, ""), (exit_code, err)
        assert out.endswith(end)
    words = ["packets", "--format=csv", "--raw", str(trace)]
    exit_code, out, err = interrupted(case, words)
    assert exit_code == 130
    lines = out.splitlines()
    assert lines[-1].startswith("interrupted,")
    assert lines[-1].count(",") == lines[0].count(",")


def test_file_of_an_interrupted_run_is_kept_and_marked(case: Case) -> None:
    trace, code = case.long_trace(6000)
    words = [str(word) for word in (*code, trace)]
    running = subprocess.Popen(
        [case.tool, "insns", "--disasm", "-o", "out.txt", *words],
        cwd=case.folder,
        env=case.environment(),
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + PATIENCE
    while running.poll() is None and time.monotonic() < deadline:
        if any(
            path.stat().st_size > 0
            for path in case.folder.glob("out.txt.part*")
        ):
            break
        time.sleep(0.001)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert (case.folder / "out.txt").read_text().endswith("\ninterrupted\n")
    assert sorted(path.name for path in case.folder.iterdir()) == [
        "long.pt",
        "loop.bin",
        "out.txt",
    ]


def test_ignored_interrupts_stay_ignored(case: Case) -> None:
    trace, code = case.long_trace(100)
    run = case.shell(
        f"trap '' INT; \"$T\" insns --image '{code[1]}' '{trace}' >out & "
        "pid=$!; kill -INT $pid; wait $pid"
    )
    run.want(0)
    assert not (case.folder / "out").read_text().endswith("interrupted\n")


def test_progress_on_request(case: Case) -> None:
    trace, code = case.long_trace(6000)
    words = [str(word) for word in ("insns", *code, trace)]
    running = subprocess.Popen(
        [case.tool, *words],
        cwd=case.folder,
        env=case.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    assert running.stdout is not None
    running.stdout.read(1)
    running.send_signal(getattr(signal, "SIGINFO", signal.SIGUSR1))
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    assert b" of 6.1 MB (" in err, err


def test_sums_of_a_part_are_marked(case: Case) -> None:
    trace, code = case.long_trace(60000)
    words = [str(word) for word in (*code, trace)]

    def stopped(*more: str) -> str:
        # Too early nothing is set up, too late all is done.
        for delay in (0.02, 0.04, 0.06, 0.1, 0.2, 0.4, 1, 2):
            running = subprocess.Popen(
                [case.tool, *more, *words],
                cwd=case.folder,
                env=case.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(delay)
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=PATIENCE)
            if running.returncode == 130 and out != b"":
                return out.decode()
        raise AssertionError(f"{more}: was not interrupted")

    insns = ("hist", "--value=insns")
    assert "# interrupted" in stopped(*insns)
    assert stopped(*insns, "--no-header").endswith("\ninterrupted\n")
    info = json.loads(stopped(*insns, "--format=jsonl").splitlines()[-1])
    assert info["interrupted"] and 0 < info["bytes"] < trace.stat().st_size
    for more in ((), ("--buckets",)):
        lines = stopped(*insns, "--format=csv", *more).splitlines()
        assert lines[-1].startswith("interrupted,")
        assert lines[-1].count(",") == lines[0].count(",")
    assert "interrupted: what was" in stopped("report", "--calls")
