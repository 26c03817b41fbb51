#!/usr/bin/env python3
"""One ctest entry: run.py with what the environment says at test time.

`HWTDECODE_CORPUS` names a corpus; with `--environment-corpus` and without the
variable, or when every case is skipped, the exit code is 77.
`HWTDECODE_MAX_INSNS` is handed on as `--max-insns`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import run

SKIPPED = 77


def main(argv: Sequence[str]) -> int:
    """Run the cases that the arguments name."""
    args = list(argv)
    if "--environment-corpus" in args:
        args.remove("--environment-corpus")
        corpus = os.environ.get("HWTDECODE_CORPUS")
        if not corpus:
            print("SKIP HWTDECODE_CORPUS is not set")
            return SKIPPED
        args.append(corpus)
    limit = os.environ.get("HWTDECODE_MAX_INSNS")
    if limit:
        args += ["--max-insns", limit]
    try:
        counts = run.run(args)
    except run.Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 2
    if counts["FAIL"]:
        return 1
    return 0 if counts["PASS"] else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
