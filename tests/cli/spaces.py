"""The trace with records of the cases of records, maps and archive."""

import os
import subprocess

from runner import Case

PROGRAM = 0x555500000000
LIBRARY = 0x7F0000000000
GONE = 0x7F1000000000
OTHER = 0x7F2000000000
KERNEL = 0xFFFFFFFF80200000


def make(case: Case) -> None:
    """run.hwt, alone.hwt, memory.hwt, guest.hwt, and files that they name in root/."""
    make_of(case)


def make_many(case: Case, n: int) -> None:
    """many.hwt, of so many processes and kernel modules."""
    make_of(case, str(n))


def make_of(case: Case, *words: str) -> None:
    subprocess.run(
        [os.environ["HWTDECODE_MAKE_SPACES"], *words],
        cwd=case.folder,
        check=True,
    )
