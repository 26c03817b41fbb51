"""Make the reference of the Python package, and check that it is whole.

usage: python_reference.py --package FOLDER ROOT OUT

Sphinx makes OUT/html of docs/python and of the docstrings of the package hwt, which
FOLDER has, compiled; any warning is an error.  Every public name of every public module
is there.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path


def public_names(package):
    """{module: names that it offers}."""
    found = {}
    for path in sorted((package / "hwt").glob("*.py")):
        if path.stem.startswith("_") and path.stem != "__init__":
            continue
        for node in ast.parse(path.read_text()).body:
            targets = getattr(node, "targets", [])
            if targets and getattr(targets[0], "id", "") == "__all__":
                found[path.stem] = ast.literal_eval(node.value)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", required=True, type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    package, out = args.package.resolve(), args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(args.root / "docs" / "python", out / "source",
                    ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b",
         "html", out / "source", out / "html"],
        env=os.environ | {"HWT_DOCS_PACKAGE": str(package)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    print(done.stdout, end="")
    failed = 1 if done.returncode or done.stdout.strip() else 0
    names = public_names(package)
    for module, public in names.items():
        page = "hwt" if module == "__init__" else module
        path = out / "html" / "api" / f"{page}.html"
        text = path.read_text() if path.is_file() else ""
        for name in public:
            if f">{name}<" not in text and f".{name}" not in text:
                failed += 1
                print(f"{page}: no {name}")
    total = sum(map(len, names.values()))
    print(f"{len(names)} modules, {total} names, {failed} findings")
    return 1 if failed or total < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
