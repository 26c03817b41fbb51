"""Check the objects of the library: names, forbidden calls, mutable data.

usage: symbols.py [--debug] STATIC_LIBRARY
"""

import re
import subprocess
import sys

# The library lives in other people's processes: it does not end them, does
# not write to their terminal and does not read their environment.
FORBIDDEN = {
    "_exit", "_Exit", "abort", "exit", "quick_exit", "raise",
    "fputs", "fputc", "fprintf", "perror", "printf", "putchar", "puts",
    "vfprintf", "vprintf", "__fprintf_chk", "__printf_chk",
    "__vfprintf_chk", "__vprintf_chk", "stderr", "stdout",
    "getenv", "secure_getenv", "setenv", "signal", "sigaction",
    "setlocale", "strtok", "rand", "srand",
}  # fmt: skip
# OpenCSD: accessors of files are of the process and not of a tree, so that trees
# in threads read wrong code or crash; and the last error is that of any tree.
FORBIDDEN |= {
    "ocsd_dt_add_binfile_mem_acc", "ocsd_dt_add_binfile_region_mem_acc",
    "ocsd_get_last_err",
}  # fmt: skip
# Bugs are stated by assert() in debug builds only.
ASSERT = {"__assert_fail", "__assert"}
# The process of a capture is the library's own: it ends without what the parent
# would do at its end, and goes on when keys of a terminal end the parent; so does
# the child that becomes the program.
ALLOWED = {
    ("keeper.c.o", "_exit"),
    ("keeper.c.o", "sigaction"),
    ("system_host_freebsd.c.o", "_exit"),
    ("system_host_freebsd.c.o", "sigaction"),
}
# OpenCSD has a list of trees for the process: so is the lock around it.
OF_THE_PROCESS = {("cs_library.c.o", "making")}


def main(argv):
    debug = "--debug" in argv
    library = argv[-1]
    forbidden = FORBIDDEN | (set() if debug else ASSERT)
    text = subprocess.run(
        ["nm", "--format=sysv", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    member = "?"
    findings = []
    seen = 0

    for line in text.splitlines():
        match = re.search(r"\[(.+?)\]:$", line)
        if match:
            member = match.group(1)
        fields = [field.strip() for field in line.split("|")]
        if len(fields) < 7:
            continue
        name, kind, section = fields[0], fields[2], fields[6]
        if kind == "Class" or name.startswith("$"):
            continue
        seen += 1
        where = f"{member}: {name}"
        if kind == "U":
            plain = name.split("@")[0]
            if plain in forbidden and (member, plain) not in ALLOWED:
                findings.append(f"{where} is called")
            continue
        if kind.isupper() and not name.startswith(("hwtd_", "hwtdi_")):
            findings.append(f"{where} is global, its prefix is not ours")
        # .data.rel.ro is constant once the loader has put addresses in.
        constant = section.startswith(".data.rel.ro")
        allowed = (member, name) in OF_THE_PROCESS
        if kind in "dDbBC" and not constant and not allowed:
            findings.append(f"{where} is a mutable object in {section}")
    for finding in findings:
        print(finding)
    print(f"{seen} symbols, {len(findings)} wrong")
    return 1 if findings or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
