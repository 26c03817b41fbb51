"""Captures that are stopped, and processes of them that are killed."""

import os
import signal
import time

from runner import PATIENCE, Case
from simulated import BLOCKS, Recording, Simulation, flow


def started(case: Case, *args: str) -> tuple[Simulation, Recording]:
    """A capture of a program that has run and does not end."""
    s = Simulation(case).run_on()
    recording = s.start("--progress", *args, "--", s.program)
    assert recording.process.stderr is not None
    seen = b""
    while f"{len(s.trace) / 1e6:.1f} MB, 1 stream".encode() not in seen:
        more = recording.process.stderr.read1(4096)
        assert more, seen
        seen += more
    return s, recording


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
    raise AssertionError(f"{pid} does not end")


def test_signals_leave_a_complete_file(case: Case) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        s, recording = started(case, "--replace")
        keeper = recording.keeper()
        recording.signal(number)
        recording.end().want(
            0, err_has=("run.hwt: 35 bytes of 1 stream", "runs on")
        )
        wait_until_gone(keeper)
        assert flow(case, "run.hwt") == BLOCKS * 3
        case.run("check", "--max-loss=0", "run.hwt").want(0)
        info = case.run("info", "run.hwt").want(0).out
        assert "ended_ns=" in info


def test_keys_of_a_terminal_reach_all_and_end_nothing(case: Case) -> None:
    s, recording = started(case)
    os.kill(recording.keeper(), signal.SIGINT)
    os.kill(recording.keeper(), signal.SIGTERM)
    recording.signal(signal.SIGINT)
    recording.end().want(0, err_has="run.hwt: 35 bytes of 1 stream")
    assert flow(case, "run.hwt") == BLOCKS * 3


def test_stopping_kills_the_program_if_asked_to(case: Case) -> None:
    s, recording = started(case, "--kill")
    recording.signal(signal.SIGINT)
    recording.end().want(0, err_has="was ended by signal 15")


def test_more_signals_ask_and_give_up(case: Case) -> None:
    s, recording = started(case)
    keeper = recording.keeper()
    # It cannot get on, so the tool has to wait.
    os.kill(keeper, signal.SIGSTOP)
    try:
        recording.signal(signal.SIGINT)
        time.sleep(0.3)
        assert recording.process.poll() is None
        recording.signal(signal.SIGINT)
        time.sleep(0.3)
        assert recording.process.poll() is None
        recording.signal(signal.SIGINT)
        deadline = time.monotonic() + PATIENCE
        while recording.process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        os.kill(keeper, signal.SIGCONT)
    run = recording.end()
    run.want(
        130,
        err_has=(
            "waiting until run.hwt is complete; once more gives up waiting\n",
            "not waiting; run.hwt is completed without this process\n",
        ),
    )
    wait_until_gone(keeper)
    assert flow(case, "run.hwt") == BLOCKS * 3
    assert "ended_ns=" in case.run("info", "run.hwt").want(0).out


def test_a_killed_tool_leaves_a_complete_file(case: Case) -> None:
    s, recording = started(case)
    keeper = recording.keeper()
    recording.signal(signal.SIGKILL)
    assert recording.end().code == -signal.SIGKILL
    wait_until_gone(keeper)
    assert flow(case, "run.hwt") == BLOCKS * 3
    assert "ended_ns=" in case.run("info", "run.hwt").want(0).out


def test_a_killed_keeper_leaves_a_readable_file(case: Case) -> None:
    s, recording = started(case)
    os.kill(recording.keeper(), signal.SIGKILL)
    run = recording.end()
    run.want(
        1,
        err_has=(
            "hwtdecode: the capture process was ended by signal 9; what it "
            "had saved is readable\n",
            "hint: 'hwtdecode info run.hwt'",
        ),
    )
    info = case.run("info", "run.hwt").want(0).out
    assert "mode=threads" in info and "ended_ns=" not in info


def test_ignored_interrupts_stay_ignored(case: Case) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        s, recording = started(case)
    finally:
        signal.signal(signal.SIGINT, before)
    recording.signal(signal.SIGINT)
    time.sleep(0.3)
    assert recording.process.poll() is None
    recording.signal(signal.SIGTERM)
    run = recording.end().want(0, err_has="run.hwt: 35 bytes")
    assert "waiting" not in run.err
