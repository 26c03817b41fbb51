"""Snapshots and raw bytes of CoreSight: folders, configurations, sinks."""

import random

from runner import Case

# Frames whose first byte says whose 14 bytes follow: of 0x10, 0x11, 0x33.
FRAMES = b"".join(
    bytes([trace_id << 1 | 1, *[2] * 14, 0]) for trace_id in (0x10, 0x11, 0x33)
)
ETM = """\
[device]
name=ETM_0
class=trace_source
type=ETM4.2
[regs]
TRCTRACEIDR(0x010)=0x10
TRCCONFIGR=0x8c1
"""


def snapshot(case: Case) -> None:
    folder = case.folder / "snap"
    folder.mkdir()
    case.write(
        "snap/snapshot.ini",
        "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n"
        "[trace]\nmetadata=trace.ini\n",
    )
    case.write(
        "snap/cpu.ini",
        "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n"
        "[dump]\nfile=mem.bin\naddress=0x1000\n"
        "[dump2]\nfile=gone.bin\naddress=0x2000\nlength=16\n",
    )
    case.write("snap/etm.ini", ETM)
    case.write(
        "snap/trace.ini",
        "[trace_buffers]\nbuffers=b\n[b]\nname=ETB\nfile=etb.bin\n"
        "format=coresight\n[source_buffers]\nETM_0=ETB\n"
        "[core_trace_sources]\ncpu_0=ETM_0\n",
    )
    case.write("snap/etb.bin", FRAMES)
    case.write("snap/mem.bin", b"memory")


def test_a_limit_that_no_option_changes(case: Case) -> None:
    snapshot(case)
    case.write("snap/snapshot.ini", "[snapshot]\n" + "#" * (1 << 20))
    case.run("info", "snap").want(1, out="", err_has="no option changes")
    case.write("snap/snapshot.ini", "[snapshot]\n")
    with (case.folder / "snap/etb.bin").open("wb") as file:
        file.truncate((1 << 30) + 16)
    snapshot_text = "[snapshot]\n[trace]\nmetadata=trace.ini\n"
    case.write("snap/snapshot.ini", snapshot_text)
    case.run("info", "snap", "--max-memory=8G").want(
        1, out="", err_has="1 GiB in one piece, whatever --max-memory says"
    )


def test_registers_that_are_told_twice(case: Case) -> None:
    case.write("sink.bin", FRAMES)
    case.write("etm.ini", ETM + "TRCCONFIGR=1\n")
    words = ["--tech=coresight", "--framing=memory", "--etm-config=etm.ini"]
    case.run("info", *words, "sink.bin").want(
        1, out="", err_has="TRCCONFIGR: '1' is not what a line before says"
    )
    snapshot(case)
    case.write("snap/etm.ini", ETM + "TRCCONFIGR=1\n")
    case.run("info", "snap").want(
        0, err_has="TRCCONFIGR again, with another value"
    )


def test_info_of_a_snapshot(case: Case) -> None:
    snapshot(case)
    for name in ("snap", "snap/", "snap/snapshot.ini"):
        case.run("info", name).want(
            0,
            out_has=(
                f"file       {name}\n",
                "format     snapshot\n",
                "streams    2\nbytes      48\n",
                "stream 0  coresight  ETB\n",
                "  frames     memory  3 frames  overhead 6  lost 0\n",
                "  id 0x10    14 bytes  stream 1\n",
                "  id 0x11    14 bytes  no source is known\n",
                "  id 0x33    14 bytes  no source is known\n",
                "stream 1  coresight  cpu 0  ETM_0\n  bytes      14\n",
                "  sink       stream 0\n",
                "  recorded   etmv4  arch v8  profile A  id 0x10\n",
                "  register   TRCCONFIGR  0x000008c1\n",
                "  register   TRCIDR1     0x4100f403\n",
                "missing",
                "gone.bin",
            ),
        )


def test_jsonl_of_a_snapshot(case: Case) -> None:
    snapshot(case)
    rows = case.run("info", "--format=jsonl", "snap").want(0).objects()
    sink, source = (row for row in rows if row["type"] == "stream")
    assert sink["framing"] == "memory"
    assert (sink["frames"], sink["overhead_bytes"]) == (3, 6)
    assert sink["ids"] == [
        {"trace_id": 0x10, "bytes": 14, "stream": 1},
        {"trace_id": 0x11, "bytes": 14},
        {"trace_id": 0x33, "bytes": 14},
    ]
    for key in ("lost", "sync", "footer", "untold"):
        assert sink[f"{key}_bytes"] == 0, key
    assert sink["barriers"] == 0
    assert source["sink"] == 0
    assert (source["protocol"], source["arch"]) == ("etmv4", "v8")
    assert (source["profile"], source["trace_id"]) == ("A", 0x10)
    assert source["registers"]["TRCCONFIGR"] == "0x8c1"
    assert len(source["registers"]) == 10
    states = [row["state"] for row in rows if row["type"] == "image"]
    assert states == ["found", "missing"]


