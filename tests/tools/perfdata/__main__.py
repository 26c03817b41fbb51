"""Command line of the writer: rebuild and check cases."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hwtasm import AsmError
from hwtasm.writer import index

from . import PerfDataError
from .case import FAMILY, SOURCE, Case, read_case
from .chance import random_case
from .chance_etm import random_etm
from .chance_spe import random_spe
from .perf import check_all


def scenarios(root: Path) -> list[Path]:
    """Return all scenarios below the folder of the fixtures."""
    return sorted((root / FAMILY).glob(f"*/{SOURCE}"))


def outputs(path: Path) -> dict[str, bytes]:
    """Return the files of a case; name the case of a mistake."""
    try:
        return read_case(path).outputs()
    except (AsmError, PerfDataError) as error:
        raise PerfDataError(f"{path.parent.name}: {error}") from None


def drift(root: Path) -> list[str]:
    """Return what differs between scenarios and the files beside them."""
    out = []
    for path in scenarios(root):
        where = path.parent.relative_to(root)
        files = outputs(path)
        present = {item.relative_to(path.parent).as_posix()
                   for item in path.parent.rglob("*")
                   if item.is_file() and "__pycache__" not in item.parts}
        out += [f"{where}/{name}: not made by the scenario"
                for name in sorted(present - set(files) - {SOURCE})]
        for name, data in files.items():
            if name not in present:
                out.append(f"{where}/{name}: missing")
            elif (path.parent / name).read_bytes() != data:
                out.append(f"{where}/{name}: differs")
    if not out and (root / "index.json").read_bytes() != index(root):
        out.append("index.json: differs")
    return out


def write_random(folder: Path, args: argparse.Namespace
                 ) -> list[tuple[Case, Path]]:
    """Write random cases."""
    out = []
    for seed in range(args.seed, args.seed + args.count):
        for make in (random_case, random_etm, random_spe):
            case = make(seed, args.steps)
            where = folder / case.name
            write(where, case.outputs())
            out.append((case, where))
    return out


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        where = folder / name
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data)


def rebuild(root: Path, only: list[str]) -> int:
    """Write the files of cases, and the index."""
    paths = [path for path in scenarios(root)
             if not only or path.parent.name in only]
    for path in paths:
        files = outputs(path)
        for item in path.parent.rglob("*"):
            name = item.relative_to(path.parent).as_posix()
            if item.is_file() and name not in files and name != SOURCE:
                item.unlink()
        write(path.parent, files)
    (root / "index.json").write_bytes(index(root))
    return len(paths)


def main(argv: list[str]) -> int:
    """Run one command."""
    sys.dont_write_bytecode = True
    parser = argparse.ArgumentParser(
        prog="perfdata", description="Make perf.data files with answers.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare cases with scenarios")
    check.add_argument("fixtures", type=Path)
    build = commands.add_parser("rebuild", help="write cases and the index")
    build.add_argument("fixtures", type=Path)
    build.add_argument("case", nargs="*", help="only these")
    chance = commands.add_parser("random",
                                 help="write random cases")
    chance.add_argument("out", type=Path, help="the folder of their family")
    asked = commands.add_parser("perf", help="ask perf to read the cases")
    asked.add_argument("fixtures", type=Path)
    asked.add_argument("case", nargs="*", help="only these")
    for command, count in ((chance, 10), (asked, 0)):
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--count", type=int, default=count,
                             help="how many random cases of a kind")
        command.add_argument("--steps", type=int, default=120)
    args = parser.parse_args(argv)
    try:
        if args.command == "rebuild":
            print(f"{rebuild(args.fixtures, args.case)} cases written")
            return 0
        if args.command == "random":
            print(f"{len(write_random(args.out, args))} cases written")
            return 0
        if args.command == "perf":
            with tempfile.TemporaryDirectory() as folder:
                return check_all([
                    (read_case(path), path.parent)
                    for path in scenarios(args.fixtures)
                    if not args.case or path.parent.name in args.case
                ] + write_random(Path(folder), args))
        found = drift(args.fixtures)
        print("\n".join(found) or "no drift")
        return 1 if found else 0
    except (AsmError, PerfDataError, OSError) as error:
        print(f"perfdata: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
