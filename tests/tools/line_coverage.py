"""Say of each C file of a folder how many of its lines the tests ran.

    cmake --preset coverage && cmake --build build/coverage
    ctest --test-dir build/coverage -L capture
    python3 tests/tools/line_coverage.py build/coverage src/capture --least 90

Exits 1 if a file has less than that, or if nothing of the folder was counted.
Lines are those of gcov; files that are not compiled here are named.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documents(build, counts):
    """What gcov says of one file of counts."""
    done = subprocess.run(
        ["gcov", "--json-format", "--stdout", counts.resolve()],
        cwd=build,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    for line in done.stdout.splitlines():
        if line.strip():
            yield json.loads(line)


def collect(build, folder):
    """By file, by line: how often it ran."""
    files = defaultdict(lambda: defaultdict(int))
    for counts in sorted((build / folder).rglob("*.gcda")):
        for document in documents(build, counts):
            where = Path(document["current_working_directory"])
            for part in document["files"]:
                path = (where / part["file"]).resolve()
                if path.suffix != ".c" or ROOT / folder not in path.parents:
                    continue
                lines = files[path.relative_to(ROOT)]
                for line in part["lines"]:
                    lines[line["line_number"]] += line["count"]
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--least", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--lines", action="store_true", help="that did not run")
    args = parser.parse_args()

    files = collect(args.build, args.folder)
    total = ran = low = 0
    for path in sorted((ROOT / args.folder).rglob("*.c")):
        lines = files.get(path.relative_to(ROOT))
        if not lines:
            print(f"{path.name:28}    not counted")
            continue
        missed = sorted(n for n, count in lines.items() if count == 0)
        percent = 100 * (1 - len(missed) / len(lines))
        total += len(lines)
        ran += len(lines) - len(missed)
        low += percent < args.least
        print(
            f"{path.name:28} {len(lines) - len(missed):5} of {len(lines):5}"
            f"  {percent:5.1f} %"
        )
        if args.lines and missed:
            print("    not run:", *missed)
    if total == 0:
        sys.exit(f"nothing of {args.folder} was counted in {args.build}")
    print(f"{'all':28} {ran:5} of {total:5}  {100 * ran / total:5.1f} %")
    if low:
        sys.exit(f"{low} files are below {args.least:g} %")


if __name__ == "__main__":
    main()