def test_check_says_why_a_source_gives_nothing(case: Case) -> None:
    snapshot(case)
    found = case.run("check", "snap").want(
        3,
        out_has=(
            "stream 0  coresight  what no source of the sink has\n"
            "  bytes                     28\n",
            "  gap unsupported             2 gaps             28 bytes\n",
            "  id 0x11    14 bytes  no source is known\n",
            "  id 0x33    14 bytes  no source is known\n",
            "  gap unsynced                1 gap              14 bytes\n",
            "  doubtful   TRCIDR0     is 0: not read,",
            "  no sync    no synchronisation packet of etmv4 is in it",
            "100.0000% of the bytes gave nothing",
        ),
    )
    assert "no bytes" not in found.out
    case.write("snap/etm.ini", ETM.replace("=0x10", "=0x12"))
    case.run("check", "snap").want(
        3,
        out_has="  no bytes   the sink has none of ID 0x12: the source was off",
    )
    rows = case.run("check", "--format=jsonl", "snap").objects()
    sink, source = (row for row in rows if row["type"] == "stream")
    assert (sink["bytes"], sink["gap_bytes"]) == (42, 42)
    assert source["bytes"] == 0


def test_an_engine_is_for_its_technology(case: Case) -> None:
    snapshot(case)
    rows = case.run("events", "snap").want(0).out
    assert "unsynced" in rows
    for engine in ("libipt", "opencsd"):
        named = case.run("events", "--engine", engine, "snap").want(0)
        assert named.out == rows, engine


def test_maps_name_missing_dumps(case: Case) -> None:
    snapshot(case)
    case.run("maps", "snap").want(
        0, out_has=("mem.bin", "gone.bin", "0x0000000000002000")
    )


def test_imported_snapshot_is_the_same(case: Case) -> None:
    snapshot(case)
    case.run("import", "--embed", "snap", "-o", "x.hwt").want(0)
    before = case.run("info", "--format=jsonl", "snap").objects()
    (case.folder / "snap").rename(case.folder / "away")
    after = case.run("info", "--format=jsonl", "x.hwt").want(0).objects()

    def kept(rows: list) -> list:
        return [row for row in rows if row["type"] in ("stream", "section")]

    assert kept(after) == kept(before)
    images = [row for row in after if row["type"] == "image"]
    assert [row["state"] for row in images] == ["found", "missing"]


def test_outputs_spare_the_files_of_a_snapshot(case: Case) -> None:
    snapshot(case)
    for name in ("snapshot.ini", "etm.ini", "etb.bin", "mem.bin"):
        case.run("info", "snap", "-o", f"snap/{name}").want(
            2, err_has=f"snap/{name}"
        )


def test_raw_frames(case: Case) -> None:
    case.write("etb.bin", FRAMES)
    case.write("a.ini", ETM + "arch=Cortex-A53\n")
    case.write("b.txt", "protocol=stm # an STM\ntrace_id=0x33\n")
    words = ["--tech=coresight", "--framing=memory"]
    case.run(
        "info", *words, "--etm-config=a.ini", "--etm-config=b.txt", "etb.bin"
    ).want(
        0,
        out_has=(
            "format     raw\nstreams    3\n",
            "  id 0x10    14 bytes  stream 1\n",
            "  id 0x11    14 bytes  no source is known\n",
            "  id 0x33    14 bytes  stream 2\n",
            "  recorded   etmv4  arch v8  profile A  id 0x10\n",
            "  recorded   stm  arch unknown  profile unknown  id 0x33\n",
        ),
    )
    case.run(
        "info", "--tech=coresight", "--etm-config=a.ini", "etb.bin"
    ).want(0, out_has=("streams    1\n", "  recorded   etmv4"))
    case.run("info", *words, "etb.bin").want(0, out_has="streams    1\n")


def test_one_configuration_for_many_sources(case: Case) -> None:
    case.write("etb.bin", FRAMES)
    case.write("a.txt", "protocol=etmv4\nTRCCONFIGR=1\ntrace_id=0x11\n")
    case.write("rest.txt", "protocol=etmv4\nTRCCONFIGR=9\ntrace_id=others\n")
    case.write("cpus.txt", "protocol=etmv4\nTRCCONFIGR=9\ntrace_id=CPU+1\n")
    raw = ["info", "--format=jsonl", "--tech=coresight", "--framing=memory"]

    def sources(*words: str) -> list:
        rows = case.run(*raw, *words, "etb.bin").want(0).objects()
        return [
            (row["trace_id"], row["registers"]["TRCCONFIGR"], row.get("cpu"))
            for row in rows
            if row["type"] == "stream" and "trace_id" in row
        ]

    assert sources("--etm-config=rest.txt", "--etm-config=a.txt") == [
        (0x11, "0x1", None),
        (0x10, "0x9", None),
        (0x33, "0x9", None),
    ]
    assert sources("--etm-config=cpus.txt") == [
        (0x10, "0x9", 15),
        (0x11, "0x9", 16),
        (0x33, "0x9", 50),
    ]
    case.run(
        *raw, "--etm-config=rest.txt", "--etm-config=cpus.txt", "etb.bin"
    ).want(1, err_has="two configurations are for all other sources")


