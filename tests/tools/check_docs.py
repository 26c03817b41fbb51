"""Check that every public function is explained, listed and tested.

usage: check_docs.py [--cc CC] ROOT
       check_docs.py --tool HWTDECODE ROOT

Each function of the public headers has a comment there (a group of declarations
without empty lines shares one), a place in libhwtdecode(3), and at least one test
that calls it.  docs/gaps.md and hwtdecode(1) have the reasons of gaps that event.h has.
Links of Markdown pages lead somewhere.  With --tool: README.md names each command.
What pages show is run by shown.py.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "abi"))

from public_api import Api  # noqa: E402


def commented(headers):
    """Names of the functions that follow a documentation comment."""
    found = set()
    for header in headers:
        text = header.read_text(encoding="utf-8")
        for _, group in re.findall(
            r"(/\*\*(?:(?!\*/).)*\*/)\n((?:[^\n]+\n)+)", text, re.S
        ):
            if "HWTD_API" in group or "HWTD_MUST" in group:
                found.update(re.findall(r"\b(hwtd_\w+)\(", group))
    return found


def words(paths):
    """All identifiers in files."""
    found = set()
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(re.findall(r"\bhwtd_\w+", text))
    return found


def gap_errors(root):
    """What docs/gaps.md and hwtdecode(1) say of reasons that is not so."""
    header = (root / "include" / "hwtdecode" / "event.h").read_text()
    reasons = re.findall(r"^\tHWTD_GAP_([A-Z_]+) = \d+", header, re.M)
    names = [reason.lower().replace("_", "-") for reason in reasons]
    page = (root / "docs" / "gaps.md").read_text()
    parts = re.split(r"^## (.*)$", page, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2]))
    errors = []
    if list(sections) != names:
        errors.append(f"docs/gaps.md has the sections {list(sections)}")
    if re.findall(r"^\| \[`([a-z-]+)`\]\(#\1\) \|", page, re.M) != names:
        errors.append("docs/gaps.md: the table has other reasons")
    for reason, name in zip(reasons, names):
        text = sections.get(name, "")
        shown = re.search(rf"```console\n[^`]*\b{name}\b", text)
        told = "No fixture shows" in " ".join(text.split())
        if f"`HWTD_GAP_{reason}`" not in text:
            errors.append(f"docs/gaps.md: {name}: not called by its name in C")
        if "**What to do**" not in text:
            errors.append(f"docs/gaps.md: {name}: nothing to do")
        if (shown is None) != told:
            errors.append(f"docs/gaps.md: {name}: shown, or said not to be?")
    man = (root / "src" / "man" / "hwtdecode.1").read_text()
    man = man.split("\n.Sh GAPS\n")[1].split("\n.Sh ")[0]
    if ["unknown", *re.findall(r"^\.It Li ([a-z-]+)$", man, re.M)] != names:
        errors.append("hwtdecode.1: GAPS has other reasons")
    return errors


def link_errors(root):
    """Links of Markdown pages to files and sections that are not there."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"),
             root / "src" / "README.md"]
    errors = []
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists():
                errors.append(f"{page.relative_to(root)}: no {link}")
            elif anchor and anchor not in anchors(target.read_text()):
                errors.append(f"{page.relative_to(root)}: no section {link}")
    return errors


def anchors(text):
    """What sections of a page are called in links."""
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in titles
    }


def readme_errors(root, tool):
    """Commands, headers and options that README.md has no word of."""
    readme = (root / "README.md").read_text()
    table = subprocess.run([tool, "help"], check=True, capture_output=True,
                           text=True).stdout.split("Commands:\n")[1]
    commands = re.findall(r"^  ([a-z]+)  ", table, re.M)
    assert len(commands) > 10, commands
    return [f"README.md: no word of the command {name}" for name in commands
            if not re.search(rf"`{name}`|hwtdecode {name}\b", readme)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--tool", type=Path)
    parser.add_argument("root", type=Path)
    args = parser.parse_args()
    if args.tool:
        errors = readme_errors(args.root, args.tool.resolve())
        print("\n".join([*errors, f"{len(errors)} findings"]))
        return 1 if errors else 0

    api = Api(args.root, args.cc)
    page = (args.root / "src" / "man" / "libhwtdecode.3").read_text()
    listed = set(re.findall(r"^\.F[no] (hwtd_\w+)", page, re.M))
    tests = [
        path
        for path in (args.root / "tests").rglob("*")
        if path.suffix in (".c", ".py") and path.name != Path(__file__).name
    ]
    places = {
        "no comment in its header": commented(api.headers),
        "not in libhwtdecode.3": listed,
        "no test calls it": words(tests),
    }
    functions = api.functions()
    failed = 0
    for error in [*gap_errors(args.root), *link_errors(args.root)]:
        print(error)
        failed += 1
    for name in functions:
        for what, names in places.items():
            if name not in names:
                print(f"{name}: {what}")
                failed += 1
    for name in sorted(listed - set(functions)):
        print(f"{name}: in libhwtdecode.3, but in no header")
        failed += 1
    print(f"{len(functions)} functions, {failed} findings")
    return 1 if failed or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
