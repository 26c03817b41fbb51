"""Asks perf, the program, what it reads in the cases.

It has to list every record of a file, and of Intel PT and CoreSight to tell
the branches that the scenario says were taken.
"""

from __future__ import annotations

import glob
import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from . import PerfDataError
from .case import DATA, Case
from .flow import Branch

# What the notes of cases are about; another version may have other answers.
TRIED = "6.1."

# Debian's `perf` may be a wrapper that wants the version of the kernel.
_PLACES = ("/usr/bin/perf_*", "/usr/lib/linux-tools*/perf",
           "/usr/libexec/perf")
_TIMEOUT = 60


def _version(path: str) -> str | None:
    try:
        done = subprocess.run([path, "version"], capture_output=True,
                              text=True, timeout=_TIMEOUT, check=False)
    except OSError:
        return None
    match = re.search(r"perf version (\S+)", done.stdout)
    return match.group(1) if done.returncode == 0 and match else None


def find() -> tuple[str, str] | None:
    """Return a perf that runs, and its version."""
    told = os.environ.get("PERF")
    names = [told] if told else ["perf"] + [
        path for place in _PLACES for path in sorted(glob.glob(place))]
    for name in names:
        version = _version(name)
        if version is not None:
            return name, version
    return None


@dataclass
class Perf:
    """The program, with an empty home."""

    path: str
    home: str

    def run(self, case: Path, *words: str) -> str:
        """Run a command on a case; return what it printed."""
        file = case / DATA
        data = b"" if file.is_dir() else file.read_bytes()
        # A header of 16 bytes is that of a pipe, which has to come from one.
        piped = b"\x10" in data[8:16]
        where = {key: value for key, value in os.environ.items()
                 if not key.startswith("PERF")}
        where.update(HOME=self.home, PERF_CONFIG="/dev/null", LC_ALL="C",
                     PAGER="cat", DEBUGINFOD_URLS="")
        done = subprocess.run(
            [self.path, "--buildid-dir", self.home, words[0], "-f", "-i",
             "-" if piped else DATA, *words[1:]],
            cwd=case, env=where, input=data if piped else b"",
            capture_output=True, timeout=_TIMEOUT, check=False)
        out = done.stdout.decode(errors="replace")
        err = done.stderr.decode(errors="replace")
        if done.returncode:
            raise PerfDataError(f"perf {' '.join(words)}: {err.strip()}")
        return out


# What perf calls records in another way than `records.txt`.
_NAMES = {"exit": "EXIT", "stat_config": "STAT_CONFIG", "attr": "ATTR",
          "event_type": "EVENT_TYPE", "tracing_data": "TRACING_DATA",
          "build_id": "BUILD_ID"}
_RECORD = re.compile(r"^\S.*\[0x[0-9a-f]+\]: PERF_RECORD_(\w+)", re.M)
_PACKET = re.compile(r"^\.  [0-9a-f]{8}:  (?:[0-9a-f]{2} )+ +(\S.*)$", re.M)
_CS_PACKET = re.compile(r"^\tIdx:\d+; ID:\w+;\t(\S.*)$", re.M)
_SAMPLE = re.compile(
    r"^\s*(-?\d+)/(-?\d+)\s+\[(-?\d+)\]\s*(\d+)\.(\d{9}):\s+"
    r"([0-9a-f]+)\s*$")
_BRANCH = re.compile(
    r"^\s*(-?\d+)/(-?\d+)\s+(?:\[(-?\d+)\])?\s*(?:(\d+)\.(\d{9}):\s+)?"
    r"(.*?)\s*([0-9a-f]+) =>\s+([0-9a-f]+)\s*$")


