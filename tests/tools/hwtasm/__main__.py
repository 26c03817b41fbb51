"""Command line of the assembler: build, check, list."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import AsmError
from .casefile import Case, read_case
from .packets import packets
from .writer import SOURCE, case_files, index, write_case


def load(path: Path) -> Case:
    """Read a case; the folder it lies in must carry its name."""
    case = read_case(path.read_text())
    folder = path.resolve().parent
    if path.name == SOURCE and (folder.parent.name, folder.name) != (
            case.family, case.name):
        raise AsmError(f"the folder is not {case.family}/{case.name}")
    return case


def drift(root: Path) -> list[str]:
    """Return what differs between the case texts and the files beside."""
    out = []
    for path in sorted(root.glob(f"*/*/{SOURCE}")):
        where = path.parent.relative_to(root)
        try:
            files = case_files(load(path))
        except AsmError as error:
            out.append(f"{where}: {error}")
            continue
        present = {item.relative_to(path.parent).as_posix()
                   for item in path.parent.rglob("*") if item.is_file()}
        for name in sorted(present - set(files) - {SOURCE}):
            out.append(f"{where}/{name}: not made by the case text")
        for name, data in files.items():
            if name not in present:
                out.append(f"{where}/{name}: missing")
            elif (path.parent / name).read_bytes() != data:
                out.append(f"{where}/{name}: differs")
    listed = root / "index.json"
    if not out and not (listed.is_file()
                        and listed.read_bytes() == index(root)):
        out.append("index.json: differs")
    return out


def rebuild(root: Path) -> int:
    """Write the files of every case below a root, and the index."""
    paths = sorted(root.glob(f"*/*/{SOURCE}"))
    for path in paths:
        try:
            write_case(load(path), path.parent)
        except AsmError as error:
            raise AsmError(f"{path}: {error}") from None
    (root / "index.json").write_bytes(index(root))
    return len(paths)


def listing(case: Case) -> list[str]:
    """Return addresses, offsets and bytes, for a reviewer."""
    out = [f"{insn.address:>12x}  {insn.data.hex():<20}  {insn.kind}"
           for _, insn in sorted(case.program.insns.items())]
    out += [f"{packet.offset:>12x}  {packet.data.hex():<20}  {packet.text}"
            for part in case.parts.values() for packet in part.stream.packets]
    return out


def main(argv: list[str]) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(
        prog="hwtasm", description="Assemble test traces with their answers.")
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="write one case directory")
    build.add_argument("case", type=Path)
    build.add_argument("outdir", type=Path)
    shown = commands.add_parser("list", help="print code and packets")
    shown.add_argument("case", type=Path)
    alone = commands.add_parser("packets",
                                help="write the bytes of packets alone")
    alone.add_argument("text", type=Path)
    alone.add_argument("out", type=Path)
    for name, text in (("check", "compare all cases with their texts"),
                       ("rebuild", "write all cases and the index again")):
        command = commands.add_parser(name, help=text)
        command.add_argument("fixtures", type=Path)
    args = parser.parse_args(argv)
    try:
        if args.command == "build":
            write_case(load(args.case), args.outdir)
        elif args.command == "list":
            print("\n".join(listing(load(args.case))))
        elif args.command == "packets":
            args.out.write_bytes(packets(args.text.read_text()))
        elif args.command == "rebuild":
            print(f"{rebuild(args.fixtures)} cases written")
        else:
            found = drift(args.fixtures)
            print("\n".join(found) or "no drift")
            return 1 if found else 0
    except (AsmError, OSError) as error:
        print(f"hwtasm: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
