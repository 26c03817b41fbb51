"""The Firefox Profiler's command, which reads a profile in a session."""

from __future__ import annotations

from types import TracebackType

import consumers
from runner import Case


class Session:
    """A profile that is open; a process keeps it until the end."""

    def __init__(self, case: Case, file: str) -> None:
        self.case = case
        self.file = file
        modules = consumers.folder() / "npm/node_modules"
        self.command = (
            modules / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"
        )

    def ask(self, *words: str) -> str:
        return consumers.run(["node", self.command, *words], self.case.folder)

    def __enter__(self) -> Session:
        try:
            self.ask("load", self.file)
        except BaseException:
            self.ask("stop", "--all")
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.ask("stop", "--all")
