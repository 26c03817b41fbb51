"""Checks that a benchmark runs and prints one valid JSON line per case."""

import json
import subprocess
import sys

NEEDED = {"case": str, "bytes": int, "insns": int, "rows": int, "gaps": int,
          "ours_cpu_s": float, "peer_cpu_s": float, "ratio": float,
          "mb_per_s": float, "peak_rss": int, "peer_insns": int}


def main() -> int:
    """Run the command given as arguments and look at what it prints."""
    command = sys.argv[1:]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          check=True)
    lines = done.stdout.splitlines()
    if not lines:
        print("no line was printed", file=sys.stderr)
        return 1
    for line in lines:
        row = json.loads(line)
        for key, kind in NEEDED.items():
            if not isinstance(row.get(key), kind):
                print(f"{key} is not {kind.__name__}: {line}",
                      file=sys.stderr)
                return 1
        if row["insns"] == 0 or row["insns"] != row["peer_insns"]:
            print(f"ours and the peer differ: {line}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