def listed(case: Case, perf: Perf, folder: Path) -> str:
    """Compare what kinds of records perf lists."""
    out = perf.run(folder, "script", "-D")
    # It prints no end of the line there, but what comes next.
    got = Counter(name.replace("STAT_ROUNDCPU", "STAT_ROUND")
                  for name in _RECORD.findall(out))
    want: Counter[str] = Counter()
    written = case.written
    for at, item in written.places if written else []:
        if at + len(item.bytes(case.byte_order)) <= len(case.data):
            want[_NAMES.get(item.name, item.name.upper())] += 1
    # perf lists none of these by a name, or some that it makes up.
    for name in ("FINISHED_ROUND", "ATTR", "UNKNOWN", "FEATURE", "COMPRESSED"):
        want.pop(name, None)
        got.pop(name, None)
    if got != want:
        raise PerfDataError(
            f"perf lists {sorted((got - want).items())} more and "
            f"{sorted((want - got).items())} less")
    packets = _PACKET.findall(out) + _CS_PACKET.findall(out)
    bad = [text for text in packets if text.startswith("Bad packet")]
    if bad and "damaged" not in case.params:
        raise PerfDataError("perf lists a bad packet")
    return f"{sum(got.values())} records, {len(packets)} packets"


def _files(case: Case, folder: Path) -> list[str]:
    """Return how perf is told where files are.

    It looks for the file of the kernel with the folder of all files put in
    front twice, so that only one of both can be told.
    """
    path = case.params.get("kernel")
    return (["-k", str(folder.resolve() / str(path))] if path
            else ["--symfs", "root"])


def taken(case: Case, perf: Perf, folder: Path) -> list[Branch]:
    """Return the branches that perf tells, in its order."""
    fields = ["pid", "tid", "ip", "addr", "flags"]
    if case.flow.per_cpu:
        fields.append("cpu")
    if case.params.get("perf_times", True):
        fields.append("time")
    out = perf.run(folder, "script", *_files(case, folder), "--itrace=be",
                   "--ns", "-F", ",".join(fields))
    found = []
    for line in out.splitlines():
        match = _BRANCH.match(line)
        if match is None:
            if "=>" not in line and "error" not in line:
                continue
            if "trace error" in line and "damaged" in case.params:
                continue
            raise PerfDataError(f"perf prints {line!r}")
        pid, tid, cpu, seconds, rest, _, source, target = match.groups()
        found.append(Branch(
            None if cpu is None else int(cpu), int(pid), int(tid),
            int(source, 16), int(target, 16),
            int(seconds or 0) * 1_000_000_000 + int(rest or 0)))
    return found


def _key(branch: Branch) -> tuple[int | None, int]:
    return (branch.cpu, branch.tid if branch.cpu is None else 0)


def branches(case: Case, perf: Perf, folder: Path) -> str:
    """Compare branches with the expectation, buffer by buffer."""
    got: dict[object, list[Branch]] = defaultdict(list)
    want: dict[object, list[Branch]] = defaultdict(list)
    for branch in taken(case, perf, folder):
        # Where tracing begins and ends there is no branch.
        if branch.source and branch.target:
            got[_key(branch)].append(branch)
    for branch in case.flow.branches:
        want[_key(branch)].append(branch)
    if not case.flow.per_cpu:
        got = _by_thread(got)
    for key in want.keys() | got.keys():
        _compare(got[key], want[key])
    return f"{len(case.flow.branches)} branches"


def _by_thread(branches: dict[object, list[Branch]]
               ) -> dict[object, list[Branch]]:
    out: dict[object, list[Branch]] = defaultdict(list)
    for items in branches.values():
        for branch in items:
            branch.cpu = None
            out[_key(branch)].append(branch)
    return out


def _compare(got: list[Branch], want: list[Branch]) -> None:
    for number in range(max(len(got), len(want))):
        one = got[number] if number < len(got) else None
        two = want[number] if number < len(want) else None
        same = one is not None and two is not None and (
            (one.pid, one.tid, one.source, one.target)
            == (two.pid, two.tid, two.source, two.target)
            and one.time >= two.time)
        if not same:
            raise PerfDataError(f"branch {number}: perf has {_text(one)}, "
                                f"expected is {_text(two)}")


