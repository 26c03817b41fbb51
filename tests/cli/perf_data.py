"""hwtdecode on files of Linux perf: what is told, what is read, and damage."""

import json
import os
import resource
import struct
import subprocess
from pathlib import Path

from runner import PATIENCE, Case, Run

FAMILY = "perf-data"
# Records of two processes on one processor; the same as from a pipe.
TWO = "compressed-records-are-one-stream"
PIPE = "pipe-has-no-sections"
PLAIN = "words-of-older-intel-pt-may-be-missing"
KERNEL = "text-poke-changes-kernel-code-at-its-time"
# IP, TID, TIME, CPU and IDENTIFIER.
SAMPLE_TYPE = 0x10087
# The clock of the fixtures of Intel PT.
CLOCK = "--clock=1024/512@0=5000000000"

MIB = 1 << 20


def fixtures(case: Case) -> list[Path]:
    """All files that can be opened."""
    folders = sorted((case.fixtures / FAMILY).iterdir())
    found = [
        folder
        for folder in folders
        if (folder / "perf.data").exists()
        and not (folder / "expected/refused.txt").exists()
    ]
    assert len(found) > 40
    return found


def fixture(case: Case, name: str) -> Path:
    return case.fixtures / FAMILY / name / "perf.data"


def root(case: Case, name: str) -> list[str | Path]:
    return [
        "--no-original-paths",
        "--root",
        case.fixtures / FAMILY / name / "root",
    ]


def places(case: Case, name: str, kind: str) -> list[int]:
    """Where records of a kind are in a file."""
    text = (fixture(case, name).parent / "expected/records.txt").read_text()
    words = [line.split() for line in text.splitlines()]
    return [int(line[0], 16) for line in words if line[1] == kind]


def changed(case: Case, name: str, *pokes: tuple[int, bytes]) -> Path:
    """A copy of a file with other bytes at some places."""
    data = bytearray(fixture(case, name).read_bytes())
    for at, new in pokes:
        data[at : at + len(new)] = new
    return case.write("changed.data", bytes(data))


def corpus_files(case: Case) -> list[Path]:
    """The perf.data of the corpus, if there is one, unpacked."""
    corpus = os.environ.get("HWTDECODE_CORPUS")
    if not corpus:
        return []
    found = []
    for folder in sorted(Path(corpus).glob("*/*")):
        packed = folder / "perf.data.zst"
        if packed.is_file():
            out = case.folder / (folder.name + ".data")
            subprocess.run(
                ["zstd", "-qdf", str(packed), "-o", str(out)], check=True
            )
            found.append(out)
        elif (folder / "perf.data").exists():
            found.append(folder / "perf.data")
    assert len(found) >= 4
    return found


# Commands on files that are whole, and on those that are not.


def test_info_is_enough(case: Case) -> None:
    for path in [folder / "perf.data" for folder in fixtures(case)]:
        case.run("info", path).want(
            0,
            out_has=(
                "format     perf.data\n",
                "time of    the clock of Linux perf",
            ),
        )
        rows = case.run("info", "--format=jsonl", path).want(0).objects()
        assert rows[0]["format"] == "perf.data", rows[0]
        assert rows[0]["clock"].startswith("the clock of Linux perf")
        told = [row for row in rows if row["type"] == "stream"]
        assert len(told) == rows[0]["streams"] > 0, path


def test_streams_of_info_are_those_of_other_commands(case: Case) -> None:
    """Without the bytes nothing tells which trace IDs a sink has."""
    data = fixture(case, "one-sink-holds-trace-of-several-processors")
    plain = case.run("info", "--format=jsonl", data).want(0).objects()
    run = case.run("info", "--time-span", "--format=jsonl", data).want(0)
    rows = run.objects()
    told = [row for row in rows if row["type"] == "stream"]
    assert [row.get("sink") for row in told] == [None, 0, 0], told
    assert all(row["bytes"] > 0 for row in told), told
    (sink,) = [row for row in plain if row["type"] == "stream"]
    assert (sink["stream"], sink["bytes"]) == (0, told[0]["bytes"])
    case.run("info", data).want(0, out_has=("sources    not looked for",))
    for number in range(len(told)):
        case.run("events", f"--stream={number}", data).want(0)
    case.run("events", f"--stream={len(told)}", data).want(
        2, err_has="it has streams 0 to 2"
    )


