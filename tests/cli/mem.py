"""hwtdecode mem: tables of samples of Arm SPE, in all formats."""

import csv
import io
import struct

from runner import BRANCHES, Case

N1 = "--spe-cpu=0x413fd0c1"
RAW = ("mem", "--tech=spe", N1)


def sample(pc: int = 0x1000, op: int = 0, va: int = 0x2000, source: int = 0,
           events: int = 0x16, total: int = 10, tid: int = 7) -> bytes:
    """Make a load or store as Neoverse cores write it."""
    return (
        b"\xb0" + pc.to_bytes(7, "little") + b"\x80"
        + b"\x64" + tid.to_bytes(4, "little") + bytes(5)
        + bytes([0x49, op, 0x52]) + events.to_bytes(2, "little")
        + b"\x99\x04\x00\x98" + total.to_bytes(2, "little")
        + b"\xb2" + va.to_bytes(8, "little") + b"\x9a\x01\x00" + bytes(9)
        + bytes([0x43, source]) + bytes(2) + b"\x71" + bytes(8)
    )


def branch(pc: int, target: int, taken: bool = True) -> bytes:
    """Make a conditional branch."""
    events = 0x2 if taken else 0x42
    return (
        b"\xb0" + pc.to_bytes(7, "little") + b"\x80" + bytes(10)
        + bytes([0x4A, 1, 0x52]) + events.to_bytes(2, "little")
        + b"\x99\x04\x00\x98\x05\x00"
        + b"\xb1" + target.to_bytes(7, "little") + b"\x80" + bytes(16)
        + b"\x71" + bytes(8)
    )


def rows(case: Case, *words: str) -> list[dict]:
    run = case.run(*RAW, "--format=jsonl", *words).want(0)
    return [row for row in run.objects() if row["type"] == "mem"]


def test_text_has_notes_and_a_table(case: Case) -> None:
    case.write("a.spe", sample(total=0xFFF) + sample() + sample()[:30])
    run = case.run(*RAW, "--spe-interval=4096", "a.spe").want(0)
    notes, _, table = run.out.partition("\n\n")
    assert "# samples    3, of them 2 used; left out: 0 damaged, 1 cut" in notes
    assert "# loss       30 of 158 bytes" in notes
    assert "# interval   4096" in notes
    assert "erratum 1694299" in notes
    assert "1 samples at the limit" in notes
    row = table.splitlines()[1].split()
    assert row[:10] == ["2", "100.00", "8192", "2", "0", "10.0", "10",
                        "4095+", "4095+", "4095+"]
    run = case.run("mem", "--tech=spe", "a.spe").want(0)
    assert "not known: samples have no weight" in run.out
    assert "not known: data sources are numbers" in run.out
    assert "1694299" not in run.out
    run = case.run("mem", "--tech=spe", "--no-header", "a.spe").want(0)
    assert len(run.out.splitlines()) == 1


def test_limits_of_latencies_are_told_and_not_averaged(case: Case) -> None:
    # The limits of counters of 12 and 16 bits, and one of each that is none.
    case.write("a.spe", sample(total=0xFFF) + sample(total=0xFFFF)
               + sample(total=100) + sample(total=100) + sample(total=100))
    text = case.run(*RAW, "--no-header", "a.spe").want(0).out.split()
    # Mean, p50, p90, p99, and the longest: not (4095 + 65535) / 2.
    assert text[5:10] == ["100.0", "100", "4095+", "4095+", "65535+"]
    (row,) = rows(case, "a.spe")
    assert (row["total_max"], row["total_longest"]) == (100, 65535)
    assert row["total_at_least"] == 2 | 4 | 8
    assert (row["total_n"], row["total_saturated"]) == (3, 2)
    run = case.run(*RAW, "--format=csv", "a.spe").want(0)
    (line,) = csv.DictReader(io.StringIO(run.out))
    assert (line["total_longest"], line["total_at_least"]) == ("65535", "14")
    # With counters of 16 bits 4095 is a latency as any other.
    bits = "--spe-counter-bits=16"
    text = case.run(*RAW, bits, "--no-header", "a.spe").want(0).out.split()
    assert text[5:10] == ["1098.8", "100", "65535+", "65535+", "65535+"]
    # All that there is is below a limit.
    case.write("a.spe", sample(total=0xFFE))
    text = case.run(*RAW, "--no-header", "a.spe").want(0).out.split()
    assert text[9] == "4094"
    (row,) = rows(case, "a.spe")
    assert (row["total_longest"], row["total_at_least"]) == (4094, 0)


