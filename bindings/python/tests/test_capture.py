"""Captures: here there is no hwt(4), and on a simulated kernel there is."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import hwt
import pytest
from hwt import capture
from hwt.capture import CoresightOptions, PtOptions, SpeOptions

CLI_TESTS = Path(__file__).resolve().parents[3] / "tests" / "cli"

no_hwt = pytest.mark.skipif(
    platform.system() == "FreeBSD", reason="there may be hwt(4) here"
)


# Without hwt(4).


@no_hwt
def test_without_hwt_starting_says_what_the_library_says(
    tmp_path: Path,
) -> None:
    with pytest.raises(hwt.UnsupportedError) as found:
        capture.start(tmp_path / "run.hwt", ["/bin/true"])
    assert isinstance(found.value, NotImplementedError)
    assert "FreeBSD" in str(found.value)
    assert list(tmp_path.iterdir()) == []


@no_hwt
def test_without_hwt_each_backend_says_why_it_cannot_be_used() -> None:
    found = capture.backends()
    assert {"intel-pt", "spe", "coresight"} == {b.tech for b in found}
    for backend in found:
        assert not backend.usable
        assert "hwt(4)" in backend.text
        assert "FreeBSD" in backend.help
    assert "intel-pt" in repr(found)


@no_hwt
def test_without_hwt_nobody_may_trace() -> None:
    with pytest.raises(hwt.UnsupportedError):
        capture.allowed()
    with pytest.raises(hwt.UnsupportedError):
        capture.allowed(os.getpid())


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ({"output": 5}, TypeError),
        ({"output": "a\0b"}, ValueError),
        ({"argv": []}, ValueError),
        ({"argv": [5]}, TypeError),
        ({"argv": ["a\0b"]}, ValueError),
        ({"argv": 5}, TypeError),
        ({"pid": -1}, ValueError),
        ({"pid": 0}, ValueError),
        ({"pid": 1 << 64}, ValueError),
        ({"pid": "x"}, TypeError),
        ({"cpus": []}, ValueError),
        ({"cpus": [-1]}, ValueError),
        ({"cpus": ["a"]}, TypeError),
        ({"mode": "other"}, ValueError),
        ({"pt": SpeOptions()}, TypeError),
        ({"spe": 5}, TypeError),
        ({"coresight": PtOptions()}, TypeError),
        ({"filters": [5]}, TypeError),
        ({"filters": "a\0"}, ValueError),
        ({"interval_ns": -1}, ValueError),
        ({"max_bytes": 1 << 64}, ValueError),
        ({"max_ns": 1.5}, TypeError),
        ({"level": -1}, ValueError),
        ({"search": "x"}, TypeError),
        ({"nonsense": 1}, TypeError),
    ],
)
def test_options_that_cannot_be_are_refused(words: Any, kind: type) -> None:
    words = {"output": "run.hwt", **words}
    with pytest.raises(kind):
        capture.start(words.pop("output"), **words)


def test_options_of_hardware_check_their_values() -> None:
    for make in (
        lambda: PtOptions(who="all"),
        lambda: PtOptions(mtc_freq=256),
        lambda: PtOptions(buffer_bytes=-1),
        lambda: SpeOptions(interval=1 << 32),
        lambda: SpeOptions(context="thread"),
        lambda: CoresightOptions(cycle_threshold=-1),
    ):
        with pytest.raises(ValueError):
            make()
    for make in (
        lambda: PtOptions(who=1),
        lambda: SpeOptions(interval="x"),
        lambda: CoresightOptions(buffer_bytes=None),
    ):
        with pytest.raises(TypeError):
            make()


# With a simulated one: another process, whose module has that kernel inside.


class Simulated:
    """The package on a simulated kernel."""

    def __init__(self, folder: Path, module: Path) -> None:
        sys.path.insert(0, str(CLI_TESTS))
        os.environ.setdefault("HWTDECODE_SIMULATED", "")
        os.environ.setdefault("HWTDECODE_SIMULATED_EXAMPLE", "")
        try:
            import simulated
        finally:
            sys.path.remove(str(CLI_TESTS))
        self.known = simulated
        self.folder = folder
        package = folder / "package" / "hwt"
        package.mkdir(parents=True)
        for path in Path(hwt.__file__).parent.iterdir():
            if not path.name.startswith(("_hwtdecode.abi3", "__pycache__")):
                (package / path.name).symlink_to(path.resolve())
        (package / "_hwtdecode.abi3.so").symlink_to(module)
        program = folder / "program"
        program.write_bytes(simulated.elf(simulated.CODE))
        program.chmod(0o755)
        (folder / "bytes").write_bytes(simulated.rounds(3))
        self.start = [
            f"program {program}",
            f"step exec path={program} addr={simulated.BIAS:#x} off=0x1000 "
            "len=0x1000",
            "step trace ns=5000000 file=bytes",
        ]

    def run(self, script: list[str], code: str) -> Any:
        """What the code puts into `out`, as JSON."""
        (self.folder / "script").write_text("\n".join(script) + "\n")
        before = (
            "import json, hwt, time\nfrom hwt import capture\n"
            f"out, program = {{}}, {str(self.folder / 'program')!r}\n"
        )
        after = "\nprint(json.dumps(out))\n"
        done = subprocess.run(
            [sys.executable, "-c", before + textwrap.dedent(code) + after],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(self.folder / "package"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HWTDECODE_SIM_SCRIPT": "script",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        # 98 and 99: the kernel panicked, or the script is wrong.
        assert done.returncode == 0, (done.returncode, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def simulated(tmp_path: Path) -> Simulated:
    path = os.environ.get("HWTDECODE_SIMULATED_MODULE")
    module = (
        Path(path)
        if path
        else Path(hwt.__file__).parents[2]
        / "python-simulated/_hwtdecode.abi3.so"
    )
    if not module.exists() or not CLI_TESTS.is_dir():
        pytest.skip("no module on the simulated kernel")
    return Simulated(tmp_path, module.resolve())


def test_a_program_is_recorded_and_its_file_decodes(
    simulated: Simulated,
) -> None:
    out = simulated.run(
        [*simulated.start, "step exit status=3"],
        """
        with capture.start("run.hwt", [program], archive=True) as c:
            out["running"] = repr(c)
            status = c.wait()
            out["ended"] = repr(c)
        out["status"] = vars(status)
        out["lossless"] = status.lossless
        out["closed"] = c.closed
        out["after"] = c.status.ended
        with c.open() as trace:
            out["bytes"] = trace.read_bytes(0).hex()
            out["blocks"] = [
                (row.ip, row.insns) for row in trace.events(kinds="block")
            ]
            out["gaps"] = len(trace.gaps())
            out["format"] = trace.info.format
            out["names"] = [i.path for i in trace.images]
        """,
    )
    status = out["status"]
    assert status["ended"] and status["program_ended"]
    assert (status["exit_status"], status["exit_signal"]) == (3, None)
    assert status["n_streams"] == 1
    assert status["n_bytes"] == len(simulated.known.rounds(3))
    assert status["losses"] == {} and out["lossless"]
    assert status["n_looks"] > 0 and status["time_ns"] > 0
    assert out["bytes"] == simulated.known.rounds(3).hex()
    # Each round of the program runs its three blocks.
    assert out["blocks"] == [list(b) for b in simulated.known.BLOCKS] * 3
    assert out["gaps"] == 0
    assert out["format"] == "hwt"
    assert out["names"] == [str(simulated.folder / "program")]
    assert out["running"] == "<hwt.capture.Capture 'run.hwt': running>"
    assert out["ended"] == "<hwt.capture.Capture 'run.hwt': ended>"
    assert out["closed"] and out["after"]


def test_a_program_that_runs_on_is_stopped(simulated: Simulated) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        c = capture.start("run.hwt", program, kill=True)
        out["early"] = c.wait(timeout=0.05).ended
        c.stop()
        out["late"] = c.wait().ended
        c.close()
        c.close()
        with c.open() as trace:
            out["bytes"] = trace.info.n_bytes
        """,
    )
    assert out["early"] is False
    assert out["late"] is True
    assert out["bytes"] in (0, len(simulated.known.rounds(3)))