def test_what_is_refused_says_why(case: Case) -> None:
    """Exit code 4, and the name of the file."""
    path = case.write("first", b"PERFFILE" + bytes(200))
    done = case.run("info", path).want(4, err_has=(str(path), "version"))
    assert len(done.err.splitlines()) <= 2


def test_info_tells_the_machine(case: Case) -> None:
    case.run("info", fixture(case, PLAIN)).want(
        0,
        out_has=(
            "origin     perf 6.1, on fixture, Linux 6.1.0, by perf record",
            "abi        Linux x86_64\n",
            "cpu        Fixture CPU, GenuineIntel,6,85,4, 1 of 1 CPUs online\n",
            "time of    the clock of Linux perf\n",
        ),
    )
    row = (
        case.run("info", "--format=jsonl", fixture(case, PLAIN))
        .want(0)
        .objects()[0]
    )
    assert row["format"] == "perf.data"
    assert row["origin"].startswith("perf 6.1, on fixture, Linux 6.1.0")
    assert row["abi"] == "Linux x86_64"
    assert row["cpu_model"] == (
        "Fixture CPU, GenuineIntel,6,85,4, 1 of 1 CPUs online"
    )
    assert row["clock"] == "the clock of Linux perf"


def test_real_files_are_told(case: Case) -> None:
    for path in corpus_files(case):
        text = case.run("info", path).want(0).out
        rows = case.run("info", "--format=jsonl", path).want(0).objects()
        assert rows[0]["format"] == "perf.data", rows[0]
        for key in ("origin", "abi", "clock"):
            assert rows[0][key] in text, (path, key)
        assert [row for row in rows if row["type"] == "stream"]


def test_other_commands_need_nothing_else(case: Case) -> None:
    for name in (PLAIN, PIPE, KERNEL, TWO):
        for command in ("records", "maps", "packets", "events", "insns"):
            case.run(command, "-o", "out", fixture(case, name)).want(0)


def test_check_ends_with_3_where_bytes_are_lost(case: Case) -> None:
    case.run("check", *root(case, PLAIN), fixture(case, PLAIN)).want(0)
    name = "truncated-buffer-is-a-loss-up-to-the-next-one"
    case.run("check", *root(case, name), fixture(case, name)).want(
        3, err_has=()
    )
    name = "trace-that-is-not-there-is-told"
    done = case.run("check", fixture(case, name)).want(3)
    assert "4160 bytes of trace are not in the file" in done.out + done.err
    case.run("events", fixture(case, name)).want(0)
    case.run("events", "--strict", fixture(case, name)).want(
        1,
        out_has="4160 bytes of trace are not in the file",
        err_has="the trace has a gap",
    )


def test_samples_have_a_table(case: Case) -> None:
    name = "spe-of-unlike-processors-has-their-own-names"
    rows = case.run("spe", "--format=csv", fixture(case, name)).want(0).table()
    assert len(rows) == 2
    case.run("mem", fixture(case, name)).want(0)


def test_samples_that_are_missing_are_told(case: Case) -> None:
    """Two of three buffers have collisions, one of them was cut short."""
    path = fixture(case, "spe-buffers-tell-collisions-and-losses")
    case.run("mem", path).want(
        0,
        out_has=(
            "# collisions in 2 of 3 buffers; in 1 samples were lost\n",
        ),
    )
    info = case.run("mem", "--format=jsonl", path).want(0).objects()[0]
    assert (info["collisions"], info["buffers"]) == (2, 3)
    assert info["buffers_cut_short"] == 1


# Where it comes from.


def test_standard_input_is_a_file_as_well(case: Case) -> None:
    for name in (TWO, PIPE):
        path = fixture(case, name)
        words = " ".join(map(str, root(case, name)))
        plain = case.run("events", *root(case, name), path).want(0)
        assert plain.out.count("block") > 5
        case.shell(f'"$T" events {words} -', path.read_bytes()).want(
            0, out=plain.out
        )
        case.shell(f'"$T" events {words} - <{path}').want(0, out=plain.out)


def as_core(kernel: bytes) -> bytes:
    """The code of an executable as a copy of memory, as /proc/kcore is one."""
    at, n = struct.unpack_from("<Q", kernel, 32)[0], kernel[56]
    out = bytearray(kernel[:64])
    struct.pack_into("<H", out, 16, 4)
    struct.pack_into("<QQ", out, 32, 64, 0)
    struct.pack_into("<HHH", out, 58, 0, 0, 0)
    return bytes(out) + kernel[at : at + 56 * n] + kernel[64 + 56 * n :]


