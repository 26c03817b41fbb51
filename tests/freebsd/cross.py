"""Cross-compile library and tool for FreeBSD with zig, and look at the result.

Libraries that FreeBSD has as packages are stood in for by stubs: shared objects
with the same names of functions, and nothing in them.  What is run is one object
file, on amd64: the system calls of a capture, with stand-ins for the calls.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from elf_checks import BASE, Elf, Failure

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77

# Machines as readelf calls them.
MACHINES = {
    "x86_64": "Advanced Micro Devices X86-64",
    "aarch64": "AArch64",
}

# Headers of the packages, and their modules of pkg-config if those are asked.
PACKAGES = {
    "ipt": (["intel-pt.h"], None),
    "opencsd_c_api": (["opencsd"], None),
    "zstd": (["zstd.h", "zstd_errors.h"], "libzstd"),
    "json-c": (["json-c"], "json-c"),
    "lzma": (["lzma.h", "lzma"], "liblzma"),
    "z": (["zlib.h", "zconf.h"], "zlib"),
    "Zydis": (["Zydis", "Zycore"], None),
    "capstone": (["capstone"], None),
}
# Of this one headers only are used.
XXHASH = ("xxhash.h", "libxxhash")
# Of FreeBSD's base system; zig has its headers.
LIBELF = ["libelf.h", "gelf.h"]

# The small program is linked from objects of these folders of src/, and has
# something of its own in the place of files that need other libraries.
LIBC_ONLY = ["base", "image", "record", "space", "trace", "capture", "decode"]
LIBC_ONLY_WITHOUT = {
    "hwt_zstd.c.o",
    "image_search.c.o",
    "address_filter.c.o",
    "address_filter_file.c.o",
    "address_filter_text.c.o",
    "capture_archive.c.o",
}


def find_zig():
    """The program of the package ziglang that ./dev installs, or None."""
    given = os.environ.get("HWTDECODE_ZIG")
    if given:
        return Path(given)
    found = sorted(ROOT.glob("build/zig/lib/python*/site-packages/ziglang/zig"))
    return found[-1] if found else None


def run(command, **options):
    """Run a command and return what it prints; show that if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode != 0:
        print(done.stdout)
        raise Failure(f"status {done.returncode}: {' '.join(words)[:200]}")
    return done.stdout


def functions_of(library):
    """C functions that a shared library of this machine exports."""
    names = set()
    for line in run(["nm", "-D", "--defined-only", library]).splitlines():
        words = line.split()
        name = words[-1].partition("@")[0]
        if words[-2] in "TW" and re.fullmatch(r"[A-Za-z]\w*", name):
            names.add(name)
    if not names:
        raise Failure(f"{library}: exports no function")
    return names


def functions_declared(headers):
    """Those of libelf, which may be others than on this machine."""
    names = set()
    for header in headers:
        text = header.read_text(encoding="utf-8")
        names |= set(re.findall(r"\b(g?elf(?:32|64)?_\w+)\(", text))
    if "elf_version" not in names:
        raise Failure(f"{headers[0]}: declares no elf_version()")
    return names


