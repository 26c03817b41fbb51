"""Names, lines and inlined functions, compared with llvm-symbolizer.

usage: symbols.py --tool HWTDECODE-SYMBOLS [--cc CC] [--addresses N] [--all]

Programs are compiled here, in C and C++ by gcc and clang, with DWARF 2 to 5,
split, packaged and compressed; and files of this system are taken as they are.
Of each some thousand addresses of code are asked for.  At least 99.9 % of all
have to be told alike; every other one is listed.  With --all many more files of
the system are compared.

Alike is: the same functions, by the names that linkers know, with the same
files, lines and columns.  What is told differently on purpose:

- Of symbols at one address any counts: which of them is told is a choice.
- Files that only symbols name (line 0) are not told.
- Symbols of a file with debug information are used: it takes those of the code's
  file only, and tells no function ("??") where that has none.
- A symbol without a size ends with its section.
- The folder of the compiler, where it is a relative one, is told once: it puts
  "./csu" in front of "./csu/init-first.c" of DWARF 5, whose folder 0 is that.

Not compared: split DWARF of clang of a program whose code is in one piece.
llvm-symbolizer 14 finds no lists of ranges there, and so no inlined functions.
"""

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
LEAST_ALIKE = 0.999

C_SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int key; struct node *left, *right; };
static inline int larger(int a, int b) { return a > b ? a : b; }
static int depth(const struct node *n)
{ return n == NULL ? 0 : 1 + larger(depth(n->left), depth(n->right)); }
static struct node *insert(struct node *n, int key)
{
	if (n == NULL) {
		n = calloc(1, sizeof(*n));
		if (n == NULL) abort();
		n->key = key;
	} else if (key < n->key) n->left = insert(n->left, key);
	else n->right = insert(n->right, key);
	return n;
}
static inline unsigned step(unsigned x) { return x * 1103515245u + 12345u; }
static inline unsigned twice(unsigned x) { return step(step(x)); }
int sum(const int *v, int n)
{ int s = 0; for (int i = 0; i < n; i++) s += v[i] * larger(i, v[i]); return s; }
int main(int argc, char **argv)
{
	struct node *root = NULL; unsigned x = (unsigned)argc; int v[64];
	for (int i = 0; i < 64; i++) { x = twice(x); v[i] = (int)(x >> 20); root = insert(root, v[i]); }
	printf("%d %d %s\n", depth(root), sum(v, 64), argc > 1 ? argv[1] : "");
	return strlen(argv[0]) > 1000;
}
"""

CXX_SOURCE = r"""
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
namespace shop {
struct item { int price; int with_tax(int p) const { return price * p + add(p); } static int add(int q) { return q ^ 0x55; } };
template <class T> T sum(const std::vector<T> &v) { T s{}; for (auto &e : v) s += e; return s; }
}
static int square(int a) { return a * a; }
int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < argc * 10; i++) m[std::to_string(i % 3)].push_back(square(i));
	shop::item a{argc}; int t = 0;
	for (auto &p : m) {
		std::sort(p.second.begin(), p.second.end(), [](int x, int y) { return square(x) > square(y); });
		t += shop::sum(p.second) + a.with_tax(t);
	}
	std::function<int(int)> f = [&](int q) { return q + t; };
	try { if (argc > 3) throw std::runtime_error(argv[1]); } catch (const std::exception &e) { puts(e.what()); }
	std::printf("%d\n", f(t));
	return t & 1;
}
"""

# Sources, compilers, and flags beside -O2.
PROGRAMS = [
    ("c", "gcc", "-gdwarf-4"),
    ("c", "gcc", "-gdwarf-5 -gz"),
    ("c", "gcc", "-gdwarf-2"),
    ("c", "clang", "-gdwarf-4 -gsplit-dwarf -ffunction-sections"),
    ("c", "clang", "-gdwarf-4"),
    ("cxx", "g++", "-gdwarf-5"),
    ("cxx", "g++", "-gdwarf-4 -gsplit-dwarf"),
    ("cxx", "g++", "-gdwarf-5 -gsplit-dwarf"),
    ("cxx", "g++", "-gdwarf-3 -O0"),
    ("cxx", "g++", "-g -flto"),
    ("cxx", "clang++", "-gdwarf-5"),
    ("cxx", "clang++", "-gdwarf-4"),
    ("cxx", "clang++", "-gdwarf-4 -gsplit-dwarf"),
    ("cxx", "clang++", "-gdwarf-5 -gsplit-dwarf"),
    ("cxx", "clang++", "-gdwarf-5 -gsplit-dwarf PACKAGE"),
    ("cxx", "clang++", "-gdwarf-5 -O0 -gz"),
]

# Of the system, with and without debug information.
SYSTEM = ["libc.so.6", "libstdc++.so.6", "libelf.so.1"]
MORE = 40


class Elf:
    """Executable segments and sections of a 64-bit little-endian file."""

    def __init__(self, path):
        data = path.read_bytes()
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: no 64-bit little-endian ELF file")
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phsize, phnum, shsize, shnum, names = struct.unpack_from("<5H", data, 54)
        self.loads = []
        for i in range(phnum):
            kind, _, off, vaddr, _, size = struct.unpack_from("<IIQQQQ", data, phoff + i * phsize)
            if kind == 1:
                self.loads.append((off, vaddr, size))
        sections = [
            struct.unpack_from("<IIQQQQ", data, shoff + i * shsize) for i in range(shnum)
        ]
        self.text = None
        for section in sections:
            start = sections[names][4] + section[0]
            if data[start : data.index(b"\0", start)] == b".text":
                self.text = (section[3], section[5])

    def offset(self, address):
        """Where the byte at an address is in the file."""
        for off, vaddr, size in self.loads:
            if vaddr <= address < vaddr + size:
                return off + address - vaddr
        raise ValueError(f"{address:#x} is not in the file")


def run(command, **options):
    """Run a command and return what it prints."""
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, errors="replace", check=True, **options
    ).stdout


def aliases(path):
    """Names of symbols by address, with those of the debug information."""
    found = {}
    for flags in ([], ["-D"]):
        done = subprocess.run(
            ["nm", *flags, str(path)], capture_output=True, text=True, errors="replace"
        )
        for line in done.stdout.splitlines():
            words = line.split(None, 2)
            if len(words) == 3:
                name = words[2].split("@")[0]
                found.setdefault(int(words[0], 16), set()).add(name)
    return found


def llvm_answers(llvm, path, addresses):
    """For each address a list of (function, file, line, column)."""
    text = run(
        [llvm, f"--obj={path}", "--no-demangle", "--inlines", "--output-style=LLVM"],
        input="".join(f"{address:#x}\n" for address in addresses),
    )
    answers = []
    for block in text.rstrip("\n").split("\n\n"):
        lines = block.split("\n")
        frames = []
        for function, place in zip(lines[::2], lines[1::2]):
            file, line, column = place.rsplit(":", 2)
            frames.append((function, file, int(line), int(column)))
        answers.append(frames)
    return answers


def our_answers(tool, path, elf, addresses, dirs):
    """For each address its symbol and frames."""
    text = run(
        [str(tool), str(path), *dirs],
        input="".join(f"{elf.offset(address):x}\n" for address in addresses),
    )
    answers = []
    for block in text.rstrip("\n").split("\n\n"):
        symbol, *frames = [line.split("\t") for line in block.split("\n")]
        answers.append(
            (
                symbol[1:],
                [
                    (f[2] if f[2] != "-" else f[1], f[3], int(f[4]), int(f[5]))
                    for f in frames
                ],
            )
        )
    return answers


def frames_known(frames):
    """It found the function in debug information, or in symbols."""
    return len(frames) > 1 or frames[0][0] != "??"


def once(file, ours):
    """A path without its folder twice, if that is what was told."""
    twice = re.fullmatch(r"(?P<folder>[^/].*)/(?P=folder)(?P<file>/.*)", file)
    if twice and twice["folder"] + twice["file"] == ours:
        return ours
    return file


def differs(ours, theirs, names):
    """What is told differently; "" if nothing is."""
    symbol, frames = ours
    known = names.get(int(symbol[1], 16), set()) | {symbol[0].split("@")[0]}
    if not frames:
        frames = [(symbol[0], "-", 0, 0)]
    if len(frames) != len(theirs):
        return f"{len(frames)} functions, not {len(theirs)}"
    for i, (our, their) in enumerate(zip(frames, theirs)):
        last = i == len(frames) - 1
        function = their[0].split("@")[0]
        if function == "??":
            function = our[0] if last and not frames_known(theirs) else "-"
        if function in ("_init", "_fini") and our[0] == "-":
            continue
        # It takes the name of the outermost one from symbols.
        if function != our[0] and not (last and function in known):
            return f"function {our[0]} ({symbol[0]}), not {function}"
        if their[2] == 0:
            if our[2] != 0:
                return f"line {our[2]}, and none"
            continue
        if (our[1], *our[2:]) != (once(their[1], our[1]), *their[2:]):
            return f"{our[1:]}, not {their[1:]}"
    return ""


class Comparison:
    """Counts over all files."""

    def __init__(self, tool, llvm, most):
        self.tool, self.llvm, self.most = tool, llvm, most
        self.asked = self.differ = self.inlined = 0

    def compare(self, path, name, dirs=()):
        """Ask both for addresses of one file."""
        elf = Elf(path)
        if elf.text is None:
            return
        start, size = elf.text
        step = max(1, size // self.most)
        # Not the same byte of each instruction of a fixed size.
        addresses = [start + i for i in range(0, size, step)]
        theirs = llvm_answers(self.llvm, path, addresses)
        ours = our_answers(self.tool, path, elf, addresses, dirs)
        if len(ours) != len(addresses) or len(theirs) != len(addresses):
            raise SystemExit(f"{name}: {len(ours)} and {len(theirs)} answers to {len(addresses)}")
        names = aliases(path)
        n = 0
        for address, our, their in zip(addresses, ours, theirs):
            self.inlined += len(our[1]) > 1
            why = differs(our, their, names)
            if why:
                n += 1
                if n <= 10:
                    print(f"  {name} {address:#x}: {why}")
        self.asked += len(addresses)
        self.differ += n
        print(f"{name}: {len(addresses)} addresses, {n} told differently")


def build(folder, kind, compiler, flags):
    """Compile a program; None if the compiler cannot do that."""
    source = folder / ("program.c" if kind == "c" else "program.cc")
    source.write_text(C_SOURCE if kind == "c" else CXX_SOURCE, encoding="utf-8")
    words = flags.replace("PACKAGE", "").split()
    out = folder / "program"
    # Split parts lie beside the object, whose name has to be known.
    done = subprocess.run(
        [compiler, "-O2", *words, "-c", "-o", "program.o", str(source)],
        cwd=folder, capture_output=True, text=True,
    )
    if done.returncode == 0:
        done = subprocess.run(
            [compiler, "-O2", *words, "-o", "program", "program.o"],
            cwd=folder, capture_output=True, text=True,
        )
    if done.returncode != 0:
        return None
    if "PACKAGE" in flags:
        dwp = shutil.which("llvm-dwp")
        if dwp is None:
            return None
        run([dwp, "-e", "program", "-o", "program.dwp"], cwd=folder)
        for part in folder.glob("*.dwo"):
            part.unlink()
    return out


def system_files(more):
    """Libraries of this system."""
    folders = [Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib/aarch64-linux-gnu"), Path("/lib64")]
    found = []
    for folder in folders:
        found += [folder / name for name in SYSTEM if (folder / name).is_file()]
        if more and folder.is_dir():
            found += sorted(p for p in folder.glob("*.so*") if p.is_file() and not p.is_symlink())[:more]
    return found


def main(argv):
    """Compare all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--addresses", type=int, default=int(os.environ.get("HWTDECODE_SYMBOLS", "400")),
                        help="of each file")
    parser.add_argument("--all", action="store_true", help="and of many files of the system")
    parser.add_argument("--file", type=Path, action="append", default=[], help="only these files")
    arguments = parser.parse_args(argv)
    llvm = shutil.which("llvm-symbolizer")
    if llvm is None or shutil.which("nm") is None:
        print("no llvm-symbolizer or nm: install the packages llvm and binutils")
        return SKIPPED
    comparison = Comparison(arguments.tool.resolve(), llvm, arguments.addresses)
    for path in arguments.file:
        comparison.compare(path, path.name)
    for kind, compiler, flags in [] if arguments.file else PROGRAMS:
        if shutil.which(compiler) is None:
            continue
        with tempfile.TemporaryDirectory() as name:
            program = build(Path(name), kind, compiler, flags)
            if program is not None:
                comparison.compare(program, f"{compiler} {flags}")
            else:
                print(f"{compiler} {flags}: cannot be built here")
    for path in [] if arguments.file else system_files(MORE if arguments.all else 0):
        comparison.compare(path, path.name)
    alike = 1 - comparison.differ / max(1, comparison.asked)
    print(f"{comparison.asked} addresses, {comparison.inlined} of inlined functions; "
          f"{comparison.differ} told differently: {100 * alike:.3f} % alike")
    # Without inlined functions it would show nothing.
    if not arguments.file and comparison.inlined == 0:
        return 1
    return 0 if comparison.asked and alike >= LEAST_ALIKE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
