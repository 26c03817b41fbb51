"""Freeze layouts, enum values, constants and prototypes of the public headers.

usage: layout.py [--write] ROOT CC

Compares them with tests/abi/layout.txt, which holds for LP64 machines; with
--write makes that file anew.  A line that was in a release never changes.
Hidden padding is refused: a caller's garbage there could not be told from a
member that a later release puts in its place.
"""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

from public_api import Api

SKIP = 77
HEAD = """\
# Layouts, values and prototypes of the public headers on LP64 machines.
# Written by tests/abi/layout.py --write; a line that was released stays.
"""


def program(api):
    """A C program that prints the table."""
    out = ["#include <stdio.h>", "#include <hwtdecode/hwtdecode.h>"]
    out.append("int main(void) {")
    for struct, members in api.structs().items():
        out.append(
            f'printf("struct {struct} %zu\\n", sizeof(struct {struct}));'
        )
        for member in members:
            out.append(
                f'printf("  {member} at %zu size %zu\\n",'
                f" offsetof(struct {struct}, {member}),"
                f" sizeof(((struct {struct} *)0)->{member}));"
            )
    for enum, members in api.enums().items():
        out.append(f'printf("enum {enum}\\n");')
        for member in members:
            out.append(f'printf("  {member} %d\\n", (int){member});')
    out.append('printf("constants\\n");')
    for name in api.constants():
        # The version changes with each release.
        if not name.startswith("HWTD_VERSION_"):
            out.append(f'printf("  {name} %#llx\\n", {name} + 0ULL);')
    out.append("return (sizeof(void *) == 8 && sizeof(long) == 8 ? 0 : 77);")
    out.append("}")
    return "\n".join(out) + "\n"


def padding(table):
    """Places of a table where a struct has bytes that no member names."""
    found = []
    struct, size, end = None, 0, 0
    for line in [*table.splitlines(), "end"]:
        words = line.split()
        if words[:1] == ["#"]:
            continue
        if line == "functions":
            break
        if line.startswith("  ") and struct:
            if int(words[2]) != end:
                found.append(f"{struct}: padding before {words[0]}")
            end = int(words[2]) + int(words[4])
            continue
        if struct and end != size:
            found.append(f"{struct}: padding at the end")
        struct = None
        if words[0] == "struct":
            struct, size, end = words[1], int(words[2]), 0
    return found


def main(argv):
    write = "--write" in argv
    root, cc = [a for a in argv[1:] if a != "--write"]
    api = Api(root, cc)
    with tempfile.TemporaryDirectory() as work:
        source = Path(work, "layout.c")
        binary = Path(work, "layout")
        source.write_text(program(api), encoding="utf-8")
        subprocess.run(
            [*cc.split(), "-std=c11", f"-I{api.include}", "-o", str(binary),
             str(source)],
            check=True,
        )  # fmt: skip
        run = subprocess.run(
            [str(binary)], capture_output=True, text=True, check=False
        )
    if run.returncode == SKIP:
        print("no LP64 machine: skipped")
        return SKIP
    table = Path(root, "tests", "abi", "layout.txt")
    now = HEAD + run.stdout + "functions\n"
    for line in sorted([*api.prototypes(), *api.callbacks()]):
        now += f"  {line}\n"
    holes = padding(now)
    for hole in holes:
        print(hole)
    if write:
        table.write_text(now, encoding="utf-8")
        return 0
    frozen = table.read_text(encoding="utf-8")
    diff = list(
        difflib.unified_diff(
            frozen.splitlines(), now.splitlines(), "frozen", "now", "", "", 2
        )
    )
    for line in diff:
        print(line)
    print(f"{len(now.splitlines())} lines, {len(diff)} lines of difference")
    if diff:
        print("if no released line changes: tests/abi/layout.py --write")
    return 1 if diff or holes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
