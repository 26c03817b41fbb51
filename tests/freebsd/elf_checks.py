"""What readelf tells of a program or library that was made for FreeBSD."""

import re
import subprocess

# What the base system always links: libc and what stands beside it.
BASE = {"libc.so.7", "libthr.so.3", "libm.so.5"}

INTERPRETER = "/libexec/ld-elf.so.1"
# __FreeBSD_version of 15.0 and what comes after.
OLDEST, NEXT = 1500000, 1600000


class Failure(Exception):
    """Something about the builds for FreeBSD that is not as it should be."""


def readelf(*arguments):
    """Run readelf of binutils; wide lines, no translation."""
    return subprocess.run(
        ["readelf", "-W", *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
    ).stdout


class Elf:
    """One ELF file."""

    def __init__(self, path):
        self.path = path
        self.header = readelf("-h", path)
        self.dynamic = readelf("-d", path)
        self.symbols = readelf("--dyn-syms", path)

    def fail(self, message):
        """Say what is wrong with this file."""
        raise Failure(f"{self.path.name}: {message}")

    def machine(self):
        """The machine as readelf calls it."""
        return re.search(r"Machine:\s+(.*)", self.header).group(1).strip()

    def needed(self):
        """Names of the libraries that are loaded with it."""
        return set(re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic))

    def undefined(self):
        """Names of functions that others have, with their version or None."""
        found = {}
        for line in self.symbols.splitlines():
            words = line.split()
            if len(words) < 8 or words[6] != "UND":
                continue
            name, _, version = words[7].partition("@")
            found[name] = version.lstrip("@") or None
        return found

    def exported(self):
        """Names of functions that it has for others."""
        names = set()
        for line in self.symbols.splitlines():
            words = line.split()
            if len(words) >= 8 and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
                names.add(words[7].partition("@")[0])
        return names

    def version_of_system(self):
        """__FreeBSD_version of the ABI tag, by which the kernel knows it."""
        # Type 1 of the owner "FreeBSD"; readelf names types as GNU does.
        notes = readelf("-n", self.path)
        tag = re.search(
            r"FreeBSD\s+0x0*4\s+NT_VERSION.*?data: ((?:[0-9a-f]{2} ?){4})", notes
        )
        if tag is None:
            return None
        return int.from_bytes(bytes.fromhex(tag.group(1)), "little")

    def check(self, machine, libraries):
        """Raise Failure unless this is for FreeBSD on that machine.

        `libraries` has the names of functions of libraries beside the base
        system, by DT_NEEDED; every undefined symbol is of one that is needed, or
        has a version of the base system's libraries.
        """
        if self.machine() != machine:
            self.fail(f"is for {self.machine()}, not {machine}")
        if "UNIX - System V" not in self.header and "FreeBSD" not in self.header:
            self.fail("has the OS/ABI of another system")
        needed = self.needed()
        if "libc.so.7" not in needed:
            self.fail("does not load FreeBSD's libc")
        others = needed - BASE - set(libraries)
        if others:
            self.fail(f"loads {', '.join(sorted(others))}")
        theirs = set()
        for library in needed & set(libraries):
            theirs |= libraries[library]
        for name, version in self.undefined().items():
            if name not in theirs and not (version or "").startswith("FBSD_"):
                self.fail(f"nobody has {name}() of version {version}")

    def check_program(self):
        """Raise Failure unless FreeBSD would know this for a program of its own."""
        if INTERPRETER not in readelf("-l", self.path):
            self.fail(f"is not loaded by {INTERPRETER}")
        version = self.version_of_system()
        if version is None or not OLDEST <= version < NEXT:
            self.fail(f"has the ABI tag {version}, not that of FreeBSD 15")
