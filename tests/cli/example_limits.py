"""Examples in C take what there is, however much: pieces of code, streams.

usage: example_limits.py ROOT FOLDER

FOLDER has the programs.  The traces are made here: of code that jumps from page
to page, and of 100 threads with a buffer each.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from perfdata import pt, records as r  # noqa: E402
from perfdata.case import Case  # noqa: E402
from perfdata.pt import PtRecording  # noqa: E402

MANY = 100
PAGE = 4096
BASE = 0x100000


def run(*command):
    """What a program prints; it must succeed."""
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{done.args}: {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def expect(right, what):
    if not right:
        raise SystemExit(what)


def own_code_reads_more_than_64_pieces(programs, work):
    """Each page has a jump to the next one, the last one a nop."""
    code = bytearray(PAGE * MANY)
    for page in range(MANY - 1):
        code[page * PAGE : page * PAGE + 5] = b"\xe9" + struct.pack(
            "<i", PAGE - 5
        )
    last = (MANY - 1) * PAGE
    code[last] = 0x90
    memory, trace = work / "code.bin", work / "trace.pt"
    memory.write_bytes(code)

    def address(first):
        return (BASE + first).to_bytes(6, "little")

    # Source: Intel SDM vol. 3C, "Packet Definitions": PSB, FUP of 48 bits,
    # MODE.Exec, PSBEND; FUP and TIP.PGD: interrupted behind the nop.
    trace.write_bytes(
        b"\x02\x82" * 8 + b"\x7d" + address(0) + b"\x99\x01\x02\x23"
        b"\x7d" + address(last + 1) + b"\x01"
    )
    said = run(programs / "own_code", trace, memory, hex(BASE))
    read = [line for line in said if line.startswith("read ")]
    expect(len(read) == MANY, f"own_code read {len(read)} pieces")
    # As many jumps as there are pages but one, and the nop.
    expect(said[-1].startswith(f"{MANY} instructions, 0 of "), said[-1])


def parallel_reads_more_than_64_streams(programs, work):
    """All threads execute the same; as many rows, sums of all of them."""
    case = Case("many")
    first = pt.first(case)
    threads = tuple(range(1000, 1000 + MANY))
    rec = PtRecording(case, threads=threads)
    rec.start()
    rec.process(1000, "first", (first, "/opt/first"))
    for tid in threads[1:]:
        rec.made_up(r.comm(1000, tid, "helper"))
    for tid in threads:
        rec.at(r.itrace_start(1000, tid), 19000, 1000, tid, event=rec.pt)
    for tid in threads:
        rec.trace(rec.packets(pt.runs_first(20000)), tid=tid, tsc=30000)
    rec.finish()
    for name, data in {"perf.data": case.data, **case.files}.items():
        where = work / name
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data)
    said = run(programs / "parallel", work / "perf.data", work / "root")
    expect(len(said) == MANY + 1, f"parallel told of {len(said) - 1} streams")
    each = {line.partition(": ")[2] for line in said[1:]}
    expect(len(each) == 1, f"streams differ: {each}")
    one = int(each.pop().split()[0])
    expect(one > 0 and said[0].startswith(f"all: {MANY * one} "), said[0])
    expect(said[-1].startswith(f"stream {MANY - 1}: "), said[-1])


def main(argv):
    programs = Path(argv[2])
    for test in (
        own_code_reads_more_than_64_pieces,
        parallel_reads_more_than_64_streams,
    ):
        with tempfile.TemporaryDirectory() as work:
            test(programs, Path(work))
        print(test.__name__.replace("_", " "))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
