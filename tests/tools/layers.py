"""Check the order of the source tree: layers, file names, opening comments.

A folder of src/ includes itself, base/ and folders above it in LAYERS; the
command-line tool and the C files of bindings/ include public headers only;
the decoders of src/decode/ never include one another and do no input or output.
"""

import re
import sys
import tempfile
from pathlib import Path

LAYERS = [
    "base",
    "image",
    "record",
    "space",
    "trace",
    "capture",
    "decode",
    "event",
    "analysis",
    "export",
    "cli",
]
DECODERS = ["pt", "coresight", "spe"]
# A decoder gets bytes and hands out events; it opens nothing.
NO_IO = {"dirent.h", "fcntl.h", "unistd.h", "sys/mman.h", "sys/stat.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
SOURCES = {".c", ".h", ".cpp", ".hpp", ".inc"}
SENTENCE = re.compile(r"\w.*[.!]", re.S)


def decode_part(parts):
    """The part of src/decode/ that a path lies in; "" for its own files."""
    return parts[1] if len(parts) > 2 else ""


def check_include(path, quote, name, src):
    """Say what is wrong with an include of a file of src/, or None."""
    parts = path.relative_to(src).parts
    layer = parts[0]
    if quote == "<":
        if layer == "decode" and name in NO_IO:
            return f"decoders do no input or output: <{name}>"
        if name.startswith("hwtdecode/") and not (
            src.parent / "include" / name
        ).is_file():
            return f"no such public header: <{name}>"
        return None
    target = src / name
    if "/" not in name:
        target = path.parent / name
        if not target.is_file():
            return f'"{name}" is not beside the file; write "folder/{name}"'
    elif not target.is_file():
        return f'"{name}" is no file of src/'
    to = target.resolve().relative_to(src.resolve()).parts
    if to[0] not in LAYERS:
        return f'"{name}" is in no layer'
    if layer == to[0]:
        if layer == "decode":
            a, b = decode_part(parts), decode_part(to)
            if a != b and b in DECODERS and a in DECODERS + ["code"]:
                return f"decode/{a} includes decode/{b}"
        return None
    if layer == "cli":
        return f'the tool uses public headers only, not "{name}"'
    if to[0] != "base" and LAYERS.index(to[0]) > LAYERS.index(layer):
        return f"{layer}/ includes {to[0]}/, which comes after it"
    return None


def check_binding(path, quote, name, root):
    """The same for a file of bindings/, which is a user like any other."""
    if quote == '"' and not (path.parent / name).is_file():
        return f'bindings use public headers and files beside, not "{name}"'
    if quote == "<" and name.startswith("hwtdecode/"):
        if not (root / "include" / name).is_file():
            return f"no such public header: <{name}>"
    return None


def opening(path):
    """The text of the comment that a file opens with, or ""."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in SOURCES:
        match = re.match(r"/\*(.*?)\*/", text, re.S)
        return re.sub(r"\n \* ?", "\n", match.group(1)) if match else ""
    text = re.sub(r"\A#!.*\n", "", text)
    if path.suffix == ".py":
        match = re.match(r'\s*[rR]?"""(.*?)"""', text, re.S)
        if match:
            return match.group(1)
    match = re.match(r"\s*((?:#.*\n)+)", text)
    return match.group(1).replace("#", "") if match else ""


def check(root):
    """All findings about a tree, as text lines."""
    root = Path(root)
    src = root / "src"
    findings = []
    names = {}

    for path in sorted(p for p in src.rglob("*") if p.suffix in SOURCES):
        where = path.relative_to(root)
        layer = path.relative_to(src).parts[0]
        if layer not in LAYERS:
            findings.append(f"{where}: {layer} is no layer of src/")
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            wrong = check_include(path, match.group(1), match.group(2), src)
            if wrong:
                findings.append(f"{where}:{line}: {wrong}")
        other = names.setdefault(path.name, where)
        if other != where:
            findings.append(f"{where}: the name is also at {other}")

    for path in sorted((root / "bindings").rglob("*")):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for match in INCLUDE.finditer(text):
            wrong = check_binding(path, match.group(1), match.group(2), root)
            if wrong:
                line = text.count("\n", 0, match.start()) + 1
                findings.append(f"{path.relative_to(root)}:{line}: {wrong}")

    for top in ("src", "include", "examples", "tests", "bindings"):
        for path in sorted((root / top).rglob("*")):
            if not path.is_file() or "corpus" in path.parts:
                continue
            if path.suffix not in SOURCES | {".py", ".sh"}:
                continue
            # Markers of Python packages may be empty.
            if path.name == "__init__.py" and path.stat().st_size == 0:
                continue
            if not SENTENCE.search(opening(path)):
                where = path.relative_to(root)
                findings.append(
                    f"{where}: opens with no comment that says what it is for"
                )
    return findings


SELF_TEST = [
    # file, text, what must be found (None: nothing).
    ("src/trace/a.c", '/* A. */\n#include "space/ok.h"\n', None),
    ("src/trace/b.c", '/* B. */\n#include "base/ok.h"\n', None),
    ("src/base/c.c", '/* C. */\n#include "trace/ok.h"\n', "comes after"),
    ("src/trace/d.c", '/* D. */\n#include "event/ok.h"\n', "comes after"),
    ("src/cli/e.c", '/* E. */\n#include "base/ok.h"\n', "public headers"),
    ("src/cli/f.c", "/* F. */\n#include <hwtdecode/ok.h>\n", None),
    ("src/cli/g.c", "/* G. */\n#include <hwtdecode/no.h>\n", "no such"),
    (
        "src/decode/pt/h.c",
        '/* H. */\n#include "decode/spe/spe_ok.h"\n',
        "decode/pt includes decode/spe",
    ),
    (
        "src/decode/code/i.c",
        '/* I. */\n#include "decode/pt/pt_ok.h"\n',
        "decode/code includes decode/pt",
    ),
    ("src/decode/pt/j.c", '/* J. */\n#include "decode/code/code_ok.h"\n', None),
    ("src/decode/k.c", '/* K. */\n#include "decode/pt/pt_ok.h"\n', None),
    ("src/decode/l.c", "/* L. */\n#include <fcntl.h>\n", "input or output"),
    ("src/event/m.c", '/* M. */\n#include "nothing/here.h"\n', "no file"),
    ("src/event/n.c", '/* N. */\n#include "nowhere.h"\n', "not beside"),
    ("src/extra/o.c", "/* O. */\n", "no layer"),
    ("src/base/p.c", "int p;\n", "opens with no comment"),
    ("src/base/q.c", "/* no sentence */\n", "opens with no comment"),
    ("src/event/fail.c", "/* Not unique. */\n", "the name is also"),
    ("tests/unit/r.py", "import os\n", "opens with no comment"),
    ("tests/unit/s.py", '"""Fine."""\n', None),
    ("tests/unit/t.sh", "#!/bin/sh\n# Fine.\n", None),
    ("bindings/x/u.c", "/* U. */\n#include <hwtdecode/ok.h>\n", None),
    ("bindings/x/v.c", '/* V. */\n#include "base/ok.h"\n', "public headers"),
    ("bindings/x/w.c", "/* W. */\n#include <hwtdecode/no.h>\n", "no such"),
    ("bindings/x/y.h", "int y;\n", "opens with no comment"),
]


def self_test():
    """Build trees that break one rule each and look that it is found."""
    good = {
        "include/hwtdecode/ok.h": "/* Good. */\n",
        "src/base/ok.h": "/* Good. */\n",
        "src/base/fail.c": "/* Good. */\n",
        "src/space/space_ok.h": "/* Good. */\n",
        "src/decode/spe/spe_ok.h": "/* Good. */\n",
        "src/decode/pt/pt_ok.h": "/* Good. */\n",
        "src/decode/code/code_ok.h": "/* Good. */\n",
        "src/space/ok.h": "/* Good. */\n",
        "src/trace/ok.h": "/* Good. */\n",
        "src/event/ok.h": "/* Good. */\n",
    }
    failed = 0
    for name, text, want in SELF_TEST:
        with tempfile.TemporaryDirectory() as tree:
            for path, content in {**good, name: text}.items():
                path = Path(tree, path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            # The stand-ins of the tree share a name on purpose.
            found = [f for f in check(tree) if "/ok.h: the name" not in f]
        right = (
            not found if want is None else any(want in f for f in found)
        ) and len(found) <= 1
        if not right:
            failed += 1
            print(f"{name}: wanted {want!r}, found {found}")
    print(f"{len(SELF_TEST)} trees, {failed} wrong")
    return 1 if failed else 0


def main(argv):
    if argv[1:] == ["--self-test"]:
        return self_test()
    if len(argv) != 2:
        print("usage: layers.py ROOT | --self-test", file=sys.stderr)
        return 2
    findings = check(argv[1])
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
