"""Run what documentation shows, and compare what it prints.

usage: shown.py --tool HWTDECODE [--only python] [options] ROOT PAGE ...
       shown.py --tool HWTDECODE --self-test ROOT

A page is Markdown or mdoc.  Its commands are lines that begin with "$ ", or "# "
before hwtdecode for those of root: in fenced blocks of the kind "console", or in
displays.  They run in order in one shell, in a folder where "fixtures" and "bindings"
are those of this repository.  A line that ends in a backslash or "|" goes on in the next
one, and here-documents up to their end.

Lines below a command are what it prints, errors last; "..." stands for any lines, or
inside of a line for any characters.  Without lines nothing is compared.  A command
has to succeed, unless "$ echo $?" comes next.

Files that readers have, and this repository has not, are made first: by the Markdown
comments that begin with "<!-- run", or for mdoc by tests/tools/shown_files.py, which
is told the name of the page.  Blocks of the kind "c" compile; a comment "<!-- c" in
front of one has the program around it, where "@@" is.  Blocks of the kind "python"
run, where a Python with the package is given.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PATIENCE = 120
SKIP = 77

# Programs of others, which need not be there; where CI is set they have to.
OTHERS = {
    "clang": ("clang-22", "clang"),
    "genhtml": ("genhtml",),
    "jq": ("jq",),
    "llvm-profgen": ("llvm-profgen-22",),
}


# What records does so on the simulated kernel; its first process is 101.
RECORD = """\
if [ "$1" = record ]; then
	case "$*" in *"--tech spe"*) HWTDECODE_SIM_SCRIPT=spe.script ;; esac
	for word; do
		shift
		[ "$word" != 4711 ] || word=101
		set -- "$@" "$word"
	done
	PATH=$PWD/programs:$PATH
	export PATH HWTDECODE_SIM_SCRIPT
	exec {simulated} "$@"
