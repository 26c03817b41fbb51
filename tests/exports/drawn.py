"""Traces and text that are exported, and what is known of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import calls_model
from runner import Case

GAP = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
7/8 1.000000110: 1 branches:u: call 2004 f+0x4 (p) => 3000 g+0x0 (q)
7/8 1.000000120: 1 branches:u: return 3008 g+0x8 (q) => 2009 f+0x9 (p)
7/8 1.000000140: 1 branches:u: return 200c f+0xc (p) => 1005 main+0x5 (p)
 instruction trace error type 1 time 1.000000150 cpu -1 pid 7 tid 8 ip 0 code 7: Overflow packet
7/8 1.000000250: 1 branches:u: tr strt 0 [unknown] ([unknown]) => 1010 main+0x10 (p)
7/8 1.000000260: 1 branches:u: jmp 1014 main+0x14 (p) => 4000 h+0x0 (p)
"""

TWO_THREADS = """\
7/8 1.000000100: 1 branches:u: call 1000 main+0x0 (p) => 2000 f+0x0 (p)
7/9 1.000000105: 1 branches:u: call 1100 run+0x0 (p) => 2000 f+0x0 (p)
7/8 1.000000110: 1 branches:u: return 2004 f+0x4 (p) => 1005 main+0x5 (p)
7/9 1.000000120: 1 branches:u: return 2004 f+0x4 (p) => 1105 run+0x5 (p)
"""

# Its callers become known one after the other; equal times; no room before.
LATE = """\
7/8 0.000000003: 1 branches:u: call 3000 c+0x0 (p) => 4000 d+0x0 (p)
7/8 0.000000003: 1 branches:u: return 4004 d+0x4 (p) => 3005 c+0x5 (p)
7/8 0.000000009: 1 branches:u: return 3010 c+0x10 (p) => 2005 b+0x5 (p)
7/8 0.000000009: 1 branches:u: return 2010 b+0x10 (p) => 1005 a+0x5 (p)
7/8 0.000000020: 1 branches:u: call 1006 a+0x6 (p) => 4000 d+0x0 (p)
7/8 0.000000021: 1 branches:u: return 4004 d+0x4 (p) => 100b a+0xb (p)
"""

# Names that break lines and strings of formats, and twice the same time.
HOSTILE = (
    b'7/8 1.000000100: 1 branches:u: call 1000 a"b\\c+0x0 (p)'
    b" => 2000 x;y</script>\xff\xfe\x01+0x0 (p)\n"
    b"7/8 1.000000100: 1 branches:u: call 2004 x;y</script>\xff\xfe\x01+0x4 (p)"
    b" => 3000 " + b"\xc3\xa4" * 30000 + b"+0x0 (q\x7f\"')\n"
    b"7/8 1.000000120: 1 branches:u: return 3008 "
    + b"\xc3\xa4" * 30000
    + b"+0x8 (q) => 2009 x;y</script>\xff\xfe\x01+0x9 (p)\n"
)


def stacks(rounds: int = 4) -> str:
    """Two stacks of a thread that switch, by returns to one another."""
    lines = []
    at = 100

    def branch(text: str, step: int = 10) -> None:
        nonlocal at
        lines.append(f"7/8 1.{at:09}: 1 branches:u: {text}\n")
        at += step

    def swap(to: str) -> None:
        """What the stack that goes on later calls, and what it does."""
        branch("call 5004 swap+0x4 (p) => 6000 save+0x0 (p)")
        branch("return 6004 save+0x4 (p) => 5009 swap+0x9 (p)")
        branch(f"return 5010 swap+0x10 (p) => {to} (p)")

    # main calls swap, which returns into coroutine, and so on.
    branch("call 1000 main+0x0 (p) => 5000 swap+0x0 (p)")
    swap("2000 co+0x0")
    for _ in range(rounds):
        branch("call 2004 co+0x4 (p) => 3000 work+0x0 (p)")
        branch("return 3004 work+0x4 (p) => 2009 co+0x9 (p)")
        branch("call 200c co+0xc (p) => 5000 swap+0x0 (p)")
        swap("1005 main+0x5")
        branch("call 1000 main+0x0 (p) => 5000 swap+0x0 (p)")
        swap("2011 co+0x11")
        branch("jmp 2014 co+0x14 (p) => 2004 co+0x4 (p)", 7)
    return "".join(lines)


def many_calls(n: int) -> str:
    """In main and loop: n calls of f, one of which takes 6 ns."""
    lines = [
        "7/8 1.000000000: 1 branches:u: call 900 main+0x0 (p) "
        "=> 1000 loop+0x0 (p)\n"
    ]
    at = 10
    for _ in range(n):
        lines.append(
            f"7/8 1.{at:09}: 1 branches:u: call 1000 loop+0x0 (p) "
            "=> 2000 f+0x0 (p)\n"
        )
        lines.append(
            f"7/8 1.{at + 6:09}: 1 branches:u: return 2008 f+0x8 (p) "
            "=> 1005 loop+0x5 (p)\n"
        )
        at += 10
    return "".join(lines)


# Calls of main: of 5, 6 and 7 ns, of 30, of 3 and 4, and far away one of 9.
SHORT_CALLS = ((5, 1), (6, 1), (7, 1), (30, 1), (3, 2), (4, 100), (9, 50))
SHORT_WANT = [
    ("B", "main", 1000000000),
    ("B", "3 short calls", 1000000000),
    ("E", "", 1000000018),
    ("B", "f", 1000000021),
    ("E", "", 1000000051),
    ("B", "2 short calls", 1000000052),
    ("E", "", 1000000059),
    ("B", "f", 1000000161),
    ("E", "", 1000000170),
    ("E", "", 1000000220),
]


