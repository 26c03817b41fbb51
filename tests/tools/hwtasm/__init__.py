"""Test-trace assembler: program, packets and expected answer in one text."""


class AsmError(Exception):
    """A mistake in a case text, with the line it is on."""

    def __init__(self, message: str, line: int = 0) -> None:
        self.line = line
        super().__init__(f"line {line}: {message}" if line else message)
