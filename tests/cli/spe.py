"""Samples of Arm SPE out of raw bytes, in all forms of rows."""

from runner import Case

# A branch of an Arm model that is not taken, and a record that is cut off.
MODEL = bytes.fromhex(
    "4a01 b10000000000000080 4242 b02041c0adffff0080 980000"
    "71803ef746e9010000"
    "4901 b250bdba730080ffff b350bdbaf3000000 80 9a0000"
)
# Kunpeng: a counter of index 6, and a header that nothing is known of.
ODD = bytes.fromhex("4900 9e0c01 90aabb b00410000000000080 01")


def test_rows_have_all_fields(case: Case) -> None:
    case.write("a.spe", MODEL)
    run = case.run("events", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    branch, gap, load = run.objects()
    assert branch["kind"] == "sample"
    assert branch["ip"] == "0xffffadc04120"
    assert branch["op_class"] == "branch" and branch["conditional"] is True
    assert branch["branch_target"] == "0x0" and "target" not in branch
    assert branch["events"] == "0x42"
    assert branch["lat_total"] == 0 and "lat_issue" not in branch
    assert branch["count"] == 0x1E946F73E80
    assert (branch["first"], branch["record_bytes"]) == (0, 34)
    assert gap["kind"] == "gap" and gap["reason"] == "truncated"
    assert (gap["first"], gap["end"]) == (34, 57)
    assert load["truncated"] is True and load["lat_xlat"] == 0
    assert load["va"] == "0xffff800073babd50" and load["va_tag"] == "0xff"
    assert load["pa"] == "0xf3babd50" and "source" not in load


def test_packets_without_a_field_are_told(case: Case) -> None:
    case.write("a.spe", ODD)
    run = case.run("events", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    (sample,) = run.objects()
    assert sample["packets"] == [
        {"header": 0x9E, "index": 6, "bytes": 2, "payload": "0x10c"},
        {"header": 0x90, "index": 0, "bytes": 2, "payload": "0xbbaa"},
    ]
    case.run("events", "--tech=spe", "a.spe").want(
        0, out_has="memory general pc_el 0"
    )


def test_damage_counts_as_loss(case: Case) -> None:
    case.write("a.spe", MODEL)
    case.run("check", "--tech=spe", "a.spe").want(
        3, out_has=("stream 0  spe", "gap truncated")
    )


def test_packets_are_rows_in_all_forms(case: Case) -> None:
    case.write("a.spe", ODD)
    run = case.run("packets", "--tech=spe", "--format=jsonl", "a.spe").want(0)
    operation, counter, unknown, pc, end = run.objects()
    assert operation["kind"] == "spe.operation"
    assert (operation["op_class"], operation["op"]) == (1, "0x0")
    assert (counter["kind"], counter["index"]) == ("spe.counter", 6)
    assert counter["payload"] == "0x10c" and counter["payload_size"] == 2
    assert (unknown["kind"], unknown["header"]) == ("spe.unknown", "0x90")
    assert (unknown["payload"], unknown["bytes"]) == ("0xbbaa", 3)
    assert pc["kind"] == "spe.pc" and pc["ip"] == "0x1004"
    assert (pc["level"], pc["security"]) == (0, 1)
    assert end["kind"] == "spe.end" and end["offset"] == 17
    csv = case.run("packets", "--tech=spe", "--format=csv", "a.spe").want(0)
    head, first = csv.out.splitlines()[:2]
    row = dict(zip(head.split(","), first.split(","), strict=True))
    assert row["kind"] == "spe.operation" and row["op"] == "0x0"
    assert "event_names" in row and "atoms" not in row
    some = case.run("packets", "--tech=spe", "--kind=spe.end,spe.counter",
                    "--no-header", "a.spe").want(0)
    found = [line.split() for line in some.out.splitlines()]
    assert ["spe.counter" in found[0], "spe.end" in found[1]] == [True] * 2
    assert len(found) == 2
    case.run("packets", "--tech=spe", "--kind=spe", "a.spe").want(
        0, out_has="spe.operation    load, general"
    )


def test_damaged_packets_are_shown(case: Case) -> None:
    case.write("a.spe", b"\x49\x00\x30\x30\x30\x01" + MODEL[:40])
    case.run("packets", "--tech=spe", "--raw", "a.spe").want(
        0, out_has=("unknown          2 bytes", "truncated        4 bytes")
    )
    case.run("packets", "--tech=spe", "--max-loss=1", "a.spe").want(3)


def test_packets_as_perf_lists_them(case: Case) -> None:
    case.write("a.spe", MODEL)
    run = case.run("packets", "--tech=spe", "--style=perf", "a.spe").want(0)
    lines = run.out.splitlines()
    assert lines[0] == ". ... ARM SPE data: size 0x39 bytes"
    assert lines[1] == ".  00000000:  4a 01" + 43 * " " + "B COND"
    assert lines[3].endswith(" EV RETIRED NOT-TAKEN")
    assert lines[6] == (
        ".  00000019:  71 80 3e f7 46 e9 01 00 00" + 22 * " " +
        "TS 2101429616256"
    )
    assert lines[-1].endswith(" LAT 0 XLAT")


def test_buffers_begin_where_the_user_says(case: Case) -> None:
    case.write("a.spe", MODEL + MODEL)
    run = case.run("packets", "--tech=spe", "--style=perf",
                   "--split-at=57,0x5b", "a.spe").want(0)
    heads = [line for line in run.out.splitlines() if "SPE data" in line]
    assert heads == [f". ... ARM SPE data: size {n} bytes"
                     for n in ("0x39", "0x22", "0x17")]
    assert run.out.count(".  00000000:  4a 01") == 2
    part = case.run("packets", "--tech=spe", "--style=perf", "--split-at=57",
                    "--offset=57-59", "a.spe").want(0)
    assert part.out.splitlines()[1:] == [
        ".  00000000:  4a 01" + 43 * " " + "B COND"]
    case.run("packets", "--tech=spe", "--split-at=57,57", "a.spe").want(
        2, err_has="offsets must rise"
    )
    case.run("packets", "--tech=spe", "--split-at=x", "a.spe").want(
        2, err_has="'x' is no offset"
    )
    case.run("packets", "--tech=spe", "--split-at=5000", "a.spe").want(
        1, err_has=("5000", "114 bytes")
    )


def test_style_perf_where_it_does_not_fit(case: Case) -> None:
    case.write("a.spe", MODEL)
    case.write("a.pt", bytes.fromhex("0282" * 8))
    packets = ("packets", "--style=perf")
    case.run(*packets, "--tech=spe", "--format=csv", "a.spe").want(
        2, err_has="--style perf is text"
    )
    case.run(*packets, "--tech=spe", "--times", "a.spe").want(
        2, err_has="leave out --times"
    )
    case.run(*packets, "--tech=spe", "--raw", "a.spe").want(
        2, err_has="leave out --raw"
    )
    case.run(*packets, "a.pt").want(2, err_has="is for Arm SPE, not for intel-pt")
    case.run("packets", "--style=objdump", "--tech=spe", "a.spe").want(
        2, err_has="'objdump' is not columns|perf"
    )


def test_names_by_cpu_and_version(case: Case) -> None:
    # A load of a Neoverse N1: events 12 and 19, source 8.
    case.write("a.spe", bytes.fromhex(
        "b000104000000000804900 6202100800 4308 71e803000000000000"))
    spe = ("--tech=spe", "--format=jsonl")
    (row,) = case.run("events", *spe, "a.spe").want(0).objects()
    assert row["event_names"] == ["retired", "l2d-access"]
    assert "source_name" not in row and row["source"] == 8
    n1 = ("--spe-cpu=neoverse-n1", "--spe-version=1.0", "--clock=1/40")
    (row,) = case.run("events", *spe, *n1, "a.spe").want(0).objects()
    assert row["event_names"] == ["retired", "late-prefetch"]
    assert (row["source_name"], row["time_ns"]) == ("l2", 40000)
    case.run("events", "--tech=spe", *n1, "a.spe").want(
        0, out_has=("events 0x81002 retired late-prefetch", "source 8 l2")
    )
    case.run("packets", "--tech=spe", "--times", *n1, "a.spe").want(
        0, out_has=("retired, late-prefetch, bit 19", "8, l2",
                    "0.000040000"))
    case.run("packets", "--tech=spe", "--style=perf", *n1, "a.spe").want(
        0, out_has="EV LATE-PREFETCH RETIRED L2D-ACCESS")


def test_configuration_is_saved_and_shown(case: Case) -> None:
    case.write("a.spe", MODEL)
    told = ("--spe-cpu=0x481fd010", "--spe-version=1.1", "--spe-owner=cpu",
            "--spe-counter-bits=12", "--spe-interval=1048576")
    case.run("import", "--tech=spe", *told, "a.spe", "-o", "a.hwt").want(0)
    case.run("info", "a.hwt").want(
        0, out_has="recorded   cpu kunpeng-920 (MIDR 0x481fd010)  SPE 1.1  "
        "counters of 12 bits  contexts are of a cpu  every 1048576 operations"
    )
    stream = case.run("info", "--format=jsonl", "a.hwt").want(0).objects()[1]
    assert stream["midr"] == "0x481fd010"
    assert stream["cpu_name"] == "kunpeng-920"
    assert (stream["pmsver"], stream["counter_bits"]) == (2, 12)
    assert (stream["context_owner"], stream["interval"]) == ("cpu", 1048576)
    case.run("info", "--tech=spe", "--spe-cpu=neoverse-n9", "a.spe").want(
        2, err_has=("'neoverse-n9' is no CPU", "did you mean neoverse-n")
    )
    case.run("info", "--tech=spe", "--spe-version=2", "a.spe").want(
        2, err_has="'2' is no version of SPE")
    case.run("info", "--tech=spe", "--spe-interval=0", "a.spe").want(
        2, err_has="'0' is no number of operations")


def test_text_of_perf_is_a_trace(case: Case) -> None:
    case.write("a.spe", MODEL[:34] * 3)
    listing = case.run("packets", "--tech=spe", "--style=perf",
                       "--split-at=34,68", "a.spe").want(0).out
    record = ("0 0 0x40 [0x30]: PERF_RECORD_AUXTRACE size: 0x22  offset: 0  "
              "ref: 0x1  idx: 0  tid: -1  cpu: 30\n\n")
    text = "".join(f"{record if 'SPE data' in line else ''}{line}\n"
                   for line in listing.splitlines())
    case.write("a.txt", text.encode())
    info = case.run("info", "--format=jsonl", "a.txt").want(0).objects()
    assert info[0]["format"] == "perf-text" and info[0]["damages"] == 0
    assert info[1]["cpu"] == 30
    assert [e["start"] for e in info[1]["extents"]] == [0, 34, 68]
    case.run("packets", "--style=perf", "a.txt").want(0, out=listing)
    rows = case.run("events", "--format=jsonl", "--clock=1/10",
                    "--spe-cpu=neoverse-n1", "a.txt").want(0).objects()
    assert [row["ip"] for row in rows] == ["0xffffadc04120"] * 3
    assert rows[0]["time_ns"] == 10 * 0x1E946F73E80
    case.run("import", "a.txt", "-o", "a.hwt").want(0)
    case.run("packets", "--style=perf", "a.hwt").want(0, out=listing)


def test_text_of_perf_with_a_counter_that_wraps(case: Case) -> None:
    # A counter of 32 bits at 2^32 + 0x100; 16 counts are 40 ns from 1000 ns on.
    # perf: c = cycles + (count - cycles & mask); 1000 + (c >> 4) * 40 +
    # ((c & 15) * 40 >> 4)
    counts = {
        0x100: 10_737_419_880,  # 2^32 + 0x100 is 268,435,472 * 16
        0x105: 10_737_419_892,  # 5 more: 5 * 40 >> 4
        0x110: 10_737_419_920,  # 2^32 + 0x110 is 268,435,473 * 16
        0xfffffff0: 21_474_837_440,  # 2^33 - 0x10 is 536,870,911 * 16
        0x0ff: 21_474_838_117,  # 2^33 + 0xff is 536,870,927 * 16 + 15
    }
    lines = [". ... ARM SPE data: size %#x bytes" % (9 * len(counts))]
    for i, count in enumerate(counts):
        data = b"\x71" + count.to_bytes(8, "little")
        lines.append(".  %08x:  %s    TS %d" % (9 * i, data.hex(" "), count))
    lines += ["0 0 0x978 [0x38]: PERF_RECORD_TIME_CONV",
              "... Time Shift      4", "... Time Muliplier  40",
              "... Time Zero       1000", "... Time Cycles     4294967552",
              "... Time Mask       0xffffffff", "... Cap Time Zero   1",
              "... Cap Time Short  1", ": unhandled!"]
    case.write("a.txt", "".join(line + "\n" for line in lines).encode())
    case.run("import", "a.txt", "-o", "a.hwt").want(0)
    rows = case.run("events", "--format=jsonl", "a.txt").want(0).out
    case.run("events", "--format=jsonl", "a.hwt").want(0, out=rows)
    samples = case.run("spe", "--format=jsonl", "a.hwt").want(0).objects()
    assert {row["count"]: row["time_ns"] for row in samples} == counts
    packets = case.run("packets", "--times", "--format=jsonl", "a.hwt")
    assert [row["time_ns"] for row in packets.want(0).objects()] == list(
        counts.values())
    info = case.run("info", "--format=jsonl", "a.hwt").want(0).objects()[1]
    assert info["clock_wrap_base"] == 4294967552
    assert info["clock_wrap_mask"] == 0xffffffff
    case.run("info", "a.hwt").want(
        0, out_has="counter    bits 0xffffffff, counts from 4294967552 on")


def test_more_damage_than_is_listed(case: Case) -> None:
    # Every line has 2 of 4 bytes.
    lines = [". ... ARM SPE data: size 0x445c0 bytes"]
    lines += [".  %08x:  49 01    ST" % at for at in range(0, 0x445C0, 4)]
    case.write("a.txt", "".join(line + "\n" for line in lines).encode())
    case.run("import", "a.txt", "-o", "a.hwt").want(0)
    for name in ("a.txt", "a.hwt"):
        case.run("info", name).want(0, out_has="damage     65536 places or more")
        rows = case.run("events", "--format=jsonl", name).want(0).objects()
        assert sum(row["kind"] == "sample" for row in rows) == 70000
        gaps = [row for row in rows if row.get("reason") == "file-damaged"]
        assert len(gaps) == 70001
        assert sum("others are not listed" in row["text"] for row in gaps) == 1


def test_check_counts_samples_and_says_what_to_do(case: Case) -> None:
    # The second of three records has bytes that begin no packet.
    case.write("a.spe", MODEL[:34] + MODEL[:11] + b"\x02\x02"
               + MODEL[13:34] + MODEL[:34])
    run = case.run("check", "--tech=spe", "a.spe").want(3)
    (line,) = [line for line in run.out.splitlines() if "samples" in line]
    assert line.split() == ["samples", "3"], run.out
    assert "Arm SPE: each costs one sample" in " ".join(run.out.split())


def test_text_with_lines_that_are_missing(case: Case) -> None:
    case.write("a.spe", MODEL[:34] * 2)
    lines = case.run("packets", "--tech=spe", "--style=perf", "a.spe").want(
        0).out.splitlines()
    # The counter of the first record, as line 6.
    assert "LAT" in lines.pop(5)
    case.write("a.txt", "\n".join("> " + line for line in lines).encode())
    case.run("check", "--gaps", "a.txt").want(
        3, out_has=("file-damaged", "line 6: 0x3 bytes of the buffer "
                    "missing before it"))
    rows = case.run("events", "--format=jsonl", "--kind=sample", "a.txt"
                    ).want(0).objects()
    assert rows[-1]["ip"] == "0xffffadc04120" and "lat_total" in rows[-1]


def record(count: int, cpu: int) -> bytes:
    """A load with a context and a timestamp, 64 bytes."""
    head = bytes.fromhex("b0 0010400000000080 64") + cpu.to_bytes(4, "little")
    return (head + bytes.fromhex("4900 520200")).ljust(55, b"\0") + b"\x71" + \
        count.to_bytes(8, "little")


def test_buffers_without_marks_are_found(case: Case) -> None:
    # CPU 3 and 5 by turns; the first buffer is cut off in a record.
    dump = b"".join(record(1000 + i, 3) for i in range(4)) + \
        record(1004, 3)[:20] + \
        b"".join(record(900 + i, 5) for i in range(3)) + \
        b"".join(record(1010 + i, 3) for i in range(2))
    case.write("hwt.raw", dump)
    info = ("info", "--tech=spe", "--format=jsonl", "hwt.raw")
    by_cpu = case.run(*info, "--split-at=auto", "--spe-owner=cpu").want(
        0).objects()[1:]
    assert [(s["cpu"], [(e["start"], e["end"]) for e in s["extents"]])
            for s in by_cpu] == [(3, [(0, 276), (276, 404)]), (5, [(0, 192)])]
    by_time = case.run(*info, "--split-at=auto").want(0).objects()[1:]
    assert [s["bytes"] for s in by_time] == [276, 192 + 128]
    assert all("cpu" not in s for s in by_time)
    rows = case.run("events", "--tech=spe", "--format=jsonl", "--clock=1/10",
                    "--split-at=auto", "--spe-owner=cpu", "--kind=sample",
                    "hwt.raw").want(0).objects()
    times = [row["time_ns"] for row in rows if "truncated" not in row]
    assert times == sorted(times) and len(times) == 9
    assert [row["cpu"] for row in rows if row["context_el1"] == "0x5"
            ] == [5] * 3
    case.run("info", "--split-at=auto", "hwt.raw").want(
        2, err_has="--split-at auto: only Arm SPE")
    case.write("empty", b"")
    case.run("info", "--tech=spe", "--split-at=auto", "empty").want(
        0, out_has="bytes      0")


def test_who_asks_for_what_no_stream_has_is_told(case: Case) -> None:
    case.write("a.spe", MODEL)
    words = ["--tech=spe", "--stream-cpu=3", "-o", "s.hwt", "a.spe"]
    case.run("import", *words).want(0)
    for name in ("calls", "report", "flame", "coverage", "hist"):
        case.run(name, "s.hwt").want(
            0, err_has="s.hwt: samples of Arm SPE do not tell what ran; "
        )
    case.run("diff", "s.hwt", "s.hwt").want(0, err_has="do not tell what ran")
    case.run("spe", "s.hwt").want(0, err="")
    case.run("events", "--cpu=1-3", "s.hwt").want(0, err="")
    case.run("events", "--cpu=4", "s.hwt").want(
        0, err_has="warning: s.hwt: no stream is of these CPUs; "
    )
    trace, words = case.trace("pt-good/tnt-not-taken-is-part-of-the-flow")
    case.run("spe", *words, trace).want(0, err_has="no samples of Arm SPE")
    case.run("report", *words, trace).want(0, err="")
