"""The Firefox Profiler's command, which reads a profile in a session."""

from __future__ import annotations

import os
import subprocess
import time
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
            "PROFILER_CLI_SESSION_DIR": str(case.folder / "session"),
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
        (self.case.folder / "session").mkdir(exist_ok=True)
        self.keeper = subprocess.Popen(
            [*self.command, "--daemon", self.file, "--session", NAME],
            cwd=self.case.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        end = time.monotonic() + consumers.PATIENCE
        while True:
            done = self.call("status")
            if done.returncode == 0:
                return self
            if self.keeper.poll() is not None or time.monotonic() > end:
                self.keeper.kill()
                out, _ = self.keeper.communicate()
                raise AssertionError((out, done.stdout, done.stderr))
            time.sleep(0.2)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        assert self.keeper is not None
        self.keeper.terminate()
        self.keeper.communicate()
