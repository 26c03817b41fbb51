"""What the public headers declare: structs, enums, constants, functions.

Reads the preprocessed umbrella header with HWTD_CDEF, as CFFI would, so the
little language of the headers is all that has to be understood.
"""

import re
import subprocess
from pathlib import Path


class Api:
    """The declarations of include/hwtdecode/ below `root`."""

    def __init__(self, root, cc="cc"):
        self.root = Path(root)
        self.include = self.root / "include"
        self.headers = sorted((self.include / "hwtdecode").glob("*.h"))
        self.cdef = subprocess.run(
            [
                *cc.split(),
                "-E",
                "-P",
                "-DHWTD_CDEF",
                f"-I{self.include}",
                str(self.include / "hwtdecode" / "hwtdecode.h"),
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def structs(self):
        """{name: [member, ...]} in order of declaration."""
        found = {}
        for name, body in re.findall(
            r"struct (\w+)\s*\{(.*?)\};", self.cdef, re.S
        ):
            members = []
            for line in body.split(";"):
                line = " ".join(line.split())
                if not line:
                    continue
                pointer = re.search(r"\(\*(\w+)\)", line)
                plain = re.search(r"(\w+)(?:\s*\[[^\]]*\])*$", line)
                members.append((pointer or plain).group(1))
            found[name] = members
        return found

    def enums(self):
        """{name: [member, ...]} in order of declaration."""
        return {
            name: re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
            for name, body in re.findall(
                r"enum (\w+)\s*\{(.*?)\};", self.cdef, re.S
            )
        }

    def constants(self):
        """Names of the object-like macros that have a value."""
        names = []
        for header in self.headers:
            for name, value in re.findall(
                r"^#define (HWTD_\w+)[ \t]+(\S.*)$",
                header.read_text(encoding="utf-8"),
                re.M,
            ):
                if name not in ("HWTD_API", "HWTD_MUST"):
                    names.append(name)
        return names

    def functions(self):
        """Names of all functions, in order of declaration."""
        return [re.search(r"(\w+)\(", p).group(1) for p in self.prototypes()]

    def prototypes(self):
        """All functions as declared, one line each."""
        text = re.sub(r"\{.*?\}", "", self.cdef, flags=re.S)
        found = []
        for declaration in text.split(";"):
            line = " ".join(declaration.split())
            if "(" in line and not line.startswith("typedef"):
                found.append(line)
        return found

    def callbacks(self):
        """All function pointer types, one line each."""
        return [
            " ".join(found.split())
            for found in re.findall(r"typedef[^;{]*;", self.cdef)
        ]
