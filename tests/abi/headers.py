"""Compile each public header alone: C11, C17, C++17; with clang -Wdocumentation.

usage: headers.py ROOT COMPILER...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
ALLOWED = {"stddef.h", "stdint.h", "stdbool.h"}


def languages(compiler):
    """The ways in which a compiler has to accept a header."""
    if "++" in Path(compiler).name:
        yield ["-x", "c++", "-std=c++17", "-Wold-style-cast"]
        return
    yield ["-x", "c", "-std=c11", "-Wstrict-prototypes"]
    yield ["-x", "c", "-std=c17", "-Wstrict-prototypes"]
    if "clang" in Path(compiler).name:
        yield ["-x", "c", "-std=c11", "-Wdocumentation"]


def main(argv):
    root, compilers = Path(argv[1]), argv[2:]
    include = root / "include"
    headers = sorted((include / "hwtdecode").glob("*.h"))
    done = failed = 0

    for header in headers:
        for line in header.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#include"):
                continue
            name = line.split()[1].strip('<>"')
            if name not in ALLOWED and not name.startswith("hwtdecode/"):
                print(f"{header.name}: includes <{name}>")
                failed += 1

    with tempfile.TemporaryDirectory() as work:
        for header in headers:
            source = Path(work, "alone.c")
            source.write_text(f"#include <hwtdecode/{header.name}>\n")
            for compiler in compilers:
                for language in languages(compiler):
                    command = [compiler, *FLAGS, *language, f"-I{include}"]
                    run = subprocess.run(
                        [*command, str(source)],
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    done += 1
                    if run.returncode != 0:
                        failed += 1
                        print(f"{header.name}: {' '.join(command)}")
                        print(run.stderr)
    print(f"{len(headers)} headers, {done} compilations, {failed} failed")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
