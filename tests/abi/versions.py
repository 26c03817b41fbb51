"""Compare all places that tell the version, and when each function came.

usage: versions.py ROOT BUILD_DIR LIBRARY [TOOL]

The header, CMakeLists.txt, the running library and tool, hwtdecode.pc, the
CMake package, manual pages, the changelog, the port and the Python package
must agree; the file of the library is named after its SONAME; and "Since" of a
function in its header is the node that its symbol has in the library.
"""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

PYPROJECT = "bindings/python/pyproject.toml"


def first(pattern, path):
    """What a pattern's group is in a file; None: it is not there."""
    found = re.search(pattern, path.read_text(encoding="utf-8"), re.M)
    return found.group(1) if found else None


def python_version(root):
    """The version of the Python package: fixed, or by a pattern in a file."""
    path = root / PYPROJECT
    if not path.exists():
        return None
    fixed = first(r'^version\s*=\s*"([\d.]+)"', path)
    if fixed:
        return fixed
    source = first(r'^input\s*=\s*"(.+)"', path)
    pattern = first(r"^regex\s*=\s*'(.+)'", path)
    if not source or not pattern:
        return "told nowhere"
    text = (path.parent / source).read_text(encoding="utf-8")
    found = re.search(pattern, text, re.M)
    return found.group("value") if found else "told nowhere"


def header_version(path):
    parts = [
        first(rf"^#define HWTD_VERSION_{part} (\d+)$", path)
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    return ".".join(str(part) for part in parts)


def places(root, build, library, tool):
    """{place: version} of all that tell one."""
    loaded = ctypes.CDLL(str(library))
    loaded.hwtd_version.restype = ctypes.c_char_p
    said = {
        "version.h": header_version(root / "include/hwtdecode/version.h"),
        "CMakeLists.txt": first(
            r"^project\(hwtdecode VERSION ([\d.]+)", root / "CMakeLists.txt"
        ),
        "hwtd_version()": loaded.hwtd_version().decode(),
        "hwtdecode.pc": first(
            r"^Version: (\S+)$", build / "src/hwtdecode.pc"
        ),
        "CMake package": first(
            r'PACKAGE_VERSION "([\d.]+)"',
            build / "src/hwtdecode-config-version.cmake",
        ),
        "port of FreeBSD": first(
            r"^DISTVERSION=\s*(\S+)$", root / "packaging/freebsd/Makefile"
        ),
        "file of the library": library.resolve().name.partition(".so.")[2],
    }
    for page in sorted((root / "src/man").glob("*.[1-9]")):
        made = build / "src/man" / page.name
        said[page.name] = first(r"^\.Os hwtdecode (\S+)$", made)
    if tool:
        text = subprocess.run(
            [tool, "version"], capture_output=True, text=True, check=True
        ).stdout.split()
        said["hwtdecode version"] = text[1]
    python = python_version(root)
    if python:
        said["Python package"] = python
    return said


def since(root):
    """{function: release} of the comments in the public headers."""
    found = {}
    for header in sorted((root / "include/hwtdecode").glob("*.h")):
        text = header.read_text(encoding="utf-8")
        # A comment is of all that is declared up to the next one.
        for part in text.split("/**")[1:]:
            comment, _, code = part.partition("*/")
            told = re.search(r"Since:\s+(\d+\.\d+)", comment)
            names = re.findall(r"HWTD_(?:API|MUST)\b[^;(]*?(hwtd_\w+)\(", code)
            for name in names:
                found[name] = told.group(1) if told else None
    return found


def nodes(library):
    """{symbol: version node} that a shared library has, by nm."""
    text = subprocess.run(
        ["nm", "-D", "--defined-only", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return dict(re.findall(r" T (hwtd_\w+)@@(\S+)$", text, re.M))


def main(argv):
    root, build, library = (Path(a) for a in argv[1:4])
    said = places(root, build, library, argv[4] if len(argv) > 4 else None)
    version = said["version.h"]
    wrong = [
        f"{place}: {told}, not {version}"
        for place, told in said.items()
        if told != version
    ]

    # Before the first release everything is unreleased; after it not.
    changelog = root / "CHANGELOG.md"
    newest = first(r"^## \[(.+?)\]", changelog)
    if newest not in ("Unreleased", version):
        wrong.append(f"the changelog begins with {newest}")

    dynamic = subprocess.run(
        ["readelf", "-d", "-W", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    soname = re.search(r"\(SONAME\).*\[(.*)\]", dynamic).group(1)
    number = first(r"SOVERSION (\d+)", root / "src/CMakeLists.txt")
    if soname != f"libhwtdecode.so.{number}":
        wrong.append(f"SONAME {soname}, SOVERSION {number}")

    came, in_library = since(root), nodes(library)
    release = ".".join(version.split(".")[:2])
    for name in sorted(set(came) | set(in_library)):
        if name not in came or came[name] is None:
            wrong.append(f"{name}: its comment has no Since")
        elif in_library.get(name) != f"HWTDECODE_{came[name]}":
            wrong.append(
                f"{name}: Since {came[name]}, but {in_library.get(name)}"
            )
        elif [int(n) for n in came[name].split(".")] > [
            int(n) for n in release.split(".")
        ]:
            wrong.append(f"{name}: Since {came[name]}, which is to come")
    for what in wrong:
        print(what)
    print(f"{len(said)} places, {len(came)} functions, {len(wrong)} wrong")
    return 1 if wrong or not came else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
