"""Checks that a benchmark runs and prints one valid JSON line per case."""

import json
import subprocess
import sys

SIDES = ("peer", "visitor", "rows")
COUNTS = ("packets", "outcomes", "cycles", "ips")
NEEDED_OF_PACKETS = {"case": str, "bytes": int} | {
    f"{side}_{count}": int for side in SIDES for count in COUNTS} | {
    f"{side}_cpu_s": float for side in SIDES}
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
        packets = "peer_packets" in row
        needed = NEEDED_OF_PACKETS if packets else NEEDED
        for key, kind in needed.items():
            if not isinstance(row.get(key), kind):
                print(f"{key} is not {kind.__name__}: {line}",
                      file=sys.stderr)
                return 1
        if packets:
            same = row["peer_packets"] > 0 and all(
                row[f"{side}_{count}"] == row[f"peer_{count}"]
                for side in SIDES for count in COUNTS)
        else:
            same = row["insns"] > 0 and row["insns"] == row["peer_insns"]
        if not same:
            print(f"ours and the peer differ: {line}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