def test_sources_and_no_source(case: Case) -> None:
    without = sample()
    without = without[:51] + bytes(2) + without[53:]
    case.write("a.spe", without + sample() + sample(source=9))
    by = {(row["source"], row.get("source_name")): row
          for row in rows(case, "--by=source", "a.spe")}
    assert set(by) == {(None, None), (0, "l1d"), (9, "peer-core")}
    assert by[9, "peer-core"]["transfers"] == 1
    assert by[0, "l1d"]["at_l1"] == 1
    run = case.run(*RAW, "--by=source", "--format=csv", "--sort=key",
                   "a.spe").want(0)
    table = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["source_name"] for row in table] == ["none", "l1d",
                                                     "peer-core"]
    assert table[1]["total_sum"] == "10"


def test_transfers_are_from_another_cache(case: Case) -> None:
    # By CPU: the sources whose line another cache had, and those of them that it
    # had modified.  Of HiSilicon HIP12, in the words of perf: 0 peer CPU, 2 L3,
    # 4 peer cluster, 6 remote socket, and one more of each that is modified; 8
    # local and 9 remote memory, 13 device, 16 L2, 17 L2 modified, 18 L1.  Only
    # peers and sockets are other caches (perf: PERF_MEM_SNOOPX_PEER, _REMOTE).
    for cpu, known, transfers, modified, remote in (
        ("kunpeng-930", [*range(10), 13, 16, 17, 18], {0, 1, 4, 5, 6, 7},
         {1, 5, 7}, {6, 7, 9}),
        ("neoverse-n1", [0, *range(8, 15)], {9, 10, 12, 13}, set(), {13}),
        ("ampereone", [0, 3, 5, 7, 8, 9], {5}, set(), {5}),
    ):
        case.write("a.spe", b"".join(sample(source=n, events=2)
                                     for n in range(32)))
        run = case.run("mem", "--tech=spe", f"--spe-cpu={cpu}", "--by=source",
                       "--format=jsonl", "a.spe").want(0)
        found = {row["source"]: row for row in run.objects()
                 if row["type"] == "mem"}
        assert [n for n in found if "source_name" in found[n]] == known, cpu
        for n, row in found.items():
            assert row["transfers"] == (n in transfers), (cpu, n)
            assert row["modified"] == (n in modified), (cpu, n)
            assert row["remote"] == (n in remote), (cpu, n)
    # Both in their own level.
    case.write("a.spe", sample(source=3) + sample(source=17, events=2))
    run = case.run("mem", "--tech=spe", "--spe-cpu=kunpeng-930", "--by=source",
                   "--format=jsonl", "a.spe").want(0)
    by = {row["source_name"]: row for row in run.objects()
          if row["type"] == "mem"}
    assert by["l3-modified"]["at_l3"] == by["l2-modified"]["at_l2"] == 1


def test_where_chooses_samples(case: Case) -> None:
    case.write("a.spe", sample(op=0, total=5) + sample(op=1, total=50)
               + sample(op=0, total=100, events=0x1E) + branch(0x10, 0x20))
    for text, number in (
        ("load", 2), ("store", 1), ("branch", 1), ("taken", 1),
        ("not branch", 3), ("!branch", 3), ("lat_total >= 50", 2),
        ("lat_total>50 and load", 1), ("memory, lat_total<50", 1),
        ("l1d-refill", 1), ("bit3", 1), ("va", 3), ("not va", 1),
        ("va = 0x2000", 3), ("pc == 0x10", 1), ("source != 0", 0),
        ("conditional", 1), ("lat_xlat = 0", 0), ("not lat_xlat = 0", 4),
    ):
        found = rows(case, "--by=cpu", f"--where={text}", "a.spe")
        assert sum(row["samples"] for row in found) == number, text
    found = rows(case, "--by=cpu", "--where=load", "--where=l1d-refill",
                 "a.spe")
    assert found[0]["samples"] == 1


