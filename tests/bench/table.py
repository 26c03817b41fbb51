"""Prints the lines of bench_pt as a table, beside what they should be.

usage: bench_pt ... | table.py, or table.py FILE...

Numbers are how many times faster we are than the peer; of the last columns, how
many times faster coverage is than our own tokens and rows; memory is in MiB.
"""

import fileinput
import json

MEASURES = ("tokens warm", "tokens cold", "rows warm", "rows cold",
            "insns warm", "runs warm", "coverage warm", "edges warm")
GOALS = {"tokens warm": 5, "tokens cold": 5, "rows warm": 3, "rows cold": 3}
# Cases whose tokens are to be faster still.
FAST = ("plain-gzip", "unzip", "foo", "qemu", "avscript_32", "icelake_tip")
MEMORY_MIB = 32


def times(row: dict | None) -> str:
    """A cell: times faster; with `!` where that is below the goal."""
    if row is None or "ratio" not in row:
        return "-"
    goal = GOALS.get(row["measure"], 0)
    if row["measure"] == "tokens warm" and \
            row["case"].split("/")[0] in FAST:
        goal = 8
    got = 1 / row["ratio"]
    return f"{got:.2f}{'!' if got < goal else ''}"


def against(rows: dict[str, dict], base: str) -> str:
    """A cell: how many times faster runs are than another measure."""
    if "coverage warm" not in rows or base not in rows:
        return "-"
    return f"{rows[base]['cpu_s'] / rows['coverage warm']['cpu_s']:.2f}"


def memory(row: dict | None) -> str:
    """A cell: the most MiB, of tokens and of rows."""
    if row is None:
        return "-"
    mib = [row[key] / 2**20 for key in ("tokens_peak_bytes",
                                        "rows_2_jobs_peak_bytes")]
    return f"{mib[0]:.1f}/{mib[1]:.1f}" + \
        ("!" if max(mib) > MEMORY_MIB else "")


def main() -> None:
    """Read lines, print the table."""
    cases: dict[str, dict[str, dict]] = {}
    for line in fileinput.input():
        row = json.loads(line)
        cases.setdefault(row["case"], {})[row["measure"]] = row
    print("| case | " + " | ".join(MEASURES) + " | memory | two jobs"
          " | coverage to tokens | coverage to rows |")
    print("|---" * (len(MEASURES) + 5) + "|")
    for name, rows in cases.items():
        cells = [times(rows.get(measure)) for measure in MEASURES]
        jobs = rows.get("jobs")
        cells.append(memory(rows.get("memory")))
        cells.append(f"{1 / jobs['ratio']:.2f}" if jobs else "-")
        cells += [against(rows, "tokens warm"), against(rows, "rows warm")]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