class Cross:
    """The build for one architecture."""

    def __init__(self, zig, arch, build, libraries):
        self.zig = zig.resolve()
        self.arch = arch
        self.build = build.resolve()
        self.libraries = libraries
        self.sysroot = self.build / "sysroot"
        self.tree = self.build / "tree"
        # Functions of the stubs, by the name that is loaded.
        self.stubs = {}
        # Each architecture has its own: the tests run side by side.
        cache = str(self.build / "zig-cache")
        self.env = dict(os.environ, ZIG_LOCAL_CACHE_DIR=cache, ZIG_GLOBAL_CACHE_DIR=cache)
        # No flags of the build that runs this.
        for name in ("CFLAGS", "LDFLAGS", "CPPFLAGS", "CMAKE_C_COMPILER_LAUNCHER"):
            self.env.pop(name, None)

    def cc(self, *arguments):
        """Run zig cc for the target."""
        target = f"{self.arch}-freebsd.15.0"
        return run([self.zig, "cc", "-target", target, *arguments], env=self.env)

    def stub(self, name, functions):
        """Make a shared object that has these functions."""
        lines = [".text"]
        for function in sorted(functions):
            lines += [f".globl {function}", f".type {function}, %function"]
            lines.append(f"{function}:")
        lines += [".byte 0", '.section .note.GNU-stack,"",%progbits', ""]
        source = self.build / f"stub-{name}.s"
        source.write_text("\n".join(lines), encoding="utf-8")
        soname = f"lib{name}.so"
        library = self.sysroot / "lib" / soname
        self.cc("-shared", "-nostdlib", f"-Wl,-soname,{soname}", "-o", library, source)
        self.stubs[soname] = functions

    def take_header(self, name):
        """A header, or a folder of them, as Debian has it."""
        for top in (Path("/usr/include"), Path("/usr/local/include")):
            if (top / name).exists():
                (self.sysroot / "include" / name).symlink_to(top / name)
                return
        raise Failure(f"{name} is not in /usr/include")

    def module(self, name, libs):
        """Tell pkg-config of a library of the target."""
        version = run(["pkg-config", "--modversion", name]).strip()
        text = (
            f"Name: {name}\nDescription: for FreeBSD\nVersion: {version}\n"
            f"Libs: {libs}\nCflags: -I{self.sysroot}/include\n"
        )
        path = self.sysroot / "libdata/pkgconfig" / f"{name}.pc"
        path.write_text(text, encoding="utf-8")

    def make_sysroot(self):
        """Headers of the packages, and stubs of their libraries."""
        shutil.rmtree(self.sysroot, ignore_errors=True)
        for folder in ("include", "lib", "libdata/pkgconfig"):
            (self.sysroot / folder).mkdir(parents=True)
        for name, (headers, module) in PACKAGES.items():
            for header in headers:
                self.take_header(header)
            self.stub(name, functions_of(self.libraries[name]))
            if module:
                self.module(module, f"-L{self.sysroot}/lib -l{name}")
        self.take_header(XXHASH[0])
        self.module(XXHASH[1], "")
        top = self.zig.parent / "lib/libc/include/generic-freebsd"
        for header in LIBELF:
            (self.sysroot / "include" / header).symlink_to(top / header)
        self.stub("elf", functions_declared([top / header for header in LIBELF]))
        # The C++ runtime of the base system.
        self.stub("cxxrt", {"__cxa_demangle"})

    def compile(self, jobs):
        """Library and tool; warnings are errors."""
        # What was found out with an earlier sysroot may not hold any more.
        (self.tree / "CMakeCache.txt").unlink(missing_ok=True)
        options = {
            "CMAKE_TOOLCHAIN_FILE": HERE / "toolchain.cmake",
            "HWTDECODE_ZIG": self.zig,
            "HWTDECODE_ARCH": self.arch,
            "HWTDECODE_SYSROOT": self.sysroot,
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_C_FLAGS_RELEASE": "-O1 -DNDEBUG",
            "HWTDECODE_WERROR": "ON",
            "HWTDECODE_BUILD_TESTS": "OFF",
            "HWTDECODE_BUILD_BENCH": "OFF",
            "HWTDECODE_BUILD_EXAMPLES": "ON",
        }
        run(
            ["cmake", "-S", ROOT, "-B", self.tree, "-G", "Ninja"]
            + [f"-D{name}={value}" for name, value in options.items()],
            env=self.env,
        )
        run(["ninja", "-C", self.tree, "-j", jobs, "-k", 0], env=self.env)

    def link_libc_only(self):
        """The small program, from objects of the library and libc alone."""
        objects = []
        for layer in LIBC_ONLY:
            top = self.tree / "src" / layer
            found = sorted(top.rglob("*.o"))
            if not found:
                raise Failure(f"no objects below {top}")
            objects += [
                path for path in found if path.name not in LIBC_ONLY_WITHOUT
            ]
        program = self.build / "libc_only"
        self.cc(
            *("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"),
            *(f"-I{ROOT / folder}" for folder in ("include", "src")),
            *(HERE / "libc_only.c", HERE / "no_zstd.c", HERE / "no_elf.c"),
            *objects,
            *("-Wl,--gc-sections", "-Wl,-z,defs", "-pthread", "-o", program),
        )
        return program

    def run_host_calls(self, compiler):
        """Run system_host_freebsd.c as it was compiled, with a kernel of ours."""
        tree = self.tree / "src/capture/CMakeFiles/hwtdecode-capture.dir"
        kernel = self.build / "host_kernel.o"
        self.cc(
            *("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIE"),
            *("-fno-sanitize=undefined", "-c", "-o", kernel),
            HERE / "host_kernel.c",
        )
        objects = []
        for path in (tree / "system_host_freebsd.c.o", kernel):
            # Else they would get the libc of this machine.
            prefixed = self.build / f"fb_{path.name}"
            run(["objcopy", "--prefix-symbols=fb_", path, prefixed])
            objects.append(prefixed)
        program = self.build / "host_calls"
        run(
            [compiler, "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra"]
            + ["-Werror", f"-I{ROOT / 'src'}", HERE / "host_calls.c", *objects]
            + ["-o", program]
        )
        print(run([program], timeout=120).strip())

    def check_headers(self):
        """The kernel's own header was there when layouts were compared."""
        deps = run(["ninja", "-C", self.tree, "-t", "deps"], env=self.env)
        of_object = deps.partition("hwt_abi_host.c.o:")[2].partition("\n\n")[0]
        for header in ("/sys/hwt.h", "/sys/hwt_record.h"):
            if header not in of_object:
                raise Failure(f"layouts were not compared with {header}")

    def check(self, libc_only):
        """Look at what was made."""
        machine = MACHINES[self.arch]
        library = Elf(self.tree / "src/libhwtdecode.so.0")
        library.check(machine, self.stubs)
        # Hidden by a standard that is asked for, or not found by CMake.
        if "getentropy" not in library.undefined():
            raise Failure("seeds of hashes do not come from getentropy()")
        tool = Elf(self.tree / "bin/hwtdecode")
        own = {"libhwtdecode.so.0": library.exported()}
        tool.check(machine, {**self.stubs, **own})
        tool.check_program()
        small = Elf(libc_only)
        small.check(machine, {})
        small.check_program()
        # Without these it would show nothing.
        for name in ("kevent", "kldnext", "pread", "socketpair", "sysctl"):
            if name not in small.undefined():
                raise Failure(f"libc_only does not use {name}()")
        for elf in (library, tool, small):
            theirs = sorted(elf.needed() - BASE)
            print(f"{elf.path.name}: {len(elf.undefined())} symbols of others;",
                  "needs libc" + "".join(f", {name}" for name in theirs))


def parse(argv):
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", choices=sorted(MACHINES), required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cc", default="cc", help="compiler of this machine")
    parser.add_argument(
        "--library", action="append", default=[], metavar="NAME=FILE",
        help="a library of this machine, whose functions a stub gets",
    )
    return parser.parse_args(argv)


def main(argv):
    """Build for one architecture and check it."""
    arguments = parse(argv)
    zig = find_zig()
    if zig is None or not zig.is_file():
        print("no zig: ./dev test installs it, which needs the network once")
        # Where everything can be installed, everything is tested.
        return 1 if os.environ.get("CI") else SKIPPED
    libraries = dict(text.split("=", 1) for text in arguments.library)
    try:
        arguments.build.mkdir(parents=True, exist_ok=True)
        cross = Cross(zig, arguments.arch, arguments.build, libraries)
        cross.make_sysroot()
        cross.compile(arguments.jobs)
        cross.check_headers()
        cross.check(cross.link_libc_only())
        # FreeBSD and Linux call functions alike there.
        if arguments.arch == "x86_64" == platform.machine():
            cross.run_host_calls(arguments.cc)
    except Failure as failure:
        print(f"freebsd {arguments.arch}: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