def test_where_names_events_as_the_cpu_of_the_samples_has_them(
        case: Case) -> None:
    case.write("a.spe", sample(events=0x1016) + sample())
    # A file that says which CPU it is of, and one that does not.
    case.run("import", "--tech=spe", N1, "-o", "n1.hwt", "a.spe").want(0)
    case.run("import", "--tech=spe", "-o", "any.hwt", "a.spe").want(0)
    for name, number in (("n1.hwt", 1), ("any.hwt", 0)):
        for command in ("spe", "mem"):
            run = case.run(command, "--format=jsonl",
                           "--where=late-prefetch", name).want(0)
            found = [row for row in run.objects()
                     if row.get("type", row.get("kind")) in ("mem", "sample")]
            assert len(found) == number, (name, command)
    case.write("b.spe", sample() + sample(events=0x816))
    for version, number in (("1.0", 0), ("1.1", 1)):
        found = rows(case, "--by=cpu", f"--spe-version={version}",
                     "--where=misaligned", "b.spe")
        assert sum(row["samples"] for row in found) == number, version


def test_where_knows_what_is_wrong_with_a_sample(case: Case) -> None:
    case.write("a.spe", sample(total=0xFFF) + sample() + sample()[:30])
    for text, number in (("total_saturated", 1), ("not total_saturated", 2),
                         ("truncated", 1)):
        run = case.run("spe", "--tech=spe", "--format=jsonl", "--kind=sample",
                       f"--where={text}", "a.spe").want(0)
        assert len(run.objects()) == number, text


def test_where_says_what_is_wrong(case: Case) -> None:
    case.write("a.spe", sample())
    for text, said in (
        ("lod", "no field, class, flag or event 'lod'"),
        ("", "a condition is missing"),
        ("load and", "a condition is missing"),
        ("load store", "where an 'and' belongs"),
        ("lat_total > x", "'x' is not a number"),
        ("bit64", "no field, class, flag or event 'bit64'"),
    ):
        case.run(*RAW, f"--where={text}", "a.spe").want(2, err_has=said)


def test_options_that_do_not_fit_are_told(case: Case) -> None:
    case.write("a.spe", sample())
    for words, said in (
        (("--by=page", "--sort=sharing"), "--sort sharing is for cache lines"),
        (("--by=page", "--accesses"), "--accesses are those of cache lines"),
        (("--histogram",), "--histogram: only JSON lines have it"),
        (("--histogram", "--format=csv"), "only JSON lines"),
    ):
        case.run(*RAW, *words, "a.spe").want(2, err_has=said)
    # That there is nothing of a thread is an answer.
    assert not case.run(*RAW, "--tid=1", "a.spe").want(0).err


def test_a_file_that_says_another_cpu_is_told(case: Case) -> None:
    case.write("a.spe", sample())
    case.run("import", "--tech=spe", N1, "--spe-version=1.1", "-o", "a.hwt",
             "a.spe").want(0)
    said = "--spe-cpu is not used where the file itself says another one"
    run = case.run("mem", "--spe-cpu=neoverse-v1", "--spe-version=1.1",
                   "--spe-interval=5", "a.hwt").want(0, err_has=said)
    assert "MIDR 0x413fd0c1" in run.out and "# interval   5" in run.out
    assert "--spe-version" not in run.err and "interval" not in run.err
    run = case.run("mem", N1, "a.hwt").want(0)


def test_files_are_added_together(case: Case) -> None:
    first, second = sample(total=3) + sample(va=0x3000), sample(total=70)
    case.write("a.spe", first)
    case.write("b.spe", second)
    case.write("both.spe", first + second)
    for by in ("symbol", "insn", "address", "page", "line", "source", "cpu",
               "thread"):
        assert rows(case, f"--by={by}", "a.spe", "b.spe") == rows(
            case, f"--by={by}", "both.spe")
    case.run(*RAW, "a.spe", "missing.spe").want(1, err_has="missing.spe")
    case.run(*RAW, "-o", "b.spe", "a.spe", "b.spe").want(2)
    assert (case.folder / "b.spe").read_bytes() == second