def test_folder_of_kcore_has_the_code_of_the_kernel(case: Case) -> None:
    path = fixture(case, KERNEL)
    kernel = path.parent / "root/boot/vmlinux-6.1.0"
    plain = case.run("events", *root(case, KERNEL), path).want(0)
    assert plain.out.count("block") > 3
    folder = case.folder / "recorded"
    (folder / "kcore_dir").mkdir(parents=True)
    (folder / "data").write_bytes(path.read_bytes())
    (folder / "kcore_dir/kcore").write_bytes(as_core(kernel.read_bytes()))
    case.run("info", folder).want(0, out_has="format     perf.data\n")
    case.run("events", "--no-original-paths", folder).want(0, out=plain.out)
    # The copy of the memory of the kernel is of use to the data alone, too.
    case.run("events", "--no-original-paths", folder / "data").want(
        0, out=plain.out
    )
    # Another file beside it was not recorded with it.
    (folder / "other.data").write_bytes(path.read_bytes())
    images = [
        row
        for row in case.run(
            "info",
            "--no-original-paths",
            "--format=jsonl",
            folder / "other.data",
        )
        .want(0)
        .objects()
        if row["type"] == "image" and row["path"].startswith("[kernel")
    ]
    assert [row["state"] for row in images] == ["missing"], images
    (folder / "data").unlink()
    case.run("info", folder).want(1, err_has="recorded")


def test_kernel_that_is_missing_has_a_place(case: Case) -> None:
    """It is found where check says, and [kernel.kallsyms] is no file."""
    path = fixture(case, KERNEL)
    case.run("check", "--no-original-paths", path).want(
        3,
        out_has=(
            "[kernel.kallsyms]_text",
            "below a folder DIR, as DIR/boot/vmlinux:\n",
        ),
    )
    below = case.folder / "below/boot/vmlinux"
    below.parent.mkdir(parents=True)
    below.write_bytes(
        (path.parent / "root/boot/vmlinux-6.1.0").read_bytes()
    )
    case.run(
        "check", "--no-original-paths", "--root", case.folder / "below", path
    ).want(0, out_has="every byte was decoded")


def test_trace_that_is_missing_is_told(case: Case) -> None:
    """Records alone: not even a gap would tell why there are no rows."""
    data = bytearray(fixture(case, PIPE).read_bytes())
    at = places(case, PIPE, "auxtrace_info")[0]
    path = case.write("records.data", bytes(data[:at]))
    case.run("events", path).want(0, err_has="no trace is in it")
    case.run("records", path).want(0, err="")


def test_files_are_found_by_symfs_too(case: Case) -> None:
    path = fixture(case, PLAIN)
    below = case.run("events", *root(case, PLAIN), path).want(0)
    case.run(
        "events",
        "--no-original-paths",
        "--symfs",
        path.parent / "root",
        path,
    ).want(0, out=below.out)


# Damage.


def damages(run: Run) -> list[str]:
    return [
        row["text"] for row in run.objects() if row["type"] == "damage"
    ]


def test_damage_of_a_record_names_it_and_what_is_wrong(case: Case) -> None:
    mmap = places(case, PLAIN, "mmap2")[0]
    comm = places(case, PLAIN, "comm")[0]
    aux = places(case, PLAIN, "aux")[0]
    wide = places(case, PLAIN, "switch_cpu_wide")[0]
    # Size of a record, and what is in its fields.
    for at, new, words in (
        (mmap + 72, b"/" * 40, ("filename",)),
        (comm + 16, b"x" * 8, ("comm",)),
        (aux + 8, b"\xff" * 16, ("aux_size",)),
        (wide + 6, struct.pack("<H", 40), ("SWITCH_CPU_WIDE", "40 bytes")),
        (wide + 6, struct.pack("<H", 3), ("has 3 bytes",)),
        (mmap + 16, b"\xff" * 16, ("len",)),
    ):
        path = changed(case, PLAIN, (at, new))
        start = max(
            place for place in (mmap, comm, aux, wide) if place <= at
        )
        told = damages(case.run("info", "--format=jsonl", path).want(0))
        mine = [text for text in told if f"{start:#x}" in text]
        assert mine, (f"{start:#x}", words, told)
        assert all(word in mine[0] for word in words), (words, mine)
        # The rows go on, and check says so.
        case.run("events", "-o", "out", path).want(0)
        assert case.run("check", "-o", "out", path).code in (0, 3)


