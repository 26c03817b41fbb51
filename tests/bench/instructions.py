#!/usr/bin/env python3
"""Fails if walking tokens takes too many instructions for a branch outcome.

usage: instructions.py BENCH_PT FOLDER=LIMIT...

Counted by callgrind, when the code is known already.  A folder that starts with
`corpus:` is in $HWTDECODE_CORPUS.  The exit code is 77 if nothing was counted.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
COUNTED = "bench_tokens_warm"


def count(bench: str, folder: str) -> float:
    """Instructions for one outcome."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={COUNTED}",
             f"--callgrind-out-file={out}/out", bench, "--rounds", "1",
             "--measure", "warm", "--sides", "tokens", folder],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)
        if done.returncode != 0:
            raise SystemExit(f"{folder}: {done.stderr}")
        with open(f"{out}/out", encoding="ascii", errors="replace") as f:
            total = re.search(r"^(?:totals|summary): (\d+)", f.read(), re.M)
    row = json.loads(done.stdout)
    if total is None or int(total[1]) == 0 or row["outcomes"] == 0:
        raise SystemExit(f"{folder}: callgrind counted nothing")
    return int(total[1]) / row["outcomes"]


def main() -> int:
    """Count each folder, and compare."""
    if shutil.which("valgrind") is None:
        print("SKIP valgrind is not installed")
        return SKIPPED
    corpus = os.environ.get("HWTDECODE_CORPUS")
    counted, failed = 0, False
    for argument in sys.argv[2:]:
        folder, limit = argument.rsplit("=", 1)
        if folder.startswith("corpus:"):
            if not corpus:
                print(f"SKIP {folder}: HWTDECODE_CORPUS is not set")
                continue
            folder = os.path.join(corpus, folder.removeprefix("corpus:"))
            if not os.path.isdir(folder):
                print(f"SKIP {folder}: not there")
                continue
        got = count(sys.argv[1], folder)
        counted += 1
        too_many = got > float(limit)
        failed |= too_many
        print(f"{'FAIL' if too_many else 'ok'} {folder}: {got:.1f} "
              f"instructions for an outcome, limit {limit}")
    if counted == 0:
        return SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