def test_sharing_names_the_line_and_no_neighbour(case: Case) -> None:
    quiet = b"".join(sample(va=0x5040, op=1, tid=7) for _ in range(9))
    case.write("a.spe", quiet
               + sample(va=0x5000, op=1, tid=7, pc=0x100)
               + sample(va=0x5008, source=9, tid=8, pc=0x200)
               + sample(va=0x5010, source=0, tid=8, pc=0x200))
    run = case.run(*RAW, "--by=sharing", "a.spe").want(0)
    assert "0x5000  false sharing, 2 users, 1 write" in run.out
    assert "0x5040" not in run.out
    assert "+8    thread 8        loads 1 " in run.out
    run = case.run(*RAW, "--by=sharing", "--format=jsonl", "a.spe").want(0)
    info, line, *accesses = run.objects()
    assert info["type"] == "mem_info" and info["rows"] == 2
    assert line["sharing"] == "false" and line["transfers"] == 1
    assert [(row["offset"], row["tid"], row["stores"], row["pc"])
            for row in accesses] == [(0, 7, 1, "0x100"), (8, 8, 0, "0x200"),
                                     (16, 8, 0, "0x200")]
    run = case.run(*RAW, "--by=sharing", "--format=csv", "a.spe").want(0)
    table = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["line"] for row in table] == ["0x5000"] * 3
    assert table[1]["source_name"] == "peer-core"
    # All lines have accesses, if they are asked for.
    run = case.run(*RAW, "--by=line", "--accesses", "--format=csv",
                   "a.spe").want(0)
    assert "0x5040" in run.out
    case.run(*RAW, "--by=cpu", "--accesses", "a.spe").want(2)
    case.run(*RAW, "--by=cpu", "--sort=sharing", "a.spe").want(2)


def test_physical_lines_are_of_all_processes(case: Case) -> None:
    def at(va: int, pa: int, tid: int) -> bytes:
        made = sample(va=va, op=1, tid=tid)
        return made[:42] + b"\xb3" + pa.to_bytes(7, "little") + b"\x80" \
            + made[51:]

    case.write("a.spe", at(0x1000, 0x77040, 1) + at(0x9008, 0x77048, 2)
               + sample())
    assert not rows(case, "--by=sharing", "a.spe")
    (row,) = rows(case, "--by=sharing", "--physical", "a.spe")
    assert row["address"] == "0x77040" and row["users"] == 2
    assert len(rows(case, "--by=address", "--physical", "a.spe")) == 2


def test_branches_are_pairs(case: Case) -> None:
    case.write("a.spe", branch(0x10, 0x20) * 3 + branch(0x10, 0x20, False)
               + branch(0x30, 0x10))
    run = case.run(*RAW, "--by=branch", "--format=csv", "a.spe").want(0)
    table = [(row["from"], row["to"], row["is_taken"], row["samples"])
             for row in csv.DictReader(io.StringIO(run.out))]
    assert table == [("0x10", "0x20", "1", "3"), ("0x10", "", "0", "1"),
                     ("0x30", "0x10", "1", "1")]
    run = case.run(*RAW, "--by=branch", "a.spe").want(0)
    assert "0x10 -> 0x20" in run.out and "0x10 not taken" in run.out


def test_top_sort_and_histogram(case: Case) -> None:
    case.write("a.spe", b"".join(
        sample(va=0x1000 * i, total=10 * i) for i in range(1, 60)))
    run = case.run(*RAW, "--by=address", "--no-header", "a.spe").want(0)
    assert len(run.out.splitlines()) == 40
    run = case.run(*RAW, "--by=address", "--no-header", "--top=0",
                   "a.spe").want(0)
    assert len(run.out.splitlines()) == 59
    assert len(rows(case, "--by=address", "a.spe")) == 59
    (row,) = rows(case, "--by=address", "--top=1", "a.spe")
    assert row["address"] == "0x3b000" and row["total_max"] == 590
    (row,) = rows(case, "--by=address", "--top=1", "--sort=key", "a.spe")
    assert row["address"] == "0x1000"
    (row,) = rows(case, "--by=cpu", "--histogram", "a.spe")
    assert row["total_histogram"][0] == [10, 11, 1]
    assert len(row["total_histogram"]) == 59


def test_filters_and_jobs(case: Case) -> None:
    case.write("a.spe", b"".join(sample(tid=i % 3 + 1) for i in range(90)))
    assert sum(row["samples"] for row in rows(
        case, "--by=thread", "--tid=2", "a.spe")) == 30
    one = case.run(*RAW, "--jobs=1", "a.spe").want(0).out
    assert one == case.run(*RAW, "--jobs=3", "a.spe").want(0).out


def test_damage_is_no_statistics(case: Case) -> None:
    bad = bytearray(sample())
    bad[53:55] = b"\x30\x30"
    case.write("a.spe", sample() * 3 + bytes(bad) + sample() * 3)
    (row,) = rows(case, "--by=cpu", "a.spe")
    assert row["samples"] == 6
    run = case.run(*RAW, "--by=cpu", "--max-loss=0", "--format=jsonl",
                   "a.spe").want(3)
    info = run.objects()[0]
    assert info["samples"] == 7 and info["damaged"] == 1
    assert info["collisions"] is None and info["branch_bias"] is True


