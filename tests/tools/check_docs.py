"""Check that every public function is explained, listed and tested.

usage: check_docs.py [--cc CC] ROOT
       check_docs.py --tool HWTDECODE ROOT

The example of libhwtdecode(3) compiles.  Each function of the public headers has a comment there (a group of
declarations without empty lines shares one), a place in libhwtdecode(3), and
at least one test that calls it.  With --tool: what README.md shows of the tool
is what it prints, from the first line on.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "abi"))

from public_api import Api  # noqa: E402

SKIP = 77


def commented(headers):
    """Names of the functions that follow a documentation comment."""
    found = set()
    for header in headers:
        text = header.read_text(encoding="utf-8")
        for _, group in re.findall(
            r"(/\*\*(?:(?!\*/).)*\*/)\n((?:[^\n]+\n)+)", text, re.S
        ):
            if "HWTD_API" in group or "HWTD_MUST" in group:
                found.update(re.findall(r"\b(hwtd_\w+)\(", group))
    return found


def words(paths):
    """All identifiers in files."""
    found = set()
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(re.findall(r"\bhwtd_\w+", text))
    return found


def example_errors(page, api, cc):
    """What a compiler says about the program in the manual page."""
    program = re.search(r"^(#include.*?)^\.Ed$", page, re.M | re.S).group(1)
    return subprocess.run(
        [*cc.split(), "-std=c11", "-Wall", "-Wextra", "-Werror",
         "-fsyntax-only", f"-I{api.include}", "-xc", "-"],
        input=program.replace("\\e", "\\"),
        capture_output=True,
        text=True,
        check=False,
    ).stderr  # fmt: skip


def readme_runs(readme):
    """[(command line, output lines)] of the indented blocks of a README."""
    runs = []
    for block in re.findall(r"(?:^(?:    .*)?\n)+", readme, re.M):
        output = []
        for line in block.splitlines():
            if line.startswith("    $ hwtdecode "):
                output = []
                runs.append((line[6:], output))
            else:
                output.append(line[4:])
    for _, output in runs:
        while output and not output[-1]:
            output.pop()
    return [run for run in runs if run[1]]


def check_readme(root, tool):
    """Run what README.md shows, on the trace of "./dev demo"."""
    if not shutil.which("zstd"):
        print("no zstd: skipped")
        return SKIP
    demo = (root / "dev").read_text()
    case = re.search(r"case=(fixtures/\S+)", demo).group(1)
    command = re.search(
        r"show (import (?:.*\\\n)*.*)$", demo, re.M
    ).group(1)
    command = command.replace("\\\n", " ").replace("$case", str(root / case))
    runs = readme_runs((root / "README.md").read_text())
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "build" / "demo").mkdir(parents=True)
        raw = Path(work) / "build" / "demo" / "raw.pt"
        subprocess.run(
            ["zstd", "-qd", root / case / "0.pt.zst", "-o", raw], check=True
        )
        subprocess.run([tool, *shlex.split(command)], check=True, cwd=work)
        for line, want in runs:
            printed = subprocess.run(
                [tool, *shlex.split(line)[1:]],
                check=True,
                cwd=work,
                capture_output=True,
                text=True,
            ).stdout.splitlines()[: len(want)]
            if [p.rstrip() for p in printed] != [w.rstrip() for w in want]:
                failed += 1
                print(f"README.md shows another output of: {line}")
                print("\n".join(printed))
    print(f"{len(runs)} commands, {failed} findings")
    return 1 if failed or not runs else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--tool", type=Path)
    parser.add_argument("root", type=Path)
    args = parser.parse_args()
    if args.tool:
        return check_readme(args.root.resolve(), args.tool.resolve())

    api = Api(args.root, args.cc)
    page = (args.root / "src" / "man" / "libhwtdecode.3").read_text()
    listed = set(re.findall(r"^\.F[no] (hwtd_\w+)", page, re.M))
    tests = [
        path
        for path in (args.root / "tests").rglob("*")
        if path.suffix in (".c", ".py") and path.name != Path(__file__).name
    ]
    places = {
        "no comment in its header": commented(api.headers),
        "not in libhwtdecode.3": listed,
        "no test calls it": words(tests),
    }
    functions = api.functions()
    failed = 0
    errors = example_errors(page, api, args.cc)
    if errors:
        print(f"the example of libhwtdecode.3:\n{errors}")
        failed += 1
    for name in functions:
        for what, names in places.items():
            if name not in names:
                print(f"{name}: {what}")
                failed += 1
    for name in sorted(listed - set(functions)):
        print(f"{name}: in libhwtdecode.3, but in no header")
        failed += 1
    print(f"{len(functions)} functions, {failed} findings")
    return 1 if failed or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
