"""What Doxygen reads in place of a header; it has the same lines.

usage: filter.py FILE

The comment that opens a file describes it; "Units:" and the like begin paragraphs of
their own (aliases of the Doxyfile), and each return code is one, too.  Declarations
without empty lines between them have the same comment.
"""

import re
import sys


def share(found):
    """A comment above several declarations is that of each."""
    comment, group = found.groups()
    first, *others = re.split(r"(?<=;\n)(?=HWTD_)", group)
    name = re.search(r"\b(hwtd_\w+)\(", first)
    if name is None:
        return found[0]
    return comment + first + "".join(
        f"/** @copybrief {name[1]} @see {name[1]} */ {other}"
        for other in others
    )


def for_doxygen(text: str) -> str:
    """The text of a header as Doxygen takes it."""
    text = re.sub(r"\A/\*\n \* ", "/** @file\n * ", text)
    text = re.sub(
        r"^([ \t]*\* )(Units|Lives|Source|Since): +",
        lambda found: f"{found[1]}@{found[2].lower()} ", text, flags=re.M,
    )  # fmt: skip
    text = re.sub(
        r"(/\*\*(?:(?!\*/).)*\*/\n)((?:HWTD_(?:API|MUST) [^;]*;\n)+)", share,
        text, flags=re.S,
    )  # fmt: skip
    return re.sub(
        r"^([ \t]*\*) {6,}(HWTD_[A-Z_]+)  +(?=\S)", r"\1 @retval \2 ", text,
        flags=re.M,
    )  # fmt: skip


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(for_doxygen(file.read()))