def test_code_without_symbols_is_of_its_file(case: Case) -> None:
    case.write("a.spe", sample(pc=0x5010))
    case.write("code.bin", bytes(64))
    image = "--image=code.bin:16:32@0x5000"
    run = case.run(*RAW, "--by=insn", image, "a.spe").want(0)
    assert run.out.endswith("  0x5010  code.bin+0x20\n")
    (row,) = rows(case, "--by=insn", image, "a.spe")
    assert row["image_offset"] == "0x20" and "symbol" not in row
    run = case.run(*RAW, "--by=symbol", image, "a.spe").want(0)
    assert run.out.endswith("  code.bin\n")
    assert "# symbols    1 samples are in code without" in run.out
    run = case.run(*RAW, "--by=insn", "a.spe").want(0)
    assert run.out.endswith("  0x5010  ?\n")


def program(name: bytes, address: int, size: int) -> bytes:
    """An ELF file at 0x400000 with code and one function."""
    names = b"\0" + name + b"\0"
    text, table = 0x100, 0x200
    strings = table + 48
    sections = (strings + len(names) + 7) // 8 * 8
    body = bytearray(sections + 4 * 64)
    struct.pack_into("<16sHHIQQQIHHHHHH", body, 0,
                     b"\x7fELF\2\1\1", 2, 183, 1, 0x400000 + text, 64,
                     sections, 0, 64, 56, 1, 64, 4, 3)
    struct.pack_into("<IIQQQQQQ", body, 64, 1, 5, 0, 0x400000, 0x400000,
                     len(body), len(body), 0x1000)
    struct.pack_into("<IBBHQQ", body, table + 24, 1, 0x12, 0, 1, address,
                     size)
    body[strings : strings + len(names)] = names
    for i, fields in enumerate((
        (1, 6, 0x400000 + text, text, 0x100, 0, 0, 4, 0),
        (2, 0, 0, table, 48, 3, 1, 8, 24),
        (3, 0, 0, strings, len(names), 0, 0, 1, 0),
    )):
        struct.pack_into("<IIQQQQIIQQ", body, sections + 64 * (i + 1), 0,
                         *fields)
    return bytes(body)


def test_functions_have_addresses_and_code_in_them_offsets(
        case: Case) -> None:
    case.write("prog", program(b"spin", 0x400120, 64))
    case.write("a.spe", sample(pc=0x400128))
    for by, want in (("symbol", ("spin", "0x400120", "")),
                     ("insn", ("spin", "", "8"))):
        run = case.run(*RAW, f"--by={by}", "--image=prog:0@0x400000",
                       "--format=csv", "a.spe").want(0)
        (row,) = csv.DictReader(io.StringIO(run.out))
        assert (row["symbol"], row["symbol_address"],
                row["symbol_offset"]) == want


def test_traces_say_how_they_were_recorded(case: Case) -> None:
    case.write("a.spe", sample(source=9))
    case.run("import", "--tech=spe", "--spe-cpu=0x413fd0c1",
             "--spe-interval=512", "--stream-cpu=4", "-o", "a.hwt",
             "a.spe").want(0)
    case.run("import", "--tech=spe", "--spe-cpu=0x410fd490",
             "--spe-interval=1024", "--stream-cpu=5", "-o", "b.hwt",
             "a.spe").want(0)
    run = case.run("mem", "--by=source", "--format=jsonl", "a.hwt").want(0)
    info, row = run.objects()
    assert info["midr"] == "0x413fd0c1" and info["branch_bias"] is True
    assert row["source_name"] == "peer-core" and row["weight"] == 512
    run = case.run("mem", "--by=cpu", "a.hwt", "b.hwt").want(0)
    assert "# interval   512 to 1024" in run.out
    assert "# cpu        of several kinds" in run.out
    assert "1694299" in run.out
    run = case.run(*RAW[:2], "--spe-cpu=neoverse-n1", "a.spe").want(0)
    assert "before r4p1, if it is one" in run.out


def test_other_traces_have_no_samples(case: Case) -> None:
    trace, _ = case.trace(BRANCHES)
    run = case.run("mem", "--format=jsonl", trace).want(
        0, err_has="no samples of Arm SPE"
    )
    assert run.objects()[0]["samples"] == 0
