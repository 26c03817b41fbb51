"""Runs bench_coresight on cases of a corpus, each made a saved trace first.

usage: coresight.py [--rounds N] [--jobs] HWTDECODE BENCH_CORESIGHT CASE...

A CASE is a folder of the families coresight-etm, coresight-ete or etm-gen;
`corpus:NAME` is one below $HWTDECODE_CORPUS, and skipped (77) if that is not set.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONFORMANCE = Path(__file__).resolve().parents[1] / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from families.case import Case  # noqa: E402
from families.coresight import snapshot  # noqa: E402

SKIPPED = 77

PROTOCOLS = {"ETMV4I": "etmv4", "ETE": "ete"}
ARCHS = {"ARCH_V7": "v7", "ARCH_V8": "v8", "ARCH_AA64": "v8.3"}


def raw_options(case: Case) -> list[str]:
    """Options that make a trace of raw bytes, with its code."""
    etm = case.section("etm")
    registers = dict(etm["regs"])
    ids = registers.pop("TRCTRACEIDR")
    framed = etm["source"] != "single"
    words = ["--tech=coresight"]
    # Rows of sources are merged by time, where they have any.
    hertz = int(case.section("params").get("ts_hz", 0))
    words += [f"--clock={hertz}/1000000000"] if hertz else []
    words += ["--framing=memory"] if framed else []
    for trace_id in ids if isinstance(ids, list) else [ids]:
        path = case.temporary / f"{trace_id}.txt"
        said = {"protocol": PROTOCOLS[str(etm["protocol"])],
                "arch": ARCHS[str(etm["arch_ver"])],
                "profile": "A", "TRCTRACEIDR": trace_id, **registers}
        path.write_text("".join(f"{k}={v}\n" for k, v in said.items()))
        words.append(f"--etm-config={path}")
    for line in case.lines("image.txt"):
        name, offset, length, address = line.split()
        code = case.path(name).read_bytes()
        begin, size = int(offset, 16), int(length, 16)
        part = case.temporary / f"{address}.bin"
        part.write_bytes(code[begin:begin + size])
        words.append(f"--image={part}@0x{address}")
    words.append(str(case.path("etr.bin" if framed else "0.etm")))
    return words


def main() -> int:
    """Make traces, run the benchmark on all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", default="9")
    parser.add_argument("--jobs", action="store_true")
    parser.add_argument("hwtdecode")
    parser.add_argument("bench")
    parser.add_argument("case", nargs="+")
    args = parser.parse_args()
    corpus = os.environ.get("HWTDECODE_CORPUS")
    if corpus is None and any(name.startswith("corpus:")
                              for name in args.case):
        print("HWTDECODE_CORPUS is not set")
        return SKIPPED
    cases = [Path(corpus or "", name.removeprefix("corpus:"))
             if name.startswith("corpus:") else Path(name)
             for name in args.case]
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for number, path in enumerate(cases):
            place = Path(folder) / str(number)
            place.mkdir()
            name = f"{path.parent.name}/{path.name}"
            case = Case(path, name, place)
            words = raw_options(case) if path.parent.name == "etm-gen" \
                else [str(snapshot(case))]
            trace = Path(folder) / f"{path.name}.hwt"
            subprocess.run([args.hwtdecode, "import", "--any-file",
                            "--embed", *words, "-o", str(trace)], check=True)
            traces.append(str(trace))
        jobs = ["--jobs"] if args.jobs else []
        done = subprocess.run([args.bench, "--rounds", args.rounds, *jobs,
                               *traces], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