fi
"""


class Shown:
    """A command of a page, and what the page says that it prints."""

    def __init__(self, line: int, command: str) -> None:
        self.line = line
        self.command = command
        self.output: list[str] = []


def is_open(command: str) -> bool:
    """Whether a command goes on in the next line."""
    last = command.rsplit("\n", 1)[-1].rstrip()
    here = re.search(r"<<-?\s*'?(\w+)'?", command.split("\n", 1)[0])
    if here and "\n" in command:
        return command.rsplit("\n", 1)[-1].strip() != here.group(1)
    return here is not None or last.endswith(("\\", "|"))


def of_block(lines: list[tuple[int, str]]) -> list[Shown]:
    """The commands of one block."""
    found: list[Shown] = []
    going_on = False
    for number, line in lines:
        if going_on:
            found[-1].command += "\n" + line
            going_on = is_open(found[-1].command)
        elif line.startswith("$ ") or line.startswith("# hwtdecode "):
            found.append(Shown(number, line[2:]))
            going_on = is_open(found[-1].command)
        elif found:
            found[-1].output.append(line)
    for one in found:
        while one.output and not one.output[-1].strip():
            one.output.pop()
    return found


def of_mdoc(text: str) -> list[Shown]:
    """The commands of a manual page."""
    found: list[Shown] = []
    block: list[tuple[int, str]] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.replace("\\(dq", '"').replace("\\&", "")
        line = line.replace("\\e", "\\")
        if line.startswith(".Bd "):
            block = []
        elif line == ".Ed":
            found += of_block(block or [])
            block = None
        elif block is not None:
            block.append((number, line))
        elif line.startswith((".Dl $ ", ".Dl # ")):
            found += of_block([(number, line[4:])])
    return found


class Part:
    """A block of a Markdown page: its kind, first line and text."""

    def __init__(self, kind: str, line: int, text: str) -> None:
        self.kind = kind
        self.line = line
        self.text = text


def of_markdown(text: str) -> list[Part]:
    """Fenced blocks and comments that say what to do, in order."""
    found = []
    pattern = re.compile(
        r"^```(\w+)\n(.*?)^```$|^<!-- (run|c)\n(.*?)^-->$", re.M | re.S
    )
    for match in pattern.finditer(text):
        fenced = match.group(1) is not None
        kind = match.group(1) if fenced else match.group(3) + "-comment"
        body = match.group(2) if fenced else match.group(4)
        line = text.count("\n", 0, match.start()) + 2
        found.append(Part(kind, line, body))
    return found


def same(want: list[str], got: list[str]) -> bool:
    """Whether lines are what a page shows."""
    pattern = ""
    for line in want:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            parts = re.split(r"\.\.\.", line.rstrip())
            pattern += ".*".join(map(re.escape, parts)) + r"\n"
    text = "".join(line.rstrip() + "\n" for line in got)
    return re.fullmatch(pattern, text) is not None


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    text: str


class Folder:
    """Where the commands of a page run."""

    def __init__(self, root: Path, args: argparse.Namespace) -> None:
        self.args = args
        self.root = root
        self.made = tempfile.TemporaryDirectory(prefix="hwtdecode-shown-")
        top = Path(self.made.name)
        self.work = top / "work"
        self.work.mkdir()
        self.bin = top / "bin"
        self.bin.mkdir()
        for name in "fixtures", "bindings":
            (self.work / name).symlink_to(root / name)
        self.absent: set[str] = set()
        self.status = 0
        self.process: subprocess.Popen[str] | None = None
        tool, simulated = args.tool, args.simulated
        record = RECORD.format(simulated=simulated) if simulated else ""
        self.program("hwtdecode", f'{record}exec {tool} "$@"\n')
        (self.bin / "python3").symlink_to(sys.executable)
        for name, choice in OTHERS.items():
            paths = [p for p in map(shutil.which, choice) if p]
            if paths:
                (self.bin / name).symlink_to(paths[0])
            else:
                self.absent.add(name)

    def program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def environment(self) -> dict[str, str]:
        plain = {
            name: value
            for name, value in os.environ.items()
            if name not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS")
        }
        plain.update(
            HOME=str(self.work),
            PATH=f"{self.bin}:{os.environ['PATH']}",
            ROOT=str(self.root),
            FIXTURES=str(self.root / "fixtures"),
            HWTDECODE=str(self.args.tool),
            PYTHON=sys.executable,
            PTCAPTURE=str(self.args.ptcapture or ""),
            HWTDECODE_SIM_SCRIPT="sim.script",
            LC_ALL="C.UTF-8",
        )
        return plain

    def shell(self, text: str) -> Done:
        """Run a command; directory and variables stay for the next one."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                # What is in front of a pipe has to succeed, too.
                ["bash", "-o", "pipefail"],
                cwd=self.work,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        top = self.bin.parent
        (top / "command").write_text(f"(exit {self.status})\n{text}\n")
        pipes = self.process.stdin, self.process.stdout
        assert pipes[0] is not None and pipes[1] is not None
        pipes[0].write(
            f". {top}/command >{top}/out 2>{top}/err </dev/null\necho $?\n"
        )
        pipes[0].flush()
        if not select.select([pipes[1]], [], [], PATIENCE)[0]:
            self.process.kill()
        # A command that is no shell command ends the shell.
        told = pipes[1].readline().strip()
        self.status = int(told) if told else self.process.wait()
        texts = [
            (top / name).read_bytes().decode("utf-8", "backslashreplace")
            for name in ("out", "err")
        ]
        return Done(self.status, "".join(texts))

    def close(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
        self.made.cleanup()


class Page:
    """A page that is looked at."""

    def __init__(self, path: Path, folder: Folder, text: str) -> None:
        self.path = path
        self.folder = folder
        self.text = text
        self.failed: list[str] = []
        self.runs = 0
        # Line of a "?" -> what was printed.
        self.answers: dict[int, list[str]] = {}

    def fail(self, line: int, what: str) -> None:
        self.failed.append(f"{self.path.name}:{line}: {what}")

    def prepare(self, text: str) -> None:
        done = self.folder.shell(
            f"(set -e\ncd {self.folder.work}\n{text}\n)"
        )
        if done.status:
            self.fail(1, f"no files:\n{done.text}")
        self.folder.status = 0

    def commands(self, found: list[Shown]) -> None:
        for i, shown in enumerate(found):
            words = set(re.findall(r"[\w-]+", shown.command))
            lacks = words & self.folder.absent
            if lacks and shown.command.split()[0] in lacks:
                if "CI" in os.environ:
                    self.fail(shown.line, f"{lacks} not installed")
                print(f"no {lacks}: not run: {shown.command}")
                continue
            done = self.folder.shell(shown.command)
            self.runs += 1
            got = done.text.splitlines()
            asked = i + 1 < len(found) and found[i + 1].command == "echo $?"
            if done.status != 0 and not asked:
                self.fail(
                    shown.line,
                    f"exit {done.status} of: {shown.command}\n"
                    + "\n".join(got[-20:]),
                )
            elif "?" in shown.output:
                self.answers[shown.line] = got
                self.fail(shown.line, "what it prints is not told")
            elif shown.output and not same(shown.output, got):
                self.fail(
                    shown.line,
                    f"other output of: {shown.command}\n" + "\n".join(got),
                )

    def c_program(self, line: int, text: str) -> None:
        done = subprocess.run(
            [*self.folder.args.cc.split(), "-std=c11", "-Wall", "-Wextra",
             "-Werror", "-fsyntax-only",
             f"-I{self.folder.root / 'include'}",
             f"-I{self.folder.root / 'src'}", "-xc", "-"],
            input=text, capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.runs += 1
        if done.returncode:
            self.fail(line, "does not compile:\n" + done.stderr)

    def python(self, parts: list[Part]) -> None:
        interpreter = self.folder.args.python
        if interpreter is None or not parts:
            return
        script = "".join(
            "\n" * (part.line - 1 - before) + part.text
            for part, before in zip(
                parts,
                [0, *(p.line - 1 + p.text.count("\n") for p in parts)],
            )
        )
        name = self.folder.work / f"{self.path.stem}.py"
        name.write_text(script)
        done = subprocess.run(
            [interpreter, name.name],
            cwd=self.folder.work,
            env=self.folder.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        name.unlink()
        self.runs += len(parts)
        if done.returncode:
            self.fail(parts[0].line, "python:\n" + done.stderr)

    def mdoc(self) -> None:
        found = of_mdoc(self.text)
        if found:
            script = self.folder.root / "tests" / "tools" / "shown_files.py"
            self.prepare(f"$PYTHON {script} {self.path.name}")
        self.commands(found)
        for match in re.finditer(r"^(#include.*?)^\.Ed$", self.text,
                                 re.M | re.S):  # fmt: skip
            self.c_program(
                self.text.count("\n", 0, match.start()) + 1,
                match.group(1).replace("\\e", "\\"),
            )

    def markdown(self) -> None:
        parts = of_markdown(self.text)
        if self.folder.args.only:
            self.python([part for part in parts if part.kind == "python"])
            return
        # In one go: what is asked of a command may stand in the next block.
        pending: list[Shown] = []
        around = "@@"
        for part in parts:
            if part.kind == "run-comment":
                self.commands(pending)
                pending = []
                self.prepare(part.text)
            elif part.kind == "console":
                pending += of_block(
                    list(enumerate(part.text.splitlines(), part.line))
                )
            elif part.kind == "c-comment":
                around = part.text
            elif part.kind == "c":
                self.c_program(part.line, around.replace("@@", part.text))
                around = "@@"
        self.commands(pending)
        self.python([part for part in parts if part.kind == "python"])

    def check(self) -> bool:
        if self.path.suffix == ".md":
            self.markdown()
        else:
            self.mdoc()
        if not self.runs and not self.folder.args.only:
            self.fail(1, "nothing to run")
        self.folder.close()
        for what in self.failed:
            print(what)
        print(
            f"{self.path.name}: {self.runs} run, {len(self.failed)} findings"
        )
        return not self.failed

    def write(self) -> None:
        """Put what was printed in place of "?"."""
        lines = self.text.splitlines()
        for line, got in sorted(self.answers.items(), reverse=True):
            at = lines.index("?", line - 1)
            lines[at : at + 1] = [one.rstrip() for one in got]
        self.path.write_text("\n".join(lines) + "\n")


SELF_TESTS = [
    # Whether it is fine, suffix, text.
    (True, ".md", "```console\n$ hwtdecode version\nhwtdecode ...\n...\n```"),
    (True, ".md", "```console\n$ hwtdecode info no.hwt\n$ echo $?\n1\n```"),
    (True, ".md", "<!-- run\necho 1 >x\n-->\n```console\n$ cat x\n1\n```"),
    (True, ".md", "```console\n$ cat <<END\na\nEND\na\n```"),
    (True, ".md", "```console\n$ a=b; cd /\n$ echo $a $PWD\nb /\n```"),
    (True, ".md", "```console\n$ echo a |\n  cat\na\n```"),
    (True, ".1", ".Dl $ hwtdecode help info"),
    (True, ".1", ".Bd -literal\n$ echo 'a\\(dq' \\e\n    b\na\\(dq b\n.Ed"),
    (True, ".md", "```c\nint f(void);\n```"),
    (True, ".md", "<!-- c\nint f(void) {\n@@\n}\n-->\n```c\nreturn (1);\n```"),
    (False, ".md", "```console\n$ hwtdecode version\nhwtdecode\n```"),
    (False, ".md", "```console\n$ hwtdecode version --no-such\n```"),
    (False, ".md", "```console\n$ hwtdecode info no.hwt\n```"),
    (False, ".md", "```console\n$ hwtdecode info no.hwt\n$ echo $?\n0\n```"),
    (False, ".md", "```console\n$ echo a\nb\n```"),
    (False, ".md", "```console\n$ case\n```"),
    (False, ".md", "```console\n$ hwtdecode info no.hwt | cat\n```"),
    (False, ".md", "```console\n$ echo a\na\nb\n```"),
    (False, ".md", "```console\n$ echo a\n?\n```"),
    (False, ".md", "nothing"),
    (False, ".md", "```c\nreturn (1);\n```"),
    (False, ".1", ".Dl $ hwtdecode help inf"),
    (False, ".1", ".Dl # hwtdecode info no.hwt"),
    (False, ".1", ".Bd -literal\n$ hwtdecode info \\e\n    --bad x\n.Ed"),
    (False, ".3", "#include <hwtdecode/none.h>\n.Ed"),
]  # fmt: skip


def self_test(root: Path, args: argparse.Namespace) -> int:
    failed = 0
    for fine, suffix, text in SELF_TESTS:
        folder = Folder(root, args)
        page = Page(Path(f"none{suffix}"), folder, text + "\n")
        if page.check() != fine:
            failed += 1
            print(f"judged wrongly: {text!r}")
    print(f"{len(SELF_TESTS)} pages, {failed} judged wrongly")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=Path)
    parser.add_argument("--simulated", type=Path)
    parser.add_argument("--ptcapture", type=Path)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--only", choices=["python"])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("root", type=Path)
    parser.add_argument("pages", nargs="*", type=Path)
    args = parser.parse_args()
    for name in "tool", "simulated", "ptcapture":
        if getattr(args, name):
            setattr(args, name, getattr(args, name).resolve())
    root = args.root.resolve()
    if args.self_test:
        return self_test(root, args)
    fine = True
    runs = 0
    for path in args.pages:
        page = Page(path, Folder(root, args), path.read_text("utf-8"))
        fine &= page.check()
        runs += page.runs
        if args.write and page.answers:
            page.write()
    return 0 if fine and runs else 1


if __name__ == "__main__":
    sys.exit(main())
