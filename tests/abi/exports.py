"""Compare what the library exports, what its map says and what headers declare.

usage: exports.py ROOT CC LIBRARY
"""

import re
import subprocess
import sys
from pathlib import Path

from public_api import Api


def exported(library):
    """{symbol: version node} of a shared library."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = {}
    for line in text.splitlines():
        name = line.split()[-1]
        symbol, _, node = name.partition("@@")
        # The version nodes are absolute symbols themselves.
        if line.split()[-2] != "A":
            found[symbol] = node
    return found


def mapped(path):
    """{symbol: version node} of a version script."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    found = {}
    for node, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}", text, re.S):
        names = re.sub(r"local:.*", "", body, flags=re.S)
        names = names.replace("global:", "")
        for name in re.findall(r"[\w*]+", names):
            found[name] = node
    return found


def main(argv):
    root, cc, library = Path(argv[1]), argv[2], argv[3]
    declared = Api(root, cc).functions()
    in_map = mapped(root / "src" / "libhwtdecode.map")
    in_library = exported(library)
    failed = 0

    for name in sorted({n for n in declared if declared.count(n) > 1}):
        print(f"{name}: declared twice; CFFI refuses that")
        failed += 1
    for name in sorted(set(declared) | set(in_map) | set(in_library)):
        places = {
            "headers": name in declared,
            "map": name in in_map,
            "library": name in in_library,
        }
        missing = [place for place, there in places.items() if not there]
        if missing:
            print(f"{name}: not in {', '.join(missing)}")
            failed += 1
        elif in_map[name] != in_library[name]:
            print(f"{name}: {in_library[name]}, the map has {in_map[name]}")
            failed += 1
    print(f"{len(in_library)} exports, {failed} wrong")
    return 1 if failed or not in_library else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