def _text(branch: Branch | None) -> str:
    if branch is None:
        return "none"
    return (f"{branch.pid}/{branch.tid} [{branch.cpu}] {branch.time} "
            f"{branch.source:x} => {branch.target:x}")


def samples(case: Case, perf: Perf, folder: Path) -> str:
    """Compare place, time and address of the samples of Arm SPE."""
    out = perf.run(folder, "script", "--itrace=i1i", "--ns", "-F",
                   "pid,tid,cpu,time,ip")
    got = []
    for line in out.splitlines():
        match = _SAMPLE.match(line)
        if match is None:
            raise PerfDataError(f"perf prints {line!r}")
        pid, tid, cpu, seconds, rest, ip = match.groups()
        got.append((int(seconds) * 1_000_000_000 + int(rest), int(cpu),
                    int(pid), int(tid), int(ip, 16)))
    want = [(int(str(sample["time_ns"])),
             -1 if sample["cpu"] is None else int(str(sample["cpu"])),
             int(str(sample["pid"])), int(str(sample["tid"])),
             int(str(sample["ip"]), 16))
            for sample in case.samples if "time_ns" in sample]
    if sorted(got) != sorted(want):
        more, less = Counter(got) - Counter(want), Counter(want) - Counter(got)
        raise PerfDataError(f"perf has samples {sorted(more)[:3]}, expected "
                            f"are {sorted(less)[:3]}")
    return f"{len(want)} samples"


# Lines of perf's header for what `params.features` says.
_FEATURES = {
    "hostname": "# hostname : {}", "osrelease": "# os release : {}",
    "version": "# perf version : {}", "arch": "# arch : {}",
    "cpudesc": "# cpudesc : {}", "cpuid": "# cpuid : {}",
    "nrcpus_online": "# nrcpus online : {}",
    "nrcpus_available": "# nrcpus avail : {}",
    "total_mem": "# total memory : {} kB"}


def features(case: Case, perf: Perf, folder: Path) -> str:
    """Compare features that the case states."""
    said = case.params["features"]
    # Of a pipe the header alone tells nothing yet.
    lines = perf.run(folder, "script", "--header", *_files(case, folder),
                     "--itrace=b").splitlines()
    count = 0
    for name, value in said.items() if isinstance(said, dict) else ():
        if name in _FEATURES:
            count += 1
            if _FEATURES[name].format(value) not in map(str.strip, lines):
                raise PerfDataError(f"perf has another {name}")
    return f"{count} features"


def refuses(perf: Perf, folder: Path) -> str:
    """Raise unless perf cannot open the file."""
    try:
        perf.run(folder, "script", "-D")
    except PerfDataError:
        return "refused"
    raise PerfDataError("perf opens the file")


def check(case: Case, perf: Perf, folder: Path) -> str:
    """Return what perf says of a case; raise if it is something else."""
    said = str(case.params.get("perf", ""))
    if said.startswith("skip:"):
        return said
    if case.refused:
        return refuses(perf, folder)
    found = [listed(case, perf, folder)]
    if "features" in case.params:
        found.append(features(case, perf, folder))
    if case.flow.lines and not said.startswith("list:"):
        found.append(branches(case, perf, folder))
    if case.has_samples and not said.startswith("list:"):
        found.append(samples(case, perf, folder))
    return ", ".join([*found, said] if said else found)


def check_all(cases: list[tuple[Case, Path]]) -> int:
    """Check all cases.

    Without a perf it returns 77, but in CI, which must have one; and if
    another version than was tried has other answers.
    """
    found = find()
    if found is None:
        print("no perf that runs here (Debian: linux-perf)")
        return 1 if os.environ.get("CI") else 77
    path, version = found
    print(f"{path}, version {version}")
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        perf = Perf(path, home)
        for case, folder in cases:
            try:
                print(f"PASS {case.name} {check(case, perf, folder)}")
            except (PerfDataError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {case.name} {error}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    if failed and not version.startswith(TRIED):
        print(f"only perf {TRIED}x was tried")
        return 77
    return 1 if failed else 0
