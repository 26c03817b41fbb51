"""Compare the port of FreeBSD with what is installed and how it is built.

usage: freebsd_port.py [--write] ROOT [BUILD_DIR CMAKE]

Configures with the arguments of the port's Makefile, installs into a DESTDIR
as FreeBSD's trees are laid out, with the binaries of BUILD_DIR, and compares
the files with pkg-plist; with --write makes that list anew.  Nothing of this
runs on FreeBSD.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PREFIX = "/usr/local"
DOCS, MAN = "share/doc/hwtdecode/", "share/man/"


def run(*command, env=None):
    """Run a command; show what it said when it fails."""
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)


def variables(makefile):
    """{name: [word, ...]} of a Makefile without conditions."""
    text = makefile.read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.findall(r"(?m)^(\w+)[+?]?=\s*(.*)$", text)
    return {name: value.split() for name, value in found}


def arguments(port):
    """What the port gives to CMake: its arguments, its option switched on."""
    args = [word.replace(":STRING", "") for word in port["CMAKE_ARGS"]]
    args += [f"-D{name}=OFF" for name in port["CMAKE_OFF"]]
    args += [f"-D{name}=ON" for name in port["TOOL_CMAKE_BOOL"]]
    return args


def line(path, tool_pages):
    """How pkg-plist names an installed file: pages are compressed."""
    if path.startswith(MAN):
        page = f"{path}.gz"
        return f"%%TOOL%%{page}" if path in tool_pages else page
    if path.startswith(DOCS):
        return "%%PORTDOCS%%%%DOCSDIR%%/" + path[len(DOCS) :]
    return f"%%TOOL%%{path}" if path == "bin/hwtdecode" else path


def installed(root, build, cmake, port, work):
    """Paths below the prefix, with the tool and without it."""
    both = []
    for tool in (True, False):
        tree, stage = Path(work, f"b{tool}"), Path(work, f"s{tool}")
        more = [] if tool else ["-DHWTDECODE_BUILD_CLI=OFF"]
        # Binaries were linked elsewhere: their search paths stay as they are.
        run(cmake, "-S", root, "-B", tree, "-G", "Ninja",
            f"-DCMAKE_INSTALL_PREFIX={PREFIX}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_SKIP_RPATH=ON", *arguments(port), *more)  # fmt: skip
        for made in ("src", "bin"):
            (tree / made).mkdir(exist_ok=True)
            for file in Path(build, made).glob("*hwtdecode*"):
                if file.is_file():
                    shutil.copy(file, tree / made, follow_symlinks=False)
        run(cmake, "--install", tree, env=dict(os.environ, DESTDIR=str(stage)))
        top = stage / PREFIX[1:]
        both.append(
            {
                str(p.relative_to(top))
                for p in stage.rglob("*")
                if p.is_symlink() or not p.is_dir()
            }
        )
    return both


def main(argv):
    write = "--write" in argv
    words = [a for a in argv[1:] if a != "--write"]
    root = Path(words[0]).resolve()
    build = Path(words[1]) if len(words) > 1 else root / "build" / "ci"
    cmake = words[2] if len(words) > 2 else "cmake"
    folder = root / "packaging" / "freebsd"
    port = variables(folder / "Makefile")
    plist = folder / "pkg-plist"
    wrong = []

    # Switches of the port are options of the build.
    top = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    options = set(re.findall(r"option\((\w+)", top))
    for name in port["CMAKE_OFF"] + port["TOOL_CMAKE_BOOL"]:
        if name not in options:
            wrong.append(f"{name} is no option of CMakeLists.txt")
    version = re.search(r"project\(hwtdecode VERSION ([\d.]+)", top).group(1)
    if port["DISTVERSION"] != [version]:
        wrong.append(f"the port is of {port['DISTVERSION']}, not {version}")

    with tempfile.TemporaryDirectory() as work:
        full, bare = installed(root, build, cmake, port, work)
    if not bare < full or "bin/hwtdecode" not in full - bare:
        wrong.append("without its option TOOL the port has the tool")
    now = sorted(line(path, full - bare) for path in full)
    text = "\n".join(now) + "\n"
    if write:
        plist.write_text(text, encoding="utf-8")
    listed = plist.read_text(encoding="utf-8").splitlines()
    for path in sorted(set(now) ^ set(listed)):
        where = "pkg-plist" if path in now else "what is installed"
        wrong.append(f"{path}: not in {where}")
    if len(listed) != len(set(listed)):
        wrong.append("pkg-plist names a file twice")
    for what in wrong:
        print(what)
    if wrong:
        print(f"python3 tests/abi/freebsd_port.py --write {words[0]}")
    print(f"{len(now)} files, {len(wrong)} wrong")
    return 1 if wrong or not now else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