def short_calls() -> str:
    lines = []
    at = 0
    for ns, pause in SHORT_CALLS:
        lines.append(
            f"7/8 1.{at:09}: 1 branches:u: call 1000 main+0x0 (p) "
            "=> 2000 f+0x0 (p)\n"
        )
        at += ns
        lines.append(
            f"7/8 1.{at:09}: 1 branches:u: return 2008 f+0x8 (p) "
            "=> 1005 main+0x5 (p)\n"
        )
        at += pause
    lines.append(
        f"7/8 1.{at:09}: 1 branches:u: jmp 1010 main+0x10 (p) "
        "=> 1000 main+0x0 (p)\n"
    )
    return "".join(lines)


@dataclass
class Input:
    """What the tool is given; `late`: callers become known late."""

    name: str
    args: list[Any]
    late: bool = False


def unpacked(case: Case, packed: Path) -> Path:
    """A file as it was before zstd."""
    out = case.folder / f"{packed.parent.name}-{packed.stem}"
    if packed.suffix != ".zst":
        return packed
    if not out.exists():
        subprocess.run(
            ["zstd", "-qdf", packed, "-o", out],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    return out


def captured(case: Case) -> Input:
    """A program that really ran, with times and interrupts."""
    folder = case.fixtures / "pt-captured/workload-with-time-and-interrupts"
    raw = unpacked(case, folder / "0.pt.zst")
    return Input(
        "captured",
        [
            "--tech=pt",
            "--images",
            folder / "image.txt",
            "--pt-mtc-freq=3",
            "--pt-nom-freq=30",
            "--pt-cpuid-15h=2/250",
            "--stream-cpu=0",
            raw,
        ],
    )


def without_time(case: Case) -> Iterator[Input]:
    folder = case.fixtures / "pt-captured/workload-without-any-compression"
    yield Input(
        "captured without time",
        [
            "--tech=pt",
            "--images",
            folder / "image.txt",
            unpacked(case, folder / "0.pt.zst"),
        ],
        late=True,
    )


def texts(case: Case) -> Iterator[Input]:
    for name, text in (
        ("gap", GAP),
        ("two threads", TWO_THREADS),
        ("late", LATE),
        ("stacks", stacks()),
        ("hostile", HOSTILE),
    ):
        path = case.write(f"text {name}", text)
        yield Input(name, [path])


def corpus(case: Case) -> Iterator[Input]:
    """Text of real programs, where there is any."""
    top = os.environ.get("HWTDECODE_CORPUS", "")
    if not top:
        return
    for folder in sorted((Path(top) / "perf-script").iterdir()):
        for name in ("input.perf", "input.perf.zst"):
            if (folder / name).is_file():
                path = unpacked(case, folder / name)
                yield Input(folder.name, [path])


def programs(case: Case) -> Iterator[Input]:
    """The same program at its own address, and where it was loaded."""
    tool = os.environ.get("HWTDECODE_PTCAPTURE", "")
    if not tool or shutil.which("cc") is None:
        return
    source = Path(__file__).resolve().parent / "program.c"
    for name, how in (("non-pie", "-static"), ("pie", "-static-pie")):
        folder = case.folder / name
        folder.mkdir(exist_ok=True)
        program = folder / "program"
        flags = ["-O1", "-g", "-nostdlib", "-ffreestanding", how]
        flags += ["-fPIE" if name == "pie" else "-fno-pie"]
        flags += ["-fno-stack-protector", "-fcf-protection=none"]
        subprocess.run(
            ["cc", *flags, "-o", program, source],
            check=True,
            stdin=subprocess.DEVNULL,
        )
        done = subprocess.run(
            [tool, "-r", "-t", "-m", "3", folder / "out", program],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            print(f"      no capture: {done.stderr!r}")
            return
        yield Input(name, program_args(folder / "out", program))


def program_args(out: Path, program: Path) -> list[Any]:
    """The code is that of the file, where it lay in memory."""
    begin = int((out / "image.txt").read_text().split()[3], 16)
    text = subprocess.run(
        ["readelf", "-lW", program], check=True, capture_output=True
    ).stdout.decode()
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in line.split("0x")[-2]:
            offset, size = int(words[1], 16), int(words[4], 16)
            break
    else:
        raise AssertionError(text)
    return [
        "--tech=pt",
        f"--image={program}:{offset:#x}:{size:#x}@{begin:#x}",
        "--pt-mtc-freq=3",
        "--pt-nom-freq=30",
        "--pt-cpuid-15h=2/250",
        out / "0.pt",
    ]


def all_with_time(case: Case) -> Iterator[Input]:
    yield from texts(case)
    yield captured(case)
    yield from programs(case)
    yield from corpus(case)


def check(given: Input, want: calls_model.Model) -> None:
    """That the input is what it is there for."""
    most = max(len(stacks) for stacks in want.stacks.values())
    assert given.name != "stacks" or most > 1
    assert given.name != "late" or len(want.late) == 2, want.late
    assert given.name != "gap" or any(want.gaps.values())
    if given.name in ("pie", "non-pie"):
        # Of program.c: 20 times middle() with two leaf(), and deep().
        names = [
            name
            for forest in want.forests.values()
            for root in forest
            for name in names_of(root)
        ]
        assert names.count("middle") == 20, names
        assert names.count("deep") == 20 * 3
        assert names.count("leaf") == 20 * 2 + 20 * 3
        known = {"_start", "[unknown]", "middle", "deep", "leaf", "[syscall]"}
        assert set(names) <= known, set(names)


def names_of(node: calls_model.Node) -> Iterator[str]:
    yield node.name
    for child in node.children:
        yield from names_of(child)


def moved(err: str, want: calls_model.Model) -> int:
    """How much later times are told where there is no room before them."""
    del err
    return 1 << 24 if want.first < 1 << 24 else 0