def test_a_capture_is_stopped_at_the_end_of_with(
    simulated: Simulated,
) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        with capture.start("run.hwt", [program], kill=True) as c:
            while c.status.n_looks == 0:
                time.sleep(0.001)
        out["ended"] = c.status.ended
        """,
    )
    assert out["ended"]


def test_a_capture_that_nobody_closed_has_a_whole_file(
    simulated: Simulated,
) -> None:
    simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        c = capture.start("run.hwt", [program], kill=True)
        while c.status.n_looks == 0:
            time.sleep(0.001)
        """,
    )
    with hwt.open(simulated.folder / "run.hwt") as trace:
        assert trace.damage == ()
        assert trace.info.n_streams <= 1


def test_threads_wait_and_stop_at_once(simulated: Simulated) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        import threading
        c = capture.start("run.hwt", [program], kill=True)
        ended = []
        threads = [
            threading.Thread(target=lambda: ended.append(c.wait().ended))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        c.stop()
        for thread in threads:
            thread.join()
        c.close()
        out["ended"] = ended
        try:
            c.stop()
        except hwt.ClosedError as err:
            out["closed"] = str(err)
        """,
    )
    assert out["ended"] == [True] * 4
    assert "capture is closed" in out["closed"]


def test_ctrl_c_ends_waiting_soon(simulated: Simulated) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        import os, signal, threading
        c = capture.start("run.hwt", [program], kill=True)
        begin = []
        def interrupt():
            time.sleep(0.2)
            begin.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            c.wait()
        except KeyboardInterrupt:
            out["took"] = time.monotonic() - begin[0]
        thread.join()
        c.close()
        out["ended"] = c.status.ended
        """,
    )
    assert out["took"] < 0.2
    assert out["ended"]


