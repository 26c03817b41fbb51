"""Install the build into a stage, move the stage and build programs out of it.

usage: consumers.py pkgconfig|cmake BUILD_DIR CMAKE CC CXX VERSION GENERATOR

A consumer must find headers and library wherever the tree went, with
pkg-config and with find_package, shared and static, in C and C++.  So must all
examples with pkg-config.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "consumer"
EXAMPLES = HERE.parents[2] / "examples" / "c"


def run(*command, env=None):
    """Run a command, show it when it fails, return what it printed."""
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    if done.returncode != 0:
        print(shlex.join(str(c) for c in command))
        print(done.stdout + done.stderr)
        raise SystemExit(1)
    return done.stdout


def only(stage, name):
    """The one path of that name in a tree."""
    found = [p for p in stage.rglob(name)]
    if len(found) != 1:
        raise SystemExit(f"{name}: {len(found)} times in the stage")
    return found[0]


def pkgconfig(stage, work, cc, cxx, version, env):
    """Build with what hwtdecode.pc says."""
    pc = only(stage, "hwtdecode.pc")
    env = dict(env, PKG_CONFIG_PATH=str(pc.parent))

    def ask(*what):
        return run("pkg-config", *what, "hwtdecode", env=env).split()

    if ask("--modversion") != [version]:
        raise SystemExit("hwtdecode.pc has another version")
    prefix = Path(ask("--variable=prefix")[0]).resolve()
    if prefix != stage.resolve():
        raise SystemExit(f"hwtdecode.pc points at {prefix}")
    library = only(stage, "libhwtdecode.a")
    private = [
        word
        for word in ask("--static", "--libs")
        if word != "-lhwtdecode" and Path(word[2:]) != library.parent
    ]
    source = HERE / "consumer.c"
    cflags, libs = ask("--cflags"), ask("--libs")
    run(cc, "-std=c11", "-Werror", *cflags, source, *libs, "-o", work / "c")
    run(cc, "-std=c11", *cflags, source, library, *private, "-o", work / "s")
    built = ["c", "s"]
    if cxx:
        run(cxx, "-x", "c++", "-std=c++17", *cflags, source, "-x", "none",
            *libs, "-o", work / "x")  # fmt: skip
        built.append("x")
    # Examples are programs of users: they may know no more than is installed.
    examples = sorted(EXAMPLES.glob("*.c"))
    if not examples:
        raise SystemExit(f"{EXAMPLES}: no examples")
    for source in examples:
        run(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread",
            *cflags, source, *libs, "-o", work / source.stem)  # fmt: skip
    built.append("build_in_memory")
    return [work / name for name in built]


def cmake(stage, work, cmake_tool, cc, generator, env):
    """Build with what find_package finds."""
    run(cmake_tool, "-G", generator, "-S", HERE, "-B", work,
        f"-DCMAKE_PREFIX_PATH={stage}", f"-DCMAKE_C_COMPILER={cc}",
        "-DCMAKE_BUILD_TYPE=Release", env=env)  # fmt: skip
    cache = (work / "CMakeCache.txt").read_text()
    if f"hwtdecode_DIR:PATH={stage}" not in cache:
        raise SystemExit("find_package found another hwtdecode")
    run(cmake_tool, "--build", work, env=env)
    return [work / "consumer-shared", work / "consumer-static"]


def main(argv):
    way, build, cmake_tool, cc, cxx, version, generator = argv[1:]
    with tempfile.TemporaryDirectory() as top:
        first, stage = Path(top, "first"), Path(top, "moved", "stage")
        run(cmake_tool, "--install", build, "--prefix", first)
        stage.parent.mkdir()
        first.rename(stage)
        for place in stage.rglob("*"):
            if place.suffix in (".pc", ".cmake"):
                text = place.read_text()
                for path in (str(first), str(Path(build).resolve())):
                    if path in text:
                        raise SystemExit(f"{place.name} names {path}")
        only(stage, "hwtd_trace_open.3")
        work = Path(top, "work")
        work.mkdir()
        library = only(stage, "libhwtdecode.so.0")
        env = dict(os.environ, LD_LIBRARY_PATH=str(library.parent))
        clean = dict(os.environ)
        clean.pop("LD_LIBRARY_PATH", None)
        if way == "pkgconfig":
            programs = pkgconfig(stage, work, cc, cxx, version, clean)
        else:
            programs = cmake(stage, work, cmake_tool, cc, generator, clean)
        for program in programs:
            # Only what was linked to the shared library needs its path.
            static = program.name in ("s", "consumer-static")
            said = run(program, env=clean if static else env)
            print(f"{program.name}: {said.splitlines()[-1]}")
        tool = stage / "bin" / "hwtdecode"
        if tool.exists():
            print(run(tool, "version", env=clean).splitlines()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