def test_header_that_makes_no_sense_is_refused(case: Case) -> None:
    whole = fixture(case, PLAIN).read_bytes()
    for data, words in (
        (whole[:12], ("perf.data,",)),
        (whole[:8] + struct.pack("<Q", 7) + whole[16:], ("header",)),
        # Where attributes are, and how large one is.
        (whole[:16] + struct.pack("<Q", 1) + whole[24:], ("attr",)),
    ):
        path = case.write("bad.data", data)
        done = case.run("info", path)
        assert done.code == 4, (words, done.code, done.out)
        assert str(path) in done.err
        assert all(word in done.err for word in words), done.err


def test_every_file_cut_anywhere_ends(case: Case) -> None:
    data = fixture(case, PLAIN).read_bytes()
    for size in range(0, len(data), 61):
        path = case.write("cut.data", data[:size])
        for command in ("info", "events"):
            done = case.run(command, path)
            assert done.code in (0, 4), (size, done.code, done.err)
            assert done.code == 0 or done.err, size


# What is read.


def with_hole(case: Case, size: int) -> tuple[Path, int]:
    """A recording with `size` bytes of trace, almost all of them a hole."""
    data = bytearray(fixture(case, PIPE).read_bytes())
    trace = places(case, PIPE, "auxtrace")[0]
    piece = places(case, PIPE, "aux")[0]
    (n,) = struct.unpack_from("<Q", data, trace + 8)
    struct.pack_into("<Q", data, trace + 8, size)
    struct.pack_into("<Q", data, piece + 16, size)
    header = struct.unpack_from("<H", data, trace + 6)[0]
    end = trace + header + n
    path = case.write("hole.data", bytes(data[:end]))
    with path.open("r+b") as file:
        file.seek(trace + header + size)
        file.write(data[end:])
        file.truncate(trace + header + size + len(data) - end)
    return path, size


