"""Make Debian packages of the build, install them, and use what is installed.

usage: debian.py ROOT BUILD_DIR CPACK CC VERSION

dpkg installs them into a tree of its own, whose list of installed packages is
a copy of this system's: dependencies are checked, not assumed.  The tool runs
with the library of that tree, and an example is compiled with what its
packages have.  Needs the prefix /usr; without dpkg there is nothing to test.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
FIXTURE = "fixtures/perf-data/features-tell-of-the-machine"
PACKAGES = {"libhwtdecode0", "libhwtdecode-dev", "hwtdecode-tools"}


def run(*command, env=None, cwd=None):
    """Run a command, show it when it fails, return what it printed."""
    command = [str(c) for c in command]
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=cwd, check=False
    )
    if done.returncode != 0:
        print(" ".join(command))
        print(done.stdout + done.stderr)
        raise SystemExit(1)
    return done.stdout


def expect(right, what):
    if not right:
        raise SystemExit(what)


def needed(file):
    """(SONAME, what is needed, search paths) of an ELF file, by readelf."""
    text = run("readelf", "-d", "-W", file)
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", text)
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text)
    return soname, libraries, paths


def owners(libraries, triplet):
    """Packages of this system that own libraries, by dpkg."""
    found = set()
    for library in libraries:
        for folder in (f"/usr/lib/{triplet}", f"/lib/{triplet}"):
            done = subprocess.run(
                ["dpkg", "-S", f"{folder}/{library}"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                found.add(done.stdout.split(":")[0])
                break
        else:
            raise SystemExit(f"{library}: of no package")
    return found


def check_fields(debs, version):
    """What the packages say of themselves."""
    for name, deb in debs.items():
        fields = run("dpkg-deb", "-f", deb)
        got = run("dpkg-deb", "-f", deb, "Version").strip()
        expect(got == f"{version}-1", f"{name} has version {got}")
        for field in ("Maintainer", "Section", "Description", "Architecture"):
            expect(f"\n{field}: " in "\n" + fields, f"{name}: no {field}")
    # Of the scripts that run as root there are none.
    control = set(run("dpkg-deb", "-I", debs["libhwtdecode0"]).split())
    expect(not control & {"postinst", "postrm", "prerm"}, "there are scripts")
    expect({"shlibs", "triggers"} <= control, "no shlibs or no triggers")
    shlibs = run("dpkg-deb", "-I", debs["libhwtdecode0"], "shlibs")
    expect(
        shlibs.strip() == f"libhwtdecode 0 libhwtdecode0 (>= {version}-1)",
        f"shlibs: {shlibs}",
    )


def depends(deb):
    """Names of packages that one depends on."""
    text = run("dpkg-deb", "-f", deb, "Depends")
    return {part.split()[0] for part in text.split(",")}


def dpkg(tree):
    """The command that installs into a tree, or None where it cannot."""
    command = ["dpkg", f"--root={tree}", "--no-debsig"]
    if os.geteuid() == 0:
        return command
    if shutil.which("fakeroot"):
        return ["fakeroot", *command, "--force-not-root"]
    return None


def install(tree, debs):
    """Install all, in any order; True if dpkg did and knows them."""
    command = dpkg(tree)
    if command is None:
        for deb in debs.values():
            run("dpkg-deb", "-x", deb, tree)
        return False
    state = tree / "var" / "lib" / "dpkg"
    (state / "updates").mkdir(parents=True)
    (state / "info").mkdir()
    shutil.copy("/var/lib/dpkg/status", state / "status")
    # A system that has older ones installed is upgraded in that copy.
    run(*command, "-i", *debs.values())
    for name in debs:
        said = run("dpkg-query", f"--admindir={state}", "-W",
                   "-f=${db:Status-Status}", name)  # fmt: skip
        expect(said == "installed", f"{name} is {said}")
    return True


def check_tool(root, tree, triplet, version):
    """The installed tool decodes, with the installed library."""
    tool = tree / "usr/bin/hwtdecode"
    library = tree / f"usr/lib/{triplet}"
    env = {"LD_LIBRARY_PATH": str(library), "PATH": "/usr/bin:/bin"}
    expect(not needed(tool)[2], "the tool has a search path")
    used = re.findall(r"libhwtdecode\.so\.0 => (\S+)", run("ldd", tool, env=env))
    expect(used == [str(library / "libhwtdecode.so.0")], f"it uses {used}")
    said = run(tool, "version", env=env).split()
    expect(said[1] == said[3] == version, f"hwtdecode version: {said[:4]}")
    case = root / FIXTURE
    said = run(tool, "check", "--root", case / "root", case / "perf.data",
               env=env)  # fmt: skip
    # 13 instructions: the case says so, and its writer counted them.
    expect(re.search(r"instructions +13\n", said), said)
    expect("every byte was decoded" in said, said)
    return env


def check_development(root, tree, triplet, cc, env):
    """Examples are built of the installed files alone, shared and static."""
    work = tree / "work"
    work.mkdir()
    pc = tree / f"usr/lib/{triplet}/pkgconfig"
    system = run("pkg-config", "--variable=pc_path", "pkg-config").strip()
    # A library that is installed on this system is not to be found.
    asked = dict(os.environ, PKG_CONFIG_LIBDIR=f"{pc}:{system}")
    flags = run("pkg-config", "--cflags", "--libs", "hwtdecode", env=asked)
    static = run("pkg-config", "--static", "--libs", "hwtdecode", env=asked)
    private = [w for w in static.split() if w != "-lhwtdecode"]
    source = root / "examples/c/build_in_memory.c"
    archive = tree / f"usr/lib/{triplet}/libhwtdecode.a"
    run(cc, "-std=c11", "-Wall", "-Werror", source, *flags.split(),
        "-o", work / "shared")  # fmt: skip
    run(cc, "-std=c11", f"-I{tree}/usr/include", source, archive, *private,
        "-o", work / "static")  # fmt: skip
    expect("libhwtdecode.so.0" in needed(work / "shared")[1], "not shared")
    said = run(work / "shared", env=env)
    expect(said == run(work / "static"), "shared and static differ")
    expect(said.startswith("process 42: 0x100000 2 bytes"), said)


def main(argv):
    root, build, cpack, cc, version = argv[1:]
    root = Path(root)
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            print(f"no {tool}: skipped")
            return SKIP
    triplet = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    with tempfile.TemporaryDirectory() as top:
        # dpkg is called by another user's programs, too.
        os.chmod(top, 0o755)
        made, tree = Path(top, "made"), Path(top, "tree")
        tree.mkdir()
        run(cpack, "-G", "DEB", "-B", made, cwd=build)
        debs = {p.name.split("_")[0]: p for p in made.glob("*.deb")}
        expect(set(debs) == PACKAGES, f"packages: {sorted(debs)}")
        check_fields(debs, version)
        for way in ("apt-get", "lintian"):
            if shutil.which(way) is None:
                continue
            if way == "apt-get":
                run(way, "install", "--simulate", "-q", *debs.values())
            else:
                run(way, "--fail-on", "error", *debs.values())
            print(f"{way}: no error")
        known = install(tree, debs)
        print("installed with", "dpkg" if known else "dpkg-deb")

        library = tree / f"usr/lib/{triplet}/libhwtdecode.so.0"
        soname, below, paths = needed(library)
        expect(soname == ["libhwtdecode.so.0"], f"SONAME {soname}")
        expect(not paths, f"the library looks in {paths}")
        lacks = owners(below, triplet) - depends(debs["libhwtdecode0"])
        expect(not lacks, f"libhwtdecode0 does not depend on {lacks}")
        tool = needed(tree / "usr/bin/hwtdecode")[1]
        expect("libhwtdecode.so.0" in tool, "the tool needs no library")
        below = set(tool) - {"libhwtdecode.so.0"}
        lacks = owners(below, triplet) - depends(debs["hwtdecode-tools"])
        expect(not lacks, f"hwtdecode-tools does not depend on {lacks}")
        for name in PACKAGES - {"libhwtdecode0"}:
            expect("libhwtdecode0" in depends(debs[name]), f"{name} alone")

        env = check_tool(root, tree, triplet, version)
        check_development(root, tree, triplet, cc, env)
        for page in ("man1/hwtdecode.1", "man3/hwtd_trace_open.3"):
            path = tree / f"usr/share/man/{page}.gz"
            expect(path.exists(), f"no {page}.gz")
        if known:
            # Most files of the packages are links of pages; none may stay.
            run(*dpkg(tree), "-P", *PACKAGES)
            left = [p for p in (tree / "usr").rglob("*") if not p.is_dir()]
            expect(not left, f"left behind: {left}")
        # Without the libraries below dpkg refuses.
        if known:
            status = tree / "var/lib/dpkg/status"
            text = status.read_text(encoding="utf-8")
            text = re.sub(r"(?m)^Package: libipt2\n(.+\n)*\n", "", text)
            status.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [*dpkg(tree), "-i", str(debs["libhwtdecode0"])],
                capture_output=True,
                text=True,
                check=False,
            )
            expect(
                done.returncode != 0 and "libipt2" in done.stderr,
                f"installed without libipt2: {done.stderr}",
            )
    print(f"{len(debs)} packages of {version}: installed, used, removed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