def test_options_reach_the_kernel(simulated: Simulated) -> None:
    out = simulated.run(
        ["machine arch=arm64 cpus=2"],
        """
        out["usable"] = {
            b.tech: [b.usable, sorted(b.modes), b.default_bytes > 0]
            for b in capture.backends()
        }
        out["allowed"] = bool(capture.allowed())
        def wrong(**options):
            try:
                capture.start("run.hwt", max_ns=1000000, **options).close()
            except hwt.HwtError as err:
                return type(err).__name__, str(err)
        Spe = capture.SpeOptions
        out["pt"] = wrong(cpus=[0], pt=True)
        out["cpu"] = wrong(cpus=[77], spe=True)
        out["interval"] = wrong(cpus=[0], spe=Spe(interval=1 << 24))
        out["pages"] = wrong(cpus=[0], spe=Spe(buffer_bytes=100))
        out["nobody"] = wrong(pid=4242)
        with capture.start(
            "spe.hwt", cpus=[1], max_ns=3000000,
            spe=Spe(interval=2048, context="cpu"),
        ) as c:
            c.wait()
        with c.open() as trace:
            out["streams"] = [
                [s.tech, s.cpu, s.spe.owner if s.spe else None,
                 s.spe.interval if s.spe else None]
                for s in trace.streams
            ]
            out["how"] = dict(trace.info.capture)
        """,
    )
    assert out["usable"]["spe"][0] is True
    assert out["usable"]["intel-pt"][0] is False
    assert out["allowed"] is True
    assert out["pt"][0] == "UnsupportedError"
    assert "77" in out["cpu"][1]
    assert out["interval"][0] == "InvalidError"
    assert out["pages"][0] == "InvalidError"
    assert out["nobody"][0] == "NotFoundError"
    assert out["streams"] in ([], [["spe", 1, "cpu", 2048]])
    assert out["how"]


def test_a_file_that_is_there_is_replaced_only_if_wanted(
    simulated: Simulated,
) -> None:
    path = simulated.folder / "run.hwt"
    path.write_text("mine")
    script = [*simulated.start, "step exit"]
    out = simulated.run(
        script,
        """
        try:
            capture.start("run.hwt", [program])
        except hwt.HwtError as err:
            out["refused"] = str(err)
        """,
    )
    assert "run.hwt" in out["refused"]
    assert path.read_text() == "mine"
    simulated.run(
        script,
        """
        with capture.start("run.hwt", [program], replace=True) as c:
            c.wait()
        """,
    )
    with hwt.open(path) as trace:
        assert trace.info.n_bytes == len(simulated.known.rounds(3))


def test_handlers_of_signals_may_ask_and_close(simulated: Simulated) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        import signal
        asked = []
        def look(signum, frame):
            if len(asked) < 3:
                asked.append(c.status.ended)
                asked.append(c.wait(timeout=0).ended)
            else:
                c.close()
        signal.signal(signal.SIGALRM, look)
        c = capture.start("run.hwt", [program], kill=True)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.05)
        out["ended"] = c.wait(timeout=float("inf")).ended
        signal.setitimer(signal.ITIMER_REAL, 0)
        out["asked"] = asked
        out["closed"] = c.closed
        try:
            c.wait(timeout=float("nan"))
        except ValueError as err:
            out["nan"] = str(err)
        """,
    )
    assert out["ended"] and out["closed"]
    assert out["asked"] == [False] * 4
    assert "nan is no time" in out["nan"]


def test_a_forked_process_leaves_a_capture_to_its_parent(
    simulated: Simulated,
) -> None:
    out = simulated.run(
        [
            *simulated.start,
            "step idle ns=100000000000000000",
            "step exit",
        ],
        """
        import os, sys
        c = capture.start("run.hwt", [program], kill=True)
        while c.status.n_looks == 0:
            time.sleep(0.001)
        pid = os.fork()
        if pid == 0:
            # What is closed at the end of a program ends no capture of others.
            sys.exit(0)
        out["child"] = os.waitpid(pid, 0)[1]
        time.sleep(0.05)
        out["running"] = not c.status.ended
        c.close()
        out["ended"] = c.status.ended
        """,
    )
    assert out["child"] == 0
    assert out["running"]
    assert out["ended"]
