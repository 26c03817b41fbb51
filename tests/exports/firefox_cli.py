"""The Firefox Profiler's command, which reads a profile in a session."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

import consumers
from runner import Case

NAME = "test"


class Session:
    """A profile that is open; a process of our own keeps it until the end.

    The command would start one itself, and give it half a second to be ready.
    """

    def __init__(self, case: Case, file: str) -> None:
        self.case = case
        self.file = file
        # What one leaves behind is not for the next.
        self.folder = Path(tempfile.mkdtemp(dir=case.folder))
        modules = consumers.folder() / "npm/node_modules"
        self.command = [
            "node",
            str(
                modules / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
            ),
        ]
        self.environment = {
            **os.environ,
            "HOME": str(case.folder),
            "PROFILER_CLI_SESSION_DIR": str(self.folder),
            "PROFILER_CLI_NO_SYMBOLICATE": "1",
        }
        self.keeper: subprocess.Popen[bytes] | None = None

    def call(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*self.command, *words, "--session", NAME],
            cwd=self.case.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=consumers.PATIENCE,
            check=False,
        )

    def ask(self, *words: str) -> str:
        done = self.call(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.decode()

    def __enter__(self) -> Session:
        self.keeper = subprocess.Popen(
            [*self.command, "--daemon", self.file, "--session", NAME],
            cwd=self.case.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        # It is not asked before: who does not answer at once is given up.
        log = self.folder / f"{NAME}.log"
        end = time.monotonic() + consumers.PATIENCE
        while True:
            text = log.read_text() if log.exists() else ""
            if "Profile loaded successfully" in text:
                return self
            if self.keeper.poll() is not None or time.monotonic() > end:
                self.keeper.kill()
                out, _ = self.keeper.communicate()
                raise AssertionError((out, text))
            time.sleep(0.05)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        assert self.keeper is not None
        self.keeper.terminate()
        self.keeper.communicate()
