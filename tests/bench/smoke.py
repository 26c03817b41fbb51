"""Checks that a benchmark runs and prints valid JSON lines."""

import json
import subprocess
import sys

SIDES = ("peer", "visitor", "rows")
COUNTS = ("packets", "outcomes", "cycles", "ips")
NEEDED_OF_PACKETS = {"case": str, "bytes": int} | {
    f"{side}_{count}": int for side in SIDES for count in COUNTS} | {
    f"{side}_cpu_s": float for side in SIDES}
NEEDED = {"case": str, "measure": str, "bytes": int}
# Besides, by the last word of the measure.
NEEDED_BY_MEASURE = {
    "warm": {"insns": int, "gaps": int, "cpu_s": float, "mb_per_s": float,
             "peer": str, "peer_insns": int, "peer_cpu_s": float,
             "ratio": float},
    "memory": {"image_bytes": int, "tokens_peak_bytes": int,
               "rows_peak_bytes": int, "rows_2_jobs_peak_bytes": int},
    "first": {"stream_bytes": int, "open_s": float, "first_rows_s": float,
              "seek_offset_s": float, "seek_time_s": float,
              "peak_bytes": int},
    "spe": {"records": int, "packets": int, "memcpy_cpu_s": float,
            "records_cpu_s": float, "packets_cpu_s": float,
            "records_ratio": float, "packets_ratio": float,
            "peak_bytes": int}}
NEEDED_BY_MEASURE["cold"] = NEEDED_BY_MEASURE["warm"]


def needed(row: dict) -> dict:
    """Keys that a line must have, and their types."""
    if "peer_packets" in row:
        return NEEDED_OF_PACKETS
    words = str(row.get("measure")).split()
    return NEEDED | NEEDED_BY_MEASURE.get(words[-1], {})


def same(row: dict) -> bool:
    """Whether ours and the peer found the same."""
    if "peer_packets" in row:
        return row["peer_packets"] > 0 and all(
            row[f"{side}_{count}"] == row[f"peer_{count}"]
            for side in SIDES for count in COUNTS)
    if "insns" in row:
        return row["insns"] > 0 and row["insns"] == row["peer_insns"]
    return True


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
        for key, kind in needed(row).items():
            if not isinstance(row.get(key), kind):
                print(f"{key} is not {kind.__name__}: {line}",
                      file=sys.stderr)
                return 1
        if not same(row):
            print(f"ours and the peer differ: {line}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
