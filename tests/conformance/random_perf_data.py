#!/usr/bin/env python3
"""Make random recordings of perf with their truth, and compare ours with it.

    random_perf_data.py SEED COUNT [options of run.py]

COUNT recordings of each kind (Intel PT, CoreSight, Arm SPE) are made by
`tests/tools/perfdata`; the exit code is that of `run.py`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

import run  # noqa: E402
from perfdata.__main__ import main as perfdata  # noqa: E402

FAMILY = "perf-data"


def main(argv: list[str]) -> int:
    """Make them, and run."""
    seed, count, *options = argv
    with tempfile.TemporaryDirectory(prefix="perf-data-") as folder:
        made = perfdata(["random", str(Path(folder) / FAMILY),
                         f"--seed={seed}", f"--count={count}"])
        return made or run.main([*options, folder])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