def test_other_sources_of_a_memory_that_begins_within_a_frame(
    case: Case,
) -> None:
    # Off by an odd number of bytes data is taken for IDs, also of nobody.
    data = [*[0] * 5, 0x80, *[0xFF, 2] * 4]
    frames = b"".join(
        bytes([trace_id << 1 | 1, *data, 0])
        for _ in range(16)
        for trace_id in (0x10, 0x11, 0x33)
    )
    case.write("rest.txt", "protocol=etmv3\ntrace_id=others\n")
    for lost in range(1, 16, 2):
        case.write("etb.bin", frames[lost:])
        rows = case.run(
            "info",
            "--format=jsonl",
            "--tech=coresight",
            "--framing=memory",
            "--etm-config=rest.txt",
            "etb.bin",
        ).want(0)
        streams = [row for row in rows.objects() if row["type"] == "stream"]
        assert streams[0]["frames"] == 47
        assert [(row["trace_id"], row["bytes"]) for row in streams[1:]] == [
            (0x10, 15 * 14),
            (0x11, 16 * 14),
            (0x33, 16 * 14),
        ]


def test_places_in_a_memory_that_was_turned(case: Case) -> None:
    rng = random.Random(3)
    # Packets of two bytes, and a synchronisation before every twelfth.
    data = b"".join(
        (bytes([0] * 5 + [0x80]) if i % 12 == 0 else b"")
        + bytes([0x09, rng.randrange(1, 256)])
        for i in range(369)
    )
    frames = b"".join(
        bytes([0x10 << 1 | 1])
        # The low bits of even bytes of the frame are in its last one.
        + bytes(b & 0xFE if i % 2 else b for i, b in enumerate(part))
        + bytes([sum((b & 1) << i // 2 + 1 for i, b in enumerate(part) if i % 2)])
        for part in (data[at : at + 14] for at in range(0, len(data), 14))
    ) + bytes([1, *[0] * 15]) * 2
    case.write("itm.txt", "protocol=itm\ntrace_id=0x10\n")

    def places(turned: int) -> list[int]:
        case.write("etb.bin", frames[-turned:] + frames[:-turned])
        rows = case.run(
            "packets",
            "--format=jsonl",
            "--stream=1",
            "--tech=coresight",
            "--framing=memory",
            "--etm-config=itm.txt",
            "etb.bin",
        ).want(0)
        return [row["sink_offset"] for row in rows.objects()]

    plain = places(len(frames))
    assert len(plain) == 369 + 31
    for turned in (16, 33, 55, len(frames) - 9, len(frames) - 20):
        assert places(turned) == [
            (place + turned) % len(frames) for place in plain
        ]


def test_advice_is_of_coresight(case: Case) -> None:
    case.write("a.bin", FRAMES)
    case.run("check", "a.bin").want(
        4, err_has=("need their technology named\n", "--tech coresight with --etm-config")
    )
    case.run("check", "--tech=coresight", "a.bin").want(
        3, out_has=("was not told how", "--etm-config")
    )


def test_wrong_configurations(case: Case) -> None:
    case.write("etb.bin", FRAMES)
    case.write("a.ini", ETM)
    case.write("none.txt", "protocol=etmv4\n")
    case.write("bad.txt", "protocol=etmv4\ntracid=1\n")
    raw = ["info", "--tech=coresight"]
    framed = [*raw, "--framing=memory"]
    case.run(*raw, "--etm-config=bad.txt", "etb.bin").want(
        1,
        err_has=("bad.txt: line 2: tracid is no register", "hint: lines of"),
    )
    case.run(*raw, "--etm-config=gone", "etb.bin").want(
        1, err_has="gone: No such file or directory\n"
    )
    case.run(*raw, "--etm-config=.", "etb.bin").want(
        1, err_has=".: not a regular file\n"
    )
    case.run(*framed, "--etm-config=none.txt", "etb.bin").want(
        2, err_has="none.txt: tells no trace ID"
    )
    twice = ["--etm-config=a.ini", "--etm-config=a.ini", "etb.bin"]
    case.run(*framed, *twice).want(
        2, err_has="a.ini: has the trace ID 0x10 of a.ini\n"
    )
    case.run(*raw, *twice).want(
        2, err_has="--etm-config: 2 sources of bytes without frames\n"
    )
    case.run(*raw, "--framing=etr", "etb.bin").want(
        2, err_has="'etr' is not none|memory|tpiu|dstream\n"
    )


def test_snapshots_need_no_options_of_raw_bytes(case: Case) -> None:
    snapshot(case)
    case.write("a.ini", ETM)
    case.run(
        "info", "--framing=memory", "--etm-config=a.ini", "snap"
    ).want(
        0,
        err_has=(
            "--framing describes raw bytes",
            "--etm-config describes raw bytes",
        ),
    )
