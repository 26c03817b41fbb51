"""Make the reference of the C interface, and check that it is whole.

usage: c_reference.py [--doxygen DOXYGEN] ROOT OUT

Doxygen makes OUT/html and OUT/xml; any warning is an error, also that a function
explains some of its parameters only.  Every public function has a description there.
"""

import argparse
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "abi"))

from public_api import Api  # noqa: E402

# Fewer pages than this are not the reference.
LEAST_PAGES = 100
# Fewer words than these are no description.
LEAST_WORDS = 3


def make(root, out, doxygen):
    """What Doxygen has to say; None if it is content."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    config = (root / "docs" / "api" / "Doxyfile").read_text()
    done = subprocess.run(
        [doxygen, "-"],
        cwd=root,
        input=f"{config}OUTPUT_DIRECTORY = {out}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr.strip():
        return done.stdout + done.stderr
    return None


def described(out):
    """{function: words of its description} of the XML."""
    found = {}
    for path in (out / "xml").glob("*_8h.xml"):
        for member in ET.parse(path).iter("memberdef"):
            if member.get("kind") != "function":
                continue
            name = member.findtext("name")
            words = " ".join(
                " ".join(member.find(part).itertext())
                for part in ("briefdescription", "detaileddescription")
            ).split()
            found[name] = max(found.get(name, []), words, key=len)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--doxygen", default="doxygen")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    root, out = args.root.resolve(), args.out.resolve()
    said = make(root, out, args.doxygen)
    if said is not None:
        print(said)
        return 1
    found = described(out)
    failed = 0
    for name in Api(root, args.cc).functions():
        if len(found.get(name, [])) < LEAST_WORDS:
            failed += 1
            print(f"{name}: not in the reference: {found.get(name)}")
    pages = len(list((out / "html").glob("*.html")))
    if pages < LEAST_PAGES:
        failed += 1
        print(f"only {pages} pages")
    print(f"{len(found)} functions, {pages} pages, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