def measured(case: Case, *words: str | Path) -> tuple[str, int, int]:
    """Run; what it printed, bytes that it read, and its memory in KiB."""
    with subprocess.Popen(
        [case.tool, *map(str, words)],
        cwd=case.folder,
        env=case.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, err = "", ""
        assert process.stdout is not None and process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read()
        # It has ended and still has its account.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        account = Path(f"/proc/{process.pid}/io").read_text()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, err
    fields = dict(line.split(": ") for line in account.splitlines())
    return out, int(fields["rchar"]), usage.ru_maxrss


def test_what_lies_beside_the_trace_reads_none_of_it(case: Case) -> None:
    small, _ = with_hole(case, 64)
    less = {
        command: measured(case, command, small)[1]
        for command in ("info", "records", "maps")
    }
    large, size = with_hole(case, 300 * MIB)
    for command, before in less.items():
        out, read, _ = measured(case, command, large)
        assert out
        # The window of a reader, not what it looks at.
        assert read <= before + 2 * MIB, (command, before, read)
    assert f"bytes      {size}\n" in measured(case, "info", large)[0]


def test_four_gigabytes_open_in_little_memory(case: Case) -> None:
    small, _ = with_hole(case, 64)
    path, size = with_hole(case, 1 << 32)
    for command in ("info", "records"):
        _, _, before = measured(case, command, small)
        out, read, memory = measured(case, command, path)
        assert out
        assert read < 64 * MIB
        assert memory < before + 16 * 1024, (command, before, memory)
    assert f"bytes      {size}\n" in measured(case, "info", path)[0]
    # Its first packets as well: a window of some MiB.
    out, read, memory = measured(case, "packets", "--limit=5", path)
    assert len(out.splitlines()) == 6
    assert read < 256 * MIB
    # ThreadSanitizer keeps four bytes for each one that was touched.
    watched = b"__tsan_init" in Path(case.tool).read_bytes()
    most = 256 * 1024 * (5 if watched else 1)
    assert memory < before + most, (before, memory)


def test_limited_address_space_is_enough(case: Case) -> None:
    path, _ = with_hole(case, 1 << 32)
    limit = 1 << 29
    done = subprocess.run(
        [case.tool, "info", str(path)],
        env=case.environment(),
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (limit, limit)
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    # A sanitizer wants more than any machine has.
    if "Sanitizer" in done.stderr:
        return
    assert done.returncode == 0, done.stderr


# Records beside raw bytes.


def taken_apart(case: Case, name: str) -> tuple[Path, Path]:
    """The trace of a fixture and the records in front of it, as files."""
    data = fixture(case, name).read_bytes()
    first = places(case, name, "comm")[0]
    aux = places(case, name, "aux")[0]
    trace = places(case, name, "auxtrace")[0]
    (n,) = struct.unpack_from("<Q", data, trace + 8)
    header = struct.unpack_from("<H", data, trace + 6)[0]
    raw = case.write("raw.pt", data[trace + header : trace + header + n])
    return raw, case.write("side.sb", data[first:aux])


def rows_without(run: Run, *keys: str) -> list[dict[str, object]]:
    return [
        {key: value for key, value in row.items() if key not in keys}
        for row in run.want(0).objects()
    ]


def test_records_beside_raw_bytes_are_those_of_the_file(case: Case) -> None:
    name = "switches-of-a-processor-tell-which-process-ran"
    raw, side = taken_apart(case, name)
    words = [
        "--tech=pt",
        f"--perf-records={side},sample-type={SAMPLE_TYPE:#x}",
        "--stream-cpu=0",
        CLOCK,
        "--format=jsonl",
    ]
    whole = fixture(case, name)
    have = rows_without(case.run("records", *words, raw))
    want = rows_without(case.run("records", "--format=jsonl", whole))
    assert have == [row for row in want if row["record_type"] != "buffer"]
    insns = ["--kind=insn", *root(case, name)]
    have = rows_without(case.run("insns", *insns, *words, raw))
    want = rows_without(case.run("insns", *insns, "--format=jsonl", whole))
    assert have == want
    assert {row["pid"] for row in have} == {100, 200}


def a_mmap(order: str, name: bytes) -> bytes:
    size = -(-(len(name) + 1) // 8) * 8
    body = struct.pack(order + "IIQQQ", 7, 8, 0x1000, 0x2000, 0x3000)
    body += name.ljust(size, b"\0")
    return struct.pack(order + "IHH", 1, 2, 8 + len(body)) + body


def test_records_may_lack_places_and_be_turned(case: Case) -> None:
    raw = case.write("raw.pt", bytes(16))
    for order, word in (("<", ""), (">", ",big-endian")):
        side = case.write("a,b=c.sb", a_mmap(order, b"/bin/true"))
        rows = (
            case.run(
                "records",
                "--format=jsonl",
                "--tech=pt",
                f"--perf-records={side},cpu=3{word}",
                raw,
            )
            .want(0)
            .objects()
        )
        assert rows == [
            {
                "schema": 1,
                "type": "record",
                "record": 0,
                "record_type": "mmap",
                "cpu": 3,
                "pid": 7,
                "tid": 8,
                "address": "0x1000",
                "length": 0x2000,
                "file_offset": 0x3000,
                "name": "/bin/true",
            }
        ]


def test_records_may_be_of_several_files(case: Case) -> None:
    raw = case.write("raw.pt", bytes(16))
    one = case.write("one.sb", a_mmap("<", b"/one"))
    two = case.write("two.sb", a_mmap("<", b"/two"))
    rows = case.run(
        "records",
        "--format=jsonl",
        "--tech=pt",
        f"--perf-records={one},cpu=1",
        f"--perf-records={two}",
        raw,
    ).want(0)
    assert [
        (row["name"], row.get("cpu")) for row in rows.objects()
    ] == [("/one", 1), ("/two", None)]


def test_records_that_are_no_good_are_told(case: Case) -> None:
    raw = case.write("raw.pt", bytes(16))
    side = case.write("side.sb", a_mmap("<", b"/bin/true"))
    for words, code, said in (
        (f"{side},sample-type=x", 2, "sample-type=x"),
        (f"{side},cpus=3", 2, "cpus=3"),
        (f"{side},cpu=4294967295", 2, "cpu="),
        ("missing.sb", 1, "missing.sb"),
    ):
        case.run(
            "records", "--tech=pt", f"--perf-records={words}", raw
        ).want(code, err_has=said)
    # A sample id that is not there shows in the name.
    bad = case.run(
        "info",
        "--format=jsonl",
        "--tech=pt",
        f"--perf-records={side},sample-type={SAMPLE_TYPE}",
        raw,
    )
    told = bad.err if bad.code else json.dumps(bad.objects())
    assert "side.sb: MMAP at 0: size" in told, told


def test_records_are_for_raw_bytes(case: Case) -> None:
    side = case.write("side.sb", a_mmap("<", b"/bin/true"))
    done = case.run(
        "records", f"--perf-records={side}", fixture(case, PLAIN)
    )
    assert "perf-records" in done.err, done.err
