"""Links of installed documents lead to what is installed.

usage: documents.py BUILD_DIR CMAKE
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def missing(top):
    """(document, link) of all that lead nowhere, and how many links there are."""
    bad, links = [], 0
    for document in sorted(top.rglob("*.md")):
        text = document.read_text(encoding="utf-8")
        text = re.sub(r"(?ms)^(```|<!--).*?^(```|-->)$", "", text)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path = link.partition("#")[0]
            if ":" in path or not path:
                continue
            links += 1
            if not (document.parent / path).is_file():
                bad.append((document.relative_to(top), link))
    return bad, links


def main():
    """Install the component that has the documents, and look."""
    build, cmake = sys.argv[1:]
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(
            [cmake, "--install", build, "--prefix", prefix, "--component",
             "tool"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        bad, links = missing(Path(prefix))
    for document, link in bad:
        print(f"{document}: {link} is not installed")
    print(f"{links} links")
    return 1 if bad or links < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
